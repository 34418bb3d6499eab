package pipeline

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/logistic"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/svm"
	"github.com/dptrain/dptrain/internal/train/tukey"
	"github.com/dptrain/dptrain/regression"
)

// searchPipeline returns a table of n records whose target is a non-linear function of its first column, and a pipeline
// that searches among three models for it.
func searchPipeline(t testing.TB, n int) (*Pipeline, *dataset.Table) {
	t.Helper()
	schema := dataset.Schema{}
	cols := make([]dataset.ColumnData, 5)
	for j, name := range []string{
		"a", "b", "c", "d",
		"y",
	} {
		schema.Columns = append(
			schema.Columns,
			dataset.Column{
				Name:   name,
				Ranged: true,
				Lower:  -1,
				Upper:  1,
			},
		)
		for i := range n {
			cols[j].Floats = append(
				cols[j].Floats,
				math.Sin(float64(i*(j+3)+j)),
			)
		}
	}
	for i := range n {
		cols[4].Floats[i] = math.Abs(cols[0].Floats[i]) - .5
	}
	tab, err := dataset.NewTable(schema, cols, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Pipeline{
		Schema:  schema,
		Target:  "y",
		Holdout: .2,
		Budget:  budget.Target{Epsilon: 3, Delta: 1e-6},
		Search: &Search{
			Runs:    4,
			Holdout: .2,
			Candidates: []Candidate{
				{Model: adassp.JointGram{}},
				{Selector: selection.Kendall{K: 2}, Model: boosting.BoostedAdaSSP{}},
				{Selector: selection.None{}, Model: boosting.Additive{}},
			},
		},
	}, tab
}

// TestSearchPlan checks that every candidate trains and scores, that all candidates together cost as much as a try
// may, and that the held-out part keeps the whole budget.
func TestSearchPlan(t *testing.T) {
	p, _ := searchPipeline(t, 1)
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if plan.Method() != SearchMethod {
		t.Errorf("method %q", plan.Method())
	}
	law, names, ok := plan.Selection("fit/train")
	if !ok ||
		law.Eta != 0 ||
		math.Abs(law.Mean()-4) > 1e-9 ||
		!slices.Equal(
			names,
			[]string{"candidate-1", "candidate-2", "candidate-3"},
		) {
		t.Errorf(
			"the selection: %+v, %v, %v",
			law, names, ok,
		)
	}
	g := plan.Guarantee()
	if g.Spent > 3 ||
		g.Spent < 3*(1-1e-6) ||
		math.IsInf(g.Mu, 1) {
		t.Errorf("guarantee %+v", g)
	}
	square := map[string]float64{}
	for _, l := range plan.Leaves() {
		rho, delta := l.Law.ZCDP()
		if delta != 0 {
			t.Errorf("%s has delta %v", l.Path, delta)
		}
		at := l.Place
		if at.Part == AllName { // the count of targets, before the parts
			continue
		}
		square[at.Candidate+" "+at.Part] += rho
		if (at.Candidate == "") != (l.Candidate == "") ||
			at.Candidate != "" && l.Candidate != "fit/train/"+at.Candidate {
			t.Errorf(
				"%s: place %+v, candidate %q",
				l.Path, at, l.Candidate,
			)
		}
	}
	if len(square) != 7 {
		t.Fatalf("parts %v", square)
	}
	for part, rho := range square {
		want := square["candidate-1 train"]
		if part != " holdout" && math.Abs(rho/want-1) > 1e-9 {
			t.Errorf(
				"%s costs rho %v, not %v",
				part, rho, want,
			)
		}
	}
	// Searching has a price: a try has a smaller budget than a run alone, and a larger one than under composition of
	// the average number of runs.
	alone, err := p.candidate(0).Plan()
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := alone.Law("fit/train/model/gram")
	try, _ := plan.Law("fit/train/candidate-1/train/model/gram")
	ratio := try.Mu / whole.Mu
	if ratio > .9 || ratio < 1/math.Sqrt(4) {
		t.Errorf(
			"a try has %v of the mu of a run",
			ratio,
		)
	}
	metric, _ := alone.Law("fit/holdout/r2/sums")
	held, _ := plan.Law("fit/holdout/r2/sums")
	if held != metric {
		t.Errorf(
			"the held-out metric has %+v, without a search %+v",
			held, metric,
		)
	}
}

// TestSearchIsRefused checks that a search that cannot be priced or carried out is refused before any row is read.
func TestSearchIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *Pipeline)
		want   error
		says   string
	}{
		"one candidate": {
			func(p *Pipeline) {
				p.Search.Candidates = p.Search.Candidates[:1]
			},
			ErrSearch,
			"2 to 64",
		},
		"too many": {
			func(p *Pipeline) {
				p.Search.Candidates = make([]Candidate, MaxCandidates+1)
			},
			ErrSearch,
			"2 to 64",
		},
		"one run": {func(p *Pipeline) {
			p.Search.Runs = 1
		}, ErrSearch, "above 1"},
		"many runs": {func(p *Pipeline) {
			p.Search.Runs = 1001
		}, ErrSearch, "1000"},
		"no number": {
			func(p *Pipeline) {
				p.Search.Runs = math.NaN()
			},
			ErrSearch,
			"above 1",
		},
		"no scoring": {
			func(p *Pipeline) {
				p.Search.Holdout = 0
			},
			ErrSearch,
			"used for scoring",
		},
		"all scoring": {
			func(p *Pipeline) {
				p.Search.Holdout = .6
			},
			ErrSearch,
			"used for scoring",
		},
		"basic": {
			func(p *Pipeline) {
				p.Budget.Composition = budget.Basic
			},
			ErrSearch,
			"tight",
		},
		"pure": {
			func(p *Pipeline) {
				p.Budget.Delta = 0
			},
			ErrSearch,
			"delta must be above 0",
		},
		"model outside": {
			func(p *Pipeline) {
				p.Model = adassp.JointGram{}
			},
			ErrSearch,
			"candidates",
		},
		"select outside": {
			func(p *Pipeline) {
				p.Selector = selection.None{}
			},
			ErrSearch,
			"candidates",
		},
		"share outside": {
			func(p *Pipeline) {
				p.SelectionShare = .2
			},
			ErrSearch,
			"candidates",
		},
		"tukey": {
			func(p *Pipeline) {
				p.Search.Candidates[1].Model = tukey.Tukey{}
			},
			ErrSearch,
			"candidates[1]",
		},
		"twice": {
			func(p *Pipeline) {
				p.Search.Candidates[2] = p.Search.Candidates[0]
			},
			ErrSearch,
			"1 and 3",
		},
		"unknown": {
			func(p *Pipeline) {
				p.Search.Candidates[1].Model = defaultTrainer("nonprivate-ols")
			},
			ErrModel,
			"candidates[1]",
		},
		"classes": {
			func(p *Pipeline) {
				p.Search.Candidates[0].Model = svm.SVM{}
			},
			ErrModel,
			"candidates[0]",
		},
		"share": {
			func(p *Pipeline) {
				p.Search.Candidates[1].SelectionShare = 2
			},
			ErrShare,
			"candidates[1]",
		},
	} {
		p, _ := searchPipeline(t, 1)
		c.change(p)
		_, err := p.Plan()
		if !errors.Is(err, c.want) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSearchResult checks that the result is that of one candidate, and that the run spends the planned budget.
func TestSearchResult(t *testing.T) {
	p, tab := searchPipeline(t, 6000)
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		var stages []string
		res, err := p.FitPlan(
			context.Background(),
			plan.Again(),
			tab,
			Options{Progress: func(s string) {
				stages = append(stages, s)
			}},
		)
		if err != nil {
			t.Fatal(err)
		}
		x := res.Search
		got := p.Search.Candidates[x.Chosen].ModelName()
		if res.Method != got || res.Model == nil || res.R2 == nil {
			t.Errorf(
				"candidate %d: method %q, model %v, R² %v",
				x.Chosen,
				res.Method,
				res.Model,
				res.R2,
			)
		}
		want := []string{"check", "split", "search", heldOutStage}
		if !slices.Equal(stages, want) {
			t.Errorf("stages %q", stages)
		}
		for _, e := range res.Events {
			at := e.Place
			ran := at.Candidate == "" ||
				at.Candidate == CandidateName(x.Chosen)
			if ran && e.Released != e.Law.Draws ||
				!ran && (e.Released != 0 || e.Scale != 0 || e.Sensitivity != 0) {
				t.Errorf(
					"candidate %d: %+v",
					x.Chosen, e,
				)
			}
		}
		c := res.Curator
		if c.Rows != 6000 ||
			c.TrainRows+c.HoldoutRows != 6000 ||
			c.ScoreRows < 700 ||
			c.ScoreRows > 1300 {
			t.Errorf("rows %+v", c)
		}
	}
}

