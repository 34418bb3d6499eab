package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// parquetRow has a column of every supported type, and of some unsupported ones.
type parquetRow struct {
	Bool    bool     `parquet:"bool"`
	I32     int32    `parquet:"i32"`
	I64     int64    `parquet:"i64"`
	U64     uint64   `parquet:"u64"`
	F32     float32  `parquet:"f32"`
	F64     *float64 `parquet:"f64,optional,snappy"`
	Text    string   `parquet:"text,dict"`
	Opt     *string  `parquet:"opt,optional,dict,zstd"`
	Decimal int64    `parquet:"decimal,decimal(2:18)"`
	Bytes   [3]byte  `parquet:"bytes,decimal(1:6)"`
	List    []int32  `parquet:"list,list"`
	Group   struct {
		X int32 `parquet:"x"`
	} `parquet:"group"`
	UUID [16]byte `parquet:"uuid,uuid"`
}

func writeParquet[T any](tb testing.TB, rows []T, opts ...parquet.WriterOption) string {
	tb.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, opts...)
	if _, err := w.Write(rows); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), "x.parquet")
	writeFile(tb, path, b.Bytes())
	return path
}

func ptr[T any](v T) *T {
	return &v
}

func parquetRows() []parquetRow {
	return []parquetRow{
		{
			Bool:    true,
			I32:     -5,
			I64:     1 << 60,
			U64:     math.MaxUint64,
			F32:     0.1,
			F64:     ptr(2.5),
			Text:    " 1e3 ",
			Opt:     ptr("red"),
			Decimal: -1234,
			Bytes:   [3]byte{0xFF, 0xFF, 0x85},
		},
		{
			F32:     float32(math.Inf(1)),
			F64:     nil,
			Text:    "NA",
			Decimal: 5,
			Bytes:   [3]byte{0, 1, 0},
		},
		{
			F64:     ptr(math.NaN()),
			Text:    marker,
			Opt:     ptr("green"),
			Decimal: 100,
		},
		{
			F64:  ptr(math.Inf(-1)),
			Text: "inf",
			Opt:  ptr(" blue"),
		},
	}
}

