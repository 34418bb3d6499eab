package budget

import (
	"encoding/binary"
	"math"
)

// product is a composition of independent dominating pairs: merged Gaussians,
// other laws, alternatives among which released values choose, and selections.
type product struct {
	mu2  float64
	laws []Law
	alts [][]product
	sels []chosen
}

// chosen is a selection among candidates, whose products are listed for all of them.
type chosen struct {
	law        Selection
	candidates []product
}

// products flattens the tree beneath n. A record that changes sits in one kid of
// a Par, so each kid gives a product of its own, with that of a lead, and the cost of n is the largest.
// A OneOf may pick its branch by anything released so far, so its branches are
// one factor, dominated by the pointwise maximum of their curves, and of Gaussians by the largest.
func (n *Node) products() []product {
	switch n.Op {
	case OpLeaf:
		law := n.Leaf.Law
		switch {
		case law.null():
			return []product{{}}
		case law.Kind == Gaussian:
			return []product{{mu2: float64(law.Draws) * law.Mu * law.Mu}}
		}
		return []product{{laws: []Law{law}}}
	case OpPar:
		if lead := n.lead(); lead != nil {
			return cross(lead.products(), unionOf(n.disjoint()))
		}
		return unionOf(n.Kids)
	case OpOneOf:
		branches := unionOf(n.Kids[1:])
		all, ok := worst(branches)
		if !ok {
			all = product{alts: [][]product{branches}}
		}
		return cross(n.Kids[0].products(), []product{all})
	case OpSelect:
		return []product{{sels: []chosen{{*n.Select, unionOf(n.Kids)}}}}
	}
	out := []product{{}}
	for i := range n.Kids {
		out = cross(out, n.Kids[i].products())
	}
	return out
}

func unionOf(kids []Node) []product {
	var out []product
	for i := range kids {
		out = append(out, kids[i].products()...)
	}
	return out
}

// cross composes every product of a with every product of b.
func cross(a, b []product) []product {
	out := make([]product, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			p := product{mu2: x.mu2 + y.mu2}
			p.laws = append(p.laws, x.laws...)
			for _, law := range y.laws {
				p.laws = mergeLaw(p.laws, law)
			}
			p.alts = append(append(p.alts, x.alts...), y.alts...)
			p.sels = append(append(p.sels, x.sels...), y.sels...)
			out = append(out, p)
		}
	}
	return out
}

// A single is a draw with a closed-form curve beside steps that lose a probability outright: an infinite
// loss with that probability, else that of the draw. Its curve is lost + (1-lost) times that of the draw.
type single struct {
	law  Law
	lost float64
}

func (s single) at(epsilon float64) float64 { return s.beside(s.law.DeltaAt(epsilon)) }

func (s single) beside(delta float64) float64 {
	if s.lost == 0 {
		return delta
	}
	return math.Min(1, s.lost+(1-s.lost)*delta)
}

// dots is [Law.dots] of the draw, with what is lost.
func (s single) dots(h float64) []float64 {
	d := s.law.dots(h)
	for i := range d {
		d[i] = s.beside(d[i])
	}
	return d
}

// exact returns the single draw that p is equal to, if its curve has a closed
// form: Gaussians only, or one draw of one other law, beside what is lost outright.
func (p product) exact() (single, bool) {
	kept, other := 0., []Law(nil) // kept is the logarithm of the probability that nothing is lost
	for _, law := range p.laws {
		if law.loses() {
			kept += float64(law.Draws) * math.Log1p(-law.Delta)
		} else {
			other = append(other, law)
		}
	}
	out := single{lost: -math.Expm1(kept)}
	switch {
	case len(p.alts) > 0 || len(p.sels) > 0:
		return single{}, false
	case len(other) == 0:
		out.law = Law{Kind: Gaussian, Mu: math.Sqrt(p.mu2), Draws: 1}
		return out, true
	case len(other) == 1 && p.mu2 == 0 && other[0].Draws == 1:
		out.law = other[0]
		return out, true
	}
	return single{}, false
}

// worst returns one product that dominates each of ps, if all are Gaussian beside what they lose
// outright, and one does lose something: the largest Gaussian beside the largest loss. The curve rises with
// both. Without a loss the pointwise maximum is the same curve, and the caller has it already.
func worst(ps []product) (product, bool) {
	out, lost := product{}, 0.
	for _, p := range ps {
		s, ok := p.exact()
		if !ok || s.law.Kind != Gaussian {
			return product{}, false
		}
		out.mu2, lost = math.Max(out.mu2, p.mu2), math.Max(lost, s.lost)
	}
	out.laws = []Law{{Kind: Approximate, Delta: lost, Draws: 1}}
	return out, lost > 0
}

