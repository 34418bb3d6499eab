package evaluate

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
)

// The settings of the held-out R².
const (
	scaleShare = .10 // of mu^2: the median absolute residual
	sumsShare  = .90 // of mu^2: the vector of sums
	// clipScales is how many released median absolute residuals a residual may
	// have before it is clipped: about 2.7 standard deviations of a normal law.
	clipScales = 4
	// The weights of the count and of the sum of y in the released vector; the
	// sums of squares have weight 1. With y centred near its mean the first two
	// hardly matter, so they get little of the budget.
	countWeight = .15
	sumWeight   = .25
	// Level is the confidence level of the interval. It is computed at
	// widenedLevel: what is left covers the linearisation of the total sum of
	// squares and makes the stated level one that is kept, not met on average.
	Level        = .95
	widenedLevel = .97
	// floor is where values of R² end: lower ones, of models worse than twice
	// the constant model, are reported as floor.
	floor = -1
)

// residualGrid is the public grid of residual scales, in half widths of the
// target's range: quarter octaves from 2^-12 to 2.
func residualGrid() []float64 {
	grid := make([]float64, 0, 4*13+1)
	for q := -12 * 4; q <= 4; q++ {
		grid = append(grid, math.Exp2(float64(q)/4))
	}
	return grid
}

// R2 is a privately released coefficient of determination. The number and its
// interval refer to the held-out records with residuals and targets clipped at
// the public limits below; the interval covers the privacy noise only, not the
// luck of which records were held out.
type R2 struct {
	Value        float64 `json:"value"` // in [-1, 1]; -1 stands for "-1 or less"
	Lower        float64 `json:"lower"` // end of the interval, in [-1, Value]
	Upper        float64 `json:"upper"` // end of the interval, in [Value, 1]
	Level        float64 `json:"level"` // confidence level of the interval
	ResidualClip float64 `json:"residual_clip"`
	TargetLower  float64 `json:"target_lower"`
	TargetUpper  float64 `json:"target_upper"`
}

// Regression releases the held-out R² of a model for a numeric target.
type Regression struct{}

// Plan returns the two leaves of the release.
func (Regression) Plan() budget.Node {
	return budget.Seq("r2",
		budget.ExponentialLeaf("residual-scale", scaleShare, 1),
		budget.GaussianLeaf("sums", sumsShare, 1))
}

// Pairs holds, for the held-out records, the target and the prediction in the
// order of the view.
type Pairs struct {
	View       dataset.View
	Target     int       // the target's column in View
	Prediction []float64 // one a row of View
	Lower      float64   // the target's public range: that of the model
	Upper      float64
	// Center is a public guess of the target's mean, such as the training
	// part's released mean. It is moved into [Lower, Upper]. The closer it is,
	// the less the noise of the mean matters; R² itself does not depend on it.
	Center float64
}

// frame returns the public middle and half width on which targets are scaled.
func (p Pairs) frame() (center, half float64) {
	center = min(max(p.Center, p.Lower), p.Upper)
	return center, max(p.Upper-center, center-p.Lower)
}

// Run releases R². s is the session of the node that Plan returned.
func (Regression) Run(ctx context.Context, s *mechanism.Session, p Pairs) (R2, error) {
	grid := residualGrid()
	ranks, err := dataset.Reduce(ctx, p.View, 0, func() *rankPass {
		return &rankPass{pairs: p, ranks: s.NewRanks(grid, 1, 2)}
	})
	if err != nil {
		return R2{}, err
	}
	median, err := mechanism.Choose(s, "residual-scale", 0, ranks.ranks.Scores())
	if err != nil {
		return R2{}, err
	}
	clip := min(clipScales*grid[median.Value()], 2)
	sums, err := dataset.Reduce(ctx, p.View, 0, func() *sumPass {
		return &sumPass{pairs: p, clip: clip, sums: newSums(s)}
	})
	if err != nil {
		return R2{}, err
	}
	noisy, err := mechanism.Gaussian(s, "sums", sums.sums.Bound())
	if err != nil {
		return R2{}, err
	}
	out := fromSums(noisy.Value(), clip, s.Scale("sums"))
	_, half := p.frame()
	out.ResidualClip, out.TargetLower, out.TargetUpper = clip*half, p.Lower, p.Upper
	return out, nil
}

