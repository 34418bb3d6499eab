package regression

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// kindTree is the kind of a [Tree].
const kindTree = "tree"

// Tree is a binary tree of linear models on columns with a cost. A record goes from the root,
// Nodes[0], to a leaf: to Low where the score of a node, its Intercept and Terms, is at most
// Threshold, and to High elsewhere. The prediction is
//
//	clamp(Intercept + sum of Coefficient x + score of the leaf, Lower, Upper).
//
// A record pays for the columns of the nodes on its way, each once. The embedded Linear
// holds columns, clamps and the part of the prediction that is linear, often nothing; it
// predicts, used alone, without the leaves. Terms of nodes treat cells as those of the
// linear part do.
//
// A Tree must not be changed while it is in use.
type Tree struct {
	Linear

	Costs []float64 // of the columns, finite and at least 0
	Nodes []TreeNode
}

// A TreeNode is an inner node or a leaf of a [Tree].
type TreeNode struct {
	Intercept float64
	Terms     []Term
	Threshold float64 // of an inner node
	Low, High int     // indices of its children, above its own; both 0 for a leaf
}

var _ Model = (*Tree)(nil)

// Kind returns "tree".
func (m *Tree) Kind() string { return kindTree }

// Sums returns nil: what a column adds depends on the node.
func (m *Tree) Sums() []*Additive { return nil }

// leaf reports whether the node has no children.
func (n *TreeNode) leaf() bool { return n.Low == 0 && n.High == 0 }

// next returns the child that a score leads to.
func (n *TreeNode) next(score float64) int {
	if score <= n.Threshold {
		return n.Low
	}
	return n.High
}

