package mechanism

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
)

// interceptsOf adds one record per entry of pick: one of two labels or a missing one, a first candidate from 0 to 2,
// and one of the weights.
func interceptsOf(
	s *Session,
	lower, upper float64,
	weights []float64,
	pick []int,
) *Intercepts {
	a := s.NewIntercepts(lower, upper, 2)
	for _, i := range pick {
		a.Add(
			[]float64{weights[i/9]},
			[]int8{int8(i%3 - 1)},
			[]int{i / 3 % 3},
		)
	}
	return a
}

// TestInterceptsSensitivity searches tables: the width of the change of the scores is never passed, and attained where the
// other records keep the sums away from 0.
func TestInterceptsSensitivity(t *testing.T) {
	weights := []float64{math.NaN(), .5, 3, math.Inf(1)}
	for _, rel := range bothRelations() {
		s := testSession(t, rel, 1)
		widest := 0.
		width := 0.
		scores := rememberTables(3, func(table []int) Bounded[Vector] {
			return interceptsOf(s, .5, 3, weights, table).Scores()
		})
		eachNeighbour(3, 9*len(weights), rel, func(a, b []int) {
			x := scores(a)
			y := scores(b)
			low := 0.
			high := 0.
			for j := range x.value {
				d := float64(y.value[j] - x.value[j])
				low = min(low, d)
				high = max(high, d)
			}
			widest = max(widest, high-low)
			width = x.sens
			if x.sens != y.sens || high-low > x.sens {
				t.Fatalf(
					"%v: a change of width %v, declared %v and %v",
					rel,
					high-low,
					x.sens,
					y.sens,
				)
			}
		})
		want := 6.
		if rel != budget.AddRemove {
			want = 12
		}
		if width*weightUnit != want || widest < .999*width {
			t.Errorf(
				"%v: declared %v, want %v; the widest change is %v",
				rel,
				width*weightUnit,
				want,
				widest*weightUnit,
			)
		}
	}
}

// TestInterceptsAreAgreements checks that the score of a candidate is the absolute value of the sum of an [Agreement]
// with the votes of that candidate, regardless of the blocks.
func TestInterceptsAreAgreements(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SliceOf(rapid.Float64Range(0, 3)).Draw(t, "w")
		labels := rapid.SliceOfN(
			rapid.Int8Range(-1, 1),
			len(w), len(w),
		).Draw(t, "labels")
		first := rapid.SliceOfN(
			rapid.IntRange(-1, 6),
			len(w), len(w),
		).Draw(t, "first")
		cut := rapid.IntRange(0, len(w)).Draw(t, "cut")
		a := s.NewIntercepts(.5, 2, 5)
		b := s.NewIntercepts(.5, 2, 5)
		a.Add(w[:cut], labels[:cut], first[:cut])
		b.Add(w[cut:], labels[cut:], first[cut:])
		a.Cells().mergeValues(b.Cells().copyValues())
		for c, got := range a.Scores().value {
			votes := make([]int8, len(w))
			for i, y := range labels {
				votes[i] = y
				if c < first[i] {
					votes[i] = -y
				}
			}
			x := s.NewAgreement(.5, 2)
			x.Add(w, votes)
			want := x.Sum().value
			if got != max(want, -want) {
				t.Fatalf(
					"candidate %d: %d, want %d",
					c, got, want,
				)
			}
		}
	})
}
