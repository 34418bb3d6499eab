// Package adassp has the trainers that solve linear regression from a noisy matrix of second moments, as settings for
// the field Model of a run.
//
// [JointGram] is the better choice in almost every case. A numeric target gives a linear model; classes give one linear
// score per class, or one for two classes.
package adassp

// JointGram computes the whole linear model from one release, the matrix of second moments of features and target with
// Gaussian noise (after Y.-X. Wang, "Revisiting differentially private linear regression", 2018, and O. Sheffet,
// "Differentially private ordinary least squares", 2017; docs/proofs/joint-gram.md, "Algorithm"). It has no settings. In a run
// without a delta the noise is Laplace noise.
type JointGram struct{}

// Name returns "joint-gram".
func (JointGram) Name() string {
	return "joint-gram"
}

// AdaSSP is algorithm 2 of Wang (2018), as published except for its accounting: it releases the smallest eigenvalue of
// X^T X, the matrix X^T X and the vector X^T y, each with Gaussian noise (docs/proofs/adassp.md, "Algorithm"). It needs a delta.
type AdaSSP struct {
	// EigenvalueShare, GramShare and CrossShare are the shares of the three releases in the budget of the model,
	// each above 0 and below 1. If all are set they must add up to 1. Those that are 0 divide the remainder in
	// proportion to the defaults, which are 0.10, 0.45 and 0.45.
	EigenvalueShare, GramShare, CrossShare float64
}

// Name returns "adassp".
func (AdaSSP) Name() string {
	return "adassp"
}
