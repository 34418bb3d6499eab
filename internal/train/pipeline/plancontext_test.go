package pipeline

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
)

// endingContext is cancelled after left calls of Err.
type endingContext struct {
	context.Context
	left, calls int
}

func (c *endingContext) Err() error {
	c.calls++
	if c.calls > c.left {
		return context.Canceled
	}
	return nil
}

// TestPlanEndsWithItsContext checks that planning ends at any check that finds the context done, and that it checks
// the context between the steps over all columns, at least once for each branch and each candidate of a search.
func TestPlanEndsWithItsContext(t *testing.T) {
	schema := dataset.Schema{}
	for j := range 300 {
		schema.Columns = append(
			schema.Columns,
			dataset.Column{Name: fmt.Sprintf("x%d", j)},
		)
	}
	schema.Columns = append(schema.Columns, dataset.Column{Name: "y"})
	plain := Pipeline{
		Schema:  schema,
		Target:  "y",
		Holdout: DefaultHoldout,
		Budget:  budget.Target{Epsilon: 1, Delta: 1e-6},
		Model:   defaultTrainer("joint-gram"),
	}
	searching := plain
	searching.Model = nil
	searching.Search = &Search{Runs: 4, Holdout: .2}
	for _, name := range []string{"joint-gram", "adassp", "boosted-adassp", "boosted-additive",
		"boosted-kernel"} {
		searching.Search.Candidates = append(
			searching.Search.Candidates,
			Candidate{Model: defaultTrainer(name)},
		)
	}
	for _, tt := range []struct {
		name  string
		p     *Pipeline
		least int
	}{
		{"one model", &plain, 5},
		{"search", &searching, 9},
	} {
		whole := &endingContext{Context: t.Context(), left: 1 << 30}
		if _, err := tt.p.PlanContext(whole); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if whole.calls < tt.least {
			t.Errorf(
				"%s: the context was checked %d times",
				tt.name, whole.calls,
			)
		}
		for left := range whole.calls {
			ctx := &endingContext{Context: t.Context(), left: left}
			_, err := tt.p.PlanContext(ctx)
			if !errors.Is(err, context.Canceled) {
				t.Errorf(
					"%s, ended at check %d: %v",
					tt.name, left+1, err,
				)
			}
			if ctx.calls != left+1 {
				t.Errorf(
					"%s, ended at check %d: checked %d times",
					tt.name, left+1, ctx.calls,
				)
			}
		}
	}
}
