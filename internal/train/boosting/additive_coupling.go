package boosting

import (
	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/train/linear"
)

// coupling predicts how updates of some parts of the model, made after a pass, change the sums of that pass for
// the other parts. It allows all sums of one pass to be used in sequence, as if each had been computed after
// the preceding updates. A curve is represented by its mean and slope; correlations between columns come from
// the initial matrix, under a normal approximation. Errors are of second order in the size of the updates.
type coupling struct {
	b       *booster
	records float64
	moved   []float64 // by entry of x, the constant last: the sum over records of the entry times the update
}

func newCoupling(b *booster) *coupling {
	c := &coupling{
		b:     b,
		moved: make([]float64, b.second.SymmetricDim()),
	}
	c.records = max(b.second.At(c.constant(), c.constant())/(linear.Kappa*linear.Kappa), minRecords)
	return c
}

func (c *coupling) constant() int {
	return len(c.moved) - 1
}

// mean returns the mean of an entry over the records, from the sum of the entry times the constant.
func (c *coupling) mean(sum float64) float64 {
	return sum / linear.Kappa / c.records
}

// add records an update of the predictions by theta times an entry of x.
func (c *coupling) add(theta float64, entry int) {
	for i := range c.moved {
		c.moved[i] += theta * c.b.second.At(i, entry)
	}
}

// moveLine records an update of the coefficients.
func (c *coupling) moveLine(step []float64) {
	var out mat.VecDense
	out.MulVec(c.b.second, mat.NewVecDense(len(step), step))
	for i := range c.moved {
		c.moved[i] += out.AtVec(i)
	}
}

// moveShape records an update of the values of a shape.
func (c *coupling) moveShape(s *shape, step []float64) {
	if s.levels != nil {
		return // such a column has passes of its own
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

// entry returns the entry of x of a shape's column.
func (c *coupling) entry(s *shape) int {
	for _, n := range c.b.counted {
		if n.column == s.column {
			return n.slot
		}
	}
	panic("boosting: a curve of a column that was not counted")
}

// shiftOf returns the change of the sum of the predictions over the records of each step of s. A mean change is
// limited to [-1, 1], half of the target's range.
func (c *coupling) shiftOf(s *shape) []float64 {
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
		along, square, mean = c.moved[e], c.b.second.At(e, e),
			c.mean(c.b.second.At(e, c.constant()))
	}
	slope := 0.
	r := s.regress(s.values, s.groups.centers)
	// Noise in the matrix may make the variance too small: its floor is half of the variance from the counts.
	if v := max(square/c.records-mean*mean, r.variance/2); v > 0 {
		slope = (along/c.records - shift*mean) / v
	}
	for k, n := range s.groups.counts {
		out[k] = n * min(max(shift+slope*(s.groups.centers[k]-r.center), -1), 1)
	}
	return out
}
