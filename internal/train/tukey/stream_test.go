package tukey

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/engine/stream"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
)

// TestModelsOfStream checks that the models of buckets are the same from a scratch file as from memory, bit for bit.
func TestModelsOfStream(t *testing.T) {
	columns, ranges := mixedColumns()
	var text strings.Builder
	text.WriteString("a,b,k,y\n")
	for i, r := range mixedRecords(4000, .5) {
		fmt.Fprintf(
			&text,
			"%v,%v,%s,%v\n",
			r.a, r.b,
			[]string{"x", "y", "other"}[r.k],
			r.y,
		)
		if i%9 == 0 {
			fmt.Fprintf(&text, ",,x,%v\n", r.y)
		}
	}
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	schema := dataset.Schema{Columns: columns}
	table, _, err := dataset.Read(
		t.Context(), path, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := stream.Open(
		t.Context(),
		stream.Source{
			Path:   path,
			Folder: t.TempDir(),
			Chunk:  300,
		},
		schema,
	)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	f := newFrame(columns, ranges)
	s := newSession(
		t,
		method.Facts{
			Columns: columns,
			Epsilon: 3,
			Delta:   1e-5,
		},
		budget.AddRemove,
	)
	want, err := f.fitBuckets(
		t.Context(), s,
		memory.NewRecords(table.View()), 37,
	)
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.fitBuckets(
		t.Context(), s,
		mechanism.RecordsOf(e, []int{0, 1, 2, 3}),
		37,
	)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Error("other models than in memory")
	}
}
