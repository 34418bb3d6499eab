package budget

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
)

// Priced is a plan tree with a law in every leaf. It pays for one run (see [Priced.Open]) and is otherwise
// immutable. It may be used concurrently.
type Priced struct {
	target         Target
	tree           Node
	root           profileNode
	leaves         []PricedLeaf
	byPath         map[string]int
	oneOfs         map[string][]string // paths of the leaves of the informer of each Branches
	raised         []float64           // see RaiseFactors
	cachedMu       func() float64      // mu of the guarantee, computed once
	cachedAddition func() Addition     // computed once
	opened         atomic.Bool         // the run was taken
}

// Open claims the one run that the tree pays for. It reports true for the first call only, also among
// concurrent calls. Sessions of package mechanism call it; rehearsals do not.
func (p *Priced) Open() bool {
	return p.opened.CompareAndSwap(false, true)
}

// Again returns the same priced tree with an unclaimed run. That run costs as much as the first one, in
// addition: the two compose, and a Guarantee is that of one of them. It is for callers that run a plan many
// times on public or made-up records, or that add the prices up.
func (p *Priced) Again() *Priced {
	return &Priced{
		target:         p.target,
		tree:           p.tree,
		root:           p.root,
		leaves:         p.leaves,
		byPath:         p.byPath,
		oneOfs:         p.oneOfs,
		raised:         p.raised,
		cachedMu:       p.cachedMu,
		cachedAddition: p.cachedAddition,
	}
}

// PricedLeaf is one leaf of a priced tree.
type PricedLeaf struct {
	Path string // names from the root, joined by "/"
	Law  Law
	// Part names the kids of Parallel that lead to the leaf, joined by "/"; it is empty
	// for a leaf that sees every record.
	Part string
	// Share is the leaf's share in the tree that was calibrated, after Scaled; 0
	// for a fixed law.
	Share float64
	// Fixed reports a law that calibration did not choose, Informer a leaf of the informer of a Branches node or of the
	// lead of a Parallel.
	Fixed, Informer bool
	// Candidate is the path of the kid of a SelectBest that leads to the leaf; it is
	// empty for a leaf that no SelectBest holds.
	Candidate string
	// Place locates the leaf in the run.
	Place Place
	// Statistic is the released statistic; empty if the plan does not declare it.
	Statistic Statistic
}

// indexLeaves collects the leaves in tree order and indexes them by path.
func (p *Priced) indexLeaves() {
	p.byPath = map[string]int{}
	p.oneOfs = map[string][]string{}
	var visit func(n *Node, leaf PricedLeaf, part []string)
	visit = func(n *Node, leaf PricedLeaf, part []string) {
		if n.Op == OpLeaf {
			leaf.Law = n.Leaf.Law
			leaf.Share = n.Leaf.Share
			leaf.Statistic = n.Leaf.Statistic
			leaf.Part = strings.Join(part, "/")
			leaf.Fixed = n.Leaf.Fixed != nil
			if leaf.Fixed {
				leaf.Share = 0
			}
			p.byPath[leaf.Path] = len(p.leaves)
			p.leaves = append(p.leaves, leaf)
			return
		}
		if n.Op == OpBranches {
			p.oneOfs[leaf.Path] = n.informerLeaves(leaf.Path)
		}
		for i := range n.Kids {
			kid := leaf
			kidPart := part
			kid.Path += "/" + n.Kids[i].Name
			kid.Place = leaf.Place.withNode(n.Kids[i].Role, n.Kids[i].Name)
			first := i == 0 && n.pureFirstKid() != nil
			kid.Informer = leaf.Informer || first
			if n.Op == OpSelect {
				kid.Candidate = kid.Path
			}
			if n.Op == OpParallel && !first {
				kidPart = append(slices.Clip(part), n.Kids[i].Name)
			}
			visit(&n.Kids[i], kid, kidPart)
		}
	}
	visit(&p.tree, PricedLeaf{
		Path:  p.tree.Name,
		Place: Place{}.withNode(p.tree.Role, p.tree.Name),
	}, nil)
}

// informerLeaves returns the paths of the leaves of the informer of a Branches node at path.
func (n *Node) informerLeaves(path string) []string {
	var out []string
	informer := &n.Kids[0]
	informer.walkLeaves(path+"/"+informer.Name, func(path string, _ *Leaf) {
		out = append(out, path)
	})
	return out
}

// A Choice is a Branches node that leads to a node, by one of its branches.
type Choice struct {
	Node, Branch string   // paths
	Informers    []string // paths of the leaves of the informer, which come before the branch
}

// Choices returns the Branches nodes on the path to a node, the outermost first, without those whose informer contains
// the node.
func (p *Priced) Choices(path string) []Choice {
	if len(p.oneOfs) == 0 {
		return nil
	}
	var out []Choice
	for i, c := range path {
		if c != '/' {
			continue
		}
		informers, ok := p.oneOfs[path[:i]]
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(path[i+1:], "/")
		choice := Choice{path[:i], path[:i+1] + name, informers}
		if !p.isInformer(choice) {
			out = append(out, choice)
		}
	}
	return out
}

// isInformer reports whether the branch of a choice is in fact its informer.
func (p *Priced) isInformer(c Choice) bool {
	n, _ := p.nodeAt(c.Node)
	return c.Branch == c.Node+"/"+n.Kids[0].Name
}

// nodeAt returns the node at path and whether there is one.
func (p *Priced) nodeAt(path string) (*Node, bool) {
	n := &p.tree
	rest := strings.Split(path, "/")
	if rest[0] != n.Name {
		return nil, false
	}
	for _, name := range rest[1:] {
		i := slices.IndexFunc(n.Kids, func(kid Node) bool {
			return kid.Name == name
		})
		if i < 0 {
			return nil, false
		}
		n = &n.Kids[i]
	}
	return n, true
}

