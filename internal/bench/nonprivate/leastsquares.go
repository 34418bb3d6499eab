package nonprivate

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/numeric/columns"
	"github.com/dptrain/dptrain/internal/numeric/lasso"
	"github.com/dptrain/dptrain/internal/sys/parallel"
	"github.com/dptrain/dptrain/regression"
)

// ErrLambda is returned for a penalty outside its range.
var ErrLambda = lasso.ErrLambda

// ErrDecomposition is returned when a singular value decomposition does not
// converge, which finite input does not cause.
var ErrDecomposition = errors.New("the singular value decomposition did not converge")

// OLS fits ordinary least squares with an intercept, without privacy. Of all
// solutions, when columns are collinear (the complete indicators of a category,
// or more columns than rows), it returns the one with the smallest norm of the
// coefficients, as scikit-learn's LinearRegression does. A constant column has
// coefficient 0; a design without rows gives a model that predicts 0.
//
// The centred columns are reduced by blocked Householder QR to a triangle,
// whose singular values decide the rank: the condition number is never squared,
// as it is in the normal equations.
//
// Errors: [ErrShape], a [*regression.ModelError] for names, or that of ctx.
func OLS(ctx context.Context, d regression.Design) (*regression.Linear, error) {
	return fitDense(ctx, d, func(p *centredProblem) ([]float64, error) {
		return p.leastSquares(ctx)
	})
}

// Ridge minimises ||y - Xw - b||^2 + lambda ||w||^2 without privacy, as
// scikit-learn's Ridge does. lambda >= 0 is in the units of a squared column;
// 0 is [OLS]. Errors are those of OLS and [ErrLambda].
func Ridge(
	ctx context.Context,
	d regression.Design,
	lambda float64,
) (*regression.Linear, error) {
	if !(lambda >= 0) || math.IsInf(lambda, 0) {
		return nil, ErrLambda
	}
	if lambda == 0 {
		return OLS(ctx, d)
	}
	return fitDense(ctx, d, func(p *centredProblem) ([]float64, error) {
		return p.solveRidge(ctx, lambda)
	})
}

func fitDense(
	ctx context.Context,
	d regression.Design,
	solve func(*centredProblem) ([]float64, error),
) (*regression.Linear, error) {
	if len(d.Names) != len(d.X) || columns.Check(d.X, len(d.Y)) != nil {
		return nil, ErrShape
	}
	x := columns.CleanAll(d.X)
	y := columns.Clean(d.Y)
	p := &centredProblem{n: len(d.Y), y: y}
	var kept []int
	for j := range x {
		if x[j].Spread > 0 {
			kept = append(kept, j)
			p.x = append(p.x, x[j])
		}
	}
	weights := make([]float64, len(x))
	if len(kept) > 0 {
		solution, err := solve(p)
		if err != nil {
			return nil, err
		}
		for i, j := range kept {
			weights[j] = solution[i]
		}
	}
	return linearModel(d, x, y, weights, false)
}

// centredProblem is a least-squares problem in centred columns that are not constant.
type centredProblem struct {
	n int
	x []columns.Column
	y columns.Column
}

// rankTolerance separates singular values of collinear columns, which are
// rounding (measured at most 1e-14 of the largest), from small but real ones.
const rankTolerance = 1e-12

// leastSquares returns the least-squares solution of least norm.
func (p *centredProblem) leastSquares(ctx context.Context) ([]float64, error) {
	// Equal column scales, so that the units of a column do not decide the rank.
	scale := make([]float64, len(p.x))
	for j := range scale {
		scale[j] = math.Ldexp(1, -math.Ilogb(p.x[j].Spread))
	}
	dec, err := p.decompose(ctx, scale)
	if err != nil {
		return nil, err
	}
	rank := 0
	for rank < len(dec.s) && dec.s[rank] > rankTolerance*dec.s[0] {
		rank++
	}
	w := dec.solveFiltered(func(i int) float64 {
		if i >= rank {
			return 0
		}
		return 1 / dec.s[i]
	})
	for j := range w {
		w[j] *= scale[j]
	}
	if rank == len(p.x) || rank == 0 {
		return w, nil
	}
	return leastNorm(w, dec.v, rank, scale)
}

// leastNorm projects w onto the row space of the unscaled columns, spanned by
// the first rank right singular vectors of the scaled ones, divided by scale.
// What is removed changes no prediction.
func leastNorm(
	w []float64,
	v *mat.Dense,
	rank int,
	scale []float64,
) ([]float64, error) {
	d := len(w)
	basis := mat.NewDense(d, rank, nil)
	for j := range d {
		for i := range rank {
			basis.Set(j, i, v.At(j, i)/scale[j])
		}
	}
	// Columns of equal length keep a mere difference of units from looking like
	// a dependence.
	for i := range rank {
		column := basis.ColView(i)
		norm := mat.Norm(column, 2)
		for j := range d {
			basis.Set(j, i, basis.At(j, i)/norm)
		}
	}
	var qr mat.QR
	qr.Factorize(basis)
	var coordinates, projected mat.VecDense
	err := qr.SolveVecTo(&coordinates, false, mat.NewVecDense(d, w))
	var condition mat.Condition
	if err != nil && (!errors.As(err, &condition) || math.IsInf(float64(condition), 0)) {
		return w, nil // a solution, if not the one of least norm
	}
	projected.MulVec(basis, &coordinates)
	return projected.RawVector().Data, nil
}

