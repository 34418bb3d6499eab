package mechanism

import (
	"slices"

	"github.com/dptrain/dptrain/budget"
)

// medianUnit is the grid of weights of records in [Medians]; scores have half of it.
const medianUnit = 0x1p-20

// Medians scores public points as medians, for every node k of one level of a tree: with
// values v and weights w of the records in the node, the weights limited as in [NodeGrams],
//
//	u_k(t) = -|sum of w over v <= t  -  half of the sum of w|.
//
// [ChooseEach] draws one point per node, all nodes in one draw.
type Medians struct {
	nodes    int
	points   []float64 // increasing
	relation budget.Relation
	weights  []int64 // by node: the sum of weights with v first at most each point, and above all
	left     []int64
}

// NewMedians returns empty sums for nodes >= 1 nodes and at least one point, increasing.
func (m Maker) NewMedians(nodes int, points []float64) *Medians {
	return &Medians{
		nodes:    nodes,
		points:   points,
		relation: m.Relation(),
		weights:  make([]int64, nodes*(len(points)+1)),
	}
}

// Add adds a block of records. values and weights hold one slice per node and one number
// per record: the value of the record in that node, NaN above all points, and its weight
// there, limited as by [NodeGrams.Add]. Both must depend on that record and on public values
// only. Add panics if the slices differ in number or length.
func (m *Medians) Add(values, weights [][]float64) {
	if len(values) != m.nodes || len(weights) != m.nodes {
		panic("mechanism: a block of Medians has one slice per node")
	}
	n := len(values[0])
	if cap(m.left) < n {
		m.left = make([]int64, n)
	}
	left := m.left[:n]
	for i := range left {
		left[i] = 1 / medianUnit
	}
	for k := range m.nodes {
		if len(values[k]) != n || len(weights[k]) != n {
			panic("mechanism: the slices of a block of Medians differ in length")
		}
		cells := m.weights[k*(len(m.points)+1) : (k+1)*(len(m.points)+1)]
		for i, w := range weights[k] {
			if !(w > 0) {
				continue
			}
			units := min(int64(min(w, 1)/medianUnit), left[i])
			left[i] -= units
			cells[m.cellIndex(values[k][i])] += units
		}
	}
}

// cellIndex returns the first point that is at least v.
func (m *Medians) cellIndex(v float64) int {
	if v != v {
		return len(m.points)
	}
	at, _ := slices.BinarySearch(m.points, v)
	return at
}

// Cells are those that [Medians.Add] adds to.
func (m *Medians) Cells() Cells {
	return sumCells(m.weights)
}

// Lists are scores of several choices that are made in one draw, each among Size candidates.
type Lists struct {
	Size   int
	Scores Vector // list by list
}

// Bound returns the scores of all points, node by node.
//
// Add one record, of weight w in a node and value v: the sum up to t less half of all moves
// by w/2 if v <= t and by -w/2 else, so u moves by something in [-w/2, w/2], width w; and the
// weights of a record add up to at most 1. Substitution removes one record and adds
// another: the widths add up to at most 2, in one node or several. Both are attained.
// (docs/proofs/cost-tree.md, "Sensitivity and proof")
func (m *Medians) Bound() Bounded[Lists] {
	out := make(Vector, 0, m.nodes*len(m.points))
	for k := range m.nodes {
		cells := m.weights[k*(len(m.points)+1) : (k+1)*(len(m.points)+1)]
		total := int64(0)
		sum := int64(0)
		for _, w := range cells {
			total += w
		}
		for _, w := range cells[:len(m.points)] {
			sum += w
			out = append(out, -max(2*sum-total, total-2*sum))
		}
	}
	width := 2 / medianUnit // in half units of a weight
	if m.relation != budget.AddRemove {
		width *= 2
	}
	return Bounded[Lists]{Lists{len(m.points), out}, Width, width, medianUnit / 2, StatMedians}
}

// StatMedians is the statistic of [Medians.Bound].
const StatMedians budget.Statistic = "medians"
