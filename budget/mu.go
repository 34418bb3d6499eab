package budget

import (
	"container/heap"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// computeMu computes Guarantee.Mu.
func (p *Priced) computeMu() float64 {
	sum, gaussian := p.muByComposition()
	switch {
	case gaussian:
		return sum
	case p.hasInfiniteLoss():
		return math.Inf(1)
	}
	return math.Min(sum, p.muByProfile())
}

// HasMu reports whether Guarantee().Mu is finite. It computes Mu only where its laws leave that open.
func (p *Priced) HasMu() bool {
	sum, gaussian := p.muByComposition()
	switch {
	case gaussian:
		return !math.IsInf(sum, 1)
	case p.hasInfiniteLoss():
		return false
	case !math.IsInf(sum, 1):
		return true
	}
	return !math.IsInf(p.cachedMu(), 1)
}

// maxLostDelta is the largest delta that steps may lose outright ([Node.LostDelta]) in a tree with a mu. It is so
// far below MinDelta, the smallest delta that mu covers, that it raises mu by a quarter of a percent at most.
const maxLostDelta = MinDelta / 10

// hasInfiniteLoss reports whether a leaf may have an infinite privacy loss. No
// Gaussian curve covers such a tree, unless the loss is infinite with so little probability that
// the curve need not reach it: Mu is about deltas of at least MinDelta.
func (p *Priced) hasInfiniteLoss() bool {
	return p.tree.LostDelta() > maxLostDelta*(1+1e-9) ||
		slices.ContainsFunc(p.leaves, func(l PricedLeaf) bool {
			return l.Law.Kind == Approximate && l.Law.Delta > 0 && !l.Law.isFailureOnly()
		})
}

// muByComposition bounds mu by composition: mu^2 adds, also when the steps are adaptive (Dong, Roth, Su 2022),
// and an epsilon-private step is mu-Gaussian private for Phi(mu/2) = e^epsilon/(1+e^epsilon), where the two
// trade-off curves meet on the diagonal. The second result reports whether the bound is exact: all laws are
// Gaussian, without a Branches node, a SelectBest or a mixture.
func (p *Priced) muByComposition() (mu float64, gaussian bool) {
	gaussian = !p.tree.hasOp(OpBranches) && !p.tree.hasOp(OpSelect) && p.root.mixture == nil
	sum := p.tree.foldCost(func(l *Leaf) float64 {
		m := l.Law.Mu
		switch {
		case l.Law.Kind == Approximate && l.Law.Delta > 0:
			m = math.Inf(1)
			gaussian = false
		case l.Law.Kind != Gaussian:
			gaussian = false
			m = -2 * mathext.NormalQuantile(1/(1+math.Exp(l.Law.Epsilon))) * (1 + 1e-9)
		}
		return float64(l.Law.Draws) * m * m
	}, unpricedSelection)
	return math.Sqrt(sum) * (1 + numericGuard), gaussian
}

// muTolerance is the relative width of the brackets for mu.
const muTolerance = 1e-7

// span is an interval of epsilons. The Gaussian curve of parameter mu is above the profile everywhere in it.
type span struct{ lo, hi, mu float64 }

// spanHeap is a heap of spans with the largest mu on top.
type spanHeap []span

func (s spanHeap) Len() int {
	return len(s)
}
func (s spanHeap) Less(i, j int) bool {
	return s[i].mu > s[j].mu
}
func (s spanHeap) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
}
func (s *spanHeap) Push(x any) {
	*s = append(*s, x.(span))
}
func (s *spanHeap) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	*s = (*s)[:last]
	return x
}

// muByProfile returns the parameter of the smallest Gaussian curve above the profile, rounded up. It uses
// branch and bound over epsilon: it halves the span with the largest covering mu until that mu is within 1e-4
// of the largest one needed at any evaluated point.
func (p *Priced) muByProfile() float64 {
	top := p.Epsilon(MinDelta)
	if math.IsInf(top, 1) {
		return top
	}
	need, above := gaussianMuBracket(0, p.Delta(0), muTolerance)
	if top == 0 {
		return above
	}
	needAt := func(e float64) {
		m, _ := gaussianMuBracket(e, p.Delta(e), muTolerance)
		need = math.Max(need, m)
	}
	needAt(top)
	queue := &spanHeap{{0, top, p.root.coveringMu(0, top)}}
	for range 3000 {
		worst := (*queue)[0]
		if worst.mu <= need*(1+1e-4) {
			break
		}
		heap.Pop(queue)
		mid := (worst.lo + worst.hi) / 2
		needAt(mid)
		heap.Push(queue, span{worst.lo, mid, p.root.coveringMu(worst.lo, mid)})
		heap.Push(queue, span{mid, worst.hi, p.root.coveringMu(mid, worst.hi)})
	}
	return (*queue)[0].mu
}

