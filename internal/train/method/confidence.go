package method

import "context"

// A Choice is the result of a selector that reports how sure it is.
type Choice struct {
	// Picked holds the chosen candidates, by rank for a selector with
	// a list of sizes and increasing otherwise.
	Picked []int
	// Confidence computes the confidence of the choice of the first size columns of Picked from released
	// values only. Without a list of sizes, size is the length of Picked.
	Confidence func(ctx context.Context, size int) (Confidence, error)
}

// Confidence describes how sure a private choice of columns is. It is computed from
// released numbers and public facts (docs/proofs/confidence.md, "What each selector releases"). One of the two fields is set.
type Confidence struct {
	// Probabilities has the posterior probability of each candidate to be among the columns
	// that the same rule would choose from the exact statistics, without noise; nil for a
	// selector that releases no scores.
	Probabilities []float64
	// Gap bounds the error of a choice by the exponential mechanism.
	Gap *Gap
}

// A Gap bounds the error of a choice whose scores are not released: with probability Level
// no choice missed the best score by more than Score.
type Gap struct {
	Score  float64 // in units of the score; +Inf if it is unknown
	Level  float64
	Scores string // names the score
	Reach  string // names the largest score that is possible
	// Rounds reports that every pick was compared with the candidates of its own round, whose scores depend
	// on the picks before. Otherwise every chosen column is compared with all that were left out.
	Rounds bool
}
