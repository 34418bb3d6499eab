package mechanism

import (
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/numeric/gram"
)

// ClassWeights divide one budget among the blocks of [ClassStats]: a larger weight
// means less noise in that block. All are above 0. The zero value means
// [DefaultClassWeights].
type ClassWeights struct {
	Counts   float64
	Sums     float64
	Squares  float64
	Products float64
}

// DefaultClassWeights are those of docs/proofs/dpfsdr.md, "Algorithm": a = .5,
// b = 1, c = .7, g = 1. One record moves the statistics by at most 1.655295,
// the root of 2.74, under add-remove and the root of 5.48 under substitution.
func DefaultClassWeights() ClassWeights {
	return ClassWeights{.5, 1, .7, 1}
}

// l2Sensitivity returns the L2 sensitivity of the weighted statistics; see
// [ClassStats.Bound].
func (w ClassWeights) l2Sensitivity(relation budget.Relation) float64 {
	a := w.Counts * w.Counts
	b := w.Sums * w.Sums
	c := w.Squares * w.Squares
	g := w.Products * w.Products
	if relation == budget.AddRemove {
		return roundUp(math.Sqrt(a + b + c + g))
	}
	// One class: the sums and products together, beyond 2b + 2g.
	same := 2*b - 2*g
	if b <= 2*g {
		same = b * b / (2 * g)
	}
	return roundUp(math.Sqrt(2*(b+c+g) + max(2*a, same)))
}

// ClassStats accumulates, over records of a class and a fixed-point row x whose
// Euclidean norm it limits to a public B first as [Gram] does, all that linear
// discriminants and F-scores are made of:
//
//   - for each class its number of records, the sum of x and the sum of the
//     squares x_i^2,
//   - the sum of x x^T over the records of all classes.
//
// A record without a class is not counted, not even in the products, which are used
// relative to the means of the classes.
//
// The sums are exact integers, independent of order and thread count.
type ClassStats struct {
	rows    *Gram // limits the rows and sums their products
	weights ClassWeights
	counts  []int64
	sums    [][]int64 // of each class, in 2^-14
	squares [][]int64 // of each class, in 2^-28
}

// NewClassStats returns an empty accumulator for rows of p >= 1 entries of norm
// at most sqrt(limit2), limit2 >= 2^-20, and classes >= 1 classes. It panics for
// a limit below or weights that are not above 0 and finite.
func (m Maker) NewClassStats(
	p, classes int,
	limit2 float64,
	w ClassWeights,
) *ClassStats {
	if w == (ClassWeights{}) {
		w = DefaultClassWeights()
	}
	for _, v := range []float64{w.Counts, w.Sums, w.Squares, w.Products} {
		if !(v > 0) || math.IsInf(v, 1) {
			panic("mechanism: a weight of class statistics is not above 0 and finite")
		}
	}
	if !(limit2 >= 0x1p-20) {
		panic("mechanism: the norm limit of class statistics is below 2^-20")
	}
	c := &ClassStats{
		rows:    m.NewGram(p, limit2),
		weights: w,
		counts:  make([]int64, classes),
	}
	for range classes {
		c.sums = append(c.sums, make([]int64, p))
		c.squares = append(c.squares, make([]int64, p))
	}
	return c
}

// Add adds a block of records. columns holds one slice per entry of the row and one
// fixed-point number per record, classes one class per record; a class outside
// [0, classes) means that the record has no class. Rows are shortened in place, and
// rows without a class are set to 0. Add panics if the slices differ in number or length.
func (c *ClassStats) Add(columns [][]int16, classes []int32) {
	if len(columns) != c.rows.p {
		panic("mechanism: a block of class statistics has one slice per entry of the row")
	}
	if len(classes) != len(columns[0]) {
		panic("mechanism: a block of class statistics has one class per record")
	}
	c.rows.clipRows(columns)
	for i, k := range classes {
		if uint(k) < uint(len(c.counts)) {
			c.counts[k]++
			continue
		}
		for _, column := range columns {
			column[i] = 0
		}
	}
	for j, column := range columns {
		for i, k := range classes {
			if v := int64(column[i]); v != 0 { // never in no class
				c.sums[k][j] += v
				c.squares[k][j] += v * v
			}
		}
	}
	gram.Accumulate(c.rows.sums, columns)
}

// Cells are those that [ClassStats.Add] adds to.
func (c *ClassStats) Cells() Cells {
	all := []Cells{c.rows.Cells(), sumCells(c.counts)}
	for k := range c.sums {
		all = append(all, sumCells(c.sums[k]), sumCells(c.squares[k]))
	}
	return Join(all...)
}

