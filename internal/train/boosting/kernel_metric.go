package boosting

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/numeric/dense"
	"github.com/dptrain/dptrain/internal/numeric/gram"
	"github.com/dptrain/dptrain/internal/numeric/kernelmap"
	"github.com/dptrain/dptrain/internal/train/linear"
)

const (
	// gradientRecords is the number of synthetic records at which gradients are evaluated.
	gradientRecords = 800
	// metricFloor is the square root of the smallest eigenvalue of a metric, relative to the largest, before it
	// is raised to a power.
	metricFloor = .03
)

// slopes returns gradients of released functions at synthetic records: of the additive part in the first stage;
// of the kernel part and of the whole model, both of norm 1, in later ones.
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
		own := stage.gradient(points) // a pair stage has additional coordinates
		kernel.Add(kernel, own.Slice(0, len(points[0]), 0, len(s.coords)))
	}
	var whole, both mat.Dense
	whole.Add(kernel, g)
	normalize(kernel)
	normalize(&whole)
	both.Stack(kernel, &whole)
	return &both
}

func normalize(x *mat.Dense) {
	x.Scale(1/max(mat.Norm(x, 2), 1e-30), x)
}

// gradient returns the gradient of the stage's prediction along its coordinates, at synthetic records: of
// b'q/|q|, q = W k(u), by the quotient rule, the gradient of a kernel value being k(u, l) M (l - u).
func (s *kernelStage) gradient(at [][]uint8) *mat.Dense {
	m := s.features
	records := len(at[0])
	features := m.Features()
	marks := len(m.Landmarks)
	kernel := m.Kernel(at)
	values := dense.New(records, marks)
	weights := dense.New(marks, features)
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
	q := dense.Mul(values, weights)
	for r := range records {
		row := q.Row(r)
		square := 0.
		dot := 0.
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
	back := dense.Mul(q, weights.T())
	for r := range records {
		row := back.Row(r)
		for l, v := range values.Row(r) {
			row[l] *= v
		}
	}
	return s.chain(back, at)
}

// gramBits is log2 of gram.MaxAbs.
const gramBits = 14

// chain returns the gradient of kernel values, weighted, along the coordinates.
func (s *kernelStage) chain(weighted dense.Matrix, at [][]uint8) *mat.Dense {
	n := len(s.coords)
	records := len(at[0])
	marks := len(s.features.Landmarks)
	points := dense.New(marks, n)
	own := dense.New(records, n)
	for c, x := range s.coords {
		for l := range marks {
			points.Set(l, c, x.values[s.features.Landmarks[l][x.input]])
		}
		for r, bin := range at[x.input] {
			own.Set(r, c, x.values[bin])
		}
	}
	out := dense.Mul(weighted, points)
	for r := range records {
		sum := 0.
		for _, v := range weighted.Row(r) {
			sum += v
		}
		for c := range n {
			out.Set(r, c, out.Entry(r, c)-sum*own.Entry(r, c))
		}
	}
	m := dense.ViewOf(s.metric)
	return dense.Mul(out, dense.Mul(m, m.T())).Dense()
}

// metric returns a root, of trace 1, of the metric derived from gradients, one per row: the second moments of
// the gradients, with eigenvalues floored and raised to a power.
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
	largest := 1e-30
	sum := 0.
	for _, e := range spectrum.Values {
		largest = max(largest, e)
	}
	roots := make([]float64, n)
	for i, e := range spectrum.Values {
		roots[i] = math.Pow(max(e/largest, metricFloor*metricFloor), power)
		sum += roots[i]
	}
	out := mat.NewDense(n, n, nil)
	out.Apply(func(_, j int, x float64) float64 {
		return x * math.Sqrt(roots[j]/sum)
	}, spectrum.Vectors)
	return out
}
