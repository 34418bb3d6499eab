//go:build replay

package adassp

import (
	"context"
	"math"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
)

// TestPartlyReplays replaces the private columns of one record and replays the recorded release. The model must be
// the same, and inputs must differ by no more than declared, and for some record by almost as much.
func TestPartlyReplays(t *testing.T) {
	tab, columns, ranges := partlyTable(t, 9, .1, "a", "c")
	node, err := JointGram{}.Plan(
		method.Facts{Columns: columns, Relation: budget.SubstitutePrivateColumns})
	if err != nil {
		t.Fatal(err)
	}
	priced, err := budget.Calibrate(
		budget.Sequence("run", node),
		budget.Target{
			Epsilon:  1,
			Delta:    1e-6,
			Relation: budget.SubstitutePrivateColumns,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	run := func(tab *dataset.Table, rec *mechanism.Recorder) *method.Fit {
		f, err := JointGram{}.Fit(
			context.Background(),
			mechanism.NewRecordedSession(priced, rec),
			dataOf(columns, tab.View(), ranges),
		)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	edit := func(at int, a float64, c int32) *dataset.Table {
		as := append([]float64(nil), tab.Float(0)...)
		cs := append([]int32(nil), tab.Codes(2)...)
		as[at] = a
		cs[at] = c
		out, err := dataset.NewTable(
			dataset.Schema{Columns: columns},
			[]dataset.ColumnData{
				{Floats: as},
				{Floats: tab.Float(1)},
				{Codes: cs},
				{Floats: tab.Float(3)},
			},
			nil,
		)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	closest := 0.0
	for _, at := range []int{0, 4, 8} {
		// The private part moves from one extreme to another.
		first := mechanism.NewRecorder(3)
		want := run(edit(at, 2, 0), first)
		for _, a := range []float64{
			-2, 0, 1e300,
			math.NaN(),
			math.Inf(-1),
		} {
			for _, c := range []int32{0, 1, 2} {
				second := first.Replay()
				got := run(edit(at, a, c), second)
				faults, ratio := mechanism.Compare(first, second)
				for _, f := range faults {
					t.Error(f)
				}
				closest = max(closest, ratio)
				if !reflect.DeepEqual(got, want) {
					t.Errorf(
						"record %d with a = %v, c = %d changes the model",
						at, a, c,
					)
				}
			}
		}
	}
	if closest < .7 {
		t.Errorf("the declared bound was approached to %v only", closest)
	}
}

// TestPartlyClassesReplay is like TestPartlyReplays for three classes. The private cell of a record is moved from one
// end of its range to the other, and replaced by a missing value. All three fits must be the same.
func TestPartlyClassesReplay(t *testing.T) {
	tab, columns, ranges := threeClasses(t, 12)
	trainer := JointGram{}
	node, err := trainer.Plan(
		method.Facts{Columns: columns, Relation: budget.SubstitutePrivateColumns})
	if err != nil {
		t.Fatal(err)
	}
	priced, err := budget.Calibrate(
		budget.Sequence("run", node),
		budget.Target{
			Epsilon:  1,
			Delta:    1e-6,
			Relation: budget.SubstitutePrivateColumns,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	run := func(at int, x float64, rec *mechanism.Recorder) *method.Fit {
		xs := append([]float64(nil), tab.Float(0)...)
		xs[at] = x
		edited, err := dataset.NewTable(
			dataset.Schema{Columns: columns},
			[]dataset.ColumnData{
				{Floats: xs},
				{Codes: tab.Codes(1)},
				{Codes: tab.Codes(2)},
			},
			nil,
		)
		if err != nil {
			t.Fatal(err)
		}
		fits, err := trainer.Fit(
			context.Background(),
			mechanism.NewRecordedSession(priced, rec),
			dataOf(columns, edited.View(), ranges),
		)
		if err != nil {
			t.Fatal(err)
		}
		return fits
	}
	closest := 0.0
	for at := range tab.Len() {
		first := mechanism.NewRecorder(3)
		want := run(at, -1, first)
		for _, x := range []float64{
			1, 0, .3, 1e300,
			math.NaN(),
			math.Inf(1),
		} {
			second := first.Replay()
			got := run(at, x, second)
			faults, ratio := mechanism.Compare(first, second)
			for _, f := range faults {
				t.Error(f)
			}
			closest = max(closest, ratio)
			if !reflect.DeepEqual(got, want) {
				t.Errorf(
					"record %d with x = %v changes the model",
					at, x,
				)
			}
		}
	}
	if closest < .7 {
		t.Errorf("the declared bound was approached to %v only", closest)
	}
}
