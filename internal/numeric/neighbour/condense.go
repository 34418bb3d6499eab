package neighbour

import (
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// maxPasses is how often [Condense] goes through the records at most.
const maxPasses = 10

// A cover knows of every record the nearest of some of the records. Distances are compared in single
// precision, as those of the specification are: rounding decides between distances that are equal on paper.
type cover struct {
	p        Points
	x        []float32
	distance []float32
	nearest  []int
}

func newCover(p Points) *cover {
	c := &cover{p, make([]float32, len(p.X)), make([]float32, p.Len()), make([]int, p.Len())}
	for k, v := range p.X {
		c.x[k] = float32(v)
	}
	for i := range c.distance {
		c.distance[i] = float32(math.Inf(1))
	}
	return c
}

func (c *cover) row(i int) []float32 {
	return c.x[i*c.p.Dim : (i+1)*c.p.Dim]
}

// addReference takes record i among those that may be nearest.
func (c *cover) addReference(i int) {
	const part = 4096
	at := c.row(i)
	n := c.p.Len()
	_ = parallel.ForEach(context.Background(), (n+part-1)/part, parallel.Workers(n*c.p.Dim),
		func(b int) {
			for q := b * part; q < min((b+1)*part, n); q++ {
				if d := squared32(c.row(q), at); d < c.distance[q] {
					c.distance[q], c.nearest[q] = d, i
				}
			}
		})
}

// isMisclassified reports whether the nearest record of record i is of another class.
func (c *cover) isMisclassified(i int) bool {
	return c.p.Class[c.nearest[i]] != c.p.Class[i]
}

// Condense returns rows of p by which every record of p is assigned its own class (Hart's CNN): it starts with the
// first in the given order and adds each record that the current rows misclassify, until all are correct. The error is
// that of ctx.
func Condense(ctx context.Context, p Points, order []int) ([]int, error) {
	c := newCover(p)
	taken := make([]bool, p.Len())
	out := []int{order[0]}
	taken[order[0]] = true
	c.addReference(order[0])
	for range maxPasses {
		before := len(out)
		for _, i := range order {
			if taken[i] || !c.isMisclassified(i) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			taken[i] = true
			out = append(out, i)
			c.addReference(i)
		}
		if len(out) == before {
			break
		}
	}
	return out, nil
}

// FastCondense returns rows of p by which every record of p finds its own class (Angiulli's FCNN1):
// it begins with the record nearest to the mean of each class, and adds, round by round, to every
// row the nearest record among those that it gets wrong. The result depends on p alone. Two records
// with the same numbers and different classes never agree: of such the row stays wrong. The error
// is that of ctx.
func FastCondense(ctx context.Context, p Points) ([]int, error) {
	c := newCover(p)
	taken := make([]bool, p.Len())
	var out []int
	for next := nearestToCentroids(p); len(next) > 0; next = c.misclassifiedRows(taken) {
		for _, i := range next {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			taken[i] = true
			out = append(out, i)
			c.addReference(i)
		}
	}
	return out, nil
}

// nearestToCentroids returns of each class that has records the one nearest to their mean.
func nearestToCentroids(p Points) []int {
	var out []int
	order := evenlySpaced(p.Len(), p.Len())
	for _, rows := range p.rowsByClass(order) {
		if len(rows) == 0 {
			continue
		}
		mean := make([]float64, p.Dim)
		for _, i := range rows {
			addTo(mean, p.Row(i))
		}
		for k := range mean {
			mean[k] /= float64(len(rows))
		}
		best, least := rows[0], math.Inf(1)
		for _, i := range rows {
			if d := squaredDistance(p.Row(i), mean); d < least {
				best, least = i, d
			}
		}
		out = append(out, best)
	}
	return out
}

// misclassifiedRows returns, for each row that gets records wrong, the nearest of these that is not taken,
// in the order of the rows that they are nearest to first.
func (c *cover) misclassifiedRows(taken []bool) []int {
	best := make(map[int]int)
	var cells []int
	for q := range c.nearest {
		if taken[q] || !c.isMisclassified(q) {
			continue
		}
		k := c.nearest[q]
		old, known := best[k]
		if !known {
			cells = append(cells, k)
		}
		if !known || c.distance[q] < c.distance[old] {
			best[k] = q
		}
	}
	out := make([]int, len(cells))
	for i, k := range cells {
		out[i] = best[k]
	}
	return slices.Clip(out)
}

// squared32 returns the squared distance of two vectors in single precision, by eight sums side by side. The
// conversion forbids fusing, so that it is the same on every processor.
func squared32(a, b []float32) float32 {
	var sums [8]float32
	b = b[:len(a)]
	for k, v := range a {
		d := v - b[k]
		sums[k%8] += float32(d * d)
	}
	return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
}
