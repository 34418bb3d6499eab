package pipeline

import (
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// Share of epsilon and delta of a fixed distribution, to which the other stages are not scaled; they are
// calibrated to the rest.
const (
	fixedAlone  = 1 - DefaultCountShare // if only n_lo is released otherwise
	fixedFirst  = .85                   // with ranges and feature selection
	fixedBacked = .55                   // with a fallback too
	fixedDelta  = .9
)

// factsOf returns the facts for the model of a branch on the given columns.
func (p *Pipeline) factsOf(b branch, columns []dataset.Column) method.Facts {
	return method.Facts{
		Columns:   columns,
		Relation:  p.Budget.Relation,
		LabelOnly: p.protectsTargetOnly(),
		Epsilon:   b.fixed * p.Budget.Epsilon,
		Delta:     fixedDelta * p.Budget.Delta,
	}
}

// importanceLevel is the confidence level of the intervals of importances.
const importanceLevel = .95

// importancesOf returns the importances of the columns of a model, or nil if its method releases no information
// about their distribution.
func importancesOf(f *method.Fit) []regression.Importance {
	if len(f.Spreads) == 0 {
		return nil
	}
	return regression.Importances(f.Model.Inputs(), f.Spreads, importanceLevel)
}

// trainerFor returns the trainer for a target: a numeric trainer separates classes by one-versus-rest.
// The stages of the run may wrap it.
func (p *Pipeline) trainerFor(
	t method.Trainer,
	target dataset.Column,
) method.Trainer {
	if target.Kind == dataset.Category {
		m, _ := methodOf(t) // the rules have checked that it is a known method
		t = classifierOf(t, m, len(target.Categories), p.isPure())
	}
	for _, s := range p.stages() {
		t = s.Trainer(t)
	}
	return t
}
