package mechanism

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// tallyOf counts records in two joint tables of 3 cells, with shares .3 and .7, and a separate one of 2. Record r is
// in cells r%4 and r/4%4, where the value 3 means no cell. If r/16 is 0 or 1, the record is in the separate cell of
// that number instead.
func tallyOf(s *Session, rows []int) *Tally {
	t := s.NewTally(
		[]JointTable{{3, .3}, {3, .7}},
		2,
	)
	cells := make([][]uint16, 2)
	apart := []uint16(nil)
	for _, r := range rows {
		cells[0] = append(cells[0], uint16(r%4))
		cells[1] = append(cells[1], uint16(r/4%4))
		apart = append(apart, uint16(r/16))
	}
	if len(rows) > 0 {
		t.Add(cells, apart)
	}
	return t
}

// TestTallySensitivity searches all tables of two records, in every pair of cells, outside all cells and in the
// separate ones, and their neighbours. The declared bound holds and is attained: 1 for an added or removed record and
// sqrt 2 for a replaced one.
func TestTallySensitivity(t *testing.T) {
	for rel, want := range map[budget.Relation]float64{
		budget.AddRemove:                1,
		budget.Substitute:               math.Sqrt2,
		budget.SubstitutePrivateColumns: math.Sqrt2,
	} {
		s := testSession(t, rel, 1)
		worst := 0.
		tally := rememberTables(2, func(table []int) Bounded[Weighted] {
			return tallyOf(s, table).Bound()
		})
		eachNeighbour(2, 48, rel, func(a, b []int) {
			worst = max(worst, weightedChange(tally(a), tally(b)))
		})
		bound := tallyOf(s, nil).Bound()
		got := bound.Sensitivity()
		if got < want || got > want*(1+1e-9) {
			t.Errorf(
				"%v: declared %v, want %v",
				rel, got, want,
			)
		}
		if worst > bound.sens || worst < .999999*bound.sens {
			t.Errorf(
				"%v: largest change %v, declared %v",
				rel, worst, bound.sens,
			)
		}
	}
}

// TestTallyUnits checks that a unit of three records, equal or not, moves the counts by at most three times the bound
// of a record, and that equal ones move them by exactly that.
func TestTallyUnits(t *testing.T) {
	const m = 3
	s := unitSession(t, m, budget.GaussianLeaf("any", 1, 1))
	empty, err := perUnit(s, "any", tallyOf(s, nil).Bound(), L2)
	if err != nil {
		t.Fatal(err)
	}
	worst := 0.
	for at := range 48 * 48 * 48 {
		worst = max(
			worst,
			weightedChange(
				empty,
				tallyOf(
					s,
					[]int{at % 48, at / 48 % 48, at / 48 / 48},
				).Bound(),
			),
		)
	}
	if worst > empty.sens ||
		worst < .999999*empty.sens ||
		empty.Sensitivity() < m {
		t.Errorf(
			"largest change %v, declared %v",
			worst, empty.sens,
		)
	}
}

// TestTallySplits checks that blocks and order do not matter, and that a record of the separate table is in neither
// joint one.
func TestTallySplits(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	r := rand.New(rand.NewPCG(3, 4))
	rows := make([]int, 500)
	for i := range rows {
		rows[i] = r.IntN(48)
	}
	whole := tallyOf(s, rows)
	part := tallyOf(s, rows[300:])
	part.Cells().mergeValues(tallyOf(s, rows[:300]).Cells().copyValues())
	want := make([]int64, 8)
	for _, row := range rows {
		switch a, b := row%4, row/4%4; {
		case row/16 < 2:
			want[6+row/16]++
		default:
			if a < 3 {
				want[a]++
			}
			if b < 3 {
				want[3+b]++
			}
		}
	}
	for i, n := range want {
		if whole.counts[i] != n || part.counts[i] != n {
			t.Errorf(
				"cell %d: %d and %d, want %d",
				i, whole.counts[i],
				part.counts[i], n,
			)
		}
	}
}

