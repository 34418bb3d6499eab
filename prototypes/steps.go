package prototypes

import (
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// move takes the steps: each releases the gradient at the prototypes of the one before.
func (r *run) move() error {
	steps, slots := r.steps(), r.frame.slots()
	velocity, mean := make([][]float64, len(r.at.Centers)), make([][]float64, len(r.at.Centers))
	for j := range mean {
		velocity[j], mean[j] = make([]float64, slots), make([]float64, slots)
	}
	for t := range steps {
		acc, err := mechanism.Sum[*outerPass](r.ctx, r.session, r.records, stepStatistic{r.rows, r.at, r.clip()})
		if err != nil {
			return err
		}
		noisy, err := mechanism.GaussianPart(r.session, stepsLeaf, 0, t, steps, acc.outer.Bound())
		if err != nil {
			return err
		}
		noise := r.session.Scale(stepsLeaf) / r.at.One
		curvature := r.number/float64(len(velocity)) + stepRidge*noise*math.Sqrt(float64(slots))
		sums, weights := released(noisy.Value(), slots, r.at.One)
		next := make([][]float64, len(velocity)) // passes may still hold the old ones
		for j, z := range r.at.Centers {
			next[j] = make([]float64, slots)
			for k, v := range z {
				velocity[j][k] = momentum*velocity[j][k] + (sums[j][k]-weights[j]*v)/curvature
				next[j][k] = v + velocity[j][k]
			}
			shorten(next[j], 2*r.reach())
			if t >= steps-averaged {
				for k, v := range next[j] {
					mean[j][k] += v / averaged
				}
			}
		}
		r.at.Centers = next
	}
	r.at.Centers = mean
	return nil
}
