package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/internal/noise/secret"
)

// outcome is the complete result of a reader, in a form that compares numbers bit for bit.
type outcome struct {
	floats [][]uint64
	codes  [][]int32
	ids    []uint64
	stats  Stats
	err    string
}

func outcomeOf(t *Table, s *Stats, err error) outcome {
	if err != nil {
		return outcome{err: err.Error()}
	}
	o := outcome{
		stats:  *s,
		floats: make([][]uint64, len(t.floats)),
		codes:  t.codes,
		ids:    t.ids,
	}
	for j, col := range t.floats {
		for _, v := range col {
			o.floats[j] = append(o.floats[j], math.Float64bits(v))
		}
	}
	return o
}

// readAllWays reads the same bytes through every CSV reader: the slow one, the parallel file reader and the parallel
// stream reader. The parallel readers run with several chunk sizes.
func readAllWays(data []byte, schema Schema, multiline bool) map[string]outcome {
	return waysCut(data, schema, multiline, 0)
}

// waysCut is ways with another limit on the line length.
func waysCut(data []byte, schema Schema, multiline bool, line int) map[string]outcome {
	return waysOf(
		data,
		schema,
		ReadOptions{Format: Format{MultilineQuotes: multiline}, line: line},
	)
}

// waysOf is ways with options.
func waysOf(data []byte, schema Schema, common ReadOptions) map[string]outcome {
	ctx := context.Background()
	read := func(opts ReadOptions, stream bool) outcome {
		opts.line = common.line
		opts.Format = common.Format
		rd, err := newReader("x.csv", fileKind{comma: ','}, schema, opts)
		if err != nil {
			return outcome{err: err.Error()}
		}
		if stream {
			return outcomeOf(rd.readCSV(ctx, bytes.NewReader(data), nil, 0))
		}
		return outcomeOf(
			rd.readCSV(
				ctx,
				bytes.NewReader(data),
				bytes.NewReader(data),
				int64(len(data)),
			))
	}
	out := map[string]outcome{"slow": read(ReadOptions{ForceSlow: true}, true)}
	for _, chunk := range []int{1, 2, 7, 64, 0} {
		opts := ReadOptions{Workers: 2, chunk: chunk}
		out[fmt.Sprintf("file, chunk %d", chunk)] = read(opts, false)
		out[fmt.Sprintf("stream, chunk %d", chunk)] = read(opts, true)
	}
	maps.Copy(out, batchWays(data, schema, common))
	return out
}

// readAll reads data with every reader, requires that all agree, and returns the table.
func readAll(t *testing.T, data string, schema Schema, multiline bool) (*Table, *Stats) {
	t.Helper()
	all := readAllWays([]byte(data), schema, multiline)
	for name, o := range all {
		if !reflect.DeepEqual(o, all["slow"]) {
			t.Errorf(
				"%q: %s gives %+v, slow %+v",
				data, name, o, all["slow"],
			)
		}
	}
	table, stats, err := ReadFrom(
		context.Background(),
		strings.NewReader(data),
		"stdin",
		schema,
		ReadOptions{Format: Format{MultilineQuotes: multiline}},
	)
	if err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	return table, stats
}

