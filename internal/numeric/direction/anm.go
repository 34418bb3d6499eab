package direction

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// This file fits the additive-noise model to records, as in M. J. Kusner, "Learning in the Real World: Constraints on
// Cost, Space, and Privacy", 2016, algorithm 3: see docs/proofs/causal.md, "The baseline". Values are in [-1, 1]. The
// functions are not private by themselves; the bounds limit how far one replaced record moves a score.

// The scores of the baseline.
const (
	Spearman = "spearman"
	Kendall  = "kendall"
	IQR      = "iqr"
)

// A Ridge holds the settings of the kernel ridge regression of the baseline: minimise Penalty/2 |w|^2 plus the mean
// squared error, with a Gaussian kernel of the given width.
type Ridge struct{ Penalty, Width float64 }

// The bounds of the penalties that a study may ask for. Within them rounding moves a prediction by far less than a record
// may: the system that is solved has a condition number of at most 1 + 2/Penalty.
const (
	LeastPenalty = 1e-4
	MostPenalty  = 1e3
)

// Regress fits y to x and predicts at points: (K + n Penalty/2 I) a = y.
func (r Ridge) Regress(x, y, at []float64) []float64 {
	n := len(x)
	out := make([]float64, len(at))
	if n == 0 {
		return out
	}
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			k.SetSym(i, j, r.kernel(x[i]-x[j]))
		}
		k.SetSym(i, i, 1+float64(n)*r.Penalty/2)
	}
	var chol mat.Cholesky
	var a mat.VecDense
	if !chol.Factorize(k) || chol.SolveVecTo(&a, mat.NewVecDense(n, y)) != nil {
		return out
	}
	for i, t := range at {
		for j := range x {
			out[i] += r.kernel(t-x[j]) * a.AtVec(j)
		}
	}
	return out
}

func (r Ridge) kernel(d float64) float64 {
	return math.Exp(-d * d / (2 * r.Width * r.Width))
}

// ResidualBound bounds by how much one replaced training record, of n, moves a prediction:
// 4/(n Penalty) (1 + 1/sqrt(2 Penalty)). The weight w of a fit has |w| <= 1/sqrt(2 Penalty),
// for the objective at w is at most that at 0; the objectives of two neighbours differ by two
// terms of the mean, whose gradients are at most 2(1 + |w|) each, and are Penalty-strongly
// convex. So |w - w'| <= 4 (1 + |w|)/(n Penalty), and k(x, x) = 1.
func (r Ridge) ResidualBound(n int) float64 {
	return 4 / (float64(n) * r.Penalty) * (1 + 1/math.Sqrt(2*r.Penalty))
}

// A Fit is the baseline's view of a pair: tested values and residuals, both ways.
type Fit struct{ X, ResidualY, Y, ResidualX []float64 }

// FitRecords fits both directions on the training records and takes residuals on the others.
func FitRecords(x, y []float64, train []bool, r Ridge) Fit {
	var xs, ys [2][]float64
	for i, is := range train {
		part := 1
		if is {
			part = 0
		}
		xs[part], ys[part] = append(xs[part], clampUnit(x[i])), append(ys[part], clampUnit(y[i]))
	}
	f := Fit{X: xs[1], Y: ys[1]}
	f.ResidualY = subtract(ys[1], r.Regress(xs[0], ys[0], xs[1]))
	f.ResidualX = subtract(xs[1], r.Regress(ys[0], xs[0], ys[1]))
	return f
}

// clampUnit limits x to [-1, 1] and maps NaN to 0.
func clampUnit(x float64) float64 {
	if x != x {
		return 0
	}
	return math.Min(math.Max(x, -1), 1)
}

func subtract(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}

// ResidualWidth is the width of the kernels of the baseline's hsic.
const ResidualWidth = .5

// Score returns a score of the baseline for both directions; IQR without noise.
func (f Fit) Score(name string) Score {
	of := map[string]func(a, b []float64) float64{
		Spearman: SpearmanRho,
		Kendall:  KendallTau,
		HSIC: func(a, b []float64) float64 {
			return HSICOf(a, b, ResidualWidth)
		},
		IQR: func(a, b []float64) float64 {
			return math.Log(quartiles(a)) + math.Log(quartiles(b))
		},
	}[name]
	return Score{name, of(f.X, f.ResidualY), of(f.Y, f.ResidualX)}
}

