package noise

import "math/bits"

// ChoiceScaleBits is the number of binary digits of a score unit in the scale of
// [Stream.ExponentialChoice]. Rounding the scale up to them has a negligible effect.
const ChoiceScaleBits = 20

// MaxChoiceScale is the largest scale of [Stream.ExponentialChoice]. It may be close to
// the end of the range, because the sampler only compares 64-bit integers.
const MaxChoiceScale = 1 << 62

// ExponentialChoice returns an index j with probability proportional to
// exp(scores[j]/b), exactly, where b = scale 2^-ChoiceScaleBits in units of the scores
// and scale is in [1, MaxChoiceScale]. It proposes uniform indices and accepts j with
// probability exp(-(max-scores[j])/b); both coins are exact.
func (s *Stream) ExponentialChoice(scores []int64, scale uint64) int {
	top := scores[0]
	for _, u := range scores {
		top = max(top, u)
	}
	for {
		j := int(s.Uniform(uint64(len(scores))))
		if s.bernoulliExpScaled(uint64(top)-uint64(scores[j]), scale) {
			return j
		}
	}
}

// bernoulliExpScaled returns true with probability exp(-gap 2^ChoiceScaleBits/scale).
func (s *Stream) bernoulliExpScaled(gap, scale uint64) bool {
	hi := gap >> (64 - ChoiceScaleBits)
	lo := gap << ChoiceScaleBits
	if hi >= scale { // the probability is at most exp(-2^64)
		return false
	}
	whole, rest := bits.Div64(hi, lo, scale)
	for ; whole > 0; whole-- {
		if !s.bernoulliExp(1, 1) {
			return false
		}
	}
	return s.bernoulliExp(rest, scale)
}
