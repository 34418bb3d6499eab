package mechanism

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// TestGramEntrySensitivity searches rows of every direction, below, at and above the limit of the norm: the L1 norm of the
// change of the entries is never above the declared sensitivity. A row whose entries are equally large reaches it.
func TestGramEntrySensitivity(t *testing.T) {
	rows := gridRecords(
		[]int16{-FixedOne, -9000, 0, 3, FixedOne},
		[]int16{-FixedOne, 0, 11585, FixedOne},
		[]int16{0, FixedOne, 9459},
	)
	for _, limit := range []float64{.3, 1, 3} {
		for _, rel := range bothRelations() {
			s := testSession(t, rel, 1)
			furthest := 0.
			declared := 0.
			bound := rememberTables(1, func(pick []int) Bounded[Vector] {
				g := s.NewGram(3, limit)
				block := make([][]int16, 3)
				for _, i := range pick {
					for k := range block {
						block[k] = append(block[k], rows[i][k])
					}
				}
				g.Add(block)
				return g.EntryBound()
			})
			eachNeighbour(1, len(rows), rel, func(a, b []int) {
				x := bound(a)
				y := bound(b)
				sum := 0.
				for j := range x.value {
					sum += math.Abs(float64(x.value[j] - y.value[j]))
				}
				furthest = max(furthest, sum)
				declared = x.sens
				if x.norm != L1 || x.sens != y.sens || sum > x.sens {
					t.Fatalf(
						"%v, limit %v: moved by %v, declared %v and %v",
						rel,
						limit,
						sum,
						x.sens,
						y.sens,
					)
				}
			})
			// A replaced row cannot change every entry by twice as much, because the diagonal has only one sign.
			least := .999
			if rel != budget.AddRemove {
				least = .49
			}
			if furthest < least*declared {
				t.Errorf(
					"%v, limit %v: the largest change is %v of the declared sensitivity",
					rel,
					limit,
					furthest/declared,
				)
			}
		}
	}
}