// coveringMu returns a mu whose Gaussian curve is above v on [lo, hi], after the shifts by the informers on
// the path.
func (v *profileNode) coveringMu(lo, hi float64) float64 {
	return v.shiftedCoveringMu(lo, hi, 0)
}

func (v *profileNode) shiftedCoveringMu(lo, hi, shift float64) float64 {
	if v.account != nil {
		return v.account.coveringMu(lo, hi, shift)
	}
	worst := math.Inf(1)
	dLo, ok := v.jointDelta(lo - shift)
	if dHi, _ := v.jointDelta(hi - shift); ok && lo >= shift {
		worst = coverChord(lo, hi, dLo, dHi)
	}
	if v.mixture != nil { // the largest of the kids is no help
		return worst
	}
	most := 0.0
	for i := range v.kids {
		most = math.Max(most, v.kids[i].shiftedCoveringMu(lo, hi, shift+v.leadEpsilon))
	}
	return math.Min(worst, most)
}

// coveringMu is [profileNode.shiftedCoveringMu] for a part.
func (a *account) coveringMu(lo, hi, shift float64) float64 {
	flat := a.deltaAt(lo - shift) // the profile falls
	best := coverChord(lo, hi, flat, flat)
	if lo < shift {
		return best
	}
	consider := func(deltaLo, deltaHi float64) {
		// Where the Gaussian of best is below an end, no smaller one is above the chord.
		if gaussianDelta(best, lo) >= deltaLo*(1-1e-9) &&
			gaussianDelta(best, hi) >= deltaHi*(1-1e-9) {
			best = math.Min(best, coverChord(lo, hi, deltaLo, deltaHi))
		}
	}
	if len(a.curves) > 0 {
		consider(largestDelta(a.curves, lo-shift), largestDelta(a.curves, hi-shift))
	}
	if line := a.tangentChord; a.hasSelect && hi-shift <= line().epsilon {
		consider(line().deltaAt(lo-shift), line().deltaAt(hi-shift))
	}
	consider(a.ledger.chordEnds(lo-shift, hi-shift))
	return best
}

// coverChord returns a mu whose Gaussian curve G is above the chord, in the variable e^epsilon, from (lo,
// deltaLo) to (hi, deltaHi), deltaLo >= deltaHi. The second derivative of G in that variable is phi(epsilon/mu
// + mu/2)/(mu e^epsilon), largest at lo, so G is nowhere more than
//
//	sag = (e^hi - e^lo)^2/8 phi(lo/mu + mu/2)/(mu e^lo)
//
// below its own chord, and it suffices to reach delta + sag at both ends.
func coverChord(lo, hi, deltaLo, deltaHi float64) float64 {
	_, first := gaussianMuBracket(hi, deltaLo, muTolerance) // G falls, so this covers as well
	if deltaLo == deltaHi {
		return first // which is b below
	}
	_, a := gaussianMuBracket(lo, deltaLo, muTolerance)
	_, b := gaussianMuBracket(hi, deltaHi, muTolerance)
	m := math.Max(a, b)
	if m == 0 || math.IsInf(m, 1) {
		return first
	}
	most := 1.01 * m // sag is bounded for every mu in [m, most]
	c := lo/most + m/2
	width := math.Expm1(hi - lo)
	sag := width * width / 8 * math.Exp(lo-c*c/2) / (math.Sqrt(2*math.Pi) * m)
	_, a = gaussianMuBracket(lo, deltaLo+sag, muTolerance)
	_, b = gaussianMuBracket(hi, deltaHi+sag, muTolerance)
	if second := math.Max(a, b); second <= most {
		return math.Min(first, second)
	}
	return first
}
