package lasso

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// moments are the second moments of a table as coordinate descent needs them.
type moments interface {
	// gradient writes X'(y - Xw) to dst and returns the square of y - Xw.
	gradient(ctx context.Context, dst, w []float64) (rr float64, err error)
	// fill makes the products of the columns of the set with each other known.
	fillGram(ctx context.Context, set []int) error
	// product returns x_i'x_j of two columns that were filled together.
	product(i, j int) float64
}

// centredColumns holds the centred columns one after the other; a constant
// column is all zeros.
type centredColumns struct {
	n        int
	workers  int // at most, if positive
	cells    []float64
	constant []bool
}

func (c *centredColumns) column(j int) []float64 {
	return c.cells[j*c.n : (j+1)*c.n : (j+1)*c.n]
}

// forEachColumn calls work for every column; each column is handled by one call.
func (c *centredColumns) forEachColumn(
	ctx context.Context,
	work func(j int),
) error {
	const run = 32 // columns that are handled together
	d := len(c.constant)
	return parallel.ForEach(ctx, (d+run-1)/run, c.workersFor(len(c.cells)), func(i int) {
		for j := i * run; j < min(d, (i+1)*run); j++ {
			work(j)
		}
	})
}

func (c *centredColumns) workersFor(operations int) int {
	if c.workers > 0 {
		return min(c.workers, parallel.Workers(operations))
	}
	return parallel.Workers(operations)
}

// covariances keeps columns of the Gram matrix, each from when it is first
// needed.
type covariances struct {
	centredColumns
	xy   []float64
	yy   float64
	gram [][]float64 // columns of X'X, nil until needed
}

// gradient computes X'y - X'Xw; then y'r = y'y - w'X'y and r'r = y'r - w'X'r.
func (c *covariances) gradient(
	_ context.Context,
	dst, w []float64,
) (float64, error) {
	copy(dst, c.xy)
	for j, v := range w {
		if v != 0 {
			floats.AddScaled(dst, -v, c.gram[j])
		}
	}
	return max(0, c.yy-floats.Dot(w, c.xy)-floats.Dot(w, dst)), nil
}

func (c *covariances) fillGram(ctx context.Context, set []int) error {
	for _, j := range set {
		if c.gram[j] != nil {
			continue
		}
		from := c.column(j)
		products := make([]float64, len(c.gram))
		err := c.forEachColumn(ctx, func(k int) {
			switch {
			case c.constant[k]:
			case c.gram[k] != nil:
				products[k] = c.gram[k][j]
			default:
				products[k] = floats.Dot(from, c.column(k))
			}
		})
		if err != nil {
			return err
		}
		c.gram[j] = products
	}
	return nil
}

func (c *covariances) product(i, j int) float64 {
	return c.gram[i][j]
}

// residuals keeps the products of the columns that have been in a working set
// with each other, and finds gradients from the residual.
type residuals struct {
	centredColumns
	target   []float64
	residual []float64
	slots    []int       // of a column its row of products, plus 1; 0 if none
	members  []int       // the columns, by slot
	products [][]float64 // of the member in slot a with those in slots 0 to a
}

func (r *residuals) gradient(
	ctx context.Context,
	dst, w []float64,
) (float64, error) {
	copy(r.residual, r.target)
	for j, v := range w {
		if v != 0 {
			floats.AddScaled(r.residual, -v, r.column(j))
		}
	}
	err := r.forEachColumn(ctx, func(j int) {
		if !r.constant[j] {
			dst[j] = floats.Dot(r.column(j), r.residual)
		}
	})
	return floats.Dot(r.residual, r.residual), err
}

func (r *residuals) fillGram(ctx context.Context, set []int) error {
	first := len(r.members)
	for _, j := range set {
		if r.slots[j] == 0 {
			r.members = append(r.members, j)
			r.slots[j] = len(r.members)
			r.products = append(r.products, nil)
		}
	}
	added := len(r.members) - first
	return parallel.ForEach(ctx, added, r.workersFor(r.n*added*len(r.members)), func(i int) {
		slot := first + i
		from := r.column(r.members[slot])
		row := make([]float64, slot+1)
		for a := range row {
			row[a] = floats.Dot(from, r.column(r.members[a]))
		}
		r.products[slot] = row
	})
}

func (r *residuals) product(i, j int) float64 {
	a, b := r.slots[i]-1, r.slots[j]-1
	return r.products[max(a, b)][min(a, b)]
}
