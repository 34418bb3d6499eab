package dataset

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/parquet-go/parquet-go"
)

// gathered reassembles the batches of a stream.
type gathered struct {
	outcome
	lines  []int
	fields [][]string
	rows   int // of the largest batch
}

func (g *gathered) newConsumer(schema Schema) Consumer[*gathered] {
	*g = gathered{outcome: outcome{
		floats: make([][]uint64, len(schema.Columns)),
		codes:  make([][]int32, len(schema.Columns)),
		stats:  *newStats(schema),
	}}
	for j, c := range schema.Columns {
		if c.Kind == Category {
			g.codes[j] = []int32{}
		}
	}
	if schema.Unit != "" {
		g.ids = []uint64{}
	}
	return Consumer[*gathered]{
		Begin: func(Head) error {
			return nil
		},
		Work: func(b *Batch) (*gathered, error) {
			part := &gathered{
				outcome: outcomeOf(b.Table, b.Stats, nil),
				rows:    b.Table.Len(),
			}
			part.ids = slices.Clone(part.ids) // a batch is valid only during the call
			for j := range part.codes {
				part.codes = slices.Clone(part.codes)
				part.codes[j] = slices.Clone(part.codes[j])
			}
			return part, b.Text(func(line int, fields []string) error {
				part.lines, part.fields = append(part.lines, line),
					append(part.fields, slices.Clone(fields))
				return nil
			})
		},
		Emit: func(part *gathered) error {
			for j := range schema.Columns {
				g.floats[j] = append(g.floats[j], part.floats[j]...)
				g.codes[j] = append(g.codes[j], part.codes[j]...)
			}
			g.ids = append(g.ids, part.ids...)
			g.stats.addStats(&part.stats)
			g.lines = append(g.lines, part.lines...)
			g.fields = append(g.fields, part.fields...)
			g.rows = max(g.rows, part.rows)
			return nil
		},
	}
}

// outcomeAfter returns the outcome of a stream that returned err.
func (g *gathered) outcomeAfter(err error) outcome {
	if err != nil {
		return outcome{err: err.Error()}
	}
	return g.outcome
}

// batchWays reads the same bytes as streams, in batches of several sizes.
func batchWays(data []byte, schema Schema, opts ReadOptions) map[string]outcome {
	out := map[string]outcome{}
	for _, size := range []struct{ batch, chunk int }{{1, 1}, {3, 7}, {2, 64}, {0, 0}} {
		opts.Workers = 2
		opts.BatchRows = size.batch
		opts.chunk = size.chunk
		for _, from := range []string{"file", "pipe"} {
			rd, err := newReader("x.csv", fileKind{comma: ','}, schema, opts)
			if err != nil {
				continue
			}
			var g gathered
			if from == "file" {
				err = streamCSV(
					context.Background(),
					rd,
					func(context.Context) io.Reader {
						return bytes.NewReader(data)
					},
					int64(len(data)),
					g.newConsumer(schema),
				)
			} else {
				err = streamCSV(
					context.Background(),
					rd,
					pumpReader(bytes.NewReader(data)),
					0,
					g.newConsumer(schema),
				)
			}
			out[fmt.Sprintf(
				"batches of a %s, %+v", from,
				size,
			)] = g.outcomeAfter(err)
		}
	}
	return out
}

// TestBatchText compares the text of batches with the cells read from it, for awkward texts of every kind.
func TestBatchText(t *testing.T) {
	texts := []string{
		"1,2\n3,4\n", "1\n\n\r\n3,4", "\"1,2\n3,4\n", "1,\"2\r\n3,4\r\n", "1,2\r\r\n", "\r",
		"\"\"\"\",\"\n\"", "a\"b,c\n,\n\n", "\"x\"y,\"z\n\"\n", " \n\t\n",
		"\"1\",2\r\r\n", "\x00\n\"\r\n", strings.Repeat("9", 70000) + ",1\n2,3\n", "",
	}
	schema := Schema{Columns: []Column{
		{Name: "a"},
		{Name: "b"},
	}}
	for _, text := range texts {
		for _, multiline := range []bool{false, true} {
			var g gathered
			opts := ReadOptions{
				Format:    Format{MultilineQuotes: multiline},
				Workers:   2,
				BatchRows: 2,
				chunk:     16,
			}
			err := StreamFrom(
				context.Background(),
				strings.NewReader("a,b\n"+text),
				"text",
				schema,
				opts,
				g.newConsumer(schema),
			)
			if err != nil {
				t.Fatal(err)
			}
			var long, short int
			for _, fields := range g.fields {
				if len(fields) > 2 {
					long++
				}
				if len(fields) < 2 {
					short++
				}
			}
			if len(g.fields) != g.stats.Rows ||
				long != g.stats.Long ||
				short != g.stats.Short {
				t.Errorf(
					"%.40q, multiline %v: %d records, %d long, %d short; the reader has %+v",
					text,
					multiline,
					len(g.fields),
					long,
					short,
					g.stats,
				)
			}
		}
	}
	var g gathered
	err := StreamFrom(
		context.Background(),
		strings.NewReader("\n\na,b\n1,2\n\n3,4\n\n\n5,6"),
		"text",
		schema,
		ReadOptions{BatchRows: 2},
		g.newConsumer(schema),
	)
	if err != nil ||
		!slices.Equal(g.lines, []int{4, 6, 9}) {
		t.Errorf("lines %v, %v", g.lines, err)
	}
}

