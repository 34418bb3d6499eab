package parquetfile

import (
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Field is a field of the outermost group of a schema.
type Field struct {
	Name    string
	Leaf    int                     // position among the leaves of the schema; -1 for groups and lists
	Type    Type                    // of a leaf
	Logical format.LogicalTypeValue // the logical type of a leaf; nil if it has only Type

	interval bool // it has the older annotation of an interval, which has no logical type
}

// String returns the type of a field.
func (f *Field) String() string {
	switch {
	case f.Leaf < 0:
		return "list or group"
	case f.interval:
		return "INTERVAL"
	case f.Logical != nil:
		return f.Logical.String()
	case f.Type.Kind == format.FixedLenByteArray:
		return fmt.Sprintf("%v(%d)", f.Type.Kind, f.Type.Width)
	}
	return f.Type.Kind.String()
}

// Fields returns the fields of the outermost group. ok is false if the schema is damaged; the decoder of the
// Parquet library may panic on such a schema.
func (f *Footer) Fields() (fields []Field, ok bool) {
	var of struct {
		Schema []format.SchemaElement `thrift:"2,required"`
	}
	list := append([]byte{0x29}, f.schema...) // field 2, a list
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), append(list, 0), &of); err != nil ||
		len(of.Schema) == 0 {
		return nil, false
	}
	root := of.Schema[0]
	rest := of.Schema[1:]
	leaves := 0
	for range childrenOf(&root) {
		if len(rest) == 0 {
			return nil, false
		}
		fields = append(fields, fieldOf(&rest[0], leaves))
		for open := 1; open > 0; rest = rest[1:] {
			if open += childrenOf(&rest[0]) - 1; open < 0 || open > len(rest)-1 {
				return nil, false
			}
			if rest[0].Type.Valid {
				leaves++
			}
		}
	}
	return fields, len(rest) == 0
}

// int96Bytes is the width of a value of Int96.
const int96Bytes = 12

// childrenOf returns the number of direct children of an element, negative if the schema has a negative number.
func childrenOf(e *format.SchemaElement) int {
	if e.Type.Valid || !e.NumChildren.Valid {
		return 0
	}
	return int(e.NumChildren.V)
}

// fieldOf describes an element preceded by the given number of leaves.
func fieldOf(e *format.SchemaElement, leaves int) Field {
	f := Field{Name: e.Name, Leaf: -1}
	if !e.Type.Valid || e.RepetitionType.Valid && e.RepetitionType.V == format.Repeated {
		return f
	}
	f.Leaf, f.Logical = leaves, logicalOf(e)
	f.Type = Type{
		Kind:     e.Type.V,
		Optional: e.RepetitionType.Valid && e.RepetitionType.V == format.Optional,
	}
	switch e.Type.V {
	case format.FixedLenByteArray:
		f.Type.Width = int(e.TypeLength.V)
	case format.Int96:
		f.Type.Width = int96Bytes
	}
	f.interval = e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Interval
	return f
}

// logicalOf returns the logical type of a leaf, or the equivalent of its older annotation.
func logicalOf(e *format.SchemaElement) format.LogicalTypeValue {
	if e.LogicalType.Value != nil || !e.ConvertedType.Valid {
		return e.LogicalType.Value
	}
	switch old := e.ConvertedType.V; old {
	case deprecated.UTF8:
		return new(format.StringType)
	case deprecated.Enum:
		return new(format.EnumType)
	case deprecated.Json:
		return new(format.JsonType)
	case deprecated.Bson:
		return new(format.BsonType)
	case deprecated.Map:
		return new(format.MapType)
	case deprecated.List:
		return new(format.ListType)
	case deprecated.Decimal:
		if e.Scale.Valid && e.Precision.Valid {
			return &format.DecimalType{
				Scale:     e.Scale.V,
				Precision: e.Precision.V,
			}
		}
	case deprecated.Date:
		return new(format.DateType)
	case deprecated.TimestampMillis:
		return &format.TimestampType{Unit: format.TimeUnit{Value: new(format.MilliSeconds)}}
	case deprecated.TimestampMicros:
		return &format.TimestampType{Unit: format.TimeUnit{Value: new(format.MicroSeconds)}}
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return &format.IntType{BitWidth: 8 << (old - deprecated.Uint8)}
	}
	return nil
}
