package pipeline

import (
	"math"

	"github.com/dptrain/dptrain/internal/method"
	"github.com/dptrain/dptrain/regression"
)

// Probabilities of two classes are read from the counts that the cutoff is read
// from: a logistic curve through the shares of the second class (J. C. Platt,
// "Probabilistic outputs for support vector machines", 1999), in groups of bins, since in
// single bins the noise is larger than the counts. It is all post-processing.
const (
	chanceGroups = 8
	// The counts of both classes together must be enoughRecords standard deviations of
	// the noise in one row of bins, and those of either class enoughOfClass.
	enoughRecords, enoughOfClass = 10, 2.5
	chanceSteps                  = 50
	chanceGain                   = 1e-12
	// steepest is the largest slope: the curve then rises from .02 to .98 within a bin.
	steepest = 256
)

// scoreCounts are counts in cutoffBins bins of [-1, 1].
type scoreCounts method.ScoreCounts

// totals are the numbers of records of both classes.
func (c *scoreCounts) totals() (first, second float64) {
	for b := range cutoffBins {
		first += c.Counts[b]
		second += c.Counts[cutoffBins+b]
	}
	return first, second
}

// probability returns the curve; nil where the noise hides too much.
func (c *scoreCounts) probability() *regression.Probability {
	first, second := c.totals()
	noise := c.Sigma * math.Sqrt(cutoffBins)
	if first+second < enoughRecords*noise || min(first, second) < enoughOfClass*noise {
		return nil
	}
	return logisticCurve(c.groups())
}

// groups joins the bins, in order, into chanceGroups groups of about equal mass. A group has
// the sums of its cells, at least 0, and the mean score.
func (c *scoreCounts) groups() (score, first, second []float64) {
	mass := make([]float64, cutoffBins)
	all := 0.
	for b := range mass {
		mass[b] = max(c.Counts[b]+c.Counts[cutoffBins+b], 0)
		all += mass[b]
	}
	score, first, second = make([]float64, chanceGroups), make([]float64, chanceGroups), make([]float64, chanceGroups)
	weight := make([]float64, chanceGroups)
	below := 0.
	for b, m := range mass {
		// A bin belongs to the group that its middle is in.
		g := min(int((below+m/2)/all*chanceGroups), chanceGroups-1)
		below += m
		first[g] += c.Counts[b]
		second[g] += c.Counts[cutoffBins+b]
		score[g] += m * gridEdge(float64(b)+.5)
		weight[g] += m
	}
	for g := range score {
		first[g], second[g] = max(first[g], 0), max(second[g], 0)
		if weight[g] > 0 {
			score[g] /= weight[g]
		}
	}
	return score, first, second
}

// logisticCurve fits 1/(1 + exp(-(a + b s))), b >= 0, to counts of two classes at
// scores s by Newton's method on the binomial likelihood. A step that would lower it is
// halved.
func logisticCurve(score, first, second []float64) *regression.Probability {
	p, q := total(second), total(first)
	a, b := math.Log((p+1)/(q+1)), 0.
	best := likelihood(a, b, score, first, second)
	for range chanceSteps {
		da, db := newtonStep(a, b, score, first, second)
		next := math.Inf(-1)
		size := 1.
		for ; size > chanceGain; size /= 2 {
			if next = likelihood(a+size*da, b+size*db, score, first, second); next >= best {
				break
			}
		}
		if !(next >= best) || math.Abs(b+size*db) > steepest {
			break
		}
		a, b, best = a+size*da, b+size*db, next
		if math.Abs(size*da)+math.Abs(size*db) < chanceGain {
			break
		}
	}
	if b < 0 {
		a, b = math.Log((p+1)/(q+1)), 0
	}
	return &regression.Probability{Intercept: a, Slope: b}
}

// newtonStep returns the step from a and b; 0 where the likelihood is flat.
func newtonStep(a, b float64, score, first, second []float64) (da, db float64) {
	var ga, gb, haa, hab, hbb float64
	for i, s := range score {
		n := first[i] + second[i]
		pi := regression.Probability{Intercept: a, Slope: b}.At(s)
		g, h := second[i]-n*pi, n*pi*(1-pi)
		ga, gb = ga+g, gb+g*s
		haa, hab, hbb = haa+h, hab+h*s, hbb+h*s*s
	}
	det := haa*hbb - hab*hab
	if !(det > 1e-12*haa*hbb) {
		return 0, 0
	}
	return (hbb*ga - hab*gb) / det, (haa*gb - hab*ga) / det
}

// likelihood is the logarithm of that of the counts.
func likelihood(a, b float64, score, first, second []float64) float64 {
	sum := 0.
	for i, s := range score {
		z := a + b*s
		sum -= second[i]*softplus(-z) + first[i]*softplus(z)
	}
	return sum
}

// softplus is ln(1 + e^z).
func softplus(z float64) float64 { return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }

func total(list []float64) float64 {
	sum := 0.
	for _, x := range list {
		sum += x
	}
	return sum
}
