package budget

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Op is the way in which a node combines its kids.
type Op uint8

const (
	// OpLeaf is one mechanism.
	OpLeaf Op = iota
	// OpSequence runs all kids on the same records; later kids may use earlier
	// releases as inputs.
	OpSequence
	// OpParallel runs the kids on disjoint sets of records: which kid sees a record is
	// decided by a coin of that record alone. Under substitution the coin belongs
	// to the record's place, so that its replacement is seen by the same kid; a
	// coin made of the record's content would let both kids change.
	OpParallel
	// OpBranches runs Kids[0], the informer, and then one of the other kids, chosen
	// by released values.
	OpBranches
	// OpSelect runs a candidate a random number of times; see Selection.
	OpSelect
)

var opNames = [...]string{"leaf", "seq", "par", "one-of", "select"}

// String returns "leaf", "seq", "par", "one-of" or "select".
func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return fmt.Sprintf("op(%d)", uint8(o))
}

// Leaf is one mechanism of a plan.
type Leaf struct {
	Kind  Kind
	Draws int // equal, possibly adaptive draws, >= 1
	// Share is the relative weight of a scalable leaf: its fraction of mu^2 (of
	// zCDP) under Tight composition, of epsilon under Basic. Shares need not sum
	// to anything. For a leaf of an informer it is instead an absolute fraction
	// of the target's epsilon.
	Share float64
	// Fixed is the law of a leaf that does not scale; nil for a scalable leaf.
	Fixed *Law
	// Law is filled by Calibrate.
	Law Law
	// Statistic is the released statistic; see [Node.WithStatistic].
	Statistic Statistic
}

// A Statistic names the statistic that a leaf releases, such as "histogram". Package mechanism defines the
// names and refuses releases of another statistic than the leaf declares; audits use the name to choose the
// measurement. Costs do not depend on it. It is empty for a leaf of a plan that is priced but not executed,
// such as one read from a ledger.
type Statistic string

// A Role is the level of the run that a node's name belongs to. Costs do not depend on it.
type Role uint8

// The roles. Most nodes have the zero Role.
const (
	// RolePart names the records that everything beneath sees: "all", "train", "score" or "holdout".
	RolePart Role = iota + 1
	// RoleCandidate names one of several ways to train; a search keeps the best.
	RoleCandidate
	// RoleBranch names one of several ways to train; released values choose one.
	RoleBranch
	// RoleStage names a step of a run, such as "scaling" or "model".
	RoleStage
	// RoleSize names a number of features that a model is tried with.
	RoleSize
)

// A Place locates a leaf in a run: for each [Role], the name of the innermost node with that role on the path
// to the leaf, itself included, or "" if there is no such node. A branch within a branch has the names of
// both, joined by "/".
type Place struct{ Part, Candidate, Branch, Stage, Size string }

// withNode returns p extended by a node of the given role and name.
func (p Place) withNode(r Role, name string) Place {
	switch r {
	case RolePart:
		p.Part = name
	case RoleCandidate:
		p.Candidate = name
	case RoleBranch:
		if p.Branch != "" {
			name = p.Branch + "/" + name
		}
		p.Branch = name
	case RoleStage:
		p.Stage = name
	case RoleSize:
		p.Size = name
	}
	return p
}

// Node is a plan tree. Names identify a node among its siblings and are joined
// by "/" into paths, the root's name first: "fit/train/scaling/quantiles".
type Node struct {
	Op     Op
	Name   string
	Role   Role
	Leaf   *Leaf
	Kids   []Node
	Select *Selection
	// Coin, in (0, 1), is the probability with which a record is in the second of the two kids of a Parallel, by a
	// secret coin that is independent of all else; 0 if the probability is unknown. The price of such a Parallel is
	// that of the mixture over the coin, see docs/proofs/prices.md, "The secret coin". It holds only if the coin
	// stays secret: neither the assignment of records to kids nor the number of records per kid may be released.
	Coin float64
	// Lead marks Kids[0] of a Parallel as a lead: it runs first, on the records of all other kids together; only the
	// others are disjoint. A lead is a leaf, or a Sequence of leaves, of pure laws. Its scalable leaves hold fractions
	// of the target's epsilon, which Scaled does not change, like those of an informer. The steps after a lead may
	// be cancelled because of its release; see [Priced.LeadCharge].
	Lead bool
}

// leadNode returns the lead of a Parallel, or nil if n has no lead.
func (n *Node) leadNode() *Node {
	if n.Op == OpParallel && n.Lead {
		return &n.Kids[0]
	}
	return nil
}

// disjointKids returns the kids of a Parallel without its lead.
func (n *Node) disjointKids() []Node {
	if n.Lead {
		return n.Kids[1:]
	}
	return n.Kids
}

