package direction

// The smallest and the largest number of bins per column.
const (
	MinBins = 4
	MaxBins = 32
)

// Decided is the least stability of a direction that is stated.
const Decided = .9

// Dependent is the least dependence of a pair with a direction that is stated: columns that
// do not depend on each other reach it in 2 of 101 cases.
const Dependent = .99

// MaxColumns is the largest number of columns for which all pairs are examined.
const MaxColumns = 20

// A Column is a column of a study with the range that was cut into bins.
type Column struct {
	Name         string
	Lower, Upper float64
	Declared     bool
	// Unread reports that no range was found, so that the values of the column are unknown.
	Unread bool
	// Huge and Tiny report that the numbers of the column are outside the sizes that the search for ranges
	// distinguishes, as in [scaling.Range].
	Huge, Tiny bool
}

// A Pair is the answer for two columns.
type Pair struct {
	X, Y  string
	Noise Noise
	// Histogram holds the noisy counts, rounded to whole numbers.
	Histogram
	Reading
	// Baseline is set in place of Noise and Histogram by the method anm.
	Baseline *Baseline
}

// A Reading is the direction estimated from a noisy histogram.
type Reading struct {
	Signed bool    // the likelihood read signed cells
	Scores []Score // the blend, which decides, first
	Vote   int     // of hsic, anmlik and loci: 1, -1, or 0 for none
	// Preferred is the direction of the smaller blend: 1 if the first column
	// causes the second, -1 for the reverse, 0 for a tie.
	Preferred int
	Stability float64 // share of the redraws that prefer the same
	// Dependence is the share of redraws without any dependence that look less dependent.
	Dependence float64
	Direction  int // Preferred, or 0 if stability or dependence is too small: undecided
}

// Read reads a noisy histogram.
func Read(h Histogram, noise Noise, src Source) Reading {
	r := Reading{Signed: Signed(h.Total(), noise.Scale, h.B)}
	r.Scores = Scores(h, r.Signed)
	r.Vote, r.Preferred = Vote(r.Scores), r.Scores[0].Prefers()
	r.Stability = Stability(h, noise, r.Signed, src)
	r.Dependence = Dependence(h, noise, src)
	if r.Stability >= Decided && r.Dependence >= Dependent {
		r.Direction = r.Preferred
	}
	return r
}

// Bins returns the number of bins for n records and noise of a scale. It was set on made-up
// pairs (docs/proofs/causal.md, "Settings").
func Bins(n, scale float64) int {
	switch {
	case n >= 2000*scale:
		return 12
	case n >= 500*scale:
		return 8
	}
	return 6
}
