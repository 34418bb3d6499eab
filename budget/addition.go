package budget

import "math"

// The bounds that can decide the epsilon of a priced tree at the delta of its target.
const (
	// ruleMixture: a secret coin decides which of two parts sees a record; see docs/proofs/prices.md,
	// "The secret coin".
	ruleMixture = "mixture"
	// ruleLargest: the largest privacy curve of the parts.
	ruleLargest = "largest"
	// ruleRenyi: the largest Rényi bound of the parts, each converted to delta.
	ruleRenyi = "renyi"
	// ruleSum: the largest sum of epsilons of the parts.
	ruleSum = "sum"
)

// An Addition describes how the steps of a priced tree compose, so that another accountant can reproduce the
// sum.
type Addition struct {
	// Rule is the bound that decides: "mixture", "largest", "renyi" or "sum".
	Rule string
	// Epsilon is the epsilon that the rule gives at the delta of the target. Under "sum" it may exceed the epsilon
	// that is spent, because other accountants give less.
	Epsilon      float64
	Tree         Node      // with Leaf.Law filled
	Coin         float64   // of ruleMixture: the probability that a record is in the second of the two kids
	RaiseFactors []float64 // [Priced.RaiseFactors]
	// Pieces are the deltas of Gaussian draws under ruleSum, by the paths of their leaves.
	Pieces map[string]float64
	// Step and Cells describe a grid of losses that is fine and wide enough to reproduce the price: multiples of
	// Step, with Cells of them on either side of 0.
	Step  float64
	Cells int
}

// Addition returns how the steps compose to the epsilon that is spent at the delta of the target. It is
// computed once per plan; callers must not modify it.
func (p *Priced) Addition() Addition {
	return p.cachedAddition()
}

// computeAddition computes the result of [Priced.Addition].
func (p *Priced) computeAddition() Addition {
	a := Addition{
		Tree:         p.Tree(),
		RaiseFactors: p.RaiseFactors(),
		Rule:         p.decidingRule(),
		Epsilon:      math.Min(p.target.Epsilon, p.Epsilon(p.target.Delta)),
	}
	switch a.Rule {
	case ruleSum:
		a.Pieces = p.gaussianDeltas()
		a.Epsilon = p.sumEpsilons(a.Pieces)
	case ruleMixture:
		a.Coin = p.tree.Coin
	}
	a.Step, a.Cells = p.chooseGrid()
	return a
}

// gaussianDeltas returns the delta of each Gaussian draw under basic composition, by the path of its leaf: every part divides
// delta by itself.
func (p *Priced) gaussianDeltas() map[string]float64 {
	out := map[string]float64{}
	c := &calibrator{target: p.target}
	p.tree.walkParts(p.tree.Name, func(path string, n *Node) {
		piece, _ := (&part{
			calibrator: c,
			node:       n,
		}).deltaPerDraw()
		n.walkLeaves(path, func(path string, l *Leaf) {
			if l.Kind == Gaussian {
				out[path] = piece
			}
		})
	})
	return out
}

// walkParts visits the parts into which [calibrator.calibrateNode] divides a tree.
func (n *Node) walkParts(path string, visit func(path string, n *Node)) {
	kids := n.Kids
	switch {
	case n.Op == OpSequence && len(kids) == 1:
	case n.Op == OpParallel:
		kids = n.disjointKids()
	case n.Op == OpBranches:
		kids = kids[1:]
	default:
		visit(path, n)
		return
	}
	for i := range kids {
		kids[i].walkParts(path+"/"+kids[i].Name, visit)
	}
}

// sumEpsilons returns the largest sum of epsilons of the parts.
func (p *Priced) sumEpsilons(pieces map[string]float64) float64 {
	epsilons := map[*Leaf]float64{}
	p.tree.walkLeaves(p.tree.Name, func(path string, l *Leaf) {
		epsilons[l] = float64(l.Law.Draws) * l.Law.Epsilon
		if l.Kind == Gaussian {
			epsilons[l] = float64(l.Law.Draws) * GaussianEpsilon(l.Law.Mu, pieces[path])
		}
	})
	return p.tree.foldCost(func(l *Leaf) float64 {
		return epsilons[l]
	}, selectionPureCost)
}

// decidingRule returns the rule that gives the smallest bound at the delta of the target.
func (p *Priced) decidingRule() string {
	c := calibrator{target: p.target}
	if c.addsEpsilons() {
		return ruleSum
	}
	// Several bounds may agree but for rounding.
	const tolerance = 1e-3
	spent := p.Epsilon(p.target.Delta)
	spent += tolerance * math.Min(1, spent)
	reaches := func(delta float64) bool {
		return delta <= p.target.Delta
	}
	switch {
	case p.root.mixture != nil &&
		reaches(composeLead(p.root.leadEpsilon, p.root.mixture.deltaAt)(spent)):
		return ruleMixture
	case p.tree.leadNode() != nil &&
		reaches(largestDelta(newComposer().leadCurves(&p.root), spent)):
		return ruleLargest
	case p.tree.leadNode() == nil &&
		reaches(largestDelta(newComposer().buildCurves(p.tree.flattenProducts()), spent)):
		return ruleLargest
	}
	return ruleRenyi
}

// chooseGrid returns the Step and the Cells of an [Addition].
func (p *Priced) chooseGrid() (step float64, cells int) {
	const (
		perEpsilon = 2000
		coarsest   = 1e-3
		most       = 1 << 16
	)
	top := 0.
	for _, x := range p.tree.flattenProducts() {
		end, _ := x.lossWindow()
		top = math.Max(top, end)
	}
	step = math.Min(coarsest, p.target.Epsilon/perEpsilon)
	if !(top < 1e4) { // losses that no window holds
		top = 1e4
	}
	step = math.Max(step, top/most)
	// Round to few digits, for the report.
	digit := math.Pow(10, math.Floor(math.Log10(step))-1)
	step = math.Ceil(step/digit) * digit
	// Losses that end between two points move to the higher one, once a step.
	const margin = 1.02
	return step, int(math.Ceil(margin*top/step)) + 10
}