func TestCSVRules(t *testing.T) {
	schema := Schema{Columns: []Column{
		{
			Name:       "b",
			Kind:       Category,
			Categories: []string{"x", "NA", "y z"},
		},
		{
			Name:       "a",
			HasMissing: true,
			Missing:    -1,
		},
	}}
	for _, c := range []struct {
		name, data  string
		multiline   bool
		a           []float64
		b           []int32 // 3 is other
		long, short int
		bad         [4]int // missing, unparseable, nonfinite of a; unlisted+missing of b
	}{
		{name: "header only", data: "a,b"},
		{name: "header and newline", data: "a,b\n"},
		{
			name: "one row",
			data: "a,b\n1,x",
			a:    []float64{1},
			b:    []int32{0},
		},
		{
			name: "two rows",
			data: "a,b\n1,x\n2,NA\n",
			a:    []float64{1, 2},
			b:    []int32{0, 1},
		},
		{
			name: "BOM",
			data: "\uFEFFa,b\n1,x\n",
			a:    []float64{1},
			b:    []int32{0},
		},
		{
			name: "CRLF",
			data: "a,b\r\n1,x\r\n2,x\r\n",
			a:    []float64{1, 2},
			b:    []int32{0, 0},
		},
		{
			name: "CR at the end",
			data: "a,b\n1,x\r",
			a:    []float64{1},
			b:    []int32{0},
		},
		{
			name: "two CR",
			data: "a,b\n1,x\r\r\n",
			a:    []float64{1},
			b:    []int32{3},
			bad:  [4]int{0, 0, 0, 1},
		},
		{
			name: "CR before text",
			data: "a,b\n\r1,x\n\r,x\n",
			a:    []float64{-1, -1},
			b:    []int32{0, 0},
			bad:  [4]int{0, 2, 0, 0},
		},
		{
			name: "blank lines",
			data: "\n\r\na,b\n\n\n1,x\n\r\n\r\n2,x\n\n",
			a:    []float64{1, 2},
			b:    []int32{0, 0},
		},
		{
			name:  "line of spaces",
			data:  "a,b\n  \n",
			a:     []float64{-1},
			b:     []int32{3},
			short: 1,
			bad:   [4]int{1, 0, 0, 1},
		},
		{
			name: "other columns",
			data: "p,a,q,b,r\nz,1,z,x,z\n",
			a:    []float64{1},
			b:    []int32{0},
		},
		{
			name: "names with blanks",
			data: " a ,\tb\n1,x\n",
			a:    []float64{1},
			b:    []int32{0},
		},
		{
			name: "long",
			data: "a,b\n1,x,9,9\n",
			a:    []float64{1},
			b:    []int32{0},
			long: 1,
		},
		{
			name: "long by one empty field",
			data: "a,b\n1,x,\n",
			a:    []float64{1},
			b:    []int32{0},
			long: 1,
		},
		{
			name:  "short",
			data:  "a,b\n1\n",
			a:     []float64{1},
			b:     []int32{3},
			short: 1,
			bad:   [4]int{0, 0, 0, 1},
		},
		{
			name:  "short and skipped",
			data:  "a,b,c\n1,x\n",
			a:     []float64{1},
			b:     []int32{0},
			short: 1,
		},
		{
			name: "only commas",
			data: "a,b\n,\n,,\n",
			a:    []float64{-1, -1},
			b:    []int32{3, 3},
			long: 1,
			bad:  [4]int{2, 0, 0, 2},
		},
		{
			name: "blanks",
			data: "a,b\n \t1.5\t , x \n",
			a:    []float64{1.5},
			b:    []int32{0},
		},
		{
			name: "inner blank",
			data: "a,b\n1 5,y z\n",
			a:    []float64{-1},
			b:    []int32{2},
			bad:  [4]int{0, 1, 0, 0},
		},
		{
			name: "missing words",
			data: "a,b\n,x\nNA,x\nN/A,x\nNaN,x\nnan,x\nnull,x\nNULL,x\nNone,x\n?,x\n",
			a:    slices.Repeat([]float64{-1}, 9),
			b:    make([]int32, 9),
			bad:  [4]int{9, 0, 0, 0},
		},
		{
			name: "not numbers",
			data: "a,b\n0x1p3,x\n1_000,x\nabc,x\n1.2.3,x\n--1,x\n+nan,x\n1\x00,x\n٣,x\n.,x\n1e,x\n",
			a:    slices.Repeat([]float64{-1}, 10),
			b:    make([]int32, 10),
			bad:  [4]int{0, 10, 0, 0},
		},
		{
			name: "not finite",
			data: "a,b\ninf,x\n-Inf,x\n+INFINITY,x\n1e999,x\n-1e400,x\n",
			a:    slices.Repeat([]float64{-1}, 5),
			b:    make([]int32, 5),
			bad:  [4]int{0, 0, 5, 0},
		},
		{
			name: "numbers",
			data: "a,b\n+1,x\n-0,x\n1.,x\n.5,x\n1e3,x\n1E-400,x\n12345678901234567890,x\n0.1234567890123456789,x\n",
			a: []float64{1, math.Copysign(0, -1), 1, .5, 1000, 0, 12345678901234567890,
				0.1234567890123456789},
			b: make([]int32, 8),
		},
		{
			name: "category words",
			data: "a,b\n1,NA\n1,null\n1,w\n1,X\n",
			a:    []float64{1, 1, 1, 1},
			b:    []int32{1, 3, 3, 3},
			bad:  [4]int{0, 0, 0, 3},
		},
		{
			name: "quotes",
			data: "a,b\n\"1\",\"x\"\n\" 2\",\" y z \"\n",
			a:    []float64{1, 2},
			b:    []int32{0, 2},
		},
		{
			name: "quoted comma",
			data: "c,a,b\n\"1,2\",3,x\n",
			a:    []float64{3},
			b:    []int32{0},
		},
		{
			name: "doubled quote",
			data: "c,a,b\n\"1\"\",2\",3,x\n",
			a:    []float64{3},
			b:    []int32{0},
		},
		{
			name:  "lazy quotes",
			data:  "c,a,b\n5\" pipe,3,x\n \"q\",4,x\n\"q\"r,5,x\n",
			a:     []float64{3, 4, -1},
			b:     []int32{0, 0, 3},
			short: 1,
			bad:   [4]int{1, 0, 0, 1},
		},
		{
			name:  "open quote",
			data:  "c,a,b\n\"u,1,x\nv,2,x\n",
			a:     []float64{-1, 2},
			b:     []int32{3, 0},
			short: 1,
			bad:   [4]int{1, 0, 0, 1},
		},
		{
			name: "open quote with CRLF",
			data: "a,b\r\n1,\"x\r\n2,x\r\n",
			a:    []float64{1, 2},
			b:    []int32{0, 0},
		},
		{
			name: "open quote at the end",
			data: "a,b\n1,\"x",
			a:    []float64{1},
			b:    []int32{0},
		},
		{
			name:      "newline in quotes",
			data:      "c,a,b\n\"u\nv\",1,x\n",
			multiline: true,
			a:         []float64{1},
			b:         []int32{0},
		},
		{
			name:      "open quote, multiline",
			data:      "a,b\n1,x\n2,\"x\n3,x\n",
			multiline: true,
			a:         []float64{1, 2},
			b:         []int32{0, 3},
			bad:       [4]int{0, 0, 0, 1},
		},
		{
			name: "quoted header",
			data: "\"a\",\"b\"\n1,x\n",
			a:    []float64{1},
			b:    []int32{0},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, stats := readAll(t, c.data, schema, c.multiline)
			equalFloats(t, "a", table.Float(1), c.a)
			if !slices.Equal(table.Codes(0), c.b) {
				t.Errorf(
					"b is %v, want %v",
					table.Codes(0), c.b,
				)
			}
			a := stats.Columns[1]
			b := stats.Columns[0]
			got := [4]int{
				a.Missing, a.Unparseable, a.Nonfinite,
				b.Unlisted + b.Missing,
			}
			if got != c.bad ||
				stats.Rows != len(c.a) ||
				stats.Long != c.long ||
				stats.Short != c.short {
				t.Errorf(
					"counts %v, %+v; want %v, %d long, %d short",
					got,
					*stats,
					c.bad,
					c.long,
					c.short,
				)
			}
		})
	}
}

