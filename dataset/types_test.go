package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// typesDir has the files that testdata/types/write.py wrote.
var typesDir = filepath.Join("..", "testdata", "types")

// typed is the expected reading of a column of these files; its second cell has no value.
type typed struct {
	refused bool // the column is unreadable, regardless of its content
	numbers [2]float64
	texts   [2]string
	days    [2]float64 // as dates, since 1970
}

var (
	nan  = math.NaN()
	noes = [2]float64{nan, nan}
	day  = float64(19782) // 2024-02-29
	at   = day + (13*3600+30*60+15)/86400.
	late = 19905 + .25 // 2024-07-01 06:00
)

// typesOfArrow lists every column of values.arrow.
func typesOfArrow() map[string]typed {
	whole := func(a, b float64) typed {
		return typed{
			numbers: [2]float64{a, b},
			texts:   [2]string{fmt.Sprint(a), fmt.Sprint(b)},
			days:    noes,
		}
	}
	text := func(a, b string) typed {
		return typed{
			numbers: noes,
			texts:   [2]string{a, b},
			days:    noes,
		}
	}
	stamp := func(a, b string, d, e float64) typed {
		return typed{
			numbers: noes,
			texts:   [2]string{a, b},
			days:    [2]float64{d, e},
		}
	}
	none := typed{numbers: noes, days: noes}
	refused := typed{refused: true}
	real := typed{
		numbers: [2]float64{1.5, -.1},
		texts:   [2]string{"1.5", "-0.1"},
		days:    noes,
	}
	decimal := typed{
		numbers: [2]float64{1.25, -.001},
		texts:   [2]string{"1.250", "-0.001"},
		days:    noes,
	}
	out := map[string]typed{
		"null": none,
		"bool": {
			numbers: [2]float64{1, 0},
			texts:   [2]string{"true", "false"},
			days:    noes,
		},
		"int64": {
			numbers: [2]float64{-1, 1 << 53},
			texts:   [2]string{"-1", "9007199254740992"},
			days:    noes,
		},
		"uint64": {
			numbers: [2]float64{1, 1 << 64},
			texts:   [2]string{"1", "18446744073709551615"},
			days:    noes,
		},
		"float16": {
			numbers: [2]float64{1.5, -.25},
			texts:   [2]string{"1.5", "-0.25"},
			days:    noes,
		},
		"float32": {
			numbers: [2]float64{1.5, float64(float32(-.1))},
			texts:   [2]string{"1.5", "-0.1"},
			days:    noes,
		},
		"float64":    real,
		"decimal32":  decimal,
		"decimal64":  decimal,
		"decimal128": decimal,
		"decimal256": decimal,
		"date32": stamp(
			"2024-02-29",
			"2024-02-29", day, day,
		),
		"date64": stamp(
			"2024-02-29",
			"2024-02-29", day, day,
		),
		"time32": text("13:30:15", "13:30:15"),
		"time64": text("13:30:15", "13:30:15"),
		"zone": stamp(
			"2024-02-29 08:30:15-05:00",
			"2024-07-01 02:00:00-04:00",
			at-5/24.,
			late-4/24.,
		),
		"offset": stamp(
			"2024-02-29 15:30:15+02:00",
			"2024-07-01 08:00:00+02:00",
			at+2/24.,
			late+2/24.,
		),
		"duration":     whole(90, 0),
		"string":       text("x", "a, b"),
		"large_string": text("x", "a, b"),
		"binary":       text("x", "a, b"),
		"large_binary": text("x", "a, b"),
		"uuid": text(
			"00000000-0000-0000-0000-000000000001",
			"12345678-9abc-def0-1122-334455667788",
		),
		"dictionary":        text("x", "a, b"),
		"dictionary_int":    whole(7, 8),
		"fixed":             refused,
		"list":              refused,
		"struct":            refused,
		"string_view":       text("x", "a text that is longer than a view"),
		"binary_view":       text("x", "a text that is longer than a view"),
		"decimal_thousands": whole(2000, -3000),
		"bool8": {
			numbers: [2]float64{1, 0},
			texts:   [2]string{"true", "false"},
			days:    noes,
		},
		"dictionary_null":     none,
		"dictionary_one_null": none,
		"runs":                real,
		"runs_text":           text("x", "a, b"),
		"runs_null":           none,
		"interval":            refused,
		"map":                 refused,
		"fixed_list":          refused,
		"list_view":           refused,
		"large_list":          refused,
		"unknown_zone":        refused,
		"last":                whole(1, 2),
	}
	for _, name := range []string{
		"int8", "uint8", "int16", "uint16",
		"int32", "uint32",
	} {
		out[name] = whole(1, 100)
	}
	for _, unit := range []string{
		"s", "ms", "us",
		"ns",
	} {
		out["timestamp_"+unit] = stamp(
			"2024-02-29 13:30:15",
			"2024-07-01 06:00:00",
			at,
			late,
		)
	}
	return out
}

