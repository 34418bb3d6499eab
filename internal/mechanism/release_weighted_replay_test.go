//go:build replay

package mechanism

import (
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// TestWeightedTap checks that the tap measures a weighted vector in its own norm and detects weights that depend on
// the data.
func TestWeightedTap(t *testing.T) {
	priced, err := budget.Calibrate(
		budget.Sequence("run", budget.GaussianLeaf("stats", 1, 1)),
		budget.Target{Epsilon: 1, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	release := func(rec *Recorder, weight float64, values ...int64) []float64 {
		x := Bounded[Weighted]{
			Weighted{values, []float64{weight, 2}, []float64{1, .5}},
			L2,
			10,
			1,
			"",
		}
		out, _, err := WeightedGaussian(NewRecordedSession(priced, rec), "stats", x)
		if err != nil {
			t.Fatal(err)
		}
		return out.Value()
	}
	first := NewRecorder(1)
	a := release(first, 1, 100, 100)
	for _, c := range []struct {
		weight  float64
		values  []int64
		faults  int
		closest float64
	}{
		{1, []int64{106, 104}, 0, 1},
		{1, []int64{106, 105}, 1, 1.16619037896906},
		{1, []int64{105, 100}, 0, .5},
		{3, []int64{100, 100}, 1, 0},
	} {
		next := first.Replay()
		b := release(next, c.weight, c.values...)
		faults, closest := Compare(first, next)
		if len(faults) != c.faults ||
			closest < c.closest-1e-9 ||
			closest > c.closest+1e-9 {
			t.Errorf(
				"%v: %v, closest %v, want %d faults and %v",
				c.values,
				faults,
				closest,
				c.faults,
				c.closest,
			)
		}
		if c.weight == 1 &&
			(a[0] != b[0] || a[1] != b[1]) {
			t.Errorf(
				"%v: released %v after %v",
				c.values, b, a,
			)
		}
	}
}
