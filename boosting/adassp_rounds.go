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
	// assumes. It was fitted to seven public tables and confirmed on six others (docs/proofs/boosted-adassp.md, "The
	// number of rounds").
	coefficientPower = 2
)

// chosenRounds returns the number of rounds in [1, maxChosenRounds] with the smallest [solver.expectedError]. It depends on the
// released matrix and on facts of the plan only: the number of records and that of the columns enter by the
// eigenvalues, and the budget by the noise. noise is the standard deviation of the noise in the gradient if there is
// one round.
func chosenRounds(s *solver, noise float64) int {
	best, least := 1, math.Inf(1)
	for rounds := 1; rounds <= maxChosenRounds; rounds++ {
		if x := s.expectedError(noise, rounds); x < least {
			best, least = rounds, x
		}
	}
	return best
}

// expectedError returns the expected sum of squares, over the training records, of the error in the scaled predictions after T
// rounds that divide one budget equally. noise is the standard deviation of the noise in the gradient if T = 1; that
// of T rounds is sqrt(T) times as large.
//
// In the direction in which the matrix has the eigenvalue e, a round multiplies the error of the coefficient by f =
// [solver.remaining] and adds noise with the standard deviation sqrt(T) noise k, k = nu/(e + lambda). After T rounds the
// first error is multiplied by f^T, and the noise has the variance T noise^2 k^2 (1 + f^2 + ... + f^(2T-2)). The first error is
// the coefficient itself. Its square is unknown and taken to be coefficientPower/d in each of the d directions. An error in the
// direction counts e times in the sum over the records. The noise in the matrix and the clamp are left out.
func (s *solver) expectedError(noise float64, rounds int) float64 {
	square := coefficientPower / float64(len(s.theta))
	sum := 0.
	for _, e := range s.spectrum.Values {
		if e <= 0 {
			continue
		}
		left, series := 1., 0.
		for range rounds {
			series += left
			left *= s.remaining(e) * s.remaining(e)
		}
		deviation := noise * s.shrinkage / (e + s.lambda)
		sum += e * (square*left + float64(rounds)*deviation*deviation*series)
	}
	return sum
}

// singleNoise returns the standard deviation of the noise in the gradient if one round has all of its budget.
func (t BoostedAdaSSP) singleNoise(s *mechanism.Session, f *linear.Frame) float64 {
	sensitivity := math.Sqrt(f.LimitedNorm()) * t.clip()
	if s.Relation() != budget.AddRemove {
		sensitivity *= 2
	}
	return sensitivity / s.Mu(gradientsLeaf)
}
