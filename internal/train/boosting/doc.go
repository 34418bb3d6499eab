// Package boosting provides trainers that add up small models, each fitted to the residuals of the preceding
// ones.
//
// # Boosted AdaSSP
//
// [BoostedAdaSSP] boosts linear models (Tang, Aydore, Kearns, Rho, Roth, Wang, Wang, Wu, "Improved
// differentially private regression via gradient boosting", 2023; docs/proofs/boosted-adassp.md). The matrix
// of second moments of the features is released once. Then every round computes the residual of each record,
// clamps it to [-C, C], releases the sum of features times residuals and moves the coefficients by the ridge
// solution of that right-hand side. Unless a recipe sets it, the number of rounds is chosen from the released
// matrix.
//
// The published algorithm also releases the smallest eigenvalue of the matrix. Here the eigenvalues of the
// released matrix replace it: they are post-processing and cost no budget.
//
// # The additive booster
//
// [Additive] adds curves to a linear model. It starts from the joint noisy Gram fit and releases once the
// number of records in each bin of every numeric feature. Every epoch then releases the sizes of the residuals,
// which determine their clamp; the sums of features times residuals, which correct the linear part; and, for
// one curve after the other, the sums of residuals by step. With many records all of these sums come from one
// pass, and the effect of earlier corrections on later sums is predicted from released numbers. One more curve
// is that of the score, the prediction of the initial model. All releases of a part are averaged, and the part
// is the posterior mean given the average, with the prior of highest marginal likelihood. Since the noise level
// is known, the amount of smoothing is not a setting. docs/proofs/boosted-additive.md describes the method,
// its sensitivities and its development.
//
// # The kernel booster
//
// [Kernel] is the additive booster with stages of one more part: coefficients of the features of a Gaussian
// kernel of all columns, whose metric and landmarks are computed from earlier releases. A record adds a vector
// of length 1 times its clamped residual to a release, whatever the number of columns. With few records it is
// the additive booster. See docs/proofs/boosted-kernel.md, "Algorithm", for the method and its proof. Package
// kernelmap computes the features, in integer arithmetic.
//
// # Boosting with random classifiers
//
// [BRC] is a classifier ("Classification with partially private features", 2023; docs/proofs/brc.md). A random
// classifier is drawn independently of the data, and one number about it is released: its agreement with the
// labels under private weights. If some columns are public, it competes with a logistic regression on those,
// under public weights of its own. Private weights are clipped and never normalised, so that one record does
// not affect the weights of others; public weights belong to an object that holds public columns only.
// docs/proofs/brc.md describes the method, which of the paper's claims hold, and when to use it.
//
// # Invariants
//
//   - Rows are encoded, scaled and limited to norm B in fixed point as in package adassp, and the model of
//     BoostedAdaSSP shortens rows at prediction in the same way; Additive shortens them in its releases only.
//   - The clamp and the budget of all rounds together are public and fixed at plan time. The number of rounds is
//     fixed at plan time too, or before the first gradient from earlier releases.
//   - The residual of a record depends on that record and on released coefficients only. The coefficients of a
//     round are public, so later rounds may use them; the accountant covers adaptive draws.
//   - The result does not depend on the order of rows or on the number of threads. Every table gives a model: that
//     of an empty table is noise.
//
// Callers must leave out records whose target is not a number
// ([github.com/dptrain/dptrain/dataset.View.Known]); BRC itself leaves out records in no class.
package boosting
