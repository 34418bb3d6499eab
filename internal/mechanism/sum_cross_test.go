package mechanism

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
)

// crossOf returns the bounded sum over the picked rows: pick i is row
// i/len(g) with number i%len(g).
func crossOf(
	s *Session,
	limit, bound float64,
	rows [][]int16,
	g []float64,
	pick []int,
) Bounded[Vector] {
	c := s.NewCross(2, limit, bound)
	block := make([][]int16, 2)
	numbers := []float64(nil)
	for _, i := range pick {
		for k := range block {
			block[k] = append(block[k], rows[i/len(g)][k])
		}
		numbers = append(numbers, g[i%len(g)])
	}
	c.Add(block, numbers)
	return c.Bound()
}

// TestCrossSensitivity searches records of every direction, below, at and
// above the limit, with numbers inside, at and beyond the bound: B C (2 B C)
// is never passed and is attained. Tables of one record do, for a sum.
func TestCrossSensitivity(t *testing.T) {
	var rows [][]int16
	for _, x := range []int16{-FixedOne, 0, 9000, FixedOne} {
		for _, y := range []int16{-11585, 0, FixedOne} {
			rows = append(rows, []int16{x, y})
		}
	}
	g := []float64{
		math.Inf(-1), -.3,
		0, math.NaN(), .7,
		1e9,
	}
	for _, limit := range []float64{.25, 1, 1.5, 2} {
		for _, bound := range []float64{1, .3, 5} {
			searchNeighbours(t, 1, len(rows)*len(g), .999, func(s *Session, pick []int) Bounded[Vector] {
				return crossOf(s, limit, bound, rows, g, pick)
			})
		}
	}
}

// TestCrossSensitivityInUnits checks that the sensitivity is B C under add-remove and 2 B C under substitution, in
// the statistic's own measure.
func TestCrossSensitivityInUnits(t *testing.T) {
	for _, c := range []struct{ limit, bound, want float64 }{
		{1, 1, 1},
		{4, 1, 2},
		{2.25, 2, 3},
		{1, 0x1p-20, 0x1p-20},
		{1, 0x1p20, 0x1p20},
	} {
		for rel, factor := range map[budget.Relation]float64{
			budget.AddRemove:  1,
			budget.Substitute: 2,
		} {
			got := testSession(t, rel, 1).NewCross(1, c.limit, c.bound).Bound().Sensitivity()
			if math.Abs(got-factor*c.want) > 1e-12*c.want {
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

// TestCrossValue checks that the sum is that of the clipped rows and numbers, up to the grid.
func TestCrossValue(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 50).Draw(t, "n")
		bound := rapid.Float64Range(.1, 9).Draw(t, "bound")
		c := s.NewCross(2, .8, bound)
		x := [][]int16{
			rapid.SliceOfN(rapid.Int16(), n, n).Draw(t, "x"),
			rapid.SliceOfN(rapid.Int16(), n, n).Draw(t, "y"),
		}
		g := rapid.SliceOfN(
			rapid.Float64Range(-20, 20), n, n,
		).Draw(t, "g")
		c.Add(x, g) // clips x in place
		for k, got := range c.Bound().value {
			want := 0.0
			slack := 0.0
			for i, v := range g {
				entry := float64(x[k][i]) / FixedOne
				want += entry * min(max(v, -bound), bound)
				slack += math.Abs(entry) * 2 * c.grid.unit
			}
			if got := float64(got) * c.grid.unit / FixedOne; math.Abs(got-want) > slack+1e-9 {
				t.Fatalf(
					"entry %d: %v, want %v",
					k, got, want,
				)
			}
		}
	})
}

// TestCrossIsExact checks that extreme records add up to the exact product, and that merging or splitting blocks does
// not change it.
func TestCrossIsExact(t *testing.T) {
	const n, repeats = 1 << 12, 1 << 7
	s := testSession(t, budget.AddRemove, 1)
	total := s.NewCross(1, 1, 1)
	for range repeats {
		part := s.NewCross(1, 1, 1)
		x := make([]int16, n)
		g := make([]float64, n)
		for i := range x {
			x[i] = math.MinInt16
			g[i] = 1e300
		}
		part.Add([][]int16{x[:100]}, g[:100])
		part.Add([][]int16{x[100:]}, g[100:])
		total.Cells().mergeValues(part.Cells().copyValues())
	}
	want := new(big.Int).Mul(
		big.NewInt(-n*repeats),
		big.NewInt(FixedOne*FixedOne),
	)
	got := big.NewInt(total.sums[0])
	if got.Cmp(want) != 0 {
		t.Errorf("sum %v, want %v", got, want)
	}
}

// TestCrossClipsAsGram checks that both accumulators clip rows equally, and that calling Clip before Add has no
// effect.
func TestCrossClipsAsGram(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Float64Range(.01, 3).Draw(t, "limit")
		n := rapid.IntRange(1, 6).Draw(t, "n")
		a := make([][]int16, 3)
		b := make([][]int16, 3)
		for k := range a {
			a[k] = rapid.SliceOfN(rapid.Int16(), n, n).Draw(t, "column")
			b[k] = append([]int16(nil), a[k]...)
		}
		c := s.NewCross(3, limit, 1)
		s.NewGram(3, limit).Add(a)
		c.Clip(b)
		for k := range a {
			for i := range a[k] {
				if a[k][i] != b[k][i] {
					t.Fatalf(
						"entry %d of row %d: %d and %d",
						k, i, a[k][i],
						b[k][i],
					)
				}
			}
		}
		c.Add(b, make([]float64, n))
		for k := range a {
			for i := range a[k] {
				if a[k][i] != b[k][i] {
					t.Fatal("a clipped row was clipped again")
				}
			}
		}
	})
}

func TestCrossMisuse(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	for name, f := range map[string]func(){
		"columns": func() {
			s.NewCross(2, 1, 1).Add(
				[][]int16{{1}},
				[]float64{1},
			)
		},
		"lengths": func() {
			s.NewCross(2, 1, 1).Add(
				[][]int16{{1}, {1, 2}},
				[]float64{1},
			)
		},
		"numbers": func() {
			s.NewCross(1, 1, 1).Add(
				[][]int16{{1}},
				[]float64{1, 2},
			)
		},
		"bound 0": func() {
			s.NewCross(1, 1, 0)
		},
		"bound NaN": func() {
			s.NewCross(1, 1, math.NaN())
		},
		"bound big": func() {
			s.NewCross(1, 1, 0x1p21)
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			f()
		})
	}
}
