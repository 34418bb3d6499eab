package adassp

import (
	"context"
	"errors"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/method"
	"github.com/dptrain/dptrain/internal/scaling"
	"github.com/dptrain/dptrain/regression"
)

const (
	// GramShare is the share of mu^2 of the Gram release where ranges are
	// released too; without them it is the whole budget.
	GramShare = 1 - scaling.ExponentShare - scaling.BinShare
	// Kappa is the constant entry of every row, from which the intercept is
	// fitted. A constant 1 would take much of the row's norm.
	Kappa = .5
	// RidgeFactor times the operator norm of the noise, sigma sqrt(2(k+1)), is
	// the ridge penalty (docs/methods/joint-gram.md, "Algorithm").
	RidgeFactor = .7
	// MaxSlots is the largest number of entries of a row: the solver takes
	// cubic time in it.
	MaxSlots = 4096
)

// ErrTooWide is returned at plan time for a table with too many columns.
var ErrTooWide = errors.New("too many columns for one Gram matrix")

// JointGram is the joint noisy Gram trainer, of a number or of classes; see classes.go.
type JointGram struct{}

// Name returns "joint-gram".
func (JointGram) Name() string { return "joint-gram" }

// Plan returns the Gaussian leaf of the Gram release. Its error is [ErrTooWide].
func (JointGram) Plan(f method.Facts) (budget.Node, error) {
	if err := checkWidth(len(scaling.NewEncoder(f.Columns, nil).Slots()) + 1); err != nil {
		return budget.Node{}, err
	}
	released := mechanism.StatGram
	if len(f.Columns) > 0 && partly(f.Columns, f.Relation) {
		released = mechanism.StatPrivateBlocks
	}
	return budget.GaussianLeaf("gram", GramShare, 1).Of(released), nil
}

// Fit trains; see [method.Trainer].
//
// Where only private columns may change and the target is not one of them, the
// moments of public columns are exact and the release holds the others alone.
func (JointGram) Fit(ctx context.Context, s *mechanism.Session, d method.Data) (*method.Fit, error) {
	switch {
	case d.Target().Kind == dataset.Category:
		return fitClasses(ctx, s, d)
	case partly(d.Columns, s.Relation()):
		return fitPartly(ctx, s, d)
	}
	m, err := ReleaseMoments(ctx, s, "gram", d.Columns, d.Records, d.Ranges)
	if err != nil {
		return nil, err
	}
	theta, cov := m.Solve()
	solution{theta, cov}.liftConstant(m.sums.at(m.sums.p-1, m.sums.p-1), m.penalty())
	return fitOf(m.Linear(theta, cov), m.TargetMean(), m.Spreads(theta, cov)), nil
}

// fitOf is the fit of a model of a number.
func fitOf(m regression.Model, mean float64, spreads []regression.Spread) *method.Fit {
	return &method.Fit{Model: m, TargetMean: mean, Spreads: [][]regression.Spread{spreads}}
}

// meanOf reads the mean of the target from the noisy sums of y' kappa and of
// kappa^2, weighted alike, within the target's range y.
func meanOf(y scaling.Range, cross, weight float64) float64 {
	if !(weight > 0) {
		return y.Center()
	}
	return y.Center() + y.Half()*min(max(cross*Kappa/weight, -1), 1)
}

// gramStatistic is the sum of z z^T over the encoded rows z, the constant Kappa last,
// limited to norm B.
type gramStatistic struct {
	Columns []dataset.Column
	Ranges  []scaling.Range
}

// New implements [mechanism.Statistic].
func (x gramStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	enc := scaling.NewEncoder(x.Columns, x.Ranges)
	return newGramPass(enc, m.NewGram(len(enc.Slots())+1, enc.NormLimit(Kappa)))
}

// gramPass encodes blocks and feeds them to a Gram accumulator.
type gramPass struct {
	enc     *scaling.Encoder
	gram    *mechanism.Gram
	rows    [][]int16
	scratch scaling.Scratch
}

func newGramPass(enc *scaling.Encoder, g *mechanism.Gram) *gramPass {
	return &gramPass{enc: enc, gram: g, rows: make([][]int16, len(enc.Slots())+1)}
}

func (p *gramPass) Add(b mechanism.Block) {
	p.encode(b.Block)
	p.gram.Add(p.rows)
}

func (p *gramPass) Cells() mechanism.Cells { return p.gram.Cells() }

// encode replaces the rows by those of a block.
func (p *gramPass) encode(b dataset.Block) {
	n := b.Len()
	for k := range p.rows {
		if cap(p.rows[k]) < n {
			p.rows[k] = make([]int16, n)
		}
		p.rows[k] = p.rows[k][:n]
	}
	p.enc.Encode(b, p.rows[:len(p.rows)-1], &p.scratch)
	constant := p.rows[len(p.rows)-1]
	for i := range constant {
		constant[i] = scaling.FixedPoint(Kappa)
	}
}
