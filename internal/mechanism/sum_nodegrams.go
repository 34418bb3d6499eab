package mechanism

import (
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/numeric/gram"
)

// NodeGrams accumulates, for every node k of one level of a tree, the sum of w_k z z^T over
// records: rows z whose Euclidean norm it limits to a public bound B first, exactly as [Gram]
// does, and the record's weights w_k >= 0 in the nodes, whose sum it limits to 1. A record in
// one node has the weight 1 there. All matrices of a level are one release
// (docs/proofs/cost-tree.md, "Sensitivity and proof").
//
// A row enters node k multiplied by f_k/2^15, f_k = floor(2^15 sqrt(w_k)), rounded toward
// zero. The sums are exact integers, independent of the order of records and of threads.
type NodeGrams struct {
	rows *Gram // clips the rows; its own sums stay empty
	sums [][]int64

	factors []int32   // of one node, by record
	left    []int64   // remaining weight of each record, in weightOne
	scaled  [][]int16 // rows of one node
	scratch gram.Scratch
}

// weightOne is the weight 1 in squared factors.
const weightOne = 1 << (2 * rescaleBits)

// NewNodeGrams returns empty p x p matrices for nodes >= 1 nodes and rows of norm at most
// sqrt(limit2), as in [Maker.NewGram].
func (m Maker) NewNodeGrams(nodes, p int, limit2 float64) *NodeGrams {
	g := &NodeGrams{
		rows: &Gram{
			tap:      m.tap,
			p:        p,
			limit:    uint64(limit2 / gramUnit),
			relation: m.Relation(),
		},
		sums:   make([][]int64, nodes),
		scaled: make([][]int16, p),
	}
	for k := range g.sums {
		g.sums[k] = make([]int64, gram.Len(p))
	}
	return g
}

// Add clips a block of records in place and adds its products to all nodes. columns holds
// one slice per entry of the row and one fixed-point number in [-FixedOne, FixedOne] per
// record; weights holds one slice per node and one weight per record. NaN and negative
// weights count as 0. If the weights of a record add up to more than 1, those of the later nodes
// are reduced. Weights must depend on that record and on public values only. Add panics if the
// slices differ in number or length.
func (g *NodeGrams) Add(columns [][]int16, weights [][]float64) {
	if len(columns) != g.rows.p || len(weights) != len(g.sums) {
		panic("mechanism: a NodeGrams block has one slice per entry and one per node")
	}
	g.rows.clipRows(columns)
	n := len(columns[0])
	if cap(g.left) < n {
		g.left = make([]int64, n)
		g.factors = make([]int32, n)
	}
	left := g.left[:n]
	for i := range left {
		left[i] = weightOne
	}
	for k, w := range weights {
		if len(w) != n {
			panic("mechanism: a NodeGrams block has one weight per record and node")
		}
		g.addNode(k, columns, w, left)
	}
}

// addNode adds the products of the records that have a weight in node k.
func (g *NodeGrams) addNode(
	k int,
	columns [][]int16,
	weights []float64,
	left []int64,
) {
	factors := g.factors[:len(weights)]
	members := 0
	for i, w := range weights {
		factors[i] = factorOf(w, left[i])
		left[i] -= int64(factors[i]) * int64(factors[i])
		if factors[i] > 0 {
			members++
		}
	}
	if members == 0 {
		return
	}
	for j, column := range columns {
		row := g.scaled[j][:0]
		for i, f := range factors {
			if f > 0 {
				// Division truncates toward zero, so no entry can grow.
				row = append(row, int16(int32(column[i])*f/(1<<rescaleBits)))
			}
		}
		g.scaled[j] = row
	}
	g.scratch.Accumulate(g.sums[k], g.scaled)
}

// factorOf returns the factor f of a row of weight w, f^2 <= left, the remaining weight of its
// record.
func factorOf(w float64, left int64) int32 {
	if !(w > 0) {
		return 0
	}
	f := int64(math.Sqrt(min(w, 1)) * (1 << rescaleBits))
	for f > 0 && f*f > left {
		f = min(f-1, int64(math.Sqrt(float64(left))))
	}
	return int32(f)
}

// Cells are those that [NodeGrams.Add] adds to.
func (g *NodeGrams) Cells() Cells {
	all := make([]Cells, len(g.sums))
	for k, s := range g.sums {
		all[k] = sumCells(s)
	}
	return Join(all...)
}

// Bound returns all matrices, one after the other, with the Frobenius sensitivity of the
// whole.
//
// Add or remove one record: matrix k moves by z_k z_k^T with z_k = (f_k/2^15) z, rounded
// toward zero, so |z_k|^2 <= v_k |z|^2 with v_k = f_k^2/2^30, and sum v_k <= 1. The squared
// length of the whole change is sum |z_k|^4 <= |z|^4 sum v_k^2 <= |z|^4 (sum v_k)^2 <= B^4,
// attained by a row of full length in one node: B^2 for any number of nodes.
// Substitution: matrix k moves by z_k z_k^T - y_k y_k^T, of squared length |z_k|^4 + |y_k|^4
// - 2 (z_k.y_k)^2, so the whole by at most 2 B^4; attained by a record that changes its node,
// and by orthogonal rows in one: sqrt2 B^2. (docs/proofs/cost-tree.md, "Sensitivity and
// proof")
func (g *NodeGrams) Bound() Bounded[Symmetric] {
	sens := g.rows.tap.declaredGram(float64(g.rows.limit))
	if g.rows.relation != budget.AddRemove {
		sens = roundUp(sens * math.Sqrt2)
	}
	var packed []int64
	for _, s := range g.sums {
		packed = append(packed, s...)
	}
	return Bounded[Symmetric]{Symmetric{g.rows.p, packed}, L2, sens, gramUnit, StatNodeGrams}
}

// StatNodeGrams is the statistic of [NodeGrams.Bound].
const StatNodeGrams budget.Statistic = "node grams"
