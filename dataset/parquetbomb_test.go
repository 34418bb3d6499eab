package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/tablefile/parquetfile"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// bombPage is one page of a hand-made file.
type bombPage struct {
	header format.PageHeader
	body   []byte
}

// bombFile is a Parquet file with one column, "x", and one row group of the given number of rows.
func bombFile(
	t *testing.T,
	typ format.Type,
	optional bool,
	codec format.CompressionCodec,
	rows int64,
	pages ...bombPage,
) []byte {
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
	size := int64(len(out) - 4)
	root := format.SchemaElement{Name: "root"}
	leaf := format.SchemaElement{Name: "x"}
	root.NumChildren.Set(1)
	leaf.Type.Set(typ)
	leaf.RepetitionType.Set(format.Required)
	if optional {
		leaf.RepetitionType.Set(format.Optional)
	}
	data := int64(4)
	chunk := format.ColumnChunk{
		FileOffset: 4,
		MetaData: format.ColumnMetaData{
			Type:                  typ,
			Encoding:              []format.Encoding{format.Plain},
			PathInSchema:          []string{"x"},
			Codec:                 codec,
			NumValues:             rows,
			TotalUncompressedSize: size,
			TotalCompressedSize:   size,
			DataPageOffset:        data,
		},
	}
	if pages[0].header.Type == format.DictionaryPage {
		chunk.MetaData.DictionaryPageOffset = 4
	}
	meta := format.FileMetaData{
		Version: 1,
		NumRows: rows,
		Schema:  []format.SchemaElement{root, leaf},
		RowGroups: []format.RowGroup{{
			NumRows:       rows,
			TotalByteSize: size,
			Columns:       []format.ColumnChunk{chunk},
		}},
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, "PAR1"...)
}

// dataPage returns a data page of version 1 that claims to expand to the given number of bytes.
func dataPage(values, expanded int, enc format.Encoding, body []byte) bombPage {
	p := bombPage{
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
			RepetitionLevelEncoding: format.RLE,
		})
	return p
}

// dataPage2 returns a data page of version 2 whose body starts with levels.
func dataPage2(values, nulls, levels int, enc format.Encoding, body []byte) bombPage {
	p := bombPage{
		header: format.PageHeader{
			Type:                 format.DataPageV2,
			UncompressedPageSize: int32(len(body)),
		},
		body: body,
	}
	h := format.DataPageHeaderV2{
		NumValues:                  int32(values),
		NumNulls:                   int32(nulls),
		NumRows:                    int32(values),
		Encoding:                   enc,
		DefinitionLevelsByteLength: int32(levels),
	}
	h.IsCompressed.Set(false)
	p.header.DataPageHeaderV2.Set(h)
	return p
}

// dictionaryPage holds texts.
func dictionaryPage(texts ...string) bombPage {
	var body []byte
	for _, s := range texts {
		body = append(binary.LittleEndian.AppendUint32(body, uint32(len(s))), s...)
	}
	p := bombPage{
		header: format.PageHeader{
			Type:                 format.DictionaryPage,
			UncompressedPageSize: int32(len(body)),
		},
		body: body,
	}
	p.header.DictionaryPageHeader.Set(format.DictionaryPageHeader{NumValues: int32(len(texts))})
	return p
}

// runOf is a run of one value that fits a byte.
func runOf(count uint64, value byte) []byte {
	return append(binary.AppendUvarint(nil, count<<1), value)
}

// withLength puts a length of four bytes before data.
func withLength(data []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...)
}

