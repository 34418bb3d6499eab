//go:build linux

package dataset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// hugePage is a page of column c: a dictionary, or values.
type hugePage struct {
	dictionary bool
	encoding   format.Encoding
	values     int
	expanded   int64
	body       func(w io.Writer) error // as stored in the file
}

// writeHuge writes a file with a numeric column a and a column c with the given codec and pages of version 1 or
// 2.
func writeHuge(
	t *testing.T,
	codec format.CompressionCodec,
	rows int,
	version2 bool,
	pages ...hugePage,
) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "huge.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := &countingWriter{w: bufio.NewWriterSize(f, 1<<20)}
	check := func(err error) {
		if t.Helper(); err != nil {
			t.Fatal(err)
		}
	}
	write := func(p hugePage) {
		var size countingWriter // the size precedes the body
		check(p.body(&size))
		h := format.PageHeader{
			Type:                 format.DataPage,
			UncompressedPageSize: int32(p.expanded),
			CompressedPageSize:   int32(size.n),
		}
		switch {
		case p.dictionary:
			h.Type = format.DictionaryPage
			h.DictionaryPageHeader.Set(format.DictionaryPageHeader{NumValues: int32(p.values)})
		case version2:
			h.Type = format.DataPageV2
			h.DataPageHeaderV2.Set(
				format.DataPageHeaderV2{
					NumValues: int32(p.values),
					NumRows:   int32(p.values),
					Encoding:  p.encoding,
				})
		default:
			h.DataPageHeader.Set(
				format.DataPageHeader{NumValues: int32(p.values), Encoding: p.encoding})
		}
		head, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
		check(err)
		_, err = out.Write(head)
		check(err)
		check(p.body(out))
	}
	_, err = io.WriteString(out, "PAR1")
	check(err)
	write(hugePage{
		values:   rows,
		expanded: int64(8 * rows),
		body:     bytesOf(make([]byte, 8*rows)),
	})
	first := out.n
	for _, p := range pages {
		write(p)
	}
	root := format.SchemaElement{Name: "root"}
	root.NumChildren.Set(2)
	a := format.SchemaElement{Name: "a"}
	c := format.SchemaElement{Name: "c"}
	a.Type.Set(format.Double)
	c.Type.Set(format.ByteArray)
	chunk := func(
		typ format.Type, codec format.CompressionCodec, at, end int64,
	) format.ColumnChunk {
		return format.ColumnChunk{MetaData: format.ColumnMetaData{
			Type:                typ,
			Codec:               codec,
			NumValues:           int64(rows),
			TotalCompressedSize: end - at,
			DataPageOffset:      at,
		}}
	}
	meta := format.FileMetaData{
		Version: 1,
		NumRows: int64(rows),
		Schema:  []format.SchemaElement{root, a, c},
	}
	meta.RowGroups = []format.RowGroup{{NumRows: int64(rows), Columns: []format.ColumnChunk{
		chunk(format.Double, format.Uncompressed, 4, first),
		chunk(format.ByteArray, codec, first, out.n)}}}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	check(err)
	_, err = out.Write(
		append(binary.LittleEndian.AppendUint32(footer, uint32(len(footer))), "PAR1"...))
	check(err)
	check(out.w.(*bufio.Writer).Flush())
	return path
}

// countingWriter counts the bytes written and passes them to a writer, if there is one.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	if c.w == nil {
		return len(p), nil
	}
	return c.w.Write(p)
}

// bytesOf writes data.
func bytesOf(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// cellsOf writes one cell of each given size, with its length before it. All bytes are the same.
func cellsOf(w io.Writer, sizes ...int) error {
	block := make([]byte, 1<<20)
	for k := range block {
		block[k] = 'q'
	}
	for _, size := range sizes {
		_, err := w.Write(binary.LittleEndian.AppendUint32(nil, uint32(size)))
		if err != nil {
			return err
		}
		for ; size > 0; size -= len(block) {
			_, err := w.Write(block[:min(size, len(block))])
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// zstdOf compresses the output of fill.
func zstdOf(fill func(io.Writer) error) func(io.Writer) error {
	var out bytes.Buffer
	z, err := zstd.NewWriter(
		&out,
		zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedFastest),
	)
	if err == nil {
		err = errors.Join(fill(z), z.Close())
	}
	return func(w io.Writer) error {
		_, again := w.Write(out.Bytes())
		return errors.Join(err, again)
	}
}

// snappyOf returns a writer of a Snappy block of cells that each consist of one byte and copies of it.
func snappyOf(sizes ...int) func(io.Writer) error {
	return func(w io.Writer) error {
		total := 0
		for _, size := range sizes {
			total += 4 + size
		}
		out := binary.AppendUvarint(nil, uint64(total))
		for _, size := range sizes {
			out = binary.LittleEndian.AppendUint32(append(out, 4<<2), uint32(size)) // five literal bytes
			out = append(out, 'q')
			for left := size - 1; left > 0; left -= 64 {
				out = append(
					out,
					byte(min(left, 64)-1)<<2|2,
					1, 0,
				)
			}
		}
		_, err := w.Write(out)
		return err
	}
}

// TestPeakMemoryOfParquet checks that a table of few records is read in at most 256 MiB, as a table and as a stream, however
// large the pages and cells are. Without the flag full each file is read once: as a table or as a stream, in turn.
func TestPeakMemoryOfParquet(t *testing.T) {
	if testing.Short() {
		t.Skip("reads pages of 300 MiB")
	}
	const mib = 1 << 20
	plain := func(sizes ...int) func(io.Writer) error {
		return func(w io.Writer) error {
			return cellsOf(w, sizes...)
		}
	}
	small := make([]int, 1_500_000)
	for k := range small {
		small[k] = 196
	}
	two := zstdOf(plain(240*mib, 240*mib))
	for i, file := range []struct{ name, path string }{
		{"two cells of 240 MiB, zstd", writeHuge(
			t,
			format.Zstd,
			2,
			false,
			hugePage{
				values:   2,
				expanded: 480*mib + 8,
				body:     two,
			},
		)},
		{"two cells of 240 MiB, Snappy", writeHuge(
			t,
			format.Snappy,
			2,
			true,
			hugePage{
				values:   2,
				expanded: 480*mib + 8,
				body:     snappyOf(240*mib, 240*mib),
			},
		)},
		{"one cell of 300 MiB", writeHuge(
			t,
			format.Uncompressed,
			1,
			false,
			hugePage{
				values:   1,
				expanded: 300*mib + 4,
				body:     plain(300 * mib),
			},
		)},
		{"a dictionary of two cells of 240 MiB", writeHuge(
			t,
			format.Zstd,
			3,
			false,
			hugePage{
				dictionary: true,
				values:     2,
				expanded:   480*mib + 8,
				body:       two,
			},
			hugePage{
				values:   3,
				encoding: format.RLEDictionary,
				expanded: 3,
				body:     zstdOf(bytesOf([]byte{1, 6, 1})),
			},
		)},
		{"a page of 300 MiB of short cells", writeHuge(
			t,
			format.Zstd,
			len(small),
			true,
			hugePage{
				values:   len(small),
				expanded: int64(200 * len(small)),
				body:     zstdOf(plain(small...)),
			},
		)},
	} {
		for _, stream := range []bool{false, true} {
			if stream != (i%2 == 0) && !*peakFull {
				continue
			}
			used := peakMemory(t, file.path, false, stream)
			t.Logf("%s, stream %v: %d MiB", file.name, stream, used>>20)
			if used > 256*mib {
				t.Errorf("%s, stream %v: %d MiB", file.name, stream, used>>20)
			}
		}
	}
}
