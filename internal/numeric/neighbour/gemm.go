package neighbour

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// tile is the number of rows and columns of the product that one call of gemm makes. Below four
// tiles of 64 × 64 gonum starts no goroutines of its own: the callers here already use every
// processor.
const tile = 128

// addProduct sets c, n × m, to the product of a, n × k, and b, k × m, all by row.
func addProduct(c, a, b []float64, n, m, k int) {
	for i := 0; i < n; i += tile / 2 {
		rows := min(tile/2, n-i)
		for j := 0; j < m; j += tile {
			columns := min(tile, m-j)
			blas64.Gemm(
				blas.NoTrans,
				blas.NoTrans,
				1,
				blas64.General{
					Rows:   rows,
					Cols:   k,
					Stride: k,
					Data:   a[i*k:],
				},
				blas64.General{
					Rows:   k,
					Cols:   columns,
					Stride: m,
					Data:   b[j:],
				},
				0,
				blas64.General{
					Rows:   rows,
					Cols:   columns,
					Stride: m,
					Data:   c[i*m+j:],
				},
			)
		}
	}
}

// addTransposed adds to c, m × k, the product of the transpose of a, n × m, and b, n × k, all by row. Zeros
// in a are almost free.
func addTransposed(c, a, b []float64, n, m, k int) {
	for i := 0; i < m; i += tile / 2 {
		rows := min(tile/2, m-i)
		for j := 0; j < k; j += tile {
			columns := min(tile, k-j)
			blas64.Gemm(
				blas.Trans,
				blas.NoTrans,
				1,
				blas64.General{
					Rows:   n,
					Cols:   rows,
					Stride: m,
					Data:   a[i:],
				},
				blas64.General{
					Rows:   n,
					Cols:   columns,
					Stride: k,
					Data:   b[j:],
				},
				1,
				blas64.General{
					Rows:   rows,
					Cols:   columns,
					Stride: k,
					Data:   c[i*k+j:],
				},
			)
		}
	}
}

// transposed returns the transpose of a, n × m.
func transposed(a []float64, n, m int) []float64 {
	out := make([]float64, len(a))
	for i := range n {
		for j, v := range a[i*m : (i+1)*m] {
			out[j*n+i] = v
		}
	}
	return out
}