// deltaOf is a list of lengths as the Parquet library writes it.
func deltaOf(t *testing.T, lengths ...int32) []byte {
	t.Helper()
	data, err := parquet.DeltaBinaryPacked.EncodeInt32(nil, lengths)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestParquetRowsPerByte checks that a file of a few bytes cannot claim a table of any size, and that one of a
// million equal rows is read.
func TestParquetRowsPerByte(t *testing.T) {
	constant := func(pages, values int) []byte {
		list := []bombPage{dictionaryPage("1")}
		for range pages {
			list = append(
				list,
				dataPage(
					values,
					10,
					format.RLEDictionary,
					append([]byte{1}, runOf(uint64(values), 0)...),
				),
			)
		}
		return bombFile(
			t,
			format.ByteArray,
			false,
			format.Uncompressed,
			int64(pages)*int64(values),
			list...,
		)
	}
	used := heapUse(func() {
		checkError(t, "63 pages", readBomb(constant(63, 1<<25), 0), ErrTooLarge)
	})
	if used > 1<<22 {
		t.Errorf("%d MiB", used>>20)
	}
	table, _, err := readColumn(constant(8, 1<<17), 0)
	if err != nil ||
		table.Len() != 1<<20 ||
		table.Float(0)[1<<19] != 1 {
		t.Errorf("a million rows: %v", err)
	}
}

// deltaHead starts a list of total integers.
func deltaHead(total uint64) []byte {
	out := binary.AppendUvarint(nil, 128)
	out = binary.AppendUvarint(out, 4)
	return append(binary.AppendUvarint(out, total), 0, 0, 0, 0, 0, 0)
}

// readBomb reads column x of a file, with pages of at most whole bytes in memory, unless whole is 0.
func readBomb(data []byte, whole int) error {
	_, _, err := readColumn(data, whole)
	return err
}

func readColumn(data []byte, whole int) (*Table, *Stats, error) {
	schema := Schema{Columns: []Column{{Name: "x"}}}
	rd, err := newReader(
		"x.parquet",
		fileKind{parquet: true},
		schema,
		ReadOptions{Workers: 1, page: whole},
	)
	if err != nil {
		return nil, nil, err
	}
	return rd.readParquet(context.Background(), bytes.NewReader(data), int64(len(data)))
}

// TestParquetCompressionBombs checks, for every codec, that a page that expands to more than its declared size
// is rejected before it does.
func TestParquetCompressionBombs(t *testing.T) {
	const (
		size = 1 << 25
		says = 800
	)
	zeros := make([]byte, size)
	for _, codec := range []format.CompressionCodec{format.Snappy, format.Gzip, format.Brotli,
		format.Zstd, format.Lz4Raw} {
		body, err := parquet.LookupCompressionCodec(codec).Encode(nil, zeros)
		if err != nil {
			t.Fatal(err)
		}
		bad := bombFile(
			t,
			format.Double,
			false,
			codec,
			100,
			dataPage(100, says, format.Plain, body),
		)
		short, err := parquet.LookupCompressionCodec(codec).Encode(nil, zeros[:says])
		if err != nil {
			t.Fatal(err)
		}
		good := bombFile(
			t,
			format.Double,
			false,
			codec,
			100,
			dataPage(100, says, format.Plain, short),
		)
		noise := bombFile(
			t,
			format.Double,
			false,
			codec,
			100,
			dataPage(
				100, says, format.Plain,
				bytes.Repeat([]byte{0xF7, 0x31, 0x9C}, 99),
			),
		)
		for _, whole := range []int{0, 1} {
			if err := readBomb(good, whole); err != nil {
				t.Errorf(
					"%v, as it says: %v",
					codec, err,
				)
			}
			used := heapUse(func() {
				checkError(t, codec.String(), readBomb(bad, whole), ErrCorrupt)
			})
			if used > uint64(2*len(bad))+(1<<24) {
				t.Errorf(
					"%v: %d MiB for a file of %d bytes",
					codec, used>>20, len(bad),
				)
			}
			used = heapUse(func() {
				checkError(t, codec.String(), readBomb(noise, whole), ErrCorrupt)
			})
			if used > 1<<24 {
				t.Errorf(
					"%v: %d MiB for noise",
					codec, used>>20,
				)
			}
		}
	}
}

// TestParquetRunBombs checks that only the declared number of values is expanded if the runs of a page
// represent more, that texts with a long common prefix are expanded one after the other, and that lists with
// more lengths than values are rejected.
func TestParquetRunBombs(t *testing.T) {
	long := uint64(math.MaxInt32)
	const text = 1 << 16
	own := make([]int32, 4000)
	begin := slices.Repeat([]int32{text}, 4000)
	own[0] = text
	begin[0] = 0
	shared := append(deltaOf(t, begin...), deltaOf(t, own...)...)
	shared = append(shared, make([]byte, text)...)
	for _, c := range []struct {
		name     string
		typ      format.Type
		optional bool
		rows     int64
		pages    []bombPage
		want     error
	}{
		{
			"levels",
			format.Double,
			true,
			10,
			[]bombPage{dataPage(10, 30, format.Plain, withLength(runOf(long, 0)))},
			ErrCorrupt,
		},
		{
			"levels, version 2",
			format.Double,
			true,
			10,
			[]bombPage{dataPage2(10, 10, 6, format.Plain, runOf(long, 0))},
			ErrCorrupt,
		},
		{
			"levels, many runs",
			format.Double,
			true,
			10,
			[]bombPage{dataPage(
				10,
				30,
				format.Plain,
				withLength(bytes.Repeat(runOf(200, 0), 4)),
			)},
			nil,
		},
		{
			"places in a dictionary",
			format.ByteArray,
			false,
			10,
			[]bombPage{
				dictionaryPage("1"),
				dataPage(
					10,
					10,
					format.RLEDictionary,
					append([]byte{1}, runOf(long, 0)...),
				),
			},
			ErrCorrupt,
		},
		{
			"places of no bits",
			format.ByteArray,
			false,
			10,
			[]bombPage{
				dictionaryPage("1"),
				dataPage(
					10,
					10,
					format.RLEDictionary,
					append([]byte{0}, binary.AppendUvarint(nil, 1<<29|1)...),
				),
			},
			ErrCorrupt,
		},
		{
			"truth values",
			format.Boolean,
			false,
			10,
			[]bombPage{dataPage(10, 10, format.RLE, withLength(runOf(long, 1)))},
			ErrCorrupt,
		},
		{
			"differences",
			format.Int64,
			false,
			10,
			[]bombPage{dataPage(10, 20, format.DeltaBinaryPacked, deltaHead(long))},
			ErrCorrupt,
		},
		{
			"lengths",
			format.ByteArray,
			false,
			10,
			[]bombPage{dataPage(10, 20, format.DeltaLengthByteArray, deltaHead(long))},
			ErrCorrupt,
		},
		{
			"beginnings, how many",
			format.ByteArray,
			false,
			10,
			[]bombPage{dataPage(10, 20, format.DeltaByteArray, deltaHead(long))},
			ErrCorrupt,
		},
		{
			"beginnings, how long",
			format.ByteArray,
			false,
			4000,
			[]bombPage{dataPage(4000, len(shared), format.DeltaByteArray, shared)},
			nil,
		},
		{
			"runs of numbers",
			format.Int32,
			false,
			10,
			[]bombPage{dataPage(10, 20, format.RLE, withLength(runOf(long, 1)))},
			ErrCorrupt,
		},
		{
			"negative nulls",
			format.Double,
			true,
			10,
			[]bombPage{dataPage2(
				10, -1<<30, 2, format.ByteStreamSplit,
				runOf(10, 1),
			)},
			ErrCorrupt,
		},
	} {
		data := bombFile(t, c.typ, c.optional, format.Uncompressed, c.rows, c.pages...)
		for _, whole := range []int{0, 1} {
			used := heapUse(func() {
				err := readBomb(data, whole)
				if !errors.Is(err, c.want) {
					t.Errorf("%s: %v", c.name, err)
				}
			})
			if used > uint64(2*len(data))+(1<<22) {
				t.Errorf(
					"%s: %d KiB for a file of %d bytes",
					c.name, used>>10, len(data),
				)
			}
		}
	}
}

// TestParquetHonestPages checks that pages of ordinary writers are read, for every codec, encoding and page
// version.
func TestParquetHonestPages(t *testing.T) {
	type row struct {
		I int64    `parquet:"i,delta"`
		X *float64 `parquet:"x,optional,split"`
		S string   `parquet:"s,delta"`
		D *string  `parquet:"d,optional,dict"`
		B bool     `parquet:"b"`
		P float64  `parquet:"p"`
	}
	rows := make([]row, 5000)
	var want [6][]float64
	for i := range rows {
		text := "100000" + string(rune('0'+i%10))
		rows[i] = row{
			I: int64(i * i),
			S: text,
			D: ptr(text),
			B: i%3 == 0,
			P: float64(i) / 8,
		}
		x := math.NaN()
		if i%5 > 0 {
			x = float64(i%7) / 2
			rows[i].X = &x
		}
		number := 1000000 + float64(i%10)
		for k, v := range []float64{
			float64(i * i),
			x,
			number,
			number,
			map[bool]float64{true: 1}[rows[i].B],
			rows[i].P,
		} {
			want[k] = append(want[k], v)
		}
	}
	for _, codec := range []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Gzip,
		format.Brotli, format.Zstd, format.Lz4Raw} {
		for version := 1; version <= 2; version++ {
			path := writeParquet(
				t,
				rows,
				parquet.Compression(parquet.LookupCompressionCodec(codec)),
				parquet.DataPageVersion(version),
				parquet.PageBufferSize(3000),
			)
			table, _, err := Read(
				t.Context(),
				path,
				numericSchema(
					"i", "x", "s",
					"d", "b", "p",
				),
				ReadOptions{Workers: 2},
			)
			if err != nil {
				t.Errorf(
					"%v, version %d: %v",
					codec, version, err,
				)
				continue
			}
			for j := range want {
				if !slices.Equal(bitsOf(table.Float(j)), bitsOf(want[j])) {
					t.Errorf(
						"%v, version %d: column %d differs",
						codec, version, j,
					)
				}
			}
		}
	}
}

