package mechanism

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
)

// BinSums accumulates, for each of several bins, the sum of one number g per record
// over the records in the bin. g is clamped to a public [-C, C]
// first and rounded toward zero to a grid, so the sums are exact integers,
// independent of the order of records and of threads. The mean of a residual in the
// bins of a feature, the step of an additive model, is computed from such sums.
//
// A record moves a sum by at most 2^14 grid units, so int64 holds the sums of
// 2^49 records.
type BinSums struct {
	grid     numberGrid
	relation budget.Relation
	sums     []int64
}

// NewBinSums returns empty sums over bins >= 1 bins of numbers in
// [-bound, bound], bound in [2^-20, 2^20]. It panics for a bound outside.
func (m Maker) NewBinSums(bins int, bound float64) *BinSums {
	return &BinSums{newNumberGrid(bound), m.Relation(), make([]int64, bins)}
}

// Add adds a block of records, each with its bin and its g. A g of NaN counts as
// 0, and a bin that does not exist is ignored. Both must depend on that record
// and on public values only. Add panics if the slices differ in length.
func (b *BinSums) Add(bins []uint8, g []float64) {
	c := Clamped{grid: b.grid}
	c.Set(g)
	b.AddClamped(bins, &c)
}

// AddClamped is [BinSums.Add] for numbers that were clamped before, for sums over several lists of bins. It panics if they
// were clamped elsewhere than at the bound of these sums.
func (b *BinSums) AddClamped(bins []uint8, g *Clamped) {
	if g.grid != b.grid || len(g.g) != len(bins) {
		panic("mechanism: a block of binned sums has one bin and one number per record, clamped at their bound")
	}
	sums := b.sums
	values := g.g[:len(bins)]
	for i, k := range bins {
		if int(k) < len(sums) {
			sums[k] += int64(values[i])
		}
	}
}

// Clamped holds numbers of a block of records, clamped and rounded as [BinSums.Add] does.
type Clamped struct {
	grid numberGrid
	g    []int16
}

// NewClamped returns an empty list for numbers in [-bound, bound], bound in [2^-20, 2^20]. It panics for a bound outside.
func NewClamped(bound float64) *Clamped {
	return &Clamped{grid: newNumberGrid(bound)}
}

// Set replaces the numbers by g, one per record. NaN counts as 0.
func (c *Clamped) Set(g []float64) {
	c.g = slices.Grow(c.g[:0], len(g))[:len(g)]
	for i, v := range g {
		c.g[i] = c.grid.roundToGrid(v)
	}
}

// Cells are those that [BinSums.Add] adds to.
func (b *BinSums) Cells() Cells {
	return sumCells(b.sums)
}

// Bound returns the sums with their L2 sensitivity.
//
// Add or remove one record: one sum moves by g, so the change is at most C,
// attained by |g| = C. Substitution: one sum falls by g and one rises by g',
// which may be the same one; so at most |g| + |g'| <= 2 C, attained by g' = -g
// in one bin.
func (b *BinSums) Bound() Bounded[Vector] {
	sens := b.grid.bound
	if b.relation != budget.AddRemove {
		sens *= 2
	}
	return Bounded[Vector]{append(Vector(nil), b.sums...), L2, sens, b.grid.unit, StatBinSums}
}

// CrossBound is [BinSums.Bound] as a [Cross]: binned sums are the sums of x g, x the row with a 1 in
// the record's bin and 0 elsewhere. Its norm is 1, or 0 without a bin, so that with B = 1 the
// bound of Cross is that of the sums, for every relation.
func (b *BinSums) CrossBound() Bounded[Vector] {
	x := b.Bound()
	x.statistic = StatCross
	return x
}

// A numberGrid holds numbers that are clamped to [-C, C] and rounded toward
// zero to a grid fine enough that they fill an int16 to at least one half.
type numberGrid struct {
	unit    float64 // a power of two
	inverse float64 // 1/unit, exact
	bound   float64 // C in unit, at most FixedOne
}

func newNumberGrid(bound float64) numberGrid {
	if !(bound >= 0x1p-20 && bound <= 0x1p20) {
		panic("mechanism: the bound of clamped numbers lies in [2^-20, 2^20]")
	}
	unit := math.Exp2(math.Ceil(math.Log2(bound))) / FixedOne
	for bound > unit*FixedOne { // a logarithm rounded down
		unit *= 2
	}
	return numberGrid{unit, 1 / unit, math.Floor(bound / unit)}
}

// roundToGrid clamps a number and returns it in grid units; NaN becomes 0.
func (g numberGrid) roundToGrid(v float64) int16 {
	v = min(max(v*g.inverse, -g.bound), g.bound) // NaN stays NaN
	if v != v {
		return 0
	}
	return int16(v)
}

// StatBinSums is the statistic of [BinSums.Bound].
const StatBinSums budget.Statistic = "bin sums"
