package regression

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"

	"github.com/dptrain/dptrain/internal/cell"
)

// A Cell is one cell of a record: a number, a text, or missing, as the zero value is. What it
// means depends on the column.
//
//   - A numeric column reads a text as the readers of tables do: blanks around it are ignored, and a
//     word for missing, what is no number and an infinity are missing. So are NaN and infinities.
//   - A category column ignores blanks around a text and reads a number by its shortest decimal
//     form, 3 as "3". What is missing, NaN or infinite is the empty text, as a null of a table
//     is: of another category than those listed, unless the empty one is.
type Cell struct {
	text   string
	number float64
	form   cellForm
}

type cellForm uint8

const (
	cellMissing cellForm = iota
	cellNumber
	cellText
)

// NumberCell returns the cell of a number, missing if it is not finite.
func NumberCell(v float64) Cell {
	if v-v != 0 { // NaN or infinite
		return Cell{}
	}
	return Cell{number: v, form: cellNumber}
}

// TextCell returns the cell of a text.
func TextCell(s string) Cell { return Cell{text: s, form: cellText} }

// CellOf returns the cell of a Go value. Numbers of every type are numbers; string, []byte,
// [json.Number] and other types of strings are texts; booleans are the texts "true" and "false"; a pointer
// is what it points to. nil and all else is missing.
func CellOf(x any) Cell {
	switch x := x.(type) {
	case float64:
		return NumberCell(x)
	case string:
		return TextCell(x)
	case nil:
		return Cell{}
	case int:
		return NumberCell(float64(x))
	case json.Number:
		return TextCell(string(x))
	case []byte:
		return TextCell(string(x))
	case Cell:
		return x
	}
	return cellOf(reflect.ValueOf(x))
}

func cellOf(v reflect.Value) Cell {
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return NumberCell(float64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return NumberCell(float64(v.Uint()))
	case reflect.Float32, reflect.Float64:
		return NumberCell(v.Float())
	case reflect.String:
		return TextCell(v.String())
	case reflect.Bool:
		return TextCell(strconv.FormatBool(v.Bool()))
	case reflect.Pointer:
		if e := v.Type().Elem().Kind(); !v.IsNil() && e != reflect.Pointer && e != reflect.Interface {
			return cellOf(v.Elem())
		}
	}
	return Cell{}
}

// A cellReader reads the cells of one input of a model.
type cellReader struct {
	name   string
	codes  map[string]int // of the trimmed names of categories; nil for a numeric column
	text   cell.Text      // which value a text is
	other  int
	values []float64 // [Column.Values]
}

func newCellReader(c *Column) cellReader {
	r := cellReader{name: c.Name, other: len(c.Categories), text: c.text(), values: c.Values}
	if c.Text() {
		r.codes = make(map[string]int, len(c.Categories))
		for k, name := range c.Categories {
			r.codes[cell.Trim(name)] = k
		}
	}
	return r
}

func (r *cellReader) value(x Cell) value {
	switch {
	case r.values != nil:
		return value{number: r.values[r.code(x)]}
	case r.codes != nil:
		return value{code: r.code(x)}
	}
	switch x.form {
	case cellNumber:
		return value{number: x.number}
	case cellText:
		if v, class := cell.Number(x.text); class == cell.Good {
			return value{number: v}
		}
	}
	return value{number: math.NaN()}
}

func (r *cellReader) code(x Cell) int {
	var k int
	var listed bool
	switch x.form {
	case cellNumber:
		var text [32]byte
		k, listed = r.codes[r.text.Of(string(strconv.AppendFloat(text[:0], x.number, 'f', -1, 64)))]
	default: // the text of a missing cell is empty
		k, listed = r.codes[r.text.Of(cell.Trim(x.text))]
	}
	if listed {
		return k
	}
	return r.other
}