// TestParquetZstdStreams reads pages whose frames do not declare their size, as streaming writers produce them.
func TestParquetZstdStreams(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 100, 5000, 100_000} {
		var plain []byte
		for range n {
			plain = binary.LittleEndian.AppendUint64(
				plain,
				math.Float64bits(random.Float64()),
			)
		}
		var b bytes.Buffer
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		for part := range slices.Chunk(plain, 1000) {
			if _, err := z.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		data := bombFile(
			t,
			format.Double,
			false,
			format.Zstd,
			int64(n),
			dataPage(n, len(plain), format.Plain, b.Bytes()),
		)
		table, _, err := readColumn(data, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range table.Float(0) {
			if math.Float64bits(x) != binary.LittleEndian.Uint64(plain[8*i:]) {
				t.Fatalf("%d values: number %d differs", n, i)
			}
		}
	}
}

// TestParquetDictionaryLimit checks that a dictionary with more values than rows has a public limit.
func TestParquetDictionaryLimit(t *testing.T) {
	for _, more := range []int32{0, 1} {
		dictionary := dictionaryPage("1")
		dictionary.header.UncompressedPageSize = 1 << 30
		dictionary.header.DictionaryPageHeader.V.NumValues = parquetfile.MaxDictionary + more
		data := bombFile(
			t,
			format.ByteArray,
			false,
			format.Uncompressed,
			1,
			dictionary,
			dataPage(1, 3, format.RLEDictionary, []byte{0, 2}),
		)
		want := ErrCorrupt // it contains fewer
		if more > 0 {
			want = ErrTooLarge
		}
		used := heapUse(func() {
			checkError(t, "dictionary", readBomb(data, 0), want)
		})
		if used > 1<<23 {
			t.Errorf("%d MiB", used>>20)
		}
	}
}

// TestParquetRefusesLZ4 checks that the deprecated codec LZ4, whose framing was never specified, is rejected.
func TestParquetRefusesLZ4(t *testing.T) {
	data := bombFile(
		t,
		format.Double,
		false,
		format.Lz4,
		1,
		dataPage(1, 8, format.Plain, make([]byte, 9)),
	)
	checkError(t, "LZ4", readBomb(data, 0), ErrColumnType)
}

// TestParquetStopsInAPage checks that reading ends with the context, even within a page.
func TestParquetStopsInAPage(t *testing.T) {
	const size = 1 << 25
	data := bombFile(
		t,
		format.ByteArray,
		false,
		format.Uncompressed,
		1,
		dataPage(1, size+4, format.Plain, withLength(make([]byte, size))),
	)
	ctx, cancel := context.WithCancel(t.Context())
	rd, err := newReader(
		"x.parquet",
		fileKind{parquet: true},
		numericSchema("x"),
		ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	f := &cancelling{Reader: bytes.NewReader(data), cancel: cancel}
	_, _, err = rd.readParquet(ctx, f, int64(len(data)))
	if !errors.Is(err, context.Canceled) || f.after > 1<<20 {
		t.Errorf(
			"%v, %d bytes were read after the end",
			err, f.after,
		)
	}
}

// cancelling cancels a context after a megabyte of the file was read.
type cancelling struct {
	*bytes.Reader
	cancel      func()
	read, after int
}

func (c *cancelling) ReadAt(p []byte, at int64) (int, error) {
	if c.read += len(p); c.read > 1<<20 {
		c.after += len(p)
		c.cancel()
	}
	return c.Reader.ReadAt(p, at)
}
