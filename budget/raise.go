package budget

import "slices"

// The parts of a tree are calibrated by themselves first, each to the whole target. Then
// those of a root with a sharper curve are raised to what that curve leaves.

const (
	// secondFactor is how far the second kid of a Par with a coin is raised at most, and
	// secondShare the share of delta that it may take by itself. See
	// docs/methods/prices.md, "What the gain is used for".
	secondFactor = 2
	secondShare  = .01
)

// raise raises the parts beneath v.
func (c *calibrator) raise(v *verdict) {
	switch {
	case c.basic() || c.target.Earlier || v.part != nil:
	case c.mixes(v.node):
		c.raiseMixture(v)
	case v.node.lead() != nil:
		c.raiseParts(v.parts(), func() float64 {
			return worstCurve(c.composer.ledCurves(v), c.target.Epsilon)
		})
	case v.node.Op == OpOneOf:
		c.raiseParts(v.parts(), func() float64 {
			return worstCurve(c.composer.curves(v.node.products()), c.target.Epsilon)
		})
	default:
		for i := range v.kids {
			c.raise(&v.kids[i])
		}
	}
}

// raiseMixture raises the second kid of a Par with a coin, and then the first as far as it
// goes.
func (c *calibrator) raiseMixture(v *verdict) {
	first, second := v.kids[0].parts(), v.kids[1].parts()
	fits := func(f float64) bool {
		scale(second, f)
		return c.composer.alone(v.node, c.target.Epsilon) <= secondShare*c.target.Delta
	}
	f := float64(secondFactor)
	if !fits(f) {
		f, _ = bisect(1, f, 1e-4, fits)
	}
	for ; ; f = 1 + (f-1)/2 {
		if f < 1.01 {
			f = 1
		}
		scale(second, f)
		if c.raiseParts(first, c.deltaBeside(v)) || f == 1 {
			break
		}
	}
	for _, p := range second {
		p.multiplier *= f
	}
}

// deltaBeside returns delta of a Par with a coin, and of its lead, for the laws that its first kid has when it is called.
// Those of the second stay.
func (c *calibrator) deltaBeside(v *verdict) func() float64 {
	n := v.node
	var m *mixture
	coarsen := c.composer.coarsen
	return func() float64 {
		if m == nil || coarsen != c.composer.coarsen {
			m, coarsen = c.composer.mixture(n), c.composer.coarsen
		} else {
			m.beside(c.composer.curves(n.disjoint()[0].products()))
		}
		return led(v.shift, m.at)(c.target.Epsilon)
	}
}

// raised returns for each kid of a root Par how much its multiplier was raised, and 1 for one
// without scalable laws; for another root the one factor.
func raised(v *verdict) []float64 {
	if len(v.kids) == 0 || v.node.Op != OpPar {
		for _, p := range v.parts() {
			if p.alone > 0 {
				return []float64{p.multiplier / p.alone}
			}
		}
		return []float64{1}
	}
	var out []float64
	for i := range v.kids {
		out = append(out, raised(&v.kids[i])[0])
	}
	return out
}

// scale writes the laws of f times the multiplier of each part.
func scale(parts []*part, f float64) {
	for _, p := range parts {
		p.setTight(f * p.multiplier)
	}
}

// raiseParts multiplies the multipliers of parts by the largest factor from 1 on that keeps
// delta within the target, and reports whether there is one.
func (c *calibrator) raiseParts(parts []*part, delta func() float64) bool {
	try := func(f float64) trial {
		scale(parts, f)
		return trial{f, delta()}
	}
	if !slices.ContainsFunc(parts, func(p *part) bool { return len(p.scalable) > 0 }) {
		return try(1).delta <= c.target.Delta
	}
	c.composer.coarsen = 5
	f := c.climb(1, 1.03, try, false)
	c.composer.coarsen = 1
	ok := try(f).delta <= c.target.Delta
	if !ok && f > 1 {
		f, ok = 1, try(1).delta <= c.target.Delta
	}
	if ok {
		f = c.climb(f, 1.0003, try, false)
	}
	for _, p := range parts {
		p.multiplier *= f
	}
	scale(parts, 1)
	return ok
}

// settle computes the curves of the laws that were found.
func (c *calibrator) settle(v *verdict) {
	for i := range v.kids {
		c.settle(&v.kids[i])
	}
	switch {
	case v.part != nil:
		v.account = newAccount(c.composer, v.node)
		if epsilon := v.part.epsilon; c.basic() && epsilon < v.account.basicEpsilon {
			v.account.basicEpsilon, v.account.basicDelta = epsilon, c.target.Delta
		}
	case c.mixes(v.node):
		v.mix = c.composer.mixture(v.node)
	case v.node.lead() != nil:
		v.joint = c.composer.ledCurves(v)
	case c.basic() || c.target.Earlier:
	case v.node.Op == OpOneOf:
		v.joint = c.composer.curves(v.node.products())
	}
	v.part = nil
}
