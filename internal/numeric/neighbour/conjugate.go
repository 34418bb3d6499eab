package neighbour

import (
	"context"

	"gonum.org/v1/gonum/optimize"
)

// The optimisers of [Compress].
const (
	// Adam is stochastic gradient descent over batches; see descent.
	Adam = "adam"
	// ConjugateGradient is the nonlinear conjugate gradient of the thesis ("Implementation", section 3.2), over all records at
	// once and from the records that vectors start as.
	ConjugateGradient = "conjugate-gradient"
)

// Optimizers lists them, the default first.
func Optimizers() []string {
	return []string{Adam, ConjugateGradient}
}

// minimizeConjugate minimises loss by conjugate gradients, moving at in place, in at most the given number of iterations. loss
// returns the value and its gradient. It stops early if a line search finds no improvement. The error is that of loss.
func minimizeConjugate(
	ctx context.Context,
	at []float64,
	iterations int,
	loss func(at []float64) (float64, []float64, error),
) error {
	var failed error
	var value float64
	var gradient, known []float64
	evaluate := func(x []float64) {
		if failed != nil || equalVectors(known, x) {
			return
		}
		if failed = ctx.Err(); failed == nil {
			value, gradient, failed = loss(x)
		}
		known = append(known[:0], x...)
	}
	problem := optimize.Problem{
		Func: func(x []float64) float64 {
			evaluate(x)
			return value
		},
		Grad: func(to, x []float64) {
			evaluate(x)
			copy(to, gradient)
		},
		Status: func() (optimize.Status, error) {
			if failed != nil {
				return optimize.Failure, failed
			}
			return optimize.NotTerminated, nil
		},
	}
	best, err := optimize.Minimize(
		problem,
		at,
		&optimize.Settings{
			MajorIterations: iterations,
			Converger:       optimize.NeverTerminate{},
		},
		&optimize.CG{},
	)
	switch {
	case failed != nil:
		return failed
	case best != nil: // also where the line search found nothing better
		copy(at, best.X)
		return nil
	}
	return err
}

func equalVectors(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i, x := range a {
		if x != b[i] {
			return false
		}
	}
	return true
}
