package boosting

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/gram"
	"github.com/dptrain/dptrain/internal/kernelmap"
	"github.com/dptrain/dptrain/internal/linear"
)

const (
	// gradientRecords is the number of synthetic records at which gradients are taken.
	gradientRecords = 800
	// metricFloor is the root of the least eigenvalue of a metric before it is raised to a
	// power, beside the largest.
	metricFloor = .03
)

// slopes returns gradients of what was released, at synthetic records: of the additive part in
// the first stage, of the kernel part and of the whole, both of norm 1, in later ones.
func (k *kernelBooster) slopes(s *kernelStage, points [][]uint8) *mat.Dense {
	g := mat.NewDense(len(points[0]), len(s.coords), nil)
	for c, x := range s.coords {
		for r, bin := range points[x.input] {
			g.Set(r, c, x.slope[bin])
		}
	}
	if len(k.stages) == 0 {
		return g
	}
	kernel := mat.NewDense(len(points[0]), len(s.coords), nil)
	for _, stage := range k.stages {
		kernel.Add(kernel, stage.gradient(points))
	}
	var whole, both mat.Dense
	whole.Add(kernel, g)
	normalize(kernel)
	normalize(&whole)
	both.Stack(kernel, &whole)
	return &both
}

func normalize(x *mat.Dense) { x.Scale(1/max(mat.Norm(x, 2), 1e-30), x) }

// gradient returns that of what the stage predicts along its coordinates, at synthetic records: of
// b'q/|q|, q = W k(u), by the quotient rule, the gradient of a kernel value being k(u, l) M (l - u).
func (s *kernelStage) gradient(at [][]uint8) *mat.Dense {
	m, records := s.features, len(at[0])
	features, marks := m.Features(), len(m.Landmarks)
	kernel := m.Kernel(at)
	values, weights := mat.NewDense(records, marks, nil), mat.NewDense(marks, features, nil)
	for l := range marks {
		for r, v := range kernel[l] {
			values.Set(r, l, float64(v)/gram.MaxAbs)
		}
	}
	for i, row := range m.Weights {
		for l, w := range row {
			weights.Set(l, i, math.Ldexp(float64(w), gramBits-int(m.Shifts[i])))
		}
	}
	b := s.coefficients(s.theta)
	var q, back mat.Dense
	q.Mul(values, weights)
	for r := range records {
		row := q.RawRowView(r)
		square, dot := 0., 0.
		for i, v := range row {
			square += v * v
			dot += v * b[i]
		}
		length := math.Sqrt(square)
		along := 0.
		if length > kernelmap.Shortest {
			along = dot / (length * length * length)
		}
		length = max(length, kernelmap.Shortest)
		for i, v := range row {
			row[i] = b[i]/length - along*v
		}
	}
	back.Mul(&q, weights.T())
	back.MulElem(&back, values)
	return s.chain(&back, at)
}

// gramBits is log2 of gram.MaxAbs.
const gramBits = 14

// chain returns the gradient of kernel values, weighted, along the coordinates.
func (s *kernelStage) chain(weighted *mat.Dense, at [][]uint8) *mat.Dense {
	n, records := len(s.coords), len(at[0])
	marks := len(s.features.Landmarks)
	points, own := mat.NewDense(marks, n, nil), mat.NewDense(records, n, nil)
	for c, x := range s.coords {
		for l := range marks {
			points.Set(l, c, x.values[s.features.Landmarks[l][x.input]])
		}
		for r, bin := range at[x.input] {
			own.Set(r, c, x.values[bin])
		}
	}
	var out, square, turned mat.Dense
	out.Mul(weighted, points)
	for r := range records {
		sum := 0.
		for _, v := range weighted.RawRowView(r) {
			sum += v
		}
		for c := range n {
			out.Set(r, c, out.At(r, c)-sum*own.At(r, c))
		}
	}
	square.Mul(s.metric, s.metric.T())
	turned.Mul(&out, &square)
	return &turned
}

// metric returns a root of the metric that gradients, one a row, speak for, of trace 1: the second
// moments of the gradients, with eigenvalues floored and raised to a power.
func metric(gradients *mat.Dense, power float64, full bool) *mat.Dense {
	rows, n := gradients.Dims()
	a := mat.NewSymDense(n, nil)
	a.SymOuterK(1/float64(rows), gradients.T())
	if !full {
		for i := range n {
			for j := i + 1; j < n; j++ {
				a.SetSym(i, j, 0)
			}
		}
	}
	spectrum := linear.NewSpectrum(a)
	largest, sum := 1e-30, 0.
	for _, e := range spectrum.Values {
		largest = max(largest, e)
	}
	roots := make([]float64, n)
	for i, e := range spectrum.Values {
		roots[i] = math.Pow(max(e/largest, metricFloor*metricFloor), power)
		sum += roots[i]
	}
	out := mat.NewDense(n, n, nil)
	out.Apply(func(_, j int, x float64) float64 { return x * math.Sqrt(roots[j]/sum) }, spectrum.Vectors)
	return out
}

// solveUpper replaces b by U^-1 b, or U'^-1 b.
func solveUpper(u *mat.TriDense, b *mat.Dense, transposed bool) {
	t := blas.NoTrans
	if transposed {
		t = blas.Trans
	}
	blas64.Trsm(blas.Left, t, 1, u.RawTriangular(), b.RawMatrix())
}

// solveRight replaces b by b U^-1.
func solveRight(u *mat.TriDense, b *mat.Dense) {
	blas64.Trsm(blas.Right, blas.NoTrans, 1, u.RawTriangular(), b.RawMatrix())
}

// symmetric returns a multiple of a symmetric matrix.
func symmetric(a *mat.Dense, scale float64) *mat.SymDense {
	n, _ := a.Dims()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, scale*(a.At(i, j)+a.At(j, i))/2)
		}
	}
	return out
}
