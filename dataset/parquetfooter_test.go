package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// groupRow has a column for every type and encoding that may occur in a group.
type groupRow struct {
	B  bool     `parquet:"b"`
	BO *bool    `parquet:"bo,optional"`
	I  int32    `parquet:"i"`
	ID int64    `parquet:"id,delta"`
	IO *int64   `parquet:"io,optional,dict"`
	F  float32  `parquet:"f"`
	X  float64  `parquet:"x,split"`
	XO *float64 `parquet:"xo,optional"`
	S  string   `parquet:"s"`
	SD string   `parquet:"sd,delta"`
	SL []byte   `parquet:"sl,delta"`
	SO *string  `parquet:"so,optional,dict"`
	D  [3]byte  `parquet:"d,decimal(1:6)"`
}

func groupRows(n int) []groupRow {
	out := make([]groupRow, n)
	for i := range out {
		text := strconv.Itoa(i * i % 17)
		out[i] = groupRow{
			B:  i%3 == 0,
			I:  int32(-i),
			ID: int64(i) << 33,
			F:  float32(i) / 4,
			X:  float64(i) / 8,
			S:  text,
			SD: text,
			SL: []byte(text),
			D:  [3]byte{0, byte(i), 7},
		}
		if i%2 == 0 {
			out[i].BO = ptr(i%4 == 0)
			out[i].IO = ptr(int64(i))
			out[i].XO = ptr(float64(-i))
			out[i].SO = ptr(text)
		}
	}
	return out
}

// footerEnd is the size of the footer's length and "PAR1", which follow the footer.
const footerEnd = 8

// emptyGroups lists how writers describe a group without rows: each function changes a copy of the description
// of a column with rows.
var emptyGroups = map[string]func(m *format.ColumnMetaData){
	"no offset": func(m *format.ColumnMetaData) {
		m.DataPageOffset = 0
		m.DictionaryPageOffset = 0
		m.TotalCompressedSize = 0
	},
	"an offset and no page": func(m *format.ColumnMetaData) {
		m.DictionaryPageOffset = 0
		m.TotalCompressedSize = 0
	},
	"an offset behind the file": func(m *format.ColumnMetaData) {
		m.DataPageOffset = 1 << 40
		m.TotalCompressedSize = 0
	},
	"a dictionary, pages of others": func(*format.ColumnMetaData) {},
	"another codec and no encodings": func(m *format.ColumnMetaData) {
		m.Codec = format.Lz4Raw
		m.Encoding = nil
		m.TotalCompressedSize = 0
	},
}

// withGroups inserts groups without rows into a file, before the groups with the given numbers.
func withGroups(
	tb testing.TB,
	image []byte,
	at []int,
	change func(m *format.ColumnMetaData),
) []byte {
	tb.Helper()
	end := len(image) - footerEnd - int(binary.LittleEndian.Uint32(image[len(image)-footerEnd:]))
	var meta format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), image[end:len(image)-footerEnd],
		&meta); err != nil {
		tb.Fatal(err)
	}
	for _, k := range slices.Backward(at) {
		g := meta.RowGroups[min(k, len(meta.RowGroups)-1)]
		g.NumRows, g.TotalByteSize, g.Columns = 0, 0, slices.Clone(g.Columns)
		for j := range g.Columns {
			m := &g.Columns[j].MetaData
			m.NumValues = 0
			m.TotalUncompressedSize = 0
			change(m)
		}
		meta.RowGroups = slices.Insert(meta.RowGroups, k, g)
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		tb.Fatal(err)
	}
	out := append(slices.Clone(image[:end]), footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, "PAR1"...)
}

// readImage reads all columns of groupRow except sl, which names the unit.
func readImage(data []byte) outcome {
	ctx := context.Background()
	schema := numericSchema(
		"b", "bo", "i",
		"id", "io", "f",
		"x", "xo", "s",
		"sd", "d",
	)
	schema.Columns = append(
		schema.Columns,
		Column{
			Name:       "so",
			Kind:       Category,
			Categories: []string{"0", "4", "16"},
		},
	)
	schema.Unit = "sl"
	rd, err := newReader(
		"x.parquet",
		fileKind{parquet: true},
		schema,
		ReadOptions{Workers: 1},
	)
	if err != nil {
		return outcome{err: err.Error()}
	}
	return outcomeOf(rd.readParquet(ctx, bytes.NewReader(data), int64(len(data))))
}

