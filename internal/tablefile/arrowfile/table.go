package arrowfile

import (
	"encoding/binary"

	flatbuffers "github.com/google/flatbuffers/go"
)

// table is a flatbuffers table. Fields are identified by their position in the schema of the format, from 0.
type table struct{ t flatbuffers.Table }

func rootOf(b []byte) table {
	return table{flatbuffers.Table{
		Bytes: b,
		Pos:   flatbuffers.GetUOffsetT(b),
	}}
}

// fieldOffset returns the offset of a field, 0 if it is absent.
func (t table) fieldOffset(field int) flatbuffers.UOffsetT {
	o := t.t.Offset(flatbuffers.VOffsetT(4 + 2*field))
	if o == 0 {
		return 0
	}
	return t.t.Pos + flatbuffers.UOffsetT(o)
}

func (t table) byteField(field int) byte {
	if at := t.fieldOffset(field); at != 0 {
		return t.t.GetByte(at)
	}
	return 0
}

func (t table) int16(field int, otherwise int16) int16 {
	if at := t.fieldOffset(field); at != 0 {
		return t.t.GetInt16(at)
	}
	return otherwise
}

func (t table) int32(field int, otherwise int32) int32 {
	if at := t.fieldOffset(field); at != 0 {
		return t.t.GetInt32(at)
	}
	return otherwise
}

func (t table) int64(field int) int64 {
	if at := t.fieldOffset(field); at != 0 {
		return t.t.GetInt64(at)
	}
	return 0
}

func (t table) textField(field int) string {
	if at := t.fieldOffset(field); at != 0 {
		return string(t.t.ByteVector(at))
	}
	return ""
}

func (t table) tableField(field int) (table, bool) {
	at := t.fieldOffset(field)
	if at == 0 {
		return table{}, false
	}
	return table{flatbuffers.Table{
		Bytes: t.t.Bytes,
		Pos:   t.t.Indirect(at),
	}}, true
}

// listField returns the bytes of a vector whose elements have the given width; nil if it is absent.
func (t table) listField(field, width int) []byte {
	o := flatbuffers.UOffsetT(t.t.Offset(flatbuffers.VOffsetT(4 + 2*field)))
	if o == 0 {
		return nil
	}
	start := int64(t.t.Vector(o))
	n := int64(t.t.VectorLen(o))
	return t.t.Bytes[start : start+n*int64(width)]
}

// tableFields returns the elements of a vector of tables.
func (t table) tableFields(field int) []table {
	list := t.listField(field, 4)
	if list == nil {
		return nil
	}
	start := int64(t.t.Vector(flatbuffers.UOffsetT(t.t.Offset(flatbuffers.VOffsetT(4 + 2*field)))))
	out := make([]table, len(list)/4)
	for i := range out {
		out[i] = table{flatbuffers.Table{
			Bytes: t.t.Bytes,
			Pos:   t.t.Indirect(flatbuffers.UOffsetT(start + 4*int64(i))),
		}}
	}
	return out
}

// int64s returns the elements of a vector of structs of 64-bit integers.
func (t table) int64s(field, perElement int) []int64 {
	list := t.listField(field, 8*perElement)
	out := make([]int64, len(list)/8)
	for i := range out {
		out[i] = int64(binary.LittleEndian.Uint64(list[8*i:]))
	}
	return out
}
