package arrowfile

import (
	"fmt"
	"time"

	_ "time/tzdata" // a file has the same meaning on machines without a time zone database
)

// A Field is a column of the file.
type Field struct {
	Name     string
	Type     string // Arrow's name, for messages
	Readable bool   // its cells have a text
	ZoneName string // of a timestamp; empty for one without a zone

	kind          kind
	width         int // bytes of a fixed value, or of an offset into texts
	unit          int64
	zone          *time.Location // of a timestamp; nil for one without a zone
	scale         int32
	dict          int64  // id of the dictionary of its values
	index, values *Field // for a dictionary; for runs, the end of each and its value

	skip layout
}

// kind is the interpretation of a value's bytes.
type kind int

const (
	unreadable kind = iota
	null
	signed
	unsigned
	float
	boolean
	truth // a nonzero byte for true
	decimal
	date      // a count of units
	clock     // a time of day
	timestamp // a count of units since 1970
	text      // offsets and bytes
	view      // views of bytes
	coded     // indices into a dictionary
	runs      // the ends of runs of equal values, and these values
	uuid      // 16 bytes
)

// layout is the number of nodes and buffers of a column in a batch, in addition to the buffers of views, which
// may have several.
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

var typeNames = [...]string{"", "null", "int", "float", "binary", "utf8", "bool", "decimal", "date",
	"time", "timestamp", "interval", "list", "struct", "union",
	"fixed-size binary", "fixed-size list", "map", "duration", "large binary", "large utf8",
	"large list", "run-end encoded", "binary view", "utf8 view",
	"list view", "large list view"}

// The limits on the nesting and on the number of fields that are examined.
const (
	maxDepth  = 64
	maxNested = 1 << 20
)

// readSchema reads the fields.
func (f *File) readSchema(t table) error {
	if t.int16(0, 0) != 0 {
		return ErrForeign // big-endian
	}
	f.Fields = []Field{}
	nested := 0
	for _, field := range t.tableFields(1) {
		x, err := f.readField(field, 0, &nested)
		if err != nil {
			return err
		}
		f.Fields = append(f.Fields, x)
	}
	return nil
}

// readField reads a field with its children.
func (f *File) readField(t table, depth int, nested *int) (Field, error) {
	if *nested++; depth > maxDepth || *nested > maxNested {
		return Field{}, ErrDamaged
	}
	x := Field{Name: t.textField(0)}
	code := t.byteField(2)
	of, _ := t.tableField(3)
	if code == 0 || int(code) >= len(typeNames) || of.t.Bytes == nil {
		return Field{}, ErrForeign
	}
	x.Type = typeNames[code]
	if !x.setFixedType(code, of) {
		x.setVariableType(code, of, f.version)
	}
	x.applyExtension(extensionOf(t))
	var children []Field
	for _, child := range t.tableFields(5) {
		c, err := f.readField(child, depth+1, nested)
		if err != nil {
			return Field{}, err
		}
		children = append(children, c)
		x.skip.nodes += c.skip.nodes
		x.skip.buffers += c.skip.buffers
		x.skip.views += c.skip.views
	}
	if code == typeRunEnd {
		x.runsOf(children)
	}
	if d, ok := t.tableField(4); ok {
		x = x.dictionaryCodes(d)
	}
	x.Readable = x.kind != unreadable
	return x, nil
}

// extensionOf returns the name of the extension type that the metadata of a field gives it, or "".
func extensionOf(t table) string {
	for _, pair := range t.tableFields(6) {
		if pair.textField(0) == "ARROW:extension:name" {
			return pair.textField(1)
		}
	}
	return ""
}

// applyExtension applies the extension types that are read differently from their storage type.
func (x *Field) applyExtension(name string) {
	switch {
	case name == "arrow.uuid" && x.width == uuidBytes:
		x.kind = uuid
		x.Type = name
	case name == "arrow.bool8" && x.kind == signed && x.width == 1:
		x.kind = truth
		x.Type = name
	}
}

// uuidBytes is the width of a UUID.
const uuidBytes = 16

// runsOf makes x a run-encoded column if its children are the run ends and values of a readable type.
func (x *Field) runsOf(children []Field) {
	if len(children) != 2 {
		return
	}
	ends := &children[0]
	values := &children[1]
	nested := values.kind == runs || values.kind == unreadable
	if ends.kind != signed || ends.width < 2 || nested {
		return
	}
	x.kind = runs
	x.index = ends
	x.values = values
	x.Type += " " + values.Type
}

