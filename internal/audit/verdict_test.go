package audit

import (
	"context"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// examplePipeline loads the pipeline of an example recipe.
func examplePipeline(t *testing.T, name string) *pipeline.Pipeline {
	t.Helper()
	r, err := recipe.Load("../../examples/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	header, err := dataset.Header(r.DataFile(), dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Pipeline(header)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPipeline checks that a small audit of a run finds no violation, has a measure for every leaf of the plan, and
// detects an effect of a run at a large epsilon: over ten trials with 1,500 runs mu was between 1.06 and 1.27, with a
// deviation of .08, and over five with 600 runs between 1.03 and 1.4, with a deviation of .17.
// Each of the ten bounds has odds of 1e-3 to be above its truth, but with this number of runs no truth comes near its
// claim: a false alarm needs bounds that are wrong by more than 5 standard deviations.
func TestPipeline(t *testing.T) {
	runs := testkit.Size(900, 1500)
	p := examplePipeline(t, "classes-kendall")
	p.Budget.Epsilon = 60
	p.Holdout = .5
	done := 0.
	v, err := Pipeline(
		context.Background(),
		p,
		Options{
			Runs:       runs,
			Draws:      1000,
			Confidence: .99,
			Progress: func(d float64) {
				done = max(done, d)
			},
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	bad := v.Violations()
	if len(bad) > 0 {
		t.Errorf("violations: %v", bad)
	}
	if len(v.Leaves) != len(plan.Leaves()) ||
		slices.ContainsFunc(v.Leaves, func(l Leaf) bool {
			return l.Statistic == ""
		}) {
		t.Errorf("leaves %+v", v.Leaves)
	}
	if !(v.Whole.Mu > .5) ||
		v.Whole.Runs != runs ||
		done != 1 ||
		len(v.Pairs) != 3 {
		t.Errorf(
			"whole %+v of mu %v, done %v",
			v.Whole, v.Claim.Mu, done,
		)
	}
	v.Whole.Epsilon = 61
	v.Leaves[0].Measure.Epsilon = v.Leaves[0].Epsilon + .1
	got := v.Violations()
	if !slices.Equal(got, []string{v.Leaves[0].Path, "run"}) {
		t.Errorf("violations: %v", got)
	}
}
