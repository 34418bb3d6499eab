package cluster

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/dptrain/dptrain/dataset"
)

// The cells of a column of a block are written in the smallest format that represents all of them exactly: integers of 1,
// 2 or 4 bytes, whose smallest value represents a missing cell, or floating-point numbers of 4 or 8 bytes.
const (
	cellsInt8 = iota
	cellsInt16
	cellsInt32
	cellsFloat32
	cellsFloat64
)

// widths are the bytes of a cell, by the kinds above.
var widths = [...]int{1, 2, 4, 4, 8}

var errCells = errors.New("no cells of a block")

// wordMask selects the bits of a number that contain the position of a word in its list; see [dataset.WordCode].
const wordMask = math.MaxUint32

// missingBits represents a missing cell in 8 bytes, and missing32 in 4 bytes.
var (
	missingBits = math.Float64bits(math.NaN())
	missing32   = uint32(0x7fc0_0001)
)

// packFloats encodes numbers.
func packFloats(x []float64) []byte {
	kind := kindOf(x)
	out := append(make([]byte, 0, 1+len(x)*widths[kind]), byte(kind))
	for _, v := range x {
		missing := math.Float64bits(v) == missingBits
		switch {
		case kind == cellsFloat64:
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
		case kind == cellsFloat32 && missing:
			out = binary.LittleEndian.AppendUint32(out, missing32)
		case kind == cellsFloat32:
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
		case missing:
			out = appendInt(out, kind, math.MinInt32)
		default:
			out = appendInt(out, kind, int32(v))
		}
	}
	return out
}

// kindOf returns the smallest format that represents all numbers exactly.
func kindOf(x []float64) int {
	kind := cellsInt8
	for _, v := range x {
		if math.Float64bits(v) == missingBits {
			continue
		}
		for kind < cellsFloat64 && !isExact(kind, v) {
			kind++
		}
	}
	if kind == cellsFloat32 { // it does not represent all integers of 4 bytes
		for _, v := range x {
			if math.Float64bits(v) != missingBits && !isExact(kind, v) {
				return cellsFloat64
			}
		}
	}
	return kind
}

// isExact reports whether a format represents a number exactly.
func isExact(kind int, v float64) bool {
	switch kind {
	case cellsFloat64:
		return true
	case cellsFloat32:
		return math.Float64bits(float64(float32(v))) == math.Float64bits(v) && !math.IsNaN(v)
	}
	most := float64(int64(1)<<(8*widths[kind]-1) - 1)
	return v >= -most && v <= most && v == math.Trunc(v) && (v != 0 || !math.Signbit(v))
}

// appendInt appends an integer. The smallest 32-bit integer is written as the smallest integer of the format.
func appendInt(out []byte, kind int, v int32) []byte {
	switch kind {
	case cellsInt8:
		if v == math.MinInt32 {
			v = math.MinInt8
		}
		return append(out, byte(int8(v)))
	case cellsInt16:
		if v == math.MinInt32 {
			v = math.MinInt16
		}
		return binary.LittleEndian.AppendUint16(out, uint16(int16(v)))
	}
	return binary.LittleEndian.AppendUint32(out, uint32(v))
}

// readInt decodes integer i of the output of appendInt.
func readInt(data []byte, kind, i int) int32 {
	switch kind {
	case cellsInt8:
		if v := int8(data[i]); v != math.MinInt8 {
			return int32(v)
		}
		return math.MinInt32
	case cellsInt16:
		if v := int16(binary.LittleEndian.Uint16(data[2*i:])); v != math.MinInt16 {
			return int32(v)
		}
		return math.MinInt32
	}
	return int32(binary.LittleEndian.Uint32(data[4*i:]))
}