// dictionaryCodes returns the field of indices into a dictionary of values like those of x.
func (x Field) dictionaryCodes(d table) Field {
	index := Field{kind: signed, width: 4}
	if of, ok := d.tableField(1); ok {
		index.setFixedType(typeInt, of)
	}
	out := Field{
		Name:   x.Name,
		Type:   "dictionary of " + x.Type,
		kind:   coded,
		width:  index.width,
		dict:   d.int64(0),
		index:  &index,
		values: &x,
		skip:   layout{1, 2, 0},
	}
	if index.kind == unreadable || x.kind == unreadable || x.skip.nodes > 1 {
		out.kind = unreadable
	}
	return out
}

// setFixedType sets the properties of a type whose values have the same width; it returns false for other types.
func (x *Field) setFixedType(code byte, of table) bool {
	x.skip = layout{1, 2, 0}
	switch code {
	case typeNull:
		x.kind = null
		x.skip.buffers = 0
	case typeInt:
		x.kind, x.width = unsigned, int(of.int32(0, 0))/8
		if of.byteField(1) != 0 {
			x.kind = signed
		}
		x.allowWidths(1, 2, 4, 8)
	case typeFloat:
		x.kind, x.width = float, 2<<max(0, min(int(of.int16(0, 0)), 3))
		x.allowWidths(2, 4, 8)
	case typeBool:
		x.kind = boolean
	case typeDecimal:
		x.kind, x.width, x.scale = decimal, int(of.int32(2, 128))/8, of.int32(1, 0)
		x.allowWidths(4, 8, 16, 32)
		if x.scale < -maxScale || x.scale > maxScale {
			x.kind = unreadable
		}
	case typeDate:
		x.kind = date
		x.width = 4
		x.unit = 1
		if of.int16(0, 1) != 0 {
			x.width = 8
			x.unit = 24 * 60 * 60 * 1000
		}
	case typeTime:
		x.kind, x.width, x.unit = clock, int(of.int32(1, 32))/8, perSecond(of.int16(0, 1))
		x.allowWidths(4, 8)
	case typeTimestamp:
		x.kind, x.width, x.unit = timestamp, 8, perSecond(of.int16(0, 0))
		x.setZone(of.textField(1))
	case typeDuration:
		x.kind = signed
		x.width = 8
	case typeFixedBinary:
		x.kind, x.width = unreadable, int(of.int32(0, 0))
	case typeInterval:
		x.kind = unreadable
	default:
		return false
	}
	return true
}

// maxScale is the public limit of the scale of a decimal, in digits.
const maxScale = 1000

// setZone sets the time zone of a timestamp. A timestamp in an unknown zone cannot be read.
func (x *Field) setZone(zone string) {
	if zone == "" {
		return
	}
	x.ZoneName = zone
	x.zone = ZoneOf(zone)
	if x.zone == nil {
		x.kind = unreadable
		x.Type = fmt.Sprintf("timestamp in the time zone %q", zone)
	}
}

// allowWidths makes a field unreadable if its width is not one of widths.
func (x *Field) allowWidths(widths ...int) {
	for _, w := range widths {
		if x.width == w {
			x.Type = fmt.Sprintf("%s of %d bits", x.Type, 8*w)
			return
		}
	}
	x.kind = unreadable
}

// perSecond returns the number of time units per second.
func perSecond(unit int16) int64 {
	n := int64(1)
	for range max(0, min(unit, 3)) {
		n *= 1000
	}
	return n
}

// version5 is the metadata version from which unions have no bitmap.
const version5 = 4

// setVariableType sets the properties of the other types.
func (x *Field) setVariableType(code byte, of table, version int16) {
	switch code {
	case typeBinary, typeUtf8:
		x.kind = text
		x.width = 4
		x.skip = layout{1, 3, 0}
	case typeLargeBinary, typeLargeUtf8:
		x.kind = text
		x.width = 8
		x.skip = layout{1, 3, 0}
	case typeBinaryView, typeUtf8View:
		x.kind = view
		x.width = 16
		x.skip = layout{1, 2, 1}
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
