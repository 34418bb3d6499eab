package linear

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

const (
	// mostBlockEntries is the largest number of entries of a row for which [blocks] are used. The
	// time of their fit is cubic in it, with a large constant.
	mostBlockEntries = 256
	// projectionSweeps is the number of rounds of [blocks.project].
	projectionSweeps = 30
	// completeNoise is the number of standard deviations of its noise that the number of records
	// without a level must exceed for a column to be incomplete.
	completeNoise = 3
)

// block is the entries [lo, hi) of the levels of a category column.
type block struct {
	lo, hi   int
	complete bool // every record has one of the levels
}

// blocks are the category columns of a row, the constant [Kappa] last. In the second moments of
// rows the product of two levels of a column is 0, the square of a level is its count, as is its
// product with the constant over Kappa, and the products of all levels of a complete column with
// any entry add up to that of the constant over Kappa. A released matrix differs from all of this
// by noise only (docs/proofs/joint-gram.md, "Columns of many categories").
type blocks struct {
	levels  []block // of features
	target  []block // of a target that is a class
	numbers []int   // entries of numbers and of their missing cells, features only
}

// blocksOf lists the blocks of columns, the target last. It returns nil unless the features have
// more than [FewValues] levels in all, and more levels than numbers: otherwise the noise in the
// products of numbers limits a fit, and a penalty is better at hiding it. It also returns nil for
// rows of more than [mostBlockEntries] entries.
func blocksOf(columns []dataset.Column) *blocks {
	b := &blocks{}
	slots := scaling.NewEncoder(columns, nil).Slots()
	levels := 0
	for lo := 0; lo < len(slots); {
		j := slots[lo].Column
		hi := lo + 1
		for hi < len(slots) && slots[hi].Column == j {
			hi++
		}
		x := block{lo, hi, columns[j].Other}
		switch {
		case columns[j].Kind == dataset.Category && j == len(columns)-1:
			b.target = append(b.target, x)
		case columns[j].Kind == dataset.Category:
			b.levels = append(b.levels, x)
			levels += hi - lo
		case j < len(columns)-1:
			for i := lo; i < hi; i++ {
				b.numbers = append(b.numbers, i)
			}
		}
		lo = hi
	}
	if levels <= max(FewValues, len(b.numbers)) || len(slots) >= mostBlockEntries {
		return nil
	}
	return b
}

// listBlocks lists the blocks of features and target.
func (b *blocks) listBlocks() []block {
	return append(b.levels[:len(b.levels):len(b.levels)], b.target...)
}

// denoise returns the sums g, whose noise has standard deviation sigma on the diagonal and
// sigma/sqrt2 off it, without the noise that contradicts the blocks: their projection, with the
// products of features of different columns shrunk towards independence. It also decides which
// columns are complete.
func (b *blocks) denoise(g Packed, sigma float64) Packed {
	m := g.Symmetric()
	b.markComplete(NewDistribution(m, sigma))
	b.project(m)
	b.shrink(m, sigma)
	out := Packed{
		P:      g.P,
		Values: make([]float64, 0, len(g.Values)),
	}
	for i := range g.P {
		for j := i; j < g.P; j++ {
			out.Values = append(out.Values, m.At(i, j))
		}
	}
	return out
}

// markComplete decides which columns are complete: those with an entry for other values, and those
// where no records are missed.
func (b *blocks) markComplete(d Distribution) {
	for _, list := range [][]block{b.levels, b.target} {
		for i, x := range list {
			rest := d.countUnlisted(x.lo, x.hi)
			list[i].complete = x.complete || math.Abs(rest.value) < completeNoise*rest.noise
		}
	}
}

// project replaces m by the nearest matrix, in the Frobenius norm, with the properties of the
// blocks. It projects onto one linear condition a.m = 0 after the other: m moves by -(a.m) D a/(a'
// D a), D the variances of the noise.
func (b *blocks) project(m *mat.SymDense) {
	p := m.SymmetricDim()
	last := p - 1
	move := func(i, j int, x float64) {
		m.SetSym(i, j, m.At(i, j)+x)
	}
	for _, x := range b.listBlocks() {
		for v := x.lo; v < x.hi; v++ {
			for u := v + 1; u < x.hi; u++ {
				m.SetSym(v, u, 0)
			}
		}
	}
	for range projectionSweeps {
		for _, x := range b.listBlocks() {
			for v := x.lo; v < x.hi; v++ {
				square := 1 + 1/(2*Kappa*Kappa) // a' D a, in units of sigma^2
				excess := (m.At(v, v) - m.At(v, last)/Kappa) / square
				move(v, v, -excess)
				move(v, last, excess/(2*Kappa))
			}
			for i := range p {
				if x.complete && (i < x.lo || i >= x.hi) {
					x.balance(m, i)
				}
			}
		}
	}
}

