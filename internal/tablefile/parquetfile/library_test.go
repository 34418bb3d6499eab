package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// stored is a type and encoding of a column.
type stored struct {
	kind     parquet.Type
	encoding encoding.Encoding
	optional bool
}

func (s stored) String() string {
	return fmt.Sprintf(
		"%v %v optional=%v",
		s.kind, s.encoding, s.optional,
	)
}

// libraryEncodings returns all encodings that the Parquet library can write and this package supports.
func libraryEncodings() (out []stored) {
	fixed := parquet.FixedLenByteArrayType(5)
	for _, optional := range []bool{false, true} {
		add := func(e encoding.Encoding, kinds ...parquet.Type) {
			for _, kind := range kinds {
				out = append(out, stored{kind, e, optional})
			}
		}
		numbers := []parquet.Type{parquet.Int32Type, parquet.Int64Type, parquet.FloatType,
			parquet.DoubleType}
		add(
			&parquet.Plain,
			append(numbers, parquet.BooleanType, parquet.ByteArrayType, fixed)...,
		)
		add(&parquet.RLEDictionary, append(numbers, parquet.ByteArrayType, fixed)...)
		add(&parquet.RLE, parquet.BooleanType)
		add(&parquet.DeltaBinaryPacked, parquet.Int32Type, parquet.Int64Type)
		add(&parquet.DeltaLengthByteArray, parquet.ByteArrayType)
		add(&parquet.DeltaByteArray, parquet.ByteArrayType, fixed)
		add(&parquet.ByteStreamSplit, append(numbers, fixed)...)
	}
	return out
}

// randomValue draws a value, from few or from many.
func randomValue(r *rand.Rand, kind parquet.Type, few bool) parquet.Value {
	n := r.Int64()
	if few {
		n %= 7
	}
	text := bytes.Repeat(
		[]byte{byte('a' + n&3)},
		int(uint64(n)%40),
	)
	switch kind.Kind() {
	case parquet.Boolean:
		return parquet.BooleanValue(n&1 == 1)
	case parquet.Int32:
		return parquet.Int32Value(int32(n))
	case parquet.Int64:
		return parquet.Int64Value(n)
	case parquet.Float:
		return parquet.FloatValue(math.Float32frombits(uint32(n)))
	case parquet.Double:
		return parquet.DoubleValue(math.Float64frombits(uint64(n)))
	case parquet.FixedLenByteArray:
		return parquet.FixedLenByteArrayValue(
			append(text[:min(len(text), 3)], []byte("12345")[:5-min(len(text), 3)]...))
	}
	return parquet.ByteArrayValue(append(text, byte(n>>8), byte(n>>16)))
}