// TestStreamDoesNotWait checks that each record of a slow stream is passed on as soon as its line is complete.
func TestStreamDoesNotWait(t *testing.T) {
	for _, multiline := range []bool{false, true} {
		r, w := io.Pipe()
		got := make(chan float64)
		ended := make(chan error)
		schema := Schema{Columns: []Column{{Name: "a"}}}
		go func() {
			ended <- StreamFrom(
				context.Background(),
				r,
				"stdin",
				schema,
				ReadOptions{Format: Format{MultilineQuotes: multiline}},
				Consumer[float64]{
					Begin: func(Head) error {
						return nil
					},
					Work: func(b *Batch) (float64, error) {
						return b.Table.Float(0)[0], nil
					},
					Emit: func(x float64) error {
						got <- x
						return nil
					},
				},
			)
		}()
		_, _ = io.WriteString(w, "a\n")
		for i := range 5 {
			_, _ = fmt.Fprintf(w, "%d\n", i)
			select {
			case x := <-got:
				if x != float64(i) {
					t.Errorf("%v in place of %d", x, i)
				}
			case <-time.After(time.Minute):
				t.Fatalf(
					"multiline %v: record %d is not handed on",
					multiline, i,
				)
			}
		}
		w.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestStreamEnds checks that the first failure ends a stream, after the batches before it, even while the input
// blocks.
func TestStreamEnds(t *testing.T) {
	schema := Schema{Columns: []Column{{Name: "a"}}}
	fault := errors.New("fault")
	lines := "a\n" + strings.Repeat("1\n", 40) + "7\n" + strings.Repeat("1\n", 40)
	blocked, w := io.Pipe()
	defer w.Close()
	for name, src := range map[string]io.Reader{
		"that blocks": io.MultiReader(strings.NewReader(lines), blocked),
		"that breaks": io.MultiReader(strings.NewReader(lines), iotest.ErrReader(fault)),
	} {
		for _, where := range []string{
			"work", "emit", "begin",
			"context",
		} {
			if name == "that breaks" && where != "work" {
				continue
			}
			ctx, cancel := context.WithCancel(context.Background())
			emitted := 0
			err := StreamFrom(
				ctx,
				src,
				"stdin",
				schema,
				ReadOptions{Workers: 3, BatchRows: 4},
				Consumer[int]{
					Begin: func(Head) error {
						if where == "begin" {
							return fault
						}
						return nil
					},
					Work: func(b *Batch) (int, error) {
						if where == "work" && slices.Contains(b.Table.Float(0), 7) {
							return 0, fault
						}
						return b.Table.Len(), nil
					},
					Emit: func(n int) error {
						if emitted += n; where == "emit" && emitted >= 20 {
							return fault
						}
						if where == "context" {
							cancel()
						}
						return nil
					},
				},
			)
			cancel()
			want := map[string]error{
				"work":    fault,
				"emit":    fault,
				"begin":   fault,
				"context": context.Canceled,
			}[where]
			if !errors.Is(err, want) ||
				where == "work" && emitted != 40 ||
				where == "emit" && emitted != 20 {
				t.Errorf(
					"a source %s, a fault in %s: %v after %d records",
					name,
					where,
					err,
					emitted,
				)
			}
			src = io.MultiReader(strings.NewReader(lines), blocked)
		}
	}
}

// TestStreamPanics checks that a panic of a worker reaches the caller.
func TestStreamPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the panic is lost")
		}
	}()
	_ = StreamFrom(
		context.Background(),
		strings.NewReader("a\n"+strings.Repeat("1\n", 1000)),
		"stdin",
		Schema{Columns: []Column{{Name: "a"}}},
		ReadOptions{Workers: 3, BatchRows: 4},
		Consumer[int]{
			Begin: func(Head) error {
				return nil
			},
			Work: func(*Batch) (int, error) {
				panic("fault")
			},
			Emit: func(int) error {
				return nil
			},
		},
	)
}