// TestSearchOfClasses searches with two classes, where one candidate chooses automatically.
func TestSearchOfClasses(t *testing.T) {
	p, tab := searchPipeline(t, 3000)
	p.Task = regression.TaskClassification
	p.Schema.Columns[4] = dataset.Column{
		Name:       "y",
		Kind:       dataset.Category,
		Categories: []string{"no", "yes"},
	}
	p.Search.Candidates = []Candidate{
		{Model: nil},
		{Model: logistic.Logistic{}},
		{Model: svm.SVM{}},
		{Selector: selection.Kendall{K: 2}, Model: boosting.Additive{}},
	}
	cols := make([]dataset.ColumnData, 5)
	for j := range 4 {
		cols[j].Floats = tab.Float(j)
	}
	for _, y := range tab.Float(4) {
		code := int32(0)
		if y > 0 {
			code = 1
		}
		cols[4].Codes = append(cols[4].Codes, code)
	}
	classes, err := dataset.NewTable(p.Schema, cols, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(plan.Leaves(), func(l budget.PricedLeaf) bool {
		return l.Place == budget.Place{
			Part:      "train",
			Candidate: "candidate-1",
			Branch:    logisticBranch,
			Stage:     modelNode,
		}
	}) {
		t.Error("auto has no branches in the search")
	}
	// No candidate is tried at all in more than .6 of the runs, so one wins them all with a
	// probability below 1e-8.
	seen := map[int]bool{}
	for n := 0; n < 40 && (n < 4 || len(seen) < 2); n++ {
		res, err := p.FitPlan(
			context.Background(), plan.Again(), classes,
			Options{},
		)
		if err != nil {
			t.Fatal(err)
		}
		if res.Confusion == nil ||
			!(res.Search.Score >= 0 && res.Search.Score <= 1) {
			t.Errorf(
				"accuracy %+v, score %v",
				res.Confusion, res.Search.Score,
			)
		}
		seen[res.Search.Chosen] = true
	}
	if len(seen) < 2 {
		t.Errorf("candidates that won: %v", seen)
	}
}

// TestSearchUnits checks that, if units are protected, all records of a unit are used for training, for scoring, or
// in the held-out part.
func TestSearchUnits(t *testing.T) {
	p, tab := patientsPipeline(t, 2000, 3, func(i int) uint64 {
		return uint64(i / 5)
	})
	p.Model = nil
	p.Search = &Search{
		Runs:    3,
		Holdout: .3,
		Candidates: []Candidate{
			{Model: adassp.JointGram{}},
			{Model: adassp.AdaSSP{}},
		},
	}
	res, err := p.Fit(context.Background(), tab, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := res.Curator
	if c.TrainRows%3 != 0 ||
		c.ScoreRows%3 != 0 ||
		c.HoldoutRows%3 != 0 ||
		c.ScoreRows == 0 ||
		c.TrainRows+c.HoldoutRows != 1200 {
		t.Errorf(
			"rows %+v: units of three records are torn apart",
			c,
		)
	}
}

// TestSearchIsCancelled checks that a search ends with its context.
func TestSearchIsCancelled(t *testing.T) {
	p, tab := searchPipeline(t, 500)
	p.Search.Runs = MaxRuns
	ctx, cancel := context.WithCancel(context.Background())
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.FitPlan(ctx, plan, tab, Options{Progress: func(stage string) {
		if stage == "search" {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
