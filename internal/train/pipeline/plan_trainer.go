package pipeline

import (
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// The part of epsilon and delta that a law takes that does not scale with the rest, which is
// calibrated to what it leaves.
const (
	fixedAlone  = 1 - DefaultCountShare // where nothing else but n_lo is released
	fixedFirst  = .85                   // beside ranges and a choice of features
	fixedBacked = .55                   // beside a fallback too
	fixedDelta  = .9
)

// factsOf returns what the model of a branch is told about the given columns.
func (p *Pipeline) factsOf(b branch, columns []dataset.Column) method.Facts {
	return method.Facts{Columns: columns, Relation: p.Budget.Relation, Epsilon: b.fixed * p.Budget.Epsilon, Delta: fixedDelta * p.Budget.Delta}
}

// importanceLevel is the confidence level of the intervals of importances.
const importanceLevel = .95

// importances returns those of the columns of a model; nil where its method
// releases nothing about how they are spread over the records.
func importances(f *method.Fit) []regression.Importance {
	if len(f.Spreads) == 0 {
		return nil
	}
	return regression.Importances(f.Model.Inputs(), f.Spreads, importanceLevel)
}

// trainerFor returns the trainer for a target: a trainer of numbers tells classes apart
// one against the rest. Columns that are encoded by the target are numbers to it.
func (p *Pipeline) trainerFor(t method.Trainer, target dataset.Column) method.Trainer {
	if target.Kind == dataset.Category {
		m, _ := methodOf(t) // that it is one the rules say
		t = classifierOf(t, m, len(target.Categories), p.pure())
	}
	if p.encodes() {
		return withEncoding{t}
	}
	return t
}