// Validate reports the first contradiction in the model as a [*ModelError]: those of
// [Linear.Validate], for the linear part and for every node, a cost that is not finite or
// below 0 or too many or too few, a number that is not finite, nodes that are no tree.
func (m *Tree) Validate() error {
	if err := m.Linear.Validate(); err != nil {
		return err
	}
	if len(m.Costs) != len(m.Columns) {
		return &ModelError{"costs", "is not one cost per column"}
	}
	for i, c := range m.Costs {
		if !finite(c) || c < 0 {
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

// validateNode checks a node and counts it as the parent of its children.
func (m *Tree) validateNode(i int, parents []int) error {
	n, path := &m.Nodes[i], fmt.Sprintf("nodes[%d].", i)
	if !finite(n.Intercept) || !finite(n.Threshold) {
		return &ModelError{path + "intercept", "is not finite, or the threshold is not"}
	}
	if err := m.scored(i).validateTerms(); err != nil {
		var problem *ModelError
		if errors.As(err, &problem) {
			return &ModelError{path + problem.Path, problem.Problem}
		}
		return err
	}
	if n.leaf() {
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

// scored is the linear model whose prediction is the score of node i.
func (m *Tree) scored(i int) *Linear { return &Linear{Columns: m.Columns, Terms: m.Nodes[i].Terms} }

// Predict implements [Model]; see [Linear.Predict].
func (m *Tree) Predict(dst []float64, rows Rows) ([]float64, error) {
	return m.predict(dst, rows, m.workers(rows))
}

func (m *Tree) predict(dst []float64, rows Rows, workers int) ([]float64, error) {
	return m.predictBlocks(m, dst, rows, workers, func(rows Rows) blockFiller {
		terms, walk := adders(m.addends(nil), rows), m.walker(rows)
		return func(sums []float64, first int) {
			addAll(sums, m.Intercept, terms, first)
			leaves := walk(first, len(sums))
			for i := range sums {
				sums[i] += leaves.scores[i]
			}
		}
	})
}

func (m *Tree) workers(rows Rows) int {
	work := len(m.Terms) + 1
	for i := range m.Nodes {
		work += len(m.Nodes[i].Terms) + 2
	}
	return parallel.Workers(rows.N * work)
}

// walked is where records end: the leaf of each and its score.
type walked struct {
	leaves []int
	scores []float64
}

// walker returns the function that sends count rows from first on down the tree.
func (m *Tree) walker(rows Rows) func(first, count int) walked {
	nodes := make([][]adder, len(m.Nodes))
	for i := range nodes {
		nodes[i] = adders(m.scored(i).addends(nil), rows)
	}
	return func(first, count int) walked {
		at := walked{make([]int, count), make([]float64, count)}
		scores := make([]float64, count)
		for k := range m.Nodes { // children come after their parents
			n := &m.Nodes[k]
			addAll(scores, n.Intercept, nodes[k], first)
			for i, score := range scores {
				switch {
				case at.leaves[i] != k:
				case n.leaf():
					at.scores[i] = score
				default:
					at.leaves[i] = n.next(score)
				}
			}
		}
		return at
	}
}

// CostsOf returns for each row what it pays: the costs of the columns of the nodes on its
// way. The result is stored in dst when its capacity suffices. Errors are those of
// [Model.Predict].
func (m *Tree) CostsOf(dst []float64, rows Rows) ([]float64, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	paths := m.pathCosts()
	whole := &Linear{Lower: -Unbounded, Upper: Unbounded, Columns: m.Columns}
	return whole.predictBlocks(whole, dst, rows, m.workers(rows), func(rows Rows) blockFiller {
		walk := m.walker(rows)
		return func(sums []float64, first int) {
			for i, leaf := range walk(first, len(sums)).leaves {
				sums[i] = paths[leaf]
			}
		}
	})
}

// pathCosts returns for each node what a record that gets there has paid, for it and for the
// nodes before.
func (m *Tree) pathCosts() []float64 {
	out := make([]float64, len(m.Nodes))
	for i, columns := range m.Paths() {
		for _, j := range columns {
			out[i] += m.Costs[j]
		}
	}
	return out
}

// Paths returns for each node the columns that it and the nodes on the way to it read,
// increasing, with those of the linear part.
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
		if !n.leaf() {
			out[n.Low], out[n.High] = slices.Clone(out[i]), slices.Clone(out[i])
		}
	}
	return out
}

// CostsOf returns for each row what it pays where the scores are trees, as [Tree.CostsOf]
// does. Scores that part ways pay for what any of them reads. The error is a [*ModelError]
// if a score is no tree.
func (m *Classifier) CostsOf(dst []float64, rows Rows) ([]float64, error) {
	if len(m.Scores) == 0 {
		return nil, &ModelError{"scores", "are missing"}
	}
	first, ok := m.Scores[0].(*Tree)
	for i, score := range m.Scores {
		tree, same := score.(*Tree)
		if !ok || !same || !tree.alike(first) {
			return nil, &ModelError{fmt.Sprintf("scores[%d]", i), "is no tree with the paths of the first score, so records have no cost"}
		}
	}
	return first.CostsOf(dst, rows)
}

// alike reports whether two trees send records the same way to nodes that read the same
// columns.
func (m *Tree) alike(other *Tree) bool {
	same := func(a, b TreeNode) bool {
		if !a.leaf() || !b.leaf() {
			return a.Low == b.Low && a.High == b.High && a.Threshold == b.Threshold && a.Intercept == b.Intercept && slices.Equal(a.Terms, b.Terms)
		}
		return true
	}
	return slices.EqualFunc(m.Nodes, other.Nodes, same) && slices.Equal(m.Costs, other.Costs) &&
		slices.EqualFunc(m.Paths(), other.Paths(), slices.Equal[[]int])
}

func (m *Tree) program(places []int) program {
	p := &treeProgram{total: total{m.Intercept, m.addends(places)}, nodes: m.Nodes, limits: m.limits()}
	for i := range m.Nodes {
		p.scores = append(p.scores, total{m.Nodes[i].Intercept, m.scored(i).addends(places)})
	}
	return p
}

type treeProgram struct {
	total  total
	scores []total // one per node
	nodes  []TreeNode
	limits limits
}

func (p *treeProgram) of(record []value) float64 {
	at, score := 0, p.scores[0].of(record)
	for !p.nodes[at].leaf() {
		at = p.nodes[at].next(score)
		score = p.scores[at].of(record)
	}
	return p.limits.clamp(p.total.of(record) + score)
}

func treeKind() scoreKind {
	return numberKind[*Tree, treeFile]{
		kindTree,
		func(m *Tree) treeFile {
			f := treeFile{base: m.baseFile(), Costs: m.Costs, Prediction: m.limits()}
			for i := range m.Nodes {
				n := &m.Nodes[i]
				node := nodeFile{Intercept: n.Intercept, Terms: m.termFiles(n.Terms)}
				if !n.leaf() {
					node.Split = &splitFile{n.Threshold, n.Low, n.High}
				}
				f.Nodes = append(f.Nodes, node)
			}
			return f
		},
		func(f treeFile) (*Tree, error) {
			l, err := f.model(f.Prediction)
			m := &Tree{Linear: l, Costs: filled(f.Costs)}
			index := m.columnIndex()
			for _, n := range f.Nodes {
				node := TreeNode{Intercept: n.Intercept, Terms: termsOf(n.Terms, index)}
				if n.Split != nil {
					node.Threshold, node.Low, node.High = n.Split.Threshold, n.Split.Low, n.Split.High
					if node.leaf() { // a split that is none: Validate refuses it
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
