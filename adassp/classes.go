package adassp

import (
	"context"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
	"github.com/dptrain/dptrain/scaling"
)

// ClassGram is [JointGram] for a target of classes: the rows (x, e, kappa) hold
// the target as a block e of one 0/1 entry a class, and one noisy Gram matrix
// gives the least-squares fit of every class's entry. That costs one release,
// where one class against the others would cost one a class.
//
// The bound is that of [mechanism.Gram]: a row limited to norm B moves the
// matrix by at most B^2 in Frobenius norm (sqrt 2 B^2 for a substituted one),
// whatever its entries mean. The block of the target counts 1 in B^2, as every
// category block does. A record in no class has a block of zeros.
//
// Where only private columns may change, the products of public entries with each
// other and with the classes are exact, as in JointGram: the block of the target
// is public, and as long as a number in [-1, 1] at most.
type ClassGram struct {
	// Columns are the features in order and then the target, a category column.
	Columns []dataset.Column
	// Relation is that of the run.
	Relation budget.Relation
}

// Plan returns the Gaussian leaf of the Gram release.
func (t ClassGram) Plan() (budget.Node, error) { return JointGram(t).Plan() }

// Run trains on the records of v and returns one fit a class: the model of a
// number that is near 1 for its records and near 0 for the others. ranges has one
// entry a column; that of the target, [-1, 1], is not used for encoding. s is the
// session of the parent of the leaf that Plan returned.
func (t ClassGram) Run(ctx context.Context, s *mechanism.Session, v dataset.View, ranges []scaling.Range) ([]*Fit, error) {
	enc, d, fits, err := t.fits(ctx, s, v, ranges)
	if err != nil {
		return nil, err
	}
	out := make([]*Fit, len(fits))
	for k, fit := range fits {
		model := linear(t.Columns, enc, fit, d, true)
		out[k] = &Fit{Model: model, Linear: model, Spreads: spreads(t.Columns, enc, fit, d)}
	}
	return out, nil
}

// fits returns the fits in scaled units, the encoder that says which these are
// and the distribution of the features.
func (t ClassGram) fits(ctx context.Context, s *mechanism.Session, v dataset.View, ranges []scaling.Range) (*scaling.Encoder, Distribution, []solution, error) {
	last := len(t.Columns) - 1
	enc := scaling.NewEncoder(t.Columns, append(ranges[:last:last], scaling.Range{Lower: -1, Upper: 1, Declared: true}))
	if partly(t.Columns, s.Relation()) {
		m, err := releasePartly(ctx, s, t.Columns, mechanism.Over(v), ranges)
		if err != nil {
			return nil, Distribution{}, nil, err
		}
		return enc, m.distribution(), m.solve(), nil
	}
	m, err := ReleaseMoments(ctx, s, "gram", t.Columns, mechanism.Over(v), ranges)
	if err != nil {
		return nil, Distribution{}, nil, err
	}
	first := m.sums.p - 1 - len(t.Columns[last].Categories)
	a := features(m.sums, first)
	return enc, NewDistribution(a, m.sigma), solveAll(m.sums, first, m.sigma, NewSpectrum(a)), nil
}
