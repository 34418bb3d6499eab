package regression

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// kindTree is the kind of a [Tree].
const kindTree = "tree"

// Tree is a binary tree of linear models on columns with costs. A record starts at the root, Nodes[0]. At an
// inner node it continues to Low if the score of the node, from its Intercept and Terms, is at most Threshold,
// and to High otherwise. The prediction is
//
//	clamp(Intercept + sum of Coefficient x + score of the leaf, Lower, Upper).
//
// A record pays once for each column read by the nodes on its path. The embedded Linear holds the columns, the
// clamps and a linear part, which is often empty; used alone, it predicts without the leaves. Terms of nodes
// treat cells as those of the linear part do.
//
// A Tree must not be changed while it is in use.
type Tree struct {
	Linear

	Costs []float64 // one per column, finite and at least 0
	Nodes []TreeNode
}

// A TreeNode is an inner node or a leaf of a [Tree].
type TreeNode struct {
	Intercept float64
	Terms     []Term
	Threshold float64 // of an inner node
	Low, High int     // indices of its children, greater than its own; both 0 for a leaf
}

var _ Model = (*Tree)(nil)

// Kind returns "tree".
func (m *Tree) Kind() string {
	return kindTree
}

// Sums returns nil: the contribution of a column depends on the node.
func (m *Tree) Sums() []*Additive {
	return nil
}

// isLeaf reports whether the node has no children.
func (n *TreeNode) isLeaf() bool {
	return n.Low == 0 && n.High == 0
}

// childAt returns the index of the child for a score.
func (n *TreeNode) childAt(score float64) int {
	if score <= n.Threshold {
		return n.Low
	}
	return n.High
}

// Validate reports the first inconsistency in the model as a [*ModelError]: those of [Linear.Validate], for the
// linear part and for every node, a wrong number of costs, a cost that is negative or not finite, a number that
// is not finite, and nodes that do not form a tree.
func (m *Tree) Validate() error {
	if err := m.Linear.Validate(); err != nil {
		return err
	}
	if len(m.Costs) != len(m.Columns) {
		return &ModelError{"costs", "is not one cost per column"}
	}
	for i, c := range m.Costs {
		if !isFinite(c) || c < 0 {
			return &ModelError{fmt.Sprintf("costs[%d]", i), "must be finite and at least 0"}
		}
	}
	if len(m.Nodes) == 0 {
		return &ModelError{"nodes", "has no root"}
	}
	parents := make([]int, len(m.Nodes))
	for i := range m.Nodes {
		if err := m.validateNode(i, parents); err != nil {
			return err
		}
	}
	for i, n := range parents[1:] {
		if n == 0 {
			return &ModelError{fmt.Sprintf("nodes[%d]", i+1), "is no child of a node before it"}
		}
	}
	return nil
}

// validateNode validates a node and increments the parent counts of its children.
func (m *Tree) validateNode(i int, parents []int) error {
	n := &m.Nodes[i]
	path := fmt.Sprintf("nodes[%d].", i)
	if !isFinite(n.Intercept) || !isFinite(n.Threshold) {
		return &ModelError{path + "intercept", "is not finite, or the threshold is not"}
	}
	if err := m.scoreModel(i).validateTerms(); err != nil {
		var problem *ModelError
		if errors.As(err, &problem) {
			return &ModelError{path + problem.Path, problem.Problem}
		}
		return err
	}
	if n.isLeaf() {
		if n.Threshold != 0 {
			return &ModelError{path + "threshold", "is not for leaves"}
		}
		return nil
	}
	for _, child := range []int{n.Low, n.High} {
		if child <= i || child >= len(m.Nodes) {
			return &ModelError{path + "split", "a child must be a later node"}
		}
		if parents[child]++; parents[child] > 1 {
			return &ModelError{path + "split", "a node is a child twice"}
		}
	}
	return nil
}

// scoreModel returns the linear model that predicts the score of node i.
func (m *Tree) scoreModel(i int) *Linear {
	return &Linear{
		Columns: m.Columns,
		Terms:   m.Nodes[i].Terms,
	}
}

