package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// A run with delta 0 draws pure noise only: Laplace noise, or choices by the exponential mechanism. The plan of
// a stage gives the noise of each leaf. Stages with a pure form use it if no form is named: ranges
// (scaling.Private), and trainers that implement [method.Purer].

// ErrNotPure is returned for a run whose delta is 0 and that has a stage whose noise is not pure. It wraps budget.ErrNotPure.
var ErrNotPure = fmt.Errorf("a run with delta 0 has a stage whose noise is not pure: %w",
	budget.ErrNotPure)

// The reasons why a stage needs a delta. Gaussian noise has no largest privacy loss; a mechanism that tests the records before it
// proposes an answer (C. Dwork and J. Lei, "Differential privacy and robust statistics", 2009) may pass by chance.
const (
	gaussianNoise = "draws Gaussian noise, which always needs a delta"
	failingCheck  = "checks the records first, and the check fails with probability delta"
)

// deltaField is the key of a recipe that sets delta.
const deltaField = "privacy.delta"

// isPure reports whether the run has no delta.
func (p *Pipeline) isPure() bool {
	return p.Budget.Delta == 0 && p.Budget.Epsilon > 0
}

// pureForm returns a trainer in the form that the run can have.
func (p *Pipeline) pureForm(t method.Trainer) method.Trainer {
	if x, ok := t.(method.Purer); ok && p.isPure() {
		return x.PureForm()
	}
	return t
}

// leavesOf lists the leaves of a plan that has no price yet.
func leavesOf(n budget.Node) []budget.Leaf {
	if n.Leaf != nil {
		return []budget.Leaf{*n.Leaf}
	}
	var out []budget.Leaf
	for _, kid := range n.Kids {
		out = append(out, leavesOf(kid)...)
	}
	return out
}

// impureNoise returns a description of a stage's noise that is not pure, or "" if all of it is.
func impureNoise(n budget.Node) string {
	for _, leaf := range leavesOf(n) {
		switch {
		case leaf.Kind == budget.Gaussian:
			return gaussianNoise
		case leaf.Kind == budget.Approximate && leaf.Fixed.Delta > 0:
			return failingCheck
		}
	}
	return ""
}

// NeedsDelta returns the reason why the delta of a run cannot be 0, or nil. It examines the plan of every stage
// and names each whose noise is not pure. It ignores columns without declarations, so it can be called without
// a table. Other problems of a stage are reported by Plan.
func (p *Pipeline) NeedsDelta() *fault.Error {
	if !p.isPure() || p.Search != nil {
		return nil
	}
	var stages, hints []string
	add := func(stage, noise, hint string) {
		if noise != "" {
			stages = append(stages, stage+" "+noise)
			hints = append(hints, hint)
		}
	}
	f := p.madeUpFacts()
	b := p.planBranches(f)[0]
	if noise := p.selectorNoise(b.selector, f); noise != "" {
		add("the selection ("+b.selector.Name()+")", noise, p.pureSelectors(f))
	}
	if noise := p.trainerNoise(b.trainer, f); noise != "" {
		add("the model ("+b.trainer.Name()+")", noise, p.pureTrainers(b.trainer, f))
	}
	if b.fallback != nil {
		add(
			"the fallback ("+b.fallback.Name()+")",
			p.trainerNoise(b.fallback, f),
			p.pureTrainers(b.fallback, f),
		)
	}
	if p.Holdout > 0 {
		if metric, err := p.metricNode(f.Target, p.Groups != ""); err == nil {
			add(
				"the held-out metric by group",
				impureNoise(metric),
				"omit evaluate.by",
			)
		}
	}
	if len(stages) == 0 {
		return nil
	}
	return &fault.Error{
		Kind:    fault.Recipe,
		Field:   deltaField,
		Err:     ErrNotPure,
		Message: deltaField + " must be above 0: " + strings.Join(stages, ", and "),
		Hint: strings.Join(slices.Compact(hints), "; ") + "; or omit " + deltaField + ": " +
			deltaHint,
	}
}

