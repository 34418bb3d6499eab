package budget

import "math"

// composeLead returns the curve of an epsilon-private step followed by a step with the curve rest, whose laws
// do not depend on the release of the first step. Both curves accept every real epsilon.
//
// Randomised response dominates every epsilon-private step (Kairouz, Oh, Viswanath 2015): its loss is epsilon
// with probability w = e^epsilon/(1+e^epsilon), else -epsilon. Dominating pairs compose (Zhu, Dong, Wang 2022,
// Theorem 10), and the hockey-stick divergence of a product is the mean of that of the second factor over the loss of the
// first:
//
//	delta(e) = w rest(e - epsilon) + (1-w) rest(e + epsilon)
func composeLead(
	epsilon float64,
	rest func(float64) float64,
) func(float64) float64 {
	if epsilon == 0 {
		return rest
	}
	w := 1 / (1 + math.Exp(-epsilon))
	return func(e float64) float64 {
		return math.Min(1, (w*rest(e-epsilon)+(1-w)*rest(e+epsilon))*(1+numericGuard))
	}
}

// leadCurve is the curve rest after a lead of the given epsilon; see [composeLead].
type leadCurve struct {
	rest        curve
	leadEpsilon float64
}

func (c leadCurve) deltaAt(epsilon float64) float64 {
	return composeLead(c.leadEpsilon, func(e float64) float64 {
		if e < 0 {
			return mirrorDelta(-e, c.rest.deltaAt(-e))
		}
		return c.rest.deltaAt(e)
	})(epsilon)
}

// leadCurves returns the curves of a Parallel with a lead, one for each product of its other kids.
func (w *composer) leadCurves(v *profileNode) []curve {
	rest := w.buildCurves(unionOf(v.node.disjointKids()))
	for i, c := range rest {
		rest[i] = leadCurve{c, v.leadEpsilon}
	}
	return rest
}

// Lead returns the epsilon of the lead of the tree's root, and whether there is one.
func (p *Priced) Lead() (epsilon float64, ok bool) {
	lead := p.tree.leadNode()
	if lead == nil {
		return 0, false
	}
	epsilon, _ = lead.pureCost()
	return epsilon, true
}

// LeadCharge returns the price of a run that released its lead and was then cancelled because of that release
// alone. Without a lead such a run releases no output, and its price is 0.
//
// In a filter the lead and the steps after it are two steps. The laws of the second do not depend on the
// release of the lead, so its price is the same for every release, and [Priced.ChargeWithin] is the sum of
// both prices. An output of the first step decides whether the second runs. A filter allows that, and a
// skipped step is free (docs/proofs/prices.md, "A run that stops").
func (p *Priced) LeadCharge(c Currency) Charge {
	return p.tree.chargeOfLead(c)
}

// ChargeLead is [Priced.LeadCharge] of a tree whose laws are all fixed. The error is that of [ChargeLaws].
func (n *Node) ChargeLead(c Currency) (Charge, error) {
	if lead := n.leadNode(); lead != nil {
		return ChargeLaws(*lead, c)
	}
	return Charge{}, nil
}

func (n *Node) chargeOfLead(c Currency) Charge {
	if lead := n.leadNode(); lead != nil {
		return lead.sumCharges(c)
	}
	return Charge{}
}

// withoutLead returns the tree without its lead.
func (n Node) withoutLead() Node {
	if n.leadNode() == nil {
		return n
	}
	n.Kids = n.disjointKids()
	n.Lead = false
	return n
}
