package adassp

import (
	"context"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// JointGram is the joint noisy Gram trainer for a numeric or a class target; see classes.go.
type JointGram struct {
	pure bool // use Laplace noise
}

// PureForm returns the trainer with Laplace noise. It applies unless only private columns are protected.
func (t JointGram) PureForm() method.Trainer {
	t.pure = true
	return t
}

// Name returns "joint-gram".
func (JointGram) Name() string {
	return "joint-gram"
}

// Plan returns the leaf of the Gram release. Its error is [linear.ErrTooWide].
func (t JointGram) Plan(f method.Facts) (budget.Node, error) {
	if err := linear.CheckWidth(len(scaling.NewEncoder(f.Columns, nil).Slots())+1,
		"entries a row"); err != nil {
		return budget.Node{}, err
	}
	switch {
	case f.LabelOnly && !t.pure:
		return budget.GaussianLeaf("gram", linear.GramShare, 1).
			WithStatistic(mechanism.StatLabelSums), nil
	case len(f.Columns) > 0 && protectsFeaturesOnly(f.Columns, f.Relation):
		return budget.GaussianLeaf("gram", linear.GramShare, 1).
			WithStatistic(mechanism.StatPrivateBlocks), nil
	case t.pure:
		return budget.PureLeaf("gram", linear.GramShare, 1).
			WithStatistic(mechanism.StatGramEntries), nil
	}
	return budget.GaussianLeaf("gram", linear.GramShare, 1).WithStatistic(mechanism.StatGram), nil
}

// Fit trains; see [method.Trainer].
//
// If only private columns may change and the target is not one of them, the moments of public columns are exact
// and the release holds the other moments only. If the target alone may change, that is the products with the target.
func (t JointGram) Fit(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (*method.Fit, error) {
	switch {
	case d.Target().Kind == dataset.Category:
		return t.fitClasses(ctx, s, d)
	case d.LabelOnly && !t.pure:
		return linear.FitLabels(ctx, s, "gram", d, true)
	case protectsFeaturesOnly(d.Columns, s.Relation()):
		return fitPartly(ctx, s, d)
	}
	m, err := linear.ReleaseMoments(ctx, s, "gram", d.Columns, d.Records, d.Ranges)
	if err != nil {
		return nil, err
	}
	theta, cov := m.SolveLifted()
	return linear.FitOf(m.Linear(theta, cov), m.TargetMean(), m.Spreads(theta, cov)), nil
}