func TestWithoutMissingValueIsNaN(t *testing.T) {
	table, _ := readAll(
		t, "a\nx\n1\ninf\n",
		numericSchema("a"), false,
	)
	equalFloats(
		t, "a", table.Float(0),
		[]float64{math.NaN(), 1, math.NaN()},
	)
}

func TestUnitColumn(t *testing.T) {
	s := numericSchema("a")
	s.Unit = "who"
	table, stats := readAll(
		t,
		"a,who\n1,ann\n2,bob\n3, ann \n4,\n5\n6,NA\n7,\"ann\"\n",
		s,
		false,
	)
	if table.ID(0) != table.ID(2) ||
		table.ID(0) != table.ID(6) ||
		table.ID(0) == table.ID(1) {
		t.Error("rows of one unit must share an identity, and only those")
	}
	if table.ID(3) != NoUnit ||
		table.ID(4) != NoUnit ||
		table.ID(5) != NoUnit ||
		stats.NoUnit != 3 {
		t.Errorf(
			"rows without a unit must have none, and be counted: %d",
			stats.NoUnit,
		)
	}
}

// TestUnitNamesAreKeyed checks that an identity is a keyed function of the name, so that it cannot be computed
// from the name alone.
func TestUnitNamesAreKeyed(t *testing.T) {
	sum := sha256.Sum256([]byte("ann"))
	id := newNamer(secret.NameKey()).unitID("ann")
	if id == binary.LittleEndian.Uint64(sum[:]) ||
		id != newNamer(secret.NameKey()).unitID(" ann ") {
		t.Error("the identity of a name is no function of the process's key and the name")
	}
	other := newNamer(secret.NameKey())
	other.buf[0] ^= 1
	if other.unitID("ann") == id ||
		other.unitID("NA") != NoUnit {
		t.Error("another key gives the same identity, or one to nobody")
	}
	keyed := sha256.Sum256(append(slices.Clone(newNamer(secret.NameKey()).buf), "ann"...))
	if id != binary.LittleEndian.Uint64(keyed[:]) {
		t.Error("the identity is not the first 64 bits of the hash of key and name")
	}
}

