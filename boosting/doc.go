// Package boosting holds the trainers that add up small models, each fitted to
// what the ones before it left over.
//
// # Boosted AdaSSP
//
// [BoostedAdaSSP] is the linear one (Tang, Aydore, Kearns, Rho, Roth, Wang,
// Wang, Wu, "Improved differentially private regression via gradient boosting",
// 2023; algorithms.md 3). The matrix of second moments of the features is
// released once. Then every round computes the residual of each record, clamps
// it to [-C, C], releases the sum of features times residuals and moves the
// coefficients by the ridge solution of that right-hand side.
//
// The published algorithm also releases the smallest eigenvalue of the matrix.
// Here the eigenvalues of the released matrix take its place: they are
// post-processing and cost nothing.
//
// # Invariants
//
//   - Rows are encoded, scaled and limited to norm B in fixed point as those of
//     package adassp, and the model shortens rows at prediction likewise.
//   - The number of rounds and the clamp are public and fixed at plan time.
//   - The residual of a record depends on that record and on released
//     coefficients only. The coefficients of a round are public, so later rounds
//     may use them; the accountant covers adaptive draws.
//   - The result does not depend on the order of rows or on the number of
//     threads, and every table gives a model: that of an empty one is noise.
package boosting
