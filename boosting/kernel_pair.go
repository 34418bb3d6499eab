package boosting

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// The settings of the stage of a pair of numbers. They are public constants.
const (
	// pairLength is the length of its kernel, in units of ranks and of numbers scaled as ranks.
	pairLength = .12
	// pairEpochs is the number of its epochs, and pairShare its weight beside the shares of the other
	// stages. It grows from 0 where the number of records times mu passes pairFew to where
	// it passes pairMany; with less than leastPair there is no such stage.
	pairEpochs = 4
	pairShare  = .9
	pairFew    = 6000.
	pairMany   = 10000.
	leastPair  = .2
	// pairScale bounds rho, for synthetic records know less of two numbers than of all together.
	pairScale = 6
	// The inputs whose pairs are compared, and the synthetic records at which they are.
	pairInputs  = 8
	pairRecords = 200
	// mostValue bounds the coordinates by value.
	mostValue = 3
)

// withPair returns the plan with a stage of the strongest pair of numbers after the first one, if
// records are many enough, and divides what is left of the draws anew. It looks at what was released.
func (k *kernelBooster) withPair(plan []stagePlan, epoch int) []stagePlan {
	share := pairShare * ramp(k.total*k.mu, pairFew, pairMany)
	if share < leastPair || len(k.counted) < 2 {
		return plan
	}
	pair := k.strongestPair()
	if max(pair[0], pair[1]) >= len(k.counted) {
		return plan // what is strong is not between numbers
	}
	left := 1 - plan[0].share
	rest := append([]stagePlan{{epochs: pairEpochs, share: share, alone: true, pair: pair}}, plan[1:]...)
	for i := range rest {
		rest[i].share *= left / (left + share)
	}
	k.spend.extend(epoch, rest)
	return append(slices.Clone(plan[:1]), rest...)
}

// strongestPair returns the two inputs that the stages so far take together the most:
// by the mean square of the second differences of what they predict at synthetic records, in which the
// inputs are replaced by those of other ones, alone and together.
func (k *kernelBooster) strongestPair() (pair [2]int) {
	bins := k.public.sliced(0, pairRecords)
	replaced := func(inputs ...int) []float64 {
		other := slices.Clone(bins)
		for i, j := range inputs {
			if j >= 0 {
				shift := (i + 1) * pairRecords / 3 // another record for each
				other[j] = slices.Concat(bins[j][shift:], bins[j][:shift])
			}
		}
		sums := make([]float64, pairRecords)
		for _, s := range k.stages {
			s.features.Add(sums, other, s.coefficients(s.theta))
		}
		return sums
	}
	type mover struct {
		input         int
		first, second []float64 // the predictions where it is replaced as the first or second
		size          float64
	}
	base := replaced()
	var movers []mover
	for j := range bins {
		x := mover{input: j, first: replaced(j)}
		for r, v := range x.first {
			x.size += square(v - base[r])
		}
		movers = append(movers, x)
	}
	slices.SortStableFunc(movers, func(a, b mover) int { return cmp.Compare(b.size, a.size) })
	movers = movers[:min(len(movers), pairInputs)]
	best := -1.
	for i := range movers {
		movers[i].second = replaced(-1, movers[i].input)
	}
	for i, a := range movers {
		for _, b := range movers[:i] {
			both := replaced(a.input, b.input)
			strength := 0.
			for r := range both {
				strength += square(both[r] - a.first[r] - b.second[r] + base[r])
			}
			if strength > best {
				best = strength
				pair = [2]int{b.input, a.input}
			}
		}
	}
	return pair
}

// pairCoordinates returns coordinates with those of two numbers by value after them, of standard
// deviation 1/sqrt3 as a rank has, and a root of a metric of the ranks and values of the two alone.
func (k *kernelBooster) pairCoordinates(coords []coordinate, pair [2]int) ([]coordinate, *mat.Dense) {
	var seen []int
	for _, j := range pair {
		seen = append(seen, slices.IndexFunc(coords, func(c coordinate) bool { return c.input == j }))
	}
	for _, j := range pair {
		line := make([]float64, fineBins)
		for b := range line {
			line[b] = (2*float64(b)+1)/fineBins - 1
		}
		c := k.public.marginals[j].centred(line).coordinate(j)
		for b, v := range c.values {
			c.values[b] = min(max(v, -mostValue), mostValue)
		}
		seen = append(seen, len(coords))
		coords = append(coords, c)
	}
	root := mat.NewDense(len(coords), len(seen), nil)
	for i, c := range seen {
		root.Set(c, i, 1/pairLength)
	}
	return coords, root
}