// Predict implements [Model]; see [Linear.Predict].
func (m *Tree) Predict(dst []float64, rows Rows) ([]float64, error) {
	return m.predictWith(dst, rows, m.workerCount(rows))
}

func (m *Tree) predictWith(
	dst []float64,
	rows Rows,
	workers int,
) ([]float64, error) {
	return m.predictBlocks(m, dst, rows, workers, func(rows Rows) blockFiller {
		terms := blockAdders(m.compileAddends(nil), rows)
		walk := m.leafFinder(rows)
		return func(sums []float64, first int) {
			addAll(sums, m.Intercept, terms, first)
			leaves := walk(first, len(sums))
			for i := range sums {
				sums[i] += leaves.scores[i]
			}
		}
	})
}

func (m *Tree) workerCount(rows Rows) int {
	work := len(m.Terms) + 1
	for i := range m.Nodes {
		work += len(m.Nodes[i].Terms) + 2
	}
	return parallel.Workers(rows.N * work)
}

// reachedLeaves holds the leaf of each row and its score.
type reachedLeaves struct {
	leaves []int
	scores []float64
}

// leafFinder returns a function that sends count rows, from first on, down the tree.
func (m *Tree) leafFinder(rows Rows) func(first, count int) reachedLeaves {
	nodes := make([][]blockAdder, len(m.Nodes))
	for i := range nodes {
		nodes[i] = blockAdders(m.scoreModel(i).compileAddends(nil), rows)
	}
	return func(first, count int) reachedLeaves {
		at := reachedLeaves{make([]int, count), make([]float64, count)}
		scores := make([]float64, count)
		for k := range m.Nodes { // parents come before their children
			n := &m.Nodes[k]
			addAll(scores, n.Intercept, nodes[k], first)
			for i, score := range scores {
				switch {
				case at.leaves[i] != k:
				case n.isLeaf():
					at.scores[i] = score
				default:
					at.leaves[i] = n.childAt(score)
				}
			}
		}
		return at
	}
}

// CostsOf returns the cost of each row: the sum of the costs of the columns that the nodes on its path read. It
// uses dst if its capacity suffices. Errors are those of [Model.Predict].
func (m *Tree) CostsOf(dst []float64, rows Rows) ([]float64, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	paths := m.pathCosts()
	whole := &Linear{
		Lower:   -Unbounded,
		Upper:   Unbounded,
		Columns: m.Columns,
	}
	return whole.predictBlocks(whole, dst, rows, m.workerCount(rows), func(rows Rows) blockFiller {
		walk := m.leafFinder(rows)
		return func(sums []float64, first int) {
			for i, leaf := range walk(first, len(sums)).leaves {
				sums[i] = paths[leaf]
			}
		}
	})
}

// pathCosts returns for each node the cost of a record that reaches it, including the node itself.
func (m *Tree) pathCosts() []float64 {
	out := make([]float64, len(m.Nodes))
	for i, columns := range m.Paths() {
		for _, j := range columns {
			out[i] += m.Costs[j]
		}
	}
	return out
}

