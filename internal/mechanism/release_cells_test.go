package mechanism

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// TestCellBound searches all small tables: no neighbour moves the counts by more than the
// bound in L1 norm, and some neighbour moves them by as much.
func TestCellBound(t *testing.T) {
	const bins = 3
	for _, weights := range [][]int{{1}, {1, 2}} {
		var records [][]uint16 // one bin per column; bin 3 is not counted
		for a := range uint16(bins + 1) {
			for b := range uint16(bins + 1) {
				records = append(records, []uint16{a, b}[:len(weights)])
			}
		}
		for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
			counts := func(table ...[]uint16) Bounded[Vector] {
				h := NewMaker(rel).NewHistogram(weights, bins)
				for _, r := range table {
					var block [][]uint16
					for _, b := range r {
						block = append(block, []uint16{b})
					}
					h.Add(block)
				}
				return h.CellBound()
			}
			far := 0.
			for _, rest := range records {
				for _, a := range records {
					for _, b := range records {
						x := counts(rest, a)
						y := counts(rest)
						if rel == budget.Substitute {
							y = counts(rest, b)
						}
						d := 0.
						for i := range x.value {
							d += math.Abs(float64(x.value[i]-y.value[i])) * countUnit
						}
						far = max(far, d)
					}
				}
			}
			bound := counts().Sensitivity()
			if far != bound {
				t.Errorf(
					"weights %v, %v: the farthest neighbour is at %v, the bound is %v",
					weights,
					rel,
					far,
					bound,
				)
			}
		}
	}
}

// TestLaplaceCells checks that the noise has the scale sensitivity/epsilon, and that an L2 sensitivity is refused.
func TestLaplaceCells(t *testing.T) {
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		priced, err := budget.Calibrate(
			budget.Sequence("run",
				budget.PureLeaf("cells", 1, 1).WithStatistic(StatCells),
			),
			budget.Target{
				Epsilon:  .5,
				Relation: rel,
			})
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSession(priced)
		if err != nil {
			t.Fatal(err)
		}
		const n = 20000
		h := s.NewHistogram([]int{1}, n)
		if _, err := LaplaceCells(s, "cells", h.Bound()); !errors.Is(err, ErrNorm) {
			t.Errorf("error %v, want ErrNorm", err)
		}
		out, err := LaplaceCells(s, "cells", h.CellBound())
		if err != nil {
			t.Fatal(err)
		}
		want := 2 * (1 + float64(rel))
		mean := 0.
		for _, x := range out.Value() {
			mean += math.Abs(x) / n
		}
		// The mean of n absolute values has the standard deviation want/sqrt(n): 5 deviations are exceeded with
		// probability below 1e-6.
		if math.Abs(mean-want) > 5*want/math.Sqrt(n) {
			t.Errorf(
				"%v: mean absolute noise %v, want %v",
				rel, mean, want,
			)
		}
		got := s.Scale("cells")
		if math.Abs(got-want) > 1e-5 {
			t.Errorf(
				"%v: scale %v, want %v",
				rel, got, want,
			)
		}
		_, err = LaplaceCells(s, "cells", h.CellBound())
		if !errors.Is(err, ErrSpent) {
			t.Errorf("error %v, want ErrSpent", err)
		}
	}
}

// TestPublicSeed checks that a published seed reproduces the same numbers and reveals no other stream.
func TestPublicSeed(t *testing.T) {
	priced, err := budget.Calibrate(
		budget.Sequence("run", budget.PureLeaf("cells", 1, 1)),
		budget.Target{Epsilon: 1},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	seed := s.PublicSeed("a")
	a := seed.Stream().Uint64()
	b := s.PublicSeed("a").Stream().Uint64()
	if a != b {
		t.Errorf("one seed gives %v and %v", a, b)
	}
	if seed == s.PublicSeed("b") ||
		seed == Seed(s.core.key.Derive("public", "run/a", 0)) ||
		seed.Stream().Uint64() == s.PublicStream("a").Uint64() {
		t.Error("two streams have one seed")
	}
}

func BenchmarkLaplaceCells(b *testing.B) {
	priced, err := budget.Calibrate(
		budget.Sequence("run", budget.PureLeaf("cells", 1, 1)),
		budget.Target{Epsilon: 1},
	)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{64, 144} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for range b.N {
				s, err := NewSession(priced.Again())
				if err == nil {
					_, err = LaplaceCells(
						s,
						"cells",
						s.NewHistogram([]int{1}, n).CellBound(),
					)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
