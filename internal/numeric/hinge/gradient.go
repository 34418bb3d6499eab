package hinge

import (
	"context"
	"math"
)

// A gradient is that of J at a point, with a bound on its error.
type gradient struct {
	values  []float64
	norm    float64 // of values
	error   float64 // the true gradient lies within this distance of values
	margins []float64
}

// atMost returns an upper bound of the norm of the true gradient.
func (g *gradient) atMost() float64 {
	return (g.norm + g.error) * (1 + 0x1p-40)
}

// gradientAt computes the gradient. The margins of all rows stay with it.
func (p *Problem) gradientAt(ctx context.Context, a Point) (*gradient, error) {
	d := len(p.Columns)
	g := &gradient{
		values:  make([]float64, d+1),
		margins: make([]float64, len(p.Labels)),
	}
	sums := make([]chunkSums, p.chunkCount())
	err := forEach(
		ctx,
		len(sums),
		func(_, c int) {
			sums[c] = p.sumChunk(c, a, g.margins)
		},
	)
	if err != nil {
		return nil, err
	}
	var totalNorm, penaltyNorm float64
	for j := range g.values {
		total := compensatedSum(sums, j) / slopeUnits
		if j == d {
			total *= float64(p.Constant)
		}
		penalty := p.Lambda * (a.High[j] + a.Low[j])
		g.values[j] = total + penalty
		totalNorm = math.Hypot(totalNorm, total)
		penaltyNorm = math.Hypot(penaltyNorm, penalty)
	}
	labelled := 0
	for _, s := range sums {
		labelled += s.labelled
	}
	g.norm = euclideanNorm(g.values)
	g.error = p.marginError(labelled, euclideanNorm(a.High)) +
		(4*totalNorm+4*penaltyNorm+2*g.norm)*unitRoundoff
	return g, nil
}

const unitRoundoff = 0x1p-53

// marginError bounds the error of the sum of slopes times rows before its final
// roundings, for rows labelled rows and a point of norm size. Each row
// contributes at most its norm times the error of its slope:
//
//	e u + 2 (gamma_k)^2 size Norm, k = d+3, gamma_k = k u/(1 - k u),
//
// and the sums of a chunk's rests, of its compensated additions and of rounded
// norms err by less than u/2^10 of the sum of all norms, which the factor 2 on
// the second-order term and the hundredth in [Loss.slopeError] cover. e is 3 for the
// huberised loss and 4 for the logistic one.
func (p *Problem) marginError(rows int, size float64) float64 {
	k := float64(len(p.Columns)+4) * unitRoundoff
	gamma := k / (1 - k)
	return float64(rows) * p.Norm *
		(p.Loss.slopeError()*unitRoundoff + 2*gamma*gamma*(size*p.Norm+1))
}

// chunkSums are the sums over one chunk of slope times entry in units of
// 1/slopeUnits, exact in high; the last one is that of the slopes alone.
type chunkSums struct {
	high     []float64
	low      []float64
	labelled int
}

// compensatedSum adds coordinate j over all chunks (Neumaier).
func compensatedSum(sums []chunkSums, j int) float64 {
	var sum, rest float64
	for _, s := range sums {
		t, e := twoSum(sum, s.high[j])
		sum = t
		rest += e + s.low[j]
	}
	return sum + rest
}

// sumChunk computes the margins of a chunk's rows and sums slope times entry.
func (p *Problem) sumChunk(c int, a Point, margins []float64) chunkSums {
	lo, hi := p.chunkRows(c)
	labels := p.Labels[lo:hi]
	m := margins[lo:hi]
	p.dotProducts(m, lo, a)
	high := make([]float64, len(m))
	low := make([]float64, len(m))
	s := chunkSums{make([]float64, len(p.Columns)+1), make([]float64, len(p.Columns)+1), 0}
	last := len(p.Columns)
	for i, y := range labels {
		if y == 0 {
			continue
		}
		s.labelled++
		m[i] *= float64(y)
		g := p.Loss.slope(m[i]) * float64(y) * slopeUnits
		high[i] = math.Round(g)
		low[i] = g - high[i]
		s.high[last] += high[i]
		s.low[last] += low[i]
	}
	for j, column := range p.Columns {
		var h, l float64
		for i, v := range column[lo:hi] {
			if v != 0 {
				h += high[i] * float64(v)
				l += low[i] * float64(v)
			}
		}
		s.high[j], s.low[j] = h, l
	}
	return s
}

// dotProducts writes a.z for the rows from lo on, by compensated dot products.
func (p *Problem) dotProducts(out []float64, lo int, a Point) {
	rest := make([]float64, len(out))
	k := float64(p.Constant)
	last := len(p.Columns)
	first := float64(a.High[last] * k) // here and below a conversion forbids fusing
	second := math.FMA(a.High[last], k, -first) + a.Low[last]*k
	for i := range out {
		out[i] = first
		rest[i] = second
	}
	for j, column := range p.Columns {
		h, l := a.High[j], a.Low[j]
		if h == 0 {
			continue
		}
		for i, v := range column[lo : lo+len(out)] {
			if v == 0 {
				continue
			}
			x := float64(v)
			product := float64(h * x)
			e := math.FMA(h, x, -product) + l*x
			sum, r := twoSum(out[i], product)
			out[i], rest[i] = sum, rest[i]+(r+e)
		}
	}
	for i := range out {
		out[i] += rest[i]
	}
}
