package mechanism

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
)

// TestOuterSensitivity searches records of every direction, below, at and above the limits, with weights of every
// direction, below, at and above theirs, and records without any. B C (2 B C under substitution) is never exceeded
// and is attained. Tables of one record suffice, because the statistic is a sum.
func TestOuterSensitivity(t *testing.T) {
	rows := gridRecords(
		[]int16{-FixedOne, 0, 9000, FixedOne},
		[]int16{-11585, 0, FixedOne},
	)
	var weights [][3]float64
	for _, a := range []float64{
		math.Inf(-1), -.4,
		0, math.NaN(), 1,
	} {
		for _, b := range []float64{-1, .25} {
			weights = append(
				weights,
				[3]float64{a, b, -b},
				[3]float64{-a, -b, b},
			)
		}
	}
	for _, limit := range []float64{.25, 1.5} {
		for _, bound := range []float64{.1, .5, math.Sqrt2} {
			searchNeighbours(
				t,
				1,
				len(rows)*len(weights),
				.998,
				func(s *Session, pick []int) Bounded[Vector] {
					o := s.NewOuter(3, 2, bound, limit)
					block := make([][]int16, 2)
					w := make([][]float64, 3)
					for _, i := range pick {
						for k := range block {
							block[k] = append(block[k], rows[i/len(weights)][k])
						}
						for j := range w {
							w[j] = append(w[j], weights[i%len(weights)][j])
						}
					}
					o.Add(block, w)
					return o.Bound()
				},
			)
		}
	}
}

// TestOuterSensitivityInUnits checks that the sensitivity is B C under add-remove and 2 B C under substitution, in
// the statistic's own measure.
func TestOuterSensitivityInUnits(t *testing.T) {
	for _, c := range []struct{ limit, bound, want float64 }{
		{1, 1, 1},
		{4, 1, 2},
		{2.25, .5, .75},
		{1, 0x1p-7, 0x1p-7},
	} {
		for rel, factor := range map[budget.Relation]float64{
			budget.AddRemove:  1,
			budget.Substitute: 2,
		} {
			got := testSession(t, rel, 1).NewOuter(2, 1, c.bound, c.limit).Bound().Sensitivity()
			if math.Abs(got-factor*c.want) > 1e-9*c.want {
				t.Errorf(
					"B² %v, C %v, %v: sensitivity %v, want %v",
					c.limit,
					c.bound,
					rel,
					got,
					factor*c.want,
				)
			}
		}
	}
}

// TestOuterValue checks that the sum is that of the shortened rows and weights, up to the grid, for any split into
// blocks.
func TestOuterValue(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 50).Draw(t, "n")
		bound := rapid.Float64Range(.1, 1.4).Draw(t, "bound")
		x := make([][]int16, 3)
		w := make([][]float64, 2)
		for k := range x {
			x[k] = rapid.SliceOfN(rapid.Int16(), n, n).Draw(t, "x")
		}
		for j := range w {
			w[j] = rapid.SliceOfN(
				rapid.Float64Range(-1.2, 1.2),
				n, n,
			).Draw(t, "w")
		}
		o := s.NewOuter(2, 3, bound, .8)
		parts := s.NewOuter(2, 3, bound, .8)
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		for _, at := range [][2]int{{cut, n}, {0, cut}} {
			rows := make([][]int16, 3)
			weights := make([][]float64, 2)
			for k := range x {
				rows[k] = append(rows[k], x[k][at[0]:at[1]]...)
			}
			for j := range w {
				weights[j] = append(weights[j], w[j][at[0]:at[1]]...)
			}
			parts.Add(rows, weights)
		}
		o.Add(x, w) // clips x in place
		want := make([]float64, 6)
		for i := range n {
			a := min(max(w[0][i], -1), 1)
			b := min(max(w[1][i], -1), 1)
			f := min(1, bound/math.Hypot(a, b))
			for k := range 3 {
				v := float64(x[k][i]) / FixedOne
				want[k] += f * a * v
				want[3+k] += f * b * v
			}
		}
		for k, got := range o.Bound().value {
			if math.Abs(float64(got)*gramUnit-want[k]) > 3e-4*float64(n)+1e-9 {
				t.Fatalf(
					"entry %d: %v, want %v",
					k, float64(got)*gramUnit, want[k],
				)
			}
			if got != parts.Bound().value[k] {
				t.Fatalf(
					"entry %d: %v in blocks, %v in one",
					k,
					parts.Bound().value[k],
					got,
				)
			}
		}
	})
}

// TestOuterPanics checks that blocks of the wrong shape panic as mistakes of the caller.
func TestOuterPanics(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	for name, f := range map[string]func(){
		"bound": func() {
			s.NewOuter(1, 1, 0x1p8, 1)
		},
		"NaN": func() {
			s.NewOuter(1, 1, math.NaN(), 1)
		},
		"rows": func() {
			s.NewOuter(1, 2, 1, 1).Add(
				[][]int16{{1}},
				[][]float64{{1}},
			)
		},
		"weights": func() {
			s.NewOuter(2, 1, 1, 1).Add(
				[][]int16{{1}},
				[][]float64{{1}},
			)
		},
		"length": func() {
			s.NewOuter(1, 1, 1, 1).Add(
				[][]int16{{1}},
				[][]float64{{1, 2}},
			)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func BenchmarkOuter(b *testing.B) {
	s := testSession(b, budget.AddRemove, 1)
	o := s.NewOuter(26, 17, .5, 1)
	rows := make([][]int16, 17)
	weights := make([][]float64, 26)
	for k := range rows {
		rows[k] = make([]int16, 1024)
		for i := range rows[k] {
			rows[k][i] = int16((i*37 + k*101) % 4000)
		}
	}
	for j := range weights {
		weights[j] = make([]float64, 1024)
		for i := range weights[j] {
			weights[j][i] = float64((i*j)%100)/100 - .5
		}
	}
	for b.Loop() {
		o.Add(rows, weights)
	}
}
