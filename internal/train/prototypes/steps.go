package prototypes

import (
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// movePrototypes takes the steps: each releases the gradient at the current prototypes and updates them; the sums of the
// weights update the priors.
func (r *run) movePrototypes() error {
	steps := r.stepCount()
	slots := r.frame.slotCount()
	numbers := r.recordsPerPrototype()
	velocity := r.zeroMixture()
	mean := r.zeroMixture()
	for t := range steps {
		acc, err := mechanism.Sum[*outerPass](
			r.ctx,
			r.session,
			r.records,
			stepStatistic{r.rows, r.at, r.weightBound()},
		)
		if err != nil {
			return err
		}
		noisy, err := mechanism.GaussianPart(
			r.session,
			stepsLeaf,
			0,
			t,
			steps,
			acc.outer.Bound(),
		)
		if err != nil {
			return err
		}
		noise := r.session.Scale(stepsLeaf) / r.at.One
		hidden := noise * math.Sqrt(float64(slots))
		sums, weights := splitSums(noisy.Value(), slots, r.at.One)
		next := r.zeroMixture() // passes may still use the old ones
		for j, z := range r.at.Centers {
			n := numbers[j]
			curvature := n + stepRidge*hidden + hidden*hidden/n
			for k, v := range z {
				velocity.Centers[j][k] = momentum*velocity.Centers[j][k] +
					(sums[j][k]-weights[j]*v)/curvature
				next.Centers[j][k] = v + velocity.Centers[j][k]
			}
			shortenTo(next.Centers[j], 2*r.whitenedReach())
			velocity.Prior[j] = momentum*velocity.Prior[j] + weights[j]/(n+stepRidge*noise)
			next.Prior[j] = r.at.Prior[j] + velocity.Prior[j]
			if t >= steps-averagedSteps {
				for k, v := range next.Centers[j] {
					mean.Centers[j][k] += v / averagedSteps
				}
				mean.Prior[j] += next.Prior[j] / averagedSteps
			}
		}
		r.at = next
	}
	r.at = mean
	return nil
}

// zeroMixture returns a mixture of the same size with all entries and priors 0.
func (r *run) zeroMixture() mixture {
	m := r.at
	m.Centers = make([][]float64, len(r.at.Centers))
	m.Prior = make([]float64, len(r.at.Centers))
	for j := range m.Centers {
		m.Centers[j] = make([]float64, r.frame.slotCount())
	}
	return m
}

// recordsPerPrototype returns the number of records for each prototype, by the released priors: that of its class divided
// by its prototypes, and at least the mean over all prototypes. Steps are divided by it. With the mean only,
// prototypes of large classes would overshoot.
func (r *run) recordsPerPrototype() []float64 {
	m := len(r.at.Centers)
	each := r.number / float64(m)
	out := make([]float64, m)
	for j, prior := range r.at.Prior {
		out[j] = max(each, each*math.Exp(prior)*float64(r.frame.classCount()))
	}
	return out
}
