package mechanism

import (
	"math"
	"math/bits"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/numeric/gram"
	"github.com/dptrain/dptrain/internal/numeric/simd"
)

// FixedOne is the number 1 on the grid of fixed-point rows, 2^-14.
const FixedOne = gram.MaxAbs

// gramUnit is the grid of products of two fixed-point numbers.
const gramUnit = 1.0 / (FixedOne * FixedOne)

// A Gram accumulates the sum of z z^T over records z whose Euclidean norm it
// limits to a public bound B first: a longer row is scaled down as a whole
// (weighted least squares with the same weight on both sides,
// docs/proofs/joint-gram.md, "Algorithm"). Rows are fixed-point numbers on the
// grid 2^-14 and the sums are exact integers, so they do not depend on
// the order of records or the number of threads.
type Gram struct {
	tap      tap
	p        int
	limit    uint64 // B^2 in gramUnit
	relation budget.Relation
	sums     []int64
	norms    []uint64
	factors  []int32
	scratch  gram.Scratch
}

// NewGram returns an empty p x p accumulator for rows of norm at most
// sqrt(limit2), limit2 > 0 in the measure of the rows.
func (m Maker) NewGram(p int, limit2 float64) *Gram {
	return &Gram{
		tap:      m.tap,
		p:        p,
		limit:    uint64(limit2 / gramUnit),
		relation: m.Relation(),
		sums:     make([]int64, gram.Len(p)),
	}
}

// Add clips a block of records in place and adds its products. columns holds one slice
// per column and one fixed-point number in [-FixedOne, FixedOne] per record. Add panics
// if the slices differ in number or length.
func (g *Gram) Add(columns [][]int16) {
	if len(columns) != g.p {
		panic("mechanism: a Gram block has one slice per column")
	}
	g.clipRows(columns)
	g.scratch.Accumulate(g.sums, columns)
}

// rescaleBits is the precision of the factor that shortens a row.
const rescaleBits = 15

// clipRows enforces |value| <= FixedOne and |z|^2 <= limit on every row, in
// integers: v is replaced by trunc(v f / 2^15) with f = floor(2^15 B/|z|), so
// the new norm is at most |z| f/2^15 <= B.
func (g *Gram) clipRows(columns [][]int16) {
	n := len(columns[0])
	if cap(g.norms) < n {
		g.norms = make([]uint64, n)
		g.factors = make([]int32, n)
	}
	norms := g.norms[:n]
	factors := g.factors[:n]
	for _, column := range columns {
		if len(column) != n {
			panic("mechanism: the columns of a Gram block differ in length")
		}
	}
	if !gram.SquaredNorms(norms, columns) {
		for _, column := range columns {
			for i, v := range column {
				column[i] = min(max(v, -FixedOne), FixedOne)
			}
		}
		gram.SquaredNorms(norms, columns)
	}
	clipped := false
	for _, n2 := range norms {
		clipped = clipped || n2 > g.limit
	}
	if !clipped {
		return
	}
	for i, n2 := range norms {
		factors[i] = 1 << rescaleBits
		if n2 > g.limit {
			factors[i] = shrinkFactor(g.limit, n2)
		}
	}
	for _, column := range columns {
		for i := simd.Shorten(column, factors); i < n; i++ {
			// Division truncates toward zero, so no entry can grow.
			column[i] = int16(int32(column[i]) * factors[i] / (1 << rescaleBits))
		}
	}
}

// shrinkFactor returns the largest f with f^2 n2 <= limit 2^30, for n2 > limit.
func shrinkFactor(limit, n2 uint64) int32 {
	f := uint64(math.Sqrt(float64(limit)/float64(n2)) * (1 << rescaleBits))
	for f > 0 && !factorFits(f, n2, limit) {
		f--
	}
	return int32(f)
}

func factorFits(f, n2, limit uint64) bool {
	ah, al := bits.Mul64(f*f, n2)
	bh := limit >> (64 - 2*rescaleBits)
	bl := limit << (2 * rescaleBits)
	return ah < bh || ah == bh && al <= bl
}

// Cells are those that [Gram.Add] adds to.
func (g *Gram) Cells() Cells {
	return sumCells(g.sums)
}

// Bound returns the sum of z z^T with its Frobenius sensitivity.
//
// Add or remove one record: the change is z z^T and |z z^T|_F = |z|^2 <= B^2,
// attained by any row of full length. Substitution: the change is z z^T - w w^T
// and its squared norm |z|^4 + |w|^4 - 2 (z.w)^2 is at most 2 B^4, attained by
// orthogonal rows of full length; so sqrt2 B^2. (docs/proofs/joint-gram.md,
// "Sensitivity and proof")
func (g *Gram) Bound() Bounded[Symmetric] {
	sens := g.tap.declaredGram(float64(g.limit))
	if g.relation != budget.AddRemove {
		sens = roundUp(sens * math.Sqrt2)
	}
	return Bounded[Symmetric]{Symmetric{g.p, append([]int64(nil), g.sums...)}, L2, sens, gramUnit,
		StatGram}
}

// EntryBound returns the entries of the sum of z z^T on and above the diagonal, row by row, with their L1 sensitivity, for
// Laplace noise.
//
// Add or remove one record: entry (i, j) moves by z_i z_j, in all by at most the sum over i <= j of |z_i z_j|, which is
// (|z|_1^2 + |z|^2)/2. As |z|_1^2 <= p |z|^2 (Cauchy and Schwarz), it is at most (p+1)/2 B^2, attained by a row of full
// length whose entries are equally large. Substitution: a row leaves and another one comes, so at most twice that.
func (g *Gram) EntryBound() Bounded[Vector] {
	sens := roundUp(g.tap.declaredGram(float64(g.limit)) * float64(g.p+1) / 2)
	if g.relation != budget.AddRemove {
		sens *= 2
	}
	return Bounded[Vector]{append(Vector(nil), g.sums...), L1, sens, gramUnit, StatGramEntries}
}

// The statistics of [Gram.Bound] and [Gram.EntryBound].
const (
	StatGram        budget.Statistic = "gram"
	StatGramEntries budget.Statistic = "gram entries"
)
