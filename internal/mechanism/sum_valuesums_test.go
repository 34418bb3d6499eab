package mechanism

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
)

// TestValueSumsSensitivity checks that the largest change by a record of two columns is the declared one. It searches
// tables of three records with every combination of values, including an undeclared one, and of numbers beyond the
// limits and missing ones.
func TestValueSumsSensitivity(t *testing.T) {
	numbers := []float64{
		-9, -.3, 0, 1,
		math.NaN(),
		math.Inf(1),
	}
	searchNeighbours(t, 2, 9*len(numbers), .9998, func(s *Session, rows []int) Bounded[Vector] {
		v := s.NewValueSums([]int{2, 2})
		values := make([][]int32, 2)
		g := []float64(nil)
		for _, r := range rows { // value 2 is undeclared
			values[0] = append(values[0], int32(r%3))
			values[1] = append(values[1], int32(r/3%3))
			g = append(g, numbers[r/9])
		}
		v.Add(values, g)
		return v.Bound()
	})
}

// TestValueSumsAddUp checks that counts and sums are those of the records with a number, regardless of the blocks.
func TestValueSumsAddUp(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		g := rapid.SliceOfN(
			rapid.OneOf(rapid.Float64Range(-2, 2), rapid.Just(math.NaN())),
			n,
			n,
		).Draw(t, "g")
		levels := []int{4, 2}
		values := make([][]int32, 2)
		for c := range values {
			values[c] = rapid.SliceOfN(rapid.Int32Range(-1, 4), n, n).Draw(t, "values")
		}
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		a := s.NewValueSums(levels)
		b := s.NewValueSums(levels)
		a.Add(
			[][]int32{values[0][cut:], values[1][cut:]},
			g[cut:],
		)
		b.Add(
			[][]int32{values[0][:cut], values[1][:cut]},
			g[:cut],
		)
		a.Cells().mergeValues(b.Cells().copyValues())
		bound := a.Bound()
		exact := make([]float64, len(bound.value))
		for i, x := range bound.value {
			exact[i] = float64(x) * bound.unit
		}
		for c, column := range values {
			counts, sums := a.Read(c, exact)
			for v := range counts {
				count := 0.
				sum := 0.
				for i, k := range column {
					if int(k) == v && g[i] == g[i] {
						count++
						sum += min(max(g[i], -1), 1)
					}
				}
				if counts[v] != count ||
					math.Abs(sums[v]-sum) > float64(n)*bound.unit {
					t.Fatalf(
						"column %d, value %d: %v records and %v, want %v and %v",
						c,
						v,
						counts[v],
						sums[v],
						count,
						sum,
					)
				}
			}
		}
	})
}

func TestValueSumsLengths(t *testing.T) {
	for name, add := range map[string]func(v *ValueSums){
		"columns": func(v *ValueSums) {
			v.Add([][]int32{{1}}, []float64{1})
		},
		"numbers": func(v *ValueSums) {
			v.Add(
				[][]int32{{1}, {0}},
				[]float64{1, 2},
			)
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("a block whose slices differ was accepted")
				}
			}()
			testSession(t, budget.AddRemove, 1).NewValueSums([]int{3, 2}).Add(
				[][]int32{{1}, {0}},
				[]float64{1},
			)
			add(testSession(t, budget.AddRemove, 1).NewValueSums([]int{3, 2}))
		})
	}
}
