package tukey

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
	"github.com/dptrain/dptrain/scaling"
)

var (
	// ErrBuckets is returned at plan time for a number of buckets with which the
	// mechanism would not run.
	ErrBuckets = errors.New("tukey: invalid number of buckets")
	// ErrInfeasible is returned at plan time where no number of buckets passes.
	ErrInfeasible = errors.New("tukey: the budget is too small for the mechanism")
	// ErrAbstained is returned by a run that has no model. Whether one abstains
	// is public: it follows from the released number of records, or is what the
	// mechanism released.
	ErrAbstained = errors.New("tukey: the mechanism abstained; the plan says how many records it needs")
)

// leaf is the name of the one release.
const leaf = "tukey"

// Tukey is the trainer. Its stages see the view's columns in the order of
// Columns, the target last.
type Tukey struct {
	// Columns are the features in order and then the target, which must be
	// numeric.
	Columns []dataset.Column
	// Epsilon > 0 and Delta in (0, 1) are what the release costs.
	Epsilon, Delta float64
	// Buckets is the number of buckets; 0 leaves it to the method: 1.25 times
	// the least number that passes the check, less where there are too few
	// records for so many.
	Buckets int
}

// parameters returns the number of parameters of a model: the numeric features,
// the levels of the others and the intercept.
func (t Tukey) parameters() int { return len(slotsOf(t.Columns)) + 1 }

// Plan returns the leaf of the release, whose law calibration leaves alone. The
// errors are [ErrBuckets], [ErrInfeasible], [adassp.ErrTooWide] for more than
// [adassp.MaxSlots] parameters, and a [*budget.LawError] for a budget that is
// none.
func (t Tukey) Plan() (budget.Node, error) {
	law := budget.Law{Kind: budget.Approximate, Epsilon: t.Epsilon, Delta: t.Delta, Draws: 1}
	if err := law.Validate(); err != nil {
		return budget.Node{}, err
	}
	if d := t.parameters(); d > adassp.MaxSlots {
		return budget.Node{}, fmt.Errorf("%w: %d parameters, at most %d; choose features first (selection) or exclude columns", adassp.ErrTooWide, d, adassp.MaxSlots)
	}
	if _, err := t.size(); err != nil {
		return budget.Node{}, err
	}
	return budget.FixedLeaf(leaf, law).Of(mechanism.StatTukey), nil
}

// Records returns how many training records the mechanism needs: from there on
// it runs, and passes its check about 95% of the time where the buckets' models
// are normally distributed. It is 0 for a trainer that Plan refuses.
func (t Tukey) Records() int {
	z, err := t.size()
	if err != nil {
		return 0
	}
	return z.records()
}

// Run trains on the records of v, or returns [ErrAbstained]. atLeast is a
// released lower bound of the number of records (the number itself where it is
// public); one that is too high costs accuracy only. ranges has one entry a
// column: that of the target limits predictions, those of the features anchor
// the intercept, and a feature without one (the zero Range) is anchored at 0. s
// is the session of the parent of the leaf that Plan returned. Other errors are
// those of Plan, of the session and of ctx.
func (t Tukey) Run(ctx context.Context, s *mechanism.Session, v dataset.View, atLeast int, ranges []scaling.Range) (*adassp.Fit, error) {
	z, err := t.size()
	if err != nil {
		return nil, err
	}
	m, enough := z.buckets(atLeast)
	if !enough {
		return nil, ErrAbstained
	}
	f := newFrame(t.Columns, ranges)
	models, err := f.models(ctx, s, v, m)
	if err != nil {
		return nil, err
	}
	points := s.NewPoints(m, z.d)
	for i, model := range models {
		points.Set(i, model)
	}
	point, ok, err := mechanism.TukeyDepth(s, leaf, points.Bound())
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, ErrAbstained
	}
	return f.fit(point.Value()), nil
}
