//go:build duckdb && cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package main

import (
	"math/big"
	"strconv"
	"strings"
	"unsafe"
)

// Constants of the C API.
const (
	selects     = 1  // a kind of statement
	outOfMemory = 33 // a kind of error

	typeBoolean     = 1
	typeTinyint     = 2
	typeSmallint    = 3
	typeInteger     = 4
	typeBigint      = 5
	typeUTinyint    = 6
	typeUSmallint   = 7
	typeUInteger    = 8
	typeUBigint     = 9
	typeFloat       = 10
	typeDouble      = 11
	typeTimestamp   = 12
	typeDate        = 13
	typeTime        = 14
	typeHugeint     = 16
	typeVarchar     = 17
	typeDecimal     = 19
	typeTimestampS  = 20
	typeTimestampMS = 21
	typeTimestampNS = 22
	typeEnum        = 23
	typeUUID        = 27
	typeTimestampTZ = 31
	typeUHugeint    = 32
	typeTimeNS      = 39
)

// noCell maps the numbers of the types that cannot be cells to their names.
var noCell = map[int]string{
	15: "INTERVAL",
	18: "BLOB",
	24: "LIST",
	25: "STRUCT",
	26: "MAP",
	28: "UNION",
	29: "BIT",
	30: "TIME WITH TIME ZONE",
	33: "ARRAY",
	35: "BIGNUM",
	36: "NULL",
}

// A kind is a DuckDB type.
type kind struct {
	id     int
	stored int // number of the type of the values in memory
	scale  int // number of digits of a DECIMAL after the point
	words  []string
	alias  string
}

// A described column is a column of a prepared statement.
type described struct {
	name string
	kind kind
}

// readable returns the columns of a query, or an error if one cannot be read.
func readable(all []described) ([]column, error) {
	var out []column
	for _, d := range all {
		if isUnnamed(d.name) {
			return nil, &failure{Word: "name"}
		}
		if d.kind.alias == "JSON" {
			return nil, &failure{
				Word:   "type",
				Column: d.name,
				Type:   d.kind.alias,
			}
		}
		if d.kind.writing() == nil {
			name, known := noCell[d.kind.id]
			if !known {
				name = "unknown"
			}
			return nil, &failure{
				Word:   "type",
				Column: d.name,
				Type:   name,
			}
		}
		out = append(out, column{name: d.name})
	}
	return out, nil
}

// A vector is a column of a chunk as the library stores it: the values, and a validity bit for each. Without
// bits all values are valid.
type vector struct{ data, present unsafe.Pointer }

// valid reports whether a value is not NULL.
func (v vector) valid(i int) bool {
	return v.present == nil || element[uint64](v.present, i/64)>>(i%64)&1 == 1
}

// element returns an element of a C array.
func element[T any](array unsafe.Pointer, i int) T {
	var t T
	return *(*T)(unsafe.Add(array, uintptr(i)*unsafe.Sizeof(t)))
}

// huge is a 128-bit number.
type huge struct {
	low  uint64
	high int64
}

// textAt returns a text, which is valid until its chunk is closed. Texts of up to 12 bytes are stored next to
// their length, longer ones elsewhere.
func textAt(data unsafe.Pointer, i int) []byte {
	entry := unsafe.Add(data, uintptr(i)*16)
	size := *(*uint32)(entry)
	if size <= 12 {
		return unsafe.Slice((*byte)(unsafe.Add(entry, 4)), size)
	}
	return unsafe.Slice(*(**byte)(unsafe.Add(entry, 8)), size)
}

// A writing appends value i of an array as text.
type writing func(out []byte, data unsafe.Pointer, i int) []byte

// whole and natural write whole numbers.
func whole[T int8 | int16 | int32 | int64](
	out []byte,
	data unsafe.Pointer,
	i int,
) []byte {
	return strconv.AppendInt(out, int64(element[T](data, i)), 10)
}

func natural[T uint8 | uint16 | uint32 | uint64](
	out []byte,
	data unsafe.Pointer,
	i int,
) []byte {
	return strconv.AppendUint(out, uint64(element[T](data, i)), 10)
}

