package stream

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// newSession returns a session with a plan of one leaf.
func newSession(t *testing.T) *mechanism.Session {
	t.Helper()
	p, err := budget.Calibrate(
		budget.Sequence("run", budget.GaussianLeaf("leaf", 1, 1)),
		budget.Target{Epsilon: 1, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStreamLimitsUnits checks that the records kept for units are those of a table in memory, in one or several
// parts, including equal ones, in text columns, and where a record has no unit.
func TestStreamLimitsUnits(t *testing.T) {
	var text strings.Builder
	text.WriteString("who,note,y\n")
	for i := range 2000 {
		who := fmt.Sprint("p", i*i%170)
		if i%50 == 7 {
			who = ""
		}
		fmt.Fprintf(
			&text,
			"%s,%s,%d\n",
			who,
			[]string{
				"red", "7", "",
				"x\x01",
				fmt.Sprint("id ", i),
			}[i*7%5],
			i%3,
		)
	}
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	schema := dataset.Schema{
		Columns: []dataset.Column{
			{Name: "note", Found: true},
			{Name: "y"},
		},
		Unit: "who",
	}
	table, _, err := dataset.Read(
		t.Context(), path, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := Open(
		t.Context(),
		Source{
			Path:   path,
			Folder: t.TempDir(),
			Chunk:  129,
		},
		schema,
	)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := newSession(t)
	for _, most := range []int{1, 3, 9} {
		want := table.View().Columns([]int{1, 0}).Cap(most, s.Lots("unit").Draw)
		for _, parts := range []uint64{1, 5} {
			limited, err := e.limitIn(
				t.Context(),
				parts,
				[]int{1, 0},
				most,
				s.Lots("unit"),
			)
			if err != nil {
				t.Fatal(err)
			}
			got, err := mechanism.CapabilitiesOf(limited).Gather(
				t.Context(),
				mechanism.Part{Columns: []int{1, 0}},
			)
			if err != nil {
				t.Fatal(err)
			}
			a := got.Block(0, got.Len())
			b := want.Block(0, want.Len())
			same := a.Len() == b.Len() && slices.Equal(a.Float(0, nil), b.Float(0, nil))
			for k := 0; same && k < a.Len(); k++ {
				same = a.ID(k) == b.ID(k)
			}
			if !same ||
				want.Len() == 0 ||
				want.Len() == table.Len() {
				t.Errorf(
					"at most %d, %d parts: other records are kept: %d, want %d",
					most,
					parts,
					a.Len(),
					b.Len(),
				)
			}
		}
	}
}
