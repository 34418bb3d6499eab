package boosting

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/regression"
)

// counted is a numeric feature with the released counts of its fine bins.
type counted struct {
	column int
	slot   int
	counts []float64
}

// spreads returns the spread of the contribution of each feature, line and curve together: curves by the counts
// of the fine bins, lines and categories by the initial matrix. The curve of the score is not attributed to
// features; for a feature with a missing-cell indicator, the value of its curve at missing cells is ignored. Each spread
// has the given excess.
func (b *booster) spreads(indicators []int, excess float64) []regression.Spread {
	theta := b.linear.total(b.start)
	cov := b.covariance()
	out := b.moments.Spreads(theta, cov)
	lines := out
	if len(indicators) > 0 {
		lines = b.moments.Spreads(zeroEntries(theta, cov, indicators))
	}
	for _, c := range b.counted {
		var curve *shape
		for _, s := range b.shapes {
			if s.column == c.column {
				curve = s
			}
		}
		cells := c.cells(
			theta[c.slot],
			cov.At(c.slot, c.slot),
			curve,
			b.session.Scale(countsLeaf),
		)
		if variance, noise, known := b.moments.Distribution().Variance(c.slot); known {
			cells.Line = &regression.Line{
				Coefficient: theta[c.slot],
				Variance:    variance,
				Noise:       noise,
			}
		}
		spread := cells.Spread().Plus(out[c.column], lines[c.column])
		spread.Unit = out[c.column].Unit
		out[c.column] = spread
	}
	for _, s := range b.valued {
		out[s.column] = b.valueSpread(s, theta, cov)
	}
	for j := range out {
		out[j].Excess = excess
	}
	return out
}

// The factors by which intervals of importances are wider than the noise of a column's own line and curve, without a
// kernel and with one. Lines, curves, categories and the kernel trade their effects, and correlated columns do. The
// factors were measured by repeated trainings: docs/proofs/importance.md, "Coverage".
const (
	additiveExcess = 1.75
	kernelExcess   = 2.5
)

// zeroEntries returns copies of coefficients and their covariance with some entries set to 0.
func zeroEntries(
	theta []float64,
	cov *mat.SymDense,
	entries []int,
) ([]float64, *mat.SymDense) {
	left := slices.Clone(theta)
	noise := mat.NewSymDense(len(theta), nil)
	noise.CopySym(cov)
	for _, i := range entries {
		left[i] = 0
		for j := range left {
			noise.SetSym(i, j, 0)
		}
	}
	return left, noise
}

// cells returns the fine bins with the values of a line with the given slope and slope variance and of a curve,
// which may be nil. The noise in the two is independent.
func (c counted) cells(
	slope, variance float64,
	curve *shape,
	sigma float64,
) regression.Cells {
	steps := 0
	if curve != nil {
		steps = len(curve.values)
	}
	out := regression.Cells{
		Counts: c.counts,
		Basis:  mat.NewDense(len(c.counts), 1+steps, nil),
		Cov:    mat.NewSymDense(1+steps, nil),
	}
	for bin := range c.counts {
		middle := (2*float64(bin)+1)/float64(len(c.counts)) - 1
		out.Values = append(out.Values, slope*middle)
		out.Noise = append(out.Noise, sigma)
		out.Basis.Set(bin, 0, middle)
		if curve != nil {
			k := int(curve.groups.stepOf[bin])
			out.Values[bin] += curve.values[k]
			out.Basis.Set(bin, 1+k, 1)
		}
	}
	out.Cov.SetSym(0, 0, variance)
	if curve != nil {
		noise := curve.noise()
		for i := range steps {
			for j := i; j < steps; j++ {
				out.Cov.SetSym(1+i, 1+j, noise.At(i, j))
			}
		}
	}
	return out
}

// weightedSlope returns the slope of a curve: of its regression on the centers of its steps, in a range of [-1, 1],
// weighted by the released counts.
func (s *shape) weightedSlope() float64 {
	middles := make([]float64, len(s.values))
	for b := range middles {
		first, last := s.groups.bins(b)
		middles[b] = float64(first+last)/fineBins - 1
	}
	return s.regress(s.values, middles).slope
}

// regressed is the regression of values of the steps on others, weighted by the released counts.
type regressed struct {
	mean, slope      float64 // of the values
	center, variance float64 // of the regressor
}

func (s *shape) regress(values, on []float64) regressed {
	var r regressed
	total := 0.
	along := 0.
	square := 0.
	for b, n := range s.groups.counts {
		total += n
		r.mean += n * values[b]
		r.center += n * on[b]
	}
	r.mean /= total
	r.center /= total
	for b, n := range s.groups.counts {
		along += n * (on[b] - r.center) * values[b]
		square += n * (on[b] - r.center) * (on[b] - r.center)
	}
	r.variance = square / total
	if square > 0 {
		r.slope = along / square
	}
	return r
}

// noise returns the covariance of the privacy noise in the values, given the prior of the last epoch. An
// averaged observation has the variance 1/(weight n^2), n the count of its step.
func (s *shape) noise() *mat.SymDense {
	if s.levels != nil {
		return s.variances()
	}
	k := len(s.values)
	out := mat.NewSymDense(k, nil)
	if s.last.vectors == nil {
		return out
	}
	var half, onto mat.Dense
	half.Apply(func(_, j int, x float64) float64 {
		return x * s.last.shrink[j]
	}, s.last.vectors)
	onto.Mul(&half, s.last.vectors.T())
	onto.Apply(func(i, j int, x float64) float64 {
		n := s.groups.counts[j]
		return x * s.last.deviation[i] / s.last.deviation[j] / n
	}, &onto)
	out.SymOuterK(1/s.weight, &onto)
	return out
}

// covariance returns the covariance of the noise in the coefficients, including the effect of the curves. Only
// the sum of a line and the slope of a curve is identified: the share beta of the initial model that the curve
// of the score absorbs, and that the terms therefore lack, depends on noise and on the order of steps. The
// coefficients are off by beta times the initial ones, which is added to their noise.
func (b *booster) covariance() *mat.SymDense {
	cov := b.linear.covariance(b.startCov)
	for _, s := range b.shapes {
		if s.column == scoreColumn {
			cov.SymRankOne(
				cov,
				square(s.weightedSlope()),
				mat.NewVecDense(len(b.start), b.start),
			)
		}
	}
	return cov
}

// ownCurves adds to a covariance the same exchange between the line of a column and the slope of its own curve.
func (b *booster) ownCurves(cov *mat.SymDense) *mat.SymDense {
	out := mat.NewSymDense(cov.SymmetricDim(), nil)
	out.CopySym(cov)
	for _, s := range b.shapes {
		for _, c := range b.counted {
			if c.column == s.column {
				out.SetSym(c.slot, c.slot, out.At(c.slot, c.slot)+square(s.weightedSlope()))
			}
		}
	}
	return out
}

// meanError returns the standard deviation of the mean of a curve due to the noise sigma in the counts of fine
// bins.
func (s *shape) meanError(sigma float64) float64 {
	total := 0.
	mean := 0.
	sum := 0.
	for b, n := range s.groups.counts {
		total += n
		mean += n * s.values[b]
	}
	mean /= total
	for b, v := range s.values {
		first, last := s.groups.bins(b)
		sum += float64(last-first) * square(v-mean)
	}
	return sigma / total * math.Sqrt(sum)
}

func square(x float64) float64 {
	return x * x
}
