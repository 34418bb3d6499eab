package pipeline

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/scratch"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/regression"
)

// ErrEngine is returned for a plan that an engine cannot run: a stage needs all records in one place, or the
// budget protects units and the engine does not limit their records.
var ErrEngine = errors.New("the engine does not support the plan")

// FitOn is [Pipeline.FitPlan] on the records that an engine holds. A plan that the engine cannot carry
// out is refused with [ErrEngine] before a record is read.
func (p *Pipeline) FitOn(
	ctx context.Context,
	plan *Plan,
	e mechanism.Engine,
	o Options,
) (*Result, error) {
	return p.runOn(ctx, plan, mechanism.NewSession, e, o)
}

// CheckEngine returns [ErrEngine] for a plan that an engine cannot carry out, and [ErrSchema] for records
// with other columns.
func (p *Pipeline) CheckEngine(plan *Plan, e mechanism.Engine) error {
	c := mechanism.CapabilitiesOf(e)
	var names []string
	if c.Gather == nil || c.GatherLimit > 0 {
		names = plan.gatheringStages(c)
	}
	if len(names) > 0 {
		return fmt.Errorf("%w: these steps need all records in one place: %s", ErrEngine,
			strings.Join(names, ", "))
	}
	if c.LimitUnits == nil && p.Budget.Unit != (budget.Unit{}) {
		return fmt.Errorf(
			"%w: the budget protects units of column %q; read the table into memory",
			ErrEngine,
			p.Budget.Unit.Column,
		)
	}
	for _, s := range p.stages() {
		if problem := s.CheckEngine(c); problem != "" {
			return fmt.Errorf("%w: %s", ErrEngine, problem)
		}
	}
	if !SameSchema(p.Schema, e.Schema()) {
		return ErrSchema
	}
	return nil
}

func (p *Pipeline) runOn(
	ctx context.Context,
	plan *Plan,
	open sessionOpener,
	e mechanism.Engine,
	o Options,
) (*Result, error) {
	if err := p.CheckEngine(plan, e); err != nil {
		return nil, err
	}
	schema := e.Schema()
	for _, x := range p.recodings() {
		e = mechanism.CapabilitiesOf(e).Mapped(x.Column, x.To, x.Apply)
	}
	all := mechanism.RecordsOf(e, plan.columns)
	limited := func(r *runner, s *mechanism.Session) (mechanism.Records, error) {
		unit := plan.Target().Unit // that of the session, which widens every bound
		if unit == (budget.Unit{}) {
			return all, nil
		}
		defer r.startStage("unit")()
		return mechanism.LimitUnits(ctx, s, "unit", all, unit.MaxRows)
	}
	res, err := p.runFrom(ctx, plan, open, recordSource{schema, limited, all.Len}, o)
	return res, scratch.WithoutStage(err)
}

// Gathers lists the stages of the plan that need all records in one place, by the names of their methods,
// without repetition. All other stages are sums, which any engine can compute.
func (p *Plan) Gathers() []string {
	return p.gatheringStages(mechanism.Capabilities{})
}

// gatheringStages is Gathers without the stages that an engine with these capabilities can serve.
func (p *Plan) gatheringStages(c mechanism.Capabilities) []string {
	var out []string
	note := func(name string, gathers bool) {
		if gathers && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if p.of != nil {
		for _, name := range p.of.gatheringNodes(c) {
			note(name, true)
		}
	}
	for _, t := range append(slices.Clone(p.tries), p.byClasses...) {
		for _, name := range t.gatheringStages(c) {
			note(name, true)
		}
	}
	for _, b := range p.branches {
		if len(p.branches) > 1 && b.name == p.branches[1].name &&
			p.fewCells() <= float64(c.GatherLimit) {
			continue
		}
		if s, ok := b.selector.(selection.Gatherer); ok {
			note(s.Name(), s.Gathers(p.facts) && !servesStage(c, s))
		}
		for _, t := range []method.Trainer{b.trainer, b.fallback} {
			if g, ok := t.(method.Gatherer); ok {
				note(g.Name(), g.Gathers() && !servesStage(c, g))
			}
		}
	}
	return out
}

// servesStage reports whether a stage that gathers needs buckets or ranks only and the engine has them.
func servesStage(c mechanism.Capabilities, stage any) bool {
	if r, ok := stage.(method.Ranked); ok && c.Concordance != nil && r.ByRanks() {
		return true
	}
	b, ok := stage.(method.Bucketed)
	return ok && c.Buckets != nil && b.InBuckets()
}

// fewCells returns the maximum number of bytes of the cells of all columns if the second branch is taken. The
// lower bound that chooses the branch is below the number of records by its noise and a margin, by default four
// scales of the noise. The noise exceeds 50 scales with a probability below 2^-70.
func (p *Plan) fewCells() float64 {
	columns := len(p.facts.Columns) + 1
	records := p.leastStrength(p.facts.Columns) / p.modelMu(allBranch)
	if law, noisy := p.Law(p.root + "/" + countLeaf); noisy {
		records += (50 + max(4, p.of.countMargin())) / law.Epsilon
	}
	return 8 * float64(columns) * records
}

// RegisterStatistics makes the statistics of all methods known to encoding/gob, so that a
// [mechanism.Pass] can be sent to the workers of an engine.
func RegisterStatistics() {
	registerStatistics()
}

var registerStatistics = sync.OnceFunc(func() {
	all := []any{mechanism.Number{}, cellStatistic{}, method.Predictor{}, cutoffCell{}, rightCell{},
		targetStatistic{}}
	lists := [][]mechanism.Statistic{scaling.Statistics(), linear.Statistics(),
		selection.Statistics(), evaluate.Statistics()}
	for _, m := range Trainers() {
		lists = append(lists, m.Statistics)
	}
	for _, k := range stageKinds() {
		lists = append(lists, k.Statistics)
	}
	for _, list := range lists {
		for _, x := range list {
			all = append(all, x)
		}
	}
	for _, m := range []regression.Model{&regression.Linear{}, &regression.ClippedLinear{},
		&regression.Additive{}, &regression.Kernel{}, &regression.Votes{}, &regression.Tree{},
		&regression.Prototypes{}, &regression.Classifier{}} {
		all = append(all, m)
	}
	for _, x := range all {
		gob.Register(x)
	}
})
