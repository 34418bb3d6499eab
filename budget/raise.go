package budget

import "slices"

// The parts of a tree are first calibrated separately, each to the whole target. Then the parts beneath a root
// with a sharper curve are raised as far as that curve allows.

const (
	// maxSecondFactor bounds the factor by which the second kid of a Parallel with a coin is raised, and maxSecondShare
	// bounds its share of delta by itself. See docs/proofs/prices.md, "What the gain is used for".
	maxSecondFactor = 2
	maxSecondShare  = .01
)

// raiseNode raises the multipliers of the parts beneath v as far as the joint curves allow.
func (c *calibrator) raiseNode(v *profileNode) {
	switch {
	case c.addsEpsilons() || c.target.Earlier || v.part != nil:
	case c.usesMixture(v.node):
		c.raiseMixture(v)
	case v.node.leadNode() != nil:
		c.raiseParts(v.listParts(), func() float64 {
			return largestDelta(c.composer.leadCurves(v), c.target.Epsilon)
		})
	case v.node.Op == OpBranches:
		c.raiseParts(v.listParts(), func() float64 {
			return largestDelta(c.composer.buildCurves(v.node.flattenProducts()), c.target.Epsilon)
		})
	default:
		for i := range v.kids {
			c.raiseNode(&v.kids[i])
		}
	}
}

// raiseMixture raises the second kid of a Parallel with a coin, up to its limits, and then the first as far as the
// target allows.
func (c *calibrator) raiseMixture(v *profileNode) {
	first := v.kids[0].listParts()
	second := v.kids[1].listParts()
	fits := func(f float64) bool {
		scaleParts(second, f)
		return c.composer.secondAloneDelta(v.node, c.target.Epsilon) <= maxSecondShare*
			c.target.Delta
	}
	f := float64(maxSecondFactor)
	if !fits(f) {
		f, _ = bisect(1, f, 1e-4, fits)
	}
	for ; ; f = 1 + (f-1)/2 {
		if f < 1.01 {
			f = 1
		}
		scaleParts(second, f)
		if c.raiseParts(first, c.mixtureDelta(v)) || f == 1 {
			break
		}
	}
	for _, p := range second {
		p.multiplier *= f
	}
}

// mixtureDelta returns a function that computes delta, at the target's epsilon, of a Parallel with a coin and of
// its lead. Each call uses the current laws of the first kid; those of the second must not change.
func (c *calibrator) mixtureDelta(v *profileNode) func() float64 {
	n := v.node
	var m *mixture
	coarsen := c.composer.coarsen
	return func() float64 {
		if m == nil || coarsen != c.composer.coarsen {
			m = c.composer.newMixture(n)
			coarsen = c.composer.coarsen
		} else {
			m.setFirst(c.composer.buildCurves(n.disjointKids()[0].flattenProducts()))
		}
		return composeLead(v.leadEpsilon, m.deltaAt)(c.target.Epsilon)
	}
}

// raiseFactors returns, for each kid of a root Parallel, the factor by which its multiplier was raised, or 1 for a
// kid without scalable laws; for another root it returns a single factor.
func raiseFactors(v *profileNode) []float64 {
	if len(v.kids) == 0 || v.node.Op != OpParallel {
		for _, p := range v.listParts() {
			if p.separateMultiplier > 0 {
				return []float64{p.multiplier / p.separateMultiplier}
			}
		}
		return []float64{1}
	}
	var out []float64
	for i := range v.kids {
		out = append(out, raiseFactors(&v.kids[i])[0])
	}
	return out
}

// scaleParts fills the laws for f times the multiplier of each part.
func scaleParts(parts []*part, f float64) {
	for _, p := range parts {
		p.setTight(f * p.multiplier)
	}
}

// raiseParts multiplies the multipliers of parts by the largest factor >= 1 that keeps delta within the
// target. It reports whether such a factor exists.
func (c *calibrator) raiseParts(parts []*part, delta func() float64) bool {
	try := func(f float64) trial {
		scaleParts(parts, f)
		return trial{f, delta()}
	}
	if !slices.ContainsFunc(parts, func(p *part) bool {
		return len(p.scalable) > 0
	}) {
		return try(1).delta <= c.target.Delta
	}
	c.composer.coarsen = 5
	f := c.searchMultiplier(1, 1.03, try, false)
	c.composer.coarsen = 1
	ok := try(f).delta <= c.target.Delta
	if !ok && f > 1 {
		f = 1
		ok = try(1).delta <= c.target.Delta
	}
	if ok {
		f = c.searchMultiplier(f, 1.0003, try, false)
	}
	for _, p := range parts {
		p.multiplier *= f
	}
	scaleParts(parts, 1)
	return ok
}

// computeCurves computes the accounts and curves of the final laws.
func (c *calibrator) computeCurves(v *profileNode) {
	for i := range v.kids {
		c.computeCurves(&v.kids[i])
	}
	switch {
	case v.part != nil:
		v.account = newAccount(c.composer, v.node)
		if epsilon := v.part.epsilon; c.addsEpsilons() && epsilon < v.account.basicEpsilon {
			v.account.basicEpsilon = epsilon
			v.account.basicDelta = c.target.Delta
		}
	case c.usesMixture(v.node):
		v.mixture = c.composer.newMixture(v.node)
	case v.node.leadNode() != nil:
		v.jointCurves = c.composer.leadCurves(v)
	case c.addsEpsilons() || c.target.Earlier:
	case v.node.Op == OpBranches:
		v.jointCurves = c.composer.buildCurves(v.node.flattenProducts())
	}
	v.part = nil
}
