package regression

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// A Cell is one cell of a record: a number, a text, or missing (the zero value). The column decides how it is
// interpreted.
//
//   - A numeric column parses a text as the table readers do, with the settings in [Column.Reading]. Text that is
//     not a number, NaN and infinities are missing.
//   - A category column cleans a text as the table readers do and formats a number as text, 3 as "3". NaN,
//     infinities and texts for missing values count as the empty text, as a null in a table does: unless the empty
//     text is a declared category, they are other.
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
func TextCell(s string) Cell {
	return Cell{text: s, form: cellText}
}

// CellOf converts a Go value. Numbers of every type, including [json.Number], give a number; string, []byte and
// other string types a text; booleans the texts "true" and "false"; a [time.Time] its wall-clock date and time;
// a pointer the cell of the value it points to. nil and values of all other types are missing.
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
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Uintptr:
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
		if e := v.Type().Elem().Kind(); !v.IsNil() && e != reflect.Pointer &&
			e != reflect.Interface {
			return cellOf(v.Elem())
		}
	}
	return Cell{}
}

// jsonCell returns the cell of a JSON number. An integer keeps all its digits for use as a category.
func jsonCell(literal string) Cell {
	v, err := strconv.ParseFloat(literal, 64)
	if err == nil && math.Abs(v) > 1<<53 {
		return TextCell(string(cell.AppendNumber(nil, literal)))
	}
	return NumberCell(v) // infinite beyond the range of float64
}

// integerCell returns the cell of an integer. It keeps all digits for use as a category.
func integerCell(v int64) Cell {
	if v > 1<<53 || v < -1<<53 {
		return TextCell(strconv.FormatInt(v, 10))
	}
	return NumberCell(float64(v))
}

// A cellReader converts the cells of one model input.
type cellReader struct {
	name   string
	rule   cell.Rule
	names  *cell.Names // nil for a numeric column
	values []float64   // [Column.Values]
	source string      // name of the date column that a numeric column derives from, or empty
	part   string
	dates  *cell.Dates
}

func newCellReader(c *Column) cellReader {
	r := cellReader{
		name:   c.Name,
		values: c.Values,
		rule:   c.Reading.cellRule(),
	}
	if c.Text() {
		r.names = c.nameFinder()
	}
	if c.Reading.Source != "" {
		r.source, r.part, r.dates = c.Reading.Source, c.Reading.Part, cell.NewDates(c.Reading.Date)
	}
	return r
}

func (r *cellReader) readValue(x Cell) value {
	switch {
	case r.values != nil:
		return value{number: r.values[r.readCode(x)]}
	case r.names != nil:
		return value{code: int(r.readCode(x))}
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

func (r *cellReader) readCode(x Cell) int32 {
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

// dateValue returns the value of a column that derives from dates, for a cell of the date column.
func (r *cellReader) dateValue(x Cell) value {
	dates := r.dates
	text := x.text
	switch x.form {
	case cellNumber:
		text = string(cell.AppendFloat(nil, x.number, 64))
	case cellTime: // in the layout of cell.TimeText, whatever layout is declared
		dates = timeDates
	}
	m, class := dates.Read(text)
	if class != cell.Good {
		return value{number: math.NaN()}
	}
	return value{number: m.Part(r.part)}
}
