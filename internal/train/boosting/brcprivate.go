package boosting

import (
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// privateSide holds the data of the random classifiers: the private features and the private weights. Only
// released agreements leave it.
type privateSide struct {
	features []feature
	names    []int // of the features, as columns of the run
	labels   []int8
	weights  []float64
	stream   *mechanism.PublicStream
	all      bool // classifiers of all columns, as published; else of one
	zero     bool // intercepts are 0
}

// draw returns a random classifier, independent of all records. In the published form every coefficient and the
// intercept are uniform on [-1, 1]. Otherwise the classifier uses one random column: a number is compared with
// a uniform threshold, and the categories are split into two random halves. Such classifiers differ more from
// chance, in either direction, than those in which many random coefficients cancel. The intercept is uniform on
// [-span, span], or 0.
func (p *privateSide) draw() (h weighted, span float64) {
	chosen := make([]int, len(p.features))
	for k := range chosen {
		chosen[k] = k
	}
	if !p.all {
		chosen = []int{p.stream.Uniform(len(p.features))}
	}
	reach := 0.
	for _, k := range chosen {
		levels := make([]float64, p.features[k].width())
		for l := range levels {
			levels[l] = p.stream.Symmetric()
		}
		if p.features[k].codes == nil {
			reach += math.Abs(levels[0])
		}
		h.columns = append(h.columns, p.names[k])
		h.levels = append(h.levels, levels)
	}
	switch {
	case p.all:
		span = 1
	case reach > 0: // thresholds uniform on the range
		span = reach
	default: // halves of about equal size
		span = .5
	}
	if !p.zero {
		h.intercept = p.stream.Symmetric() * span
	}
	return h, span
}

// interceptAt returns candidate c of the grid of intercepts over [-span, span].
func interceptAt(c int, span float64) float64 {
	return span * float64(2*c-(interceptCandidates-1)) / (interceptCandidates - 1)
}

// firstIntercepts returns, for every record, the first candidate intercept with which a classifier without an
// intercept answers +1.
func (p *privateSide) firstIntercepts(h weighted, span float64) []int {
	h.intercept = 0
	scores := p.scores(h)
	first := make([]int, len(scores))
	for i, x := range scores {
		c := math.Ceil((1 - x/span) * (interceptCandidates - 1) / 2) // x + interceptAt(c) >= 0
		first[i] = int(min(max(c, 0), interceptCandidates))
	}
	return first
}

// votes returns, for every record, label times classifier: +1 where they agree,
// -1 where not, 0 without a label.
func (p *privateSide) votes(h weighted) []int8 {
	return agreements(p.labels, p.scores(h))
}

// scores returns the score of every record.
func (p *privateSide) scores(h weighted) []float64 {
	scores := make([]float64, len(p.labels))
	for i := range scores {
		scores[i] = h.intercept
	}
	at := 0
	for k, name := range h.columns {
		for p.names[at] != name {
			at++
		}
		p.features[at].addScores(scores, h.levels[k])
	}
	return scores
}

func agreements(labels []int8, scores []float64) []int8 {
	out := make([]int8, len(labels))
	for i, x := range scores {
		out[i] = labels[i]
		if x < 0 {
			out[i] = -labels[i]
		}
	}
	return out
}

// reweigh multiplies the weight of every record by exp(-alpha y h) and clips it to [l, u]. The weight of a
// record depends only on that record and on released values: it is never normalised.
func (p *privateSide) reweigh(votes []int8, alpha float64, set brcSettings) {
	up := math.Exp(alpha)
	down := math.Exp(-alpha)
	for i, v := range votes {
		switch {
		case v > 0:
			p.weights[i] = set.clip(p.weights[i] * down)
		case v < 0:
			p.weights[i] = set.clip(p.weights[i] * up)
		}
	}
}
