// Package astc implements trees of linear models whose features have a cost, without privacy: the approximately
// submodular tree of classifiers of M. Kusner, "Learning in the Real World: Constraints on Cost, Space, and
// Privacy" (2016), section 2.1.4, hard and soft; the cost-sensitive tree of classifiers (CSTC) that it is
// compared with; and the cost-weighted logistic regression of its table 2.1. The private tree is package
// costtree.
//
// Gaps and errors of the thesis are handled as described in docs/proofs/cost-tree.md, "What holds, and what
// does not": a constant comes first in every node, and a feature that exceeds a budget is skipped.
package astc

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/numeric/greedy"
)

// ErrTable is returned for a table whose parts do not fit each other, or without records.
var ErrTable = errors.New("the parts of the table differ in number, or there are no records")

// A Table is the training data of a tree: rows of entries, without the constant, and a target.
type Table struct {
	Rows  [][]float64
	Y     []float64
	Group []int     // the feature of every entry
	Cost  []float64 // of every feature, at least 0
	// Constant is the penalty on the constant of [Logistic] in units of lambda: 0 means no penalty, +Inf no constant.
	Constant float64
}

func (t Table) checkTable() error {
	if len(t.Rows) == 0 || len(t.Y) != len(t.Rows) {
		return ErrTable
	}
	for _, r := range t.Rows {
		if len(r) != len(t.Group) {
			return ErrTable
		}
	}
	for _, g := range t.Group {
		if g < 0 || g >= len(t.Cost) {
			return ErrTable
		}
	}
	return nil
}

// Options are the settings of [Fit].
type Options struct {
	Depth  int     // levels, at least 1
	Budget float64 // that a node may spend on features that were not bought before it; 0 for no limit
	Soft   bool    // train nodes on all records, weighted by the logistic function of scores
	Ridge  float64 // at least 0
}

// A Node is one of a tree.
type Node struct {
	Theta     []float64 // the constant and then the entries
	Entries   []int     // that are used, in the order in which they were taken, 0 the constant
	Threshold float64   // of a node with children
	Low, High int       // indices in Nodes; 0 for a leaf
	Bought    []int     // features, here, in order
	Paid      float64   // for all features by here
	Records   float64   // their weights

	problem *greedy.Problem
	paid    []bool
}

// A Tree is a fitted tree, the root first.
type Tree struct {
	Nodes []Node
	Cost  []float64 // of the features
}

// Fit fits a tree. Children that would have fewer than 2(d+1) records for d entries are not
// made. Its errors are [ErrTable] and that of ctx.
func Fit(ctx context.Context, t Table, o Options) (*Tree, error) {
	if err := t.checkTable(); err != nil {
		return nil, err
	}
	f := &Tree{Cost: t.Cost}
	type open struct {
		weights []float64
		paid    []bool
		spent   float64
		at      int
	}
	all := make([]float64, len(t.Rows))
	for i := range all {
		all[i] = 1
	}
	level := []open{{all, make([]bool, len(t.Cost)), 0, 0}}
	f.Nodes = append(f.Nodes, Node{})
	for depth := range max(o.Depth, 1) {
		var next []open
		for _, x := range level {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			n := t.learnNode(x.weights, x.paid, x.spent, o)
			f.Nodes[x.at] = n
			if depth == o.Depth-1 || !(n.Records >= 4*float64(len(t.Group)+1)) {
				continue
			}
			scores := t.scores(n.Theta)
			n.Threshold = weightedMedian(scores, x.weights)
			low, high := splitWeights(scores, x.weights, n.Threshold, o.Soft)
			n.Low = len(f.Nodes)
			n.High = len(f.Nodes) + 1
			f.Nodes[x.at] = n
			f.Nodes = append(f.Nodes, Node{}, Node{})
			next = append(next, open{low, n.paid, n.Paid, n.Low},
				open{high, n.paid, n.Paid, n.High})
		}
		level = next
	}
	return f, nil
}

// learnNode buys features for a node and fits it.
func (t Table) learnNode(
	weights []float64,
	paid []bool,
	spent float64,
	o Options,
) Node {
	p := t.weightedProblem(weights, o)
	p.Paid = paid
	return nodeOf(p, spent)
}

