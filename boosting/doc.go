// Package boosting holds the trainers that add up small models, each fitted to
// what the ones before it left over.
//
// # Boosted AdaSSP
//
// [BoostedAdaSSP] is the linear one (Tang, Aydore, Kearns, Rho, Roth, Wang,
// Wang, Wu, "Improved differentially private regression via gradient boosting",
// 2023; docs/proofs/boosted-adassp.md). The matrix of second moments of the features is
// released once. Then every round computes the residual of each record, clamps
// it to [-C, C], releases the sum of features times residuals and moves the
// coefficients by the ridge solution of that right-hand side. Unless a recipe sets it, the number of rounds follows from
// the released matrix.
//
// The published algorithm also releases the smallest eigenvalue of the matrix.
// Here the eigenvalues of the released matrix take its place: they are
// post-processing and cost nothing.
//
// # The additive booster
//
// [Additive] adds curves to a line. It starts from the joint noisy Gram fit and
// releases once how many records lie in each of many bins of every numeric
// feature. Then every epoch releases the size of the residuals, by which they
// are clamped; the sums of features times residuals, by which the line is
// corrected; and for one curve after the other the sums of residuals by step.
// Where records are many, all of these sums come from one pass, and what the
// corrections before one add to it is foreseen from released numbers.
// One more curve is that of the score, the start's own prediction. All
// releases of a part are averaged, and the part is the posterior mean given
// the average, with a prior of highest marginal likelihood: the noise is known,
// so that how much to smooth is not a setting. docs/proofs/boosted-additive.md has the
// method, its sensitivities and how it was arrived at.
//
// # The kernel booster
//
// [Kernel] is the additive booster with stages of one more part: coefficients of the features of a Gaussian kernel
// of all columns, whose metric and landmarks follow from what was released before. A record adds a vector of length 1 times
// its clamped residual to a release of them, whatever the number of columns. Where records are few it is the
// additive booster. The method and its proof: docs/proofs/boosted-kernel.md, "Algorithm". Package kernelmap
// has the features, in integers.
//
// # Boosting with random classifiers
//
// [BRC] is a classifier ("Classification with partially private features", 2023;
// docs/proofs/brc.md). A random classifier is drawn without the data and what is
// released of it is one number, how well it agrees with the labels under private
// weights; where some columns are public, a logistic regression of those, under
// public weights of its own, stands beside it. Private weights are clipped and
// never normalised, so that one record moves no other's; public weights belong to
// an object that holds public columns only. docs/proofs/brc.md has the method, what of
// the paper's claims holds, and when to use it.
//
// # Invariants
//
//   - Rows are encoded, scaled and limited to norm B in fixed point as those of
//     package adassp, and the model of BoostedAdaSSP shortens rows at prediction
//     likewise; that of Additive shortens them in what is released only.
//   - The clamp and the budget of all rounds together are public and fixed at plan time. The number of rounds is fixed at
//     plan time too, or before the first gradient by what was released until then.
//   - The residual of a record depends on that record and on released
//     coefficients only. The coefficients of a round are public, so later rounds
//     may use them; the accountant covers adaptive draws.
//   - The result does not depend on the order of rows or on the number of
//     threads, and every table gives a model: that of an empty one is noise.
//
// Records without a number as their target are the caller's to leave out
// ([github.com/dptrain/dptrain/dataset.View.Known]); BRC leaves out those in no class by itself.
package boosting
