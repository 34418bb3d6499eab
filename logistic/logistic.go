// Package logistic has logistic regression, as settings for the field Model of a run.
package logistic

// Logistic is linear logistic regression by noisy second-order steps, or by its minimiser with noise
// (docs/proofs/logistic.md, "Algorithm"). It is a classifier for two or more classes, one against the rest, and the default of a run
// with few records.
type Logistic struct {
	// Form is "gradients" (also if empty), which releases noisy gradients and needs a delta, or "output", which
	// releases the minimiser with noise and is less accurate. A run without a delta has the form "output".
	Form string
	// Lambda is the penalty of the form "output", from 0.1 to 1e12; 0 means that it follows from a noisy number
	// of records.
	Lambda float64
}

// Name returns "logistic".
func (Logistic) Name() string {
	return "logistic"
}
