package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// fuzzRow has a column for each storage of values.
type fuzzRow struct {
	N *float64 `parquet:"n,optional,snappy"`
	I int64    `parquet:"i,delta"`
	C string   `parquet:"c,dict,zstd"`
	D [3]byte  `parquet:"d,decimal(1:6)"`
	B bool     `parquet:"b"`
	S string   `parquet:"s,delta,gzip"`
}

// fuzzSchema reads all columns of a fuzzRow.
func fuzzSchema() Schema {
	return Schema{
		Unit: "s",
		Columns: []Column{
			{Name: "n"},
			{
				Name:       "i",
				HasMissing: true,
				Missing:    -1,
			},
			{
				Name:       "c",
				Kind:       Category,
				Categories: []string{"x", "NA"},
			},
			{Name: "d"},
			{Name: "b"},
		},
	}
}

// fuzzImages are small Parquet files without checksums, so that a page with changed bytes is still examined.
func fuzzImages(tb testing.TB) [][]byte {
	rows := make([]fuzzRow, 9)
	for i := range rows {
		rows[i] = fuzzRow{
			I: int64(i * i),
			C: "x",
			D: [3]byte{byte(i)},
			B: i%2 == 0,
			S: "unit",
		}
		if i%3 > 0 {
			rows[i].N = ptr(float64(i) / 4)
		}
	}
	var out [][]byte
	for _, opts := range [][]parquet.WriterOption{
		{parquet.DataPageVersion(1)},
		{parquet.DataPageVersion(2)},
		{parquet.MaxRowsPerRowGroup(4), parquet.PageBufferSize(40)},
	} {
		data, err := os.ReadFile(writeParquet(tb, rows, opts...))
		if err != nil {
			tb.Fatal(err)
		}
		blankChecksums(tb, data)
		out = append(out, data)
	}
	return out
}

// blankChecksums sets the checksum of every page to zero without changing its size.
func blankChecksums(tb testing.TB, data []byte) {
	tb.Helper()
	pf, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		tb.Fatal(err)
	}
	for _, g := range pf.Metadata().RowGroups {
		for _, col := range g.Columns {
			at := int(col.MetaData.DataPageOffset)
			d := int(col.MetaData.DictionaryPageOffset)
			if d != 0 {
				at = d
			}
			for end := at + int(col.MetaData.TotalCompressedSize); at < end; {
				start, last := headerNumber(tb, data[at:end], 4) // the checksum
				data[at+last-1] = 0
				for k := at + start; k < at+last-1; k++ {
					data[k] = 0x80
				}
				size, _ := headerNumber(tb, data[at:end], 3)
				compressed, _ := binary.Varint(data[at+size:])
				reader := new(thrift.CompactProtocol).NewReaderFromBytes(data[at:end])
				err := thrift.NewDecoder(reader).Decode(new(format.PageHeader))
				if err != nil {
					tb.Fatal(err)
				}
				at += reader.BytesRead() + int(compressed)
			}
		}
	}
}

// headerNumber returns the position of the number in one of the first four fields of a page header: all are
// numbers, and one byte precedes each.
func headerNumber(tb testing.TB, data []byte, field int) (start, end int) {
	tb.Helper()
	for range field {
		if data[end] != 0x15 {
			tb.Fatal("a page header is not understood")
		}
		start = end + 1
		_, n := binary.Uvarint(data[start:])
		end = start + n
	}
	return start, end
}

// FuzzParquet reads arbitrary bytes as a Parquet file and requires a table, or an error of this package, and no
// more memory than pages of the allowed size take. Each three bytes of edits are a position and a value in one
// of three files; without edits, raw is the file.
func FuzzParquet(f *testing.F) {
	images := fuzzImages(f)
	f.Add([]byte{}, images[0])
	f.Add(
		[]byte{},
		[]byte("PAR1\x15\x00\x00\x00\x00\x00PAR1"),
	)
	f.Add([]byte{1, 0, 9, 0}, []byte{})
	f.Add(
		[]byte{2, 0, 5, 255, 1, 7, 15},
		[]byte{},
	)
	f.Fuzz(func(t *testing.T, edits, raw []byte) {
		data := raw
		if len(edits) > 0 {
			data = bytes.Clone(images[int(edits[0])%len(images)])
			for edits = edits[1:]; len(edits) >= 3; edits = edits[3:] {
				data[(int(edits[0])<<8|int(edits[1]))%len(data)] = edits[2]
			}
		}
		used := heapUse(func() {
			readAnyParquet(t, data)
		})
		if used > 1<<26 {
			t.Fatalf(
				"%d MiB for a file of %d bytes",
				used>>20, len(data),
			)
		}
	})
}

