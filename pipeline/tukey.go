package pipeline

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
	"github.com/dptrain/dptrain/scaling"
	"github.com/dptrain/dptrain/selection"
	"github.com/dptrain/dptrain/tukey"
)

// tukeyTrainer is the Tukey mechanism with the released number of records.
type tukeyTrainer struct {
	tukey.Tukey
	atLeast int
}

func (x setting) tukey() tukeyTrainer {
	return tukeyTrainer{tukey.Tukey{Columns: x.columns, Epsilon: x.epsilon, Delta: x.delta, Buckets: x.buckets}, x.atLeast}
}

// Run trains; see [trainer].
func (t tukeyTrainer) Run(ctx context.Context, s *mechanism.Session, v dataset.View, ranges []scaling.Range) (*adassp.Fit, error) {
	return t.Tukey.Run(ctx, s, v, t.atLeast, ranges)
}

// answered is the probability with which a table of Plan.Records rows gets a
// model from a method that may abstain.
const answered = .95

// Records returns how many rows a table needs so that a method that may abstain
// answers about 95% of the time, held-out part included; 0 for a method that
// always answers. Rows that a cap on units leaves out do not count, nor do those without a
// target that can be read.
func (p *Plan) Records() int { return p.records }

// recordsFor computes Records from the priced plan.
func (p *Pipeline) recordsFor(f selection.Facts, b branch) int {
	if !MayAbstain(b.method) {
		return 0
	}
	need := float64(p.setting(b, b.columns).tukey().Records())
	if !publicCount(f) {
		// n_lo reaches need with probability answered when the records exceed it
		// by the margin that n_lo keeps and the lower tail of its noise.
		scale := float64(p.Budget.Unit.Records()) / (countShare * p.Budget.Epsilon)
		need += scale * (math.Log(1/(2*countMiss)) + math.Log(1/(2*(1-answered))))
	}
	return int(math.Ceil(need / (1 - p.Holdout)))
}
