package tukey

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
)

var (
	// ErrBuckets is returned at plan time for a number of buckets with which the
	// mechanism would not run.
	ErrBuckets = errors.New("invalid number of buckets")
	// ErrInfeasible is returned at plan time where no number of buckets passes.
	ErrInfeasible = fault.New(fault.Budget, "the budget is too small for the mechanism")
	// ErrAbstained is returned by a run that has no model. Whether one abstains
	// is public: it follows from the released number of records, or is what the
	// mechanism released.
	ErrAbstained = fmt.Errorf("%w; the plan says how many records it needs", method.ErrAbstained)
)

// leaf is the name of the one release.
const leaf = "tukey"

// Tukey is the trainer. Its release costs the Epsilon > 0 and the Delta in (0, 1) of
// its facts.
type Tukey struct {
	// Buckets is the number of buckets; 0 leaves it to the method: 1.25 times
	// the least number that passes the check, less where there are too few
	// records for so many.
	Buckets int
	// CheckShare is the share of epsilon of the check, above 0 and below 1, and StepShare that of one step of depth in the
	// draw, above 0 and below 1/2. 0 stands for what the other leaves, CheckShare + 2 StepShare = 1, and both 0 for the
	// split that passes with the fewest buckets.
	CheckShare, StepShare float64
}

// shareTolerance is how far from 1 the shares may add up to: they are written with few digits.
const shareTolerance = 1e-9

// split returns the division of epsilon, or an error that wraps [mechanism.ErrSplit].
func (t Tukey) split() (mechanism.DepthSplit, error) {
	out := mechanism.DepthSplit{Check: t.CheckShare, Step: t.StepShare}
	switch {
	case out == mechanism.DepthSplit{}:
		out = mechanism.UsualSplit()
	case out.Check == 0:
		out.Check = 1 - 2*out.Step
	case out.Step == 0, math.Abs(out.Check+2*out.Step-1) <= shareTolerance:
		out.Step = (1 - out.Check) / 2
	}
	return out, out.Validate()
}

// Name returns "tukey".
func (Tukey) Name() string { return "tukey" }

// Gathers returns true: a model is fitted to the records of every bucket.
func (Tukey) Gathers() bool { return true }

// InBuckets returns true: the records of one bucket are needed at a time.
func (Tukey) InBuckets() bool { return true }

// NeedsCount returns true: what the mechanism does depends on the number of records.
func (Tukey) NeedsCount() bool { return true }

// parameters returns the number of parameters of a model: the numeric features,
// the levels of the others and the intercept.
func parameters(columns []dataset.Column) int { return len(slotsOf(columns)) + 1 }

// Plan returns the leaf of the release, whose law calibration leaves alone. The
// errors are [ErrBuckets], [mechanism.ErrSplit], [ErrInfeasible], [linear.ErrTooWide] for more than
// [linear.MaxSlots] parameters, and a [*budget.LawError] for a budget that is
// none.
func (t Tukey) Plan(f method.Facts) (budget.Node, error) {
	law := budget.Law{Kind: budget.Approximate, Epsilon: f.Epsilon, Delta: f.Delta, Draws: 1}
	if err := law.Validate(); err != nil {
		return budget.Node{}, err
	}
	if err := linear.CheckWidth(parameters(f.Columns), "parameters"); err != nil {
		return budget.Node{}, err
	}
	if _, err := t.size(f); err != nil {
		return budget.Node{}, err
	}
	return budget.FixedLeaf(leaf, law).Of(mechanism.StatTukey), nil
}

// Records returns how many training records the mechanism needs: from there on
// it runs, and passes its check about 95% of the time where the buckets' models
// are normally distributed. It is 0 for a trainer that Plan refuses.
func (t Tukey) Records(f method.Facts) int {
	z, err := t.size(f)
	if err != nil {
		return 0
	}
	return z.records()
}

// Fit trains, or returns [ErrAbstained]; see [method.Trainer]. The range of the target
// limits predictions, those of the features anchor the intercept, and a feature without
// one (the zero Range) is anchored at 0. Where the columns are wider than the buckets
// allow, which follows from what was released, it abstains too. Other errors are those
// of the session and of ctx.
func (t Tukey) Fit(ctx context.Context, s *mechanism.Session, d method.Data) (*method.Fit, error) {
	z, err := t.size(d.Facts)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAbstained, err)
	}
	m, enough := z.buckets(d.AtLeast)
	if !enough {
		return nil, ErrAbstained
	}
	f := newFrame(d.Columns, d.Ranges)
	models, err := f.models(ctx, s, d.Records, m)
	if err != nil {
		return nil, err
	}
	points := s.NewPoints(m, z.d)
	for i, model := range models {
		points.Set(i, model)
	}
	split, err := t.split()
	if err != nil {
		return nil, err
	}
	point, ok, err := mechanism.TukeyDepth(s, leaf, points.Bound(), split)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, ErrAbstained
	}
	return f.fit(point.Value()), nil
}
