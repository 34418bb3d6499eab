// Package svm holds the linear support vector machine that is released with noise. It sees
// the category target itself and answers with a [regression.Classifier]: one linear score
// for two classes, one per class (one against the rest) for more. A record in none of the
// declared classes takes no part.
//
// [SVM] finds the support vector machine of the training records, with a
// huberised hinge and a penalty on the bias too, and releases it with Gaussian
// noise. The one release is private because the penalty keeps one record from
// moving the minimiser far: R/Lambda, R the norm of the longest row
// ([mechanism.Minimizer] has the proof and holds the rows). That is a statement
// about the minimiser and says nothing about a point on the way to it, so the
// solver ends with a proof of how small the gradient is and has no limit of
// iterations (package internal/numeric/hinge). It is the method of docs/proofs/svm.md, "Algorithm",
// after Chaudhuri, Monteleoni and Sarwate, "Differentially private empirical risk
// minimization" (2011). Package logistic does the same with the logistic loss.
//
// The noise is as large in every direction and the penalty has to pay for the
// worst one, so this is the simple method and not the accurate one.
//
// # Invariants
//
//   - The number of records enters only as the lower bound that a fit is
//     given, a released number or a public one.
//   - Every table gives a classifier: none without rows, with one class, or with
//     missing cells is an error.
//   - Coefficients are in original units, made of released values, declared and
//     released ranges, and nothing else.
package svm

import (
	"context"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
)

// SVM is the output-perturbed support vector machine; see the package comment.
type SVM struct {
	// Lambda is the penalty of J(w) = sum of losses + Lambda/2 |w|^2, within
	// [linear.LeastLambda, linear.MostLambda] and chosen from public facts; 0 stands for
	// [linear.DefaultLambda].
	Lambda float64

	pure bool // the noise is Laplace
}

// PureForm returns the trainer with Laplace noise.
func (t SVM) PureForm() method.Trainer {
	t.pure = true
	return t
}

// Method describes the trainer.
func (SVM) Method() method.Method {
	return method.Method{
		Name: SVM{}.Name(), Summary: "the support vector machine, released with noise",
		ClassesFrom: 2, Relations: method.EveryRecord(),
		Keys: []method.Key{linear.LambdaKey()},
		New:  func(v method.Values) method.Trainer { return SVM{Lambda: v.Number(linear.LambdaName)} },
	}
}

// Name returns "svm".
func (SVM) Name() string { return "svm" }

// Gathers returns true: the minimiser is that of all rows.
func (SVM) Gathers() bool { return true }

// NeedsCount returns true: the default penalty depends on the number of records.
func (SVM) NeedsCount() bool { return true }

// Plan is that of [linear.PerturbedMinimizer].
func (t SVM) Plan(f method.Facts) (budget.Node, error) { return t.minimizer().Plan(f) }

// Fit trains; see [method.Trainer].
func (t SVM) Fit(ctx context.Context, s *mechanism.Session, d method.Data) (*method.Fit, error) {
	return t.minimizer().Fit(ctx, s, d)
}

func (t SVM) minimizer() linear.PerturbedMinimizer {
	return linear.PerturbedMinimizer{Lambda: t.Lambda, Leaf: "svm", Pure: t.pure}
}
