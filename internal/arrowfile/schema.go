package arrowfile

import "fmt"

// A Field is a column of the file.
type Field struct {
	Name     string
	Type     string // as Arrow calls it, for messages
	Readable bool   // its cells have a text

	kind          kind
	width         int // bytes of a fixed value, or of an offset into texts
	unit          int64
	scale         int32
	dict          int64  // id of the dictionary of its values
	index, values *Field // of a dictionary

	skip layout
}

// kind says what the bytes of a value mean.
type kind int

const (
	unreadable kind = iota
	null
	signed
	unsigned
	float
	boolean
	decimal
	date      // a count of units
	clock     // a time of the day
	timestamp // a count of units since 1970
	text      // offsets and bytes
	view      // views of bytes
	coded     // indices into a dictionary
)

// layout is how many nodes and buffers a column has in a batch, beside those of views that have several.
type layout struct{ nodes, buffers, views int }

// Tables of types, in the order of their union.
const (
	typeNull = iota + 1
	typeInt
	typeFloat
	typeBinary
	typeUtf8
	typeBool
	typeDecimal
	typeDate
	typeTime
	typeTimestamp
	typeInterval
	typeList
	typeStruct
	typeUnion
	typeFixedBinary
	typeFixedList
	typeMap
	typeDuration
	typeLargeBinary
	typeLargeUtf8
	typeLargeList
	typeRunEnd
	typeBinaryView
	typeUtf8View
	typeListView
	typeLargeListView
)

var typeNames = [...]string{"", "null", "int", "float", "binary", "utf8", "bool", "decimal", "date", "time", "timestamp", "interval", "list", "struct", "union",
	"fixed-size binary", "fixed-size list", "map", "duration", "large binary", "large utf8", "large list", "run-end encoded", "binary view", "utf8 view",
	"list view", "large list view"}

// The deepest nesting of fields, and the most fields, that are looked at.
const (
	maxDepth  = 64
	maxNested = 1 << 20
)

// schema reads the fields.
func (f *File) schema(t table) error {
	if t.int16(0, 0) != 0 {
		return ErrForeign // big-endian
	}
	f.Fields = []Field{}
	nested := 0
	for _, field := range t.tables(1) {
		x, err := f.field(field, 0, &nested)
		if err != nil {
			return err
		}
		f.Fields = append(f.Fields, x)
	}
	return nil
}

// field reads a field with its children.
func (f *File) field(t table, depth int, nested *int) (Field, error) {
	if *nested++; depth > maxDepth || *nested > maxNested {
		return Field{}, ErrDamaged
	}
	x := Field{Name: t.text(0)}
	code := t.byte(2)
	of, _ := t.table(3)
	if code == 0 || int(code) >= len(typeNames) || of.t.Bytes == nil {
		return Field{}, ErrForeign
	}
	x.Type = typeNames[code]
	if !x.fixed(code, of) {
		x.variable(code, of, f.version)
	}
	for _, child := range t.tables(5) {
		c, err := f.field(child, depth+1, nested)
		if err != nil {
			return Field{}, err
		}
		x.skip.nodes, x.skip.buffers, x.skip.views = x.skip.nodes+c.skip.nodes, x.skip.buffers+c.skip.buffers, x.skip.views+c.skip.views
	}
	if d, ok := t.table(4); ok {
		x = x.coded(d)
	}
	x.Readable = x.kind != unreadable
	return x, nil
}

// coded returns the field of indices into a dictionary of values like those of x.
func (x Field) coded(d table) Field {
	index := Field{kind: signed, width: 4}
	if of, ok := d.table(1); ok {
		index.fixed(typeInt, of)
	}
	out := Field{Name: x.Name, Type: "dictionary of " + x.Type, kind: coded, width: index.width, dict: d.int64(0), index: &index, values: &x, skip: layout{1, 2, 0}}
	if index.kind == unreadable || x.kind == unreadable || x.kind == null || x.skip.nodes > 1 {
		out.kind = unreadable
	}
	return out
}

// fixed sets what is known of a type whose values have the same width; false for another.
func (x *Field) fixed(code byte, of table) bool {
	x.skip = layout{1, 2, 0}
	switch code {
	case typeNull:
		x.kind, x.skip.buffers = null, 0
	case typeInt:
		x.kind, x.width = unsigned, int(of.int32(0, 0))/8
		if of.byte(1) != 0 {
			x.kind = signed
		}
		x.only(1, 2, 4, 8)
	case typeFloat:
		x.kind, x.width = float, 2<<max(0, min(int(of.int16(0, 0)), 3))
		x.only(2, 4, 8)
	case typeBool:
		x.kind = boolean
	case typeDecimal:
		x.kind, x.width, x.scale = decimal, int(of.int32(2, 128))/8, of.int32(1, 0)
		x.only(4, 8, 16, 32)
		if x.scale < 0 || x.scale > 1000 {
			x.kind = unreadable
		}
	case typeDate:
		x.kind, x.width, x.unit = date, 4, 1
		if of.int16(0, 1) != 0 {
			x.width, x.unit = 8, 24*60*60*1000
		}
	case typeTime:
		x.kind, x.width, x.unit = clock, int(of.int32(1, 32))/8, perSecond(of.int16(0, 1))
		x.only(4, 8)
	case typeTimestamp:
		x.kind, x.width, x.unit = timestamp, 8, perSecond(of.int16(0, 0))
	case typeDuration:
		x.kind, x.width = signed, 8
	case typeInterval, typeFixedBinary:
		x.kind = unreadable
	default:
		return false
	}
	return true
}

// only makes a field unreadable whose width is none of the given ones.
func (x *Field) only(widths ...int) {
	for _, w := range widths {
		if x.width == w {
			x.Type = fmt.Sprintf("%s of %d bits", x.Type, 8*w)
			return
		}
	}
	x.kind = unreadable
}

// perSecond returns how many units of time a second has.
func perSecond(unit int16) int64 {
	n := int64(1)
	for range max(0, min(unit, 3)) {
		n *= 1000
	}
	return n
}

// version5 is the version of the metadata since which unions have no bitmap.
const version5 = 4

// variable sets what is known of the other types.
func (x *Field) variable(code byte, of table, version int16) {
	switch code {
	case typeBinary, typeUtf8:
		x.kind, x.width, x.skip = text, 4, layout{1, 3, 0}
	case typeLargeBinary, typeLargeUtf8:
		x.kind, x.width, x.skip = text, 8, layout{1, 3, 0}
	case typeBinaryView, typeUtf8View:
		x.kind, x.width, x.skip = view, 16, layout{1, 2, 1}
	case typeList, typeLargeList, typeMap:
		x.skip = layout{1, 2, 0}
	case typeStruct, typeFixedList:
		x.skip = layout{1, 1, 0}
	case typeListView, typeLargeListView:
		x.skip = layout{1, 3, 0}
	case typeRunEnd:
		x.skip = layout{1, 0, 0}
	case typeUnion:
		x.skip = layout{1, 1, 0}
		if of.int16(0, 0) == 1 { // dense
			x.skip.buffers++
		}
		if version < version5 {
			x.skip.buffers++
		}
	}
}
