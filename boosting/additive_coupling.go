package boosting

import (
	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/train/linear"
)

// coupling says what parts of the model that moved since a pass have added to the predictions of the records of a step of
// another: so all sums of one pass can be used in turn, each as if it had been asked for after the moves
// before it. A curve counts with its mean and its slope, and what goes with a column is read from
// the matrix of the start, as in a normal law. Errors are of second order, and become small as the moves do.
type coupling struct {
	b       *booster
	records float64
	moved   []float64 // by entry of x, the constant last: the sum of the entry times what was added
}

func newCoupling(b *booster) *coupling {
	c := &coupling{b: b, moved: make([]float64, b.second.SymmetricDim())}
	c.records = max(b.second.At(c.constant(), c.constant())/(linear.Kappa*linear.Kappa), minRecords)
	return c
}

func (c *coupling) constant() int { return len(c.moved) - 1 }

// mean returns the mean over the records, given the sums of an entry times the constant.
func (c *coupling) mean(sum float64) float64 { return sum / linear.Kappa / c.records }

// add takes in that theta times an entry of x was added.
func (c *coupling) add(theta float64, entry int) {
	for i := range c.moved {
		c.moved[i] += theta * c.b.second.At(i, entry)
	}
}

// moveLine takes in a step of the coefficients.
func (c *coupling) moveLine(step []float64) {
	var out mat.VecDense
	out.MulVec(c.b.second, mat.NewVecDense(len(step), step))
	for i := range c.moved {
		c.moved[i] += out.AtVec(i)
	}
}

// moveShape takes in a step of the values of a shape.
func (c *coupling) moveShape(s *shape, step []float64) {
	if s.levels != nil {
		return // it has a pass of its own, as all shapes beside it have
	}
	r := s.regress(step, s.groups.centers)
	mean := r.mean
	slope := r.slope
	if s.column == scoreColumn {
		for i := range c.moved {
			c.moved[i] += slope * c.b.score[i]
		}
		mean -= slope * c.mean(c.b.score[c.constant()])
	} else {
		entry := c.entry(s)
		c.add(slope, entry)
		mean -= slope * c.mean(c.b.second.At(entry, c.constant()))
	}
	c.add(mean/linear.Kappa, c.constant())
}

// entry returns the entry of x of the column of a curve.
func (c *coupling) entry(s *shape) int {
	for _, n := range c.b.counted {
		if n.column == s.column {
			return n.slot
		}
	}
	panic("boosting: a curve of a column that was not counted")
}

// on returns by how much the moves raised the sum of the predictions of the records of each step. A mean is
// limited to [-1, 1], half of the target's range.
func (c *coupling) on(s *shape) []float64 {
	out := make([]float64, len(s.values))
	if s.levels != nil {
		return out
	}
	shift := c.mean(c.moved[c.constant()])
	var along, square, mean float64
	if s.column == scoreColumn {
		for i, t := range c.b.start {
			along += t * c.moved[i]
			square += t * c.b.score[i]
		}
		mean = c.mean(c.b.score[c.constant()])
	} else {
		e := c.entry(s)
		along, square, mean = c.moved[e], c.b.second.At(e, e), c.mean(c.b.second.At(e, c.constant()))
	}
	slope := 0.
	r := s.regress(s.values, s.groups.centers)
	// The noise of the matrix may hide a variance: half of the one by counts is its floor.
	if v := max(square/c.records-mean*mean, r.variance/2); v > 0 {
		slope = (along/c.records - shift*mean) / v
	}
	for k, n := range s.groups.counts {
		out[k] = n * min(max(shift+slope*(s.groups.centers[k]-r.center), -1), 1)
	}
	return out
}
