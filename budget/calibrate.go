package budget

import (
	"fmt"
	"math"
	"sync"
)

// Composition is the rule by which shares become laws.
type Composition uint8

const (
	// Tight gives every leaf its share of mu^2 (of zCDP) and solves for one
	// multiplier with the accountants. It is the zero value and the default.
	Tight Composition = iota
	// Basic gives every leaf its share of epsilon and splits delta equally over
	// the Gaussian draws, as the original papers do.
	Basic
)

// String returns "tight" or "basic".
func (c Composition) String() string {
	switch c {
	case Tight:
		return "tight"
	case Basic:
		return "basic"
	}
	return fmt.Sprintf("composition(%d)", uint8(c))
}

// ParseComposition reads the names that String writes. The error wraps ErrTarget.
func ParseComposition(s string) (Composition, error) {
	switch s {
	case "tight":
		return Tight, nil
	case "basic":
		return Basic, nil
	}
	return 0, fmt.Errorf("%w: composition %q: want tight or basic", ErrTarget, s)
}

// MinDelta is the smallest positive delta of a target: below it the numerical slack of the accountants is no
// longer negligible.
const MinDelta = 1e-10

// Target is the guarantee that a tree is calibrated to. Epsilon is positive and finite; Delta is 0, or in
// [MinDelta, 1).
type Target struct {
	Epsilon     float64
	Delta       float64
	Relation    Relation
	Composition Composition
	// Unit is the privacy unit. The zero value is one record.
	Unit Unit
	// Earlier asks for the price of the first versions, which was higher and which their
	// releases state: docs/proofs/prices.md, "What stays as it was".
	Earlier bool
}

// Validate returns a *TargetError if a field is out of range.
func (t Target) Validate() error {
	bad := func(field string, v float64, problem, hint string) error {
		return &TargetError{
			Field:   field,
			Value:   v,
			Problem: problem,
			Hint:    hint,
		}
	}
	switch {
	case math.IsInf(t.Epsilon, 0) || math.IsNaN(t.Epsilon):
		return bad("epsilon", t.Epsilon, "must be a finite number", "")
	case t.Epsilon <= 0:
		return bad("epsilon", t.Epsilon, "must be greater than 0", "")
	case !(t.Delta >= 0 && t.Delta < 1):
		return bad(
			"delta",
			t.Delta,
			"must be at least 0 and below 1",
			"the default is 1e-6",
		)
	case t.Delta > 0 && t.Delta < MinDelta:
		return bad("delta", t.Delta, "must be at least 1e-10",
			"the accountant cannot distinguish smaller values from 0")
	case t.Relation > SubstitutePrivateColumns:
		return bad("relation", float64(t.Relation), "unknown relation", "")
	case t.Composition > Basic:
		return bad("composition", float64(t.Composition), "unknown composition", "")
	}
	return t.Unit.validate(t.Relation)
}

// Calibrate prices the tree beneath root: it fills a law into every leaf so that
// the whole is (t.Epsilon, t.Delta)-private under t.Relation, and no larger
// multiplier would be (to one part in 1e6, rounded to the safe side). root is
// not changed. Laws depend on root and t only.
//
// A Parallel or Branches at the root, or reached from it through Parallel and Branches only,
// divides the tree into parts with a multiplier each: every kid of the Parallel gets
// the whole target, every branch the target less what its informer spends.
// Elsewhere one multiplier serves the whole part.
//
// With t.Delta = 0 every law must be pure; epsilons then add up under either t.Composition, and shares are
// fractions of epsilon.
//
// Errors wrap ErrTarget, ErrTree, ErrLaw, ErrNotPure or ErrOverspent.
func Calibrate(root Node, t Target) (*Priced, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	if known := memo.find(root, t); known != nil {
		return known, nil
	}
	p := &Priced{target: t, tree: root.clone()}
	if err := p.tree.validate(root.Name, leafConstraints{}); err != nil {
		return nil, err
	}
	c := &calibrator{target: t, composer: newComposer()}
	c.composer.earlier = t.Earlier
	var err error
	if p.root, err = c.calibrateNode(&p.tree, root.Name, t.Epsilon); err != nil {
		return nil, err
	}
	c.raiseNode(&p.root)
	p.raised = raiseFactors(&p.root)
	c.computeCurves(&p.root)
	if c.hasUncheckedPart && !(p.root.deltaAt(t.Epsilon) <= t.Delta) {
		return nil, c.newOverspentError(root.Name)
	}
	p.indexLeaves()
	p.cachedMu = sync.OnceValue(p.computeMu)
	p.cachedAddition = sync.OnceValue(p.computeAddition)
	memo.remember(root.clone(), p)
	return p.Again(), nil
}

type calibrator struct {
	target           Target
	composer         *composer
	hasJointCurve    bool // a node above the parts has a sharper curve than its parts
	hasUncheckedPart bool // a part of fixed laws was not checked against the target
}

