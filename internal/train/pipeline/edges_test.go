package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// TestPlanOfAnother checks that a plan is carried out as it was priced or refused. If, for example, the relation
// could be changed afterwards, the exact range of a column would be published.
func TestPlanOfAnother(t *testing.T) {
	tab := housesTable(t, 400)
	for name, change := range map[string]func(p *Pipeline){
		"relation": func(p *Pipeline) {
			p.Budget.Relation = budget.SubstitutePrivateColumns
		},
		"epsilon": func(p *Pipeline) {
			p.Budget.Epsilon = 9
		},
		"holdout": func(p *Pipeline) {
			p.Holdout = 0
		},
		"model": func(p *Pipeline) {
			p.Model = adassp.AdaSSP{}
		},
		"column": func(p *Pipeline) {
			p.Schema.Columns[0].Private = true
		},
		"selector": func(p *Pipeline) {
			p.Selector = selection.Kendall{K: 1}
		},
		"share": func(p *Pipeline) {
			p.SelectionShare = .9
		},
		"candidate": func(p *Pipeline) {
			if p.Search != nil {
				p.Search.Candidates[0].Model = boosting.BoostedAdaSSP{}
			} else {
				p.Fallback = adassp.AdaSSP{}
			}
		},
	} {
		for _, search := range []bool{false, true} {
			p := pricePipeline(tab)
			p.Schema = p.Schema.Clone()
			p.Model = adassp.JointGram{}
			if search {
				p.Model = nil
				p.Search = &Search{
					Candidates: []Candidate{
						{Model: adassp.JointGram{}},
						{Model: adassp.AdaSSP{}},
					},
					Runs:    3,
					Holdout: .2,
				}
			}
			plan, err := p.Plan()
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.FitPlan(context.Background(), plan, tab, Options{})
			if err != nil {
				t.Errorf("%s: unchanged: %v", name, err)
			}
			change(p)
			res, err := p.FitPlan(context.Background(), plan, tab, Options{})
			if !errors.Is(err, ErrPlan) || res != nil {
				t.Errorf(
					"%s changed after the plan: %v",
					name, err,
				)
			}
		}
	}
}