// solveRidge returns the solution of the penalised problem, in which directions
// with small singular values are damped, so no rank needs to be decided.
func (p *centredProblem) solveRidge(
	ctx context.Context,
	lambda float64,
) ([]float64, error) {
	scale := make([]float64, len(p.x))
	for j := range scale {
		scale[j] = 1
	}
	dec, err := p.decompose(ctx, scale)
	if err != nil {
		return nil, err
	}
	return dec.solveFiltered(func(i int) float64 {
		s := dec.s[i]
		return s / (s*s + lambda)
	}), nil
}

// decomposition is A = U diag(s) V' together with U'b, of the scaled, centred columns.
type decomposition struct {
	s   []float64
	v   *mat.Dense
	utb []float64
}

func (p *centredProblem) decompose(
	ctx context.Context,
	scale []float64,
) (*decomposition, error) {
	a, b, err := p.reduceRows(ctx, scale)
	if err != nil {
		return nil, err
	}
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThin) {
		return nil, ErrDecomposition
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	var utb mat.VecDense
	utb.MulVec(u.T(), mat.NewVecDense(len(b), b))
	return &decomposition{
		s:   svd.Values(nil),
		v:   &v,
		utb: utb.RawVector().Data,
	}, nil
}

// solveFiltered returns V diag(filter) U'b.
func (d *decomposition) solveFiltered(filter func(i int) float64) []float64 {
	filtered := make([]float64, len(d.s))
	for i := range filtered {
		filtered[i] = filter(i) * d.utb[i]
	}
	var w mat.VecDense
	w.MulVec(d.v, mat.NewVecDense(len(filtered), filtered))
	return w.RawVector().Data
}

// reduceRows returns A and b with the least-squares problem of the scaled, centred
// columns: those columns themselves when they are short, else the triangle of
// their QR factorisation (with y as a last column).
func (p *centredProblem) reduceRows(
	ctx context.Context,
	scale []float64,
) (*mat.Dense, []float64, error) {
	d := len(p.x)
	if p.n <= 2*(d+1) {
		full := p.appendBlock(nil, 0, p.n, scale)
		a := mat.NewDense(p.n, d, nil)
		b := make([]float64, p.n)
		for i := range p.n {
			copy(a.RawRowView(i), full[i*(d+1):i*(d+1)+d])
			b[i] = full[i*(d+1)+d]
		}
		return a, b, ctx.Err()
	}
	r, err := p.qrTriangle(ctx, scale)
	if err != nil {
		return nil, nil, err
	}
	a := mat.NewDense(d, d, nil)
	b := make([]float64, d)
	for i := range d {
		copy(a.RawRowView(i), r[i*(d+1):i*(d+1)+d])
		b[i] = r[i*(d+1)+d]
	}
	return a, b, nil
}

// appendBlock appends rows [first, last) of the scaled, centred columns and y to dst,
// row by row.
func (p *centredProblem) appendBlock(
	dst []float64,
	first, last int,
	scale []float64,
) []float64 {
	width := len(p.x) + 1
	start := len(dst)
	dst = append(dst, make([]float64, (last-first)*width)...)
	for j := range p.x {
		out := dst[start+j:]
		for i, v := range p.x[j].Values[first:last] {
			out[i*width] = (v - p.x[j].Mean) * scale[j]
		}
	}
	out := dst[start+width-1:]
	for i, v := range p.y.Values[first:last] {
		out[i*width] = v - p.y.Mean
	}
	return dst
}

// qrTriangle returns the width x width upper triangle of the QR factorisation of
// all rows. Rows are cut into chunks of a fixed size, each factored on its own,
// and the triangles are then factored together in the order of the chunks: the
// result does not depend on the number of processors.
func (p *centredProblem) qrTriangle(
	ctx context.Context,
	scale []float64,
) ([]float64, error) {
	width := len(p.x) + 1
	blockRows := max(128, 3*width)
	chunkRows := 32 * blockRows
	chunks := make([][]float64, (p.n+chunkRows-1)/chunkRows)
	err := parallel.ForEach(ctx, len(chunks), parallel.Workers(p.n*width), func(c int) {
		r := make([]float64, width*width, (width+blockRows)*width)
		last := min((c+1)*chunkRows, p.n)
		for first := c * chunkRows; first < last && ctx.Err() == nil; first += blockRows {
			r = p.appendBlock(r, first, min(first+blockRows, last), scale)
			r = foldTriangle(r, width)
		}
		chunks[c] = r
	})
	if err != nil {
		return nil, err
	}
	r := make([]float64, width*width, 2*width*width)
	for _, chunk := range chunks {
		r = foldTriangle(append(r, chunk...), width)
	}
	return r, ctx.Err()
}

// foldTriangle replaces rows of the given width, at least width of them, by the triangle of their QR
// factorisation, in place.
func foldTriangle(rows []float64, width int) []float64 {
	a := blas64.General{
		Rows:   len(rows) / width,
		Cols:   width,
		Stride: width,
		Data:   rows,
	}
	tau := make([]float64, width)
	query := make([]float64, 1)
	lapack64.Geqrf(a, tau, query, -1)
	work := make([]float64, int(query[0]))
	lapack64.Geqrf(a, tau, work, len(work))
	for i := 1; i < width; i++ {
		clear(rows[i*width : i*width+i])
	}
	return rows[:width*width]
}
