package dataset

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/fastfloat"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// converter reads the values of one Parquet column. Each column is read by one
// goroutine, so the converter may keep a buffer.
type converter struct {
	number func(parquet.Value) (float64, class)
	text   func([]byte, parquet.Value) []byte // appends what a CSV cell would hold
	buf    []byte
}

// numberOf reads a value as the cell of a numeric column.
func (c *converter) numberOf(v parquet.Value) (float64, class) {
	if v.IsNull() {
		return 0, missing
	}
	return c.number(v)
}

// textOf reads a value as text, valid until the next call. A null is empty.
func (c *converter) textOf(v parquet.Value) []byte {
	c.buf = c.buf[:0]
	if !v.IsNull() {
		c.buf = c.text(c.buf, v)
	}
	return c.buf
}

// converterOf returns the converter for a column's type: booleans (0 and 1, or
// "false" and "true"), integers, floats, decimals, and strings under the rules of
// CSV cells. Dates and times are their stored integers; a column of the type of no
// value is missing throughout. ok is false for lists, groups, and types that are none of these.
func converterOf(source *parquet.Column) (c *converter, ok bool) {
	if !source.Leaf() || source.MaxRepetitionLevel() > 0 {
		return nil, false
	}
	typ := source.Type()
	logical := typ.LogicalType()
	unsigned := false
	if logical != nil {
		switch lt := logical.Value.(type) {
		case *format.DecimalType:
			if typ.Kind() == parquet.FixedLenByteArray && (typ.Length() < 1 || typ.Length() > maxDecimal) {
				return nil, false
			}
			return decimalConverter(typ.Kind(), int(lt.Scale))
		case *format.IntType:
			unsigned = !lt.IsSigned
		case *format.NullType:
			return nullConverter(), true
		case *format.StringType, *format.EnumType, *format.JsonType, *format.DateType, *format.TimeType, *format.TimestampType, nil:
		default:
			return nil, false
		}
	}
	switch typ.Kind() {
	case parquet.Boolean:
		return booleanConverter(), true
	case parquet.Int32, parquet.Int64:
		return integerConverter(typ.Kind(), unsigned), true
	case parquet.Float:
		return floatConverter(32, func(v parquet.Value) float64 { return float64(v.Float()) }), true
	case parquet.Double:
		return floatConverter(64, parquet.Value.Double), true
	case parquet.ByteArray:
		return textConverter(), true
	}
	return nil, false
}

// plainWidth is how many bytes a value of a supported type takes in a dictionary,
// at least.
func plainWidth(typ parquet.Type) int64 {
	switch typ.Kind() {
	case parquet.Int32, parquet.Float, parquet.ByteArray: // the length of bytes takes four
		return 4
	case parquet.Int64, parquet.Double:
		return 8
	case parquet.FixedLenByteArray:
		return int64(typ.Length())
	}
	return 1
}

func booleanConverter() *converter {
	return &converter{
		number: func(v parquet.Value) (float64, class) {
			if v.Boolean() {
				return 1, good
			}
			return 0, good
		},
		text: func(b []byte, v parquet.Value) []byte { return strconv.AppendBool(b, v.Boolean()) },
	}
}

func integerConverter(kind parquet.Kind, unsigned bool) *converter {
	if unsigned {
		get := parquet.Value.Uint64
		if kind == parquet.Int32 {
			get = func(v parquet.Value) uint64 { return uint64(v.Uint32()) }
		}
		return &converter{
			number: func(v parquet.Value) (float64, class) { return float64(get(v)), good },
			text:   func(b []byte, v parquet.Value) []byte { return strconv.AppendUint(b, get(v), 10) },
		}
	}
	get := integer(kind)
	return &converter{
		number: func(v parquet.Value) (float64, class) { return float64(get(v)), good },
		text:   func(b []byte, v parquet.Value) []byte { return strconv.AppendInt(b, get(v), 10) },
	}
}

