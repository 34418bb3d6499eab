package budget

import (
	"math"
	"slices"
	"sync"
)

// mixture is the curve of a Par of two kids, of which a secret coin decides who sees the
// record that differs (docs/methods/prices.md, "The secret coin"). With h the odds of the second
// kid, (A1, B1) and (A2, B2) the dominating pairs of the kids, and L1, L2 their
// likelihood ratios, it is that of
//
//	(1-h) A1 x B2 + h B1 x A2   against   B1 x B2
//
// in both directions:
//
//	there:  E over B2 of (1-h) E over B1 of (L1 - k)+,      k = (e^epsilon - h L2)/(1-h)
//	back:   e^epsilon E over B2 of (1-h) E over B1 of (k' - L1)+,  k' = (e^-epsilon - h L2)/(1-h)
//
// The pair of the second kid is discretised by connecting the dots, which dominates it,
// so that the outer mean is a sum. The inner means are points of the first kid's curve: E (L1 - k)+ is delta(ln k),
// or 1 - k for k <= 0, and E (k' - L1)+ is k' delta(-ln k').
type mixture struct {
	coin   float64
	first  []curve
	series gaussianSeries // of a first kid that is one Gaussian; mu is 0 elsewhere
	second []atom
	few    []atom  // see [spread]
	lost   float64 // of A2, where L2 is infinite; and of B2, where it is 0
	slack  float64
	wide   bool // the losses of the second kid leave float64

	mu    sync.Mutex
	known map[float64]float64
}

// atom is a likelihood ratio with its probability under B.
type atom struct{ ratio, mass float64 }

// mixtureStep is the variance that connecting the dots may add to that of the second
// kid's loss, four times, relatively. The second kid counts with h² only.
const mixtureStep = 4e-4

// maxAtoms bounds, roughly, the number of atoms on either side of 0, and maxLoss the epsilons at which a
// mixture says anything: beyond, e^epsilon leaves float64.
const (
	maxAtoms = 1 << 14
	maxLoss  = 300
)

// mixture returns the curve of a Par of two kids whose laws are filled, without its lead.
func (w *composer) mixture(n *Node) *mixture {
	m := &mixture{coin: n.Coin, known: map[float64]float64{}}
	kids := n.disjoint()
	products := kids[1].products()
	h := math.Inf(1)
	for _, p := range products {
		variance, draws := p.spread()
		top, _ := p.window()
		h = math.Min(h, math.Max(math.Sqrt(mixtureStep*variance/math.Max(1, draws)), top/maxAtoms))
	}
	h = math.Max(h, 1e-9)
	var dots []float64
	for _, p := range products {
		dots = pointwiseMax(dots, w.dots(p, h))
	}
	mass := connectDots(dots, h)
	for i, p := range mass.mass {
		if x := float64(mass.lo+i) * h; p > 0 {
			m.wide = m.wide || x > maxLoss
			m.second = append(m.second, atom{math.Exp(x), p * math.Exp(-x)})
		}
	}
	m.few = spread(m.second)
	m.lost = mass.inf
	m.slack = fftSlack + drawSlack*float64(len(m.second))
	m.beside(w.curves(kids[0].products()))
	return m
}

// beside makes m that of another first kid.
func (m *mixture) beside(first []curve) {
	m.first = first
	clear(m.known)
	if len(first) == 1 {
		if s, ok := first[0].(single); ok && s.law.Kind == Gaussian {
			m.series.begin(s.law.Mu)
			return
		}
	}
	m.series.mu = 0
}

// at returns the bound on delta at any real epsilon.
func (m *mixture) at(epsilon float64) float64 {
	if !(epsilon <= maxLoss) || m.wide {
		return 1
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	d, ok := m.known[epsilon]
	if !ok {
		d = math.Min(1, (m.larger(epsilon)+m.slack)*(1+numericGuard))
		m.known[epsilon] = d
	}
	return d
}

// larger is the larger of both directions. That back is the smaller one is often seen from few
// atoms.
func (m *mixture) larger(epsilon float64) float64 {
	there := m.there(epsilon)
	if there > MinDelta/10 && m.back(epsilon, m.few) < there*(1-fewGuard) {
		return there
	}
	return math.Max(there, m.back(epsilon, m.second))
}

const (
	// fewStep is how many atoms become one, fewGuard far more than what rounding makes of it.
	fewStep  = 8
	fewGuard = 1e-5
)

// spread moves what lies between every eighth atom to these, so that the mean stays what it
// was. A convex function has no smaller mean over the result, and what [mixture.back] adds up is
// convex in the ratio: it is E over B1 of (1 - t h ratio - t (1-h) L1)+.
func spread(atoms []atom) []atom {
	out := slices.Clone(atoms[:min(1, len(atoms))])
	for i := 0; i < len(atoms)-1; i += fewStep {
		j := min(i+fewStep, len(atoms)-1)
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

// delta1 is the curve of the first kid at epsilon = ln k, for k > 0.
func (m *mixture) delta1(k float64) float64 {
	if m.series.mu > 0 {
		return m.first[0].(single).beside(m.series.at(k))
	}
	epsilon := math.Log(k)
	if epsilon < 0 {
		return mirrored(-epsilon, worstCurve(m.first, -epsilon))
	}
	return worstCurve(m.first, epsilon)
}

func (m *mixture) there(epsilon float64) float64 {
	t, rest := math.Exp(epsilon), 1-m.coin
	over := func(ratio float64) float64 {
		k := (t - m.coin*ratio) / rest
		if k <= 0 {
			return 1 - k
		}
		return m.delta1(k)
	}
	sum := m.lost * rest * over(0)
	for _, a := range m.second {
		sum += a.mass * rest * over(a.ratio)
	}
	return sum + m.coin*m.lost
}

// back folds e^epsilon k' into one number.
func (m *mixture) back(epsilon float64, second []atom) float64 {
	t, rest := math.Exp(epsilon), 1-m.coin
	sum := m.lost * m.delta1(t*rest)
	for _, a := range second {
		if k := 1 - t*m.coin*a.ratio; k > 0 {
			sum += a.mass * k * m.delta1(t*rest/k)
		}
	}
	return sum
}

// alone is the curve of the mixture if the first kid releases nothing: that of the second
// on a random part of the records.
func (w *composer) alone(n *Node, epsilon float64) float64 {
	p := Node{Op: OpPar, Coin: n.Coin, Kids: []Node{{Op: OpSeq}, n.disjoint()[1]}}
	return w.mixture(&p).at(epsilon)
}
