package pipeline

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// Bins in which the scores of held-out records are counted. They are computed before the held-out part is read,
// from released counts of the training part if there are any, otherwise from the method alone
// (docs/proofs/classification.md, "The held-out metric").
const (
	// scoreBins is the number of bins. manyScoreBins is used if each class has more than manyRecords standard
	// deviations of the noise in its row of that many bins.
	scoreBins     = 8
	manyScoreBins = 32
	manyRecords   = 40
)

// equalBins returns the edges of equal bins on a scale: of [-1, 1], of [0, 1], or of the probability that
// corresponds to log odds.
func equalBins(scale method.Scale, bins int) []float64 {
	edges := make([]float64, 0, bins-1)
	for k := 1; k < bins; k++ {
		x := float64(k) / float64(bins)
		switch scale {
		case method.Shares:
		case method.LogOdds:
			x = math.Log(x / (1 - x))
		default:
			x = 2*x - 1
		}
		edges = append(edges, x)
	}
	return edges
}

// quantileBins returns at most bins-1 edges on the grid of the counted bins: the k/bins quantiles of the mean
// of both classes' distributions according to their noisy counts, with the edge nearest to the cutoff replaced
// by the cutoff. Quantiles of all records would put the noise of a rare class into bins that it never enters.
func (c *scoreCounts) quantileBins(bins int) []float64 {
	first := 0.
	second := 0.
	for b := range cutoffBins {
		first += max(c.Counts[b], 0)
		second += max(c.Counts[cutoffBins+b], 0)
	}
	total := make([]float64, cutoffBins+1) // up to the end of each bin
	for b := range cutoffBins {
		total[b+1] = total[b]
		if first > 0 {
			total[b+1] += max(c.Counts[b], 0) / first
		}
		if second > 0 {
			total[b+1] += max(c.Counts[cutoffBins+b], 0) / second
		}
	}
	all := total[cutoffBins]
	if all <= 0 {
		return equalBins(method.Signs, bins)
	}
	var edges []float64
	b := 0
	for k := 1; k < bins; k++ {
		want := all * float64(k) / float64(bins)
		for total[b+1] < want {
			b++
		}
		at := math.Round(float64(b) + (want-total[b])/(total[b+1]-total[b]))
		if edge := gridEdge(at); at > 0 && at < cutoffBins && !slices.Contains(edges, edge) {
			edges = append(edges, edge)
		}
	}
	return withEdge(edges, c.Cutoff)
}

// gridEdge returns the score at the upper end of the given number of counted bins.
func gridEdge(bins float64) float64 {
	return bins*(2*scoreRange)/cutoffBins - scoreRange
}

// withEdge replaces the edge that is nearest to one by it, and returns them sorted.
func withEdge(edges []float64, edge float64) []float64 {
	if len(edges) == 0 {
		return []float64{edge}
	}
	near := 0
	for i, e := range edges {
		if math.Abs(e-edge) < math.Abs(edges[near]-edge) {
			near = i
		}
	}
	edges[near] = edge
	return edges
}

// binProbabilities returns the probability of the second class in each bin, at the mean score of its counted records, or
// at the middle of the bin if it has no counted records.
func (c *scoreCounts) binProbabilities(
	edges []float64,
	p *regression.Probability,
) []float64 {
	if p == nil {
		return nil
	}
	out := make([]float64, len(edges)+1)
	for i := range out {
		from := -float64(scoreRange)
		to := float64(scoreRange)
		if i > 0 {
			from = edges[i-1]
		}
		if i < len(edges) {
			to = edges[i]
		}
		sum := 0.
		weight := 0.
		for b := range cutoffBins {
			if middle := gridEdge(float64(b) + .5); middle > from && middle < to {
				n := max(c.Counts[b]+c.Counts[cutoffBins+b], 0)
				sum += n * middle
				weight += n
			}
		}
		score := from/2 + to/2
		if weight > 0 {
			score = sum / weight
		}
		out[i] = p.Evaluate(score)
	}
	return out
}

// scoreBins returns the bins for the held-out scores of a classifier. s is the session of the
// held-out part.
func (r *runner) scoreBins(s *mechanism.Session, f *method.Fit) evaluate.Bins {
	switch {
	case !r.pipeline.isClassification(), r.pipeline.isPure(): // Laplace noise leaves the budget to the confusion matrix
		return evaluate.Bins{}
	case f.Counts == nil:
		return evaluate.Bins{Edges: equalBins(f.Scale, scoreBins)}
	}
	counts := (*scoreCounts)(f.Counts)
	edges := counts.quantileBins(r.binCount(s, counts))
	return evaluate.Bins{
		Edges:  edges,
		Chance: counts.binProbabilities(edges, f.Model.Output().Probability),
		Cutoff: slices.Index(edges, counts.Cutoff) + 1,
	}
}

// binCount returns the number of bins, which depends on the expected number of held-out records of each class
// according to the counts of the training part.
func (r *runner) binCount(s *mechanism.Session, c *scoreCounts) int {
	p := r.pipeline
	train := 1 - p.Holdout
	if p.Search != nil {
		train *= 1 - p.Search.Holdout
	}
	noise := evaluate.ScoreNoise(s, p.Groups != "")
	if p.Budget.Relation != budget.AddRemove {
		noise *= math.Sqrt2
	}
	first, second := c.classTotals()
	if min(first, second)*p.Holdout/train > manyRecords*noise*math.Sqrt(manyScoreBins) {
		return manyScoreBins
	}
	return scoreBins
}