// Bound returns all statistics with the L2 sensitivity of
//
//	( a n_c, b s_c/B, c q_c/Q for every class c, g svec(sum x x^T)/B^2 ),
//
// svec(A) = (A_ii, sqrt2 A_ij), Q = B min(B, 1).
//
// Add or remove one record: one class moves, and each block by at most its
// weight: |x| <= B, sum x_i^4 <= max x_i^2 |x|^2 <= min(B^2, 1) B^2 = Q^2 since
// |x_i| <= 1, |x x^T|_F = |x|^2 <= B^2. So D^2 = a^2 + b^2 + c^2 + g^2, attained
// by a row of length B along one axis (B <= 1), or of entries +-1 (B^2 = p).
// (Dividing q_c by B^2 is valid as well, and less precise for B > 1.)
//
// Substitution of (x, k) by (x', k'), u = x/B, u' = x'/B, s = u.u':
//
//   - k and k' differ: 2a^2 + b^2(|u|^2+|u'|^2) + 2c^2 + g^2(|u|^4+|u'|^4-2s^2)
//     at most, and so at most 2(a^2+b^2+c^2+g^2), attained by orthogonal rows.
//   - k = k': the count stays; entries of x_i^2 are not negative, so the squares
//     move by at most the root of Q^2 + Q^2, 2c^2; and the rest is
//     b^2(|u|^2+|u'|^2-2s) + g^2(|u|^4+|u'|^4-2s^2). For a fixed s it grows with
//     the lengths, which may be 1 for every |s| <= 1: 2b^2+2g^2-2b^2 s-2g^2 s^2,
//     largest at s = -b^2/(2g^2), where it is 2b^2+2g^2+b^4/(2g^2), or at s = -1
//     when that is beyond, where it is 4b^2.
//   - one of the records has no class: a^2+b^2+c^2+g^2 as for a removed record.
//
// So D^2 = 2b^2+2c^2+2g^2 + max(2a^2, b^4/(2g^2) or 2b^2-2g^2). With the default
// weights both are 1/2 and D is sqrt2 times that of add-remove. Private columns
// are a case of k = k', hence covered.
func (c *ClassStats) Bound() Bounded[Weighted] {
	limit := float64(c.rows.limit) // B^2 in gramUnit
	w := c.weights
	perSum := w.Sums / math.Sqrt(limit)
	perSquare := w.Squares / math.Sqrt(limit*min(limit, 1/gramUnit))
	perProduct := w.Products / limit

	var x Weighted
	add := func(weight, unit float64, values ...int64) {
		x.Values = append(x.Values, values...)
		for range values {
			x.Weights = append(x.Weights, weight)
			x.Units = append(x.Units, unit)
		}
	}
	const perCount = 1 / countUnit
	for k, n := range c.counts {
		add(w.Counts*countUnit, countUnit, n*perCount)
		add(perSum, 1./FixedOne, c.sums[k]...)
		add(perSquare, gramUnit, c.squares[k]...)
	}
	for i := range c.rows.p {
		from := gram.Index(c.rows.p, i, i)
		add(perProduct, gramUnit, c.rows.sums[from])
		add(perProduct*math.Sqrt2, gramUnit, c.rows.sums[from+1:from+c.rows.p-i]...)
	}
	return Bounded[Weighted]{x, L2, w.l2Sensitivity(c.rows.relation), 1, StatClassStatistics}
}

// ClassMoments are released (or, in experiments, exact) class statistics of
// rows of p entries, in the measure of the rows, with the standard deviations of
// the noise in them: public numbers. Noisy ones may be negative where exact ones
// cannot.
type ClassMoments struct {
	Counts   []float64   // of each class
	Sums     [][]float64 // of x, of each class
	Squares  [][]float64 // of x_i^2, of each class
	Products []float64   // of x x^T, the upper triangle by rows

	// CountNoise, SumNoise and SquareNoise are the standard deviations of every entry of
	// the block, and ProductNoise is that of x_i^2; other products have 1/sqrt2 of it.
	CountNoise, SumNoise, SquareNoise, ProductNoise float64

	// Exact, if not nil, marks entries whose sums and squares, and whose products with each other, have no noise.
	Exact []bool
	// Totals and Records, if Totals is not nil, are the exact sums of x over all records and their number. All products
	// are then exact, and over all records, those in no class included.
	Totals  []float64
	Records float64
}

// IsExact reports whether the sums and squares of entry i have no noise.
func (m *ClassMoments) IsExact(i int) bool {
	return i < len(m.Exact) && m.Exact[i]
}

// HasExactProduct reports whether the product of two entries has no noise.
func (m *ClassMoments) HasExactProduct(i, j int) bool {
	return m.Totals != nil || m.IsExact(i) && m.IsExact(j)
}

// NoiseOf returns a standard deviation of noise as it is for entry i: 0 if the entry is exact.
func (m *ClassMoments) NoiseOf(i int, noise float64) float64 {
	if m.IsExact(i) {
		return 0
	}
	return noise
}

// Release releases all statistics in one step by [WeightedGaussian], as draw 0 of the
// leaf name.
func (c *ClassStats) Release(
	s *Session,
	name string,
) (Public[ClassMoments], error) {
	released, noise, err := WeightedGaussian(s, name, c.Bound())
	if err != nil {
		return Public[ClassMoments]{}, err
	}
	p := c.rows.p
	values := released.Value()
	scales := noise.Value()
	m := ClassMoments{
		CountNoise:  scales[0],
		SumNoise:    scales[1],
		SquareNoise: scales[1+p],
	}
	for range c.counts {
		m.Counts = append(m.Counts, values[0])
		m.Sums = append(m.Sums, values[1:1+p:1+p])
		m.Squares = append(m.Squares, values[1+p:1+2*p:1+2*p])
		values = values[1+2*p:]
		scales = scales[1+2*p:]
	}
	m.Products = values
	m.ProductNoise = scales[0]
	return Public[ClassMoments]{m}, nil
}

// StatClassStatistics is the statistic of [ClassStats.Bound].
const StatClassStatistics budget.Statistic = "class statistics"
