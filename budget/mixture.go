package budget

import (
	"math"
	"slices"
	"sync"
)

// mixture is the curve of a Parallel of two kids, where a secret coin decides which kid sees the record that
// differs (docs/proofs/prices.md, "The secret coin"). With h the odds of the second kid, (A1, B1) and (A2,
// B2) the dominating pairs of the kids, and L1, L2 their likelihood ratios, it is the curve of
//
//	(1-h) A1 x B2 + h B1 x A2   against   B1 x B2
//
// in both directions:
//
//	forward:   E over B2 of (1-h) E over B1 of (L1 - k)+,      k = (e^epsilon - h L2)/(1-h)
//	backward:  e^epsilon E over B2 of (1-h) E over B1 of (k' - L1)+,  k' = (e^-epsilon - h L2)/(1-h)
//
// The pair of the second kid is discretised by connecting the dots, which dominates it,
// so that the outer mean is a sum. The inner means are points of the first kid's curve: E (L1 - k)+ is delta(ln k),
// or 1 - k for k <= 0, and E (k' - L1)+ is k' delta(-ln k').
type mixture struct {
	coin      float64
	first     []curve
	series    gaussianSeries // of the first kid if it is one Gaussian; otherwise its mu is 0
	second    []atom
	thinned   []atom  // see [thinAtoms]
	lostMass  float64 // of A2, where L2 is infinite; and of B2, where it is 0
	slack     float64
	overflows bool // losses of the second kid exceed maxLoss

	mu    sync.Mutex
	cache map[float64]float64
}

// atom is a likelihood ratio with its probability under B.
type atom struct{ ratio, mass float64 }

// mixtureStep is four times the relative variance that connecting the dots may add to that of the second kid's
// loss. The second kid counts with h² only.
const mixtureStep = 4e-4

// maxAtoms bounds, roughly, the number of atoms on either side of 0. maxLoss bounds the epsilons at which a
// mixture is evaluated: beyond, e^epsilon overflows float64.
const (
	maxAtoms = 1 << 14
	maxLoss  = 300
)

// newMixture returns the curve of a Parallel of two kids whose laws are filled, without its lead.
func (w *composer) newMixture(n *Node) *mixture {
	m := &mixture{
		coin:  n.Coin,
		cache: map[float64]float64{},
	}
	kids := n.disjointKids()
	products := kids[1].flattenProducts()
	h := math.Inf(1)
	for _, p := range products {
		variance, draws := p.varianceAndDraws()
		top, _ := p.lossWindow()
		h = math.Min(h, math.Max(math.Sqrt(mixtureStep*variance/math.Max(1, draws)), top/maxAtoms))
	}
	h = math.Max(h, 1e-9)
	var dots []float64
	for _, p := range products {
		dots = pointwiseMax(dots, w.sampleCurve(p, h))
	}
	mass := connectDots(dots, h)
	for i, p := range mass.mass {
		if x := float64(mass.lo+i) * h; p > 0 {
			m.overflows = m.overflows || x > maxLoss
			m.second = append(m.second, atom{math.Exp(x), p * math.Exp(-x)})
		}
	}
	m.thinned = thinAtoms(m.second)
	m.lostMass = mass.inf
	m.slack = fftSlack + drawSlack*float64(len(m.second))
	m.setFirst(w.buildCurves(kids[0].flattenProducts()))
	return m
}

// setFirst replaces the curves of the first kid by first, whose maximum counts at each epsilon.
func (m *mixture) setFirst(first []curve) {
	m.first = first
	clear(m.cache)
	if len(first) == 1 {
		if s, ok := first[0].(singleDraw); ok && s.law.Kind == Gaussian {
			m.series.resetMu(s.law.Mu)
			return
		}
	}
	m.series.mu = 0
}

// deltaAt returns the bound on delta at any real epsilon.
func (m *mixture) deltaAt(epsilon float64) float64 {
	if !(epsilon <= maxLoss) || m.overflows {
		return 1
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	d, ok := m.cache[epsilon]
	if !ok {
		d = math.Min(1, (m.largestDirection(epsilon)+m.slack)*(1+numericGuard))
		m.cache[epsilon] = d
	}
	return d
}

// largestDirection returns the larger of the forward and the backward delta. The thinned atoms often suffice
// to show that the backward one is smaller.
func (m *mixture) largestDirection(epsilon float64) float64 {
	there := m.forwardDelta(epsilon)
	if there > MinDelta/10 && m.backwardDelta(epsilon, m.thinned) < there*(1-thinGuard) {
		return there
	}
	return math.Max(there, m.backwardDelta(epsilon, m.second))
}

const (
	// thinStep is the number of atoms that become one; thinGuard is a relative margin far above the rounding error
	// of the thinned sum.
	thinStep  = 8
	thinGuard = 1e-5
)

// thinAtoms moves the mass between every eighth atom to these atoms and preserves the mean. A convex function
// has no smaller mean over the result, and the summand of [mixture.backwardDelta] is convex in the ratio: it
// is E over B1 of (1 - t h ratio - t (1-h) L1)+.
func thinAtoms(atoms []atom) []atom {
	out := slices.Clone(atoms[:min(1, len(atoms))])
	for i := 0; i < len(atoms)-1; i += thinStep {
		j := min(i+thinStep, len(atoms)-1)
		a, b := &out[len(out)-1], atoms[j]
		width := b.ratio - a.ratio
		for _, x := range atoms[i+1 : j] {
			share := 0.
			if width > 0 {
				share = (x.ratio - a.ratio) / width
			}
			a.mass += x.mass * (1 - share)
			b.mass += x.mass * share
		}
		out = append(out, b)
	}
	return out
}

// firstDelta returns the curve of the first kid at epsilon = ln k, for k > 0.
func (m *mixture) firstDelta(k float64) float64 {
	if m.series.mu > 0 {
		return m.first[0].(singleDraw).withLost(m.series.valueAt(k))
	}
	epsilon := math.Log(k)
	if epsilon < 0 {
		return mirrorDelta(-epsilon, largestDelta(m.first, -epsilon))
	}
	return largestDelta(m.first, epsilon)
}

func (m *mixture) forwardDelta(epsilon float64) float64 {
	t := math.Exp(epsilon)
	rest := 1 - m.coin
	over := func(ratio float64) float64 {
		k := (t - m.coin*ratio) / rest
		if k <= 0 {
			return 1 - k
		}
		return m.firstDelta(k)
	}
	sum := m.lostMass * rest * over(0)
	for _, a := range m.second {
		sum += a.mass * rest * over(a.ratio)
	}
	return sum + m.coin*m.lostMass
}

// backwardDelta returns the delta of the backward direction over the given atoms. It combines e^epsilon and k'
// into one factor.
func (m *mixture) backwardDelta(epsilon float64, second []atom) float64 {
	t := math.Exp(epsilon)
	rest := 1 - m.coin
	sum := m.lostMass * m.firstDelta(t*rest)
	for _, a := range second {
		if k := 1 - t*m.coin*a.ratio; k > 0 {
			sum += a.mass * k * m.firstDelta(t*rest/k)
		}
	}
	return sum
}

// secondAloneDelta returns the delta of the mixture at epsilon if the first kid releases nothing. The mixture is then the
// second kid on a random part of the records.
func (w *composer) secondAloneDelta(n *Node, epsilon float64) float64 {
	p := Node{
		Op:   OpParallel,
		Coin: n.Coin,
		Kids: []Node{{Op: OpSequence}, n.disjointKids()[1]},
	}
	return w.newMixture(&p).deltaAt(epsilon)
}
