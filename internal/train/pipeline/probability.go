package pipeline

import (
	"math"

	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// If the noise hides too many of the records, no probabilities are computed from the counts: both classes
// together must have enoughRecords standard deviations of the noise in one row of bins, and each class
// enoughOfClass.
const (
	enoughRecords = 10
	enoughOfClass = 2.5
)

// scoreCounts is the noisy number of records in cutoffBins bins of the score, equal parts of [-1, 1], of the first class
// and then of the second.
type scoreCounts method.ScoreCounts

// classTotals returns the numbers of records of both classes.
func (c *scoreCounts) classTotals() (first, second float64) {
	for b := range cutoffBins {
		first += c.Counts[b]
		second += c.Counts[cutoffBins+b]
	}
	return first, second
}

// probabilityCurve returns the probability of the second class as a function of the score, or nil if there is too much
// noise to estimate it.
func (c *scoreCounts) probabilityCurve() *regression.Probability {
	first, second := c.classTotals()
	noise := c.Sigma * math.Sqrt(cutoffBins)
	if first+second < enoughRecords*noise || min(first, second) < enoughOfClass*noise {
		return nil
	}
	return newCalibration(c.Counts[:cutoffBins], c.Counts[cutoffBins:], c.Sigma).fittedCurve()
}

func sumOf(list []float64) float64 {
	sum := 0.
	for _, x := range list {
		sum += x
	}
	return sum
}