// readFloats decodes one number per row. It also returns the data after them.
func readFloats(data []byte, rows int) ([]float64, []byte, error) {
	kind, data, rest, err := cellsOf(data, rows)
	if err != nil {
		return nil, nil, err
	}
	out := make([]float64, rows)
	switch kind {
	case cellsFloat64:
		for i := range out {
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
	case cellsFloat32:
		for i := range out {
			b := binary.LittleEndian.Uint32(data[4*i:])
			if out[i] = float64(math.Float32frombits(b)); b == missing32 {
				out[i] = math.NaN()
			}
		}
	default:
		for i := range out {
			v := readInt(data, kind, i)
			if out[i] = float64(v); v == math.MinInt32 {
				out[i] = math.NaN()
			}
		}
	}
	return out, rest, nil
}

// cellsOf separates the cells from the data after them.
func cellsOf(data []byte, rows int) (kind int, cells, rest []byte, err error) {
	if len(data) == 0 || int(data[0]) >= len(widths) || len(data)-1 < rows*widths[data[0]] {
		return 0, nil, nil, errCells
	}
	end := 1 + rows*widths[data[0]]
	return int(data[0]), data[1:end], data[end:], nil
}

// packCodes encodes codes, which are at least -1.
func packCodes(codes []int32) []byte {
	kind := cellsInt8
	for _, v := range codes {
		for kind < cellsInt32 && !isExact(kind, float64(v)) {
			kind++
		}
	}
	out := append(make([]byte, 0, 1+len(codes)*widths[kind]), byte(kind))
	for _, v := range codes {
		out = appendInt(out, kind, v)
	}
	return out
}

// readCodes decodes one code per row. It also returns the data after them.
func readCodes(data []byte, rows int) ([]int32, []byte, error) {
	kind, data, rest, err := cellsOf(data, rows)
	if err != nil || kind > cellsInt32 {
		return nil, nil, errCells
	}
	out := make([]int32, rows)
	for i := range out {
		out[i] = readInt(data, kind, i)
	}
	return out, rest, nil
}

// packWords appends a list of words.
func packWords(out []byte, list []string) []byte {
	out = binary.AppendUvarint(out, uint64(len(list)))
	for _, w := range list {
		out = append(binary.AppendUvarint(out, uint64(len(w))), w...)
	}
	return out
}

// readWords decodes the output of packWords.
func readWords(data []byte) ([]string, error) {
	n, k := binary.Uvarint(data)
	if k <= 0 || n > uint64(len(data)) {
		return nil, errCells
	}
	data = data[k:]
	out := make([]string, 0, n)
	for range n {
		size, k := binary.Uvarint(data)
		if k <= 0 || size > uint64(len(data)-k) {
			return nil, errCells
		}
		out = append(out, string(data[k:k+int(size)]))
		data = data[k+int(size):]
	}
	return out, nil
}

// cellColumn contains the cells of a column of an unfinished block.
type cellColumn struct {
	data  dataset.ColumnData
	found bool
	codes map[string]int32 // of the words in the list
}

func newCellColumn(c *dataset.Column) *cellColumn {
	out := &cellColumn{found: c.Found}
	out.reset()
	return out
}

// reset empties the column. Place 0 of a list of words is not a word.
func (c *cellColumn) reset() {
	c.data = dataset.ColumnData{Floats: c.data.Floats[:0], Codes: c.data.Codes[:0]}
	if c.found {
		c.data.Words = []string{""}
		c.codes = map[string]int32{"": 0}
	}
}

// appendRows adds rows of a table's column. Words are numbered by their first occurrence in the block.
func (c *cellColumn) appendRows(t *dataset.Table, j, from, to int) {
	if x := t.Float(j); x != nil {
		c.data.Floats = append(c.data.Floats, x[from:to]...)
	}
	if k := t.Labels(j); k != nil {
		c.data.Codes = append(c.data.Codes, k[from:to]...)
	}
	if !c.found {
		return
	}
	list := t.Words(j)
	places := make([]int32, len(list))
	place := func(code int32) int32 {
		if places[code] == 0 && code > 0 {
			k, ok := c.codes[list[code]]
			if !ok {
				k = int32(len(c.data.Words))
				c.codes[list[code]] = k
				c.data.Words = append(c.data.Words, list[code])
			}
			places[code] = k
		}
		return places[code]
	}
	for i, code := range lastItems(c.data.Codes, to-from) {
		if code > 0 {
			c.data.Codes[len(c.data.Codes)-(to-from)+i] = place(code)
		}
	}
	for i, x := range lastItems(c.data.Floats, to-from) {
		if code, ok := dataset.WordCode(x); ok && code > 0 {
			bits := math.Float64bits(x)&^wordMask | uint64(uint32(place(code)))
			c.data.Floats[len(c.data.Floats)-(to-from)+i] = math.Float64frombits(bits)
		}
	}
}

// lastItems returns the last n items of a list, or an empty list if it has none.
func lastItems[T any](list []T, n int) []T {
	return list[max(len(list)-n, 0):]
}

// encodeCells returns the cells of the column, and its words if it has words.
func (c *cellColumn) encodeCells(kind dataset.Kind) []byte {
	var out []byte
	if kind == dataset.Category {
		out = packCodes(c.data.Codes)
	} else {
		out = packFloats(c.data.Floats)
	}
	if c.found {
		out = packWords(out, c.data.Words)
	}
	return out
}

// readColumn decodes the output of [column.encodeCells].
func readColumn(data []byte, c *dataset.Column, rows int) (out dataset.ColumnData, err error) {
	if c.Kind == dataset.Category {
		out.Codes, data, err = readCodes(data, rows)
	} else {
		out.Floats, data, err = readFloats(data, rows)
	}
	if err == nil && c.Found {
		out.Words, err = readWords(data)
	}
	return out, err
}
