package boosting

import (
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// Clamped residuals that sum to 0 need not have the mean 0: where the longest residuals are on one side, the mean prediction
// is off by what the clamp cuts from them. So the residuals of the trained model are summed once more, with a clamp that
// few reach, and their mean moves the constant of the model.

// The clamps of that sum, in half widths of the target's range: a residual is rarely longer than half of the range, and never
// longer than the range unless a prediction is beyond it.
const (
	usualMeanClip = 1
	widerMeanClip = 2
)

// meanClip returns the wider clamp if the released counts show residuals beyond the usual one: if the excess that it would cut
// is larger than the noise in that excess. sigma is the noise of a count.
func meanClip(counts []float64, sigma float64) float64 {
	cut := 0.
	noise := 0.
	for i, n := range counts {
		if beyond := sizeMiddle(i%sizeBins) - usualMeanClip; beyond > 0 {
			cut += n * beyond
			noise += square(sigma * beyond)
		}
	}
	if cut > math.Sqrt(noise) {
		return widerMeanClip
	}
	return usualMeanClip
}

// correctMean releases the mean residual and sets the shift of the constant. The records are the given share of all. A target
// that encodes classes has no such step.
func (b *booster) correctMean(sampled float64) error {
	if b.classes {
		return nil
	}
	acc, err := mechanism.Sum[*meanPass](b.ctx, b.session, b.records, meanStatistic{b.state, b.meanClip})
	if err != nil {
		return err
	}
	sum, err := mechanism.Gaussian(b.session, meanLeaf, acc.sum.Bound())
	if err != nil {
		return err
	}
	records := b.total * sampled
	mean := sum.Value()[0] / records
	noise := b.session.Scale(meanLeaf) / records
	kept := seenShare(mean, noise)
	b.shift = kept * mean
	b.shiftError = kept * noise
	return b.ctx.Err()
}

// mostMeanNoise is the largest noise of a mean that moves the constant, in half widths of the target's range. Means with more
// cost accuracy: of 1,500 records at epsilon .5, where it is .05, up to .04 of R².
const mostMeanNoise = .015

// seenShare returns the share of a released mean that is kept, given the standard deviation of its noise: 1 - noise²/mean²,
// and 0 where noise may be all there is. This is positive-part shrinkage (James and Stein 1961).
func seenShare(mean, noise float64) float64 {
	if noise > mostMeanNoise || square(mean) <= square(noise) {
		return 0
	}
	return 1 - square(noise/mean)
}

// shiftConstant moves an intercept and its standard error by the released mean residual, in a target's range of the given
// half width.
func (b *booster) shiftConstant(intercept, stdError, half float64) (shifted, shiftedError float64) {
	return saturate(intercept + half*b.shift), saturate(math.Hypot(stdError, half*b.shiftError))
}

// meanStatistic is the sum of the residuals clamped to [-Clip, Clip].
type meanStatistic struct {
	Of   *state
	Clip float64
}

// State implements [mechanism.Stateful].
func (x meanStatistic) State() mechanism.State {
	return x.Of
}

// BlockRows is the number of records of a block.
func (meanStatistic) BlockRows() int {
	return blockRows
}

// New implements [mechanism.Statistic].
func (x meanStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return &meanPass{sum: m.NewBinSums(1, x.Clip)}
}

// meanPass adds all residuals to one bin.
type meanPass struct {
	sum  *mechanism.BinSums
	bins []uint8
	g    []float64
}

func (p *meanPass) Add(b mechanism.Block) {
	p.g = b.Kept.(*kept).residuals(p.g)
	if len(p.bins) < len(p.g) {
		p.bins = make([]uint8, len(p.g))
	}
	p.sum.Add(p.bins[:len(p.g)], p.g)
}

func (p *meanPass) Cells() mechanism.Cells {
	return p.sum.Cells()
}
