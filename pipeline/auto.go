package pipeline

import (
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/mechanism"
	"github.com/dptrain/dptrain/selection"
)

// The automatic choice. A run that names neither a selector nor a model spends
// countShare of epsilon on a lower bound n_lo of the number of training
// records, and with it chooses between the two branches of the plan. Each
// branch is priced for (epsilon - what n_lo costs, delta): whatever the choice,
// basic composition covers it (algorithms.md 10, ADAPTIVE BRANCHES).
const (
	allBranch     = "all"     // every feature
	kendallBranch = "kendall" // selection.DefaultK features
	countLeaf     = "count"
	// countShare is the share of epsilon that n_lo costs.
	countShare = .03
	// countMiss is the probability with which n_lo exceeds the true number. It
	// concerns the quality of the choice, not privacy.
	countMiss = .01
	// fewRecords is the strength n_lo mu/d below which features are chosen
	// first: mu is the Gram release's, d the number of candidates.
	// docs/auto.md has the figures.
	fewRecords = 18
)

// automatic reports whether the run chooses its stages by itself. With no more
// candidates than would be chosen there is nothing to choose, and more than two
// classes have no rank correlation.
func (p *Pipeline) automatic(f selection.Facts) bool {
	return len(f.Target.Categories) <= 2 && p.Selector == nil && (p.Model == "" || p.Model == Auto) && len(f.Columns) > selection.DefaultK
}

// branches returns the ways in which the training part may run: one, or two
// of which n_lo chooses one.
func (p *Pipeline) branches(f selection.Facts) []branch {
	if p.automatic(f) {
		return []branch{
			{name: allBranch, selector: selection.None{}, method: JointGram},
			{name: kendallBranch, selector: selection.Kendall{K: selection.DefaultK}, method: JointGram},
		}
	}
	b := branch{name: trainNode, selector: p.Selector, method: p.Model, fallback: p.Fallback}
	if b.selector == nil {
		b.selector = selection.None{}
	}
	if b.method == "" || b.method == Auto {
		b.method = JointGram
	}
	return []branch{b}
}

// IsBranch reports whether a name in the plan of a run that chooses by itself
// is that of a branch. A branch that was not taken has been paid for and
// released nothing.
func IsBranch(name string) bool { return name == allBranch || name == kendallBranch }

// choose releases n_lo and returns the branch it points to with its session.
// s is the session of the training part.
func (p *Plan) choose(s *mechanism.Session, records int) (branch, *mechanism.Session, error) {
	if len(p.branches) == 1 {
		return p.branches[0], s, nil
	}
	low, err := releaseCount(s, records)
	if err != nil {
		return branch{}, nil, err
	}
	gram, _ := p.Law(rootNode + "/" + trainNode + "/" + allBranch + "/" + modelNode + "/gram")
	b := p.branches[0]
	if float64(low)*gram.Mu/float64(len(p.facts.Columns)) < fewRecords {
		b = p.branches[1]
	}
	return b, s.Sub(b.name), nil
}

// oneOf joins the branches' trees.
func oneOf(trees []budget.Node) budget.Node {
	if len(trees) == 1 {
		return trees[0]
	}
	return budget.OneOf(trainNode, budget.LaplaceLeaf(countLeaf, countShare, 1), trees...)
}