// integer returns the getter of a signed integer kind.
func integer(kind parquet.Kind) func(parquet.Value) int64 {
	if kind == parquet.Int32 {
		return func(v parquet.Value) int64 { return int64(v.Int32()) }
	}
	return parquet.Value.Int64
}

func floatConverter(bits int, get func(parquet.Value) float64) *converter {
	return &converter{
		number: func(v parquet.Value) (float64, class) { return total(get(v)) },
		text:   func(b []byte, v parquet.Value) []byte { return appendFloat(b, get(v), bits) },
	}
}

// exactWhole is the first whole number after which a float64 has gaps.
const exactWhole = 1 << 53

// appendFloat writes whole numbers below 2^53 without an exponent, as integers are
// written: pandas turns a column of integers into one of floats where a single record has none,
// and the text of the others must stay what it was.
func appendFloat(b []byte, x float64, bits int) []byte {
	if x == math.Trunc(x) && math.Abs(x) < exactWhole {
		return strconv.AppendInt(b, int64(x), 10)
	}
	return strconv.AppendFloat(b, x, 'g', -1, bits)
}

// void reports whether a column has the type of no value, which writers give one of
// nothing but nulls. Nothing in it is looked at.
func void(source *parquet.Column) bool {
	if logical := source.Type().LogicalType(); logical != nil {
		_, ok := logical.Value.(*format.NullType)
		return ok
	}
	return false
}

// nullConverter is for a column that has a place for values of no kind: each is missing.
func nullConverter() *converter {
	return &converter{
		number: func(parquet.Value) (float64, class) { return 0, missing },
		text:   func(b []byte, _ parquet.Value) []byte { return b },
	}
}

func textConverter() *converter {
	return &converter{
		number: func(v parquet.Value) (float64, class) {
			text := cutText(v)
			if x, ok := fastfloat.Parse(text); ok {
				return x, good
			}
			return number(string(text))
		},
		text: func(b []byte, v parquet.Value) []byte { return append(b, cutText(v)...) },
	}
}

// cutText returns the first [MaxLine] bytes of a text, as of a line of CSV.
func cutText(v parquet.Value) []byte {
	text := v.ByteArray()
	return text[:min(len(text), MaxLine)]
}

// decimalConverter writes a decimal out with its point and reads it back, which
// rounds once. Bytes hold a big-endian two's complement integer.
func decimalConverter(kind parquet.Kind, scale int) (*converter, bool) {
	var digits func(parquet.Value) string
	switch kind {
	case parquet.Int32, parquet.Int64:
		get := integer(kind)
		digits = func(v parquet.Value) string { return strconv.FormatInt(get(v), 10) }
	case parquet.ByteArray, parquet.FixedLenByteArray:
		digits = func(v parquet.Value) string {
			if len(v.ByteArray()) > maxDecimal {
				return noNumber
			}
			return twosComplement(v.ByteArray()).String()
		}
	default:
		return nil, false
	}
	if scale < 0 || scale > 1000 {
		return nil, false
	}
	return &converter{
		number: func(v parquet.Value) (float64, class) { return number(placePoint(digits(v), scale)) },
		text:   func(b []byte, v parquet.Value) []byte { return append(b, placePoint(digits(v), scale)...) },
	}, true
}

// noNumber stands for a decimal that is too long to be one.
const noNumber = "not a number"

// twosComplement reads a big-endian signed integer; empty is zero.
func twosComplement(b []byte) *big.Int {
	x := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return x
}

// placePoint divides an integer, given by its digits, by 10^scale.
func placePoint(digits string, scale int) string {
	if scale == 0 || digits == noNumber {
		return digits
	}
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	if short := scale + 1 - len(digits); short > 0 {
		digits = strings.Repeat("0", short) + digits
	}
	point := len(digits) - scale
	return sign + digits[:point] + "." + digits[point:]
}
