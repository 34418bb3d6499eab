package regression

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// A Cell is one cell of a record: a number, a text, or missing, as the zero value is. What it
// means depends on the column.
//
//   - A numeric column reads a text as the readers of tables do, in the way in which the table of the training was
//     written ([Column.Reading]). What is no number is missing, and so are NaN and infinities.
//   - A category column reads a text as the readers of tables do, and a number by its text, 3 as "3". NaN, infinities
//     and words for missing that are not listed count as the empty text, as a null of a table does: another category
//     than those listed, unless the empty one is.
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
	cellTime // a text of cell.TimeText
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

// CellOf returns the cell of a Go value. Numbers of every type are numbers, and so is [json.Number]; string, []byte and
// other types of strings are texts; booleans are the texts "true" and "false"; a [time.Time] is its date and time by the
// clock on the wall; a pointer is what it points to. nil and all else is missing.
func CellOf(x any) Cell {
	switch x := x.(type) {
	case float64:
		return NumberCell(x)
	case string:
		return TextCell(x)
	case nil:
		return Cell{}
	case int:
		return integerCell(int64(x))
	case bool:
		return TextCell(strconv.FormatBool(x))
	case json.Number:
		return jsonCell(string(x))
	case []byte:
		return TextCell(string(x))
	case time.Time:
		return Cell{text: cell.TimeText(x), form: cellTime}
	case *time.Time:
		if x == nil {
			return Cell{}
		}
		return Cell{text: cell.TimeText(*x), form: cellTime}
	case Cell:
		return x
	}
	return cellOf(reflect.ValueOf(x))
}

func cellOf(v reflect.Value) Cell {
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return integerCell(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if v.Uint() > 1<<53 {
			return TextCell(strconv.FormatUint(v.Uint(), 10))
		}
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

// jsonCell returns the cell of a number of JSON. An integer keeps all digits as a category.
func jsonCell(literal string) Cell {
	v, err := strconv.ParseFloat(literal, 64)
	if err == nil && math.Abs(v) > 1<<53 {
		return TextCell(string(cell.AppendNumber(nil, literal)))
	}
	return NumberCell(v) // one beyond the range of float64 is infinite
}

// integerCell returns the cell of an integer, which keeps all digits as a category.
func integerCell(v int64) Cell {
	if v > 1<<53 || v < -1<<53 {
		return TextCell(strconv.FormatInt(v, 10))
	}
	return NumberCell(float64(v))
}

// A cellReader reads the cells of one input of a model.
type cellReader struct {
	name   string
	rule   cell.Rule
	names  *cell.Names // nil for a numeric column
	values []float64   // [Column.Values]
	source string      // the column of dates that a numeric column is made of
	part   string
	dates  *cell.Dates
}

func newCellReader(c *Column) cellReader {
	r := cellReader{name: c.Name, values: c.Values, rule: c.Reading.rule()}
	if c.Text() {
		r.names = c.names()
	}
	if c.Reading.Source != "" {
		r.source, r.part, r.dates = c.Reading.Source, c.Reading.Part, cell.NewDates(c.Reading.Date)
	}
	return r
}

func (r *cellReader) value(x Cell) value {
	switch {
	case r.values != nil:
		return value{number: r.values[r.code(x)]}
	case r.names != nil:
		return value{code: int(r.code(x))}
	}
	switch x.form {
	case cellNumber:
		if v, class := r.rule.Typed(x.number); class == cell.Good {
			return value{number: v}
		}
	case cellText:
		if v, class := r.rule.Number(x.text); class == cell.Good {
			return value{number: v}
		}
	}
	return value{number: math.NaN()}
}

func (r *cellReader) code(x Cell) int32 {
	switch x.form {
	case cellNumber:
		var room [32]byte
		text := cell.AppendFloat(room[:0], x.number, 64)
		if k, known := r.names.Known(text); known {
			return k
		}
		k, _ := r.names.Find(string(text))
		return k
	case cellText, cellTime:
		k, _ := r.names.Find(x.text)
		return k
	}
	k, _ := r.names.Find("")
	return k
}

// timeDates reads the texts of cell.TimeText.
var timeDates = cell.NewDates(time.DateTime)

// date returns what a column that is made of dates is for a cell of the column of dates.
func (r *cellReader) date(x Cell) value {
	dates, text := r.dates, x.text
	switch x.form {
	case cellNumber:
		text = string(cell.AppendFloat(nil, x.number, 64))
	case cellTime: // whatever layout is declared
		dates = timeDates
	}
	m, class := dates.Read(text)
	if class != cell.Good {
		return value{number: math.NaN()}
	}
	return value{number: m.Part(r.part)}
}
