package audit

import (
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// pricedPlans holds the plans that tests of this process have made, because pricing a plan takes longer than many runs
// of it. A run refuses the plan of another pipeline.
var pricedPlans struct {
	sync.Mutex
	all []pricedPlan
}

type pricedPlan struct {
	pipeline pipeline.Pipeline
	plan     *pipeline.Plan
}

// planPipeline returns a plan of p, which is priced once for all equal pipelines.
func planPipeline(t *testing.T, p *pipeline.Pipeline) *pipeline.Plan {
	t.Helper()
	plan, err := pricePipeline(p)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// pricePipeline is like [planPipeline], and returns the error of a pipeline that has no plan.
func pricePipeline(p *pipeline.Pipeline) (*pipeline.Plan, error) {
	key := *p
	key.Schema = p.Schema.Clone()
	if plan := findPlan(key); plan != nil {
		return plan.Again(), nil
	}
	plan, err := p.Plan()
	if err != nil {
		return nil, err
	}
	pricedPlans.Lock()
	defer pricedPlans.Unlock()
	pricedPlans.all = append(pricedPlans.all, pricedPlan{key, plan})
	return plan.Again(), nil
}

// findPlan returns the plan of a pipeline equal to key, or nil.
func findPlan(key pipeline.Pipeline) *pipeline.Plan {
	pricedPlans.Lock()
	defer pricedPlans.Unlock()
	at := slices.IndexFunc(pricedPlans.all, func(x pricedPlan) bool {
		return reflect.DeepEqual(x.pipeline, key)
	})
	if at < 0 {
		return nil
	}
	return pricedPlans.all[at].plan
}

// TestPlansAreShared checks that equal pipelines share the price of a plan, that each caller's plan can be run, and
// that a pipeline that differs in a column or the budget has a plan of its own.
func TestPlansAreShared(t *testing.T) {
	p := examplePipeline(t, "basic")
	plan := planPipeline(t, p)
	again := planPipeline(t, examplePipeline(t, "basic"))
	if plan.Tree().Name != again.Tree().Name || !plan.Open() || !again.Open() {
		t.Error("two plans of a pipeline are one, or differ")
	}
	if findPlan(*p) == nil {
		t.Error("the plan of a pipeline is priced again")
	}
	p.Budget.Epsilon *= 2
	if planPipeline(t, p).Target() == plan.Target() {
		t.Error("a pipeline has the plan of one with another budget")
	}
	p.Budget.Epsilon /= 2
	p.Schema.Columns[0].Ranged = !p.Schema.Columns[0].Ranged
	p.Schema.Columns[0].Upper = 1
	if findPlan(*p) != nil {
		t.Error("a pipeline has the plan of one with other columns")
	}
}
