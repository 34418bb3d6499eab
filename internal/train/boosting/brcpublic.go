package boosting

import (
	"context"
	"math"
)

// publicRows holds the public features of all records. It is encoded from a view that contains only columns
// that are public under the relation of the run.
type publicRows struct {
	features []feature
	names    []int // as columns of the run
}

// publicSide trains the public classifier from public features and labels. Its methods take no other data than
// its own classifiers, so its weights are functions of public columns, and no private column can influence
// them.
type publicSide struct {
	rows    publicRows
	labels  []int8
	weights []float64 // v, not normalised; every use divides by their sum
	current *publicClassifier
}

// publicClassifier is a linear classifier of public features.
type publicClassifier struct {
	weighted
	votes []int8  // label times classifier, by record
	edge  float64 // 2 accuracy - 1 under the public weights, exact
}

func newPublicSide(rows publicRows, labels []int8) *publicSide {
	p := &publicSide{
		rows:    rows,
		labels:  labels,
		weights: make([]float64, len(labels)),
	}
	for i := range p.weights {
		p.weights[i] = 1
	}
	return p
}

// best returns the logistic regression of the labels under the current weights. It is refitted only after the
// weights change.
func (p *publicSide) best(ctx context.Context) (*publicClassifier, error) {
	if p.current != nil {
		return p.current, nil
	}
	theta, err := fitLogistic(ctx, p.rows.features, p.labels, p.weights)
	if err != nil {
		return nil, err
	}
	f := &publicClassifier{}
	for k := range p.rows.features {
		w := p.rows.features[k].width()
		f.columns = append(f.columns, p.rows.names[k])
		f.levels = append(f.levels, theta[:w])
		theta = theta[w:]
	}
	f.intercept = theta[0]
	f.votes = agreements(p.labels, p.scores(f))
	sum := 0.
	total := 0.
	for i, v := range f.votes {
		if v != 0 {
			sum += p.weights[i] * float64(v)
			total += p.weights[i]
		}
	}
	if total > 0 {
		f.edge = sum / total
	}
	p.current = f
	return f, nil
}

func (p *publicSide) scores(f *publicClassifier) []float64 {
	scores := make([]float64, len(p.labels))
	for i := range scores {
		scores[i] = f.intercept
	}
	for k := range p.rows.features {
		p.rows.features[k].addScores(scores, f.levels[k])
	}
	return scores
}

// start reweighs the records as after a first model whose margin is half the log odds of f. It returns that
// margin, limited to [-8, 8].
func (p *publicSide) start(f *publicClassifier) []float64 {
	margin := p.scores(f)
	for i, m := range margin {
		margin[i] = min(max(m/2, -8), 8)
		p.weights[i] *= math.Exp(-margin[i] * float64(p.labels[i]))
	}
	p.current = nil
	return margin
}

// reweigh multiplies every weight by exp(-edge y f).
func (p *publicSide) reweigh(f *publicClassifier) {
	largest := 0.
	for i, v := range f.votes {
		p.weights[i] *= math.Exp(-f.edge * float64(v))
		largest = max(largest, p.weights[i])
	}
	for i := range p.weights { // cannot overflow within the maximum number of rounds
		p.weights[i] /= largest
	}
	p.current = nil
}
