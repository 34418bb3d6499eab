package kernelmap

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// Of is the part of an input that a term uses.
type Of string

// What an input looks at: the fine bin of a number, whether a number is missing, categories.
const (
	Value      Of = "value"
	Missing    Of = "missing"
	Categories Of = "categories"
)

// An Input makes a bin of the cell of a column.
type Input struct {
	Column int
	Of     Of
	Bins   []uint8 // of categories: by code, the last that of all others
}

// A Term is a map with one coefficient per feature.
type Term struct {
	Map          *Map
	Coefficients []float64
}

// CellOne is 1 on the grid of cells, 2^-14, whose bins [CellBin] returns.
const CellOne = 1 << 14

// CellBin returns the bin of a number x on the grid of cells among 256 equal ones of [-1, 1]: of
// the number cut toward zero, as training cuts it.
func CellBin(x float64) uint8 {
	v := 0
	switch {
	case x >= CellOne:
		v = CellOne
	case x <= -CellOne:
		v = -CellOne
	case x == x:
		v = int(x)
	}
	return uint8(min((v+CellOne)/(2*CellOne/256), 255))
}

// Check validates t against the number of inputs and the landmarks. It returns the offending field and the problem, or
// two empty strings.
func (t Term) Check(inputs int, landmarks [][]uint8) (place, problem string) {
	m := t.Map
	if m == nil || !slices.EqualFunc(m.Landmarks, landmarks, slices.Equal) {
		return "landmarks", "are not those of the model"
	}
	for _, c := range m.Coordinates {
		if c.Input < 0 || c.Input >= inputs {
			return "coordinates", "names an input that there is not"
		}
	}
	switch {
	case len(m.Coordinates) == 0:
		return "coordinates", "is empty"
	case len(m.Metric) != len(m.Coordinates):
		return "metric", "is not one row a coordinate"
	case len(m.Metric[0]) == 0 || isUneven(m.Metric, len(m.Metric[0])):
		return "metric", "has rows of different lengths, or empty ones"
	case len(m.Metric[0]) > mostDimensions:
		return "metric", "has too many columns"
	case len(m.Weights) == 0 || isUneven(m.Weights, len(landmarks)):
		return "weights", "is not one number a landmark"
	case len(m.Shifts) != len(m.Weights):
		return "shifts", "is not one number a feature"
	case len(t.Coefficients) != len(m.Weights):
		return "coefficients", "is not one number a feature"
	}
	if slices.Max(m.Shifts) > mostShift {
		return "shifts", "holds a number beyond 0 and 100"
	}
	for _, x := range t.Coefficients {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return "coefficients", "holds a number that is not finite"
		}
	}
	return "", ""
}

// mostShift bounds the binary places of weights.
const mostShift = 100

// mostDimensions bounds the dimensions of points, whose distances then fit 32 bits.
const mostDimensions = 1 << 12

func isUneven(rows [][]int16, want int) bool {
	for _, row := range rows {
		if len(row) != want {
			return true
		}
	}
	return false
}

var errText = errors.New("is not whole numbers in base64")

// Texts writes lists of bytes as base64.
func Texts(lists [][]uint8) []string {
	out := make([]string, len(lists))
	for i, list := range lists {
		out[i] = base64.StdEncoding.EncodeToString(list)
	}
	return out
}

// Bytes reads what [Texts] writes.
func Bytes(texts []string) ([][]uint8, error) {
	out := make([][]uint8, len(texts))
	for i, text := range texts {
		list, err := base64.StdEncoding.Strict().DecodeString(text)
		if err != nil {
			return nil, errText
		}
		out[i] = list
	}
	return out, nil
}

// NumberTexts writes lists of numbers as base64: two bytes each, the lower first.
func NumberTexts(lists [][]int16) []string {
	bytes := make([][]uint8, len(lists))
	for i, list := range lists {
		for _, v := range list {
			bytes[i] = binary.LittleEndian.AppendUint16(bytes[i], uint16(v))
		}
	}
	return Texts(bytes)
}

// Numbers reads what [NumberTexts] writes.
func Numbers(texts []string) ([][]int16, error) {
	bytes, err := Bytes(texts)
	if err != nil {
		return nil, err
	}
	out := make([][]int16, len(bytes))
	for i, list := range bytes {
		if len(list)%2 != 0 {
			return nil, errText
		}
		out[i] = make([]int16, len(list)/2)
		for k := range out[i] {
			out[i][k] = int16(binary.LittleEndian.Uint16(list[2*k:]))
		}
	}
	return out, nil
}
