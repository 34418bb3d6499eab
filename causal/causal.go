// Package causal infers which of two numeric columns causes the other, with differential privacy.
//
// A [Study] releases one noisy two-dimensional histogram per pair of columns, and all results are computed from it
// (docs/proofs/causal.md, "Algorithm"). Inference from two columns assumes that there is no third one that causes both,
// which no release can verify. The command `dptrain causal` makes the same study with a report and a ledger.
package causal

import (
	"context"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/causal"
)

// A Study infers the causal direction of every pair of its columns.
type Study struct {
	// Schema declares the columns: from 2 to 20 numeric ones, and the unit column if Budget protects units. Ranges
	// that are not declared are found privately, with 0.3 of epsilon.
	Schema dataset.Schema
	// Budget is the privacy budget, under budget.AddRemove or budget.Substitute. Without a delta all noise is pure.
	Budget budget.Target
	// Bins is the number of bins per column, from 4 to 32. 0 derives it from a noisy number of the records, which
	// takes 0.02 of epsilon.
	Bins int
}

// A Plan is a priced study. It pays for one call of [Plan.Run].
type Plan struct {
	plan *causal.Plan
}

// A Result has the conclusions of a study. The guarantee covers all of it.
type Result struct {
	Guarantee budget.Guarantee
	Bins      int
	// Records is the noisy number of records that determined Bins; 0 if Bins was declared.
	Records float64
	Pairs   []Pair // in the order of the columns
	// Warnings are public remarks on the study.
	Warnings []string
}

// A Pair is the answer for two columns.
type Pair struct {
	X, Y string
	// Direction is 1 if X causes Y, -1 if Y causes X, and 0 if the released numbers do not decide: see Stability and
	// Dependence.
	Direction int
	// Stability is the share of redraws of the released histogram with the same direction, in [0, 1]; at least 0.9
	// for a direction.
	Stability float64
	// Dependence is the share of redraws of independent columns that look less dependent than the pair, in [0, 1].
	Dependence float64
}

// Plan prices the study; no row is read. The error describes an invalid study, or is that of package budget.
func (s Study) Plan() (*Plan, error) {
	p, err := causal.Study{
		Schema: s.Schema,
		Budget: s.Budget,
		Bins:   s.Bins,
	}.Plan()
	if err != nil {
		return nil, err
	}
	return &Plan{p}, nil
}

// Guarantee returns the guarantee of the study.
func (p *Plan) Guarantee() budget.Guarantee {
	return p.plan.Guarantee()
}

// Again returns a plan for another run at the same price, which comes on top of the price of the first one.
func (p *Plan) Again() *Plan {
	return &Plan{p.plan.Again()}
}

// Run makes the study on a table that was read with its schema. Its errors do not depend on a record.
func (p *Plan) Run(ctx context.Context, t *dataset.Table) (*Result, error) {
	if err := p.plan.Rehearse(ctx); err != nil {
		return nil, err
	}
	x, err := p.plan.Run(ctx, t)
	if err != nil {
		return nil, err
	}
	out := &Result{
		Guarantee: x.Guarantee,
		Bins:      x.Bins,
		Records:   x.Records,
	}
	for _, pair := range x.Pairs {
		out.Pairs = append(out.Pairs, Pair{
			X:          pair.X,
			Y:          pair.Y,
			Direction:  pair.Direction,
			Stability:  pair.Stability,
			Dependence: pair.Dependence,
		})
	}
	for _, w := range x.Warnings {
		out.Warnings = append(out.Warnings, w.Text)
	}
	return out, nil
}
