package mechanism

import "math/bits"

// choose draws j with probability proportional to exp(scores[j]/scale) by
// rejection: a uniform candidate is kept with probability
// exp(-(max-scores[j])/scale). Both coins are exact, hence so is the law.
// scale is in the same units as the scores, times 2^-scaleBits.
func (s *stream) choose(scores []int64, scale uint64) int {
	top := scores[0]
	for _, u := range scores {
		top = max(top, u)
	}
	for {
		j := int(s.below(uint64(len(scores))))
		if s.bernoulliExpScaled(uint64(top)-uint64(scores[j]), scale) {
			return j
		}
	}
}

// scaleBits is how many binary digits finer than a score unit the scale of the
// exponential mechanism is held, so that rounding it up costs nothing visible.
const scaleBits = 20

// maxChoiceScale is the largest scale of a choice, with scaleBits: its coins are
// comparisons of 64-bit integers and add nothing up.
const maxChoiceScale = 1 << 62

// bernoulliExpScaled returns true with probability exp(-gap*2^scaleBits/scale).
func (s *stream) bernoulliExpScaled(gap, scale uint64) bool {
	hi, lo := gap>>(64-scaleBits), gap<<scaleBits
	var whole, rest uint64
	if hi >= scale { // gap/scale exceeds 2^64: the coin never shows heads
		return false
	}
	whole, rest = bits.Div64(hi, lo, scale)
	for ; whole > 0; whole-- {
		if !s.bernoulliExp(1, 1) {
			return false
		}
	}
	return s.bernoulliExp(rest, scale)
}
