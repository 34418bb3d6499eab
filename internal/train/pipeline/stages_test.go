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
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/parallel"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/tukey"
)

// leafNames lists the leaves of the training part.
func leafNames(plan *Plan) string {
	var names []string
	for _, l := range plan.Leaves() {
		name, ok := strings.CutPrefix(l.Path, "fit/train/")
		if ok {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// TestStageOrder checks that the selector determines whether ranges come before or after the choice, and that n_lo is
// released exactly when a stage requests it.
func TestStageOrder(t *testing.T) {
	const ranges = "scaling/exponents scaling/bins scaling/fine-bins"
	for _, c := range []struct {
		selector selection.Selector
		model    string
		relation budget.Relation
		want     string
	}{
		{nil, "joint-gram", budget.AddRemove, ranges + " model/gram"},
		{
			selection.Kendall{K: 2},
			"joint-gram",
			budget.AddRemove,
			"selection/kendall " + ranges + " model/gram",
		},
		{
			selection.SIS{K: 2, Score: selection.ScoreTau},
			"joint-gram",
			budget.AddRemove,
			"selection/sis/choice " + ranges + " model/gram",
		},
		{
			selection.SIS{K: 2, Score: selection.ScoreProduct},
			"adassp",
			budget.AddRemove,
			ranges +
				" selection/sis/choice model/adassp/eigenvalue model/adassp/gram model/adassp/moments",
		},
		{
			selection.SubLasso{K: 2},
			"joint-gram",
			budget.AddRemove,
			"count selection/sublasso " + ranges + " model/gram",
		},
		{
			selection.SubLasso{K: 2},
			"joint-gram",
			budget.Substitute,
			"count selection/sublasso " + ranges + " model/gram",
		},
		{
			selection.SubLasso{K: 2, Buckets: 9},
			"joint-gram",
			budget.AddRemove,
			"selection/sublasso " + ranges + " model/gram",
		},
		{nil, "tukey", budget.AddRemove, "count " + ranges + " model/tukey"},
		{
			selection.SubLasso{K: 2},
			"tukey",
			budget.AddRemove,
			"count selection/sublasso " + ranges + " model/tukey",
		},
	} {
		p := pricePipeline(housesTable(t, 0))
		p.Selector = c.selector
		p.Model = defaultTrainer(c.model)
		p.Budget.Relation = c.relation
		plan, err := p.Plan()
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		got := leafNames(plan)
		if got != c.want {
			t.Errorf(
				"%T+%s under %v: %s, want %s",
				c.selector,
				c.model,
				c.relation,
				got,
				c.want,
			)
		}
		g := plan.Guarantee()
		if g.Spent > 1 ||
			math.IsInf(g.Mu, 1) != (c.model == "tukey") {
			t.Errorf(
				"%T+%s: %+v",
				c.selector, c.model, g,
			)
		}
		res, err := p.Fit(context.Background(), housesTable(t, 4000), Options{})
		if err != nil {
			t.Errorf(
				"%T+%s: %v",
				c.selector, c.model, err,
			)
		} else if len(res.Selected) != 2 && c.selector != nil {
			t.Errorf(
				"%T+%s chose %v",
				c.selector, c.model, res.Selected,
			)
		}
	}
}

// TestTukeyNeedsRecords checks that enough records give a good model, that too few give an abstention without an error,
// and that a fallback gives a model in either case.
func TestTukeyNeedsRecords(t *testing.T) {
	p := pricePipeline(housesTable(t, 0))
	p.Model = tukey.Tukey{}
	p.Budget = budget.Target{Epsilon: 3, Delta: 1e-5}
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	enough := 2 * plan.Records()
	if enough < 2000 || enough > 40000 {
		t.Fatalf("%d records are needed", plan.Records())
	}
	res, err := p.Fit(context.Background(), housesTable(t, enough), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Abstained ||
		res.Method != "tukey" ||
		res.R2 == nil ||
		res.R2.Value < .6 {
		t.Errorf(
			"%d records: abstained %v, R2 %+v",
			enough, res.Abstained, res.R2,
		)
	}
	few := housesTable(t, plan.Records()/4)
	if res, err = p.Fit(context.Background(), few, Options{}); err != nil {
		t.Fatal(err)
	}
	if !res.Abstained ||
		res.Model != nil ||
		res.R2 != nil ||
		!hasWarning(res, "abstained") ||
		hasWarning(res, "no-metric") {
		t.Errorf("too few records: %+v", res)
	}
	p.Fallback = adassp.JointGram{}
	if res, err = p.Fit(context.Background(), few, Options{}); err != nil {
		t.Fatal(err)
	}
	if !res.Abstained ||
		res.Model == nil ||
		res.Method != "joint-gram" ||
		!hasWarning(res, "fallback") {
		t.Errorf("with a fallback: %+v", res)
	}
	for _, e := range res.Events {
		want := e.Path != "fit/train/model/tukey"
		if e.Released > 0 != want {
			t.Errorf(
				"%s released %d times",
				e.Path, e.Released,
			)
		}
	}
	res, err = p.Fit(
		context.Background(),
		housesTable(t, 2*enough), Options{},
	)
	if err != nil || res.Abstained || res.Method != "tukey" {
		t.Errorf(
			"a fallback that is not needed: %+v, %v",
			res, err,
		)
	}
}

func hasWarning(r *Result, code string) bool {
	return slices.ContainsFunc(r.Warnings, func(w Warning) bool {
		return w.Code == code
	})
}

func TestFallbackRefusals(t *testing.T) {
	for _, c := range [][2]string{
		{"joint-gram", "adassp"},
		{"tukey", "tukey"},
		{Auto, "joint-gram"},
	} {
		p := pricePipeline(housesTable(t, 0))
		p.Model = defaultTrainer(c[0])
		p.Fallback = defaultTrainer(c[1])
		_, err := p.Plan()
		if !errors.Is(err, ErrFallback) {
			t.Errorf("%v: %v", c, err)
		}
	}
	p := pricePipeline(housesTable(t, 0))
	p.Model = tukey.Tukey{}
	p.Fallback = defaultTrainer("nonsense")
	_, err := p.Plan()
	if !errors.Is(err, ErrModel) {
		t.Error(err)
	}
}

// TestRecordsBoundHoldsUsually checks that with the planned number of rows the released bound of n lets the mechanism
// run about 95% of the time.
func TestRecordsBoundHoldsUsually(t *testing.T) {
	p := pricePipeline(housesTable(t, 0))
	p.Model = tukey.Tukey{}
	p.Budget = budget.Target{Epsilon: 1, Delta: 1e-5}
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	train := int(float64(plan.Records()) * (1 - p.Holdout))
	b := plan.branches[0]
	need := tukey.Tukey{}.Records(p.factsOf(b, b.columns))
	ran := 0
	runs := 2000
	for range runs {
		s, err := mechanism.NewSession(plan.Again().Priced)
		if err != nil {
			t.Fatal(err)
		}
		low, err := plan.of.releaseCount(s.Sub(trainNode), plan.facts, train)
		if err != nil {
			t.Fatal(err)
		}
		if low >= need {
			ran++
		}
	}
	// 2000 Bernoulli(.95) trials: six standard deviations of 9.7.
	if math.Abs(float64(ran)-.95*float64(runs)) > 60 {
		t.Errorf("ran %d of %d times", ran, runs)
	}
}

// TestTukeyWidestChoice checks that the plan counts the entries of the widest choice, so that a run can use any
// number of buckets that the plan accepts.
func TestTukeyWidestChoice(t *testing.T) {
	abc := []string{"a", "b", "c"}
	p := &Pipeline{
		Schema: dataset.Schema{Columns: []dataset.Column{
			{
				Name:       "p",
				Kind:       dataset.Category,
				Categories: abc,
			},
			{
				Name:       "q",
				Kind:       dataset.Category,
				Categories: abc,
				Other:      true,
			},
			{Name: "y"},
		}},
		Target:   "y",
		Budget:   budget.Target{Epsilon: 3, Delta: 1e-5},
		Model:    tukey.Tukey{Buckets: 182},
		Selector: selection.Kendall{K: 1},
	}
	_, err := p.Plan()
	if !errors.Is(err, tukey.ErrBuckets) {
		t.Errorf("182 buckets for 5 parameters: %v", err)
	}
}

// TestTrainerPanic checks that a panic of a trainer, which has its own goroutine, reaches the caller, where it can be
// recovered.
func TestTrainerPanic(t *testing.T) {
	d := method.Data{Facts: method.Facts{Columns: wideTable(t, 0, 2).Schema().Columns}}
	p := parallel.Catch(func() {
		_, _ = runTrainer(t.Context(), adassp.JointGram{}, nil, d)
	})
	if p == nil {
		t.Error("a trainer without a session and a table did not panic")
	}
}
