package dense

import "math"

// block is the number of rows that a factor or a solution makes at a time.
const block = 48

// Cholesky replaces a symmetric matrix by its upper factor U, U'U = a. It reads only the entries on and above the
// diagonal. It reports whether a is positive definite; if not, a is unspecified. Entries below the diagonal are
// unspecified.
func Cholesky(a Matrix) bool {
	loops := fastest()
	n := a.Rows
	x := make([]float64, block)
	for from := 0; from < n; from += block {
		to := min(from+block, n)
		for i := from; i < to; i++ {
			row := a.Row(i)[i:]
			for k := from; k < i; k++ {
				x[k-from] = -a.Entry(k, i)
			}
			if i > from {
				loops.combine(row, x[:i-from], a.data[from*a.down+i:], a.down)
			}
			if !(row[0] > 0) || math.IsInf(row[0], 1) {
				return false
			}
			root := math.Sqrt(row[0])
			for j := range row {
				row[j] /= root
			}
		}
		upper := a.Slice(from, to, to, n)
		add(a.Slice(to, n, to, n), upper.T(), upper, -1, true)
	}
	return true
}

// SolveTransposed replaces b by U'^-1 b, U the upper factor.
func SolveTransposed(u, b Matrix) {
	loops := fastest()
	n := u.Rows
	x := make([]float64, block)
	for from := 0; from < n; from += block {
		to := min(from+block, n)
		for i := from; i < to; i++ {
			for k := from; k < i; k++ {
				x[k-from] = -u.Entry(k, i)
			}
			row := b.Row(i)
			if i > from {
				loops.combine(row, x[:i-from], b.data[from*b.down:], b.down)
			}
			divideRow(row, u.Entry(i, i))
		}
		add(
			b.Slice(to, n, 0, b.Cols),
			u.Slice(from, to, to, n).T(),
			b.Slice(from, to, 0, b.Cols),
			-1,
			false,
		)
	}
}

// Solve replaces b by U^-1 b.
func Solve(u, b Matrix) {
	loops := fastest()
	n := u.Rows
	x := make([]float64, block)
	for to := n; to > 0; {
		from := (to - 1) / block * block
		for i := to - 1; i >= from; i-- {
			for k := i + 1; k < to; k++ {
				x[k-i-1] = -u.Entry(i, k)
			}
			row := b.Row(i)
			if i+1 < to {
				loops.combine(row, x[:to-i-1], b.data[(i+1)*b.down:], b.down)
			}
			divideRow(row, u.Entry(i, i))
		}
		add(
			b.Slice(0, from, 0, b.Cols),
			u.Slice(0, from, from, to),
			b.Slice(from, to, 0, b.Cols),
			-1,
			false,
		)
		to = from
	}
}

func divideRow(row []float64, by float64) {
	for j := range row {
		row[j] /= by
	}
}

// PositivePivots returns the number of positive pivots of a symmetric matrix, which by Sylvester's law of inertia is
// the number of its positive eigenvalues. It reads only the entries on and above the diagonal and overwrites a. A
// pivot of a singular corner counts as a small positive one.
func PositivePivots(a Matrix) int {
	loops := fastest()
	n := a.Rows
	count := 0
	largest := math.SmallestNonzeroFloat32
	for i := range n {
		largest = max(largest, math.Abs(a.Entry(i, i)))
	}
	pivots := make([]float64, block)
	x := make([]float64, block)
	for from := 0; from < n; from += block {
		to := min(from+block, n)
		for i := from; i < to; i++ {
			row := a.Row(i)[i:]
			for k := from; k < i; k++ {
				x[k-from] = -a.Entry(k, i) / pivots[k-from]
			}
			if i > from {
				loops.combine(row, x[:i-from], a.data[from*a.down+i:], a.down)
			}
			pivot := row[0]
			if math.Abs(pivot) < 1e-13*largest { // a singular corner says nothing of the whole
				pivot = 1e-13 * largest
			}
			if pivot > 0 {
				count++
			}
			pivots[i-from] = pivot
		}
		upper := a.Slice(from, to, to, n)
		scaled := upper.Clone()
		for i := range scaled.Rows {
			divideRow(scaled.Row(i), pivots[i])
		}
		add(a.Slice(to, n, to, n), scaled.T(), upper, -1, true)
	}
	return count
}
