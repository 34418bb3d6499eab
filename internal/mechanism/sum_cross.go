package mechanism

import (
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/numeric/gram"
)

// A Cross accumulates the sum of x g over records: x a fixed-point row whose
// Euclidean norm it limits to a public bound B first, exactly as [Gram] does,
// and g one number per record, which it clamps to a public [-C, C] and rounds
// toward zero to a grid. X^T y and the gradients of least squares are such
// sums. They are exact integers, independent of the order of records and of threads.
//
// With |x_j| <= 2^14 and |g| <= 2^14 grid units a record moves an entry by at
// most 2^28, so that int64 holds the sums of 2^34 records with room to spare.
type Cross struct {
	tap  tap
	rows *Gram // clips the rows; its own sums stay empty
	grid numberGrid
	g    []int16
	sums []int64
}

// NewCross returns an empty accumulator for rows of p >= 1 entries of norm at
// most sqrt(limit2), as in [Session.NewGram], and numbers in [-bound, bound],
// bound in [2^-20, 2^20]. It panics for a bound outside.
func (m Maker) NewCross(p int, limit2, bound float64) *Cross {
	return &Cross{
		tap: m.tap,
		rows: &Gram{
			p:        p,
			limit:    uint64(limit2 / gramUnit),
			relation: m.Relation(),
		},
		grid: newNumberGrid(bound),
		sums: make([]int64, p),
	}
}

// Clip limits the rows of a block in place as Add does, for a caller whose
// numbers depend on the limited rows. Add then leaves them as they are.
func (c *Cross) Clip(columns [][]int16) {
	if len(columns) != c.rows.p {
		panic("mechanism: a Cross block has one slice per entry of the row")
	}
	if !c.tap.skipsClipping() {
		c.rows.clipRows(columns)
	}
}

// Add clips a block of records in place and adds its products. columns holds one
// slice per entry of the row and one fixed-point number in [-FixedOne, FixedOne]
// per record, g one number per record; NaN counts as 0. The g of a record must
// depend on that record and on public values only. Add panics if the slices differ
// in number or length.
func (c *Cross) Add(columns [][]int16, g []float64) {
	c.Clip(columns)
	if len(g) != len(columns[0]) {
		panic("mechanism: a Cross block has one number per record")
	}
	if cap(c.g) < len(g) {
		c.g = make([]int16, len(g))
	}
	grid := c.g[:len(g)]
	for i, v := range g {
		grid[i] = c.grid.roundToGrid(v)
	}
	for j, column := range columns {
		c.sums[j] += gram.Dot(column, grid)
	}
}

// Cells are those that [Cross.Add] adds to.
func (c *Cross) Cells() Cells {
	return sumCells(c.sums)
}

// Bound returns the sum of x g with its L2 sensitivity.
//
// Add or remove one record: the change is x g and |x g| = |x| |g| <= B C,
// attained by any row of full length with |g| = C. Substitution: the change is
// x g - x' g', at most 2 B C by the triangle inequality, attained by x' = x and
// g' = -g. (docs/proofs/adassp.md, "Sensitivity and proof")
func (c *Cross) Bound() Bounded[Vector] {
	sens := c.tap.declaredCross(roundUp(math.Sqrt(float64(c.rows.limit)) * c.grid.bound))
	if c.rows.relation != budget.AddRemove {
		sens *= 2
	}
	return Bounded[Vector]{append(Vector(nil), c.sums...), L2, sens, c.grid.unit / FixedOne,
		StatCross}
}

// StatCross is the statistic of [Cross.Bound].
const StatCross budget.Statistic = "cross"