// TestParquetEmptyGroups checks that a row group without rows has no effect, at any position and however it
// was written. (A group of no booleans, which have no dictionary, has no page.)
func TestParquetEmptyGroups(t *testing.T) {
	for _, codec := range []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Gzip,
		format.Brotli, format.Zstd, format.Lz4Raw} {
		for version := 1; version <= 2; version++ {
			path := writeParquet(
				t,
				groupRows(25),
				parquet.Compression(parquet.LookupCompressionCodec(codec)),
				parquet.DataPageVersion(version),
				parquet.MaxRowsPerRowGroup(10),
			)
			image, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := readImage(image)
			if want.err != "" || want.stats.Rows != 25 {
				t.Fatalf("%v: %+v", codec, want)
			}
			for style, change := range emptyGroups {
				for _, at := range [][]int{
					{0}, {1}, {3},
					{0, 0, 1, 2, 3, 3},
				} {
					got := readImage(withGroups(t, image, at, change))
					if fmt.Sprint(
						got) != fmt.Sprint(want) {
						t.Errorf(
							"%v, version %d, %s, at %v: %+v",
							codec,
							version,
							style,
							at,
							got,
						)
					}
				}
			}
		}
	}
}

// TestParquetOnlyEmptyGroups checks that a file with only empty groups is a table without records, and that a
// file with a single record is read as well.
func TestParquetOnlyEmptyGroups(t *testing.T) {
	for rows := range 2 {
		path := writeParquet(t, groupRows(1), parquet.MaxRowsPerRowGroup(1))
		image, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for style, change := range emptyGroups {
			data := withGroups(t, image, []int{0, 1}, change)
			if rows == 0 {
				data = withoutRows(t, data)
			}
			got := readImage(data)
			if got.err != "" || got.stats.Rows != rows {
				t.Errorf(
					"%s, %d records: %+v",
					style, rows, got,
				)
			}
		}
	}
}

// withoutRows removes the groups with rows from a file.
func withoutRows(tb testing.TB, image []byte) []byte {
	tb.Helper()
	end := len(image) - footerEnd - int(binary.LittleEndian.Uint32(image[len(image)-footerEnd:]))
	var meta format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), image[end:len(image)-footerEnd],
		&meta); err != nil {
		tb.Fatal(err)
	}
	meta.RowGroups = slices.DeleteFunc(meta.RowGroups, func(g format.RowGroup) bool {
		return g.NumRows > 0
	})
	meta.NumRows = 0
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		tb.Fatal(err)
	}
	out := append(slices.Clone(image[:end]), footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, "PAR1"...)
}

// TestParquetRandomGroups reads random files with empty groups at random places.
func TestParquetRandomGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 1))
	styles := make([]string, 0, len(emptyGroups))
	for style := range emptyGroups {
		styles = append(styles, style)
	}
	slices.Sort(styles)
	for range 60 {
		size := 1 + random.Int64N(9)
		rows := 1 + random.IntN(30)
		path := writeParquet(
			t,
			groupRows(rows),
			parquet.DataPageVersion(1+random.IntN(2)),
			parquet.MaxRowsPerRowGroup(size),
			parquet.PageBufferSize(1+random.IntN(200)),
		)
		image, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var at []int
		for range 1 + random.IntN(4) {
			at = append(
				at,
				random.IntN(1+(rows+int(size)-1)/int(size)),
			)
		}
		slices.Sort(at)
		style := styles[random.IntN(len(styles))]
		if got, want := readImage(withGroups(t, image, at, emptyGroups[style])),
			readImage(image); want.err != "" || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf(
				"%d rows by %d, %s at %v: %+v, want %+v",
				rows,
				size,
				style,
				at,
				got,
				want,
			)
		}
	}
}

