package boosting

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// diagonalSolver returns a solver whose matrix is diagonal with these eigenvalues.
func diagonalSolver(values []float64, sigma, shrinkage float64) *solver {
	a := mat.NewSymDense(len(values), nil)
	for i, e := range values {
		a.SetSym(i, i, e)
	}
	return newSolver(a, sigma, shrinkage)
}

// TestExpectedError compares the expected error with simulated rounds of a solver on made-up gradients. The mean of
// 20,000 runs is within 4% with probability above 1 - 1e-6: each run is a sum of squares of normal variates with a
// relative standard deviation below 1.5.
func TestExpectedError(t *testing.T) {
	const (
		noise = 3.
		runs  = 20000
	)
	values := []float64{400, 90, 12, 2}
	random := rand.New(rand.NewPCG(1, 2))
	for _, shrinkage := range []float64{1, .4} {
		for _, rounds := range []int{1, 2, 5} {
			mean := 0.
			for range runs {
				s := diagonalSolver(values, 4, shrinkage)
				truth := make([]float64, len(values))
				gradient := make([]float64, len(values))
				for i := range truth {
					truth[i] = random.NormFloat64() *
						math.Sqrt(coefficientPower/float64(len(values)))
				}
				for range rounds {
					for i, e := range values {
						gradient[i] = e*(truth[i]-s.theta[i]) +
							noise*math.Sqrt(float64(rounds))*random.NormFloat64()
					}
					s.step(gradient)
				}
				for i, e := range values {
					mean += e * math.Pow(truth[i]-s.theta[i], 2) / runs
				}
			}
			got := diagonalSolver(values, 4, shrinkage).expectedError(
				noise,
				rounds,
			)
			if math.Abs(got/mean-1) > .04 {
				t.Errorf(
					"shrinkage %v, %d rounds: expected error %v, mean of the runs %v",
					shrinkage,
					rounds,
					got,
					mean,
				)
			}
		}
	}
}

// TestChosenRounds checks that one round is chosen if noise dominates, several if the penalty does, and that the
// number is always in range.
func TestChosenRounds(t *testing.T) {
	for name, c := range map[string]struct {
		values      []float64
		sigma       float64
		noise       float64
		least, most int
	}{
		"few records": {
			[]float64{30, 10, 5, 2},
			10, 100, 1, 1,
		},
		"no noise to speak of": {
			[]float64{3e4, 9e3, 500, 40},
			10,
			1e-3,
			maxChosenRounds,
			maxChosenRounds,
		},
		"in between": {
			[]float64{3e4, 9e3, 500, 40},
			10, 1, 2, 5,
		},
		"no matrix": {[]float64{0, 0}, 1, 1, 1, 1},
		"negative":  {[]float64{-5, -9}, 1, 1, 1, 1},
		"no noise":  {[]float64{5, 9}, 0, 0, 1, maxChosenRounds},
		"unbounded": {
			[]float64{math.MaxFloat64, 1},
			1,
			math.MaxFloat64,
			1,
			maxChosenRounds,
		},
	} {
		got := chosenRounds(diagonalSolver(c.values, c.sigma, 1), c.noise)
		if got < c.least || got > c.most {
			t.Errorf(
				"%s: %d rounds, want %d to %d",
				name, got, c.least, c.most,
			)
		}
	}
}
