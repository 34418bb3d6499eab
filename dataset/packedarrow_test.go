package dataset

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
)

// arrowStream writes a stream with one column and one batch. typ is the position of the type in the union, bits
// an optional integer width.
func arrowStream(
	typ byte,
	bits int32,
	rows, nulls int64,
	compression int,
	buffers ...[]byte,
) []byte {
	schema := func(b *flatbuffers.Builder) (byte, flatbuffers.UOffsetT) {
		name := b.CreateString("a")
		b.StartObject(2)
		if bits > 0 {
			b.PrependInt32Slot(0, bits, 0)
			b.PrependBoolSlot(1, true, false)
		}
		of := b.EndObject()
		b.StartObject(7)
		b.PrependUOffsetTSlot(0, name, 0)
		b.PrependByteSlot(2, typ, 0)
		b.PrependUOffsetTSlot(3, of, 0)
		field := b.EndObject()
		b.StartVector(4, 1, 4)
		b.PrependUOffsetT(field)
		fields := b.EndVector(1)
		b.StartObject(4)
		b.PrependUOffsetTSlot(1, fields, 0)
		return 1, b.EndObject()
	}
	var body []byte
	batch := func(b *flatbuffers.Builder) (byte, flatbuffers.UOffsetT) {
		b.StartVector(16, 1, 8)
		b.PrependInt64(nulls)
		b.PrependInt64(rows)
		nodes := b.EndVector(1)
		var ends []int
		for _, data := range buffers {
			body = append(body, data...)
			ends = append(ends, len(body))
		}
		b.StartVector(16, len(buffers), 8)
		for k := len(buffers) - 1; k >= 0; k-- {
			b.PrependInt64(int64(len(buffers[k])))
			b.PrependInt64(int64(ends[k] - len(buffers[k])))
		}
		list := b.EndVector(len(buffers))
		var codec flatbuffers.UOffsetT
		if compression >= 0 {
			b.StartObject(2)
			b.PrependByteSlot(0, byte(compression), 255)
			codec = b.EndObject()
		}
		b.StartObject(5)
		b.PrependInt64Slot(0, rows, 0)
		b.PrependUOffsetTSlot(1, nodes, 0)
		b.PrependUOffsetTSlot(2, list, 0)
		b.PrependUOffsetTSlot(3, codec, 0)
		return 3, b.EndObject()
	}
	var out []byte
	for _, header := range []func(
		*flatbuffers.Builder,
	) (byte, flatbuffers.UOffsetT){schema, batch} {
		b := flatbuffers.NewBuilder(256)
		kind, of := header(b)
		b.StartObject(5)
		b.PrependInt16Slot(0, 4, 0)
		b.PrependByteSlot(1, kind, 0)
		b.PrependUOffsetTSlot(2, of, 0)
		b.PrependInt64Slot(3, int64(len(body)), 0)
		b.Finish(b.EndObject())
		meta := b.FinishedBytes()
		out = binary.LittleEndian.AppendUint32(
			append(out, 255, 255, 255, 255),
			uint32(len(meta)),
		)
		out = append(append(out, meta...), body...)
	}
	return append(out, 255, 255, 255, 255, 0, 0, 0, 0)
}