// pureFirstKid returns the kid whose pure laws come before all other kids: the informer of a Branches node or the lead
// of a Parallel. It returns nil for other nodes.
func (n *Node) pureFirstKid() *Node {
	if n.Op == OpBranches && len(n.Kids) > 0 {
		return &n.Kids[0]
	}
	return n.leadNode()
}

// WithRole returns a copy of n with the role r.
func (n Node) WithRole(r Role) Node {
	n.Role = r
	return n
}

// WithStatistic returns a copy of the leaf n that releases only the statistic x.
func (n Node) WithStatistic(x Statistic) Node {
	n = n.clone()
	n.Leaf.Statistic = x
	return n
}

// GaussianLeaf is a scalable leaf of Gaussian releases. Under Tight composition
// with multiplier c each draw gets Mu = c sqrt(share/draws).
func GaussianLeaf(name string, share float64, draws int) Node {
	return scalableLeaf(name, Gaussian, share, draws)
}

// LaplaceLeaf is a scalable leaf of scalar Laplace releases: Epsilon = c
// sqrt(share/draws), the same zCDP cost as a Gaussian leaf of that share.
func LaplaceLeaf(name string, share float64, draws int) Node {
	return scalableLeaf(name, Laplace, share, draws)
}

// ExponentialLeaf is a scalable leaf of exponential mechanisms: Epsilon = 2c
// sqrt(share/draws), the same zCDP cost as a Gaussian leaf of that share.
func ExponentialLeaf(name string, share float64, draws int) Node {
	return scalableLeaf(name, Exponential, share, draws)
}

// PureLeaf is a scalable leaf of steps known to be pure, and no more:
// Epsilon = c sqrt(share/draws).
func PureLeaf(name string, share float64, draws int) Node {
	return scalableLeaf(name, Pure, share, draws)
}

func scalableLeaf(name string, kind Kind, share float64, draws int) Node {
	return Node{
		Name: name,
		Leaf: &Leaf{
			Kind:  kind,
			Draws: draws,
			Share: share,
		},
	}
}

// FixedLeaf is a leaf whose law calibration must not change.
func FixedLeaf(name string, law Law) Node {
	return Node{
		Name: name,
		Leaf: &Leaf{
			Kind:  law.Kind,
			Draws: law.Draws,
			Fixed: &law,
		},
	}
}

// Sequence runs kids one after another on the same records. Without kids it is a free stage.
func Sequence(name string, kids ...Node) Node {
	return Node{
		Op:   OpSequence,
		Name: name,
		Kids: kids,
	}
}

// Parallel runs kids on disjoint records: the cost is the largest of theirs, or less where
// [Node.Coin] is known. A Parallel that the root reaches through Parallel and Branches only gives every
// kid the full target and a multiplier of its own.
func Parallel(name string, kids ...Node) Node {
	return Node{
		Op:   OpParallel,
		Name: name,
		Kids: kids,
	}
}

// WithLead returns a Parallel that runs lead first, on all records, and then the kids of n, which must be a Parallel
// without a lead.
func (n Node) WithLead(lead Node) Node {
	n.Lead = true
	n.Kids = append([]Node{lead}, n.Kids...)
	return n
}

// Branches runs informer and then the one branch that released values chose. The
// informer is a leaf, or a Sequence of leaves, of pure laws; its scalable leaves hold
// fractions of the target's epsilon (such as .03), which Scaled does not change.
//
// Which branch runs may depend on every earlier release. At the root (through
// Parallel and Branches only) each branch is calibrated to (epsilon - informer, delta), and then
// all are raised as far as the rule for the inside of a Sequence allows. Inside a Sequence the branches enter as the pointwise maximum of their curves,
// taken before anything is composed with it; the maximum after composing would
// miss a choice that reacts to what earlier steps released.
func Branches(name string, informer Node, branches ...Node) Node {
	return Node{
		Op:   OpBranches,
		Name: name,
		Kids: append([]Node{informer}, branches...),
	}
}

// SelectBest runs one of the candidates, drawn by public coins, K times, and returns
// the best run; K follows s. Every candidate is charged as the most expensive
// one. Candidates must not hold Approximate laws, which have no Rényi curve.
func SelectBest(name string, s Selection, candidates ...Node) Node {
	return Node{
		Op:     OpSelect,
		Name:   name,
		Kids:   candidates,
		Select: &s,
	}
}

// Scaled returns a copy in which every share beneath n is multiplied by f.
// Informers of Branches and leads keep theirs: they are absolute fractions of epsilon.
func (n Node) Scaled(f float64) Node {
	c := n.clone()
	c.scaleShares(f)
	return c
}

func (n *Node) scaleShares(f float64) {
	if n.Leaf != nil {
		n.Leaf.Share *= f
	}
	kids := n.Kids
	if n.pureFirstKid() != nil {
		kids = kids[1:]
	}
	for i := range kids {
		kids[i].scaleShares(f)
	}
}

