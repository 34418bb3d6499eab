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
	sizesShare = .25 // of mu^2: the counts of sizes
	sumsShare  = .75 // of mu^2: the vector of sums
	// Level is the confidence level of the intervals. That of R² is computed at
	// widenedLevel: what is left covers the linearisation of the total sum of
	// squares and makes the stated level one that is kept, not met on average.
	Level        = .95
	widenedLevel = .97
	widened      = 2.17 // standard deviations of a normal law at widenedLevel
	// floor is where values of R² end: lower ones, of models worse than twice
	// the constant model, are reported as floor.
	floor = -1
	// fewStrength is the n mu below which a second kind of record with much larger
	// errors goes unseen (docs/methods/evaluation.md, "Warnings").
	fewStrength = 450
)

// The names of the nodes of the plan.
const (
	r2Node    = "r2"
	sizesLeaf = "sizes"
	sumsLeaf  = "sums"
)

// A Quality says how good predictions are, with an interval that covers the noise
// and the luck of which records were held out.
type Quality struct {
	Value float64 `json:"value"`
	Lower float64 `json:"lower"` // end of the interval, at most Value
	Upper float64 `json:"upper"` // end of the interval, at least Value
	Level float64 `json:"level"` // confidence level of the interval
}

// R2 is a privately released coefficient of determination with all that the same
// two releases say about a model for a numeric target. All of it is public.
//
// The quality R² itself is that of the law of the records, as fresh ones would show it, of targets cut
// to [TargetLower, TargetUpper]: the same cut target in the residuals and in the
// sum of squares around the mean. Its value is in [-1, 1]; -1 stands for "-1 or less".
type R2 struct {
	Quality
	TargetLower float64 `json:"target_lower"` // where targets are cut, in units of the target
	TargetUpper float64 `json:"target_upper"`
	// Beyond is the noisy share of targets beyond these limits; its upper end is at
	// the one-sided level 97.5%.
	Beyond Share `json:"beyond"`
	// Far reports whether targets are seen beyond the limits: Beyond is more than two
	// standard deviations of its noise, or residuals are seen that no others have.
	Far bool `json:"far"`
	// Few reports whether there are too few held-out records, for their noise, to see
	// rare large errors: the interval may be too narrow then.
	Few bool `json:"few"`
	// MAE and RMSE are the mean absolute error and the root of the mean squared error, in
	// units of the target; residuals are limited as for R².
	MAE  Quality `json:"mae"`
	RMSE Quality `json:"rmse"`
	// Intervals holds the half widths of intervals of prediction by increasing level;
	// none where they would be several times too wide.
	Intervals []HalfWidth `json:"intervals"`
	Records   Count       `json:"records"` // held-out records with a target that can be read
	Missing   Count       `json:"missing"` // held-out records without
}

// String returns the value and its interval, the interval alone where [R2.Unknown].
func (r R2) String() string {
	interval := fmt.Sprintf("%v%% interval %.3g to %.3g", 100*r.Level, r.Lower, r.Upper)
	if r.Unknown() {
		return "unknown, " + interval
	}
	return fmt.Sprintf("%.3g, %s", r.Value, interval)
}

// Unknown reports whether the interval is so wide that the value says nothing.
func (r R2) Unknown() bool { return r.Upper-r.Lower > 1 }

// Regression releases the held-out R² of a model for a numeric target.
type Regression struct{}

// Plan returns the two leaves of the release.
func (Regression) Plan() budget.Node {
	return budget.Seq(r2Node,
		budget.GaussianLeaf(sizesLeaf, sizesShare, 1).Of(mechanism.StatSizeCounts),
		budget.GaussianLeaf(sumsLeaf, sumsShare, 1).Of(mechanism.StatSquareSums)).As(budget.Stage)
}

// Run releases R². s is the session of the node that Plan returned.
func (Regression) Run(ctx context.Context, s *mechanism.Session, p Pairs) (R2, error) {
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
	l := readLimits(sizes)
	o := readOctaves(sizes, l)
	sums, err := mechanism.Sum[*sumPass](ctx, s, p.Records, sumStatistic{scaled, l.target, l.residual, o})
	if err != nil {
		return R2{}, err
	}
	squares, err := sums.sums.Release(s, sumsLeaf)
	if err != nil {
		return R2{}, err
	}
	return read(p, sizes, l, o, squares.Value()), nil
}

// read returns what both releases say, in units of the target.
func read(p Pairs, sizes mechanism.Sizes, l limits, o octaves, a mechanism.Squares) R2 {
	center, half := p.frame()
	e := estimate(sizes, l, a)
	quality := func(value, lower, upper float64) Quality { return Quality{value, lower, upper, Level} }
	out := R2{
		Quality:     quality(e.r2()),
		TargetLower: finite(center - half*l.target), TargetUpper: finite(center + half*l.target),
		Records: Count{a.Count, a.CountNoise}, Missing: missing(sizes, a),
	}
	// No residual of a cut target is larger than its limit and 1.
	inUnits := func(value, lower, upper float64) Quality {
		upper = min(upper, l.target+1)
		value = min(value, upper)
		return quality(finite(value*half), finite(min(lower, value)*half), finite(upper*half))
	}
	out.MAE, out.RMSE = consistent(inUnits(e.mae()), inUnits(e.rmse()))

	count, noise := l.beyond(sizes)
	out.Far = l.far || count > 2*noise
	share := min(max(count/e.n, 0), 1)
	reach := twoSided * math.Sqrt(sq(noise)+max(count, 0)) / e.n
	out.Beyond = limited(Share{Value: share, Lower: share - reach, Upper: share + reach, Level: Level})

	strength := e.n * strengthOf(sizes)
	out.Few = strength < fewStrength
	for _, w := range halfWidths(a, o, strength) {
		if w.HalfWidth = finite(w.HalfWidth * half); w.HalfWidth > 0 {
			out.Intervals = append(out.Intervals, w)
		}
	}
	return out
}

// consistent returns a mean absolute error and a root mean squared error that can be those of one list of errors: the first is
// at most the second, which noise may hide. Each interval is cut at the other's end. If the intervals exclude each other, the
// noise misled at least one of them, and both become the interval that holds the two.
func consistent(mae, rmse Quality) (Quality, Quality) {
	if mae.Lower > rmse.Upper {
		mae.Lower, rmse.Upper = rmse.Lower, mae.Upper
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

// strengthOf returns the mu of the part that the noise of the sizes stands for where
// one record is added or removed: a plain number of how precise a count is.
func strengthOf(sizes mechanism.Sizes) float64 {
	return math.Sqrt(1.25) / (sizes.FirstNoise * math.Sqrt(sizesShare))
}

// finite returns x within the range of float64: the range of a target may be as wide.
func finite(x float64) float64 { return min(max(x, -math.MaxFloat64), math.MaxFloat64) }

// Exact returns the R² that the released one estimates, of targets and predictions: targets
// are cut to [lower, upper] and a record without one is left out. There is no privacy in it:
// it is for tests and for experiments on public data; its result must never leave
// otherwise.
func Exact(target, prediction []float64, lower, upper float64) float64 {
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
		rest += sq(v - prediction[i])
	}
	if !(total > 0) {
		return floor
	}
	return max(1-rest/total, floor)
}