// balance projects onto the condition that the products of entry i with the levels of a complete
// column add up to that with the constant over Kappa.
func (x block) balance(m *mat.SymDense, i int) {
	last := m.SymmetricDim() - 1
	constant := .5 // the variance of the noise in the product with the constant, in units of sigma^2
	if i == last {
		constant = 1
	}
	excess := -m.At(i, last) / Kappa
	for v := x.lo; v < x.hi; v++ {
		excess += m.At(v, i)
	}
	excess /= float64(x.hi-x.lo)/2 + constant/(Kappa*Kappa)
	for v := x.lo; v < x.hi; v++ {
		m.SetSym(v, i, m.At(v, i)-excess/2)
	}
	m.SetSym(i, last, m.At(i, last)+excess*constant/Kappa)
}

// shrink shrinks the products of features of different columns, and of levels and numbers, towards
// those of independent entries.
func (b *blocks) shrink(m *mat.SymDense, sigma float64) {
	var groups [][]int
	for _, x := range b.levels {
		var g []int
		for v := x.lo; v < x.hi; v++ {
			g = append(g, v)
		}
		groups = append(groups, g)
	}
	if len(b.numbers) > 0 {
		groups = append(groups, b.numbers)
	}
	for i, rows := range groups {
		for _, cols := range groups[i+1:] {
			shrinkProducts(m, rows, cols, sigma/math.Sqrt2)
		}
	}
}

// shrinkProducts shrinks a block of m whose noise has this standard deviation towards the products
// of independent entries.
func shrinkProducts(m *mat.SymDense, rows, cols []int, noise float64) {
	last := m.SymmetricDim() - 1
	n := m.At(last, last)
	independent := func(i, j int) float64 {
		if !(n > 0) {
			return 0
		}
		return m.At(i, last) * m.At(j, last) / n
	}
	beyond := mat.NewDense(len(rows), len(cols), nil)
	for i, r := range rows {
		for j, c := range cols {
			beyond.Set(i, j, m.At(r, c)-independent(r, c))
		}
	}
	shrunk := shrinkSingularValues(beyond, noise)
	for i, r := range rows {
		for j, c := range cols {
			m.SetSym(r, c, independent(r, c)+shrunk.At(i, j))
		}
	}
}

// shrinkSingularValues returns the estimate of a matrix of few large singular values from m, which
// has independent noise of this standard deviation, with the least mean square error: with noise
// times the root of the longer side as the unit of length and beta <= 1 the ratio of the sides, a
// singular value y becomes sqrt((y^2 - beta - 1)^2 - 4 beta)/y above 1 + sqrt(beta), and 0 below
// (Gavish and Donoho, "Optimal shrinkage of singular values", 2017).
func shrinkSingularValues(m *mat.Dense, noise float64) *mat.Dense {
	var svd mat.SVD
	if !svd.Factorize(m, mat.SVDThin) {
		return m
	}
	var u, v, scaled, shrunk mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	values := svd.Values(nil)
	rows, cols := m.Dims()
	long := float64(max(rows, cols))
	beta := float64(min(rows, cols)) / long
	unit := noise * math.Sqrt(long)
	for i, x := range values {
		y := x / unit
		values[i] = 0
		if y > 1+math.Sqrt(beta) {
			values[i] = unit * math.Sqrt(max(square(y*y-beta-1)-4*beta, 0)) / y
		}
	}
	scaled.Apply(func(_, j int, x float64) float64 {
		return x * values[j]
	}, &u)
	shrunk.Mul(&scaled, v.T())
	return &shrunk
}

// noisyEntries returns the number of entries whose products keep about as much noise as they were
// released with: numbers and the constant, and, for what is left of the products of levels, one for
// each column.
func (b *blocks) noisyEntries() int {
	return len(b.numbers) + 1 + len(b.levels)
}

// countNoise returns, for each of k entries, a bound on the standard deviation of the noise in the
// count of a level after [blocks.project]; 0 for other entries. The count is observed in its
// square, with variance sigma^2, in its product with the constant, with 2 sigma^2, and in the sum
// over the levels of every other complete column of d levels, with d sigma^2/2. The noise of these
// is independent, so their best average has the variance below, and a projection in the metric of
// the noise has no larger one.
func (b *blocks) countNoise(k int, sigma float64) []float64 {
	out := make([]float64, k)
	for _, x := range b.levels {
		precision := 1 + 2*Kappa*Kappa
		for _, other := range b.listBlocks() {
			if other.lo != x.lo && other.complete {
				precision += 2 / float64(other.hi-other.lo)
			}
		}
		for v := x.lo; v < x.hi; v++ {
			out[v] = sigma / math.Sqrt(precision)
		}
	}
	return out
}

// groups returns the group of each of k entries of the features and the constant: the number of a
// category column, from 0 on, then one for all numbers and one for the constant.
func (b *blocks) groups(k int) []int {
	out := make([]int, k)
	for i := range out {
		out[i] = len(b.levels)
	}
	for g, x := range b.levels {
		for v := x.lo; v < x.hi; v++ {
			out[v] = g
		}
	}
	out[k-1] = len(b.levels) + 1
	return out
}
