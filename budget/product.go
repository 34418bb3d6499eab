package budget

import (
	"encoding/binary"
	"math"
)

// product is a composition of independent dominating pairs: merged Gaussians,
// other laws, alternatives among which released values choose, and selections.
type product struct {
	mu2          float64
	laws         []Law
	alternatives [][]product
	selections   []selectionFactor
}

// selectionFactor is a private selection with the products of all its candidates.
type selectionFactor struct {
	law        Selection
	candidates []product
}

// flattenProducts returns the products of the tree beneath n. A record that changes is in one kid of a Parallel, so
// each kid gives a product of its own, with that of a lead, and the cost of n is the largest. A Branches node may pick
// its branch by anything released so far, so its branches are one factor, dominated by the pointwise maximum
// of their curves, and of Gaussians by the largest.
func (n *Node) flattenProducts() []product {
	switch n.Op {
	case OpLeaf:
		law := n.Leaf.Law
		switch {
		case law.isZero():
			return []product{{}}
		case law.Kind == Gaussian:
			return []product{{mu2: float64(law.Draws) * law.Mu * law.Mu}}
		}
		return []product{{laws: []Law{law}}}
	case OpParallel:
		if lead := n.leadNode(); lead != nil {
			return crossProducts(lead.flattenProducts(), unionOf(n.disjointKids()))
		}
		return unionOf(n.Kids)
	case OpBranches:
		branches := unionOf(n.Kids[1:])
		all, ok := dominatingGaussian(branches)
		if !ok {
			all = product{alternatives: [][]product{branches}}
		}
		return crossProducts(n.Kids[0].flattenProducts(), []product{all})
	case OpSelect:
		return []product{{selections: []selectionFactor{{*n.Select, unionOf(n.Kids)}}}}
	}
	out := []product{{}}
	for i := range n.Kids {
		out = crossProducts(out, n.Kids[i].flattenProducts())
	}
	return out
}

func unionOf(kids []Node) []product {
	var out []product
	for i := range kids {
		out = append(out, kids[i].flattenProducts()...)
	}
	return out
}

// crossProducts composes every product of a with every product of b.
func crossProducts(a, b []product) []product {
	out := make([]product, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			p := product{mu2: x.mu2 + y.mu2}
			p.laws = append(p.laws, x.laws...)
			for _, law := range y.laws {
				p.laws = mergeLaw(p.laws, law)
			}
			p.alternatives = append(append(p.alternatives, x.alternatives...), y.alternatives...)
			p.selections = append(append(p.selections, x.selections...), y.selections...)
			out = append(out, p)
		}
	}
	return out
}

// A singleDraw is a draw with a closed-form curve, combined with steps that lose a probability outright: an
// infinite loss with probability lostMass, else the loss of the draw. Its curve is lostMass + (1-lostMass)
// times that of the draw.
type singleDraw struct {
	law      Law
	lostMass float64
}

func (s singleDraw) deltaAt(epsilon float64) float64 {
	return s.withLost(s.law.DeltaAt(epsilon))
}

func (s singleDraw) withLost(delta float64) float64 {
	if s.lostMass == 0 {
		return delta
	}
	return math.Min(1, s.lostMass+(1-s.lostMass)*delta)
}

// sampleCurve is [Law.sampleCurve] of the draw, including the lost mass.
func (s singleDraw) sampleCurve(h float64) []float64 {
	d := s.law.sampleCurve(h)
	for i := range d {
		d[i] = s.withLost(d[i])
	}
	return d
}

// asSingleDraw returns the single draw that p is equal to, if its curve has a closed form: Gaussians only, or
// one draw of one other law, apart from the mass that is lost outright.
func (p product) asSingleDraw() (singleDraw, bool) {
	kept, other := 0., []Law(nil) // kept is the logarithm of the probability that no step fails
	for _, law := range p.laws {
		if law.isFailureOnly() {
			kept += float64(law.Draws) * math.Log1p(-law.Delta)
		} else {
			other = append(other, law)
		}
	}
	out := singleDraw{lostMass: -math.Expm1(kept)}
	switch {
	case len(p.alternatives) > 0 || len(p.selections) > 0:
		return singleDraw{}, false
	case len(other) == 0:
		out.law = Law{
			Kind:  Gaussian,
			Mu:    math.Sqrt(p.mu2),
			Draws: 1,
		}
		return out, true
	case len(other) == 1 && p.mu2 == 0 && other[0].Draws == 1:
		out.law = other[0]
		return out, true
	}
	return singleDraw{}, false
}

