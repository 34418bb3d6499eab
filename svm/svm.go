// Package svm has the support vector machine, as settings for the field Model of a run.
package svm

// SVM is the linear support vector machine whose minimiser is released with noise (K. Chaudhuri, C. Monteleoni and
// A. Sarwate, "Differentially private empirical risk minimization", 2011, algorithm 1, in sum form; docs/proofs/svm.md, "Algorithm").
// It is a classifier for two or more classes, one against the rest. In a run without a delta the noise is pure.
type SVM struct {
	// Lambda is the penalty of the sum of losses + Lambda/2 |w|^2, from 0.1 to 1e12, chosen from public facts; 0
	// means that it follows from a noisy number of records.
	Lambda float64
}

// Name returns "svm".
func (SVM) Name() string {
	return "svm"
}
