package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// page is one page of a hand-made chunk.
type page struct {
	header format.PageHeader
	body   []byte
}

// dataPage is a data page of version 1; body is written as it is.
func dataPage(values, expanded int, enc format.Encoding, body []byte) page {
	p := page{
		header: format.PageHeader{
			Type:                 format.DataPage,
			UncompressedPageSize: int32(expanded),
		},
		body: body,
	}
	p.header.DataPageHeader.Set(
		format.DataPageHeader{
			NumValues:               int32(values),
			Encoding:                enc,
			DefinitionLevelEncoding: format.RLE,
		})
	return p
}

// dataPage2 is a data page of version 2 whose body starts with levels.
func dataPage2(
	values, expanded, repetition, definition int,
	stored bool,
	enc format.Encoding,
	body []byte,
) page {
	p := page{
		header: format.PageHeader{
			Type:                 format.DataPageV2,
			UncompressedPageSize: int32(expanded),
		},
		body: body,
	}
	h := format.DataPageHeaderV2{
		NumValues:                  int32(values),
		NumRows:                    int32(values),
		Encoding:                   enc,
		DefinitionLevelsByteLength: int32(definition),
		RepetitionLevelsByteLength: int32(repetition),
	}
	h.IsCompressed.Set(!stored)
	p.header.DataPageHeaderV2.Set(h)
	return p
}

// dictionaryPage holds a dictionary.
func dictionaryPage(values, expanded int, body []byte) page {
	p := page{
		header: format.PageHeader{
			Type:                 format.DictionaryPage,
			UncompressedPageSize: int32(expanded),
		},
		body: body,
	}
	p.header.DictionaryPageHeader.Set(format.DictionaryPageHeader{NumValues: int32(values)})
	return p
}

// chunkOf puts pages into a file.
func chunkOf(t testing.TB, pages ...page) []byte {
	t.Helper()
	out := []byte("PAR1")
	for _, p := range pages {
		p.header.CompressedPageSize = int32(len(p.body))
		head, err := thrift.Marshal(new(thrift.CompactProtocol), &p.header)
		if err != nil {
			t.Fatal(err)
		}
		out = append(append(out, head...), p.body...)
	}
	return out
}

// readChunk reads a chunk of the given number of rows.
func readChunk(
	data []byte,
	typ Type,
	codec format.CompressionCodec,
	rows, whole int,
) (out []string, err error) {
	return readMany(data, typ, codec, rows, whole, nil)
}

// readMany is readChunk with a function that converts many numbers at once.
func readMany(
	data []byte,
	typ Type,
	codec format.CompressionCodec,
	rows, whole int,
	many func([]string, []byte, *[Classes]int),
) (out []string, err error) {
	c := &Column[string]{
		Type: typ,
		File: File{
			At:    bytes.NewReader(data),
			Size:  int64(len(data)),
			Whole: whole,
		},
		Cell: func(v Value) (string, uint8) {
			return cellText(typ, v), classOf(typ, cellText(typ, v))
		},
		Many:      many,
		Null:      "null",
		NullClass: 2,
		Text:      1 << 10,
	}
	defer c.Close()
	err = c.Open(
		Chunk{
			Offset: 4,
			Size:   int64(len(data) - 4),
			Codec:  codec,
		},
		int64(rows),
	)
	for dst := make([]string, 100); err == nil; {
		var n int
		n, err = c.Read(dst)
		out = append(out, dst[:n]...)
	}
	if err == io.EOF {
		err = nil
	}
	return out, err
}

// withLength puts a length of four bytes before data.
func withLength(data []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...)
}