// TestArrowRefuses checks that sizes claimed in a file are validated before use, and that unsupported types are
// rejected regardless of their cells.
func TestArrowRefuses(t *testing.T) {
	const (
		null    = 1
		integer = 2
		utf8    = 5
		list    = 12
	)
	eight := binary.LittleEndian.AppendUint64(nil, 7)
	claims := binary.LittleEndian.AppendUint64(nil, 1<<50) // bytes after decoding
	lz4 := append(
		append([]byte{}, claims...),
		4, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x73,
		0, 0, 0, 0,
	)
	window := append(
		append([]byte{}, claims...),
		0x28, 0xb5, 0x2f, 0xfd, 0, 0xf8, 1,
		0, 0,
	)
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"a table": {
			arrowStream(integer, 64, 1, 0, -1, nil, eight),
			nil,
		},
		"nothing but nulls": {arrowStream(null, 0, 3, 3, -1), nil},
		"rows without bytes": {
			arrowStream(null, 0, 1<<40, 1<<40, -1),
			ErrTooLarge,
		},
		"rows below nothing": {arrowStream(null, 0, -1, 0, -1), ErrCorrupt},
		"fewer values than rows": {
			arrowStream(integer, 64, 2, 0, -1, nil, eight),
			ErrCorrupt,
		},
		"a buffer less": {arrowStream(integer, 64, 1, 0, -1, nil), ErrCorrupt},
		"a list": {
			arrowStream(list, 0, 1, 0, -1, nil, eight),
			ErrColumnType,
		},
		"integers of 24 bits": {
			arrowStream(integer, 24, 1, 0, -1, nil, eight),
			ErrColumnType,
		},
		"a type to come": {arrowStream(99, 0, 1, 0, -1), ErrFormat},
		"a text before its place": {
			arrowStream(
				utf8,
				0,
				1,
				0,
				-1,
				nil,
				[]byte{9, 0, 0, 0, 1, 0, 0, 0},
				make([]byte, 20),
			),
			ErrCorrupt,
		},
		"a text of two gigabytes": {
			arrowStream(
				utf8,
				0,
				1,
				0,
				-1,
				nil,
				[]byte{0, 0, 0, 0, 255, 255, 255, 127},
				make([]byte, 20),
			),
			ErrCorrupt,
		},
		"a codec to come": {
			arrowStream(integer, 64, 1, 0, 9, nil, eight),
			ErrFormat,
		},
		"LZ4 of nothing": {
			arrowStream(integer, 64, 1, 0, 0, nil, lz4),
			ErrCorrupt,
		},
		"a window of gigabytes": {
			arrowStream(integer, 64, 1, 0, 1, nil, window),
			ErrTooLarge,
		},
		"stored in spite of codec": {
			arrowStream(
				integer,
				64,
				1,
				0,
				1,
				nil,
				append([]byte{255, 255, 255, 255, 255, 255, 255, 255}, eight...),
			),
			nil,
		},
	} {
		got, _, err := Read(
			context.Background(),
			tableFile(t, "t.arrow", c.data),
			Schema{Columns: []Column{{Name: "a"}}},
			ReadOptions{},
		)
		if c.want != nil {
			checkError(t, name, err, c.want)
		} else if err != nil ||
			name != "nothing but nulls" && got.Float(0)[0] != 7 ||
			name == "nothing but nulls" && got.rows != 3 {
			t.Errorf(
				"%s: %v, %v",
				name, got, err,
			)
		}
	}
}

// TestArrowShortNumbers checks that a number of 32 or 16 bits is the category that a CSV file of the same table has, and the
// number that is stored.
func TestArrowShortNumbers(t *testing.T) {
	const floatType = 3
	single := binary.LittleEndian.AppendUint32(nil, math.Float32bits(.1))
	single = binary.LittleEndian.AppendUint32(single, math.Float32bits(2))
	half := binary.LittleEndian.AppendUint16(nil, 0x2e66)
	half = binary.LittleEndian.AppendUint16(half, 0x4000)
	for name, c := range map[string]struct {
		data []byte
		want float64
	}{
		"32 bits": {
			arrowStream(floatType, 1, 2, 0, -1, nil, single),
			float64(float32(.1)),
		},
		"16 bits": {
			arrowStream(floatType, 0, 2, 0, -1, nil, half),
			0.0999755859375,
		},
	} {
		path := tableFile(t, "t.arrows", c.data)
		for _, slow := range []bool{false, true} {
			for _, column := range []Column{
				{
					Name:       "a",
					Kind:       Category,
					Categories: []string{"2", "0.1"},
				},
				{Name: "a"},
			} {
				table, _, err := Read(
					context.Background(),
					path,
					Schema{Columns: []Column{column}},
					ReadOptions{ForceSlow: slow},
				)
				if err != nil {
					t.Fatal(name, err)
				}
				if column.Kind == Category {
					codes := table.Codes(0)
					if len(codes) != 2 ||
						codes[0] != 1 ||
						codes[1] != 0 {
						t.Errorf(
							"%s, slow %v: categories %v",
							name, slow, codes,
						)
					}
					continue
				}
				cells := table.Float(0)
				if len(cells) != 2 ||
					cells[0] != c.want ||
					cells[1] != 2 {
					t.Errorf(
						"%s, slow %v: numbers %v",
						name, slow, cells,
					)
				}
			}
		}
	}
}

// TestArrowNegativeZero checks that a negative zero is the number 0, read directly or by way of text.
func TestArrowNegativeZero(t *testing.T) {
	const floatType = 3
	for precision, negative := range [][]byte{
		binary.LittleEndian.AppendUint16(nil, 1<<15),
		binary.LittleEndian.AppendUint32(nil, 1<<31),
		binary.LittleEndian.AppendUint64(nil, 1<<63),
	} {
		path := tableFile(
			t, "t.arrows",
			arrowStream(floatType, int32(precision), 1, 0, -1, nil, negative),
		)
		for _, slow := range []bool{false, true} {
			table, _, err := Read(
				t.Context(),
				path,
				Schema{Columns: []Column{{Name: "a"}}},
				ReadOptions{ForceSlow: slow},
			)
			if err != nil {
				t.Fatal(err)
			}
			bits := math.Float64bits(table.Float(0)[0])
			if bits != 0 {
				t.Errorf(
					"precision %d, slow %v: %x",
					precision, slow, bits,
				)
			}
		}
	}
}
