package published

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/budget"
)

// ErrSingular is returned when a noisy matrix cannot be solved.
var ErrSingular = errors.New("the noisy matrix is singular")

// BoostedAdaSSP is Boosted AdaSSP (S. Tang and others, "Improved differentially private regression via gradient
// boosting", 2023) as implemented in the public code that the Kendall paper compares with. Rows, with an intercept, and
// gradients are clipped to norm 1.
//
// The Gaussian parameter mu of (epsilon, delta) is used as the standard deviation of the noise in every release, where
// sensitivity/mu would be correct, and the releases are not composed. The smallest eigenvalue is the smallest positive
// one of the noisy matrix.
type BoostedAdaSSP struct {
	Rounds int // 0: 100, as in the Kendall paper
	// Calibrated gives every release the noise that the claim requires, sqrt(rounds + 2)/mu.
	Calibrated bool
}

// deviation returns the standard deviation of the noise in every release.
func (m BoostedAdaSSP) deviation(epsilon, delta float64) float64 {
	mu := budget.GaussianMu(epsilon, delta)
	if m.Calibrated {
		return math.Sqrt(float64(m.rounds()+2)) / mu
	}
	return mu
}

// adasspFailure is the failure probability in the regularisation of AdaSSP.
const adasspFailure = .05

func (m BoostedAdaSSP) rounds() int {
	if m.Rounds == 0 {
		return 100
	}
	return m.Rounds
}

// TrueEpsilon returns the epsilon that the releases guarantee at delta if the run claims
// (epsilon, delta): a matrix, an eigenvalue and one gradient per round, each of sensitivity 1 with noise
// of standard deviation mu unless it is calibrated.
func (m BoostedAdaSSP) TrueEpsilon(epsilon, delta float64) float64 {
	return budget.GaussianEpsilon(math.Sqrt(float64(m.rounds()+2))/m.deviation(epsilon, delta),
		delta)
}

// Fit returns the coefficients of the columns x and, last, the intercept.
func (m BoostedAdaSSP) Fit(
	src Source,
	x [][]float64,
	y []float64,
	epsilon, delta float64,
) ([]float64, error) {
	sigma := m.deviation(epsilon, delta)
	d := len(x) + 1
	rows := clippedRows(x, len(y))
	gram := mat.NewSymDense(d, nil)
	for _, row := range rows {
		gram.SymRankOne(gram, 1, mat.NewVecDense(d, row))
	}
	for i := range d {
		for j := i; j < d; j++ {
			gram.SetSym(i, j, gram.At(i, j)+sigma*normal(src))
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(gram, false) {
		return nil, ErrSingular
	}
	smallest := smallestPositive(eig.Values(nil))
	size := math.Sqrt(float64(d) * math.Log(2*float64(d)*float64(d)/adasspFailure))
	smallest = max(smallest+sigma*normal(src)-sigma*math.Sqrt(math.Log(6/adasspFailure)), 0)
	ridge := max(0, size*sigma-smallest)
	for i := range d {
		gram.SetSym(i, i, gram.At(i, i)+ridge)
	}
	var factor mat.LU
	factor.Factorize(gram)
	theta := mat.NewVecDense(d, nil)
	for range m.rounds() {
		current := theta.RawVector().Data
		gradient := make([]float64, d)
		for i, row := range rows {
			residual := y[i]
			for j, v := range row {
				residual -= v * current[j]
			}
			residual = min(max(residual, -1), 1)
			for j, v := range row {
				gradient[j] += residual * v
			}
		}
		for j := range gradient {
			gradient[j] += sigma * normal(src)
		}
		var step mat.VecDense
		var condition mat.Condition
		if err := factor.SolveVecTo(&step, false, mat.NewVecDense(d, gradient)); err != nil &&
			!errors.As(err, &condition) {
			return nil, ErrSingular
		}
		theta.AddVec(theta, &step)
	}
	return theta.RawVector().Data, nil
}

// smallestPositive returns the smallest positive value of an increasing list, or 0 if all values are at most 0.
func smallestPositive(values []float64) float64 {
	for _, v := range values {
		if v > 0 {
			return v
		}
	}
	return 0
}

// clippedRows returns the rows with an intercept, shortened to norm 1.
func clippedRows(x [][]float64, n int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		row := make([]float64, len(x)+1)
		sum := 1.
		for j, column := range x {
			row[j] = column[i]
			sum += column[i] * column[i]
		}
		row[len(x)] = 1
		for j := range row {
			row[j] /= math.Sqrt(sum) // at least 1 because of the intercept
		}
		out[i] = row
	}
	return out
}

// PredictClipped applies coefficients to rows that are clipped as in Fit.
func PredictClipped(theta []float64, x [][]float64, n int) []float64 {
	out := make([]float64, n)
	for i, row := range clippedRows(x, n) {
		for j, v := range row {
			out[i] += theta[j] * v
		}
	}
	return out
}
