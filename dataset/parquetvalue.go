package dataset

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
	"github.com/dptrain/dptrain/internal/tablefile/fastfloat"
	"github.com/dptrain/dptrain/internal/tablefile/parquetfile"
	"github.com/parquet-go/parquet-go/format"
)

// converter converts the values of one Parquet column. Each column is read by one goroutine, so the converter
// may keep a buffer.
type converter struct {
	number func(parquetfile.Value) (float64, class)
	text   func([]byte, parquetfile.Value) []byte // the text of the CSV cell; may be appended to the given slice
	stored func(parquetfile.Value) cell.Moment    // for a type with dates, else nil; set by [parquetTable.open]
	many   numbersOf                              // nil if only number is possible
	// pointed is set for numbers whose text may have a decimal point.
	pointed bool
	buf     [64]byte
}

// textOf reads a value as text, valid as long as the value and until the next call.
func (c *converter) textOf(v parquetfile.Value) []byte {
	return c.text(c.buf[:0], v)
}

// readAsText makes values texts, which are no numbers, as they are in a CSV file.
func (c *converter) readAsText(text func([]byte, parquetfile.Value) []byte) {
	c.text = text
	c.number = func(parquetfile.Value) (float64, class) {
		return 0, unparseable
	}
	c.many = nil
	c.pointed = false
}

// applyRule makes values that are stored as numbers subject to the declared codes of missing cells, and their
// texts to the declared decimal mark, as the cells of a CSV file are.
func (c *converter) applyRule(rule *cell.Rule) {
	if len(rule.Missing) > 0 {
		number := c.number
		c.many = nil
		c.number = func(v parquetfile.Value) (float64, class) {
			x, what := number(v)
			if what != good {
				return x, what
			}
			return rule.Typed(x)
		}
	}
	if rule.Decimal == ',' && c.pointed {
		text := c.text
		c.text = func(b []byte, v parquetfile.Value) []byte {
			return bytes.Replace(text(b, v), []byte{'.'}, []byte{','}, 1)
		}
	}
}

// cells reads a column as cells of the table.
type cells[T any] struct {
	parquetfile.Column[T]
	column parquetColumn
	left   int64 // number of rows of the group, for a void column
	words  *wordReader
}

// newCells returns a reader of cells, where one without a value is null, of a class.
func newCells[T any](
	c parquetColumn,
	null T,
	what class,
	cell func(parquetfile.Value) (T, class),
) *cells[T] {
	out := &cells[T]{column: c}
	out.Type, out.File, out.Null, out.NullClass, out.Text, out.Long = c.kind, c.file, null,
		uint8(what), longestLine, c.long
	out.Cell = func(v parquetfile.Value) (T, uint8) {
		x, what := cell(v)
		return x, uint8(what)
	}
	return out
}

// openGroup moves to the start of a row group.
func (c *cells[T]) openGroup(group int, rows int64) error {
	if c.left = rows; c.column.void {
		return nil
	}
	return c.Open(c.column.chunks[group], rows)
}

// readCells reads up to len(dst) cells, at least one. The error is io.EOF at the end of the group.
func (c *cells[T]) readCells(dst []T) (int, error) {
	if !c.column.void {
		return c.Read(dst)
	}
	n := int(min(c.left, int64(len(dst))))
	if n == 0 {
		return 0, io.EOF
	}
	for k := range dst[:n] {
		dst[k] = c.Null
	}
	c.left -= int64(n)
	c.Tally[c.NullClass] += n
	return n, nil
}

// numberCells reads a numeric column.
func numberCells(c parquetColumn, to *column) *cells[float64] {
	var words *wordReader
	if to.words != nil {
		words = to.words.newReader()
	}
	out := newCells(c, to.missing, missing, func(v parquetfile.Value) (float64, class) {
		x, what := c.conv.number(v)
		switch {
		case words != nil &&
			(what == unparseable ||
				(x == 0 || x == 1) && what == good && isBoolean(string(c.conv.textOf(v)))):
			x = words.readText(string(c.conv.textOf(v)))
		case what == unparseable:
			x = to.unread
		case what != good:
			x = to.missing
		}
		return x, what
	})
	out.words = words
	if words == nil && c.conv.many != nil {
		out.Many = c.conv.many(to.missing)
	}
	return out
}