func TestNoColumns(t *testing.T) {
	table, _ := readAll(
		t,
		"a,b\n1,2\n3\n",
		Schema{}, false,
	)
	if table.Len() != 2 {
		t.Errorf("%d rows, want 2", table.Len())
	}
}

// TestFieldsOfPackageCSV checks that, without backslashes and without blanks next to quotes, the fields of a
// line are those of encoding/csv with LazyQuotes.
func TestFieldsOfPackageCSV(t *testing.T) {
	cells := rapid.StringOfN(
		rapid.RuneFrom([]rune("a\",b;1")),
		1, 12, -1,
	)
	rapid.Check(t, func(t *rapid.T) {
		line := cells.Draw(t, "line")
		r := csv.NewReader(strings.NewReader(line))
		r.LazyQuotes = true
		want, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		for _, escape := range []byte{0, '"'} {
			d := dialect{
				comma:  ',',
				quote:  '"',
				escape: escape,
			}
			got := d.splitFields(line)
			if !slices.Equal(got, want) {
				t.Fatalf(
					"%q: %q, want %q",
					line, got, want,
				)
			}
		}
	})
}

func TestFileKinds(t *testing.T) {
	dir := t.TempDir()
	comma := "a,b\n1,x\n2,x\n"
	tab := "a\tb\n1\tx\n2\tx\n"
	for name, text := range map[string]string{
		"x.csv":    comma,
		"x.CSV.gz": comma,
		"x.tsv":    tab,
		"x.tsv.gz": tab,
	} {
		data := []byte(text)
		if strings.HasSuffix(name, ".gz") {
			data = gzipBytes(data)
		}
		path := filepath.Join(dir, name)
		writeFile(t, path, data)
		for _, opts := range []ReadOptions{
			{},
			{ForceSlow: true},
			{Format: Format{MultilineQuotes: true}},
			{Workers: 1, chunk: 3},
		} {
			table, _, err := Read(context.Background(), path, numericSchema("a"), opts)
			if err != nil ||
				table.Len() != 2 ||
				table.Float(0)[1] != 2 {
				t.Errorf(
					"%s %+v: %v",
					name, opts, err,
				)
			}
		}
		if names, err := Header(path, ReadOptions{}); err != nil ||
			!slices.Equal(names, []string{"a", "b"}) {
			t.Errorf(
				"%s: header %q, %v",
				name, names, err,
			)
		}
		table, _, err := ReadFrom(
			context.Background(),
			bytes.NewReader(data),
			name,
			numericSchema("a"),
			ReadOptions{},
		)
		if err != nil || table.Len() != 2 {
			t.Errorf("ReadFrom %s: %v", name, err)
		}
	}
}

func TestWideAndLongLines(t *testing.T) {
	var b strings.Builder
	b.WriteString("skip,a\n")
	for i := range 50 {
		fmt.Fprintf(
			&b, "%s,%d\n",
			strings.Repeat("w", i*997),
			i,
		)
	}
	table, _ := readAll(t, b.String(), numericSchema("a"), false)
	for i, v := range table.Float(0) {
		if v != float64(i) {
			t.Fatalf("row %d is %v", i, v)
		}
	}
}

func TestContextEndsReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	writeFile(t, path, floatCSV(100, 3))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, opts := range []ReadOptions{{}, {ForceSlow: true}} {
		_, _, err := Read(ctx, path, numericSchema("x0"), opts)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%+v: %v", opts, err)
		}
	}
}

// TestContextEndsABlockedRead cancels the context while the stream blocks, in the header and in the rows.
func TestContextEndsABlockedRead(t *testing.T) {
	for _, begin := range []string{"", "a,b\n1,2\n"} {
		for _, opts := range []ReadOptions{{}, {ForceSlow: true}} {
			r, w := io.Pipe()
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				io.WriteString(w, begin)
				cancel()
			}()
			_, _, err := ReadFrom(ctx, r, "stdin", numericSchema("a"), opts)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%q: %v", begin, err)
			}
			w.Close()
		}
	}
}

func gzipBytes(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

func writeFile(tb testing.TB, path string, data []byte) {
	tb.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
}

func makeDir(tb testing.TB, dir, name string) string {
	tb.Helper()
	path := filepath.Join(dir, name)
	if err := os.Mkdir(path, 0o700); err != nil {
		tb.Fatal(err)
	}
	return path
}
