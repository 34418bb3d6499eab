package mechanism

import (
	"math"

	"github.com/dptrain/dptrain/budget"
)

// valueCount is the contribution of a record to a count; its contribution to a sum is at most 1. Counts are large where
// sums may be near 0, so they tolerate more noise.
const valueCount = .5

// ValueSums accumulates, for each value of several columns, the number of records with the value and the sum of a
// number g over them. g is clamped to [-1, 1] and rounded toward zero to a grid, so the sums are exact integers,
// independent of the order of records and of threads. The mean of a target by the values of a category column is computed
// from such sums.
//
// A record moves a cell by at most 2^14 grid units, so int64 holds the sums of 2^49 records.
type ValueSums struct {
	grid     numberGrid
	relation budget.Relation
	levels   []int
	sums     []int64 // of each column its counts, times valueCount, and then its sums
}

// NewValueSums returns empty sums of columns with the given numbers of values, at least 1.
func (m Maker) NewValueSums(levels []int) *ValueSums {
	cells := 0
	for _, n := range levels {
		cells += 2 * n
	}
	return &ValueSums{newNumberGrid(1), m.Relation(), levels, make([]int64, cells)}
}

// Add adds a block of records: values holds one slice per column and one value per record, g one number per
// record. Records whose g is NaN and values that do not exist are ignored. Both must depend on
// that record and on public values only. Add panics if the slices differ in number or length.
func (v *ValueSums) Add(values [][]int32, g []float64) {
	if len(values) != len(v.levels) {
		panic("mechanism: a block of sums by value has one slice per column")
	}
	count := int64(valueCount / v.grid.unit)
	at := 0
	for c, column := range values {
		if len(column) != len(g) {
			panic("mechanism: a block of sums by value has one value and one number per record")
		}
		n := v.levels[c]
		counts := v.sums[at : at+n]
		sums := v.sums[at+n : at+2*n]
		at += 2 * n
		for i, k := range column {
			if x := g[i]; k >= 0 && int(k) < n && x == x {
				counts[k] += count
				sums[k] += int64(v.grid.roundToGrid(x))
			}
		}
	}
}

// Cells are those that [ValueSums.Add] adds to.
func (v *ValueSums) Cells() Cells {
	return sumCells(v.sums)
}

// Bound returns, column by column, the counts times one half and then the sums, with their L2
// sensitivity.
//
// Add or remove one record: in a column one count moves by w = 1/2 and one sum by |g| <= 1, so the
// square of the change is at most 1 + w² = 5/4; of d columns d times that, attained by |g| = 1. Substitution:
// if the record has another value in a column, two counts and two sums move, and the square is at most
// 2 (1 + w²) = 5/2. If it has the same value no count moves and the sum moves by |g - g'| <= 2: the square is at most 4. So
// it is at most 4 d, attained by g' = -g and the same values.
func (v *ValueSums) Bound() Bounded[Vector] {
	square := 1 + valueCount*valueCount
	if v.relation != budget.AddRemove {
		square = max(2*square, 4)
	}
	sens := roundUp(math.Sqrt(square*float64(len(v.levels)))) * v.grid.bound
	return Bounded[Vector]{append(Vector(nil), v.sums...), L2, sens, v.grid.unit, StatValueSums}
}

// Read returns the released numbers of column c: the number of records with each value, and the sums of g. The noise of
// a count is twice that of a sum.
func (v *ValueSums) Read(c int, released []float64) (counts, sums []float64) {
	at := 0
	for _, n := range v.levels[:c] {
		at += 2 * n
	}
	n := v.levels[c]
	for _, x := range released[at : at+n] {
		counts = append(counts, x/valueCount)
	}
	return counts, append(sums, released[at+n:at+2*n]...)
}

// StatValueSums is the statistic of [ValueSums.Bound].
const StatValueSums budget.Statistic = "value sums"
