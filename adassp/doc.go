// Package adassp holds the trainers that answer linear regression from a noisy
// matrix of second moments.
//
// [JointGram] is the house's default. Every record is one fixed-point row
// z = (x', y', kappa) of norm at most B; the sum of z z^T is released once with
// isometric Gaussian noise, and everything a linear model needs is read from
// it: no separate release of X^T y, of the smallest eigenvalue or of the
// residual variance (docs/proofs/joint-gram.md, after Wang 2018, "Revisiting
// differentially private linear regression", and Sheffet 2017 for the joint
// matrix). Shortened rows weigh less, on both sides of the equation, and its
// model is an ordinary linear one.
//
// Where only declared private columns may change, and the target is public, the
// moments of public entries are exact and only those of private entries are
// released; the private part of a row is limited alone (docs/proofs/brc.md).
//
// [AdaSSP] is Wang's algorithm as published, with three releases, for
// comparison. Its rows hold the features only; the target is not shortened with
// them. What it fits is therefore the target as a function of the *shortened*
// row, and its model shortens rows at prediction as training did. What the trainers share
// with each other and with other packages is in internal/train/linear.
//
// Records without a target that can be read are the caller's to leave out
// ([github.com/dptrain/dptrain/dataset.View.Known]).
package adassp