// randomRows draws rows of columns stored in the given encodings, each with its own pattern of nulls.
func randomRows(r *rand.Rand, columns []stored, rows int) []parquet.Row {
	out := make([]parquet.Row, rows)
	for j, c := range columns {
		missing := []float64{0, .02, .5, 1}[r.IntN(4)]
		few := r.IntN(2) == 0
		run := 1 + r.IntN(20)
		var v parquet.Value
		for i := range rows {
			if i%run == 0 {
				v = randomValue(r, c.kind, few).Level(
					0, int(b2i(c.optional)), j,
				)
			}
			if c.optional && r.Float64() < missing {
				out[i] = append(
					out[i],
					parquet.NullValue().Level(0, 0, j),
				)
				continue
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}

func b2i(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// writeParquet makes a file of rows.
func writeParquet(
	t testing.TB,
	columns []stored,
	rows []parquet.Row,
	codec format.CompressionCodec,
	opts ...parquet.WriterOption,
) []byte {
	t.Helper()
	group := parquet.Group{}
	for j, c := range columns {
		node := parquet.Encoded(parquet.Leaf(c.kind), c.encoding)
		if c.optional {
			node = parquet.Optional(node)
		}
		group[fmt.Sprintf("c%03d", j)] = node
	}
	var b bytes.Buffer
	w := parquet.NewWriter(
		&b,
		append(
			opts,
			parquet.NewSchema("t", group),
			parquet.Compression(parquet.LookupCompressionCodec(codec)),
		)...,
	)
	if _, err := w.WriteRows(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// cellText formats a value.
func cellText(typ Type, v Value) string {
	switch typ.Kind {
	case format.Boolean:
		return fmt.Sprint(v.Bits != 0)
	case format.Int32, format.Float:
		return fmt.Sprint(uint32(v.Bits))
	case format.Int64, format.Double:
		return fmt.Sprint(v.Bits)
	}
	return fmt.Sprintf("%q", v.Bytes)
}

// valueText is cellText for a value of the library.
func valueText(v parquet.Value) string {
	switch v.Kind() {
	case parquet.Boolean:
		return fmt.Sprint(v.Boolean())
	case parquet.Int32, parquet.Float:
		return fmt.Sprint(v.Uint32())
	case parquet.Int64, parquet.Double:
		return fmt.Sprint(v.Uint64())
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return fmt.Sprintf("%q", v.ByteArray())
	}
	return "null"
}

// classOf is the class of a cell of the tests: two classes of numbers, and one for all other types.
func classOf(typ Type, text string) uint8 {
	n, err := strconv.ParseUint(text, 10, 64)
	if manyTexts(typ) != nil && err == nil && n%5 == 1 {
		return 3
	}
	return 1
}

// manyTexts combines cellText and classOf for consecutive numbers; it returns nil for other types.
func manyTexts(typ Type) func([]string, []byte, *[Classes]int) {
	switch typ.Kind {
	case format.Int32, format.Int64, format.Float, format.Double:
	default:
		return nil
	}
	return func(dst []string, data []byte, tally *[Classes]int) {
		width := int(typ.minBytes())
		if len(data) != width*len(dst) {
			panic("the bytes are not those of the cells")
		}
		for k := range dst {
			v := Value{Bits: binary.LittleEndian.Uint64(
				append(
					bytes.Clone(data[k*width:][:width]),
					0, 0, 0, 0,
				))}
			dst[k] = cellText(typ, v)
			tally[classOf(typ, dst[k])]++
		}
	}
}

// readLeaf reads a leaf of a file as texts, with numbers in bulk if many is set.
func readLeaf(data []byte, leaf int, typ Type, whole int, many bool) ([]string, error) {
	footer, ok := ReadFooter(bytes.NewReader(data), int64(len(data)))
	if !ok {
		return nil, ErrDamaged
	}
	chunks, ok := footer.Chunks([]int{leaf})
	if !ok {
		return nil, ErrDamaged
	}
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
		Null:      "null",
		NullClass: 2,
		Text:      1 << 20,
	}
	if many {
		c.Many = manyTexts(typ)
		c.Room = &Room[string]{}
	}
	defer c.Close()
	var out []string
	for g, chunk := range chunks[0] {
		if err := c.Open(chunk, footer.Groups[g]); err != nil {
			return out, err
		}
		for {
			dst := make([]string, 1+len(out)%300)
			n, err := c.Read(dst)
			if err == io.EOF {
				break
			}
			if err != nil {
				return out, err
			}
			out = append(out, dst[:n]...)
		}
	}
	var want [Classes]int
	for _, cell := range out {
		if cell == "null" {
			want[2]++
		} else {
			want[classOf(typ, cell)]++
		}
	}
	if c.Tally != want {
		return out, fmt.Errorf(
			"counts %v of %d cells, want %v",
			c.Tally, len(out), want,
		)
	}
	return out, nil
}

// libraryLeaf reads a leaf with the library.
func libraryLeaf(t *testing.T, data []byte, leaf int) (out []string) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range f.RowGroups() {
		pages := g.ColumnChunks()[leaf].Pages()
		for {
			page, err := pages.ReadPage()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			vals := make([]parquet.Value, page.NumValues())
			if n, err := page.Values().ReadValues(vals); n < len(vals) {
				t.Fatal(n, err)
			}
			for _, v := range vals {
				out = append(out, valueText(v))
			}
		}
		pages.Close()
	}
	return out
}

func leafType(c stored) Type {
	typ := Type{Kind: format.Type(c.kind.Kind()), Optional: c.optional}
	if typ.Kind == format.FixedLenByteArray {
		typ.Width = c.kind.Length()
	}
	return typ
}

var codecs = []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Gzip,
	format.Brotli, format.Zstd, format.Lz4Raw}

// TestAgainstLibrary checks that random files of every type, encoding, codec and page version are read as they
// were written, with pages as a whole and as streams, number by number and in bulk, and as the library reads
// them. LZ4 is not compared, since the library returns wrong bytes for it.
func TestAgainstLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	columns := libraryEncodings()
	for round := range 24 {
		codec := codecs[round%len(codecs)]
		version := 1 + round/len(codecs)%2
		n := []int{0, 1, 40, 1500}[r.IntN(4)]
		page := []int{1, 300, 20_000}[r.IntN(3)]
		if n > 40 {
			page = max(page, 300*n/40)
		}
		rows := randomRows(r, columns, n)
		data := writeParquet(
			t,
			columns,
			rows,
			codec,
			parquet.DataPageVersion(version),
			parquet.PageBufferSize(page),
			parquet.MaxRowsPerRowGroup(int64(1+r.IntN(2*n+1))),
		)
		for j, c := range columns {
			want := make([]string, n)
			for i := range want {
				want[i] = valueText(rows[i][j])
			}
			for _, way := range []struct {
				whole int
				many  bool
			}{
				{WholePage, false}, {0, false},
				{WholePage, true}, {0, true},
			} {
				got, err := readLeaf(data, j, leafType(c), way.whole, way.many)
				if got, want := fmt.Sprint(got), fmt.Sprint(want); err != nil ||
					got != want {
					t.Fatalf("%v, version %d, %d rows, %v, %+v: %v\n got %.300s\nwant %.300s",
						codec, version, n, c, way, err, got, want)
				}
			}
			if codec == format.Lz4Raw {
				continue
			}
			got := libraryLeaf(t, data, j)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf(
					"%v, version %d, %v: the library reads %.300s",
					codec,
					version,
					c,
					fmt.Sprint(got),
				)
			}
		}
	}
}
