package mechanism

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// TestSizeCountsSensitivity searches the two bins of a record and the cell for records without a size, including the
// corners. The bound is attained.
func TestSizeCountsSensitivity(t *testing.T) {
	const bins = 3
	searchNeighbours(t, 2, bins*bins+2, .999999, func(s *Session, rows []int) Bounded[Vector] {
		c := s.NewSizeCounts(bins)
		for _, r := range rows {
			switch r {
			case bins * bins:
				c.Add([]uint16{NoSize}, []uint16{1})
			case bins*bins + 1:
				c.Add([]uint16{NoSize - 1}, []uint16{NoSize}) // beyond all bins
			default:
				c.Add(
					[]uint16{uint16(r % bins)},
					[]uint16{uint16(r / bins)},
				)
			}
		}
		return c.boundCounts()
	})
	for rel, want := range map[budget.Relation]float64{
		budget.AddRemove:  1.118034,
		budget.Substitute: 1.581139,
	} {
		got := testSession(t, rel, 1).NewSizeCounts(2).boundCounts().Sensitivity()
		if math.Abs(got-want) > 5e-7 {
			t.Errorf(
				"%v: %v, want %v",
				rel, got, want,
			)
		}
	}
}

// TestSizeEntriesSensitivity searches the same records for the L1 sensitivity of the counts with Laplace noise, which is attained.
func TestSizeEntriesSensitivity(t *testing.T) {
	const bins = 3
	searchNeighbours(t, 2, bins*bins+1, .999999, func(s *Session, rows []int) Bounded[Vector] {
		c := s.NewSizeCounts(bins)
		for _, r := range rows {
			first := uint16(r % bins)
			if r == bins*bins {
				first = NoSize
			}
			c.Add([]uint16{first}, []uint16{uint16(r / bins)})
		}
		return c.entryBound()
	})
	for rel, want := range map[budget.Relation]float64{
		budget.AddRemove: 1.5, budget.Substitute: 3,
	} {
		got := testSession(t, rel, 1).NewSizeCounts(2).entryBound().Sensitivity()
		if got != want {
			t.Errorf(
				"%v: %v, want %v",
				rel, got, want,
			)
		}
	}
}

// TestSizeEntriesRelease checks that each cell is divided by its weight and has its own noise. With a scale of .0015 a cell of the
// second size is off by .1 with odds below 1e-13.
func TestSizeEntriesRelease(t *testing.T) {
	priced, err := budget.Calibrate(budget.Sequence("run",
		budget.PureLeaf("leaf", 1, 1).WithStatistic(StatSizeEntries)), budget.Target{Epsilon: 1000})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	c := s.NewSizeCounts(2)
	c.Add(
		[]uint16{0, 0, 9, NoSize},
		[]uint16{1, 1, 0, 0},
	)
	released, err := c.ReleaseEntries(s, "leaf")
	if err != nil {
		t.Fatal(err)
	}
	got := released.Value()
	cells := append(
		append(append([]float64(nil), got.First...), got.Second...),
		got.Missing,
	)
	for k, want := range []float64{2, 1, 1, 2, 1} {
		if math.Abs(cells[k]-want) > .1 {
			t.Errorf(
				"cell %d is %v, want %v",
				k, cells[k], want,
			)
		}
	}
	want := math.Sqrt2 * .0015
	if math.Abs(got.FirstNoise/want-1) > 1e-3 ||
		got.SecondNoise != 2*got.FirstNoise || !got.Laplace {
		t.Errorf("%+v", got)
	}
}

// TestSizeCountsOfMissing checks that a record without a size moves the counts by as much as one with sizes, up to
// the rounding of its weight, and changes only its own cell.
func TestSizeCountsOfMissing(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	none := s.NewSizeCounts(4)
	one := s.NewSizeCounts(4)
	one.Add([]uint16{NoSize}, []uint16{3})
	got := changeNorm(none.boundCounts(), one.boundCounts()) / one.boundCounts().sens
	if got > 1 || got < 1-1e-6 {
		t.Errorf(
			"a record without a size moves the counts by %v of the bound",
			got,
		)
	}
	merged := s.NewSizeCounts(4)
	merged.Cells().mergeValues(one.Cells().copyValues())
	merged.Cells().mergeValues(one.Cells().copyValues())
	if merged.missing[0] != 2 || merged.first[3] != 0 {
		t.Errorf("merged: %+v", merged)
	}
}

// TestSizeCountsRelease checks that each cell is divided by its weight and has its own noise. With a deviation below
// .0023 the counts are exact to .02, nearly nine deviations (odds below 1e-16).
func TestSizeCountsRelease(t *testing.T) {
	s := preciseSession(t, budget.AddRemove, 1000)
	c := s.NewSizeCounts(3)
	c.Add(
		[]uint16{0, 0, 2, 9, NoSize},
		[]uint16{1, 2, 2, 7, 0},
	)
	released, err := c.Release(s, "leaf")
	if err != nil {
		t.Fatal(err)
	}
	got := released.Value()
	for k, want := range []float64{2, 0, 2, 0, 1, 3, 1} {
		v := append(append([]float64(nil), got.First...), got.Second...)
		if v = append(v, got.Missing); math.Abs(v[k]-want) > .02 {
			t.Errorf(
				"cell %d is %v, want %v",
				k, v[k], want,
			)
		}
	}
	if math.Abs(got.SecondNoise/got.FirstNoise-2) > 1e-9 ||
		math.Abs(got.FirstNoise/got.MissingNoise-math.Sqrt(1.25)) > 1e-6 {
		t.Errorf("noise %+v", got)
	}
}

// TestSizeCountsNoise checks the standard deviations of the specification at mu = 1, with a share of a quarter of
// mu^2.
func TestSizeCountsNoise(t *testing.T) {
	for rel, want := range map[budget.Relation]float64{
		budget.AddRemove:  2.236068,
		budget.Substitute: 3.162278,
	} {
		s := preciseSession(t, rel, .5)
		released, err := s.NewSizeCounts(2).Release(s, "leaf")
		if err != nil {
			t.Fatal(err)
		}
		got := released.Value().FirstNoise
		if math.Abs(got-want) > 2e-6 {
			t.Errorf(
				"%v: %v, want %v",
				rel, got, want,
			)
		}
	}
}

// preciseSession opens a session with one Gaussian leaf, "leaf", with the given mu.
func preciseSession(t testing.TB, rel budget.Relation, mu float64) *Session {
	t.Helper()
	p, err := budget.Calibrate(
		budget.Sequence("run",
			budget.FixedLeaf("leaf", budget.Law{
				Kind:  budget.Gaussian,
				Mu:    mu,
				Draws: 1,
			}),
			budget.GaussianLeaf("rest", 1, 1),
		),
		budget.Target{
			Epsilon:  max(10, mu*mu),
			Delta:    1e-6,
			Relation: rel,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
