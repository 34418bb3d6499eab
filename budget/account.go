package budget

import (
	"math"
	"sync"
)

// foldCost computes the cost of the tree beneath n from the costs of its leaves. The kids of a Sequence add up; a
// Parallel costs its lead plus its largest other kid, a Branches node its informer plus its largest branch, and a SelectBest
// costs sel of its largest candidate. It suits every cost that adds under adaptive composition.
func (n *Node) foldCost(
	leaf func(*Leaf) float64,
	sel func(Selection, float64) float64,
) float64 {
	kids := n.Kids
	sum := 0.0
	switch n.Op {
	case OpLeaf:
		return leaf(n.Leaf)
	case OpSequence:
		for i := range kids {
			sum += kids[i].foldCost(leaf, sel)
		}
		return sum
	case OpBranches, OpParallel:
		if first := n.pureFirstKid(); first != nil {
			sum = first.foldCost(leaf, sel)
			kids = kids[1:]
		}
	}
	worst := 0.0
	for i := range kids {
		worst = math.Max(worst, kids[i].foldCost(leaf, sel))
	}
	if n.Op == OpSelect {
		return sel(*n.Select, worst)
	}
	return sum + worst
}

// selectionPureCost returns the pure epsilon of a selection whose candidates cost epsilon: (2+eta) epsilon
// (Papernot, Steinke 2022).
func selectionPureCost(s Selection, epsilon float64) float64 {
	return (2 + s.Eta) * epsilon
}

// unpricedSelection returns the cost of a selection in a currency that cannot price it: 0 if the candidates
// are free, else +Inf.
func unpricedSelection(_ Selection, cost float64) float64 {
	if cost == 0 {
		return 0
	}
	return math.Inf(1)
}

func (n *Node) hasOp(op Op) bool {
	if n.Op == op {
		return true
	}
	for i := range n.Kids {
		if n.Kids[i].hasOp(op) {
			return true
		}
	}
	return false
}

// pureCost returns the epsilon and delta of basic composition of the laws beneath
// n; epsilon is +Inf when there is a Gaussian among them.
func (n *Node) pureCost() (epsilon, delta float64) {
	epsilon = n.foldCost(func(l *Leaf) float64 {
		if l.Law.Kind == Gaussian && l.Law.Mu > 0 {
			return math.Inf(1)
		}
		return float64(l.Law.Draws) * l.Law.Epsilon
	}, selectionPureCost)
	delta = n.foldCost(func(l *Leaf) float64 {
		_, d := l.Law.ZCDP()
		return d
	}, unpricedSelection)
	return epsilon, delta
}

// account bounds the privacy profile of one part of a plan, whose laws are filled, by the smallest of the
// accountants' bounds.
type account struct {
	curves         []curve // one per product; empty for a SelectBest under Target.Earlier
	hasSelect      bool    // the part contains a SelectBest
	ledger         *ledger
	totalVariation float64
	// Basic composition proves (epsilon, delta) = basic.
	basicEpsilon, basicDelta float64

	once    sync.Once
	tangent chord // read it through tangentChord
}

func newAccount(w *composer, n *Node) *account {
	a := &account{ledger: newLedger(n)}
	a.totalVariation = a.ledger.totalVariation()
	a.basicEpsilon, a.basicDelta = n.pureCost()
	if a.hasSelect = n.hasOp(OpSelect); !a.hasSelect || !w.earlier {
		a.curves = w.buildCurves(n.flattenProducts())
	}
	return a
}

// deltaAt returns the bound on delta at any real epsilon.
func (a *account) deltaAt(epsilon float64) float64 {
	if epsilon < 0 {
		return mirrorDelta(-epsilon, a.deltaAt(-epsilon))
	}
	d := a.pointwiseDelta(epsilon)
	if a.hasSelect {
		d = math.Min(d, a.tangentChord().deltaAt(epsilon))
	}
	return d
}

// pointwiseDelta returns the smallest of the bounds that are proved at epsilon >= 0 itself.
func (a *account) pointwiseDelta(epsilon float64) float64 {
	d := math.Min(a.totalVariation, a.ledger.deltaAt(epsilon))
	if len(a.curves) > 0 {
		d = math.Min(d, largestDelta(a.curves, epsilon))
	}
	if epsilon >= a.basicEpsilon {
		d = math.Min(d, a.basicDelta)
	}
	return d
}

func largestDelta(curves []curve, epsilon float64) float64 {
	worst := 0.0
	for _, c := range curves {
		worst = math.Max(worst, c.deltaAt(epsilon))
	}
	return worst
}