// codeCells reads a category column.
func codeCells(c parquetColumn, to *column) *cells[int32] {
	if to.words != nil {
		words := to.words.newReader()
		out := newCells(c, noText, missing, func(v parquetfile.Value) (int32, class) {
			return words.readCategory(string(c.conv.textOf(v)))
		})
		out.words = words
		return out
	}
	null, what := to.parseCategory("")
	return newCells(c, null, what, func(v parquetfile.Value) (int32, class) {
		text := c.conv.textOf(v)
		if code, ok := to.names.Known(text); ok {
			return code, good
		}
		return to.parseCategory(string(text))
	})
}

// unitCells reads the names of privacy units. Invalid names are missing.
func unitCells(c parquetColumn, names *namer) *cells[uint64] {
	return newCells(c, NoUnit, missing, func(v parquetfile.Value) (uint64, class) {
		if id := names.unitID(string(c.conv.textOf(v))); id != NoUnit {
			return id, good
		}
		return NoUnit, missing
	})
}

// converterOf returns the converter for a column's type: booleans (0 and 1, or "false" and "true"), integers,
// floats, decimals, and strings under the rules for CSV cells. For dates and times, which are texts, see
// [storedText]. A UUID is its text; a column of the null type is missing throughout. ok is
// false for lists, groups, intervals and all other types.
func converterOf(
	source *parquetfile.Field,
	rule *cell.Rule,
) (c *converter, ok bool) {
	if source.Leaf < 0 {
		return nil, false
	}
	kind := source.Type.Kind
	unsigned := false
	switch lt := source.Logical.(type) {
	case *format.DecimalType:
		if width := source.Type.Width; kind == format.FixedLenByteArray &&
			(width < 1 || width > maxDecimal) {
			return nil, false
		}
		return decimalConverter(kind, int(lt.Scale))
	case *format.IntType:
		unsigned = !lt.IsSigned
	case *format.NullType:
		return nullConverter(), true
	case *format.UUIDType:
		return uuidConverter(), kind == format.FixedLenByteArray && source.Type.Width == uuidBytes
	case *format.Float16Type:
		return halfConverter(), kind == format.FixedLenByteArray && source.Type.Width == halfBytes
	case *format.StringType, *format.EnumType, *format.JsonType, *format.DateType, *format.TimeType,
		*format.TimestampType, nil:
	default:
		return nil, false
	}
	switch kind {
	case format.Boolean:
		return booleanConverter(), true
	case format.Int32, format.Int64:
		return integerConverter(kind, unsigned), true
	case format.Float:
		return floatConverter(), true
	case format.Double:
		return doubleConverter(), true
	case format.ByteArray:
		return textConverter(rule), true
	case format.Int96:
		return new(converter), true // its values are those of storedText
	}
	return nil, false
}

// Widths of types with a fixed number of bytes.
const (
	uuidBytes = 16
	halfBytes = 2
)

// uuidConverter converts a column of UUIDs, which are not numbers.
func uuidConverter() *converter {
	c := new(converter)
	c.readAsText(func(b []byte, v parquetfile.Value) []byte {
		return cell.AppendUUID(b, v.Bytes)
	})
	return c
}

func halfConverter() *converter {
	get := func(v parquetfile.Value) float64 {
		return cell.Float16(binary.LittleEndian.Uint16(v.Bytes))
	}
	return &converter{
		pointed: true,
		number: func(v parquetfile.Value) (float64, class) {
			return cell.Classify(get(v))
		},
		text: func(b []byte, v parquetfile.Value) []byte {
			return cell.AppendFloat(b, get(v), 16)
		},
	}
}

func booleanConverter() *converter {
	return &converter{
		number: func(v parquetfile.Value) (float64, class) {
			if v.Bits != 0 {
				return 1, good
			}
			return 0, good
		},
		text: func(b []byte, v parquetfile.Value) []byte {
			return strconv.AppendBool(b, v.Bits != 0)
		},
	}
}

func integerConverter(kind format.Type, unsigned bool) *converter {
	if unsigned {
		get := func(v parquetfile.Value) uint64 {
			return v.Bits
		}
		if kind == format.Int32 {
			get = func(v parquetfile.Value) uint64 {
				return uint64(uint32(v.Bits))
			}
		}
		return &converter{
			number: func(v parquetfile.Value) (float64, class) {
				return float64(get(v)), good
			},
			text: func(b []byte, v parquetfile.Value) []byte {
				return strconv.AppendUint(b, get(v), 10)
			},
		}
	}
	get := integerReader(kind)
	many := manyLongs
	if kind == format.Int32 {
		many = manyIntegers
	}
	return &converter{
		many: many,
		number: func(v parquetfile.Value) (float64, class) {
			return float64(get(v)), good
		},
		text: func(b []byte, v parquetfile.Value) []byte {
			return strconv.AppendInt(b, get(v), 10)
		},
	}
}