func readAnyParquet(t *testing.T, data []byte) {
	rd, err := newReader(
		"x.parquet",
		fileKind{parquet: true},
		fuzzSchema(),
		ReadOptions{Workers: 1, page: 1 << 16},
	)
	if err != nil {
		t.Fatal(err)
	}
	names, herr := parquetHeader(
		"x.parquet", bytes.NewReader(data),
		int64(len(data)),
	)
	table, stats, err := rd.readParquet(
		context.Background(),
		bytes.NewReader(data),
		int64(len(data)),
	)
	var fe *FileError
	if herr != nil && !errors.As(herr, &fe) ||
		err != nil && !errors.As(err, &fe) {
		t.Fatalf("%v, %v", herr, err)
	}
	if err == nil &&
		(herr != nil || len(names) < 6 || table.Len() != stats.Rows) {
		t.Fatalf(
			"a table of %d rows, %d counted, header %q, %v",
			table.Len(),
			stats.Rows,
			names,
			herr,
		)
	}
	rd.opts.BatchRows = 3
	var g gathered
	serr := streamParquet(
		context.Background(),
		rd,
		bytes.NewReader(data),
		int64(len(data)),
		g.newConsumer(rd.schema),
	)
	if serr != nil && !errors.As(serr, &fe) {
		t.Fatalf("as a stream: %v", serr)
	}
	got := g.outcomeAfter(serr)
	want := outcomeOf(table, stats, err)
	if err == nil &&
		!reflect.DeepEqual(got, want) {
		t.Fatalf(
			"as a stream %+v, as a table %+v",
			got, want,
		)
	}
}

// TestParquetClaims checks that memory claimed by a footer or a page header is not allocated before the bytes
// are there.
func TestParquetClaims(t *testing.T) {
	image := fuzzImages(t)[0]
	used := heapUse(func() {
		readAnyParquet(t, image)
	})
	_, _, err := readBytes(image)
	if err != nil || used > 1<<23 { // read by both readers
		t.Fatalf(
			"the file itself: %v, %d bytes",
			err, used,
		)
	}
	claims := map[string][]byte{"footer of 4 GB": binary.LittleEndian.AppendUint32(
		[]byte("PAR1PAR1"),
		1<<32-9,
	)}
	claims["footer of 4 GB"] = append(claims["footer of 4 GB"], "PAR1"...)
	footer := func(data []byte) []byte {
		out := append([]byte("PAR1"), data...)
		return append(binary.LittleEndian.AppendUint32(out, uint32(len(data))), "PAR1"...)
	}
	claims["a billion columns"] = footer([]byte{0x15, 2, 0x19, 0xFC, 0x80, 0x94, 0xEB, 0xDC, 3})
	claims["a name of 2 GB"] = footer([]byte{0x15, 2, 0x19, 0x1C, 0x48, 0xFF, 0xFF, 0xFF, 0xFF, 7})
	claims["structs in structs"] = footer(bytes.Repeat([]byte{0x1C}, 100_000))
	claims["groups in groups"] = footer(nestedGroups(t))
	for _, field := range []int{2, 3} { // sizes
		claims[fmt.Sprintf(
			"a page that claims 2 GB, field %d",
			field,
		)] = withPageField(t, image, field)
	}
	for name, data := range claims {
		used := heapUse(func() {
			if _, _, err := readBytes(data); err == nil {
				t.Errorf("%s: accepted", name)
			} else {
				var fe *FileError
				if !errors.As(err, &fe) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
		if used > 1<<24 {
			t.Errorf(
				"%s: %d MiB for a file of %d bytes",
				name, used>>20, len(data),
			)
		}
	}
}

func readBytes(data []byte) (*Table, *Stats, error) {
	rd, err := newReader(
		"x.parquet",
		fileKind{parquet: true},
		fuzzSchema(),
		ReadOptions{Workers: 1},
	)
	if err != nil {
		return nil, nil, err
	}
	return rd.readParquet(context.Background(), bytes.NewReader(data), int64(len(data)))
}

// nestedGroups is a footer in which each group contains the next one.
func nestedGroups(t *testing.T) []byte {
	meta := format.FileMetaData{Version: 1}
	for range 1<<16 + 2 {
		e := format.SchemaElement{Name: "g"}
		e.NumChildren.Set(1)
		meta.Schema = append(meta.Schema, e)
	}
	data, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// withPageField returns image with another first page header, in which one size has its maximum value. The
// bytes after it are shifted.
func withPageField(t *testing.T, image []byte, field int) []byte {
	t.Helper()
	start, end := headerNumber(t, image[4:], field)
	out := append(
		bytes.Clone(image[:4+start]),
		0xFE, 0xFF, 0xFF, 0xFF, 0x0F,
	)
	return append(out, image[4+end:]...)
}
