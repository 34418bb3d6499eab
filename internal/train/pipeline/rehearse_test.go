package pipeline

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/tukey"
)

// TestRehearse checks that a run that passes the rehearsal does not fail because of its noise when it is carried out
// on records, that ordinary budgets pass, and that too small a budget for a mechanism without a delta does not. (The
// mu of a Gaussian step stays above its part of delta.)
func TestRehearse(t *testing.T) {
	for _, c := range []struct {
		name     string
		selector selection.Selector
		model    string
		refused  bool
	}{
		{"auto", nil, Auto, true},
		{"joint-gram", nil, "joint-gram", true}, // the count of targets
		{"kendall", selection.Kendall{K: 2}, "boosted-adassp", true},
		{"tukey", selection.SubLasso{K: 2}, "tukey", false},
	} {
		table := wideTable(t, 100, 7)
		p := pricePipeline(table)
		refused := false
		for _, epsilon := range []float64{1, 1e-4, 1e-7, 1e-10} {
			p.Selector = c.selector
			p.Model = defaultTrainer(c.model)
			p.Budget.Epsilon = epsilon
			if epsilon < 1e-9 && c.refused {
				p.Budget.Delta = 1e-7 // which then decides
			}
			plan, err := p.Plan()
			if errors.Is(err, tukey.ErrInfeasible) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			err = p.Rehearse(t.Context(), plan)
			if err != nil &&
				(!errors.Is(err, mechanism.ErrScale) || epsilon > 1e-7) {
				t.Errorf(
					"%s at %v: %v",
					c.name, epsilon, err,
				)
			}
			if refused = err != nil; refused {
				continue
			}
			if _, err := p.Fit(t.Context(), table, Options{}); err != nil {
				t.Errorf(
					"%s at %v passed the rehearsal: %v",
					c.name, epsilon, err,
				)
			}
		}
		if refused != c.refused {
			t.Errorf(
				"%s: the smallest budget refused: %v",
				c.name, refused,
			)
		}
	}
}

// TestRehearseBranches checks that the branch that a run would not take at first is rehearsed too.
func TestRehearseBranches(t *testing.T) {
	p := pricePipeline(wideTable(t, 0, 7))
	p.Budget.Epsilon = 1e-3
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	empty, err := EmptyTable(p.Schema)
	if err != nil {
		t.Fatal(err)
	}
	for i := range plan.branches {
		only := *plan
		only.forced = &plan.branches[i]
		s, err := mechanism.NewRehearsal(plan.Priced)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.runPlan(
			t.Context(), &only, openedSession(s),
			empty, Options{},
		)
		if err != nil {
			t.Fatal(err)
		}
		released := map[bool]int{}
		for _, e := range s.Events() {
			released[strings.HasPrefix(
				e.Path,
				"fit/train/"+plan.branches[i].name+"/",
			)] += e.Released
		}
		if released[true] == 0 {
			t.Errorf(
				"branch %s: nothing released",
				plan.branches[i].name,
			)
		}
	}
	if len(plan.branches) < 2 {
		t.Error("the run has no choice")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Rehearse(ctx, plan); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestRehearseSearch checks that every candidate of a search is rehearsed, including one that is rarely tried.
func TestRehearseSearch(t *testing.T) {
	p, _ := searchPipeline(t, 1)
	p.Search.Runs = 1.01
	for _, epsilon := range []float64{3, 1e-10} {
		p.Budget.Epsilon = epsilon
		if epsilon < 1 {
			p.Budget.Delta = 1e-8
		}
		plan, err := p.Plan()
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			err := p.Rehearse(t.Context(), plan)
			if errors.Is(err, mechanism.ErrScale) != (epsilon < 1) {
				t.Errorf("epsilon %v: %v", epsilon, err)
			}
		}
	}
}