// integerReader returns the getter of a signed integer kind.
func integerReader(kind format.Type) func(parquetfile.Value) int64 {
	if kind == format.Int32 {
		return func(v parquetfile.Value) int64 {
			return int64(int32(v.Bits))
		}
	}
	return func(v parquetfile.Value) int64 {
		return int64(v.Bits)
	}
}

func floatConverter() *converter {
	get := func(v parquetfile.Value) float64 {
		return float64(math.Float32frombits(uint32(v.Bits)))
	}
	return &converter{
		pointed: true,
		many:    manyFloats,
		number: func(v parquetfile.Value) (float64, class) {
			return cell.Classify(get(v))
		},
		text: func(b []byte, v parquetfile.Value) []byte {
			return cell.AppendFloat(b, get(v), 32)
		},
	}
}

func doubleConverter() *converter {
	return &converter{
		pointed: true,
		many:    manyDoubles,
		number: func(v parquetfile.Value) (float64, class) {
			return cell.Classify(math.Float64frombits(v.Bits))
		},
		text: func(b []byte, v parquetfile.Value) []byte {
			return cell.AppendFloat(b, math.Float64frombits(v.Bits), 64)
		},
	}
}

// isVoid reports whether a column has the null type, which writers use for columns that contain only nulls. Its
// contents are not read.
func isVoid(source *parquetfile.Field) bool {
	_, ok := source.Logical.(*format.NullType)
	return ok
}

// nullConverter converts a column of the null type: every cell is missing.
func nullConverter() *converter {
	return &converter{
		number: func(parquetfile.Value) (float64, class) {
			return 0, missing
		},
		text: func(b []byte, _ parquetfile.Value) []byte {
			return b
		},
	}
}

func textConverter(rule *cell.Rule) *converter {
	return &converter{
		number: func(v parquetfile.Value) (float64, class) {
			if rule.Plain() {
				if x, ok := fastfloat.Parse(v.Bytes); ok {
					return x, good
				}
			}
			text := bytes.TrimFunc(v.Bytes, func(r rune) bool {
				return cell.IsBlank(r) || r == '\n' || r == '\r'
			})
			if len(text) > cell.LongNumber && len(bytes.Trim(text, cell.NumberBytes)) > 0 {
				return 0, unparseable // as cell.Number does for a copy
			}
			if bytes.IndexByte(v.Bytes, '\r') >= 0 {
				text = v.Bytes // a carriage return is a blank only before a line feed
			}
			return rule.Number(string(text))
		},
		text: func(_ []byte, v parquetfile.Value) []byte {
			return v.Bytes
		},
	}
}

// maxDecimal is the public limit on the size of a decimal in bytes.
const maxDecimal = 32

// decimalConverter formats a decimal with its point and parses it, which rounds once. Bytes hold a big-endian
// two's complement integer.
func decimalConverter(kind format.Type, scale int) (*converter, bool) {
	var digits func(parquetfile.Value) string
	switch kind {
	case format.Int32, format.Int64:
		get := integerReader(kind)
		digits = func(v parquetfile.Value) string {
			return strconv.FormatInt(get(v), 10)
		}
	case format.ByteArray, format.FixedLenByteArray:
		digits = func(v parquetfile.Value) string {
			if len(v.Bytes) > maxDecimal {
				return noNumber
			}
			return twosComplement(v.Bytes).String()
		}
	default:
		return nil, false
	}
	if scale < 0 || scale > 1000 {
		return nil, false
	}
	return &converter{
		pointed: true,
		number: func(v parquetfile.Value) (float64, class) {
			return cell.Number(placePoint(digits(v), scale))
		},
		text: func(b []byte, v parquetfile.Value) []byte {
			return append(b, placePoint(digits(v), scale)...)
		},
	}, true
}

// noNumber is the text of a decimal that is too long to be parsed.
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
		sign = "-"
		digits = digits[1:]
	}
	if short := scale + 1 - len(digits); short > 0 {
		digits = strings.Repeat("0", short) + digits
	}
	point := len(digits) - scale
	return sign + digits[:point] + "." + digits[point:]
}
