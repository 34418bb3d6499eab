package boosting

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Settings of the stage of a pair of numeric features. They are public constants.
const (
	// pairLength is the length scale of its kernel, in units of ranks and of numbers scaled as ranks.
	pairLength = .12
	// pairEpochs is the number of its epochs, and pairShare its maximum weight relative to the shares of the
	// other stages. The weight grows from 0, where the number of records times mu is pairFew, to the maximum,
	// where it is pairMany; below leastPair there is no such stage.
	pairEpochs = 4
	pairShare  = .9
	pairFew    = 6000.
	pairMany   = 10000.
	leastPair  = .2
	// pairScale bounds rho, because synthetic records represent two features less accurately than all together.
	pairScale = 6
	// pairInputs is the number of inputs whose pairs are compared, at pairRecords synthetic records.
	pairInputs  = 8
	pairRecords = 200
	// mostValue bounds the coordinates by value.
	mostValue = 3
)

// withPair returns the plan with a stage for the strongest pair of numeric features after the first one, if
// there are enough records, and redistributes the remaining draws. It depends only on releases.
func (k *kernelBooster) withPair(plan []stagePlan, epoch int) []stagePlan {
	share := pairShare * ramp(k.total*k.mu, pairFew, pairMany)
	if share < leastPair || len(k.counted) < 2 {
		return plan
	}
	pair := k.strongestPair()
	if max(pair[0], pair[1]) >= len(k.counted) {
		return plan // the strongest interaction is not between numeric features
	}
	left := 1 - plan[0].share
	rest := append([]stagePlan{{
		epochs: pairEpochs,
		share:  share,
		alone:  true,
		pair:   pair,
	}},
		plan[1:]...)
	for i := range rest {
		rest[i].share *= left / (left + share)
	}
	k.spend.extend(epoch, rest)
	return append(slices.Clone(plan[:1]), rest...)
}

// strongestPair returns the two inputs with the strongest interaction in the stages so far: by the mean square
// of the second differences of the predictions at synthetic records, with the inputs replaced by those of other
// records, separately and jointly.
func (k *kernelBooster) strongestPair() (pair [2]int) {
	bins := k.public.sliced(0, pairRecords)
	replaced := func(inputs ...int) []float64 {
		other := slices.Clone(bins)
		for i, j := range inputs {
			if j >= 0 {
				shift := (i + 1) * pairRecords / 3 // a different record for each input
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
		first, second []float64 // predictions with the input replaced, as the first or second of a pair
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
	slices.SortStableFunc(movers, func(a, b mover) int {
		return cmp.Compare(b.size, a.size)
	})
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

// pairCoordinates returns coordinates with those of two features by value appended, of standard deviation
// 1/sqrt3, which a rank has, and a root of a metric of the ranks and values of these two only.
func (k *kernelBooster) pairCoordinates(
	coords []coordinate,
	pair [2]int,
) ([]coordinate, *mat.Dense) {
	var seen []int
	for _, j := range pair {
		seen = append(seen, slices.IndexFunc(coords, func(c coordinate) bool {
			return c.input == j
		}))
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
