package mechanism

import (
	"math"

	"github.com/dptrain/dptrain/budget"
)

// sumUnit is the grid of clamped sums.
const sumUnit = 0x1p-28

// Sums accumulates, over records, a vector of statistics each clamped to a
// public interval first.
type Sums struct {
	lo, hi   []int64 // in sumUnit
	relation budget.Relation
	sums     []int64
}

// maxSum bounds the magnitude of a clamped statistic: 2^31 records of 2^31 grid
// units each stay within an int64.
const maxSum = 8

// NewSums prepares the sums of statistics k with public intervals
// [lower[k], upper[k]]. It panics on one that leaves [-8, 8].
func (m Maker) NewSums(lower, upper []float64) *Sums {
	b := &Sums{
		relation: m.Relation(),
		sums:     make([]int64, len(lower)),
	}
	for k := range lower {
		if !(lower[k] >= -maxSum && lower[k] <= upper[k] && upper[k] <= maxSum) {
			panic("mechanism: the interval of a sum leaves [-8, 8] or is empty")
		}
		b.lo = append(b.lo, int64(math.Ceil(lower[k]/sumUnit)))
		b.hi = append(b.hi, int64(math.Floor(upper[k]/sumUnit)))
	}
	return b
}

// Add clamps and adds a block of records. values holds one slice per statistic and
// one number per record; NaN counts as 0 before the clamp. Add panics if the slices
// differ in number or length.
func (b *Sums) Add(values [][]float64) {
	if len(values) != len(b.lo) {
		panic("mechanism: a block of sums has one slice per statistic")
	}
	for k, column := range values {
		if len(column) != len(values[0]) {
			panic("mechanism: the statistics of a block differ in length")
		}
		lo := b.lo[k]
		hi := b.hi[k]
		sum := int64(0)
		for _, x := range column {
			sum += toFixed(x, lo, hi)
		}
		b.sums[k] += sum
	}
}

// toFixed rounds x toward zero to the grid and clamps it.
func toFixed(x float64, lo, hi int64) int64 {
	x /= sumUnit
	switch {
	case x != x:
		return min(max(0, lo), hi)
	case x <= float64(lo):
		return lo
	case x >= float64(hi):
		return hi
	}
	return min(max(int64(x), lo), hi)
}

// Cells are those that [Sums.Add] adds to.
func (b *Sums) Cells() Cells {
	return sumCells(b.sums)
}

// Bound returns the sums with their L2 sensitivity.
//
// Add or remove one record: statistic k moves by its clamped value, at most
// max(|lo_k|, |hi_k|), so the vector moves by at most the root of the sum of
// squares. Substitution: statistic k moves by at most hi_k - lo_k, and by at most
// max(|lo_k|, |hi_k|) if one of the two records is left out of the sums, for example because
// its target is missing; so by at most the length of the interval that contains both ends and 0.
// All are attained when the statistics can be extreme together.
func (b *Sums) Bound() Bounded[Vector] {
	total := 0.0
	for k := range b.lo {
		reach := float64(max(-b.lo[k], b.lo[k], b.hi[k], -b.hi[k]))
		if b.relation != budget.AddRemove {
			reach = float64(max(b.hi[k], 0) - min(b.lo[k], 0))
		}
		total += float64(reach * reach) // the conversion forbids fusing
	}
	return Bounded[Vector]{append(Vector(nil), b.sums...), L2, roundUp(math.Sqrt(total)), sumUnit,
		StatSums}
}

// StatSums is the statistic of [Sums.Bound].
const StatSums budget.Statistic = "sums"