// Paths returns for each node the indices, in increasing order, of the columns read by it, by the nodes on the
// path to it and by the linear part.
func (m *Tree) Paths() [][]int {
	out := make([][]int, len(m.Nodes))
	add := func(list []int, terms []Term) []int {
		for _, t := range terms {
			list = append(list, t.Column)
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	out[0] = add(nil, m.Terms)
	for i := range m.Nodes {
		n := &m.Nodes[i]
		out[i] = add(out[i], n.Terms)
		if !n.isLeaf() {
			out[n.Low], out[n.High] = slices.Clone(out[i]), slices.Clone(out[i])
		}
	}
	return out
}

// CostsOf returns the cost of each row if the scores are trees; see [Tree.CostsOf]. If the scores take
// different paths, the row pays for every column that is read on at least one path. The error is a
// [*ModelError] if a score is not a tree.
func (m *Classifier) CostsOf(dst []float64, rows Rows) ([]float64, error) {
	if len(m.Scores) == 0 {
		return nil, &ModelError{"scores", "are missing"}
	}
	first, ok := m.Scores[0].(*Tree)
	for i, score := range m.Scores {
		tree, same := score.(*Tree)
		if !ok || !same || !tree.sameSplits(first) {
			return nil,
				&ModelError{fmt.Sprintf("scores[%d]", i),
					"is no tree with the paths of the first score, so records have no cost"}
		}
	}
	return first.CostsOf(dst, rows)
}

// sameSplits reports whether two trees route records identically, by nodes that read the same columns.
func (m *Tree) sameSplits(other *Tree) bool {
	same := func(a, b TreeNode) bool {
		if !a.isLeaf() || !b.isLeaf() {
			return a.Low == b.Low && a.High == b.High && a.Threshold == b.Threshold &&
				a.Intercept == b.Intercept && slices.Equal(a.Terms, b.Terms)
		}
		return true
	}
	return slices.EqualFunc(m.Nodes, other.Nodes, same) && slices.Equal(m.Costs, other.Costs) &&
		slices.EqualFunc(m.Paths(), other.Paths(), slices.Equal[[]int])
}

func (m *Tree) newProgram(places []int) program {
	p := &treeProgram{
		total:  recordSum{m.Intercept, m.compileAddends(places)},
		nodes:  m.Nodes,
		limits: m.outputLimits(),
	}
	for i := range m.Nodes {
		p.scores = append(p.scores,
			recordSum{m.Nodes[i].Intercept, m.scoreModel(i).compileAddends(places)})
	}
	return p
}

type treeProgram struct {
	total  recordSum
	scores []recordSum // one per node
	nodes  []TreeNode
	limits limits
}

func (p *treeProgram) evaluate(record []value) float64 {
	at := 0
	score := p.scores[0].evaluate(record)
	for !p.nodes[at].isLeaf() {
		at = p.nodes[at].childAt(score)
		score = p.scores[at].evaluate(record)
	}
	return p.limits.clamp(p.total.evaluate(record) + score)
}

func treeKind() scoreKind {
	return numberKind[*Tree, treeFile]{
		kindTree,
		func(m *Tree) treeFile {
			f := treeFile{
				base:       m.baseFile(),
				Costs:      m.Costs,
				Prediction: m.outputLimits(),
			}
			for i := range m.Nodes {
				n := &m.Nodes[i]
				node := nodeFile{
					Intercept: n.Intercept,
					Terms:     m.termFiles(n.Terms),
				}
				if !n.isLeaf() {
					node.Split = &splitFile{n.Threshold, n.Low, n.High}
				}
				f.Nodes = append(f.Nodes, node)
			}
			return f
		},
		func(f treeFile) (*Tree, error) {
			l, err := f.toLinear(f.Prediction)
			m := &Tree{
				Linear: l,
				Costs:  nilIfEmpty(f.Costs),
			}
			index := m.columnIndex()
			for _, n := range f.Nodes {
				node := TreeNode{
					Intercept: n.Intercept,
					Terms:     termsOf(n.Terms, index),
				}
				if n.Split != nil {
					node.Threshold = n.Split.Threshold
					node.Low = n.Split.Low
					node.High = n.Split.High
					if node.isLeaf() { // not a valid split; rejected by Validate
						node.Low = -1
					}
				}
				m.Nodes = append(m.Nodes, node)
			}
			return m, err
		},
	}
}

type treeFile struct {
	base
	Costs      []float64  `json:"costs"`
	Nodes      []nodeFile `json:"nodes"`
	Prediction limits     `json:"prediction"`
}

type nodeFile struct {
	Intercept float64    `json:"intercept"`
	Terms     []termFile `json:"terms"`
	Split     *splitFile `json:"split" layout:"line"`
}

type splitFile struct {
	Threshold float64 `json:"threshold"`
	Low       int     `json:"low"`
	High      int     `json:"high"`
}