func compressPage(t testing.TB, codec format.CompressionCodec, data []byte) []byte {
	t.Helper()
	if codec == format.Uncompressed {
		return data
	}
	out, err := parquet.LookupCompressionCodec(codec).Encode(nil, data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPagesByHand reads pages that other writers produce and the Parquet library does not.
func TestPagesByHand(t *testing.T) {
	boolean := Type{Kind: format.Boolean}
	text := Type{Kind: format.ByteArray}
	maybe := Type{Kind: format.Boolean, Optional: true}
	long := strings.Repeat("q", 3000)
	ab := append(withLength([]byte("a")), withLength([]byte(long))...)
	for _, c := range []struct {
		name string
		typ  Type
		rows int
		want string
		page []page
	}{
		{
			"a run of true as its bit",
			boolean,
			10,
			"true×9 false",
			[]page{dataPage(
				10, 9, format.RLE,
				withLength([]byte{18, 1, 2, 0}),
			)},
		},
		{
			"a run of true as a byte of ones",
			boolean,
			9,
			"true×9",
			[]page{dataPage(
				9, 6, format.RLE,
				withLength([]byte{18, 255}),
			)},
		},
		{
			"runs of no value",
			boolean,
			2,
			"true false",
			[]page{dataPage(
				2, 9, format.RLE,
				withLength([]byte{0, 1, 1, 3, 1}),
			)},
		},
		{
			"a group that is cut off",
			boolean,
			9,
			"true×8 false",
			[]page{dataPage(
				9, 8, format.RLE,
				withLength([]byte{5, 255, 0}),
			)},
		},
		{
			"no bytes where all is null",
			maybe,
			3,
			"null×3",
			[]page{dataPage(
				3, 6, format.RLE,
				withLength([]byte{6, 0}),
			)},
		},
		{
			"repetition levels that say nothing",
			maybe,
			3,
			"true null×2",
			[]page{dataPage2(
				3, 6, 2, 3, false, format.Plain,
				[]byte{6, 0, 3, 1, 0, 1},
			)},
		},
		{
			"levels of a required column",
			boolean,
			1,
			"true",
			[]page{dataPage2(
				1, 3, 0, 2, false, format.Plain,
				[]byte{2, 1, 1},
			)},
		},
		{
			"a page of no values",
			boolean,
			1,
			"true",
			[]page{
				dataPage(0, 0, format.Plain, nil),
				dataPage(1, 1, format.Plain, []byte{1}),
				dataPage(0, 0, format.RLE, nil),
			},
		},
		{
			"texts of a dictionary, twice",
			text,
			3,
			`"a" "` + long[:1024] + `" "a"`,
			[]page{
				dictionaryPage(2, len(ab), ab),
				dictionaryPage(1, 8, ab[:5]),
				dataPage(3, 3, plainDictionary, []byte{1, 3, 2}),
			},
		},
		{
			"a dictionary after which texts stand in the page",
			text,
			2,
			`"a" "` + long[:1024] + `"`,
			[]page{
				dictionaryPage(2, len(ab), ab),
				dataPage(2, len(ab), format.Plain, ab),
			},
		},
		{
			"places of no bits",
			text,
			4,
			`"a"×4`,
			[]page{
				dictionaryPage(1, 5, ab[:5]),
				dataPage(4, 2, format.RLEDictionary, []byte{0, 8}),
			},
		},
	} {
		for _, codec := range codecs {
			pages := slices.Clone(c.page)
			for k, p := range pages {
				levels := 0
				if h := p.header.DataPageHeaderV2; h.Valid {
					levels = int(h.V.DefinitionLevelsByteLength + h.V.RepetitionLevelsByteLength)
				}
				pages[k].body = append(
					slices.Clone(p.body[:levels]),
					compressPage(t, codec, p.body[levels:])...,
				)
				pages[k].header.CRC = int32(crc32.ChecksumIEEE(pages[k].body))
			}
			data := chunkOf(t, pages...)
			for _, whole := range []int{WholePage, 0} {
				got, err := readChunk(data, c.typ, codec, c.rows, whole)
				if err != nil || countEqual(got) != c.want {
					t.Errorf(
						"%s, %v, whole pages %d: %.200s, %v",
						c.name,
						codec,
						whole,
						countEqual(got),
						err,
					)
				}
				bad := bytes.Clone(data)
				bad[len(bad)-1] ^= 1
				got, err = readChunk(bad, c.typ, codec, c.rows, whole)
				if len(pages[len(pages)-1].body) > 0 &&
					!errors.Is(err, ErrDamaged) {
					t.Errorf(
						"%s, %v, whole pages %d: a changed byte is not seen: %v, %v",
						c.name,
						codec,
						whole,
						got,
						err,
					)
				}
				_, err = readChunk(data, c.typ, codec, c.rows+1, whole)
				if !errors.Is(err, ErrDamaged) {
					t.Errorf(
						"%s, %v, whole pages %d: a row more: %v",
						c.name,
						codec,
						whole,
						err,
					)
				}
				_, err = readChunk(data, c.typ, codec, c.rows-1, whole)
				if !errors.Is(err, ErrDamaged) {
					t.Errorf(
						"%s, %v, whole pages %d: a row less: %v",
						c.name,
						codec,
						whole,
						err,
					)
				}
			}
		}
	}
}

// countEqual formats cells with the number of equal ones.
func countEqual(cells []string) string {
	var out []string
	for k := 0; k < len(cells); {
		n := 1
		for k+n < len(cells) && cells[k+n] == cells[k] {
			n++
		}
		cell := cells[k]
		if k += n; n > 1 {
			cell = fmt.Sprintf("%s×%d", cell, n)
		}
		out = append(out, cell)
	}
	return strings.Join(out, " ")
}

// TestSnappyReach checks that copies of a Snappy block may refer to any earlier position.
func TestSnappyReach(t *testing.T) {
	block := make([]byte, 300_000)
	rand.NewChaCha8([32]byte{4}).Read(block)
	data := slices.Concat(block, []byte("between"), block, block[:1000])
	far := s2.EncodeSnappyBest(nil, data)
	reach, err := snappyReach(bytes.NewReader(far), int64(len(data)))
	if err != nil ||
		reach < int64(len(block)) ||
		reach > int64(len(data)) {
		t.Fatalf("copies reach back %d, %v", reach, err)
	}
	b, err := newSnappy(bytes.NewReader(far), reach)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(b); err != nil || !bytes.Equal(got, data) {
		t.Errorf(
			"%d bytes, %v",
			len(got), err,
		)
	}
	if b, err = newSnappy(bytes.NewReader(far), reach-1); err == nil {
		_, err = io.ReadAll(b)
	}
	if !errors.Is(err, errBlock) {
		t.Errorf("a window that is too small: %v", err)
	}
	if _, err := snappyReach(bytes.NewReader(far), int64(len(data))-1); err == nil {
		t.Error("a block that is larger than its page")
	}
	for _, bad := range []string{"", "\x01", "\x05\x01\x00", "\x05\x00a\x01\x02", "\x01\x04aa",
		"\x05\xf0", "\xff\xff\xff\xff\xff\xff\x01"} {
		if _, err := snappyReach(strings.NewReader(bad), 100); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// FuzzPages reads arbitrary bytes as a page, of every type, encoding and codec, as a whole and as a stream, and
// with numbers in bulk. The cells or the error must be the same each time, and the memory must be in proportion
// to the input.
func FuzzPages(f *testing.F) {
	for k, w := range libraryEncodings() {
		f.Add(
			byte(k),
			byte(k),
			uint16(9),
			uint16(300),
			[]byte{
				18, 1, 2, 0, 0, 0, 1, 3,
				128, 1, 4, 9, 0,
			},
		)
		f.Add(
			byte(k),
			byte(k),
			uint16(9),
			uint16(40),
			bytes.Repeat([]byte{byte(len(w.String()))}, 40),
		)
	}
	f.Fuzz(func(t *testing.T, way, how byte, values, expanded uint16, body []byte) {
		w := libraryEncodings()[int(way)%len(libraryEncodings())]
		codec := codecs[int(how)%len(codecs)]
		if how&64 != 0 {
			body = compressPage(t, codec, body)
		}
		enc := w.encoding.Encoding()
		first := dictionaryPage(
			3,
			30,
			[]byte{1, 0, 0, 0, 'a', 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3,
				3, 3, 3, 3},
		)
		first.body = compressPage(t, codec, first.body)
		p := dataPage(int(values), int(expanded), enc, body)
		if how&128 != 0 {
			levels := min(len(body), int(how>>3&3))
			p = dataPage2(
				int(values), int(expanded), 0, levels,
				how&32 != 0, enc, body,
			)
		}
		data := chunkOf(t, first, p)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		whole, err1 := readChunk(data, leafType(w), codec, int(values), WholePage)
		stream, err2 := readChunk(data, leafType(w), codec, int(values), 0)
		many, err3 := readMany(
			data,
			leafType(w),
			codec,
			int(values),
			WholePage,
			manyTexts(leafType(w)),
		)
		runtime.ReadMemStats(&after)
		used := after.TotalAlloc - before.TotalAlloc
		if used > 1<<26 {
			t.Errorf(
				"%d MiB for %d bytes",
				used>>20, len(data),
			)
		}
		if (err1 == nil) != (err2 == nil) ||
			err1 == nil && !slices.Equal(whole, stream) {
			t.Errorf(
				"%v %v: %d cells, %v; as a stream %d cells, %v",
				w,
				codec,
				len(whole),
				err1,
				len(stream),
				err2,
			)
		}
		if (err1 == nil) != (err3 == nil) ||
			err1 == nil && !slices.Equal(whole, many) {
			t.Errorf(
				"%v %v: %d cells, %v; in one go %d cells, %v",
				w,
				codec,
				len(whole),
				err1,
				len(many),
				err3,
			)
		}
	})
}