// TestCuratorIsNotPrinted checks that no formatting verb, encoder or log prints the part of a result that is meant
// for the data owner only.
func TestCuratorIsNotPrinted(t *testing.T) {
	tab := housesTable(t, 777)
	res, err := pricePipeline(tab).Fit(context.Background(), tab, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Curator.Rows != 777 ||
		res.Curator.TrainRows+res.Curator.HoldoutRows != 777 ||
		len(res.Curator.Seconds) == 0 {
		t.Errorf(
			"the curator's facts: %d rows",
			res.Curator.Rows,
		)
	}
	res = &Result{Curator: res.Curator} // no other number of theirs
	res.Curator.TrainRows = 777
	res.Curator.HoldoutRows = 777
	res.Curator.ScoreRows = 777
	texts := map[string]string{}
	for _, verb := range []string{
		"%v", "%+v",
		"%#v", "%s", "%d",
		"%x", "%q",
	} {
		texts[verb] = fmt.Sprintf(
			verb+verb+verb+verb, res, *res,
			res.Curator, &res.Curator,
		)
	}
	for name, v := range map[string]any{
		"result":  res,
		"curator": res.Curator,
		"list":    []any{*res, &res.Curator},
	} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		texts["json of "+name] = string(data)
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Info("done", "what", v)
		_, texts["log of "+name], _ = strings.Cut(log.String(), "what=")
	}
	for name, text := range texts {
		if strings.Contains(text, "777") ||
			strings.Contains(text, "309") ||
			strings.Contains(text, "split") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// peeking is a selector that chooses from the exact records without spending any budget.
type peeking struct{ selection.None }

// TestSelectorFromElsewhere checks that only selectors of package selection can run.
func TestSelectorFromElsewhere(t *testing.T) {
	tab := housesTable(t, 300)
	for name, set := range map[string]func(p *Pipeline){
		"alone": func(p *Pipeline) {
			p.Selector = peeking{}
		},
		"a pointer": func(p *Pipeline) {
			p.Selector = &peeking{}
		},
		"candidate": func(p *Pipeline) {
			p.Search = &Search{
				Candidates: []Candidate{
					{Model: adassp.JointGram{}},
					{Model: adassp.AdaSSP{}, Selector: peeking{}},
				},
				Runs:    3,
				Holdout: .2,
			}
		},
	} {
		p := pricePipeline(tab)
		set(p)
		_, err := p.Plan()
		if !errors.Is(err, ErrSelector) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEndedRunReleasesNothing checks that a run that ended early makes no releases afterwards, even if its trainer is
// still running.
func TestEndedRunReleasesNothing(t *testing.T) {
	tab := housesTable(t, 50)
	p := pricePipeline(tab)
	p.Model = adassp.JointGram{}
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(plan.Priced)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := plan.branches[0]
	d := method.Data{
		Facts:   p.factsOf(b, b.columns),
		Records: memory.NewRecords(tab.View()),
		Ranges:  make([]scaling.Range, 4),
	}
	_, err = runTrainer(ctx, b.trainer, s.Sub(trainNode).Sub(modelNode), d)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
	_, err = mechanism.SymmetricGaussian(
		s.Sub(trainNode).Sub(modelNode),
		"gram",
		s.NewGram(2, 1).Bound(),
	)
	if !errors.Is(err, mechanism.ErrClosed) {
		t.Errorf("a release after the end: %v", err)
	}
}

// TestTrainerEnds checks that a trainer that is abandoned after its release continues to the end of its
// eigendecomposition, makes no further release, and then exits: synctest.Test returns once no goroutine is left.
func TestTrainerEnds(t *testing.T) {
	tab := wideTable(t, 40, 300)
	p := pricePipeline(tab)
	p.Model = adassp.JointGram{}
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	released := func(s *mechanism.Session) (n int) {
		for _, e := range s.Events() {
			n += e.Released
		}
		return n
	}
	var s *mechanism.Session
	atEnd := 0
	synctest.Test(t, func(t *testing.T) {
		if s, err = mechanism.NewSession(plan.Priced); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			solving := []byte("mat.(*EigenSym).Factorize")
			stacks := make([]byte, 1<<20)
			for ctx.Err() == nil &&
				!bytes.Contains(stacks[:runtime.Stack(stacks, true)], solving) {
				runtime.Gosched()
			}
			cancel()
		}()
		b := plan.branches[0]
		ranges := make([]scaling.Range, 301)
		for j := range ranges {
			ranges[j] = scaling.Range{
				Lower:    -1,
				Upper:    1,
				Declared: true,
			}
		}
		d := method.Data{
			Facts:   p.factsOf(b, b.columns),
			Records: memory.NewRecords(tab.View()),
			Ranges:  ranges,
		}
		_, err := runTrainer(
			ctx, b.trainer,
			s.Sub(trainNode).Sub(modelNode), d,
		)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err) // nil where the trainer was the faster one
		}
		cancel()
		atEnd = released(s)
	})
	n := released(s)
	if atEnd != 1 || n != 1 {
		t.Errorf(
			"%d releases at the end of the run, %d at that of the trainer",
			atEnd, n,
		)
	}
}

// TestPlanPaysOnce checks that a plan can be fitted only once. Another run, even a concurrent one, is refused
// regardless of the outcome of the first; a run refused for other reasons does not use the plan up. A caller can
// request one more run explicitly.
func TestPlanPaysOnce(t *testing.T) {
	tab := housesTable(t, 400)
	p := pricePipeline(tab)
	p.Model = adassp.JointGram{}
	price := func() *Plan {
		t.Helper()
		plan, err := p.Plan()
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	fit := func(ctx context.Context, plan *Plan) error {
		_, err := p.FitPlan(ctx, plan, tab, Options{})
		return err
	}
	plan := price()
	changed := *p
	changed.Holdout = 0
	_, err := changed.FitPlan(context.Background(), plan, tab, Options{})
	if !errors.Is(err, ErrPlan) {
		t.Errorf("a changed pipeline: %v", err)
	}
	const runs = 8
	var wait sync.WaitGroup
	var ran atomic.Int32
	for range runs {
		wait.Go(func() {
			switch err := fit(context.Background(), plan); {
			case err == nil:
				ran.Add(1)
			case !errors.Is(err, mechanism.ErrOpened):
				t.Error(err)
			}
		})
	}
	if wait.Wait(); ran.Load() != 1 {
		t.Errorf(
			"%d of %d runs were carried out with one plan",
			ran.Load(), runs,
		)
	}
	if err := fit(context.Background(), plan.Again()); err != nil {
		t.Errorf("once more: %v", err)
	}
	plan = price()
	ended, end := context.WithCancel(context.Background())
	end()
	if err := fit(ended, plan); !errors.Is(err, context.Canceled) {
		t.Errorf("a run without time: %v", err)
	}
	if err := fit(context.Background(), plan); !errors.Is(err, mechanism.ErrOpened) {
		t.Errorf("after a run that was cancelled: %v", err)
	}
}
