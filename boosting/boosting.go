// Package boosting has the trainers that add up small models, each fitted to the residuals of the preceding ones, as
// settings for the field Model of a run.
//
// [Kernel] is the default of a run with a delta and tight composition. [Additive] is the most accurate model whose
// prediction is a sum of one curve per column.
package boosting

// Additive adds one curve per numeric column to a linear model (docs/proofs/boosted-additive.md, "Algorithm"). The amount of
// smoothing follows from the released numbers, so it has no settings. It needs a delta.
type Additive struct{}

// Name returns "boosted-additive".
func (Additive) Name() string {
	return "boosted-additive"
}

// Kernel is [Additive] with interactions: terms of a Gaussian kernel of all columns, whose metric and landmarks are
// computed from earlier releases (docs/proofs/boosted-kernel.md, "Algorithm"). With few records it is [Additive]. It has no settings
// and needs a delta.
type Kernel struct{}

// Name returns "boosted-kernel".
func (Kernel) Name() string {
	return "boosted-kernel"
}

// BoostedAdaSSP boosts linear models (S. Tang and others, "Improved differentially private regression via gradient
// boosting", 2023; docs/proofs/boosted-adassp.md, "Algorithm"). It needs a delta. The zero value of each field selects its default.
type BoostedAdaSSP struct {
	// Rounds is the number of rounds, at most 1000; 0 chooses it from the released matrix.
	Rounds int
	// Clip is the clamp of residuals in half widths of the target's range, from 0.01 to 4; 0 means 1.
	Clip float64
	// Shrinkage multiplies every step, from 0.01 to 1; 0 means 1.
	Shrinkage float64
	// GramShare is the share of the model's budget that the matrix spends, from 0.01 to 0.99; 0 means 0.5. The
	// gradients spend the rest.
	GramShare float64
}

// Name returns "boosted-adassp".
func (BoostedAdaSSP) Name() string {
	return "boosted-adassp"
}

// BRC is a classifier by boosting with random classifiers ("Classification with partially private features", 2023;
// docs/proofs/brc.md, "Algorithm"). It is meant for runs under budget.SubstitutePrivateColumns, where it also uses the public
// columns without noise. The zero value of each field selects its default.
type BRC struct {
	// Rounds is the number of random classifiers, at most 1000; 0 means 100, or 25 with the form "paper".
	Rounds int
	// Lower and Upper bound the weight of a record in a round: 0 < Lower <= Upper <= 1024 and
	// Upper/Lower <= 1024. Both 0 means the defaults.
	Lower, Upper float64
	// Intercept selects the intercept of a random classifier: "random" (also if empty), "zero", or "exponential",
	// which chooses it by the exponential mechanism in every round.
	Intercept string
	// Form is "gaussian" (also if empty), "laplace", which a run without a delta has, or "paper", the algorithm as
	// published, which is less accurate and not defined under budget.AddRemove.
	Form string
}

// Name returns "brc".
func (BRC) Name() string {
	return "brc"
}
