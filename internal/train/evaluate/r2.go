package evaluate

import (
	"context"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// The settings of the held-out R².
const (
	sizesShare = .15 // of mu^2: the counts of sizes
	sumsShare  = .85 // of mu^2: the vector of sums
	// The same of epsilon, for Laplace noise.
	pureSizesShare = .3
	pureSumsShare  = .7
	// Level is the confidence level of the intervals.
	Level = .95
	// AllErrorsLevel is the confidence level of the bound on R² of all errors.
	AllErrorsLevel = .975
	// floor is the lowest value of R²: lower ones, of models worse than twice
	// the constant model, are reported as floor.
	floor = -1
)

// Node names of the plan.
const (
	r2Node    = "r2"
	sizesLeaf = "sizes"
	sumsLeaf  = "sums"
)

// A Quality is a measure of prediction quality, with an interval that covers the noise and the sampling error
// of the held-out part.
type Quality struct {
	Value float64 `json:"value"`
	Lower float64 `json:"lower"` // end of the interval, at most Value
	Upper float64 `json:"upper"` // end of the interval, at least Value
	Level float64 `json:"level"` // confidence level of the interval
}

// R2 is a privately released coefficient of determination with everything else that the same
// two releases measure of a model for a numeric target. All of it is public.
//
// The quality R² itself is
//
//	1 - E min(|t-p|, C)^2 / Var t
//
// of the distribution of the records, as new ones would show it, where the target t and the prediction p are cut to
// [TargetLower, TargetUpper] and C is ErrorLimit. Its value is in [-1, 1]; -1 means "-1 or less".
type R2 struct {
	Quality
	// ErrorLimit is C, the size above which an error counts as that size, in units of the target.
	ErrorLimit float64 `json:"error_limit"`
	// SeenBeyond reports whether errors above the first limit were seen, so that C was raised.
	SeenBeyond bool `json:"seen_beyond"`
	// AllErrorsLower is the lowest R² that all errors, of any size, can have: a bound at the level
	// [AllErrorsLevel] that holds for every distribution of the errors above C. At most Lower.
	AllErrorsLower float64 `json:"all_errors_lower"`
	// NoiseShare is the part of the variance of R² that is noise, in [0, 1]. A larger budget reduces
	// it; the rest is sampling error, which more held-out records reduce.
	NoiseShare  float64 `json:"noise_share"`
	TargetLower float64 `json:"target_lower"` // where targets are cut, in units of the target
	TargetUpper float64 `json:"target_upper"`
	// PredictionsCut reports whether predictions are clamped at these limits too, which are then within the
	// range of the model.
	PredictionsCut bool `json:"predictions_cut"`
	// Beyond is the noisy share of targets beyond these limits; its upper end is at
	// the one-sided level 97.5%.
	Beyond Share `json:"beyond"`
	// Far reports whether targets are seen beyond the limits: Beyond is more than two
	// standard deviations of its noise.
	Far bool `json:"far"`
	// MAE and RMSE are the mean absolute error and the root of the mean squared error, in
	// units of the target; errors count as at most C. For RMSE, as for R², targets and
	// predictions are cut.
	MAE  Quality `json:"mae"`
	RMSE Quality `json:"rmse"`
	// Intervals holds the half widths of prediction intervals by increasing level; empty if they would be
	// several times too wide.
	Intervals []HalfWidth `json:"intervals"`
	Records   Count       `json:"records"` // held-out records with a readable target
	Missing   Count       `json:"missing"` // held-out records without
	// Groups are the metrics by group; nil if the records are not divided.
	Groups *ByGroup `json:"groups,omitempty"`
}

// String returns the value and its interval, or only the interval if [R2.Unknown].
func (r R2) String() string {
	interval := fmt.Sprintf("%v%% interval %.3g to %.3g", 100*r.Level, r.Lower, r.Upper)
	if r.Unknown() {
		return "unknown, " + interval
	}
	return fmt.Sprintf("%.3g, %s", r.Value, interval)
}

// Unknown reports whether the interval is too wide for the value to be informative.
func (r R2) Unknown() bool {
	return !R2Measured(r.Lower, r.Upper)
}

// Regression releases the held-out R² of a model for a numeric target.
type Regression struct {
	ByGroup bool // the second release divides the records by [Pairs.Groups] as well; see [mechanism.GroupedSquareSums]
	// Pure makes both releases with Laplace noise, for a run without a delta. There are no prediction intervals then, and
	// records cannot be divided into groups.
	Pure bool
}

// Plan returns the two leaves of the release. Groups do not change their price: a record is in one group, so it moves one
// vector of bounded length.
func (r Regression) Plan() budget.Node {
	if r.Pure && !r.ByGroup {
		return budget.Sequence(r2Node,
			budget.PureLeaf(sizesLeaf, pureSizesShare, 1).WithStatistic(mechanism.StatSizeEntries),
			budget.PureLeaf(sumsLeaf, pureSumsShare, 1).WithStatistic(mechanism.StatSquareEntries)).
			WithRole(budget.RoleStage)
	}
	statistic := mechanism.StatSquareSums
	if r.ByGroup {
		statistic = mechanism.StatGroupedSquares
	}
	return budget.Sequence(r2Node,
		budget.GaussianLeaf(sizesLeaf, sizesShare, 1).WithStatistic(mechanism.StatSizeCounts),
		budget.GaussianLeaf(sumsLeaf, sumsShare, 1).WithStatistic(statistic)).
		WithRole(budget.RoleStage)
}

// Run releases R². s is the session of the node that Plan returned.
func (r Regression) Run(
	ctx context.Context,
	s *mechanism.Session,
	p Pairs,
) (R2, error) {
	if r.Pure && !r.ByGroup {
		return runPure(ctx, s, p)
	}
	scaled := newScaler(p)
	defer p.Records.Forget(scaled.Predictions)
	counts, err := mechanism.Sum[*sizePass](ctx, s, p.Records, sizeStatistic{scaled})
	if err != nil {
		return R2{}, err
	}
	released, err := counts.counts.Release(s, sizesLeaf)
	if err != nil {
		return R2{}, err
	}
	sizes := released.Value()
	squareNoise := mechanism.SquareSumsNoise(s, sumsLeaf)
	if groups := p.Groups.count(); groups > 0 {
		squareNoise = mechanism.GroupedSquaresNoise(s, sumsLeaf, groups, p.Groups.Change)
	}
	l := readLimits(sizes, squareNoise)
	o := readOctaves(sizes, l)
	sums, err := mechanism.Sum[*sumPass](
		ctx,
		s,
		p.Records,
		sumStatistic{scaled, l.target, l.residual, l.ratio(), o, p.Groups, false},
	)
	if err != nil {
		return R2{}, err
	}
	if sums.grouped == nil {
		squares, err := sums.sums.Release(s, sumsLeaf)
		if err != nil {
			return R2{}, err
		}
		return readR2(p, sizes, l, o, squares.Value()), nil
	}
	grouped, err := sums.grouped.Release(s, sumsLeaf)
	if err != nil {
		return R2{}, err
	}
	squares := grouped.Value().Join()
	out := readR2(p, sizes, l, o, squares)
	_, half := p.targetFrame()
	out.Groups = RegressionGroups(
		p.Groups.Column,
		p.Groups.Names,
		releasedSums(half, sizes, l, squares, grouped.Value()),
	)
	return out, nil
}

// runPure releases R² with Laplace noise.
func runPure(ctx context.Context, s *mechanism.Session, p Pairs) (R2, error) {
	scaled := newScaler(p)
	defer p.Records.Forget(scaled.Predictions)
	counts, err := mechanism.Sum[*sizePass](ctx, s, p.Records, sizeStatistic{scaled})
	if err != nil {
		return R2{}, err
	}
	released, err := counts.counts.ReleaseEntries(s, sizesLeaf)
	if err != nil {
		return R2{}, err
	}
	sizes := released.Value()
	l := readLimits(sizes, mechanism.SquareEntriesNoise(s, sumsLeaf))
	sums, err := mechanism.Sum[*sumPass](ctx, s, p.Records, sumStatistic{
		Scaler:        scaled,
		TargetLimit:   l.target,
		ResidualLimit: l.residual,
		Pure:          true,
	})
	if err != nil {
		return R2{}, err
	}
	squares, err := sums.sums.ReleaseEntries(s, sumsLeaf)
	if err != nil {
		return R2{}, err
	}
	return readR2(p, sizes, l, nil, squares.Value()), nil
}

// readR2 computes the quality of a model from both releases, in units of the target.
func readR2(
	p Pairs,
	sizes mechanism.Sizes,
	l limits,
	o octaves,
	a mechanism.Squares,
) R2 {
	center, half := p.targetFrame()
	e := computeEstimates(sizes, l, a)
	quality := func(value, lower, upper float64) Quality {
		return Quality{value, lower, upper, Level}
	}
	out := R2{
		Quality:        quality(e.r2()),
		ErrorLimit:     clampFinite(half * e.cut),
		SeenBeyond:     e.seenBeyond,
		AllErrorsLower: e.allErrorsLower(),
		NoiseShare:     e.noiseShare(),
		TargetLower:    clampFinite(center - half*l.target),
		TargetUpper:    clampFinite(center + half*l.target),
		PredictionsCut: l.target < 1,
		Records:        Count{a.Count, a.CountNoise},
		Missing:        countMissing(sizes, a),
	}
	// No error counts as more than the limit.
	inUnits := func(value, lower, upper float64) Quality {
		upper = min(upper, e.cut)
		value = min(value, upper)
		return quality(
			clampFinite(value*half),
			clampFinite(min(lower, value)*half),
			clampFinite(upper*half),
		)
	}
	mae := inUnits(e.mae())
	rmse := inUnits(e.rmse())
	if out.PredictionsCut {
		// The RMSE of clamped errors is too small, so it does not contradict a larger MAE.
		rmse.Upper = max(rmse.Upper, mae.Upper)
	}
	out.MAE, out.RMSE = makeConsistent(mae, rmse)
	if !l.seen {
		out.forgetScale()
	}

	count, noise := l.countBeyond(sizes)
	out.Far = count > 2*noise
	share := min(max(count/e.n, 0), 1)
	reach := deviationsOfSizes(sizes) * math.Sqrt(square(noise)+max(count, 0)) / e.n
	out.Beyond = limitShare(
		Share{
			Value: share,
			Lower: share - reach,
			Upper: share + reach,
			Level: Level,
		})

	if sizes.Laplace || !l.seen {
		return out
	}
	for _, w := range halfWidths(a, o, e.n*strengthOf(sizes)) {
		if w.HalfWidth = clampFinite(w.HalfWidth * half); w.HalfWidth > 0 {
			out.Intervals = append(out.Intervals, w)
		}
	}
	return out
}

// forgetScale makes the intervals as wide as they can be: noise chose the limits, so R² of targets and errors cut there
// does not describe the model, even where it is known precisely.
func (r *R2) forgetScale() {
	r.Lower, r.Upper = floor, 1
	r.AllErrorsLower = floor
	r.NoiseShare = 1
	for _, size := range []*Quality{&r.MAE, &r.RMSE} {
		size.Lower, size.Upper = 0, r.ErrorLimit
	}
}

// deviationsOfSizes returns the number of standard deviations of a sum of counts of sizes within which it is with probability
// [Level] or more.
func deviationsOfSizes(sizes mechanism.Sizes) float64 {
	if sizes.Laplace {
		return laplaceBound(twoSided)
	}
	return twoSided
}

// makeConsistent returns a mean absolute error and a root mean squared error that can belong to the same errors:
// the first is at most the second, which noise may violate. Each interval is cut at the other's end. If the
// intervals are disjoint, at least one of them is wrong because of noise, and both become the interval that
// covers the two.
func makeConsistent(mae, rmse Quality) (Quality, Quality) {
	if mae.Lower > rmse.Upper {
		mae.Lower = rmse.Lower
		rmse.Upper = mae.Upper
	}
	mae.Upper = min(mae.Upper, rmse.Upper)
	rmse.Lower = max(rmse.Lower, mae.Lower)
	if mae.Value > rmse.Value {
		mae.Value = mae.Value/2 + rmse.Value/2
		rmse.Value = mae.Value
	}
	mae.Value = min(max(mae.Value, mae.Lower), mae.Upper)
	rmse.Value = min(max(rmse.Value, rmse.Lower), rmse.Upper)
	return mae, rmse
}

// strengthOf returns the mu of the held-out part at which adding or removing one record has the
// noise of these sizes. Under other relations and with units of several records it is smaller
// than the part's own.
func strengthOf(sizes mechanism.Sizes) float64 {
	return math.Sqrt(1.25) / (sizes.FirstNoise * math.Sqrt(sizesShare))
}

// clampFinite returns x within the range of float64: the range of a target may be as wide.
func clampFinite(x float64) float64 {
	return min(max(x, -math.MaxFloat64), math.MaxFloat64)
}

// Exact returns the R² that the released one estimates, of targets and predictions: both
// are cut to [lower, upper], an error counts as at most limit, and a record without a target is
// left out. There is no privacy in it: it is for tests and for experiments on public data, and
// its result must never be released otherwise.
func Exact(target, prediction []float64, lower, upper, limit float64) float64 {
	var n, mean, total, rest float64
	for i, v := range target {
		if v-v != 0 {
			continue
		}
		v = min(max(v, lower), upper)
		n++
		d := v - mean
		mean += d / n
		total += d * (v - mean)
		rest += square(min(math.Abs(v-min(max(prediction[i], lower), upper)), limit))
	}
	if !(total > 0) {
		return floor
	}
	return max(1-rest/total, floor)
}
