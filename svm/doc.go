// Package svm trains linear classifiers under differential privacy. Its
// trainers see the category target itself and answer with a
// [regression.Classifier]: one linear score for two classes, one a class (one
// against the rest) for more. A record in none of the declared classes takes no
// part.
//
// # SVM: perturb the minimiser
//
// [SVM] finds the support vector machine of the training records, with a
// huberised hinge and a penalty on the bias too, and releases it with Gaussian
// noise. The one release is private because the penalty keeps one record from
// moving the minimiser far: R/Lambda, R the norm of the longest row
// ([mechanism.Minimizer] has the proof and holds the rows). That is a statement
// about the minimiser and says nothing about a point on the way to it, so the
// solver ends with a proof of how small the gradient is and has no limit of
// iterations (package internal/hinge). It is the method of docs/methods/svm.md,
// after Chaudhuri, Monteleoni and Sarwate, "Differentially private empirical risk
// minimization" (2011).
//
// [Logistic] of the form [Output] is the same with the logistic loss.
//
// The noise is as large in every direction and the penalty has to pay for the
// worst one, so this is the simple method and not the accurate one.
//
// # Logistic: perturb the gradients
//
// [Logistic] minimises a logistic loss by a few noisy steps of a second-order
// method: one release of the matrix of second moments, which bounds the Hessian
// at every point (Böhning and Lindsay, 1988), then a number of releases of the
// gradient, fixed in advance. The rows are limited to norm B and the slope of the
// loss to 1/2, so a gradient moves by B/2 at most. Nothing needs to converge for
// that, and no record is treated as worse than it is. docs/methods/logistic.md shows by
// how much it is the better method.
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