// typesOfParquet lists every column of values.parquet: those of values.arrow that Parquet has.
func typesOfParquet() map[string]typed {
	out := typesOfArrow()
	for _, name := range []string{"string_view", "binary_view", "decimal_thousands", "bool8",
		"dictionary_null", "dictionary_one_null", "runs", "runs_text",
		"runs_null", "interval", "map", "fixed_list", "list_view", "large_list", "unknown_zone"} {
		delete(out, name)
	}
	return out
}

// columnOf reads one column of a file by Read and by Stream, which must agree, and returns its only column of numbers.
func columnOf(t *testing.T, path string, c Column) (*Table, error) {
	t.Helper()
	schema := Schema{Columns: []Column{c}}
	whole, _, err := Read(t.Context(), path, schema, ReadOptions{})
	rows := 0
	at := 0
	streamed := Stream(t.Context(), path, schema, ReadOptions{BatchRows: 2}, Consumer[[]string]{
		Begin: func(Head) error {
			return nil
		},
		Work: func(b *Batch) ([]string, error) {
			rows := make([]string, b.Table.Len())
			for i := range rows {
				rows[i] = shownCell(b.Table, i)
			}
			return rows, nil
		},
		Emit: func(shown []string) error {
			for _, s := range shown {
				if rows++; whole != nil && s != shownCell(whole, at) {
					t.Errorf(
						"%s, %q: row %d is %s of a stream, and %s of a table",
						path,
						c.Name,
						at+1,
						s,
						shownCell(whole, at),
					)
				}
				at++
			}
			return nil
		},
	})
	if fmt.Sprint(streamed) != fmt.Sprint(err) {
		t.Errorf(
			"%s, %q: %v as a stream, %v as a table",
			path, c.Name, streamed, err,
		)
	}
	if err == nil && rows != whole.Len() {
		t.Errorf(
			"%s, %q: %d rows as a stream, %d as a table",
			path, c.Name, rows, whole.Len(),
		)
	}
	return whole, err
}

// shownCell formats a cell of the only column of a table.
func shownCell(t *Table, row int) string {
	if t.Schema().Columns[0].Kind == Numeric {
		return fmt.Sprint(t.Float(0)[row])
	}
	code := t.Codes(0)[row]
	if code != noText {
		return t.Words(0)[code]
	}
	return "(none)"
}

// TestTypes checks that columns of every Arrow and Parquet type are read as numbers, texts and dates. Whether a
// column is readable depends only on its type: columns without a value, and files without a row, a batch or a
// row group, are accepted or rejected like others.
func TestTypes(t *testing.T) {
	for suffix, want := range map[string]map[string]typed{
		".arrow":   typesOfArrow(),
		".arrows":  typesOfArrow(),
		".parquet": typesOfParquet(),
	} {
		files := []string{"values", "nulls", "rows0", "batches0"}
		if suffix == ".parquet" {
			files[3] = "groups0"
		}
		for _, file := range files {
			path := filepath.Join(typesDir, file+suffix)
			names, err := Header(path, ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(names) != len(want) {
				t.Errorf(
					"%s has %d columns, and %d are wanted",
					path, len(names), len(want),
				)
			}
			rows := map[string]int{"values": 3, "nulls": 3}[file]
			for _, name := range names {
				c, ok := want[name]
				if !ok {
					t.Errorf(
						"%s: nothing is said of %q",
						path, name,
					)
				}
				if file == "nulls" {
					c.numbers = noes
					c.texts = [2]string{}
					c.days = noes
				}
				checkTyped(t, path, name, c, rows)
			}
		}
	}
	for _, file := range []string{
		"int96.parquet",
		"int96-nulls.parquet",
		"int96-rows0.parquet",
	} {
		c := typed{
			numbers: noes,
			texts: [2]string{
				"2024-02-29 13:30:15",
				"2024-07-01 06:00:00",
			},
			days: [2]float64{at, late},
		}
		rows := 3
		switch file {
		case "int96-nulls.parquet":
			c = typed{numbers: noes, days: noes}
		case "int96-rows0.parquet":
			rows = 0
		}
		checkTyped(t, filepath.Join(typesDir, file), "time", c, rows)
	}
	duck := filepath.Join(typesDir, "duckdb.parquet")
	checkTyped(t, duck, "uuid", typesOfArrow()["uuid"], 3)
	checkTyped(t, duck, "interval", typed{refused: true}, 3)
}

// checkStreamedTypes checks that a column of a stream is refused as that of the file is, and that the stream stays complete.
func checkStreamedTypes(t *testing.T, path string, c Column, want error) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, err := HeadingFrom(t.Context(), bytes.NewBuffer(content), path, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := ReadOptions{}.CheckColumnsFrom(t.Context(), rest, path, Schema{Columns: []Column{c}})
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s as a stream: %v, as a file: %v", path, got, want)
	}
	if left, err := io.ReadAll(rest); err != nil || !bytes.Equal(left, content) {
		t.Errorf("%s: %d bytes are left of the stream, %v", path, len(left), err)
	}
}

