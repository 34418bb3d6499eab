//go:build replay

package mechanism

import (
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// TestTopKReplay checks that the neighbouring run releases the recorded choice, that inputs within the width pass,
// and that a change wider than declared is reported.
func TestTopKReplay(t *testing.T) {
	for _, form := range forms {
		top := TopK{Form: form, K: 2}
		priced, err := budget.Calibrate(
			budget.Sequence("run", top.Plan("top", 1)),
			budget.Target{Epsilon: 1, Delta: 1e-6},
		)
		if err != nil {
			t.Fatal(err)
		}
		release := func(r *Recorder, x ...int64) []int {
			out, err := top.Release(
				NewRecordedSession(priced, r),
				"top",
				widthScores(2, x...),
			)
			if err != nil {
				t.Fatal(err)
			}
			return out.Value()
		}
		for seed := range byte(20) {
			first := NewRecorder(seed)
			near := first.Replay()
			far := first.Replay()
			a := release(first, 10, 0, 5, 5, 9)
			b := release(near, 11, -1, 4, 6, 9)
			if !slices.Equal(a, b) {
				t.Fatalf(
					"%v: the neighbour released %v, recorded %v",
					form, b, a,
				)
			}
			faults, closest := Compare(first, near)
			if len(faults) > 0 || form != Peeling && closest != 1 {
				t.Errorf(
					"%v: faults %v, ratio %v",
					form, faults, closest,
				)
			}
			b = release(far, 13, -1, 4, 6, 9)
			if !slices.Equal(a, b) {
				t.Fatalf(
					"%v: the far table released %v, recorded %v",
					form, b, a,
				)
			}
			faults, _ = Compare(first, far)
			if len(faults) == 0 ||
				!strings.Contains(faults[0], "declared sensitivity") {
				t.Errorf(
					"%v: a change of twice the width passed: %v",
					form, faults,
				)
			}
			n := len(first.Releases()[0].Out)
			if form != Peeling && n != 2 {
				t.Errorf("%v: %d indices recorded", form, n)
			}
		}
	}
}
