// Package selection has the methods that choose the features of a model, as settings for the field Selector of a run.
//
// [None] and [Fixed] make no release and are free. All others choose privately and spend a share of the budget: a tenth
// unless the run sets the share "selection". The candidates are the columns of the table except the target and the
// excluded columns; a category column is one candidate.
package selection

// A Selector is a method of feature selection with its settings: a value of a type of this package. A run rejects values
// of other types, because a selector of another module could publish what no mechanism protects.
type Selector interface {
	// Name returns the name of the method in a recipe.
	Name() string
}

// None keeps every candidate.
type None struct{}

// Name returns "none".
func (None) Name() string {
	return "none"
}

// Fixed keeps the listed candidates, which must be public knowledge.
type Fixed struct {
	Features []string // names of columns, each once
}

// Name returns "fixed".
func (Fixed) Name() string {
	return "fixed"
}

// Kendall picks K features one by one by the exponential mechanism on rank correlations (DPKendall of T. Dick,
// J. Gillenwater and M. Joseph, "Better private linear regression through better private feature selection", 2023, with
// the sound counts and scales of docs/proofs/kendall.md, "Algorithm"). Ranks need no range of any column. The target is a number or
// one of two classes. A category column ranks by the order in which its categories are declared; a missing number ranks
// below every other.
type Kendall struct {
	K int // from 1 to the number of candidates - 1
}

// Name returns "kendall".
func (Kendall) Name() string {
	return "kendall"
}

// SubLasso picks K features by the votes of lasso fits on disjoint buckets of records (D. Kifer, A. Smith and
// A. Thakurta, "Private convex empirical risk minimization and high-dimensional regression", 2012, made sound as in
// docs/proofs/sublasso.md, "Algorithm"). It needs no range of any column. The target is a number or one of two classes.
type SubLasso struct {
	K       int     // from 1 to the number of candidates - 1
	Buckets int     // from 2 to 1,000,000; 0 means that a noisy number of records determines it
	Lambda  float64 // penalty on standardised columns, in (0, 1); 0 means 0.1
}

// Name returns "sublasso".
func (SubLasso) Name() string {
	return "sublasso"
}

// SIS picks the K features with the largest marginal dependence on the target in one private choice (DP-SIS of "Feature
// selection from differentially private correlations", 2024, with the sound scores of docs/proofs/sis.md, "Algorithm"). Unlike
// [Kendall] it may pick two columns with the same information; in return the price of a good choice is lower for a large
// K. The target is a number or one of two classes.
type SIS struct {
	K int // from 1 to the number of candidates - 1
	// Score ranks the columns: "tau", the rank correlation; "correlation", for which the ranges of the columns are
	// found if they are not declared; "product", which also needs that their means are known; or "auto" (also if
	// empty), which is "correlation" for at most 1000 candidates with a category column, and otherwise "tau".
	Score string
	// TopK is the form of the choice: "one-shot" (also if empty), "peeling", "lipschitz" or
	// "lipschitz-exponential".
	TopK string
	// Gamma, in [0, 1), weighs the best column left out against the worst one chosen in the Lipschitz forms; nil
	// means 1/2.
	Gamma *float64
}

// Name returns "sis".
func (SIS) Name() string {
	return "sis"
}

// GreedyGram picks columns one by one, each for the largest part of the target's variance that it explains per unit of
// its cost. All picks follow from one noisy matrix of second moments (docs/proofs/greedy-gram.md, "Algorithm"), so it avoids columns
// that repeat earlier ones, and the number of picks is free. It needs a delta. The target is a number or a class.
type GreedyGram struct {
	K      int                // largest number of columns; 0 means no limit with a Budget, and 5 without
	Budget float64            // largest total cost of the columns; 0 means no limit. It is no privacy budget
	Costs  map[string]float64 // of columns by name, from 0 to 1e9; others cost 1
	Sizes  []int              // numbers of columns to try, increasing; see [DPFSDR]
}

// Name returns "greedy-gram".
func (GreedyGram) Name() string {
	return "greedy-gram"
}

// DPFSDR picks features for a classifier that separate the classes, do not repeat better ones, and together promise the
// best accuracy ("Differentially private feature selection based on dynamic relevance for correlated data", 2022, made
// sound as in docs/proofs/dpfsdr.md, "Algorithm"). Its only release is one of class statistics, so the number of features is
// free. It needs a delta and a target of classes.
//
// With Sizes a private selection also tries the model with the first columns of the order, for each of these numbers of
// columns (docs/proofs/dpfsdr.md, "Private selection of the size"); the run's SizeRuns is the mean number of tries.
type DPFSDR struct {
	K     int  // largest number of features; 0 means 10
	Exact bool // pick K features in the order of dynamic relevance, whatever accuracy they promise
	// Correlated is the degree of correlation, in (0, 1], from which the less important of two columns is dropped;
	// 0 means 0.95.
	Correlated float64
	Sizes      []int // numbers of features to try, increasing, at least two; K is then 0 and Exact false
}

// Name returns "dpfsdr".
func (DPFSDR) Name() string {
	return "dpfsdr"
}

// DPFS picks features for a classifier in the order of their F-scores, each if it improves the promised accuracy: the
// baseline of that name in the paper of [DPFSDR] (algorithm 4), on the same release.
type DPFS struct {
	K     int   // as in DPFSDR
	Exact bool  // pick the K largest F-scores
	Sizes []int // as in DPFSDR
}

// Name returns "dpfs".
func (DPFS) Name() string {
	return "dpfs"
}

// CRFS is [DPFS] after the less important of two correlated columns has been dropped (T. Zhang, T. Zhu, P. Xiong, H. Huo,
// Z. Tari and W. Zhou, "Correlated differential privacy: feature selection in machine learning", 2020), on the release
// of [DPFSDR].
type CRFS struct {
	K          int     // as in DPFSDR
	Exact      bool    // pick the K largest F-scores
	Correlated float64 // as in DPFSDR
	Sizes      []int   // as in DPFSDR
}

// Name returns "crfs".
func (CRFS) Name() string {
	return "crfs"
}
