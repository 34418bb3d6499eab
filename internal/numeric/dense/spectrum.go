package dense

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// Spectrum returns the eigenvalues of a symmetric matrix in falling order and, as rows, orthonormal eigenvectors. ok
// is false if they were not found, as for a matrix with numbers that are not finite.
//
// The matrix is made tridiagonal by reflections and then diagonal by implicit QL steps with Wilkinson's shift (Golub
// and Van Loan 2013, 8.3). The rotations are collected and applied to blocks of columns.
func Spectrum(a Matrix) (values []float64, vectors Matrix, ok bool) {
	n := a.Rows
	if n == 0 {
		return nil, New(0, 0), true
	}
	scale := 0.
	for i := range n {
		for j := range n {
			scale = max(scale, math.Abs(a.Entry(i, j)))
		}
	}
	if scale == 0 {
		scale = 1
	}
	if !(scale > math.SmallestNonzeroFloat32 && scale < math.MaxFloat32) {
		return nil, a, false
	}
	_, power := math.Frexp(scale)
	t, turned := tridiagonal(a, math.Ldexp(1, -power))
	turns, ok := t.diagonalize()
	if !ok {
		return nil, a, false
	}
	apply(turned, turns)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(t.diagonal[j], t.diagonal[i])
	})
	values, vectors = make([]float64, n), New(n, n)
	for i, at := range order {
		values[i] = math.Ldexp(t.diagonal[at], power)
		copy(vectors.Row(i), turned.Row(at)[:n])
	}
	return values, vectors, true
}

// A tridiagonalMatrix is symmetric; beside[i] is the entry of rows i and i+1, the last is 0.
type tridiagonalMatrix struct{ diagonal, beside []float64 }

// tridiagonal returns T and Q' with factor a = Q T Q'. Q' has columns of zeros at its right, up to a multiple
// of lanes.
func tridiagonal(a Matrix, factor float64) (tridiagonalMatrix, Matrix) {
	n := a.Rows
	work := a.Clone()
	for i := range work.data {
		work.data[i] *= factor
	}
	t := tridiagonalMatrix{make([]float64, n), make([]float64, n)}
	reflections, lengths := New(n, n), make([]float64, n) // H_k = I - lengths[k] v v'
	loops := fastest()
	pair := New(2, n)
	x := make([]float64, 2)
	for k := range n - 1 {
		t.diagonal[k] = work.Entry(k, k)
		m := n - k - 1
		v := pair.Row(1)[:m]
		p := pair.Row(0)[:m]
		copy(v, work.Row(k)[k+1:])
		t.beside[k], lengths[k] = reflect(v)
		if lengths[k] == 0 {
			continue
		}
		copy(reflections.Row(k)[k+1:], v)
		rest := work.Slice(k+1, n, k+1, n)
		clear(p)
		loops.combine(p, v, rest.data, rest.down)
		along := 0.
		for i := range p {
			p[i] *= lengths[k]
			along += float64(p[i] * v[i])
		}
		along *= lengths[k] / 2
		for i := range p {
			p[i] -= float64(along * v[i])
		}
		for i := range m {
			x[0], x[1] = -v[i], -p[i]
			loops.combine(rest.Row(i), x, pair.data, pair.down)
		}
	}
	t.diagonal[n-1] = work.Entry(n-1, n-1)
	return t, accumulate(reflections, lengths)
}

// reflect replaces x by v with (I - length v v') x = (first, 0, ..., 0), length 0 if x is that already.
func reflect(x []float64) (first, length float64) {
	square := 0.
	for _, e := range x[1:] {
		square += float64(e * e)
	}
	if square == 0 {
		return x[0], 0
	}
	first = math.Sqrt(float64(x[0]*x[0]) + square)
	if x[0] > 0 {
		first = -first
	}
	x[0] -= first
	return first, 2 / (float64(x[0]*x[0]) + square)
}

// accumulate returns the transpose of the product of the reflections, with columns up to a multiple of lanes.
func accumulate(reflections Matrix, lengths []float64) Matrix {
	n := reflections.Rows
	loops := fastest()
	q := New(n, n)
	for i := range n {
		q.Set(i, i, 1)
	}
	w := make([]float64, n)
	x := make([]float64, 1)
	for k := n - 2; k >= 0; k-- {
		if lengths[k] == 0 {
			continue
		}
		v := reflections.Row(k)[k+1:]
		rest := q.Slice(k+1, n, k+1, n)
		to := w[:n-k-1]
		clear(to)
		loops.combine(to, v, rest.data, rest.down)
		for i := range v {
			x[0] = -lengths[k] * v[i]
			loops.combine(rest.Row(i), x, to, len(to))
		}
	}
	out := New(n, (n+lanes-1)/lanes*lanes)
	for i := range n {
		for j, e := range q.Row(i) {
			out.Set(j, i, e)
		}
	}
	return out
}

// A chain is rotations of neighbouring rows, from a last one upward.
type chain struct {
	last  int
	turns []float64 // pairs of cosine and sine
}

// mostSteps bounds the QL steps of an eigenvalue; it takes about two.
const mostSteps = 60

// diagonalize makes the matrix diagonal and returns the rotations of its rows. It reports whether it did.
func (t tridiagonalMatrix) diagonalize() ([]chain, bool) {
	d := t.diagonal
	e := t.beside
	var chains []chain
	for l := range d {
		for step := 0; ; step++ {
			m := l
			for m+1 < len(d) && math.Abs(e[m]) > 0x1p-53*(math.Abs(d[m])+math.Abs(d[m+1])) {
				m++
			}
			if m == l {
				break
			}
			if step == mostSteps {
				return nil, false
			}
			chains = append(chains, chain{m, t.step(l, m)})
		}
	}
	return chains, true
}

// step is a QL step of the rows [l, m] with Wilkinson's shift.
func (t tridiagonalMatrix) step(l, m int) []float64 {
	d := t.diagonal
	e := t.beside
	g := (d[l+1] - d[l]) / (2 * e[l])
	r := hypot(g, 1)
	if g < 0 {
		r = -r
	}
	g = d[m] - d[l] + e[l]/(g+r)
	c := 1.
	s := 1.
	p := 0.
	turns := make([]float64, 0, 2*(m-l))
	for i := m - 1; i >= l; i-- {
		f := s * e[i]
		b := c * e[i]
		r = hypot(f, g)
		e[i+1] = r
		if r == 0 { // the matrix falls apart here
			d[i+1] -= p
			e[m] = 0
			return turns
		}
		s = f / r
		c = g / r
		g = d[i+1] - p
		r = float64((d[i]-g)*s) + float64(2*c*b)
		p = s * r
		d[i+1] = g + p
		g = float64(c*r) - b
		turns = append(turns, c, s)
	}
	d[l] -= p
	e[l] = g
	e[m] = 0
	return turns
}

// hypot returns the root of x^2 + y^2, which do not overflow here.
func hypot(x, y float64) float64 {
	return math.Sqrt(float64(x*x) + float64(y*y))
}

// apply rotates rows, columns in parallel.
func apply(rows Matrix, chains []chain) {
	blocks := rows.Cols / lanes
	loops := fastest()
	_ = parallel.ForEach(context.Background(), blocks, workersFor(3*rows.Rows*rows.Rows*rows.Cols),
		func(b int) {
			part := rows.data[b*lanes:]
			for _, c := range chains {
				loops.rotate(part, rows.down, c.last, c.turns)
			}
		})
}