// checkTyped compares a column of a file with the expected cells.
func checkTyped(t *testing.T, path, name string, want typed, rows int) {
	t.Helper()
	ways := []Column{
		{Name: name},
		{Name: name, Kind: Category, Found: true},
		{
			Name:   "part",
			Source: name,
			Part:   cell.DayPart,
			Date:   AutoDate,
		},
	}
	for way, c := range ways {
		got, err := columnOf(t, path, c)
		checked := ReadOptions{}.CheckColumns(
			t.Context(),
			path,
			Schema{Columns: []Column{c}},
		)
		if want.refused != errors.Is(checked, ErrColumnType) ||
			!want.refused && checked != nil {
			t.Errorf(
				"%s, %q: before it is read: %v",
				path, name, checked,
			)
		}
		checkStreamedTypes(t, path, c, checked)
		if want.refused {
			if !errors.Is(err, ErrColumnType) {
				t.Errorf(
					"%s, %q: %v, and its type cannot be read",
					path, name, err,
				)
			}
			continue
		}
		if err != nil {
			t.Errorf(
				"%s, %q: %v",
				path, name, err,
			)
			continue
		}
		if got.Len() != rows {
			t.Errorf(
				"%s, %q: %d rows, want %d",
				path, name, got.Len(), rows,
			)
		}
		for row := range got.Len() {
			k := row / 2
			shown := shownCell(got, row)
			wanted := "NaN"
			if way == 1 {
				wanted = "(none)"
			}
			if row != 1 {
				switch {
				case way == 0:
					wanted = fmt.Sprint(want.numbers[k])
				case way == 1 && want.texts[k] != "":
					wanted = want.texts[k]
				case way == 2:
					wanted = fmt.Sprint(want.days[k])
				}
			}
			if shown != wanted &&
				!(way == 2 && math.Abs(got.Float(0)[row]-want.days[k]) < 1e-9) {
				t.Errorf(
					"%s, %q, way %d: row %d is %s, want %s",
					path,
					name,
					way,
					row+1,
					shown,
					wanted,
				)
			}
		}
	}
}

// TestZonedTimesAreClockTimes checks that times with a time zone are read as the clock time of that zone, whether
// pandas and Polars write them as CSV or with a type.
func TestZonedTimesAreClockTimes(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(typesDir, "zone-*.csv"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		for _, part := range DateParts() {
			part.Name = "part"
			part.Source = "time"
			part.Date = AutoDate
			want, err := columnOf(t, file, part)
			if err != nil {
				t.Fatal(err)
			}
			if slices.IndexFunc(want.Float(0), math.IsNaN) != 1 ||
				!slices.ContainsFunc(want.Float(0), func(x float64) bool {
					return x == x
				}) {
				t.Errorf(
					"%s: %v",
					file, want.Float(0),
				)
			}
			typed, err := filepath.Glob(strings.TrimSuffix(file, ".csv") + ".*")
			if err != nil || len(typed) != 3 {
				t.Fatal(typed, err)
			}
			for _, other := range typed {
				got, err := columnOf(t, other, part)
				if err != nil {
					t.Error(err)
					continue
				}
				equalFloats(
					t, other+", "+part.Part,
					got.Float(0), want.Float(0),
				)
			}
		}
	}
}
