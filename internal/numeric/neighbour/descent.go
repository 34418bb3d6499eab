package neighbour

import (
	"context"
	"math"
)

// The settings of a descent, chosen within the training records of the tables of docs/lab/seed-002.md.
const (
	batchRows = 256
	// batchParts is how many parts a batch is cut into: the results do not depend on how many are worked on
	// at once.
	batchParts = 4
	// stepSize is the first step of a coordinate, in root mean squares of the records' coordinates.
	stepSize = .1
	// firstDecay and secondDecay are those of Adam's running means.
	firstDecay  = .9
	secondDecay = .99
	// leastRoot keeps a step finite where a gradient is 0.
	leastRoot = 1e-8
)

// A descent is stochastic gradient descent by Adam (D. Kingma, J. Ba, "Adam", 2015) over batches of records
// in a changing order, with steps that fall linearly to 0. To every coordinate of a record a new number is
// added each time, as wide as the kernel exp(-γ²d²), so that vectors do not follow single records.
type descent struct {
	of     *loss // where u is x
	passes int
	sizes  []float64 // the first step of each parameter
	jitter float64   // standard deviation of what is added
	source fixedSource
}

// run moves at. gradient returns that of the loss of a batch there. The error is its own or that of ctx.
func (d *descent) run(
	ctx context.Context,
	at []float64,
	gradient func(batch *loss, at []float64) ([]float64, error),
) error {
	n := len(d.of.class)
	steps := 0
	total := d.passes * ((n + batchRows - 1) / batchRows)
	first := make([]float64, len(at))
	second := make([]float64, len(at))
	order := evenlySpaced(n, n)
	for range d.passes {
		d.source.shuffle(order)
		for from := 0; from < n; from += batchRows {
			if err := ctx.Err(); err != nil {
				return err
			}
			batch := d.batchLoss(order[from:min(from+batchRows, n)])
			g, err := gradient(batch, at)
			if err != nil {
				return err
			}
			left := float64(total-steps) / float64(total)
			steps++
			grown := 1 - math.Pow(firstDecay, float64(steps))
			scale := left / grown
			spread := 1 - math.Pow(secondDecay, float64(steps))
			for k, v := range g {
				v /= float64(len(batch.class))
				first[k] += (1 - firstDecay) * (v - first[k])
				second[k] += (1 - secondDecay) * (v*v - second[k])
				at[k] -= d.sizes[k] * scale * first[k] / (math.Sqrt(second[k]/spread) + leastRoot)
			}
		}
	}
	return nil
}

// batchLoss returns some of the records with numbers added.
func (d *descent) batchLoss(rows []int) *loss {
	p := Points{
		Dim:   d.of.dim,
		X:     d.of.u,
		Class: d.of.class,
	}.Subset(rows)
	width := math.Sqrt(12) * d.jitter
	for k := range p.X {
		p.X[k] += width * (d.source.uniform() - .5)
	}
	return &loss{
		u:     p.X,
		dim:   p.Dim,
		x:     p.X,
		xdim:  p.Dim,
		class: p.Class,
		from:  d.of.from,
		block: batchRows / batchParts,
	}
}

// lloydRounds is how often vectors move to the mean of their records before the descent.
const lloydRounds = 5

// moveCenters moves vectors of each class to the mean of the records of the class that they are nearest to, some
// rounds long. Both lists hold the classes below count. The error is that of ctx.
func moveCenters(ctx context.Context, p, z Points, count int) error {
	records := p.rowsByClass(evenlySpaced(p.Len(), p.Len()))
	vectors := classBounds(z.Class, count)
	for c, rows := range records {
		from, to := vectors[c], vectors[c+1]
		if len(rows) == 0 {
			continue
		}
		of := p.Subset(rows)
		at := Points{
			Dim:   z.Dim,
			X:     z.X[from*z.Dim : to*z.Dim],
			Class: make([]int32, to-from),
		}
		for j := range at.Class {
			at.Class[j] = int32(j)
		}
		for range lloydRounds {
			if err := ctx.Err(); err != nil {
				return err
			}
			sums := make([]float64, len(at.X))
			counts := make([]float64, to-from)
			for i, j := range Search(at).Classes(of, Vote{K: 1}) {
				addTo(sums[int(j)*z.Dim:int(j+1)*z.Dim], of.Row(i))
				counts[j]++
			}
			for k, v := range sums {
				if n := counts[k/z.Dim]; n > 0 {
					at.X[k] = v / n
				}
			}
		}
	}
	return nil
}
