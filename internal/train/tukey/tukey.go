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
	settings "github.com/dptrain/dptrain/tukey"
)

var (
	// ErrBuckets is returned at plan time for a number of buckets with which the
	// mechanism would not run.
	ErrBuckets = errors.New("invalid number of buckets")
	// ErrInfeasible is returned at plan time if no number of buckets passes.
	ErrInfeasible = fault.New(fault.Budget, "the budget is too small for the mechanism")
	// ErrAbstained is returned by a run without a model. Whether a run abstains is public: it is computed from
	// the released number of records, or is the output of the mechanism.
	ErrAbstained = fmt.Errorf("%w; the plan shows how many records it needs", method.ErrAbstained)
)

// tukeyLeaf is the name of the only release.
const tukeyLeaf = "tukey"

// Tukey is the trainer. Its release takes the Epsilon > 0 and the Delta in (0, 1) of its facts.
type Tukey settings.Tukey

// shareTolerance is the permitted deviation of the sum of the shares from 1: they are written with few digits.
const shareTolerance = 1e-9

// depthSplit returns the division of epsilon, or an error that wraps [mechanism.ErrSplit].
func (t Tukey) depthSplit() (mechanism.DepthSplit, error) {
	out := mechanism.DepthSplit{
		Check: t.CheckShare,
		Step:  t.StepShare,
	}
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
func (Tukey) Name() string {
	return "tukey"
}

// Gathers returns true: a model is fitted to the records of every bucket.
func (Tukey) Gathers() bool {
	return true
}

// InBuckets returns true: the records of one bucket are needed at a time.
func (Tukey) InBuckets() bool {
	return true
}

// NeedsCount returns true: the number of buckets depends on the number of records.
func (Tukey) NeedsCount() bool {
	return true
}

// parameterCount returns the number of parameters of a model: the numeric features,
// the levels of the others and the intercept.
func parameterCount(columns []dataset.Column) int {
	return len(slotsOf(columns)) + 1
}

// Plan returns the leaf of the release, whose distribution is fixed before calibration. The errors are
// [ErrBuckets], [mechanism.ErrSplit], [ErrInfeasible], [linear.ErrTooWide] for more than [linear.MaxSlots]
// parameters, and a [*budget.LawError] for an invalid budget.
func (t Tukey) Plan(f method.Facts) (budget.Node, error) {
	law := budget.Law{
		Kind:    budget.Approximate,
		Epsilon: f.Epsilon,
		Delta:   f.Delta,
		Draws:   1,
	}
	if err := law.Validate(); err != nil {
		return budget.Node{}, err
	}
	if err := linear.CheckWidth(parameterCount(f.Columns), "parameters"); err != nil {
		return budget.Node{}, err
	}
	if _, err := t.bucketCounts(f); err != nil {
		return budget.Node{}, err
	}
	return budget.FixedLeaf(tukeyLeaf, law).WithStatistic(mechanism.StatTukey), nil
}

// Records returns the required number of training records: with at least that many, the mechanism runs, and
// passes its check about 95% of the time if the buckets' models are normally distributed. It is 0 for a trainer
// that Plan rejects.
func (t Tukey) Records(f method.Facts) int {
	z, err := t.bucketCounts(f)
	if err != nil {
		return 0
	}
	return z.requiredRecords()
}

// Fit trains, or returns [ErrAbstained]; see [method.Trainer]. The range of the target limits predictions,
// those of the features and their medians anchor the intercept, and a feature without a range (the zero Range) is
// anchored at 0.
// If the columns are wider than the buckets allow, which depends on releases only, it abstains too. Other
// errors are those of the session and of ctx.
func (t Tukey) Fit(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (*method.Fit, error) {
	z, err := t.bucketCounts(d.Facts)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAbstained, err)
	}
	m, enough := z.bucketCount(d.AtLeast)
	if !enough {
		return nil, ErrAbstained
	}
	f := newFrame(d.Columns, d.Ranges)
	models, err := f.fitBuckets(ctx, s, d.Records, m)
	if err != nil {
		return nil, err
	}
	points := s.NewPoints(m, z.d)
	for i, model := range models {
		points.Set(i, model)
	}
	split, err := t.depthSplit()
	if err != nil {
		return nil, err
	}
	point, ok, err := mechanism.TukeyDepth(s, tukeyLeaf, points.Bound(), split)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, ErrAbstained
	}
	return f.fit(point.Value()), nil
}