// clone returns a deep copy of n.
func (n Node) clone() Node {
	if n.Leaf != nil {
		leaf := *n.Leaf
		if leaf.Fixed != nil {
			fixed := *leaf.Fixed
			leaf.Fixed = &fixed
		}
		n.Leaf = &leaf
	}
	if n.Select != nil {
		s := *n.Select
		n.Select = &s
	}
	n.Kids = slices.Clone(n.Kids)
	for i, k := range n.Kids {
		n.Kids[i] = k.clone()
	}
	return n
}

// leafConstraints holds the requirements on leaves that follow from the position of a node.
type leafConstraints struct{ informer, candidate bool }

// validate checks the node at path and everything beneath it.
func (n *Node) validate(path string, r leafConstraints) error {
	bad := func(format string, args ...any) error {
		return &treeError{
			Path:    path,
			Problem: fmt.Sprintf(format, args...),
		}
	}
	switch {
	case n.Name == "" || strings.Contains(n.Name, "/"):
		return bad("a name must be non-empty and free of \"/\", got %q", n.Name)
	case n.Op == OpLeaf:
		return n.validateLeaf(path, r)
	case n.Op > OpSelect:
		return bad("unknown operation %v", n.Op)
	case n.Leaf != nil:
		return bad("a %v has kids, not a leaf", n.Op)
	case n.Op != OpSequence && len(n.Kids) == 0:
		return bad("a %v needs kids", n.Op)
	case n.Op == OpBranches && len(n.Kids) < 2:
		return bad("a one-of needs an informer and at least one branch")
	case n.Lead && (n.Op != OpParallel || len(n.Kids) < 2):
		return bad("a lead belongs to a par, before at least one other kid")
	case n.Coin != 0 &&
		(n.Op != OpParallel || len(n.disjointKids()) != 2 || !(n.Coin > 0 && n.Coin < 1)):
		return bad("a coin of odds %v: it belongs to a par of two kids and lies in (0, 1)", n.Coin)
	case (n.Op == OpSelect) != (n.Select != nil):
		return bad("a selection law belongs to a select node, and only there")
	case r.informer && n.Op != OpSequence:
		return bad("an informer or a lead is a leaf or a seq of leaves, not a %v", n.Op)
	}
	if n.Select != nil {
		if err := n.Select.Validate(); err != nil {
			return bad("%v", err)
		}
		r.candidate = true
	}
	seen := map[string]bool{}
	for i := range n.Kids {
		kid := &n.Kids[i]
		if seen[kid.Name] {
			return bad("two kids are named %q; names must be unique among siblings", kid.Name)
		}
		seen[kid.Name] = true
		kr := r
		kr.informer = r.informer || i == 0 && n.pureFirstKid() != nil
		if err := kid.validate(path+"/"+kid.Name, kr); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) validateLeaf(path string, r leafConstraints) error {
	l := n.Leaf
	bad := func(format string, args ...any) error {
		return &treeError{
			Path:    path,
			Problem: fmt.Sprintf(format, args...),
		}
	}
	switch {
	case l == nil || len(n.Kids) > 0 || n.Select != nil:
		return bad("a leaf node holds one leaf and nothing else")
	case l.Fixed != nil && (l.Fixed.Kind != l.Kind || l.Fixed.Draws != l.Draws):
		return bad("kind and draws differ from those of the fixed law")
	case l.Fixed == nil && (l.Kind > Approximate || l.Kind == Approximate):
		return bad("a %v leaf cannot be scaled; give its law with FixedLeaf", l.Kind)
	case l.Draws < 1:
		return bad("draws = %d: must be at least 1", l.Draws)
	case l.Fixed == nil && !(l.Share > 0 && !math.IsInf(l.Share, 1)):
		return bad("share = %v: must be positive and finite", l.Share)
	case r.candidate && l.Kind == Approximate:
		return bad("an approximate law has no Rényi curve and cannot be a candidate of a selection")
	}
	if l.Fixed != nil {
		if err := l.Fixed.Validate(); err != nil {
			return fmt.Errorf("%w (at %q)", err, path)
		}
	}
	if r.informer && !l.Kind.isPure() {
		return &NotPureError{
			Path: path,
			Kind: l.Kind,
			Need: "an informer or a lead must be pure",
		}
	}
	return nil
}

// walkLeaves calls visit for every leaf beneath n in tree order.
func (n *Node) walkLeaves(path string, visit func(path string, l *Leaf)) {
	if n.Op == OpLeaf {
		visit(path, n.Leaf)
		return
	}
	for i := range n.Kids {
		n.Kids[i].walkLeaves(path+"/"+n.Kids[i].Name, visit)
	}
}