// TestTallyNoise checks that released values are in numbers of records, with sqrt(1/share) times the noise in the
// joint cells. The mean square of 4000 draws is within 6 of its standard deviations of the stated variance (false
// alarm below 1e-8).
func TestTallyNoise(t *testing.T) {
	const runs = 500
	priced, err := budget.Calibrate(
		budget.Sequence("run", budget.GaussianLeaf("cells", 1, 1)),
		budget.Target{Epsilon: 1, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	squares := make([]float64, 8)
	scales := []float64(nil)
	for range runs {
		s, err := NewSession(priced.Again())
		if err != nil {
			t.Fatal(err)
		}
		out, noise, err := WeightedGaussian(
			s, "cells",
			tallyOf(s, []int{0, 0, 0}).Bound(),
		)
		if err != nil {
			t.Fatal(err)
		}
		want := 1 / s.Mu("cells")
		for i, sd := range noise.Value() {
			if i < 6 {
				sd *= math.Sqrt([]float64{.3, .7}[i/3])
			}
			if math.Abs(sd/want-1) > 1e-5 {
				t.Fatalf(
					"cell %d: scale %v, want %v",
					i, sd, want,
				)
			}
		}
		scales = noise.Value()
		for i, x := range out.Value() {
			if i == 6 {
				x -= 3
			}
			squares[i] += x * x
		}
	}
	joint := 0.
	apart := (squares[6] + squares[7]) / (2 * runs)
	for i, x := range squares[:6] {
		joint += x / (6 * runs * scales[i] * scales[i])
	}
	if math.Abs(joint-1) > 6*math.Sqrt(2./(6*runs)) ||
		math.Abs(apart/(scales[6]*scales[6])-1) > 6*math.Sqrt(2./(2*runs)) {
		t.Errorf(
			"mean squares %v and %v, want 1 and %v",
			joint, apart, scales[6]*scales[6],
		)
	}
}

func TestTallyRefuses(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	for name, f := range map[string]func(){
		"no table": func() {
			s.NewTally(nil, 3)
		},
		"no share": func() {
			s.NewTally([]JointTable{{2, 0}}, 3)
		},
		"shares above 1": func() {
			s.NewTally([]JointTable{{2, .4}, {2, .7}}, 3)
		},
		"tables missing": func() {
			s.NewTally([]JointTable{{2, .5}, {2, .5}}, 1).Add([][]uint16{{1}}, []uint16{1})
		},
		"lengths": func() {
			s.NewTally(
				[]JointTable{{2, .5}, {2, .5}},
				1,
			).Add(
				[][]uint16{{1}, {1, 0}},
				[]uint16{1},
			)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was accepted", name)
				}
			}()
			f()
		}()
	}
}

// TestTallyEntriesSensitivity searches the same tables for the L1 sensitivity of the entries, which is attained: the sum of the
// shares for an added or removed record, twice that for a replaced one.
func TestTallyEntriesSensitivity(t *testing.T) {
	searchNeighbours(t, 1, 48, .999999, func(s *Session, rows []int) Bounded[Vector] {
		return tallyOf(s, rows).EntryBound()
	})
	for rel, want := range map[budget.Relation]float64{
		budget.AddRemove:                1,
		budget.Substitute:               2,
		budget.SubstitutePrivateColumns: 2,
	} {
		got := tallyOf(testSession(t, rel, 1), nil).EntryBound().Sensitivity()
		if math.Abs(got-want) > 1e-5 {
			t.Errorf(
				"%v: declared %v, want %v",
				rel, got, want,
			)
		}
	}
}

// TestTallyEntriesNoise checks that released entries are numbers of records, with 1/share times the noise in the joint cells. The
// mean square of 500 draws in each cell, whose relative standard deviation is sqrt(5/500) = .1, is within .65 of the stated
// variance (false alarm below 1e-8: a mean of squares of Laplace noise is that far above its mean with odds of about 1e-9).
func TestTallyEntriesNoise(t *testing.T) {
	const runs = 500
	priced, err := budget.Calibrate(budget.Sequence("run",
		budget.PureLeaf("cells", 1, 1).WithStatistic(StatTallyEntries)), budget.Target{Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	squares, scales := make([]float64, 8), []float64(nil)
	for range runs {
		s, err := NewSession(priced.Again())
		if err != nil {
			t.Fatal(err)
		}
		out, noise, err := tallyOf(s, []int{0, 0, 0}).ReleaseEntries(s, "cells")
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range out.Value() {
			if i == 6 { // row 0 is in the first cell of the apart table
				x -= 3
			}
			squares[i] += x * x / runs
		}
		scales = noise.Value()
	}
	for i, share := range []float64{
		.3, .3, .3, .7, .7,
		.7, 1, 1,
	} {
		want := math.Sqrt2 / share
		if math.Abs(scales[i]/want-1) > 1e-5 {
			t.Errorf(
				"cell %d: noise %v, want %v",
				i, scales[i], want,
			)
		}
		ratio := squares[i] / (scales[i] * scales[i])
		if math.Abs(ratio-1) > .65 {
			t.Errorf(
				"cell %d: mean square %v of the stated variance",
				i, ratio,
			)
		}
	}
}
