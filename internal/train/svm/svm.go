// Package svm provides the linear support vector machine, released with noise. It trains on the category target
// itself and returns a [regression.Classifier]: one linear score for two classes, one per class
// (one-versus-rest) for more. A record in none of the declared classes is ignored.
//
// [SVM] computes the support vector machine of the training records, with a huberised hinge and a penalty that
// includes the bias, and releases it with Gaussian noise. The release is private because the penalty limits the
// effect of one record on the minimiser: R/Lambda, with R the norm of the longest row ([mechanism.Minimizer]
// has the proof and holds the rows). This bound is about the minimiser and does not extend to an approximation
// of it, so the solver ends with a proof of how small the gradient is and has no limit on iterations (package
// internal/numeric/hinge). The method is that of docs/proofs/svm.md, "Algorithm", after Chaudhuri, Monteleoni
// and Sarwate, "Differentially private empirical risk minimization" (2011). Package logistic does the same with
// the logistic loss.
//
// The noise is equally large in every direction and the penalty must cover the worst one, so this method is
// simple rather than accurate.
//
// # Invariants
//
//   - The number of records enters only through the lower bound given to a fit, which is released or public.
//   - Every table gives a classifier: a table without rows, with one class only, or with missing cells is not an
//     error.
//   - Coefficients are in original units. They are computed from released values and from declared and released
//     ranges only.
package svm

import (
	"context"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	settings "github.com/dptrain/dptrain/svm"
)

// SVM is the output-perturbed support vector machine; see the package comment.
type SVM struct {
	// Lambda is the penalty of J(w) = sum of losses + Lambda/2 |w|^2, in [linear.LeastLambda,
	// linear.MostLambda], chosen from public facts; 0 means [linear.DefaultLambda].
	Lambda float64

	pure bool // use Laplace noise
}

// PureForm returns the trainer with Laplace noise.
func (t SVM) PureForm() method.Trainer {
	t.pure = true
	return t
}

// Method describes the trainer.
func (SVM) Method() method.Method {
	return method.Method{
		Name:        SVM{}.Name(),
		Summary:     "linear support vector machine, released with noise",
		ClassesFrom: 2,
		Relations:   method.EveryRecord(),
		Keys:        []method.Key{linear.LambdaKey()},
		Is:          method.HasType[SVM],
		FromSettings: method.FromSettings(func(x settings.SVM) method.Trainer {
			return SVM{Lambda: x.Lambda}
		}),
		New: func(v method.Values) method.Trainer {
			return SVM{Lambda: v.Number(linear.LambdaName)}
		},
	}
}

// Name returns "svm".
func (SVM) Name() string {
	return "svm"
}

// Gathers returns true: the minimiser depends on all rows at once.
func (SVM) Gathers() bool {
	return true
}

// NeedsCount returns true: the default penalty depends on the number of records.
func (SVM) NeedsCount() bool {
	return true
}

// Plan implements [method.Trainer]; see [linear.PerturbedMinimizer].
func (t SVM) Plan(f method.Facts) (budget.Node, error) {
	return t.minimizer().Plan(f)
}

// Fit trains; see [method.Trainer].
func (t SVM) Fit(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (*method.Fit, error) {
	return t.minimizer().Fit(ctx, s, d)
}

func (t SVM) minimizer() linear.PerturbedMinimizer {
	return linear.PerturbedMinimizer{
		Lambda: t.Lambda,
		Leaf:   "svm",
		Pure:   t.pure,
	}
}
