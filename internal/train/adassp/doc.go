// Package adassp provides the trainers that solve linear regression from a noisy matrix of second moments.
//
// [JointGram] is the default trainer of dptrain. Every record is one fixed-point row z = (x', y', kappa) of
// norm at most B. The sum of z z^T is released once with isometric Gaussian noise, and the whole linear model
// is computed from it, without separate releases of X^T y, of the smallest eigenvalue or of the residual
// variance (docs/proofs/joint-gram.md, after Wang 2018, "Revisiting differentially private linear regression",
// and Sheffet 2017 for the joint matrix). A shortened row has a smaller weight on both sides of the equation,
// so the model is an ordinary linear one.
//
// If only declared private columns may change and the target is public, the moments of public entries are exact
// and only those of private entries are released; only the private part of a row is limited
// (docs/proofs/brc.md).
//
// [AdaSSP] is Wang's algorithm as published, with three releases, for comparison. Its rows hold the features
// only; the target is not shortened with them. It therefore fits the target as a function of the *shortened*
// row, and its model shortens rows at prediction as training did. Code that the trainers share with each other
// and with other packages is in internal/train/linear.
//
// Callers must leave out records without a usable target ([github.com/dptrain/dptrain/dataset.View.Known]).
package adassp