func TestParquetKinds(t *testing.T) {
	path := writeParquet(t, parquetRows())
	schema := numericSchema(
		"f64", "bool", "i32",
		"i64", "u64", "f32",
		"text", "decimal", "bytes",
	)
	for j := range schema.Columns {
		schema.Columns[j].HasMissing = true
		schema.Columns[j].Missing = -1
	}
	schema.Columns = append(
		schema.Columns,
		Column{
			Name:       "opt",
			Kind:       Category,
			Categories: []string{"blue", "red"},
		},
	)
	table, stats, err := Read(context.Background(), path, schema, ReadOptions{Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range [][]float64{
		{2.5, -1, -1, -1},
		{1, 0, 0, 0},
		{-5, 0, 0, 0},
		{1 << 60, 0, 0, 0},
		{math.MaxUint64, 0, 0, 0},
		{float64(float32(0.1)), -1, 0, 0},
		{1000, -1, -1, -1},
		{-12.34, .05, 1, 0},
		{-12.3, 25.6, 0, 0},
	} {
		equalFloats(t, schema.Columns[j].Name, table.Float(j), want)
	}
	got := table.Codes(9)
	if !slices.Equal(got, []int32{1, 2, 2, 0}) {
		t.Errorf("opt: %v", got)
	}
	want := Stats{Rows: 4, Columns: slices.Clone(stats.Columns)}
	want.Columns[0] = ColumnStats{
		Name:      "f64",
		Missing:   2,
		Nonfinite: 1,
	}
	want.Columns[5] = ColumnStats{Name: "f32", Nonfinite: 1}
	want.Columns[6] = ColumnStats{
		Name:        "text",
		Missing:     1,
		Unparseable: 1,
		Nonfinite:   1,
	}
	want.Columns[9] = ColumnStats{
		Name:     "opt",
		Missing:  1,
		Unlisted: 1,
	}
	if !slices.Equal(stats.Columns, want.Columns) || stats.Rows != 4 {
		t.Errorf(
			"counts %+v, want %+v",
			*stats, want,
		)
	}
}

func TestParquetCategoriesAreText(t *testing.T) {
	path := writeParquet(t, parquetRows())
	var schema Schema
	for name, first := range map[string]string{
		"bool":    "true",
		"i32":     "-5",
		"i64":     "1152921504606846976",
		"u64":     "18446744073709551615",
		"f32":     "0.1",
		"f64":     "2.5",
		"text":    "1e3",
		"decimal": "-12.34",
		"bytes":   "-12.3",
	} {
		schema.Columns = append(
			schema.Columns,
			Column{
				Name:       name,
				Kind:       Category,
				Categories: []string{first},
			},
		)
	}
	table, _, err := Read(context.Background(), path, schema, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for j, c := range schema.Columns {
		got := table.Codes(j)
		if got[0] != 0 || got[1] != 1 {
			t.Errorf(
				"%s: codes %v, want 0 and then 1",
				c.Name, got,
			)
		}
	}
}

func TestParquetRefusesTypes(t *testing.T) {
	path := writeParquet(t, parquetRows())
	for _, name := range []string{"list", "group"} {
		_, _, err := Read(
			context.Background(),
			path,
			numericSchema("i32", name),
			ReadOptions{},
		)
		checkError(t, name, err, ErrColumnType)
	}
	_, _, err := Read(
		context.Background(), path,
		numericSchema("nowhere"), ReadOptions{},
	)
	checkError(t, "absent", err, ErrNoColumn)
	names, err := Header(path, ReadOptions{})
	if err != nil ||
		len(names) != 13 ||
		names[5] != "f64" {
		t.Errorf("header %q, %v", names, err)
	}
}

// bigRow exercises many row groups, pages and nulls.
type bigRow struct {
	I int64    `parquet:"i,delta"`
	X *float64 `parquet:"x,optional"`
	S string   `parquet:"s,dict"`
}

func TestParquetRowGroupsAndPages(t *testing.T) {
	const n = 70_000 // more than one piece
	rows := make([]bigRow, n)
	for i := range rows {
		rows[i] = bigRow{
			I: int64(i),
			S: "u" + strconv.Itoa(i%7),
		}
		if i%3 != 0 {
			rows[i].X = ptr(float64(i) / 4)
		}
	}
	path := writeParquet(
		t,
		rows,
		parquet.MaxRowsPerRowGroup(9001),
		parquet.PageBufferSize(1000),
	)
	schema := numericSchema("x", "i")
	schema.Unit = "s"
	table, stats, err := Read(context.Background(), path, schema, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if table.Len() != n ||
		stats.Rows != n ||
		stats.Columns[0].Missing != (n+2)/3 {
		t.Fatalf(
			"%d rows, %+v",
			table.Len(), *stats,
		)
	}
	for i := range n {
		x := table.Float(0)[i]
		if table.Float(1)[i] != float64(i) ||
			math.IsNaN(x) != (i%3 == 0) ||
			(i%3 != 0 && x != float64(i)/4) {
			t.Fatalf("row %d is wrong", i)
		}
		if (table.ID(i) == table.ID(0)) != (i%7 == 0) {
			t.Fatalf("row %d is in the wrong unit", i)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err = Read(ctx, path, schema, ReadOptions{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestParquetUnits checks that a unit is the text that a CSV file would hold, for every column type, and that a
// null is no unit.
func TestParquetUnits(t *testing.T) {
	type row struct {
		X float64  `parquet:"x"`
		I *int64   `parquet:"i,optional"`
		F *float64 `parquet:"f,optional"`
		S string   `parquet:"s"`
	}
	path := writeParquet(
		t,
		[]row{
			{1, ptr(int64(7)), ptr(7.), " 7"},
			{2, nil, nil, "NA"},
			{
				3, ptr(int64(-8)),
				ptr(math.NaN()),
				"-8",
			},
			{4, ptr(int64(7)), ptr(7.), "7"},
		},
	)
	csv := numericSchema("x")
	csv.Unit = "who"
	want, _ := readAll(
		t,
		"x,who\n1,7\n2,\n3,-8\n4,7\n",
		csv, false,
	)
	for _, name := range []string{"i", "f", "s"} {
		schema := numericSchema("x")
		schema.Unit = name
		table, stats, err := Read(context.Background(), path, schema, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		none := 1
		for i := range table.Len() {
			if name == "f" && i == 2 { // NaN is missing
				none = 2
				continue
			}
			if table.ID(i) != want.ID(i) {
				t.Errorf(
					"%s: row %d has another unit than in CSV",
					name, i,
				)
			}
		}
		if stats.NoUnit != none || table.ID(1) != NoUnit {
			t.Errorf(
				"%s: %d rows without a unit, want %d",
				name, stats.NoUnit, none,
			)
		}
	}
}

func TestParquetWithoutRows(t *testing.T) {
	table, stats, err := Read(
		context.Background(),
		writeParquet(t, []bigRow{}),
		numericSchema("x"),
		ReadOptions{},
	)
	if err != nil || table.Len() != 0 || stats.Rows != 0 {
		t.Errorf("%v", err)
	}
}

// TestParquetRowCountIsChecked rewrites the footer to claim more or fewer rows than the pages hold.
func TestParquetRowCountIsChecked(t *testing.T) {
	whole, err := os.ReadFile(writeParquet(
		t,
		[]bigRow{{I: 1}, {I: 2}, {I: 3}},
	))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	for _, claim := range []int64{
		0, 2, 3, 4,
		1 << 30, 1 << 40,
		-1,
	} {
		pf, err := parquet.OpenFile(bytes.NewReader(whole), int64(len(whole)))
		if err != nil {
			t.Fatal(err)
		}
		meta := *pf.Metadata()
		meta.NumRows = claim
		meta.RowGroups[0].NumRows = claim
		footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
		if err != nil {
			t.Fatal(err)
		}
		old := int(binary.LittleEndian.Uint32(whole[len(whole)-8:]))
		data := append(bytes.Clone(whole[:len(whole)-8-old]), footer...)
		data = binary.LittleEndian.AppendUint32(data, uint32(len(footer)))
		writeFile(t, path, append(data, "PAR1"...))
		table, _, err := Read(
			context.Background(),
			path,
			numericSchema("i"),
			ReadOptions{},
		)
		switch claim {
		case 3:
			if err != nil || table.Len() != 3 {
				t.Errorf("the true count: %v", err)
			}
		case 1 << 30, 1 << 40:
			checkError(t, "claim", err, ErrTooLarge)
		default:
			checkError(t, "claim", err, ErrCorrupt)
		}
	}
}

// TestDamagedParquet truncates a file at every position and flips bytes. Truncation is always an error, a
// flipped byte yields an error or another table, and no input causes a panic.
func TestDamagedParquet(t *testing.T) {
	rows := make([]bigRow, 300)
	for i := range rows {
		rows[i] = bigRow{
			I: int64(i),
			X: ptr(1.5),
			S: marker,
		}
	}
	whole, err := os.ReadFile(writeParquet(t, rows, parquet.MaxRowsPerRowGroup(100)))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	schema := Schema{Columns: []Column{
		{Name: "x"},
		{Name: "i"},
		{
			Name:       "s",
			Kind:       Category,
			Categories: []string{"q"},
		},
	}}
	for cut := 0; cut < len(whole); cut += 1 + len(whole)/200 {
		writeFile(t, path, whole[:cut])
		_, _, err := Read(context.Background(), path, schema, ReadOptions{})
		checkError(t, "cut", err, ErrCorrupt)
		_, err = Header(path, ReadOptions{})
		checkError(t, "cut (Header)", err, ErrCorrupt)
	}
	for at := 0; at < len(whole); at += 1 + len(whole)/500 {
		bad := bytes.Clone(whole)
		bad[at] ^= 0x55
		writeFile(t, path, bad)
		_, _, err := Read(context.Background(), path, schema, ReadOptions{})
		if err != nil {
			var fe *FileError
			if !errors.As(err, &fe) ||
				bytes.Contains([]byte(err.Error()), []byte(marker)) {
				t.Errorf("byte %d: %v", at, err)
			}
		}
	}
}