// TestBatchesAreSmall checks that many columns and short lines do not result in a large batch.
func TestBatchesAreSmall(t *testing.T) {
	schema := Schema{}
	names := make([]string, 1000)
	for j := range names {
		names[j] = fmt.Sprintf("c%d", j)
		schema.Columns = append(
			schema.Columns,
			Column{
				Name:       names[j],
				HasMissing: true,
				Missing:    math.Pi,
			},
		)
	}
	data := strings.Join(names, ",") + "\n" + strings.Repeat("1\n", 20000)
	for _, multiline := range []bool{false, true} {
		var g gathered
		err := StreamFrom(
			context.Background(),
			strings.NewReader(data),
			"stdin",
			schema,
			ReadOptions{Workers: 2, Format: Format{MultilineQuotes: multiline}},
			g.newConsumer(schema),
		)
		if err != nil || g.stats.Rows != 20000 || g.rows > batchCells/1000 {
			t.Errorf(
				"multiline %v: %d rows, the largest batch has %d, %v",
				multiline,
				g.stats.Rows,
				g.rows,
				err,
			)
		}
	}
}

// TestBatchesOfFiles checks that batches of several Parquet files are full and end in the same places as those
// of one file, except at the ends of files, and that each has the right position.
func TestBatchesOfFiles(t *testing.T) {
	folder := t.TempDir()
	schema := Schema{Columns: []Column{{Name: "f64"}}}
	want := []int64{}
	at := 0
	for f, n := range []int{130, 20, 64, 106, 1} {
		rows := make([]parquetRow, n)
		for i := range rows {
			rows[i].F64 = ptr(float64(at))
			if at++; i == 0 || (at-1)%64 == 0 {
				want = append(want, int64(at-1))
			}
		}
		err := os.Rename(
			writeParquet(t, rows, parquet.MaxRowsPerRowGroup(50)),
			filepath.Join(folder, fmt.Sprintf("%d.parquet", f)),
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	var firsts []int64
	var cells []float64
	err := ReadOptions{
		Workers:   3,
		BatchRows: 64,
	}.Batches(
		context.Background(),
		filepath.Join(folder, "*.parquet"),
		nil,
		schema,
		func(b *Batch) (any, error) {
			return b, nil
		},
		func(batch any) error {
			b := batch.(*Batch)
			firsts = append(firsts, b.First)
			cells = append(cells, b.Table.Float(0)...)
			return nil
		},
	)
	if err != nil ||
		!slices.Equal(firsts, want) ||
		len(cells) != at {
		t.Errorf(
			"%d records, batches from %v, want %d and %v: %v",
			len(cells),
			firsts,
			at,
			want,
			err,
		)
	}
	for i, x := range cells {
		if x != float64(i) {
			t.Fatalf("record %d is %v", i, x)
		}
	}
}

// TestStreamParquet checks that batches extend over the ends of pages and of row groups.
func TestStreamParquet(t *testing.T) {
	rows := make([]parquetRow, 1000)
	for i := range rows {
		rows[i] = parquetRow{
			I32:  int32(i),
			Text: fmt.Sprint(i % 7),
			Bool: i%3 == 0,
		}
		if i%5 > 0 {
			rows[i].F64 = ptr(float64(i) / 4)
		}
	}
	path := writeParquet(
		t,
		rows,
		parquet.MaxRowsPerRowGroup(270),
		parquet.PageBufferSize(300),
	)
	schema := Schema{
		Unit: "i32",
		Columns: []Column{
			{Name: "f64"},
			{Name: "bool"},
			{
				Name:       "text",
				Kind:       Category,
				Categories: []string{"1", "2"},
			},
		},
	}
	for _, batch := range []int{1, 64, 0} {
		opts := ReadOptions{Workers: 3, BatchRows: batch}
		want := outcomeOf(Read(context.Background(), path, schema, opts))
		var g gathered
		got := g.outcomeAfter(Stream(
			context.Background(),
			path,
			schema,
			opts,
			g.newConsumer(schema),
		))
		if !reflect.DeepEqual(got, want) ||
			got.err != "" ||
			g.rows != cmp.Or(batch, 1000) {
			t.Errorf(
				"batches of %d: %d rows and %q, want %d and %q",
				batch,
				got.stats.Rows,
				got.err,
				want.stats.Rows,
				want.err,
			)
		}
	}
	bad := Schema{Columns: []Column{{Name: "list"}}}
	_, _, want := Read(context.Background(), path, bad, ReadOptions{})
	var g gathered
	err := Stream(context.Background(), path, bad, ReadOptions{}, g.newConsumer(bad))
	if err == nil || err.Error() != want.Error() {
		t.Errorf("%v, want %v", err, want)
	}
}
