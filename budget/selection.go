package budget

import (
	"fmt"
	"math"
)

// Selection is the distribution of the number of runs K of a private selection: the truncated negative
// binomial distribution on 1, 2, ... of Papernot and Steinke (2022, Definition 1). Eta = 0 is the logarithmic
// distribution, Eta = 1 the geometric one. K must stay secret and must not be cut short by a good score.
type Selection struct {
	Eta   float64 // > -1
	Gamma float64 // in (0, 1); smaller means more runs
}

// SelectionForMean returns the law with the given eta and mean number of runs.
// eta > -1 and mean > 1 are required.
func SelectionForMean(eta, mean float64) (Selection, error) {
	if !(eta > -1) || math.IsInf(eta, 1) || !(mean > 1) || math.IsInf(mean, 1) {
		return Selection{},
			fmt.Errorf(
				"%w: selection with eta %v and mean %v runs: want eta > -1 and a finite mean > 1",
				ErrTree, eta, mean)
	}
	// The mean falls from infinity to 1 as gamma rises from 0 to 1; search ln gamma.
	_, x := bisect(0, 700, 1e-15, func(x float64) bool {
		return Selection{eta, math.Exp(-x)}.Mean() < mean
	})
	s := Selection{
		Eta:   eta,
		Gamma: math.Min(math.Exp(-x), math.Nextafter(1, 0)),
	} // a mean of 1 + 2^-52 too
	return s, s.Validate()
}

// Validate checks the ranges of Eta and Gamma.
func (s Selection) Validate() error {
	if !(s.Eta > -1) || math.IsInf(s.Eta, 1) || !(s.Gamma > 0 && s.Gamma < 1) {
		return fmt.Errorf(
			"%w: selection with eta %v, gamma %v: want eta > -1 and gamma in (0, 1)",
			ErrTree,
			s.Eta,
			s.Gamma,
		)
	}
	return nil
}

// Mean returns E[K].
func (s Selection) Mean() float64 {
	log := -math.Log(s.Gamma)
	odds := (1 - s.Gamma) / s.Gamma
	if math.Abs(s.Eta*log) < 1e-8 { // the limit eta -> 0
		return odds / log
	}
	return odds * s.Eta / -math.Expm1(-s.Eta*log)
}

// selectionLedger is the Rényi curve of a selection among candidates (Papernot,
// Steinke 2022, Theorem 2): for a > 1 and any order b >= 1, with R the largest
// candidate curve,
//
//	R(a) + (1+eta)(1-1/b) R(b) + (1+eta) ln(1/gamma)/b + ln(E K)/(a-1)
//
// The candidate of a run is drawn by coins that are independent of all records, so the run's divergence is at
// most that of the worst candidate (quasi-convexity), and R is its curve. A candidate may be a Parallel of disjoint
// records, such as a training part and a scoring part. Which part holds the record that differs is decided
// once, by that record's coin, before the first run, so for every value of the coins it is the same part in
// all runs: the divergence of a run is at most the curve of that part. Both terms in R grow with it, so the
// pointwise largest curve of the parts, which is the curve of a Parallel, covers both cases, and the mixture over
// the coin is no worse. For the same reason the SelectBest itself may be a kid of a Parallel: compared with its
// siblings it is one mechanism on its own records, and at every epsilon the delta of the mixture over the coin
// is at most the largest of the kids' deltas.
type selectionLedger struct {
	candidates []*ledger
	base       float64 // the two terms in b, minimised over b
	logMean    float64
}

func newSelectionLedger(s Selection, candidates []*ledger) *selectionLedger {
	sel := &selectionLedger{
		candidates: candidates,
		logMean:    math.Log(s.Mean()),
	}
	runs := -math.Log(s.Gamma)
	base, _ := scanMinimum(-9, 25, 100, func(u float64) float64 {
		b := 1 + math.Exp(u)
		return (1-1/b)*largestDivergence(candidates, b) + runs/b
	})
	sel.base = (1 + s.Eta) * base
	return sel
}

func (s *selectionLedger) renyiDivergence(a float64) float64 {
	return largestDivergence(s.candidates, a) + s.base + s.logMean/(a-1)
}

// asSelection returns the selection that p consists of. It reports false if p has any other factor.
func (p product) asSelection() (selectionFactor, bool) {
	if len(p.selections) != 1 || p.mu2 > 0 || len(p.laws) > 0 || len(p.alternatives) > 0 {
		return selectionFactor{}, false
	}
	return p.selections[0], true
}

// sampleSelection samples the hockey-stick curve of a selection on the grid of step h, for
// docs/proofs/prices.md, "The curve of a private selection": with delta the largest curve
// of the candidates, g = gamma, S and S' the probabilities of one event under neighbours,
//
//	delta_best(e + c) <= E[K] delta(e),  c = (1+eta) ln sup (g + (1-g) S')/(g + (1-g) S).
//
// The supremum is over the pair that the dots of the candidates are connected to, which dominates them. Its
// trade-off curve is linear between the events "the loss is at least a grid point", and so the ratio is
// largest at one of these. For small epsilons, where that bound is poor, the dots are moved to the lowest
// chord between a dot and its mirror image (see chord), which makes them convex.
func (w *composer) sampleSelection(s selectionFactor, h float64) []float64 {
	var worst []float64
	for i, c := range s.candidates {
		if !isDominated(s.candidates, i) {
			worst = pointwiseMax(worst, w.sampleCurve(c, h))
		}
	}
	mass := connectDots(worst, h)
	one := newPLDCurve(mass)
	cost := s.epsilonShift(mass)
	out := make([]float64, len(worst)+int(math.Ceil(cost/h)))
	tangent := chord{delta: 1}
	mean := s.law.Mean() * (1 + numericGuard)
	for j := range out {
		x := float64(j) * h
		if out[j] = 1; x >= cost {
			out[j] = math.Min(1, mean*one.deltaAt(x-cost))
		}
		if c := (chord{x, out[j]}); c.deltaAt(0) < tangent.deltaAt(0) || j == 0 {
			tangent = c
		}
	}
	for j := range out {
		out[j] = math.Min(out[j], tangent.deltaAt(float64(j)*h))
	}
	return out
}

// epsilonShift returns the c of [composer.sampleSelection] for the discretised pair m of the candidates,
// rounded up.
func (s selectionFactor) epsilonShift(m lossMass) float64 {
	g := s.law.Gamma
	p := m.inf
	q := 0.0
	most := math.Log1p((1 - g) * p / g)
	for i := len(m.mass) - 1; i >= 0; i-- {
		p += m.mass[i]
		q += m.mass[i] * math.Exp(-m.h*float64(m.lo+i))
		most = math.Max(most, math.Log((g+(1-g)*math.Min(p, 1))/(g+(1-g)*q)))
	}
	return (1+s.law.Eta)*most*(1+numericGuard) + numericGuard
}

// isDominated reports whether the curve of product i is below that of another product: both are Gaussian, and
// the other has the larger mu, or the same mu and a lower index.
func isDominated(ps []product, i int) bool {
	gaussian := func(p product) bool {
		return len(p.laws)+len(p.alternatives)+len(p.selections) == 0
	}
	for j, p := range ps {
		if i != j && gaussian(ps[i]) && p.mu2 >= ps[i].mu2 &&
			(p.mu2 > ps[i].mu2 || !gaussian(p) || j < i) {
			return true
		}
	}
	return false
}
