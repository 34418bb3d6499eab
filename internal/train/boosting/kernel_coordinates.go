package boosting

import (
	"math"
	"slices"
)

// coordinate is a function of the bin of an input, with the slope of the additive part along it.
type coordinate struct {
	input  int
	values []float64
	slope  []float64
}

const (
	// rankStep is half of the interval over which the slope of a curve along the ranks is taken.
	rankStep = .15
	// gateShare is the share of the variance of the additive part from which the nonlinear part of a column's
	// curve, relative to its ranks, is a coordinate of its own.
	gateShare = .02
)

// curve returns the contribution of the additive part, line and curve, by fine bin of a numeric feature.
func (k *kernelBooster) curve(c counted) []float64 {
	theta := k.linear.total(k.start)[c.slot]
	out := make([]float64, fineBins)
	for b := range out {
		out[b] = theta * ((2*float64(b)+1)/fineBins - 1)
	}
	for _, s := range k.shapes {
		if s.column == c.column {
			for b := range out {
				out[b] += s.values[s.groups.stepOf[b]]
			}
		}
	}
	return out
}

// split divides a curve into a part along the ranks and the rest.
type split struct {
	ranks                 []float64
	rest                  []float64
	alongShare, restShare float64 // their variances
}

func (m marginal) split(curve []float64) split {
	s := split{
		ranks: make([]float64, len(curve)),
		rest:  make([]float64, len(curve)),
	}
	middle := 0.
	mean := 0.
	for b, p := range m.share {
		s.ranks[b] = 2*m.middle[b] - 1
		middle += p * s.ranks[b]
		mean += p * curve[b]
	}
	along := 0.
	square := 0.
	for b, p := range m.share {
		along += p * (s.ranks[b] - middle) * (curve[b] - mean)
		square += p * (s.ranks[b] - middle) * (s.ranks[b] - middle)
	}
	slope := along / max(square, 1e-12)
	s.alongShare = slope * slope * square
	for b, p := range m.share {
		s.rest[b] = curve[b] - mean - slope*(s.ranks[b]-middle)
		s.restShare += p * s.rest[b] * s.rest[b]
	}
	return s
}

// coordinates returns the coordinates from released curves: the ranks of every numeric feature, the nonlinear
// part of the curves of gated columns, and the indicators of levels.
func (k *kernelBooster) coordinates() []coordinate {
	splits := make([]split, len(k.counted))
	all := 0.
	for i, c := range k.counted {
		splits[i] = k.public.marginals[i].split(k.curve(c))
		all += splits[i].alongShare + splits[i].restShare
	}
	theta := k.linear.total(k.start)
	effects := make([]split, len(k.valued))
	for i, s := range k.valued {
		effects[i] = k.public.values[i].centred(k.effects(s, theta))
		all += effects[i].restShare
	}
	if k.gate == nil {
		k.gateValues = make([]bool, len(effects))
		for i, s := range effects {
			k.gateValues[i] = s.restShare > gateShare*all
		}
		k.gate = make([]bool, len(splits))
		for i, s := range splits {
			k.gate[i] = s.restShare > gateShare*all
		}
	}
	var out []coordinate
	for i, c := range k.counted {
		s := splits[i]
		out = append(out, coordinate{i, s.ranks, k.public.marginals[i].slopes(s.ranks, k.curve(c))})
		if !k.gate[i] {
			continue
		}
		out = append(out, s.coordinate(i))
	}
	for i, l := range k.levels {
		for level, e := range l.entries {
			values := constantSlice(len(l.entries)+1, -l.shares[level])
			values[level+1]++
			out = append(out,
				coordinate{len(k.counted) + i, values, constantSlice(len(values), theta[e])})
		}
	}
	for i, s := range effects {
		if k.gateValues[i] {
			out = append(out, s.coordinate(len(k.counted)+len(k.levels)+i))
		}
	}
	return out
}

// centred returns effects less their mean as the rest of a split; values without an order have no part along
// the ranks.
func (m marginal) centred(effects []float64) split {
	s := split{rest: slices.Clone(effects)}
	mean := 0.
	for b, p := range m.share {
		mean += p * effects[b]
	}
	for b, p := range m.share {
		s.rest[b] -= mean
		s.restShare += p * s.rest[b] * s.rest[b]
	}
	return s
}

// coordinate returns the rest as a coordinate with standard deviation 1/sqrt3, which a rank has.
func (s split) coordinate(input int) coordinate {
	scale := max(math.Sqrt(3*s.restShare), 1e-7)
	for b := range s.rest {
		s.rest[b] /= scale
	}
	return coordinate{input, s.rest, constantSlice(len(s.rest), scale)}
}

func constantSlice(n int, x float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = x
	}
	return out
}

// slopes returns difference quotients of a curve along the ranks, by bin.
func (m marginal) slopes(ranks, curve []float64) []float64 {
	var x, y []float64
	for b, p := range m.share {
		if p > 0 {
			x = append(x, ranks[b])
			y = append(y, curve[b])
		}
	}
	out := make([]float64, len(ranks))
	if len(x) < 2 {
		return out
	}
	for b, u := range ranks {
		lower := max(u-rankStep, -1)
		upper := min(u+rankStep, 1)
		out[b] = (interpolate(x, y, upper) - interpolate(x, y, lower)) / max(upper-lower, 1e-9)
	}
	return out
}

// interpolate returns the piecewise linear function through points at increasing x, flat beyond them.
func interpolate(x, y []float64, at float64) float64 {
	i, found := slices.BinarySearch(x, at)
	switch {
	case found:
		return y[i]
	case i == 0:
		return y[0]
	case i == len(x):
		return y[i-1]
	}
	return y[i-1] + (y[i]-y[i-1])*(at-x[i-1])/(x[i]-x[i-1])
}
