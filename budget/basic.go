package budget

import "math"

// requirePure returns a *NotPureError for a leaf that must be pure and is not. All leaves must be pure when
// delta is 0; otherwise only the candidates of a selection must be.
func (p *part) requirePure(n *Node, path string, candidate bool) error {
	if n.Op == OpLeaf {
		kind := n.Leaf.Kind
		pure := kind.isPure() || kind == Approximate && n.Leaf.Fixed.Delta == 0
		switch {
		case pure:
			return nil
		case p.target.Delta == 0:
			return &NotPureError{
				Path: path,
				Kind: kind,
				Need: "with delta 0, all noise distributions must be pure",
			}
		case candidate:
			return &NotPureError{
				Path: path,
				Kind: kind,
				Need: "basic composition supports a selection only among pure candidates",
			}
		}
		return nil
	}
	for i := range n.Kids {
		if err := p.requirePure(&n.Kids[i], path+"/"+n.Kids[i].Name, candidate ||
			n.Op == OpSelect); err != nil {
			return err
		}
	}
	return nil
}

// solveBasic adds epsilons: a leaf of share s gets c s, divided equally over its
// draws, with the largest c whose total is at most epsilon. In a plain Sequence of
// scalable leaves c s is the leaf's fraction of the sum of shares, times epsilon.
// Delta, less what Approximate laws spend, is divided equally over the Gaussian
// draws of the most Gaussian path through the tree; each draw has the largest mu
// that its (epsilon, delta) allows.
func (p *part) solveBasic() error {
	piece, ok := p.deltaPerDraw()
	if !ok {
		return p.newOverspentError(p.path)
	}
	cost := func(c float64) float64 {
		return p.node.foldCost(func(l *Leaf) float64 {
			return p.leafEpsilon(l, c, piece)
		}, selectionPureCost)
	}
	if cost(0) > p.epsilon {
		return p.newOverspentError(p.path)
	}
	if len(p.scalable) == 0 {
		return nil
	}
	holds := func(c float64) bool {
		return cost(c) <= p.epsilon
	}
	lo, hi := doublingBracket(holds)
	lo, _ = bisect(lo, hi, 0, holds)
	for _, l := range p.scalable {
		each := lo * l.Share / float64(l.Draws)
		l.Law = Law{
			Kind:    l.Kind,
			Draws:   l.Draws,
			Epsilon: each,
		}
		if l.Kind == Gaussian {
			l.Law.Mu = GaussianMu(each, piece)
			l.Law.Epsilon = 0
		}
		if l.Law.isZero() {
			return p.newOverspentError(p.path)
		}
	}
	return nil
}

// deltaPerDraw returns the delta that each Gaussian draw may spend. It reports false if the Approximate laws
// use up the delta of the target.
func (p *part) deltaPerDraw() (float64, bool) {
	draws := p.node.foldCost(func(l *Leaf) float64 {
		if l.Kind == Gaussian {
			return float64(l.Draws)
		}
		return 0
	}, unpricedSelection)
	spent := p.node.foldCost(func(l *Leaf) float64 {
		if l.Kind == Approximate {
			return float64(l.Draws) * l.Fixed.Delta
		}
		return 0
	}, unpricedSelection)
	rest := p.target.Delta - spent
	return rest / math.Max(1, draws), rest > 0 || rest == 0 && draws == 0
}

// leafEpsilon returns the epsilon of all draws of a leaf at multiplier c, where piece is the delta of a
// Gaussian draw.
func (p *part) leafEpsilon(l *Leaf, c, piece float64) float64 {
	switch {
	case l.Fixed == nil && l.Law.isZero():
		return float64(l.Draws) * (c * l.Share / float64(l.Draws))
	case l.Kind == Gaussian:
		return float64(l.Draws) * GaussianEpsilon(l.Fixed.Mu, piece)
	}
	return float64(l.Draws) * l.Law.Epsilon // fixed, or of an informer
}