// Law returns the law of the leaf at path, per draw, and whether there is one.
func (p *Priced) Law(path string) (Law, bool) {
	i, ok := p.byPath[path]
	if !ok {
		return Law{}, false
	}
	return p.leaves[i].Law, true
}

// Leaf returns the leaf at path and whether there is one.
func (p *Priced) Leaf(path string) (PricedLeaf, bool) {
	i, ok := p.byPath[path]
	if !ok {
		return PricedLeaf{}, false
	}
	return p.leaves[i], true
}

// Selection returns the law of the number of runs of the SelectBest at path and the
// names of its candidates, and whether there is one.
func (p *Priced) Selection(path string) (law Selection, candidates []string, ok bool) {
	n, ok := p.nodeAt(path)
	if !ok || n.Op != OpSelect {
		return Selection{}, nil, false
	}
	for _, kid := range n.Kids {
		candidates = append(candidates, kid.Name)
	}
	return *n.Select, candidates, true
}

// Leaves returns all leaves in tree order.
func (p *Priced) Leaves() []PricedLeaf {
	return slices.Clone(p.leaves)
}

// RaiseFactors returns, for each kid of a root Parallel, the factor by which the mu and epsilons of its steps exceed the
// values that the target alone would allow that kid; see docs/proofs/prices.md, "What the gain is used for".
// It is 1 without a coin or a choice, and under basic composition. A root that is no Parallel has one factor.
func (p *Priced) RaiseFactors() []float64 {
	return slices.Clone(p.raised)
}

// Target returns the target that the tree was calibrated to.
func (p *Priced) Target() Target {
	return p.target
}

// Tree returns a copy of the plan tree with Leaf.Law filled.
func (p *Priced) Tree() Node {
	return p.tree.clone()
}

// Delta returns the delta that the laws guarantee at epsilon, an upper bound at
// every real epsilon. At Target().Epsilon it is at most Target().Delta.
func (p *Priced) Delta(epsilon float64) float64 {
	return p.root.deltaAt(epsilon)
}

// Epsilon returns an epsilon >= 0 that the laws guarantee at delta, rounded up, or +Inf if no finite one is
// guaranteed. At delta = 0 only pure laws have a finite epsilon.
func (p *Priced) Epsilon(delta float64) float64 {
	return p.root.epsilonAt(delta)
}

// ZCDP returns the zero-concentrated cost of the tree and the additional delta of Approximate laws, in the
// currency of filters across runs (Feldman, Zrnic 2021): both add under fully adaptive composition. ok is
// false if a SelectBest makes the cost unbounded in this currency.
func (p *Priced) ZCDP() (rho, delta float64, ok bool) {
	rho = p.tree.foldCost(func(l *Leaf) float64 {
		r, _ := l.Law.ZCDP()
		return r
	}, unpricedSelection)
	delta = p.tree.foldCost(func(l *Leaf) float64 {
		_, d := l.Law.ZCDP()
		return d
	}, unpricedSelection)
	return rho, delta, !math.IsInf(rho, 1)
}

// ProfilePoint is one point of the privacy profile.
type ProfilePoint struct{ Epsilon, Delta float64 }

// Guarantee is the privacy guarantee of a priced tree.
type Guarantee struct {
	// Epsilon and Delta are the promise: those of the target.
	Epsilon, Delta float64
	// Spent is the epsilon that the laws really guarantee at Delta; never above
	// Epsilon.
	Spent       float64
	Relation    Relation
	Composition Composition // Basic also when Delta is 0
	// Unit is that of the target: what Relation adds or removes.
	Unit Unit
	// Mu is the parameter of the smallest Gaussian curve above Profile at every epsilon where delta is at least
	// MinDelta (to one part in 1e4, rounded up). It is +Inf for a tree with Approximate laws of a positive delta,
	// which no Gaussian covers, unless together they lose at most MinDelta/10 outright ([Node.LostDelta]).
	Mu float64
	// Profile holds the guaranteed delta at a fixed list of epsilons and at
	// Epsilon, in increasing order.
	Profile []ProfilePoint
}

// String returns the promise in one line, without its profile.
func (g Guarantee) String() string {
	s := fmt.Sprintf(
		"epsilon %v, delta %v (relation %v)",
		g.Epsilon,
		g.Delta,
		g.Relation,
	)
	if g.Unit != (Unit{}) {
		s += fmt.Sprintf(
			" for every %q with at most %d records",
			g.Unit.Column,
			g.Unit.MaxRows,
		)
	}
	return s
}

// profileEpsilons returns the public list of epsilons of every profile.
func profileEpsilons() []float64 {
	return []float64{0, 0.1, 0.2, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10}
}

// Guarantee returns the privacy guarantee of the tree.
func (p *Priced) Guarantee() Guarantee {
	t := p.target
	g := Guarantee{
		Epsilon:     t.Epsilon,
		Delta:       t.Delta,
		Relation:    t.Relation,
		Composition: t.Composition,
		Unit:        t.Unit,
	}
	if t.Delta == 0 {
		g.Composition = Basic
	}
	g.Spent = math.Min(t.Epsilon, p.Epsilon(t.Delta))
	g.Mu = p.cachedMu()
	list := append(profileEpsilons(), t.Epsilon)
	slices.Sort(list)
	for _, e := range slices.Compact(list) {
		d := p.Delta(e)
		if d == 0 && t.Delta > 0 {
			d = math.SmallestNonzeroFloat64 // an underflow is not a proof of 0
		}
		g.Profile = append(g.Profile, ProfilePoint{
			Epsilon: e,
			Delta:   d,
		})
	}
	return g
}