// TestParquetNullColumn checks that a column of the null type is missing in every record, and that a column
// with a single value is missing in every other record.
func TestParquetNullColumn(t *testing.T) {
	var b bytes.Buffer
	schema := parquet.NewSchema(
		"t",
		parquet.Group{
			"n": parquet.Optional(parquet.Leaf(parquet.NullType)),
			"x": parquet.Leaf(parquet.DoubleType),
		},
	)
	w := parquet.NewWriter(&b, schema)
	for range 3 {
		_, err := w.WriteRows(
			[]parquet.Row{{
				parquet.NullValue().Level(0, 0, 0),
				parquet.DoubleValue(2).Level(0, 0, 1),
			}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, schema := range map[string]Schema{
		"number": {Columns: []Column{
			{Name: "x"},
			{
				Name:       "n",
				HasMissing: true,
				Missing:    7,
			},
		}},
		"category": {Columns: []Column{
			{Name: "x"},
			{
				Name:       "n",
				Kind:       Category,
				Categories: []string{"a"},
			},
		}},
		"unit": {
			Columns: []Column{{Name: "x"}},
			Unit:    "n",
		},
	} {
		rd, err := newReader("x.parquet", fileKind{parquet: true}, schema, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		table, stats, err := rd.readParquet(
			t.Context(),
			bytes.NewReader(b.Bytes()),
			int64(b.Len()),
		)
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case table.Len() != 3 || table.Float(0)[2] != 2:
			t.Errorf(
				"%s: %d rows",
				name, table.Len(),
			)
		case name == "number" &&
			(!slices.Equal(table.Float(1), []float64{7, 7, 7}) ||
				stats.Columns[1].Missing != 3):
			t.Errorf(
				"numbers %v, %+v",
				table.Float(1), stats,
			)
		case name == "category" &&
			(!slices.Equal(table.Codes(1), []int32{1, 1, 1}) ||
				stats.Columns[1].Missing != 3):
			t.Errorf(
				"codes %v, %+v",
				table.Codes(1), stats,
			)
		case name == "unit" && (table.ID(1) != NoUnit || stats.NoUnit != 3):
			t.Errorf("units %+v", stats)
		}
	}
}

// TestParquetWholeDoubles checks that a whole number has the same text in a column of integers and in one of
// floats. A single record without a number turns the former into the latter.
func TestParquetWholeDoubles(t *testing.T) {
	type row struct {
		I int64   `parquet:"i"`
		F float64 `parquet:"f"`
		G float32 `parquet:"g"`
		Z float64 `parquet:"z"`
	}
	var rows []row
	var names []string
	for _, v := range []int64{0, 7, 999999, 1000000, 16777216, 21000000, 1e15, 1<<53 - 1, -1000000,
		-(1<<53 - 1)} {
		rows = append(
			rows,
			row{
				I: v,
				F: float64(v),
				G: float32(min(max(v, -1<<24), 1<<24)),
				Z: float64(v) + .5,
			},
		)
		names = append(names, strconv.FormatInt(v, 10))
	}
	path := writeParquet(t, rows)
	read := func(column string, categories []string) *Table {
		table, _, err := Read(
			t.Context(),
			path,
			Schema{Unit: column, Columns: []Column{{Name: "z"}}},
			ReadOptions{},
		)
		if err != nil {
			t.Fatal(err)
		}
		codes, _, err := Read(
			t.Context(),
			path,
			Schema{Columns: []Column{{
				Name:       column,
				Kind:       Category,
				Categories: categories,
			}}},
			ReadOptions{},
		)
		if err != nil {
			t.Fatal(err)
		}
		for i, code := range codes.Codes(0) {
			if int(code) != i && column != "g" {
				t.Errorf(
					"%s: %v has the code %d of %q",
					column, rows[i].F, code, names,
				)
			}
		}
		if column == "g" &&
			(codes.Codes(0)[3] != 3 || codes.Codes(0)[4] != 4) {
			t.Errorf("float32: codes %v", codes.Codes(0))
		}
		return table
	}
	whole := read("i", names)
	floats := read("f", names)
	read("g", names)
	for i := range rows {
		if whole.ID(i) != floats.ID(i) {
			t.Errorf(
				"%v is another unit as a float",
				rows[i].F,
			)
		}
	}
	for x, want := range map[float64]string{
		0.5:        "0.5",
		1e21:       "1e+21",
		1 << 53:    "9007199254740992",
		1234567.25: "1234567.25",
		1e-5:       "1e-05",
	} {
		got := string(cell.AppendFloat(nil, x, 64))
		if got != want {
			t.Errorf(
				"%v is written %s, want %s",
				x, got, want,
			)
		}
	}
}

// TestParquetLongTexts checks that only the first 16 MiB of a text are used, as of a line of CSV, and that
// columns with long texts in every position are read.
func TestParquetLongTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("writes texts of 17 MiB")
	}
	type row struct {
		A string `parquet:"a,zstd"`
		B string `parquet:"b,zstd"`
		C string `parquet:"c,zstd"`
		U string `parquet:"u,zstd"`
	}
	blanks := bytes.Repeat([]byte{' '}, longestLine-1)
	long := string(append(blanks, "12"...))
	path := writeParquet(
		t,
		[]row{
			{"3", "x", "4", "p"},
			{long, long, long, long},
			{"5", "1", "6", "1"},
		},
	)
	schema := Schema{
		Unit: "u",
		Columns: []Column{
			{Name: "a"},
			{
				Name:       "b",
				Kind:       Category,
				Categories: []string{"x", "1"},
			},
			{Name: "c"},
		},
	}
	table, _, err := Read(t.Context(), path, schema, ReadOptions{Workers: 4})
	if err != nil {
		t.Fatal(err)
	}
	equalFloats(t, "a", table.Float(0), []float64{3, 1, 5})
	equalFloats(t, "c", table.Float(2), []float64{4, 1, 6})
	if !slices.Equal(table.Codes(1), []int32{0, 1, 1}) ||
		table.ID(1) != table.ID(2) {
		t.Errorf("codes %v", table.Codes(1))
	}
}

// TestParquetLongTextMemory checks that at most the first 16 MiB of a 96 MiB cell are held in memory.
func TestParquetLongTextMemory(t *testing.T) {
	const size = 96 << 20
	plain := append(
		binary.LittleEndian.AppendUint32(nil, size),
		bytes.Repeat([]byte{'q'}, size)...,
	)
	body, err := parquet.LookupCompressionCodec(format.Zstd).Encode(nil, plain)
	if err != nil {
		t.Fatal(err)
	}
	data := bombFile(
		t,
		format.ByteArray,
		false,
		format.Zstd,
		1,
		dataPage(1, len(plain), format.Plain, body),
	)
	used := heapUse(func() {
		_, stats, err := readColumn(data, 0)
		if err != nil || stats.Columns[0].Unparseable != 1 {
			t.Errorf("%+v, %v", stats, err)
		}
	})
	if used > size {
		t.Errorf("%d MiB", used>>20)
	}
}

// TestParquetLongStatistics checks that statistics and metadata in a footer are never held in memory, whatever
// their length.
func TestParquetLongStatistics(t *testing.T) {
	const size = 16 << 20
	image, err := os.ReadFile(writeParquet(
		t,
		groupRows(25),
		parquet.MaxRowsPerRowGroup(10),
	))
	if err != nil {
		t.Fatal(err)
	}
	end := len(image) - footerEnd - int(binary.LittleEndian.Uint32(image[len(image)-footerEnd:]))
	var meta format.FileMetaData
	err = thrift.Unmarshal(
		new(thrift.CompactProtocol),
		image[end:len(image)-footerEnd],
		&meta,
	)
	if err != nil {
		t.Fatal(err)
	}
	long := bytes.Repeat([]byte{'q'}, size)
	for g := range meta.RowGroups {
		m := &meta.RowGroups[g].Columns[8].MetaData
		m.Statistics = format.Statistics{MinValue: long, MaxValue: long}
	}
	meta.KeyValueMetadata = []format.KeyValue{{Key: "k", Value: string(long)}}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		t.Fatal(err)
	}
	data := append(slices.Clone(image[:end]), footer...)
	data = append(binary.LittleEndian.AppendUint32(data, uint32(len(footer))), "PAR1"...)
	want := readImage(image)
	used := heapUse(func() {
		got := readImage(data)
		if want.err != "" || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
	if used > 1<<24 {
		t.Errorf(
			"%d MiB for a footer of %d MiB",
			used>>20, len(footer)>>20,
		)
	}
}
