package stream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// bucketTable writes records with a number, which is sometimes missing, a category and a unit.
func bucketTable(t *testing.T, rows int) (string, dataset.Schema) {
	t.Helper()
	var text strings.Builder
	text.WriteString("x,k,who\n")
	for i := range rows {
		x := fmt.Sprint(float64(i) / 7)
		if i%5 == 0 {
			x = ""
		}
		fmt.Fprintf(
			&text,
			"%s,%c,u%d\n",
			x, 'a'+rune(i%4),
			i%97,
		)
	}
	path := filepath.Join(t.TempDir(), "table.csv")
	err := os.WriteFile(path, []byte(text.String()), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return path,
		dataset.Schema{Columns: []dataset.Column{
			{Name: "x"},
			{
				Name:       "k",
				Kind:       dataset.Category,
				Categories: []string{"a", "b", "c"},
				Other:      true,
			},
		}}
}

// inBuckets lists the records of every bucket as text. It fails unless every bucket comes once, in order.
func inBuckets(t *testing.T, m int, run func(each mechanism.Buckets) error) []string {
	t.Helper()
	var out []string
	err := run(func(first int, records []dataset.View) error {
		if first != len(out) {
			t.Fatalf(
				"bucket %d comes after %d",
				first, len(out),
			)
		}
		for _, v := range records {
			text := ""
			b := v.Block(0, v.Len())
			for k := range b.Len() {
				text += fmt.Sprintf(
					"%d %x %d; ",
					b.ID(k),
					math.Float64bits(b.Float(0, nil)[k]),
					b.Codes(1, nil)[k],
				)
			}
			out = append(out, text)
		}
		return nil
	})
	if err != nil || len(out) != m {
		t.Fatalf(
			"%d buckets of %d: %v",
			len(out), m, err,
		)
	}
	return out
}

// TestBucketsOfStream checks that buckets hold the same records in the same order as from memory, bit for bit,
// regardless of the amount loaded at a time and with units too, and that their space in the file is reused.
func TestBucketsOfStream(t *testing.T) {
	const rows, m = 3000, 41
	path, schema := bucketTable(t, rows)
	coins := testCoins(1)
	cut := testCoins(2)
	for _, unit := range []string{"", "who"} {
		schema.Unit = unit
		table, _, err := dataset.Read(
			t.Context(), path, schema,
			dataset.ReadOptions{},
		)
		if err != nil {
			t.Fatal(err)
		}
		part := mechanism.Part{
			Columns: []int{0, 1},
			Cuts:    []mechanism.Cut{{Coin: &cut, Share: .3}},
		}
		want := inBuckets(t, m, func(each mechanism.Buckets) error {
			return memory.New(table.View()).Capabilities().Buckets(
				t.Context(),
				part,
				coins,
				m,
				each,
			)
		})
		e, _, err := Open(
			t.Context(),
			Source{
				Path:   path,
				Folder: t.TempDir(),
				Chunk:  257,
			},
			schema,
		)
		if err != nil {
			t.Fatal(err)
		}
		for _, most := range []int64{1, 1 << 10, 1 << 12, groupBytes} {
			var size int64
			for range 2 {
				got := inBuckets(t, m, func(each mechanism.Buckets) error {
					return e.bucketsIn(t.Context(), part, coins, m, most, each)
				})
				if !slices.Equal(got, want) {
					t.Errorf(
						"unit %q, groups of %d bytes: other records than in memory",
						unit,
						most,
					)
				}
				if size > 0 && e.file.Size() != size {
					t.Errorf(
						"the file grows from %d to %d bytes",
						size, e.file.Size(),
					)
				}
				size = e.file.Size()
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestBucketsFail checks that errors of the context and the caller end the assignment to buckets, and that an engine
// without buckets returns an error.
func TestBucketsFail(t *testing.T) {
	path, schema := bucketTable(t, 500)
	e, _, err := Open(
		t.Context(),
		Source{Path: path, Folder: t.TempDir()},
		schema,
	)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	coins := testCoins(1)
	all := mechanism.RecordsOf(e, []int{0, 1})
	wrong := errors.New("wrong")
	err = all.Buckets(t.Context(), coins, 7, func(int, []dataset.View) error {
		return wrong
	})
	if !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	err = all.Buckets(ended, coins, 7, func(int, []dataset.View) error {
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	bare := mechanism.RecordsOf(struct{ mechanism.Engine }{e}, []int{0, 1})
	err = bare.Buckets(t.Context(), coins, 7, nil)
	if !errors.Is(err, mechanism.ErrGather) {
		t.Errorf("got %v", err)
	}
}
