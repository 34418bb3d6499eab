//go:build replay

package selection

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// TestClassReplay replays neighbouring tables, in which a record at any position is removed, or replaced by an
// ordinary or an extreme one of another class or without a class. The same leaf is spent on inputs within the
// declared sensitivity, and the same columns are selected. Some pair reaches at least half of the sensitivity.
func TestClassReplay(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const n = 40
	columns := make([][]float64, 3)
	groups := make([][]int32, 1)
	y := make([]int32, n)
	for i := range n {
		y[i] = rng.Int32N(3)
		groups[0] = append(groups[0], rng.Int32N(4))
		for j := range columns {
			columns[j] = append(columns[j], rng.NormFloat64()/2)
		}
	}
	extreme := []float64{1e300, -1e300, math.NaN()}
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		for _, x := range []Selector{
			DPFSDR{},
			DPFS{},
			CRFS{K: 2, Exact: true},
			GreedyGram{K: 2},
		} {
			run := func(
				rec *mechanism.Recorder, columns [][]float64, groups [][]int32, y []int32,
			) []int {
				v, f := classTable(t, 1, columns, groups, 3, 2, y)
				f.Relation = rel
				got, err := x.Select(
					context.Background(),
					mechanism.NewRecordedSession(classPriced(t, x, 1, f), rec),
					f,
					memory.NewRecords(v),
				)
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			widest := 0.0
			for _, row := range []int{0, n / 2, n - 1} {
				for class := range int32(3) {
					first := mechanism.NewRecorder(byte(row))
					next := first.Replay()
					a := run(first, columns, groups, y)
					near := make([][]float64, len(columns))
					codes := slices.Clone(groups[0])
					labels := slices.Clone(y)
					for j, c := range columns {
						near[j] = slices.Clone(c)
						near[j][row] = extreme[j]
					}
					codes[row] = 3 - codes[row]
					labels[row] = class
					if rel == budget.AddRemove {
						codes = slices.Delete(codes, row, row+1)
						labels = slices.Delete(labels, row, row+1)
						for j := range near {
							near[j] = slices.Delete(near[j], row, row+1)
						}
					}
					b := run(next, near, [][]int32{codes}, labels)
					faults, closest := mechanism.Compare(first, next)
					if len(faults) > 0 || !slices.Equal(a, b) {
						t.Errorf(
							"%v, %s, row %d: chose %v and %v, %v",
							rel,
							x.Name(),
							row,
							a,
							b,
							faults,
						)
					}
					widest = max(widest, closest)
				}
			}
			if widest < .5 || widest > 1 {
				t.Errorf(
					"%v, %s: the closest pair came to %.2f of the sensitivity",
					rel,
					x.Name(),
					widest,
				)
			}
		}
	}
}