// dominatingGaussian returns one product that dominates each of ps: the largest Gaussian with the largest lost
// mass. The curve rises with both. It reports false unless all of ps are Gaussian apart from their lost mass,
// and at least one has some. Without lost mass the pointwise maximum is the same curve, and the caller has it
// already.
func dominatingGaussian(ps []product) (product, bool) {
	out := product{}
	lost := 0.
	for _, p := range ps {
		s, ok := p.asSingleDraw()
		if !ok || s.law.Kind != Gaussian {
			return product{}, false
		}
		out.mu2 = math.Max(out.mu2, p.mu2)
		lost = math.Max(lost, s.lostMass)
	}
	out.laws = []Law{{
		Kind:  Approximate,
		Delta: lost,
		Draws: 1,
	}}
	return out, lost > 0
}

// logMoment returns ln E[exp(t L)] before discretisation. For alternatives and selections it uses an
// approximation that is good enough to choose a window.
func (p product) logMoment(t float64) float64 {
	sum := t * (t + 1) * p.mu2 / 2
	for _, l := range p.laws {
		sum += float64(l.Draws) * l.logMoment(t)
	}
	for _, alts := range p.alternatives {
		worst := 0.0
		for _, a := range alts {
			worst = math.Max(worst, a.logMoment(t))
		}
		sum += worst + math.Log(float64(len(alts)))
	}
	for _, s := range p.selections {
		worst := 0.0
		variance := 0.0
		for _, c := range s.candidates {
			v, _ := c.varianceAndDraws()
			worst = math.Max(worst, c.logMoment(t))
			variance = math.Max(variance, v)
		}
		sum += worst + math.Log(s.law.Mean()) +
			t*(1+s.law.Eta)*math.Min(-math.Log(s.law.Gamma), 3*math.Sqrt(variance)+variance/2)
	}
	return sum
}

// lossWindow returns the Chernoff bound on the loss at probability tailMass and the
// exponent that attains it.
func (p product) lossWindow() (top, exponent float64) {
	top = math.Inf(1)
	for t := 1.0 / 64; t < 1e9; t *= math.Sqrt2 {
		if x := (p.logMoment(t) - math.Log(tailMass)) / t; x < top {
			top = x
			exponent = t
		}
	}
	return top, exponent
}

// varianceAndDraws returns the approximate variance of the loss and the number of draws.
func (p product) varianceAndDraws() (variance, draws float64) {
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
	for _, alts := range p.alternatives {
		least := math.Inf(1)
		most := 0.0
		for _, a := range alts {
			v, n := a.varianceAndDraws()
			least = math.Min(least, v)
			most = math.Max(most, n)
		}
		variance += least
		draws = draws + most + 1
	}
	for _, s := range p.selections {
		least := math.Inf(1)
		most := 0.0
		for _, c := range s.candidates {
			if v, n := c.varianceAndDraws(); v > 0 {
				least = math.Min(least, v)
				most = math.Max(most, n)
			}
		}
		if !math.IsInf(least, 1) {
			variance += least
		}
		draws += most + 1
	}
	return variance, draws
}

// appendKey appends to b an encoding that identifies p uniquely.
func (p product) appendKey(b []byte) []byte {
	number := func(xs ...float64) {
		for _, x := range xs {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
	}
	count := func(n int) {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	list := func(ps []product) {
		count(len(ps))
		for _, q := range ps {
			b = q.appendKey(b)
		}
	}
	number(p.mu2)
	count(len(p.laws))
	for _, l := range p.laws {
		count(int(l.Kind))
		number(l.Mu, l.Epsilon, l.Delta)
		count(l.Draws)
	}
	count(len(p.alternatives))
	for _, alts := range p.alternatives {
		list(alts)
	}
	count(len(p.selections))
	for _, s := range p.selections {
		number(s.law.Eta, s.law.Gamma)
		list(s.candidates)
	}
	return b
}

// gridStep returns the grid step. Connecting the dots adds up to h^2/4 to the variance of the loss at every
// draw; h keeps that below 5e-5 of the whole, at most 1e-3, and no finer than maxCells cells across the
// window. Laws with an atom at their epsilon add no variance if the atom is a grid point, so h divides the
// epsilon of the law with most draws.
func (p product) gridStep() float64 {
	variance, draws := p.varianceAndDraws()
	top, _ := p.lossWindow()
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