// quartiles returns the interquartile range, at least .01.
func quartiles(v []float64) float64 {
	if len(v) == 0 {
		return .01
	}
	s := slices.Sorted(slices.Values(v))
	at := func(q float64) float64 {
		p := q * float64(len(s)-1)
		i := min(int(p), max(len(s)-2, 0))
		return s[i] + (p-float64(i))*(s[min(i+1, len(s)-1)]-s[i])
	}
	return math.Max(at(.75)-at(.25), .01)
}

// SpearmanRho returns the absolute rank correlation. Ties are ranked in order.
func SpearmanRho(a, b []float64) float64 {
	m := float64(len(a))
	if m < 2 {
		return 0
	}
	x := averageRanks(a)
	y := averageRanks(b)
	d := 0.
	for i := range x {
		d += (x[i] - y[i]) * (x[i] - y[i])
	}
	return math.Abs(1 - 6*d/(m*(m*m-1)))
}

// averageRanks returns the places of values in increasing order.
func averageRanks(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(v[i], v[j])
	})
	out := make([]float64, len(v))
	for k, i := range order {
		out[i] = float64(k)
	}
	return out
}

// KendallTau returns the absolute share of concordant less discordant pairs of records.
func KendallTau(a, b []float64) float64 {
	s := 0
	for i := range a {
		for j := range i {
			s += cmp.Compare(a[i], a[j]) * cmp.Compare(b[i], b[j])
		}
	}
	m := float64(len(a))
	return math.Abs(float64(s)) / math.Max(m*(m-1)/2, 1)
}

// HSICOf returns tr(K H L H)/(m-1)^2 with Gaussian kernels. It keeps no matrix.
func HSICOf(a, b []float64, width float64) float64 {
	m := len(a)
	if m < 2 {
		return 0
	}
	k := Ridge{Width: width}
	rowsA := make([]float64, m)
	rowsB := make([]float64, m)
	joint := 0.
	for i := range m {
		for j := range i {
			x := k.kernel(a[i] - a[j])
			y := k.kernel(b[i] - b[j])
			rowsA[i], rowsA[j] = rowsA[i]+x, rowsA[j]+x
			rowsB[i], rowsB[j] = rowsB[i]+y, rowsB[j]+y
			joint += 2 * x * y
		}
	}
	n := float64(m)
	cross := 0.
	allA := 0.
	allB := 0.
	for i := range m {
		x, y := rowsA[i]+1, rowsB[i]+1
		joint++
		cross += x * y
		allA += x
		allB += y
	}
	return (joint - 2*cross/n + allA*allB/(n*n)) / ((n - 1) * (n - 1))
}

// TestBound bounds by how much one replaced test record, of m, moves a score; 0 for IQR,
// which is released in another way.
//
//   - Spearman: 6/(m+1). Taking a record out and inserting ranks (p, q) changes the sum of
//     products of ranks by something between m(m+1)/2 and m^2; so two insertions differ by at
//     most m(m-1)/2, times 12/(m(m^2-1)). Attained.
//   - Kendall: 4/m. Of m(m-1)/2 pairs, m-1 hold the record and each moves by at most 2.
//     Attained.
//   - HSIC: 4m/(m-1)^2. The change is <K'-K, HLH> + <L'-L, HK'H> with K'-K zero but for one
//     row and column, and zero on the diagonal; each inner product is at most 2m, for kernels
//     in [0, 1] with k(x, x) = 1.
func TestBound(name string, m int) float64 {
	n := float64(m)
	switch name {
	case Spearman:
		return 6 / (n + 1)
	case Kendall:
		return 4 / n
	case HSIC:
		return 4 * n / ((n - 1) * (n - 1))
	}
	return 0
}

// slope is the largest slope of a Gaussian kernel of width 1.
const slope = .60653065971263342 // exp(-1/2)

// HSICBound bounds by how much one replaced record, wherever it is, moves the baseline's
// hsic: a test record by [TestBound]; a training record by moving every residual by at most
// eta, hence each entry of a kernel by slope/width times 2 eta at most half of that from its
// middle, so |H(K'-K)H|_F <= m L eta and hsic by L eta (m/(m-1))^2. hsic itself is at most
// (m/(m-1))^2/4.
func HSICBound(r Ridge, n, m int) float64 {
	at := float64(m) / float64(m-1)
	return math.Max(TestBound(HSIC, m), math.Min(slope/ResidualWidth*r.ResidualBound(n), .25)*at*at)
}
