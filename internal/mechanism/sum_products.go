package mechanism

import (
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/numeric/gram"
)

// productUnit is the grid of product scores: coarser than that of the sums, so
// that the scale of the exponential mechanism stays in range for every epsilon
// in use.
const productUnit = 0x1p-20

// Products scores columns by |sum x y| over records (DP-SIS;
// docs/proofs/sis.md, "Sensitivity and proof"), x and y fixed-point numbers
// that it clamps to [-1, 1] first. The sums are exact integers in units of
// 2^-28, so they do not depend on the order of the records or the number of threads,
// and an int64 holds those of 2^34 records.
//
// A numeric column has one sum. A category column of L values has L sums, and a
// record touches the sum of its own value: S_k is the sum of y over the records
// with value k. Its score is the largest, over the values, of the score that the
// column "+1 with value k, -1 with another" would have as a numeric one,
// max_k |2 S_k - sum of all S_i|.
type Products struct {
	tap      tap
	relation budget.Relation
	first    []int  // first sum of each column; one more at the end
	category []bool // of each column
	sums     []int64
	x, y     []int16
}

// NewProducts returns an empty accumulator for one column per entry of levels:
// 0 for a numeric column, and the number of its values for a category column.
// It panics for a negative number.
func (m Maker) NewProducts(levels []int) *Products {
	p := &Products{
		tap:      m.tap,
		relation: m.Relation(),
		first:    make([]int, len(levels)+1),
		category: make([]bool, len(levels)),
	}
	for j, l := range levels {
		if l < 0 {
			panic(fmt.Sprintf("column %d of Products has %d values", j, l))
		}
		p.category[j] = l > 0
		p.first[j+1] = p.first[j] + max(l, 1)
	}
	p.sums = make([]int64, p.first[len(levels)])
	return p
}

// Add adds the products of a block of records. columns[j] holds one fixed-point
// number per record if column j is numeric, codes[j] one code per record if it is a
// category column; a code outside [0, levels) is ignored. The other of the two is
// unused, and codes may be nil without category columns. y holds one fixed-point
// number per record. Add does not modify its arguments. It panics if the slices
// differ in number or length: otherwise a record might count twice.
func (p *Products) Add(columns [][]int16, codes [][]int32, y []int16) {
	if len(columns) != len(p.category) {
		panic("mechanism: a Products block has one slice per column")
	}
	p.y = clampFixed(p.y, y)
	for j, category := range p.category {
		if category {
			p.addCodes(j, codes[j])
			continue
		}
		if len(columns[j]) != len(y) {
			panic("mechanism: the columns of a Products block differ in length")
		}
		p.x = clampFixed(p.x, columns[j])
		p.sums[p.first[j]] = p.tap.addProduct(p.sums[p.first[j]], gram.Dot(p.x, p.y))
	}
}

func (p *Products) addCodes(j int, codes []int32) {
	if len(codes) != len(p.y) {
		panic("mechanism: the columns of a Products block differ in length")
	}
	sums := p.sums[p.first[j]:p.first[j+1]]
	for i, c := range codes {
		if uint(c) < uint(len(sums)) {
			sums[c] += int64(p.y[i]) * FixedOne
		}
	}
}

// clampFixed returns values clamped to [-FixedOne, FixedOne], in buf where it
// has room.
func clampFixed(buf, values []int16) []int16 {
	if cap(buf) < len(values) {
		buf = make([]int16, len(values))
	}
	buf = buf[:len(values)]
	for i, v := range values {
		buf[i] = min(max(v, -FixedOne), FixedOne)
	}
	return buf
}

// Cells are those that [Products.Add] adds to.
func (p *Products) Cells() Cells {
	return sumCells(p.sums)
}

// Scores returns the scores of the candidate columns.
//
// Add one record: the sum S of a numeric column moves by x y, |x y| <= 1, so
// |S| moves within [-1, 1]. In a category column S_c of the record's own value c
// moves by y and the others stay, so every 2 S_k - sum of S_i moves by y or by
// -y (by 0 if c is ignored), its absolute value within [-1, 1], and so does the
// largest absolute value. The width is 2, and it is attained: if two columns have
// the sums 0 and -1, a record with x y = 1 in both moves the scores by +1 and -1.
// Substitution: S moves by x'y' - x y, within [-2, 2], which is attained the same
// way; in a category column 2 S_k - sum of S_i moves by +-y' -+ y, at most 2. The
// width is 4.
//
// Scores are rounded down to multiples of 2^-20. Since 1 and 2 are such multiples,
// numbers that differ by at most 1 or 2 still do after rounding.
func (p *Products) Scores(candidates []int) Bounded[Vector] {
	width := 2 / productUnit
	if p.relation != budget.AddRemove {
		width = 4 / productUnit
	}
	out := make(Vector, len(candidates))
	for i, j := range candidates {
		out[i] = p.columnScore(j)
	}
	return Bounded[Vector]{out, Width, width, productUnit, StatProducts}
}

// Balance returns the scores of [Products.Scores] with the opposite sign, with
// the same width: the largest is that of the column whose sum is closest to 0.
func (p *Products) Balance(candidates []int) Bounded[Vector] {
	b := p.Scores(candidates)
	for i, v := range b.value {
		b.value[i] = -v
	}
	return b
}

// columnScore returns the score of column j in productUnit.
func (p *Products) columnScore(j int) int64 {
	const perUnit = productUnit / gramUnit
	sums := p.sums[p.first[j]:p.first[j+1]]
	if !p.category[j] {
		return max(sums[0], -sums[0]) / perUnit
	}
	total := int64(0)
	best := int64(0)
	for _, v := range sums {
		total += v
	}
	for _, v := range sums {
		best = max(best, 2*v-total, total-2*v)
	}
	return best / perUnit
}

// StatProducts is the statistic of [Products.Scores] and [Products.Balance].
const StatProducts budget.Statistic = "products"