// profileNode is a node of the plan tree above its accounts, with a bound on the privacy profile. A Parallel takes
// the largest of its kids and a Branches node its largest branch, with epsilon lowered by the epsilon of the lead or
// the informer. Some nodes also have a sharper curve: a Parallel with a coin has the mixture; a Branches node has the
// informer composed with the pointwise maximum of the branches; a Parallel with a lead has the lead composed with
// the kids after it ([composeLead]). The smaller bound counts at each epsilon.
type profileNode struct {
	node        *Node
	part        *part    // during calibration of a part; nil for other nodes
	account     *account // of a part; nil for other nodes
	leadEpsilon float64  // epsilon of the informer of a Branches node, or of the lead of a Parallel
	kids        []profileNode
	jointCurves []curve  // of a Branches node, and of a Parallel with a lead and without a coin
	mixture     *mixture // of a Parallel with a coin, without its lead
}

func (v *profileNode) deltaAt(epsilon float64) float64 {
	if v.account != nil {
		return v.account.deltaAt(epsilon)
	}
	worst := 0.0
	for i := range v.kids {
		worst = math.Max(worst, v.kids[i].deltaAt(epsilon-v.leadEpsilon))
	}
	if d, ok := v.jointDelta(epsilon); ok {
		worst = math.Min(worst, d)
	}
	return worst
}

// jointDelta returns the sharper curve at any real epsilon, and whether there is one.
func (v *profileNode) jointDelta(epsilon float64) (float64, bool) {
	switch {
	case v.mixture != nil:
		return composeLead(v.leadEpsilon, v.mixture.deltaAt)(epsilon), true
	case len(v.jointCurves) == 0:
		return 1, false
	case epsilon < 0:
		return mirrorDelta(-epsilon, largestDelta(v.jointCurves, -epsilon)), true
	}
	return largestDelta(v.jointCurves, epsilon), true
}

// listParts returns the parts beneath v in tree order.
func (v *profileNode) listParts() []*part {
	if v.part != nil {
		return []*part{v.part}
	}
	var out []*part
	for i := range v.kids {
		out = append(out, v.kids[i].listParts()...)
	}
	return out
}

// pureEpsilon returns the epsilon at which basic composition proves delta = 0, or +Inf.
func (v *profileNode) pureEpsilon() float64 {
	if v.account != nil {
		if v.account.basicDelta > 0 {
			return math.Inf(1)
		}
		return v.account.basicEpsilon
	}
	worst := 0.0
	for i := range v.kids {
		worst = math.Max(worst, v.kids[i].pureEpsilon())
	}
	return v.leadEpsilon + worst
}

// epsilonAt returns the smallest epsilon >= 0 with deltaAt(epsilon) <= delta, rounded up. Deltas under 1e-300
// count as 0, which only pure laws attain.
func (v *profileNode) epsilonAt(delta float64) float64 {
	pure := v.pureEpsilon()
	if !(delta >= 1e-300) {
		return pure
	}
	if v.deltaAt(0) <= delta {
		return 0
	}
	hi := 1.0
	for v.deltaAt(hi) > delta {
		if hi *= 2; hi > 1e9 {
			return pure
		}
	}
	lo := hi / 2
	if hi == 1 {
		lo = 0
	}
	_, hi = newThreshold(v.deltaAt, delta, false).bisect(lo, hi, 1e-12)
	return math.Min(hi, pure)
}

// Curve is the composition of a fixed sequence of laws. It is an upper bound at
// every epsilon and delta.
type Curve struct{ root profileNode }

// Compose returns the curve of laws that were all fixed before the first was
// drawn; the draws themselves may be adaptive. Laws that were chosen after
// earlier releases need a privacy filter instead. The error wraps ErrLaw.
func Compose(laws ...Law) (*Curve, error) {
	seq := Node{Op: OpSequence}
	for _, law := range laws {
		if err := law.Validate(); err != nil {
			return nil, err
		}
		seq.Kids = append(seq.Kids, Node{Leaf: &Leaf{
			Kind:  law.Kind,
			Draws: law.Draws,
			Law:   law,
		}})
	}
	return &Curve{root: profileNode{account: newAccount(newComposer(), &seq)}}, nil
}

// Delta returns the delta guaranteed at epsilon (any real number).
func (c *Curve) Delta(epsilon float64) float64 {
	return c.root.deltaAt(epsilon)
}

// Epsilon returns an epsilon >= 0 guaranteed at delta, or +Inf if no finite one is.
func (c *Curve) Epsilon(delta float64) float64 {
	return c.root.epsilonAt(delta)
}
