package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestLongLines checks that only the start of an overlong line is used, and that other lines are not affected.
func TestLongLines(t *testing.T) {
	long := "1,2" + strings.Repeat("3", 100)
	for _, c := range []struct {
		name, data string
		multiline  bool
		a, b       []float64
	}{
		{
			"first",
			"a,b\n" + long + "\n5,6\n",
			false, []float64{1, 5},
			[]float64{23333333, 6},
		},
		{
			"last",
			"a,b\n5,6\n" + long,
			false, []float64{5, 1},
			[]float64{6, 23333333},
		},
		{
			"all",
			"a,b\n" + strings.Repeat(long+"\n", 3),
			false,
			[]float64{1, 1, 1},
			[]float64{23333333, 23333333, 23333333},
		},
		{
			"quoted",
			"a,b\n\"1\",\"" + long + "\"\n5,6\n",
			false,
			[]float64{1, 5},
			[]float64{math.NaN(), 6},
		},
		{
			"exact",
			"a,b\n1,20000000\n12345,7890\r\n",
			false,
			[]float64{1, 12345},
			[]float64{20000000, 7890},
		},
		{
			"an open quote",
			"a,b\n1,\"2\n3\n4\n5\n6\n7\n8,9\n10,11\n12,13\n",
			true,
			[]float64{1, 6, 7, 8, 10, 12},
			[]float64{
				math.NaN(), math.NaN(),
				math.NaN(), 9, 11, 13,
			},
		},
		{
			"empty lines",
			"a,b\n" + strings.Repeat("\n", 50) + "1,2\n",
			true,
			[]float64{1},
			[]float64{2},
		},
	} {
		all := waysCut(
			[]byte(c.data),
			numericSchema("a", "b"),
			c.multiline, 10,
		)
		for name, o := range all {
			want := outcome{
				floats: [][]uint64{bitsOf(c.a), bitsOf(c.b)},
				codes:  [][]int32{nil, nil},
				stats:  o.stats,
			}
			if o.err != "" ||
				!slices.EqualFunc(o.floats, want.floats, slices.Equal) ||
				o.stats.Rows != len(c.a) {
				t.Errorf(
					"%s, %s: %+v",
					c.name, name, o,
				)
			}
		}
	}
}

func bitsOf(x []float64) []uint64 {
	out := make([]uint64, len(x))
	for i, v := range x {
		out[i] = math.Float64bits(v)
	}
	return out
}

func TestLongHeaderIsRefused(t *testing.T) {
	for _, data := range []string{"aaaa,bbbbbb\n1,2\n", "aaaa,bbbbb\n1,2\n", "\naaaa,bbbb\r\n1,2\n",
		"aaaa,bbbbb"} {
		for _, multiline := range []bool{false, true} {
			for name, o := range waysCut(
				[]byte(data),
				numericSchema("aaaa"),
				multiline,
				10,
			) {
				if !strings.Contains(o.err, "the header is longer") {
					t.Errorf(
						"%q, %s, %v: %+v",
						data, name, multiline, o,
					)
				}
			}
		}
	}
}