// newSums prepares the four statistics of a record, with t = (y - c)/h clamped
// to [-1, 1] and r the residual over h clamped to [-clip, clip]:
// countWeight, sumWeight t, t^2, (r/clip)^2.
//
// Their intervals are [w, w], [-w', w'], [0, 1] and [0, 1], from which the
// accumulator derives the sensitivity: sqrt(w^2 + w'^2 + 2) for an added
// record, sqrt(4 w'^2 + 2) for a substituted one.
func newSums(s *mechanism.Session) *mechanism.Sums {
	return s.NewSums(
		[]float64{countWeight, -sumWeight, 0, 0},
		[]float64{countWeight, sumWeight, 1, 1})
}

// scaled returns the target and the residual of a block's rows on the public
// frame (c, h): t = (clamp(y, Lower, Upper)-c)/h, a missing target counting as
// c, and r = t minus the equally clamped prediction. Both ends of the range lie
// within [-1, 1].
func (p Pairs) scaled(b dataset.Block, t, r, buf []float64) (target, residual, scratch []float64) {
	t, r, buf = grow(t, b.Len()), grow(r, b.Len()), grow(buf, b.Len())
	center, half := p.frame()
	unit := func(y float64) float64 {
		if y != y {
			return 0
		}
		return (min(max(y, p.Lower), p.Upper) - center) / half
	}
	prediction := p.Prediction[b.Start():]
	for i, y := range b.Float(p.Target, buf) {
		t[i] = unit(y)
		r[i] = t[i] - unit(prediction[i])
	}
	return t, r, buf
}

func grow(buf []float64, n int) []float64 {
	if cap(buf) < n {
		return make([]float64, n)
	}
	return buf[:n]
}

// rankPass ranks absolute residuals.
type rankPass struct {
	pairs     Pairs
	ranks     *mechanism.Ranks
	t, r, buf []float64
}

func (a *rankPass) Add(b dataset.Block) {
	a.t, a.r, a.buf = a.pairs.scaled(b, a.t, a.r, a.buf)
	for i, x := range a.r {
		a.r[i] = math.Abs(x)
	}
	a.ranks.Add(a.r)
}

func (a *rankPass) Merge(o *rankPass) { a.ranks.Merge(o.ranks) }

// sumPass adds up the four statistics.
type sumPass struct {
	pairs        Pairs
	clip         float64
	sums         *mechanism.Sums
	t, r, buf    []float64
	count, y, y2 []float64
}

func (a *sumPass) Add(b dataset.Block) {
	a.t, a.r, a.buf = a.pairs.scaled(b, a.t, a.r, a.buf)
	n := b.Len()
	a.count, a.y, a.y2 = grow(a.count, n), grow(a.y, n), grow(a.y2, n)
	for i, t := range a.t {
		a.count[i], a.y[i], a.y2[i] = countWeight, sumWeight*t, t*t
		r := a.r[i] / a.clip
		a.r[i] = r * r
	}
	a.sums.Add([][]float64{a.count, a.y, a.y2, a.r})
}

func (a *sumPass) Merge(o *sumPass) { a.sums.Merge(o.sums) }

// Exact returns the R² of equally clipped values without any privacy: what the
// released value estimates. It is for tests and for experiments on public
// data; its result must never leave otherwise.
func Exact(p Pairs, residualClip float64) float64 {
	_, half := p.frame()
	b := p.View.Block(0, p.View.Len())
	t, r, _ := p.scaled(b, nil, nil, nil)
	var n, sum, sum2, rss float64
	for i := range t {
		clipped := min(math.Abs(r[i]), residualClip/half)
		n, sum, sum2, rss = n+1, sum+t[i], sum2+t[i]*t[i], rss+clipped*clipped
	}
	if total := sum2 - sum*sum/n; total > 0 {
		return max(1-rss/total, floor)
	}
	return floor
}