// madeUpFacts are facts with as many columns as a stage may ask for. Which noise a stage draws depends on the target, the
// relation and its own settings.
func (p *Pipeline) madeUpFacts() selection.Facts {
	f := selection.Facts{
		Target: dataset.Column{
			Name:   p.Target,
			Ranged: true,
			Lower:  -1,
			Upper:  1,
		},
		Relation: p.Budget.Relation,
	}
	if j := p.Schema.Index(p.Target); j >= 0 && p.isClassification() {
		f.Target = p.Schema.Columns[j]
		f.Target.Categories = stage.Placeholders("class", max(p.classesOf(f.Target), leastClasses))
	}
	columns := selection.DefaultK + 1
	if x, ok := p.Selector.(featureChooser); ok {
		columns = max(columns, x.FeatureCount()+1)
	}
	for _, c := range p.Schema.Columns {
		if c.Indicator && c.Name != p.Target {
			f.Columns = append(f.Columns, dataset.Column{
				Name:      c.Name,
				Indicator: true,
			})
		}
	}
	f.LabelOnly = p.protectsTargetOnly()
	f.Target.Private = p.protectsTarget()
	private := p.Budget.Relation == budget.SubstitutePrivateColumns && !f.LabelOnly
	for i := range columns {
		f.Columns = append(f.Columns, dataset.Column{
			Name:    fmt.Sprintf("\x00%d", i),
			Ranged:  true,
			Lower:   -1,
			Upper:   1,
			Private: private,
		})
	}
	return f
}

// selectorNoise describes the noise of a selector that is not pure, or returns "", also for a selector without
// a plan here.
func (p *Pipeline) selectorNoise(
	s selection.Selector,
	f selection.Facts,
) string {
	node, private, err := s.Plan(factsFor(s, f))
	if err != nil || !private {
		return ""
	}
	return impureNoise(node)
}

// trainerNoise describes the noise of a trainer that is not pure, or returns "", also for a trainer without a
// plan here. The distribution of a trainer that may abstain takes a share of delta, so without a delta it has
// no plan.
func (p *Pipeline) trainerNoise(t method.Trainer, f selection.Facts) string {
	if mayAbstain(t) {
		return failingCheck
	}
	columns := append(slices.Clone(f.Columns), f.Target)
	node, err := p.trainerFor(p.pureForm(t),
		f.Target).Plan(
		method.Facts{
			Columns:   columns,
			Relation:  f.Relation,
			LabelOnly: f.LabelOnly,
			Epsilon:   p.Budget.Epsilon,
		})
	if err != nil {
		return ""
	}
	return impureNoise(node)
}

// pureSelectors describes the selectors that a run without a delta supports.
func (p *Pipeline) pureSelectors(f selection.Facts) string {
	var names []string
	for _, m := range Selectors() {
		s := m.New(SelectorSettings{K: 1})
		node, private, err := s.Plan(factsFor(s, f))
		fits := p.isClassification() || !m.NeedsClasses
		if fits &&
			m.Private &&
			err == nil &&
			private &&
			impureNoise(node) == "" &&
			!(m.TwoClasses && len(f.Target.Categories) > 2) {
			names = append(names, m.Name)
		}
	}
	if len(names) == 0 {
		return "no selector has pure noise in this run"
	}
	return "select with " + orList(names)
}

// pureTrainers describes the trainers that can replace t in a run without a delta.
func (p *Pipeline) pureTrainers(t method.Trainer, f selection.Facts) string {
	var names []string
	for _, m := range Trainers() {
		fits := slices.Contains(m.Tasks(), p.taskName()) &&
			m.Supports(f.Relation) &&
			!(m.TwoClasses() && len(f.Target.Categories) > 2)
		if !fits || m.Abstains || p.trainerNoise(m.New(nil), f) != "" {
			continue
		}
		if m.Name == t.Name() {
			return "omit model.form: by default, " + m.Name + " uses a form with pure noise"
		}
		facts := method.Facts{
			Columns:  append(slices.Clone(f.Columns), f.Target),
			Relation: f.Relation,
		}
		if _, err := p.trainerFor(p.pureForm(m.New(nil)), f.Target).Plan(facts); err == nil {
			names = append(names, m.Name)
		}
	}
	if len(names) == 0 {
		return "no training method has pure noise in this run"
	}
	return "train " + orList(names)
}

// orList is "a", "a or b" or "a, b or c".
func orList(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// notPure converts the error of a plan with a leaf that is not pure to a problem of the recipe.
func notPure(err error) error {
	var wrong *budget.NotPureError
	if !errors.As(err, &wrong) {
		return err
	}
	return &fault.Error{
		Kind:  fault.Recipe,
		Field: deltaField,
		Err:   err,
		Message: fmt.Sprintf("%s must be above 0: the step %s has %v noise", deltaField, wrong.Path,
			wrong.Kind),
		Hint: deltaHint,
	}
}
