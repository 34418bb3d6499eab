package boosting

import (
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
)

const (
	// maxChosenRounds is the largest number of rounds that [chosenRounds] returns.
	maxChosenRounds = 10
	// coefficientPower is the sum of the squared coefficients of the scaled target by the scaled columns that [chosenRounds]
	// assumes. It was fitted to six public tables and compared on others (docs/proofs/boosted-adassp.md, "The number of
	// rounds").
	coefficientPower = 2.5
)

// chosenRounds returns the number of rounds in [1, maxChosenRounds] with the smallest [solver.expectedError].
// It depends only on the released matrix and on facts of the plan: the eigenvalues reflect the number of
// records and of columns, the noise reflects the budget. noise is the standard deviation of the noise in the
// gradient of a single round.
func chosenRounds(s *solver, noise float64) int {
	best := 1
	least := math.Inf(1)
	for rounds := 1; rounds <= maxChosenRounds; rounds++ {
		if x := s.expectedError(noise, rounds); x < least {
			best = rounds
			least = x
		}
	}
	return best
}

// expectedError returns the expected sum of squared errors of the scaled predictions over the training records,
// after T rounds that divide one budget equally. noise is the standard deviation of the noise in the gradient
// if T = 1; with T rounds it is sqrt(T) times as large.
//
// In a direction in which the matrix has the eigenvalue e, a round multiplies the error of the coefficient by f
// = [solver.remaining] and adds noise with the standard deviation sqrt(T) noise k, k = nu/(e + lambda). After T
// rounds the initial error is multiplied by f^T, and the noise has the variance T noise^2 k^2 (1 + f^2 + ... +
// f^(2T-2)). The initial error is the coefficient itself. Its square is unknown and assumed to be
// coefficientPower/d in each of the d directions. An error in the direction contributes e times its square to
// the sum over the records. The noise in the matrix and the clamp are ignored.
func (s *solver) expectedError(noise float64, rounds int) float64 {
	square := coefficientPower / float64(len(s.theta))
	sum := 0.
	for _, e := range s.spectrum.Values {
		if e <= 0 {
			continue
		}
		left := 1.
		series := 0.
		for range rounds {
			series += left
			left *= s.remaining(e) * s.remaining(e)
		}
		deviation := noise * s.shrinkage / (e + s.lambda)
		sum += e * (square*left + float64(rounds)*deviation*deviation*series)
	}
	return sum
}

// singleNoise returns the standard deviation of the noise in the gradient if one round has the whole budget.
func (t BoostedAdaSSP) singleNoise(
	s *mechanism.Session,
	f *linear.Frame,
) float64 {
	sensitivity := math.Sqrt(f.LimitedNorm()) * t.clip()
	if s.Relation() != budget.AddRemove {
		sensitivity *= 2
	}
	return sensitivity / s.Mu(gradientsLeaf)
}
