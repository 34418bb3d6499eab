package ledger

import (
	"fmt"

	"github.com/dptrain/dptrain/budget"
)

// A Step is a node of a priced plan in an entry. Op is an operation of the plan tree ("seq", "par", "one-of",
// "select") or the kind of a leaf's noise distribution ("gaussian", "laplace", ...), whose parameters are for one
// draw.
type Step struct {
	Name    string  `json:"name"`
	Op      string  `json:"op"`
	Draws   int     `json:"draws,omitempty"`
	Mu      float64 `json:"mu,omitempty"`
	Epsilon float64 `json:"epsilon,omitempty"`
	Delta   float64 `json:"delta,omitempty"`
	Eta     float64 `json:"eta,omitempty"` // select
	Gamma   float64 `json:"gamma,omitempty"`
	// Lead marks a "par" whose first child runs before the others, on the records of all parts; since version 4.
	Lead bool   `json:"lead,omitempty"`
	Kids []Step `json:"kids,omitempty"`
}

// stepOf converts a priced tree to its form in an entry.
func stepOf(n budget.Node) Step {
	if n.Op == budget.OpLeaf {
		l := n.Leaf.Law
		return Step{
			Name:    n.Name,
			Op:      l.Kind.String(),
			Draws:   l.Draws,
			Mu:      l.Mu,
			Epsilon: l.Epsilon,
			Delta:   l.Delta,
		}
	}
	s := Step{
		Name: n.Name,
		Op:   n.Op.String(),
		Lead: n.Lead,
	}
	if n.Select != nil {
		s.Eta = n.Select.Eta
		s.Gamma = n.Select.Gamma
	}
	for _, kid := range n.Kids {
		s.Kids = append(s.Kids, stepOf(kid))
	}
	return s
}

// pricedNode converts s back to a priced tree, with the noise of every leaf fixed.
func (s Step) pricedNode() (budget.Node, error) {
	for _, kind := range []budget.Kind{budget.Gaussian, budget.Laplace, budget.Exponential,
		budget.Pure, budget.Approximate} {
		if s.Op == kind.String() && len(s.Kids) == 0 {
			return budget.FixedLeaf(s.Name,
				budget.Law{
					Kind:    kind,
					Draws:   s.Draws,
					Mu:      s.Mu,
					Epsilon: s.Epsilon,
					Delta:   s.Delta,
				}), nil
		}
	}
	n := budget.Node{Name: s.Name, Lead: s.Lead}
	for _, op := range []budget.Op{budget.OpSequence, budget.OpParallel, budget.OpBranches,
		budget.OpSelect} {
		if s.Op == op.String() {
			n.Op = op
		}
	}
	if n.Op == budget.OpLeaf {
		return n, fmt.Errorf("%w: unknown step %.40q", ErrInvalid, s.Op)
	}
	if n.Op == budget.OpSelect {
		n.Select = &budget.Selection{
			Eta:   s.Eta,
			Gamma: s.Gamma,
		}
	}
	for _, kid := range s.Kids {
		k, err := kid.pricedNode()
		if err != nil {
			return n, err
		}
		n.Kids = append(n.Kids, k)
	}
	return n, nil
}

// containsOp reports whether s or a step beneath it is the operation op.
func (s Step) containsOp(op string) bool {
	if s.Op == op {
		return true
	}
	for _, kid := range s.Kids {
		if kid.containsOp(op) {
			return true
		}
	}
	return false
}

// recomputePrice recomputes the price of a run from its entry.
func (r *Run) recomputePrice(c budget.Currency) (budget.Charge, error) {
	tree, err := r.Plan.pricedNode()
	if err != nil {
		return budget.Charge{}, err
	}
	lead, err := tree.ChargeLead(c)
	if err != nil {
		return budget.Charge{}, err
	}
	if r.Mu > 0 {
		return budget.CoverCharge(c, r.Mu, tree.LostDelta()).Plus(lead), nil
	}
	if r.Plan.containsOp(budget.OpSelect.String()) {
		return budget.BlackBoxCharge(c, r.Epsilon, r.Delta).Plus(lead), nil
	}
	return budget.ChargeLaws(tree, c)
}

// stopPrice returns the price of a run that stopped after the lead of its plan, computed from its entry.
func (r *Run) stopPrice(c budget.Currency) (budget.Charge, error) {
	tree, err := r.Plan.pricedNode()
	if err != nil {
		return budget.Charge{}, err
	}
	return tree.ChargeLead(c)
}