// writings lists the writings of types that need only the array.
var writings = map[int]writing{
	typeBoolean: func(out []byte, data unsafe.Pointer, i int) []byte {
		return strconv.AppendBool(out, element[uint8](data, i) != 0)
	},
	typeTinyint:   whole[int8],
	typeSmallint:  whole[int16],
	typeInteger:   whole[int32],
	typeBigint:    whole[int64],
	typeUTinyint:  natural[uint8],
	typeUSmallint: natural[uint16],
	typeUInteger:  natural[uint32],
	typeUBigint:   natural[uint64],
	typeHugeint: func(out []byte, data unsafe.Pointer, i int) []byte {
		return element[huge](data, i).integer().Append(out, 10)
	},
	typeUHugeint: func(out []byte, data unsafe.Pointer, i int) []byte {
		h := element[huge](data, i)
		return join(uint64(h.high), h.low).Append(out, 10)
	},
	typeFloat: func(out []byte, data unsafe.Pointer, i int) []byte {
		return appendFloat(out, float64(element[float32](data, i)), 32)
	},
	typeDouble: func(out []byte, data unsafe.Pointer, i int) []byte {
		return appendFloat(out, element[float64](data, i), 64)
	},
	typeVarchar: func(out []byte, data unsafe.Pointer, i int) []byte {
		return append(out, textAt(data, i)...)
	},
	typeUUID: func(out []byte, data unsafe.Pointer, i int) []byte {
		return appendUUID(out, element[huge](data, i))
	},
	typeDate: func(out []byte, data unsafe.Pointer, i int) []byte {
		return appendDate(out, element[int32](data, i))
	},
	typeTime: func(out []byte, data unsafe.Pointer, i int) []byte {
		return appendClock(out, element[int64](data, i)*1000)
	},
	typeTimeNS: func(out []byte, data unsafe.Pointer, i int) []byte {
		return appendClock(out, element[int64](data, i))
	},
	typeTimestampS:  stamp(1, ""),
	typeTimestampMS: stamp(1e3, ""),
	typeTimestamp:   stamp(1e6, ""),
	typeTimestampNS: stamp(1e9, ""),
	typeTimestampTZ: stamp(1e6, "+00"),
}

// stamp formats times with the given number of ticks per second.
func stamp(ticks int64, zone string) writing {
	return func(out []byte, data unsafe.Pointer, i int) []byte {
		return appendStamp(out, element[int64](data, i), ticks, zone)
	}
}

// writing returns how values are written, or nil if the type cannot be a cell.
func (k kind) writing() writing {
	switch k.id {
	case typeDecimal:
		return func(out []byte, data unsafe.Pointer, i int) []byte {
			return appendPoint(out, writings[k.stored](nil, data, i), k.scale)
		}
	case typeEnum:
		return func(out []byte, data unsafe.Pointer, i int) []byte {
			return append(out, k.words[k.word(data, i)]...)
		}
	}
	return writings[k.id]
}

// word returns the index of a value in its enumeration.
func (k kind) word(data unsafe.Pointer, i int) int {
	switch k.stored {
	case typeUTinyint:
		return int(element[uint8](data, i))
	case typeUSmallint:
		return int(element[uint16](data, i))
	}
	return int(element[uint32](data, i))
}

// join returns high 2^64 + low.
func join(high, low uint64) *big.Int {
	n := new(big.Int).SetUint64(high)
	return n.Add(n.Lsh(n, 64), new(big.Int).SetUint64(low))
}

// integer returns the number as a signed integer.
func (h huge) integer() *big.Int {
	if h.high == int64(h.low)>>63 {
		return big.NewInt(int64(h.low))
	}
	n := join(uint64(h.high), h.low)
	if h.high < 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	return n
}

// appendPoint writes a whole number with a point before the last digits digits.
func appendPoint(out, number []byte, digits int) []byte {
	if number[0] == '-' {
		out = append(out, '-')
		number = number[1:]
	}
	if digits == 0 {
		return append(out, number...)
	}
	if missing := digits + 1 - len(number); missing > 0 {
		number = append([]byte(strings.Repeat("0", missing)), number...)
	}
	point := len(number) - digits
	return append(append(append(out, number[:point]...), '.'), number[point:]...)
}

// A cells holds a column of a chunk as text.
type cells struct {
	text []byte
	ends []int // of the texts; -1-end for NULL
}

// fill replaces the cells.
func (c *cells) fill(how writing, v vector, rows int) {
	c.text = c.text[:0]
	c.ends = c.ends[:0]
	for i := range rows {
		if !v.valid(i) {
			c.ends = append(c.ends, -1-len(c.text))
			continue
		}
		c.text = how(c.text, v.data, i)
		c.ends = append(c.ends, len(c.text))
	}
}

// cell returns a cell, nil for NULL.
func (c *cells) cell(i int) []byte {
	end := c.ends[i]
	begin := 0
	if end < 0 {
		return nil
	}
	if i > 0 {
		begin = c.ends[i-1]
	}
	if begin < 0 {
		begin = -1 - begin
	}
	return c.text[begin:end]
}
