package causal_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/direction"
	"github.com/dptrain/dptrain/internal/train/causal"
)

// causalTable returns n records in which x causes y and z is independent of both.
func causalTable(t testing.TB, schema dataset.Schema, n int) *dataset.Table {
	t.Helper()
	columns := make([]dataset.ColumnData, len(schema.Columns))
	for j := range columns {
		columns[j].Floats = make([]float64, n)
	}
	noise := func(i, k int) float64 { // uniform in [-1, 1]
		at := math.Mod(
			float64(i+1)*[]float64{.754877666246693, .569840290998053, .437164012}[k],
			1,
		)
		return 2*at - 1
	}
	for i := range n {
		x := noise(i, 0)
		values := []float64{
			x,
			2*x*x - 1 + x/2 + noise(i, 1)/3,
			noise(i, 2),
		}
		for j := range columns {
			columns[j].Floats[i] = values[j]
		}
	}
	out, err := dataset.NewTable(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func schemaOf(declared bool, names ...string) dataset.Schema {
	var s dataset.Schema
	for _, name := range names {
		c := dataset.Column{Name: name}
		if declared {
			c.Ranged = true
			c.Lower = -2
			c.Upper = 2
		}
		s.Columns = append(s.Columns, c)
	}
	return s
}

// TestStudy checks with declared and with undeclared ranges that x is found to cause y and that z depends on neither.
// With 20,000 records and epsilon 4 the noise changes no answer: the closest score is more than 50 standard
// deviations of its change away. An independent pair passes by chance in 2 of 101 cases, so z is tested 5 times and
// may pass twice.
func TestStudy(t *testing.T) {
	for _, declared := range []bool{true, false} {
		s := causal.Study{
			Schema: schemaOf(declared, "x", "y", "z"),
			Budget: budget.Target{Epsilon: 4},
		}
		passed := 0
		for range 5 {
			plan, err := s.Plan()
			if err != nil {
				t.Fatal(err)
			}
			res, err := plan.Run(context.Background(), causalTable(t, s.Schema, 20000))
			if err != nil {
				t.Fatal(err)
			}
			p := res.Pairs[0]
			if p.X != "x" ||
				p.Y != "y" ||
				p.Direction != 1 ||
				p.Vote != 1 ||
				p.Stability < direction.Decided {
				t.Errorf(
					"declared %v: %s and %s: %+v",
					declared, p.X, p.Y, p.Reading,
				)
			}
			n := res.Pairs[0].Total()
			if math.Abs(n-20000) > 200 { // 144 counts with noise of standard deviation 2 at most
				t.Errorf("about %v records", n)
			}
			if res.Pairs[1].Direction != 0 {
				passed++
			}
			for _, p := range res.Pairs {
				for _, c := range p.Counts {
					if c != math.Round(c) {
						t.Fatalf("the count %v is not whole", c)
					}
				}
			}
		}
		if passed > 2 {
			t.Errorf(
				"declared %v: columns without dependence have a direction %d times of 5",
				declared,
				passed,
			)
		}
	}
}

// TestStudyIsTotal checks that any set of records yields an answer and no error.
func TestStudyIsTotal(t *testing.T) {
	inf := math.Inf(1)
	nan := math.NaN()
	for name, values := range map[string][2][]float64{
		"none":     {{}, {}},
		"one":      {{1}, {2}},
		"constant": {{1, 1, 1, 1}, {2, 2, 2, 2}},
		"missing":  {{nan, nan, 1}, {2, nan, nan}},
		"infinite": {
			{inf, -inf, math.MaxFloat64, -math.MaxFloat64},
			{0, inf, 5e-324, math.MaxFloat64},
		},
	} {
		for _, declared := range []bool{true, false} {
			for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
				s := causal.Study{
					Schema: schemaOf(declared, "x", "y"),
					Budget: budget.Target{Epsilon: 1, Relation: rel},
				}
				plan, err := s.Plan()
				if err != nil {
					t.Fatal(err)
				}
				tab, err := dataset.NewTable(
					s.Schema,
					[]dataset.ColumnData{{Floats: values[0]}, {Floats: values[1]}},
					nil,
				)
				if err != nil {
					t.Fatal(err)
				}
				res, err := plan.Run(context.Background(), tab)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for _, x := range res.Pairs[0].Scores {
					if math.IsNaN(x.Forward + x.Backward) {
						t.Errorf("%s: %+v", name, x)
					}
				}
			}
		}
	}
}

// TestPlanRefuses checks that invalid studies are refused before a row is read.
func TestPlanRefuses(t *testing.T) {
	ok := causal.Study{
		Schema: schemaOf(true, "x", "y"),
		Budget: budget.Target{Epsilon: 1},
	}
	many := make([]string, direction.MaxColumns+1)
	for i := range many {
		many[i] = fmt.Sprint("x", i)
	}
	for name, change := range map[string]func(*causal.Study){
		"one column": func(s *causal.Study) {
			s.Schema = schemaOf(true, "x")
		},
		"too many columns": func(s *causal.Study) {
			s.Schema = schemaOf(true, many...)
		},
		"a column twice": func(s *causal.Study) {
			s.Schema = schemaOf(true, "x", "x")
		},
		"few bins": func(s *causal.Study) {
			s.Bins = 3
		},
		"many bins": func(s *causal.Study) {
			s.Bins = 33
		},
		"private columns": func(s *causal.Study) {
			s.Budget.Relation = budget.SubstitutePrivateColumns
		},
		"another unit": func(s *causal.Study) {
			s.Schema.Unit = "who"
		},
		"no unit": func(s *causal.Study) {
			s.Budget.Unit = budget.Unit{Column: "who", MaxRows: 2}
		},
		"unit replaced": func(s *causal.Study) {
			s.Schema.Unit = "who"
			s.Budget.Unit = budget.Unit{Column: "who", MaxRows: 2}
			s.Budget.Relation = budget.Substitute
		},
		"categories": func(s *causal.Study) {
			s.Schema.Columns[1] = dataset.Column{
				Name:       "y",
				Kind:       dataset.Category,
				Categories: []string{"a"},
			}
		},
		"indicator": func(s *causal.Study) {
			s.Schema.Columns[1].Indicator = true
		},
		"unknown score": func(s *causal.Study) {
			s.Score = "magic"
			s.Budget.Relation = budget.Substitute
		},
		"test alone": func(s *causal.Study) {
			s.TestOnly = true
		},
		"anm, add-remove": func(s *causal.Study) {
			s.Score = direction.HSIC
		},
		"anm, kendall": func(s *causal.Study) {
			s.Score = direction.Kendall
			s.Budget.Relation = budget.Substitute
		},
		"anm, three": func(s *causal.Study) {
			s.Schema = schemaOf(true, "x", "y", "z")
			s.Score = direction.HSIC
			s.Budget.Relation = budget.Substitute
		},
		"anm, bins": func(s *causal.Study) {
			s.Score = direction.HSIC
			s.Budget.Relation = budget.Substitute
			s.Bins = 8
		},
		"anm, ranges": func(s *causal.Study) {
			s.Schema = schemaOf(false, "x", "y")
			s.Score = direction.HSIC
			s.Budget.Relation = budget.Substitute
		},
		"lambda": func(s *causal.Study) {
			s.Lambda = 1
		},
		"lambda too small": func(s *causal.Study) {
			s.Score = direction.HSIC
			s.Budget.Relation = budget.Substitute
			s.Lambda = 1e-5
		},
		"lambda not number": func(s *causal.Study) {
			s.Score = direction.HSIC
			s.Budget.Relation = budget.Substitute
			s.Lambda = math.NaN()
		},
		"empty range": func(s *causal.Study) {
			s.Schema.Columns[1].Upper = -2
		},
	} {
		s := ok
		s.Schema = s.Schema.Clone()
		change(&s)
		_, err := s.Plan()
		if !errors.Is(err, causal.ErrStudy) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ok.Plan(); err != nil {
		t.Error(err)
	}
}

// TestBaselineNoiseFollowsLambda checks that the noise of the baseline follows its penalty, as does the bound for a
// training record: half the penalty means about twice the noise. From a strong penalty on, only the bound for a test
// record counts.
func TestBaselineNoiseFollowsLambda(t *testing.T) {
	scale := func(lambda float64) float64 {
		s := causal.Study{
			Schema: schemaOf(true, "x", "y"),
			Budget: budget.Target{Epsilon: 1, Relation: budget.Substitute},
			Score:  direction.HSIC,
			Lambda: lambda,
		}
		plan, err := s.Plan()
		if err != nil {
			t.Fatal(err)
		}
		res, err := plan.Run(context.Background(), causalTable(t, s.Schema, 400))
		if err != nil {
			t.Fatal(err)
		}
		return res.Pairs[0].Baseline.Scale
	}
	usual := scale(0)
	// Each run draws the training records from the 400 records: 200, give or take 60.
	for _, c := range []struct{ lambda, least, most float64 }{
		{.5, .5, 2},
		{.25, 1.2, 4.5},
		{1, .2, .85},
	} {
		got := scale(c.lambda) / usual
		if got < c.least || got > c.most {
			t.Errorf(
				"lambda %v: %v times the noise of the default",
				c.lambda, got,
			)
		}
	}
	a := scale(100)
	b := scale(1000)
	if a > .9*usual || a/b > 2 || b/a > 2 {
		t.Errorf(
			"strong penalties have noise %v and %v, the default %v",
			a, b, usual,
		)
	}
}

// TestGaussianForManyPairs checks that many pairs use Gaussian noise if there is a delta and as soon as that noise is
// the smaller one.
func TestGaussianForManyPairs(t *testing.T) {
	var names []string
	for i := range 8 {
		names = append(names, fmt.Sprint("x", i))
	}
	for _, c := range []struct {
		columns int
		delta   float64
		want    budget.Kind
	}{
		{2, 0, budget.Pure},
		{2, 1e-6, budget.Pure},
		{8, 0, budget.Pure},
		{8, 1e-6, budget.Gaussian},
	} {
		s := causal.Study{
			Schema: schemaOf(true, names[:c.columns]...),
			Budget: budget.Target{Epsilon: 1, Delta: c.delta},
			Bins:   8,
		}
		plan, err := s.Plan()
		if err != nil {
			t.Fatal(err)
		}
		leaves := plan.Leaves()
		want := c.columns * (c.columns - 1) / 2
		if len(leaves) != want || leaves[0].Law.Kind != c.want {
			t.Errorf(
				"%d columns, delta %v: %d steps, the first is %v",
				c.columns,
				c.delta,
				len(leaves),
				leaves[0].Law.Kind,
			)
		}
	}
}

// TestEpsilonSharesMatchPlan checks that epsilon is divided among ranges, the count and the histograms as documented.
func TestEpsilonSharesMatchPlan(t *testing.T) {
	for _, delta := range []float64{0, 1e-6} {
		s := causal.Study{
			Schema: schemaOf(false, "x", "y"),
			Budget: budget.Target{Epsilon: 1, Delta: delta},
		}
		plan, err := s.Plan()
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.
		for _, l := range plan.Leaves() {
			sum += l.Law.Epsilon
		}
		for _, l := range plan.Leaves() {
			want := map[string]float64{
				"count":     .02,
				"pair-1":    .68,
				"exponents": .1,
				"bins":      .1,
				"fine-bins": .1,
			}[path.Base(l.Path)]
			got := l.Law.Epsilon / sum
			if math.Abs(got-want) > 1e-6 {
				t.Errorf(
					"delta %v: %s has %v of epsilon, want %v",
					delta, l.Path, got, want,
				)
			}
		}
	}
}

// TestUnitsPayMore checks that the noise covers a whole unit.
func TestUnitsPayMore(t *testing.T) {
	s := causal.Study{
		Schema: schemaOf(true, "x", "y"),
		Budget: budget.Target{
			Epsilon: 1,
			Unit:    budget.Unit{Column: "who", MaxRows: 3},
		},
		Bins: 8,
	}
	s.Schema.Unit = "who"
	plan, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	ids := []uint64{1, 1, 1, 1, 2, dataset.NoUnit}
	tab, err := dataset.NewTable(
		s.Schema,
		[]dataset.ColumnData{
			{Floats: make([]float64, 6)},
			{Floats: make([]float64, 6)},
		},
		ids,
	)
	if err != nil {
		t.Fatal(err)
	}
	res, err := plan.Run(context.Background(), tab)
	if err != nil {
		t.Fatal(err)
	}
	e := res.Events[0]
	if e.Sensitivity != 3 ||
		math.Abs(e.Scale-3) > 1e-4 ||
		math.Abs(res.Pairs[0].Noise.Scale-3) > 1e-4 {
		t.Errorf(
			"%+v, noise %+v",
			e, res.Pairs[0].Noise,
		)
	}
	if res.Curator.TrainRows != 4 {
		t.Errorf(
			"%d records kept, want 4",
			res.Curator.TrainRows,
		)
	}
}

// TestRehearse checks that noise beyond the grid is refused before any budget is spent.
func TestRehearse(t *testing.T) {
	s := causal.Study{
		Schema: schemaOf(true, "x", "y"),
		Budget: budget.Target{Epsilon: 1e-10},
		Bins:   8,
	}
	plan, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Rehearse(context.Background()); !errors.Is(err, mechanism.ErrScale) {
		t.Errorf("error %v", err)
	}
}

// BenchmarkRun counts and reads 10^7 records.
func BenchmarkRun(b *testing.B) {
	s := causal.Study{
		Schema: schemaOf(true, "x", "y"),
		Budget: budget.Target{Epsilon: 1},
	}
	tab := causalTable(b, s.Schema, 1e7)
	b.ResetTimer()
	for range b.N {
		plan, err := s.Plan()
		if err == nil {
			_, err = plan.Run(context.Background(), tab)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