// writeBomb writes a gzip file that expands to head and then size bytes of fill.
func writeBomb(t *testing.T, head, fill string, size int) string {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	block := []byte(strings.Repeat(fill, 1<<16))
	_, err = io.WriteString(z, head)
	for n := 0; n < size && err == nil; n += len(block) {
		_, err = z.Write(block)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bomb.csv.gz")
	writeFile(t, path, b.Bytes())
	return path
}

// TestZipBombs expands a small file to 64 MiB without a newline, or to 16 or 32 MiB of empty lines, and checks
// that no more memory is allocated than a line of 1 MiB needs.
func TestZipBombs(t *testing.T) {
	const line = 1 << 20
	for _, c := range []struct {
		name, head, fill string
		opts             ReadOptions
		rows, size       int
	}{
		{
			"one line",
			"a,b\n1,2\n3,",
			"9", ReadOptions{}, 2,
			1 << 26,
		},
		{
			"one line, slowly",
			"a,b\n1,2\n3,",
			"9",
			ReadOptions{ForceSlow: true},
			2,
			1 << 26,
		},
		{
			"one line, multiline",
			"a,b\n1,2\n3,",
			"9",
			ReadOptions{Format: Format{MultilineQuotes: true}},
			2,
			1 << 26,
		},
		{
			"empty lines",
			"a,b\n1,2\n",
			"\n", ReadOptions{}, 1,
			1 << 25,
		},
		{
			"empty lines, multiline",
			"a,b\n1,2\n",
			"\r\n",
			ReadOptions{Format: Format{MultilineQuotes: true}},
			1,
			1 << 24,
		},
	} {
		path := writeBomb(t, c.head, c.fill, c.size)
		c.opts.line = line
		c.opts.chunk = line / 4
		allocated := heapUse(func() {
			table, stats, err := Read(
				context.Background(),
				path,
				numericSchema("a", "b"),
				c.opts,
			)
			if err != nil ||
				table.Len() != c.rows ||
				stats.Rows != c.rows {
				t.Errorf(
					"%s: %v, %v",
					c.name, stats, err,
				)
			}
		})
		if allocated > 20*line {
			t.Errorf(
				"%s: %d MiB were allocated",
				c.name, allocated>>20,
			)
		}
	}
	path := writeBomb(t, "a,", "b", 1<<26)
	allocated := heapUse(func() {
		_, err := Header(path, ReadOptions{line: line})
		checkError(t, "header", err, ErrFormat)
	})
	if allocated > 20*line {
		t.Errorf("header: %d MiB were allocated", allocated>>20)
	}
}

// TestStopsInAnEndlessLine cancels the reading of a line without an end.
func TestStopsInAnEndlessLine(t *testing.T) {
	for _, opts := range []ReadOptions{
		{line: 10},
		{line: 10, ForceSlow: true},
		{line: 10, Format: Format{MultilineQuotes: true}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		rd, err := newReader(
			"x.csv",
			fileKind{comma: ','},
			numericSchema("a"), opts,
		)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = rd.readCSV(
			ctx,
			&endless{head: "a,b\n1,", stop: cancel},
			nil,
			0,
		)
		if err != context.Canceled {
			t.Errorf("%+v: %v", opts, err)
		}
	}
}

// endless yields head and then an unlimited number of nines; after a megabyte it calls stop.
type endless struct {
	head string
	n    int
	stop func()
}

func (e *endless) Read(p []byte) (int, error) {
	if e.n += len(p); e.n > 1<<20 {
		e.stop()
	}
	n := copy(p, e.head)
	e.head = e.head[n:]
	for i := n; i < len(p); i++ {
		p[i] = '9'
	}
	return len(p), nil
}

// heapUse returns the total number of bytes that f allocates.
func heapUse(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestTooManyColumns checks that a header with too many columns is rejected at no more cost than counting them.
func TestTooManyColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	writeFile(
		t, path,
		[]byte("a"+strings.Repeat(",", 1<<24-10)+"\n1\n"),
	)
	for _, multiline := range []bool{false, true} {
		used := heapUse(func() {
			_, err := Header(path, ReadOptions{Format: Format{MultilineQuotes: multiline}})
			checkError(t, "16 million columns", err, ErrFormat)
		})
		if used > 1<<27 {
			t.Errorf("%d MiB", used>>20)
		}
	}
}

// TestEmptyLinesAreDropped checks that a stream drops almost all empty lines in a file and
// keeps the records between them.
func TestEmptyLinesAreDropped(t *testing.T) {
	for _, end := range []string{"\n", "\r\n"} {
		data := strings.Repeat(end, 100_000) + "1,2" + end + strings.Repeat(end, 100_000) +
			"\r\r\n" + end + "3"
		got, err := io.ReadAll(&lineLimit{
			r:    strings.NewReader(data),
			max:  10,
			drop: true,
		})
		if err != nil || len(got) > 4000 {
			t.Errorf(
				"%d bytes, %v",
				len(got), err,
			)
		}
		rd, err := newReader(
			"x.csv",
			fileKind{comma: ','},
			numericSchema("a"),
			ReadOptions{line: 10},
		)
		if err != nil {
			t.Fatal(err)
		}
		table, _, err := rd.readCSV(
			t.Context(),
			strings.NewReader("a,b\n"+data),
			nil, 0,
		)
		if err != nil ||
			table.Len() != 3 ||
			table.Float(0)[2] != 3 {
			t.Errorf(
				"%q: %v, %v",
				end, table.Float(0), err,
			)
		}
	}
}
