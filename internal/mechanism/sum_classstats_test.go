package mechanism

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
)

// weightedChange is the change between two bounded values in their own norm.
func weightedChange(a, b Bounded[Weighted]) float64 {
	sum := 0.0
	for k, w := range a.value.Weights {
		d := w * float64(b.value.Values[k]-a.value.Values[k])
		sum += d * d
	}
	return math.Sqrt(sum)
}

// classStatsOf returns the statistics of records: record r is row r/(classes+1) in class r%(classes+1), and the last
// of these classes is a missing one.
func classStatsOf(
	s *Session,
	limit float64,
	w ClassWeights,
	rows [][]int16,
	classes int,
	records []int,
) Bounded[Weighted] {
	c := s.NewClassStats(len(rows[0]), classes, limit, w)
	block := make([][]int16, len(rows[0]))
	codes := []int32(nil)
	for _, r := range records {
		for j, v := range rows[r/(classes+1)] {
			block[j] = append(block[j], v)
		}
		codes = append(codes, int32(r%(classes+1)))
	}
	c.Add(block, codes)
	return c.Bound()
}

// TestClassStatsSensitivity searches rows of every direction below, at and above the limit, in two classes and
// without a class, under weights that make each case of the derivation the largest. The bound is never exceeded. It
// is always attained under add-remove, and otherwise where records of two classes determine it.
func TestClassStatsSensitivity(t *testing.T) {
	var rows [][]int16
	for _, x := range []int16{-FixedOne, -9000, 0, 8192, FixedOne} {
		for _, y := range []int16{-FixedOne, 0, 5000, FixedOne} {
			rows = append(rows, []int16{x, y})
		}
	}
	for _, c := range []struct {
		weights ClassWeights
		reached float64 // under substitution
	}{
		{ClassWeights{}, .9999},
		{ClassWeights{3, 1, 1, 1}, .9999},
		{ClassWeights{.1, 1, .01, 1}, .94}, // one class: a third of a turn and more apart
		{ClassWeights{.1, 3, .01, 1}, .99}, // one class: x and -x
		{ClassWeights{.1, .1, 1, .1}, .9999},
	} {
		for _, limit := range []float64{.25, 1, 2} {
			for _, rel := range bothRelations() {
				t.Run(fmt.Sprint(c.weights, limit, rel), func(t *testing.T) {
					s := testSession(t, rel, 1)
					worst := 0.0
					sens := 0.0
					stats := rememberTables(1, func(table []int) Bounded[Weighted] {
						return classStatsOf(s, limit, c.weights, rows, 2, table)
					})
					eachNeighbour(1, 3*len(rows), rel, func(a, b []int) {
						x := stats(a)
						y := stats(b)
						worst = max(worst, weightedChange(x, y))
						sens = x.sens
					})
					reached := c.reached
					if rel == budget.AddRemove {
						reached = .9999
					}
					if worst > sens || worst < reached*sens {
						t.Errorf("largest change %v, declared %v", worst, sens)
					}
				})
			}
		}
	}
}

// TestClassStatsAnyRows checks that random pairs of rows of several entries, at the limit and elsewhere, never exceed
// the bound.
func TestClassStatsAnyRows(t *testing.T) {
	for _, rel := range bothRelations() {
		s := testSession(t, rel, 1)
		rapid.Check(t, func(t *rapid.T) {
			limit := rapid.Float64Range(.01, 6).Draw(t, "limit")
			weight := rapid.Float64Range(.05, 3)
			w := ClassWeights{weight.Draw(t, "a"), weight.Draw(t, "b"), weight.Draw(t, "c"),
				weight.Draw(t, "g")}
			p := rapid.IntRange(1, 5).Draw(t, "p")
			row := rapid.SliceOfN(rapid.Int16(), p, p)
			rows := [][]int16{
				row.Draw(t, "x"),
				row.Draw(t, "y"),
			}
			record := rapid.IntRange(0, 3)
			a := []int{record.Draw(t, "k")}
			b := []int{4 + record.Draw(t, "l")}
			if rel == budget.AddRemove {
				b = nil
			}
			x := classStatsOf(s, limit, w, rows, 3, a)
			y := classStatsOf(s, limit, w, rows, 3, b)
			got := weightedChange(x, y)
			if got > x.sens {
				t.Fatalf("change %v above %v", got, x.sens)
			}
		})
	}
}

// TestClassStatsSensitivityValues reproduces the test values of the specification.
func TestClassStatsSensitivityValues(t *testing.T) {
	for rel, want := range map[budget.Relation]float64{
		budget.AddRemove:                math.Sqrt(2.74),
		budget.Substitute:               math.Sqrt(5.48),
		budget.SubstitutePrivateColumns: math.Sqrt(5.48),
	} {
		got := DefaultClassWeights().l2Sensitivity(rel)
		if math.Abs(got-want) > 1e-9 {
			t.Errorf(
				"%v: %v, want %v",
				rel, got, want,
			)
		}
	}
	got := testSession(t, budget.AddRemove, 1).NewClassStats(7, 3, 1.4, ClassWeights{}).Bound().Sensitivity()
	if math.Abs(got-1.655295) > 1e-6 {
		t.Errorf("D is %v, want 1.655295", got)
	}
	// The bound of the specification under substitution is valid; this one is
	// never above it.
	rapid.Check(t, func(t *rapid.T) {
		weight := rapid.Float64Range(.01, 5)
		w := ClassWeights{weight.Draw(t, "a"), weight.Draw(t, "b"), weight.Draw(t, "c"),
			weight.Draw(t, "g")}
		a := w.Counts * w.Counts
		b := w.Sums * w.Sums
		c := w.Squares * w.Squares
		g := w.Products * w.Products
		if got, loose := w.l2Sensitivity(budget.Substitute),
			math.Sqrt(2*max(a, b)+2*(b+c+g)); got > loose*(1+1e-12) {
			t.Fatalf("%v above %v", got, loose)
		}
	})
}

