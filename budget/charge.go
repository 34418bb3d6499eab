package budget

import (
	"container/heap"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Charge returns the price of the tree in a currency.
//
// Costs add over a Sequence and over draws, whatever earlier outputs decided. A Parallel
// costs its largest kid: the record that differs is in one kid, and a divergence
// or trade-off curve of a mixture over the kid's public coin is never worse than
// the worst kid's. A lead of a Parallel comes on top. A Branches node costs its informer and its largest branch. Laws cost
//
//	currency  gaussian  exponential         laplace     pure, approximate
//	zcdp      mu²/2     epsilon²/8          epsilon²/2  epsilon²/2 (and delta)
//	gdp       mu²       GDPMu of the law, squared       (and delta)
//
// times the draws. A tree with a SelectBest has no price of that form (its Rényi curve is no line). It is charged
// as one black box with the guarantee of the whole tree, the target's epsilon and delta, plus its lead.
func (p *Priced) Charge(c Currency) Charge {
	if p.tree.hasOp(OpSelect) {
		return BlackBoxCharge(c, p.target.Epsilon, p.target.Delta).Plus(p.LeadCharge(c))
	}
	return p.tree.sumCharges(c)
}

// ChargeWithin returns the price of the tree in a filter with the total t. It is that of Charge, unless the
// tree has a SelectBest or a Coin and the total has room for MinDelta. Then it is the price of the Gaussian law
// that covers all but the lead, plus the price of the lead, if this sum is lower ([CoverCharge],
// [Node.ChargeLead]); mu is the parameter of that law, and 0 in all other cases. Where steps lose a delta
// outright ([Node.LostDelta]), the law covers all other steps.
func (p *Priced) ChargeWithin(t Total) (price Charge, mu float64) {
	price = p.Charge(t.Currency)
	lost := p.tree.LostDelta()
	if t.BlackBox < MinDelta+lost || p.root.mixture == nil && !p.tree.hasOp(OpSelect) {
		return price, 0
	}
	rest := p
	if p.tree.leadNode() != nil {
		var err error
		if rest, err = Calibrate(p.tree.withoutLead().withFixedLaws(), p.target); err != nil {
			return price, 0
		}
	}
	mu = rest.muWithoutLost(lost)
	if cover := CoverCharge(t.Currency, mu,
		lost).Plus(p.LeadCharge(t.Currency)); cover.Cost < price.Cost {
		return cover, mu
	}
	return price, 0
}

// CoverCharge returns the price of a run that a Gaussian law covers: apart from steps that lose the delta lost
// outright, the delta of the run at every epsilon is at most the larger of MinDelta and the delta of a
// Gaussian law of parameter mu. Such a run is, for a fixed pair of neighbours, the Gaussian law outside an
// event of probability MinDelta+lost: see docs/proofs/prices.md, "In a ledger".
func CoverCharge(c Currency, mu, lost float64) Charge {
	return roundUpCharge(Law{
		Kind:  Gaussian,
		Mu:    mu,
		Draws: 1,
	}.costIn(c), MinDelta+lost)
}

// isFailureOnly reports whether the law fails with probability Delta and otherwise reveals no information.
func (l Law) isFailureOnly() bool {
	return l.Kind == Approximate && l.Epsilon == 0
}

// LostDelta returns the total delta of the steps beneath n whose epsilon is 0, added up as costs are: they fail
// with that probability, and otherwise reveal no information. With lost, the delta of a tree at epsilon is at
// most lost + (1-lost) times the delta of the tree without these steps.
func (n Node) LostDelta() float64 {
	return n.foldCost(func(l *Leaf) float64 {
		law := l.Law
		if l.Fixed != nil {
			law = *l.Fixed
		}
		if !law.isFailureOnly() {
			return 0
		}
		return float64(law.Draws) * law.Delta
	}, unpricedSelection)
}

// muWithoutLost returns the mu of the guarantee of the tree without the steps that lose a delta, or +Inf if
// the tree has no mu. Where they lose so little that the whole tree has a mu, it returns that larger mu.
func (p *Priced) muWithoutLost(lost float64) float64 {
	if lost <= maxLostDelta*(1+1e-9) {
		return p.cachedMu()
	}
	rest, err := Calibrate(p.tree.withoutLost(), p.target)
	if err != nil {
		return math.Inf(1)
	}
	return rest.cachedMu()
}

// withoutLost returns a copy of a tree whose laws are filled, with every law fixed and the steps that lose a
// delta replaced by free stages.
func (n Node) withoutLost() Node {
	return n.mapLeaves(func(n Node) Node {
		if n.Leaf.Law.isFailureOnly() {
			return Sequence(n.Name)
		}
		return FixedLeaf(n.Name, n.Leaf.Law)
	})
}

// withFixedLaws returns a copy of a tree whose laws are filled, with every law fixed.
func (n Node) withFixedLaws() Node {
	return n.mapLeaves(func(n Node) Node {
		return FixedLeaf(n.Name, n.Leaf.Law)
	})
}

// mapLeaves returns a copy of the tree in which f replaces every leaf.
func (n Node) mapLeaves(f func(Node) Node) Node {
	if n.Op == OpLeaf {
		return f(n)
	}
	n = n.clone()
	for i := range n.Kids {
		n.Kids[i] = n.Kids[i].mapLeaves(f)
	}
	return n
}

// BlackBoxCharge returns the price of a run if only its epsilon and delta are known.
func BlackBoxCharge(c Currency, epsilon, delta float64) Charge {
	law := Law{
		Kind:    Approximate,
		Epsilon: epsilon,
		Delta:   delta,
		Draws:   1,
	}
	return roundUpCharge(law.costIn(c), delta)
}

// ChargeLaws returns the sum of the prices of all steps of a tree whose laws are all fixed, such as one that
// was read from a file. It needs no target and so cannot price a SelectBest. The error wraps ErrTree, ErrLaw or
// ErrNotPure.
func ChargeLaws(tree Node, c Currency) (Charge, error) {
	tree = tree.clone()
	if err := tree.validate(tree.Name, leafConstraints{}); err != nil {
		return Charge{}, err
	}
	if tree.hasOp(OpSelect) {
		return Charge{}, &treeError{
			Path:    tree.Name,
			Problem: "a select has no price in the currency of a filter",
		}
	}
	open := ""
	tree.walkLeaves(tree.Name, func(path string, l *Leaf) {
		if l.Fixed == nil {
			open = path
			return
		}
		l.Law = *l.Fixed
	})
	if open != "" {
		return Charge{}, &treeError{
			Path:    open,
			Problem: "the law is not fixed, so the leaf has no price yet",
		}
	}
	return tree.sumCharges(c), nil
}

// sumCharges returns the price of the laws beneath n, which must not contain a SelectBest.
func (n *Node) sumCharges(c Currency) Charge {
	cache := map[Law]float64{} // by law, since GDPMu runs a search
	cost := n.foldCost(func(l *Leaf) float64 {
		one := l.Law
		one.Draws = 1
		each, ok := cache[one]
		if !ok {
			each = one.costIn(c)
			cache[one] = each
		}
		return float64(l.Law.Draws) * each
	}, unpricedSelection)
	delta := n.foldCost(func(l *Leaf) float64 {
		_, d := l.Law.ZCDP()
		return d
	}, unpricedSelection)
	return roundUpCharge(cost, delta)
}

// costIn returns the price of all draws in a currency, without the delta.
func (l Law) costIn(c Currency) float64 {
	if c == GDP {
		mu := l.GDPMu()
		return float64(l.Draws) * mu * mu
	}
	rho, _ := l.ZCDP()
	return rho
}

// GDPMu returns a mu for which one draw is mu-Gaussian private, rounded up: the Gaussian curve is above the
// curve of the law at every epsilon. For an Approximate law this holds outside an event of probability Delta.
//
// Any epsilon-private step has Phi(mu/2) = e^epsilon/(1+e^epsilon), where the trade-off
// curves meet on the diagonal (Dong, Roth, Su 2022). Laplace and exponential steps
// have curves of their own, for which the smallest mu is searched; their curves
// are convex in e^epsilon and 0 from the law's epsilon on.
func (l Law) GDPMu() float64 {
	if l.Kind == Gaussian {
		return l.Mu
	}
	pure := -2 * mathext.NormalQuantile(1/(1+math.Exp(l.Epsilon))) * (1 + 1e-9)
	if l.Kind != Laplace && l.Kind != Exponential || math.IsNaN(pure) {
		return pure
	}
	return math.Min(pure, l.coveringMu())
}

// coveringMu returns the smallest mu whose Gaussian curve is above the curve of the law, rounded up. It
// searches by branch and bound over [0, l.Epsilon], as muByProfile does for a whole tree.
func (l Law) coveringMu() float64 {
	cover := func(lo, hi float64) span {
		return span{lo, hi, coverChord(lo, hi, l.DeltaAt(lo), l.DeltaAt(hi))}
	}
	need, _ := gaussianMuBracket(0, l.DeltaAt(0), muTolerance)
	queue := &spanHeap{cover(0, l.Epsilon)}
	for range 2000 {
		worst := (*queue)[0]
		if worst.mu <= need*(1+1e-5) {
			break
		}
		heap.Pop(queue)
		mid := (worst.lo + worst.hi) / 2
		m, _ := gaussianMuBracket(mid, l.DeltaAt(mid), muTolerance)
		need = math.Max(need, m)
		heap.Push(queue, cover(worst.lo, mid))
		heap.Push(queue, cover(mid, worst.hi))
	}
	return (*queue)[0].mu * (1 + 1e-9)
}