func nodeOf(p *greedy.Problem, spent float64) Node {
	choice := p.Select()
	fit := p.Solve(choice.Entries())
	return Node{
		Theta:   fit.Theta[0],
		Entries: choice.Entries(),
		Bought:  choice.Groups(p),
		Paid:    spent + choice.Spent(),
		Records: p.Gram.At(0, 0),
		problem: p,
		paid:    choice.Paid,
	}
}

// weightedProblem adds the second moments of the weighted rows up.
func (t Table) weightedProblem(weights []float64, o Options) *greedy.Problem {
	d := len(t.Group) + 1
	var all []float64
	n := 0
	for i, w := range weights {
		if w > 0 {
			root := math.Sqrt(w)
			all = append(all, root)
			for _, v := range t.Rows[i] {
				all = append(all, root*v)
			}
			all = append(all, root*t.Y[i])
			n++
		}
	}
	p := &greedy.Problem{
		Gram:   mat.NewSymDense(d, nil),
		Cross:  [][]float64{make([]float64, d)},
		Group:  make([]int, d),
		Cost:   t.Cost,
		Budget: o.Budget,
		Ridge:  o.Ridge,
	}
	if o.Budget == 0 {
		p.Budget = math.Inf(1)
	}
	copy(p.Group[1:], t.Group)
	if n == 0 {
		return p
	}
	var g mat.SymDense
	g.SymOuterK(1, mat.NewDense(n, d+1, all).T())
	for i := range d {
		for j := i; j < d; j++ {
			p.Gram.SetSym(i, j, g.At(i, j))
		}
		p.Cross[0][i] = g.At(i, d)
	}
	return p
}

// WithBudget returns the tree with another budget of its leaves. Their matrices are known, so no record is
// read: the paths of records are unchanged.
func (f *Tree) WithBudget(budget float64) *Tree {
	out := &Tree{Nodes: slices.Clone(f.Nodes), Cost: f.Cost}
	for i := range out.Nodes {
		n := &out.Nodes[i]
		if n.Low > 0 {
			continue
		}
		p := *n.problem
		p.Budget = budget
		spent := 0.
		for g, paid := range p.Paid {
			if paid {
				spent += f.Cost[g]
			}
		}
		*n = nodeOf(&p, spent)
	}
	return out
}

func (t Table) scores(theta []float64) []float64 {
	out := make([]float64, len(t.Rows))
	for i, r := range t.Rows {
		out[i] = dotProduct(theta, r)
	}
	return out
}

func dotProduct(theta, row []float64) float64 {
	sum := theta[0]
	for j, v := range row {
		sum += theta[j+1] * v
	}
	return sum
}

// weightedMedian is the weighted median, the mean of the middle two.
func weightedMedian(values, weights []float64) float64 {
	var order []int
	total := 0.
	for i, w := range weights {
		if w > 0 {
			order = append(order, i)
			total += w
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return 0
	})
	sum := 0.
	for k, i := range order {
		if sum += weights[i]; sum > total/2 || k == len(order)-1 {
			return values[i]
		}
		if sum == total/2 {
			return values[i]/2 + values[order[k+1]]/2
		}
	}
	return 0
}

// splitWeights returns the weights of the records in the two children.
func splitWeights(
	scores, weights []float64,
	threshold float64,
	soft bool,
) (low, high []float64) {
	for i, w := range weights {
		up := 0.
		switch {
		case soft:
			up = 1 / (1 + math.Exp(threshold-scores[i]))
		case scores[i] > threshold:
			up = 1
		}
		low = append(low, w*(1-up))
		high = append(high, w*up)
	}
	return low, high
}

// Leaf returns the leaf of a row; a score of at most the threshold goes low.
func (f *Tree) Leaf(row []float64) *Node {
	n := &f.Nodes[0]
	for n.Low > 0 {
		if dotProduct(n.Theta, row) <= n.Threshold {
			n = &f.Nodes[n.Low]
		} else {
			n = &f.Nodes[n.High]
		}
	}
	return n
}

// Predict returns the score of every row and its cost.
func (f *Tree) Predict(rows [][]float64) (scores, paid []float64) {
	for _, r := range rows {
		n := f.Leaf(r)
		scores = append(scores, dotProduct(n.Theta, r))
		paid = append(paid, n.Paid)
	}
	return scores, paid
}