// classSession has a Gaussian leaf "stats" priced at an epsilon.
func classSession(t testing.TB, epsilon float64, rel budget.Relation) *Session {
	t.Helper()
	priced, err := budget.Calibrate(
		budget.Sequence("run", budget.GaussianLeaf("stats", 1, 1)),
		budget.Target{
			Epsilon:  epsilon,
			Delta:    1e-6,
			Relation: rel,
		},
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

// TestClassStatsValues compares the sums of a small table, computed by hand, with a release whose noise is below a
// thousandth of an entry.
func TestClassStatsValues(t *testing.T) {
	s := classSession(t, 1e9, budget.AddRemove)
	a := s.NewClassStats(2, 2, 4, ClassWeights{})
	b := s.NewClassStats(2, 2, 4, ClassWeights{})
	const one, half = FixedOne, FixedOne / 2
	a.Add(
		[][]int16{{one, half, -one}, {half, 0, one}},
		[]int32{0, 1, 2},
	)
	b.Add(
		[][]int16{{-half, one}, {one, 0}},
		[]int32{1, -1},
	)
	a.Cells().mergeValues(b.Cells().copyValues())
	released, err := a.Release(s, "stats")
	if err != nil {
		t.Fatal(err)
	}
	m := released.Value()
	for name, c := range map[string]struct{ got, want []float64 }{
		"counts":    {m.Counts, []float64{1, 2}},
		"products":  {m.Products, []float64{1.5, 0, 1.25}},
		"sums 0":    {m.Sums[0], []float64{1, .5}},
		"sums 1":    {m.Sums[1], []float64{0, 1}},
		"squares 0": {m.Squares[0], []float64{1, .25}},
		"squares 1": {m.Squares[1], []float64{.5, 1}},
	} {
		if len(c.got) != len(c.want) {
			t.Fatalf(
				"%s: %v, want %v",
				name, c.got, c.want,
			)
		}
		for i, w := range c.want {
			if math.Abs(c.got[i]-w) > .01 {
				t.Errorf(
					"%s: %v, want %v",
					name, c.got, c.want,
				)
			}
		}
	}
	if _, err := a.Release(s, "stats"); !errors.Is(err, ErrSpent) {
		t.Errorf("second release: %v", err)
	}
}

// TestClassStatsNoise checks that the deviations are D/mu divided by the weight of each block, and that the observed
// noise has them. The mean square of 3000 normal numbers is within [.86, 1.15] of its expectation with probability
// above 1-1e-6.
func TestClassStatsNoise(t *testing.T) {
	const p, classes, limit = 90, 40, 4
	s := classSession(t, 1, budget.AddRemove)
	c := s.NewClassStats(p, classes, limit, ClassWeights{})
	released, err := c.Release(s, "stats")
	if err != nil {
		t.Fatal(err)
	}
	m := released.Value()
	noise := DefaultClassWeights().l2Sensitivity(budget.AddRemove) / s.Mu("stats")
	for name, c := range map[string]struct{ got, want float64 }{
		"count":   {m.CountNoise, noise / .5},
		"sum":     {m.SumNoise, noise * 2},
		"square":  {m.SquareNoise, noise * 2 / .7},
		"product": {m.ProductNoise, noise * 4},
	} {
		if math.Abs(c.got/c.want-1) > 1e-3 {
			t.Errorf(
				"%s noise %v, want %v",
				name, c.got, c.want,
			)
		}
	}
	var offDiagonal []float64
	for i, k := 0, 0; i < p; i, k = i+1, k+p-i {
		offDiagonal = append(offDiagonal, m.Products[k+1:k+p-i]...)
	}
	for name, c := range map[string]struct {
		values []float64
		std    float64
	}{
		"sums":     {slices.Concat(m.Sums...), m.SumNoise},
		"squares":  {slices.Concat(m.Squares...), m.SquareNoise},
		"products": {offDiagonal, m.ProductNoise / math.Sqrt2},
	} {
		square := 0.0
		for _, v := range c.values {
			square += v * v / (c.std * c.std) / float64(len(c.values))
		}
		if len(c.values) < 3000 || square < .86 || square > 1.15 {
			t.Errorf(
				"%s: mean square of %d is %v of the claimed one",
				name,
				len(c.values),
				square,
			)
		}
	}
}

func TestClassStatsMisuse(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	for name, f := range map[string]func(){
		"columns": func() {
			s.NewClassStats(2, 2, 1, ClassWeights{}).Add(
				[][]int16{{1}},
				[]int32{0},
			)
		},
		"lengths": func() {
			s.NewClassStats(2, 2, 1, ClassWeights{}).Add(
				[][]int16{{1}, {1, 2}},
				[]int32{0},
			)
		},
		"classes": func() {
			s.NewClassStats(1, 2, 1, ClassWeights{}).Add(
				[][]int16{{1}},
				[]int32{0, 1},
			)
		},
		"limit": func() {
			s.NewClassStats(1, 2, math.NaN(), ClassWeights{})
		},
		"weight": func() {
			s.NewClassStats(1, 2, 1, ClassWeights{1, 1, 0, 1})
		},
		"inf": func() {
			s.NewClassStats(1, 2, 1, ClassWeights{1, 1, math.Inf(1), 1})
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
