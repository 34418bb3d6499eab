package mechanism

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
)

func TestBinSumsSensitivity(t *testing.T) {
	values := []float64{
		-9, -.3, 0, .125,
		9, math.NaN(),
		math.Inf(-1),
	}
	for _, bound := range []float64{.3, 1, 3} {
		searchNeighbours(t, 3, 3*len(values), .9998, func(s *Session, rows []int) Bounded[Vector] {
			b := s.NewBinSums(2, bound)
			var bins []uint8
			var g []float64
			for _, r := range rows { // bin 2 does not exist
				bins = append(bins, uint8(r%3))
				g = append(g, values[r/3])
			}
			b.Add(bins, g)
			return b.Bound()
		})
	}
}

// TestBinSumsAddsUp checks that the sums are those of the clamped numbers, up to the rounding of every record,
// regardless of order and blocks.
func TestBinSumsAddsUp(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		g := rapid.SliceOfN(rapid.Float64(), n, n).Draw(t, "g")
		bins := rapid.SliceOfN(rapid.Uint8Range(0, 3), n, n).Draw(t, "bins")
		bound := rapid.Float64Range(.01, 9).Draw(t, "bound")
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		a := s.NewBinSums(3, bound)
		b := s.NewBinSums(3, bound)
		whole := s.NewBinSums(3, bound)
		a.Add(bins[cut:], g[cut:])
		b.Add(bins[:cut], g[:cut])
		a.Cells().mergeValues(b.Cells().copyValues())
		whole.Add(bins, g)
		clamped := NewClamped(bound)
		again := s.NewBinSums(3, bound)
		clamped.Set(make([]float64, 50)) // numbers of another block
		clamped.Set(g)
		again.AddClamped(bins, clamped)
		if !slices.Equal(again.sums, whole.sums) {
			t.Fatalf(
				"clamped before: %v, want %v",
				again.sums, whole.sums,
			)
		}
		x := a.Bound()
		y := whole.Bound()
		for k := range 3 {
			want := 0.0
			for i, v := range g {
				if int(bins[i]) == k {
					want += min(max(v, -bound), bound)
				}
			}
			got := float64(x.value[k]) * x.unit
			if x.value[k] != y.value[k] ||
				math.Abs(got-want) > float64(2*n)*x.unit {
				t.Fatalf(
					"bin %d: %v and %v, want %v",
					k, got, y.value[k], want,
				)
			}
		}
	})
}

func TestBinSumsLengths(t *testing.T) {
	b := testSession(t, budget.AddRemove, 1).NewBinSums(3, 1)
	two := NewClamped(1)
	wide := NewClamped(2)
	two.Set([]float64{1, 2})
	wide.Set([]float64{2})
	for name, add := range map[string]func(){
		"more numbers than bins": func() {
			b.Add([]uint8{1}, []float64{1, 2})
		},
		"more clamped numbers than bins": func() {
			b.AddClamped([]uint8{1}, two)
		},
		"numbers that were clamped at another end": func() {
			b.AddClamped([]uint8{1}, wide)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: accepted", name)
				}
			}()
			add()
		}()
	}
}

// partSession has a Gaussian leaf "g" with two draws.
func partSession(t testing.TB) *Session {
	t.Helper()
	priced, err := budget.Calibrate(
		budget.Sequence("run", budget.GaussianLeaf("g", 1, 2)),
		budget.Target{Epsilon: 1, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPartsAddUp checks that the root sum of squares of the parts' parameters is the parameter of the draw, up to the
// rounding of scales.
func TestPartsAddUp(t *testing.T) {
	for _, parts := range []int{1, 2, 7} {
		s := partSession(t)
		mu2 := 0.0
		for part := range parts {
			got := s.Events()[0].Released
			if got != 0 {
				t.Errorf(
					"%d draws counted after %d of %d parts",
					got, part, parts,
				)
			}
			x := s.NewBinSums(2, float64(part+1)).Bound()
			_, err := GaussianPart(s, "g", 0, part, parts, x)
			if err != nil {
				t.Fatal(err)
			}
			// The event has the largest scale so far, that of this part.
			ratio := x.Sensitivity() / s.Scale("g")
			mu2 += ratio * ratio
		}
		mu := s.Mu("g")
		if !(mu2 <= mu*mu) ||
			mu2 < mu*mu*(1-1e-3) {
			t.Errorf(
				"%d parts spend mu² %v of %v",
				parts, mu2, mu*mu,
			)
		}
		e := s.Events()[0]
		if e.Released != 1 {
			t.Errorf("%d draws counted after the last part", e.Released)
		}
	}
}

func TestPartsAreSpentOnce(t *testing.T) {
	s := partSession(t)
	x := s.NewBinSums(2, 1).Bound()
	for i, step := range []struct {
		draw, part, parts int
		ok                bool
	}{
		{0, 1, 2, false}, // not begun
		{0, 0, 2, true},
		{0, 0, 2, false}, // again
		{0, 1, 3, false}, // into more parts than at first
		{0, 1, 2, true},
		{0, 1, 2, false},
		{0, 2, 3, false}, // beyond
		{1, 0, 0, false},
		{1, -1, 1, false},
		{1, 0, 1, true},
		{1, 0, 1, false},
		{2, 0, 1, false}, // not priced
	} {
		_, err := GaussianPart(
			s, "g", step.draw, step.part,
			step.parts, x,
		)
		if (err == nil) != step.ok ||
			err != nil && !errors.Is(err, ErrSpent) {
			t.Errorf("step %d: %v", i, err)
		}
	}
	_, err := GaussianDraw(s, "g", 0, x)
	if !errors.Is(err, ErrSpent) {
		t.Errorf(
			"a draw was spent in parts and as a whole: %v",
			err,
		)
	}
	_, err = GaussianPart(s, "other", 0, 0, 1, x)
	if !errors.Is(err, ErrUnknownLeaf) {
		t.Errorf("a leaf that was not planned: %v", err)
	}
	got := s.Mu("other")
	if got != 0 {
		t.Errorf("mu %v of a leaf that was not planned", got)
	}
}

// TestPartsDifferInNoise checks that equal inputs get different noise in every part.
func TestPartsDifferInNoise(t *testing.T) {
	s := partSession(t)
	x := s.NewBinSums(4, 1).Bound()
	seen := map[float64]bool{}
	for draw := range 2 {
		for part := range 3 {
			out, err := GaussianPart(s, "g", draw, part, 3, x)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range out.Value() {
				seen[v] = true
			}
		}
	}
	if len(seen) < 23 { // sigma is over 1e5 grid points: two collisions among 24 draws have odds below 1e-6
		t.Errorf("%d different values of 24", len(seen))
	}
}