// usesMixture reports whether a Parallel is priced as a mixture over its coin. Under substitution the mixture would
// have to follow two records, and sums of epsilons cannot use a coin.
func (c *calibrator) usesMixture(n *Node) bool {
	return n.Op == OpParallel && n.Coin > 0 && c.target.Relation == AddRemove && !c.addsEpsilons() &&
		!c.target.Earlier
}

// addsEpsilons reports whether the costs are sums of epsilons.
func (c *calibrator) addsEpsilons() bool {
	return c.target.Composition == Basic || c.target.Delta == 0
}

// calibrateNode divides the tree beneath n into parts and calibrates each to epsilon.
func (c *calibrator) calibrateNode(
	n *Node,
	path string,
	epsilon float64,
) (profileNode, error) {
	v := profileNode{node: n}
	kids := n.Kids
	switch {
	case n.Op == OpSequence && len(kids) == 1:
		return c.calibrateNode(&kids[0], path+"/"+kids[0].Name, epsilon)
	case n.Op == OpParallel:
		c.hasJointCurve = c.hasJointCurve || c.usesMixture(n)
		lead := n.leadNode()
		if lead == nil {
			break
		}
		c.hasJointCurve = c.hasJointCurve || !c.addsEpsilons() && !c.target.Earlier
		c.fillInformer(lead)
		v.leadEpsilon, _ = lead.pureCost()
		if epsilon -= v.leadEpsilon; !(epsilon > 0) {
			return v, c.newOverspentError(path)
		}
		kids = n.disjointKids()
	case n.Op == OpBranches:
		c.hasJointCurve = c.hasJointCurve || !c.addsEpsilons() && !c.target.Earlier
		c.fillInformer(&kids[0])
		v.leadEpsilon, _ = kids[0].pureCost()
		if epsilon -= v.leadEpsilon; !(epsilon > 0) {
			return v, c.newOverspentError(path)
		}
		kids = kids[1:]
	default:
		return c.calibratePart(n, path, epsilon)
	}
	for i := range kids {
		kid, err := c.calibrateNode(&kids[i], path+"/"+kids[i].Name, epsilon)
		if err != nil {
			return v, err
		}
		v.kids = append(v.kids, kid)
	}
	return v, nil
}

func (c *calibrator) newOverspentError(path string) error {
	return &OverspentError{
		Path:    path,
		Epsilon: c.target.Epsilon,
		Delta:   c.target.Delta,
	}
}

// fillInformer fills the laws of an informer or a lead from its fractions of the target's epsilon.
func (c *calibrator) fillInformer(n *Node) {
	n.walkLeaves("", func(_ string, l *Leaf) {
		if l.Fixed != nil {
			l.Law = *l.Fixed
			return
		}
		l.Law = Law{
			Kind:    l.Kind,
			Draws:   l.Draws,
			Epsilon: l.Share * c.target.Epsilon / float64(l.Draws),
		}
	})
}

// part is a subtree with one multiplier.
type part struct {
	*calibrator
	node               *Node
	path               string
	epsilon            float64
	scalable           []*Leaf
	multiplier         float64 // under Tight composition
	separateMultiplier float64 // the multiplier before the parts are raised together
}

func (c *calibrator) calibratePart(
	n *Node,
	path string,
	epsilon float64,
) (profileNode, error) {
	p := &part{
		calibrator: c,
		node:       n,
		path:       path,
		epsilon:    epsilon,
	}
	if c.addsEpsilons() {
		if err := p.requirePure(n, path, false); err != nil {
			return profileNode{}, err
		}
	}
	p.assignLaws(n)
	var err error
	if c.addsEpsilons() {
		err = p.solveBasic()
	} else {
		err = p.solveTight()
	}
	if err != nil {
		return profileNode{}, err
	}
	return profileNode{node: n, part: p}, nil
}

// assignLaws fills the laws that do not depend on the multiplier and collects the leaves that do in scalable.
func (p *part) assignLaws(n *Node) {
	switch {
	case n.Op == OpLeaf && n.Leaf.Fixed != nil:
		n.Leaf.Law = *n.Leaf.Fixed
		return
	case n.Op == OpLeaf:
		n.Leaf.Law = Law{}
		p.scalable = append(p.scalable, n.Leaf)
		return
	}
	for i := range n.Kids {
		if i == 0 && n.pureFirstKid() != nil {
			p.fillInformer(&n.Kids[0])
			continue
		}
		p.assignLaws(&n.Kids[i])
	}
}

// setTight writes the laws of multiplier c: each leaf spends c^2 share/2 of zCDP.
func (p *part) setTight(c float64) {
	for _, l := range p.scalable {
		x := c * math.Sqrt(l.Share/float64(l.Draws))
		l.Law = Law{Kind: l.Kind, Draws: l.Draws}
		switch l.Kind {
		case Gaussian:
			l.Law.Mu = x // rho = mu^2/2
		case Exponential:
			l.Law.Epsilon = 2 * x // rho = epsilon^2/8
		default:
			l.Law.Epsilon = x // rho = epsilon^2/2
		}
	}
}
