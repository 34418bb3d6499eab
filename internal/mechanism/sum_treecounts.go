package mechanism

import (
	"math"

	"github.com/dptrain/dptrain/budget"
)

// The cells of a numeric column of [TreeCounts]: TreeLeaves equal intervals of its range, values below the
// range, values above it, and missing values. TreeNodes groups of neighbouring intervals are counted as well.
const (
	TreeNodes   = 8
	TreeLeaves  = 64
	TreeBelow   = TreeLeaves
	TreeAbove   = TreeLeaves + 1
	TreeMissing = TreeLeaves + 2

	treeCells   = TreeLeaves + 3
	treeFanOut  = TreeLeaves / TreeNodes
	treeEntries = TreeNodes + treeCells
)

// treeWeight is the weight with which a record in the range of a numeric column counts, in its interval and in the
// node above it; see [TreeCounts.Bound].
var treeWeight = math.Sqrt(.5)

// TreeCounts counts, for each of several numeric columns, how many records are in each cell, with a second level of
// coarser counts within the range, and for each of several category columns how many records have each code.
// docs/proofs/describe.md, "Algorithm", describes how they are used.
type TreeCounts struct {
	relation budget.Relation
	numeric  int
	starts   []int   // of the cells of each column, with one more entry at the end
	counts   []int64 // of cells
}

// NewTreeCounts returns an empty accumulator for a number of numeric columns, followed by one category column per entry of
// levels with codes from 0 to levels-1.
func (m Maker) NewTreeCounts(numeric int, levels []int) *TreeCounts {
	t := &TreeCounts{
		relation: m.Relation(),
		numeric:  numeric,
	}
	cells := 0
	for range numeric {
		t.starts = append(t.starts, cells)
		cells += treeCells
	}
	for _, n := range levels {
		t.starts = append(t.starts, cells)
		cells += n
	}
	t.starts = append(t.starts, cells)
	t.counts = make([]int64, cells)
	return t
}

// Add counts a block of records. cells has one slice per column, the numeric ones first, with one cell or code per record.
// A cell that does not exist is ignored. Add panics if the slices differ in number or length: otherwise a record might
// count twice.
func (t *TreeCounts) Add(cells [][]uint16) {
	if len(cells) != len(t.starts)-1 {
		panic("mechanism: a block of TreeCounts has one slice per column")
	}
	for c, column := range cells {
		if len(column) != len(cells[0]) {
			panic("mechanism: the columns of a block of TreeCounts differ in length")
		}
		counts := t.counts[t.starts[c]:t.starts[c+1]]
		for _, k := range column {
			if int(k) < len(counts) {
				counts[k]++
			}
		}
	}
}

// Cells are those that [TreeCounts.Add] adds to.
func (t *TreeCounts) Cells() Cells {
	return sumCells(t.counts)
}

// Bound returns, for each numeric column, the counts of its nodes and then of its cells, and for each category column the
// counts of its codes, with their L2 sensitivity. Nodes and the intervals within the range have the weight w, which is
// sqrt(1/2) rounded toward zero to the grid of sums, and all other counts the weight 1.
//
// Add or remove one record: of a numeric column it moves one interval and one node by w, so the squared change is
// 2 w² <= 1, or one of the three other cells by 1. Of a category column it moves one count by 1. So with d numeric columns and c
// category columns the change is at most sqrt(d + c), attained by a record with missing values alone.
//
// Substitution: in each column one record leaves its counts and the other one joins its own, and the squared change is at
// most the sum of both where they share no count: 2. If they share a node or a cell, that count does not move. So the
// change is at most sqrt(2 (d + c)), attained.
func (t *TreeCounts) Bound() Bounded[Vector] {
	squares := len(t.starts) - 1
	if t.relation != budget.AddRemove {
		squares *= 2
	}
	w := toGrains(treeWeight)
	one := toGrains(1)
	out := make(Vector, 0, len(t.counts)+t.numeric*TreeNodes)
	for c := range len(t.starts) - 1 {
		counts := t.counts[t.starts[c]:t.starts[c+1]]
		if c < t.numeric {
			for node := range TreeNodes {
				total := int64(0)
				for _, n := range counts[node*treeFanOut : (node+1)*treeFanOut] {
					total += n
				}
				out = append(out, total*w)
			}
			for _, n := range counts[:TreeLeaves] {
				out = append(out, n*w)
			}
			counts = counts[TreeLeaves:]
		}
		for _, n := range counts {
			out = append(out, n*one)
		}
	}
	return Bounded[Vector]{out, L2, roundUp(math.Sqrt(float64(squares))) / sumUnit, sumUnit,
		StatTreeCounts}
}

// TreeColumn holds the released counts of one column.
type TreeColumn struct {
	// Nodes and Leaves are the counts within the range of a numeric column, and Other those of its three other cells,
	// from TreeBelow on. Of a category column Other holds the counts of its codes.
	Nodes, Leaves, Other []float64
}

// Read splits released numbers by column and divides them by their weights. The noise of a node or a leaf is sqrt(2) times that
// of the other counts, whose noise is the scale of the release.
func (t *TreeCounts) Read(released []float64) []TreeColumn {
	w := float64(toGrains(treeWeight)) * sumUnit
	var out []TreeColumn
	take := func(n int, weight float64) []float64 {
		part := make([]float64, n)
		for i := range part {
			part[i] = released[i] / weight
		}
		released = released[n:]
		return part
	}
	for c := range len(t.starts) - 1 {
		var column TreeColumn
		others := t.starts[c+1] - t.starts[c]
		if c < t.numeric {
			column.Nodes, column.Leaves = take(TreeNodes, w), take(TreeLeaves, w)
			others -= TreeLeaves
		}
		column.Other = take(others, 1)
		out = append(out, column)
	}
	return out
}

// StatTreeCounts is the statistic of [TreeCounts.Bound].
const StatTreeCounts budget.Statistic = "tree counts"
