//go:build replay

package boosting

import (
	"bytes"
	"context"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/engine/stream"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/regression"
)

// TestSampleReplays checks stages that learn from a sample: with the recorded releases in place the model is the same
// on neighbours, and no input moved further than declared.
func TestSampleReplays(t *testing.T) {
	x := crossedSample(t, 3000)
	trainer := smallKernel()
	trainer.most = 1500
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		first := mechanism.NewRecorder(9)
		want := encodeModel(
			t,
			x.recordedOf(
				t, trainer, rel,
				memory.NewRecords(x.tab.View()),
				first,
			).Model,
		)
		if bytes.Equal(want,
			encodeModel(t,
				x.recordedOf(t, smallKernel(), rel, memory.NewRecords(x.tab.View()),
					mechanism.NewRecorder(9)).Model)) {
			t.Errorf("%v: there is no sample", rel)
		}
		closest := 0.
		for _, tab := range x.crossedNeighbours(t, rel) {
			second := first.Replay()
			if !bytes.Equal(want,
				encodeModel(t,
					x.recordedOf(
						t, trainer, rel,
						memory.NewRecords(tab.View()), second,
					).Model)) {
				t.Errorf("%v: the model depends on the record", rel)
			}
			faults, ratio := mechanism.Compare(first, second)
			for _, f := range faults {
				t.Errorf("%v: %s", rel, f)
			}
			closest = max(closest, ratio)
		}
		if closest < .8 {
			t.Errorf(
				"%v: the bound was approached to %.3f only",
				rel, closest,
			)
		}
	}
}

// TestSampleOnStream checks that a sample has the same records on an engine that keeps its state in a file.
func TestSampleOnStream(t *testing.T) {
	x := crossedSample(t, 3000)
	trainer := smallKernel()
	trainer.most = 1500
	want := x.recordedOf(
		t,
		trainer,
		budget.AddRemove,
		memory.NewRecords(x.tab.View()),
		mechanism.NewRecorder(9),
	)
	n := len(want.Model.(*regression.Kernel).Kernels)
	if n < 3 {
		t.Fatalf("%d stages", n)
	}
	e, _, err := stream.Open(
		context.Background(),
		stream.Source{
			Path:   x.writeCSV(t),
			Folder: t.TempDir(),
			Chunk:  257,
		},
		x.tab.Schema(),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	got := x.recordedOf(
		t,
		trainer,
		budget.AddRemove,
		mechanism.RecordsOf(e, []int{0, 1, 2, 3}),
		mechanism.NewRecorder(9),
	)
	if !bytes.Equal(encodeModel(t, got.Model), encodeModel(t, want.Model)) {
		t.Error("the model is another one than from memory")
	}
}

// writeCSV writes the table as CSV.
func (x sample) writeCSV(t *testing.T) string {
	t.Helper()
	lines := make([][]string, x.tab.Len()+1)
	for j, c := range x.columns {
		lines[0] = append(lines[0], c.Name)
		for r := range x.tab.Len() {
			cell := ""
			switch {
			case c.Kind == dataset.Category:
				k := x.tab.Codes(j)[r]
				if int(k) < len(c.Categories) {
					cell = c.Categories[k]
				} else {
					cell = "another word"
				}
			case !math.IsNaN(x.tab.Float(j)[r]):
				cell = strconv.FormatFloat(
					x.tab.Float(j)[r],
					'g', -1, 64,
				)
			}
			lines[r+1] = append(lines[r+1], cell)
		}
	}
	path := filepath.Join(t.TempDir(), "table.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := csv.NewWriter(f).WriteAll(lines); err != nil {
		t.Fatal(err)
	}
	return path
}
