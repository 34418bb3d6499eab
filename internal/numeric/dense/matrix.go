package dense

import (
	"context"
	"runtime"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// A Matrix has Rows x Cols entries; that of row i and column j is data[i*down+j*right]. Copies share the
// entries.
type Matrix struct {
	Rows, Cols int
	data       []float64
	down       int
	right      int
}

// New returns a matrix of zeros.
func New(rows, cols int) Matrix {
	return Matrix{rows, cols, make([]float64, rows*cols), cols, 1}
}

// ViewOf returns a view of the entries of a.
func ViewOf(a *mat.Dense) Matrix {
	raw := a.RawMatrix()
	return Matrix{raw.Rows, raw.Cols, raw.Data, raw.Stride, 1}
}

// T returns a view of the transpose.
func (m Matrix) T() Matrix {
	return Matrix{m.Cols, m.Rows, m.data, m.right, m.down}
}

// Slice returns a view of the rows [top, bottom) and the columns [left, right).
func (m Matrix) Slice(top, bottom, left, right int) Matrix {
	if top >= bottom || left >= right {
		return Matrix{
			Rows:  max(bottom-top, 0),
			Cols:  max(right-left, 0),
			down:  m.down,
			right: m.right,
		}
	}
	return Matrix{bottom - top, right - left, m.data[top*m.down+left*m.right:], m.down, m.right}
}

// Entry returns the entry of row i and column j.
func (m Matrix) Entry(i, j int) float64 {
	return m.data[i*m.down+j*m.right]
}

// Set sets the entry of row i and column j.
func (m Matrix) Set(i, j int, x float64) {
	m.data[i*m.down+j*m.right] = x
}

// Row returns a view of a row. m is not transposed.
func (m Matrix) Row(i int) []float64 {
	return m.data[i*m.down:][:m.Cols]
}

// Clone returns a copy that is stored by rows.
func (m Matrix) Clone() Matrix {
	out := New(m.Rows, m.Cols)
	const block = 16 // so that a transpose reads whole cache lines
	for top := 0; top < m.Rows; top += block {
		for left := 0; left < m.Cols; left += block {
			for i := top; i < min(top+block, m.Rows); i++ {
				row := out.Row(i)
				for j := left; j < min(left+block, m.Cols); j++ {
					row[j] = m.Entry(i, j)
				}
			}
		}
	}
	return out
}

// Dense returns a matrix of the library with these entries. m is not transposed.
func (m Matrix) Dense() *mat.Dense {
	out := mat.NewDense(m.Rows, m.Cols, nil)
	for i := range m.Rows {
		out.SetRow(i, m.Row(i))
	}
	return out
}

// Mul returns a b.
func Mul(a, b Matrix) Matrix {
	out := New(a.Rows, b.Cols)
	add(out, a, b, 1, false)
	return out
}

// MulUpper returns a b with only the entries on and above the diagonal set.
func MulUpper(a, b Matrix) Matrix {
	out := New(a.Rows, b.Cols)
	add(out, a, b, 1, true)
	return out
}

// Symmetric copies the entries above the diagonal below it.
func (m Matrix) Symmetric() {
	for i := range m.Rows {
		for j := i + 1; j < m.Cols; j++ {
			m.Set(j, i, m.Entry(i, j))
		}
	}
}

// A tile is the sums of tileRows rows and tileCols columns; depth is how many products are added
// at a time, so that a panel of columns stays in the first-level cache.
const (
	tileRows = 4
	tileCols = 8
	depth    = 256
	// panelRows is the number of rows that are packed at a time.
	panelRows = 64
)

// add adds sign a b to dst, whose rows are contiguous; if upper, at least to the entries on and above its
// diagonal. The products of an entry are added one after the other.
func add(dst, a, b Matrix, sign float64, upper bool) {
	if a.Rows == 0 || b.Cols == 0 || a.Cols == 0 {
		return
	}
	if a.Cols != b.Rows || dst.Rows != a.Rows || dst.Cols != b.Cols || dst.right != 1 {
		panic("dense: matrices that do not fit each other")
	}
	k := a.Cols
	right := packCols(b)
	blocks := (a.Rows + panelRows - 1) / panelRows
	tile := fastest().tile
	work := func(block int) {
		top := block * panelRows
		rows := min(panelRows, a.Rows-top)
		left := packRows(a.Slice(top, top+rows, 0, k), sign)
		for from := 0; from < k; from += depth {
			steps := min(depth, k-from)
			for j := 0; j < b.Cols; j += tileCols {
				for i := 0; i < rows && !(upper && top+i > j+tileCols-1); i += tileRows {
					addTile(
						tile,
						dst,
						top+i,
						j,
						left[i*k+from*tileRows:],
						right[j*k+from*tileCols:],
						steps,
					)
				}
			}
		}
	}
	_ = parallel.ForEach(context.Background(), blocks, workersFor(a.Rows*b.Cols*k), work) // a background never ends
}

// workersFor returns the number of goroutines worth starting for the given number of products.
func workersFor(products int) int {
	if products < 1<<20 {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// addTile adds the part of a tile that is within dst to dst at (i, j).
func addTile(tile tileFunc, dst Matrix, i, j int, a, b []float64, steps int) {
	if i+tileRows <= dst.Rows && j+tileCols <= dst.Cols {
		tile(dst.data[i*dst.down+j:], dst.down, a, b, steps)
		return
	}
	var buf [tileRows * tileCols]float64
	rows := min(tileRows, dst.Rows-i)
	cols := min(tileCols, dst.Cols-j)
	for r := range rows {
		copy(buf[r*tileCols:], dst.data[(i+r)*dst.down+j:][:cols])
	}
	tile(buf[:], tileCols, a, b, steps)
	for r := range rows {
		copy(dst.data[(i+r)*dst.down+j:][:cols], buf[r*tileCols:])
	}
}

// packCols stores panels of tileCols columns: of each the first row, the second row and so on.
func packCols(b Matrix) []float64 {
	panels := (b.Cols + tileCols - 1) / tileCols
	out := make([]float64, panels*tileCols*b.Rows)
	for p := range panels {
		to := out[p*tileCols*b.Rows:]
		cols := min(tileCols, b.Cols-p*tileCols)
		for i := range b.Rows {
			if b.right == 1 {
				copy(to[i*tileCols:][:tileCols], b.data[i*b.down+p*tileCols:][:cols])
				continue
			}
			for j := range cols {
				to[i*tileCols+j] = b.Entry(i, p*tileCols+j)
			}
		}
	}
	return out
}

// packRows stores panels of tileRows rows times sign, 1 or -1: of each the first column and so on.
func packRows(a Matrix, sign float64) []float64 {
	panels := (a.Rows + tileRows - 1) / tileRows
	out := make([]float64, panels*tileRows*a.Cols)
	for p := range panels {
		to := out[p*tileRows*a.Cols:]
		rows := min(tileRows, a.Rows-p*tileRows)
		for r := range rows {
			at := (p*tileRows + r) * a.down
			for k := range a.Cols {
				to[k*tileRows+r] = sign * a.data[at+k*a.right]
			}
		}
	}
	return out
}