// logMoment returns ln E[exp(t L)] before discretisation; alternatives and selections enter
// with a figure that is good enough to choose a window by.
func (p product) logMoment(t float64) float64 {
	sum := t * (t + 1) * p.mu2 / 2
	for _, l := range p.laws {
		sum += float64(l.Draws) * l.logMoment(t)
	}
	for _, alts := range p.alts {
		worst := 0.0
		for _, a := range alts {
			worst = math.Max(worst, a.logMoment(t))
		}
		sum += worst + math.Log(float64(len(alts)))
	}
	for _, s := range p.sels {
		worst, variance := 0.0, 0.0
		for _, c := range s.candidates {
			v, _ := c.spread()
			worst, variance = math.Max(worst, c.logMoment(t)), math.Max(variance, v)
		}
		sum += worst + math.Log(s.law.Mean()) + t*(1+s.law.Eta)*math.Min(-math.Log(s.law.Gamma), 3*math.Sqrt(variance)+variance/2)
	}
	return sum
}

// window returns the Chernoff bound on the loss at probability tailMass and the
// exponent that attains it.
func (p product) window() (top, exponent float64) {
	top = math.Inf(1)
	for t := 1.0 / 64; t < 1e9; t *= math.Sqrt2 {
		if x := (p.logMoment(t) - math.Log(tailMass)) / t; x < top {
			top, exponent = x, t
		}
	}
	return top, exponent
}

// spread returns the variance of the loss, roughly, and the number of draws.
func (p product) spread() (variance, draws float64) {
	variance = p.mu2
	if p.mu2 > 0 {
		draws = 1
	}
	for _, l := range p.laws {
		v := l.Epsilon * l.Epsilon
		if l.Kind == Exponential {
			v /= 3
		}
		variance += float64(l.Draws) * v
		draws += float64(l.Draws)
	}
	for _, alts := range p.alts {
		least, most := math.Inf(1), 0.0
		for _, a := range alts {
			v, n := a.spread()
			least, most = math.Min(least, v), math.Max(most, n)
		}
		variance, draws = variance+least, draws+most+1
	}
	for _, s := range p.sels {
		least, most := math.Inf(1), 0.0
		for _, c := range s.candidates {
			if v, n := c.spread(); v > 0 {
				least, most = math.Min(least, v), math.Max(most, n)
			}
		}
		if !math.IsInf(least, 1) {
			variance += least
		}
		draws += most + 1
	}
	return variance, draws
}

// key appends to b what tells p from every other product.
func (p product) key(b []byte) []byte {
	number := func(xs ...float64) {
		for _, x := range xs {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
	}
	count := func(n int) { b = binary.LittleEndian.AppendUint64(b, uint64(n)) }
	list := func(ps []product) {
		count(len(ps))
		for _, q := range ps {
			b = q.key(b)
		}
	}
	number(p.mu2)
	count(len(p.laws))
	for _, l := range p.laws {
		count(int(l.Kind))
		number(l.Mu, l.Epsilon, l.Delta)
		count(l.Draws)
	}
	count(len(p.alts))
	for _, alts := range p.alts {
		list(alts)
	}
	count(len(p.sels))
	for _, s := range p.sels {
		number(s.law.Eta, s.law.Gamma)
		list(s.candidates)
	}
	return b
}

// step chooses the grid. Connecting the dots adds up to h^2/4 to the variance of
// the loss at every draw; h keeps that below 5e-5 of the whole, at most 1e-3,
// and no finer than maxCells cells across the window. Laws with an atom at their
// epsilon add nothing if it falls on the grid, so h divides the one drawn most.
func (p product) step() float64 {
	variance, draws := p.spread()
	top, _ := p.window()
	h := math.Min(1e-3, math.Sqrt(2e-4*variance/math.Max(1, draws)))
	h = math.Max(h, 2*top/maxCells)
	most := Law{}
	for _, l := range p.laws {
		if l.Kind != Exponential && l.Draws > most.Draws {
			most = l
		}
	}
	if most.Epsilon > h {
		h = most.Epsilon / math.Ceil(most.Epsilon/h)
	}
	return h
}
