package direction

import "math"

// Baselines lists the scores of the baseline.
func Baselines() []string {
	return []string{Spearman, Kendall, HSIC, IQR}
}

// A Baseline is the released result of the baseline for a pair.
type Baseline struct {
	Score       string
	TestOnly    bool // training records count as public
	Train, Test int  // numbers of records, public
	// Difference is the score of the reverse less that of "the first column causes the second",
	// with Laplace noise of Scale: above 0 the first column causes the second. Of the score iqr
	// it follows from Quartiles, and Scale is 0.
	Difference, Scale float64
	// Quartiles are, of the score iqr, the released quartiles of the first column, of the
	// residual of the second, of the second column and of the residual of the first.
	Quartiles []float64
}

// Read returns the direction found by a baseline release. Its stability is the probability that noise of the same size
// around the released difference keeps the sign: at least 1/2. The score iqr has no stability, and its direction is
// always stated.
func (b *Baseline) Read() Reading {
	if b.Score == IQR {
		b.Difference = 0
		for i, q := range b.Quartiles {
			if i%2 == 1 {
				sign := 1.
				if i < 4 {
					sign = -1
				}
				b.Difference += sign * math.Log(math.Max(q-b.Quartiles[i-1], .01))
			}
		}
	}
	r := Reading{
		Preferred: Score{
			Forward:  0,
			Backward: b.Difference,
		}.Prefers(),
		Stability: 1,
	}
	if b.Scale > 0 {
		r.Stability = 1 - .5*math.Exp(-math.Abs(b.Difference)/b.Scale)
	}
	if r.Stability >= Decided {
		r.Direction = r.Preferred
	}
	return r
}
