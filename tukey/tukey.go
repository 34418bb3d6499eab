// Package tukey has the trainer that takes the median of many small linear regressions, as settings for the field Model
// of a run.
package tukey

// Tukey fits a linear regression to each of many disjoint buckets of records and draws a point of high Tukey depth among
// the fits by the exponential mechanism (K. Amin, M. Joseph, M. Ribero, S. Vassilvitskii, "Easy differentially private
// linear regression", 2023; docs/proofs/tukey.md, "Algorithm"). It needs no range of any column, but a delta and many
// records: with too few it abstains, and a run without a Fallback then has no model.
type Tukey struct {
	// Buckets is the number of buckets; 0 means 1.25 times the smallest number that passes the check, or fewer if
	// there are too few records.
	Buckets int
	// CheckShare is the share of epsilon of the check whether the fits agree, in (0, 1), and StepShare the share of
	// one step of depth in the draw, in (0, 1/2): CheckShare + 2 StepShare = 1. A share of 0 is derived from the
	// other one; both 0 means the split that passes with the fewest buckets.
	CheckShare, StepShare float64
}

// Name returns "tukey".
func (Tukey) Name() string {
	return "tukey"
}
