package mechanism

import (
	"math"

	"github.com/dptrain/dptrain/budget"
)

// The weights of the cells of [SizeCounts], in countUnit: 1 for the bin of the
// first size, 1/2 for the bin of the second size, and for a record without sizes the
// root of the sum of their squares, rounded down.
const (
	firstSizeWeight  = 1 << 20
	secondSizeWeight = 1 << 19
	noSizeWeight     = 1172343 // floor(sqrt(1.25) 2^20)
)

// NoSize is the bin of a record that has no size.
const NoSize = math.MaxUint16

// SizeCounts counts records by the bins of two sizes, such as those of a residual and of a
// target, and counts the records without sizes, whose target cannot be read. Bins are numbered
// from 0 by increasing size. All bins are released, including empty ones.
type SizeCounts struct {
	relation      budget.Relation
	first, second []int64 // by bin
	missing       [1]int64
}

// NewSizeCounts returns an empty accumulator of 1 <= bins < [NoSize] bins a size.
func (m Maker) NewSizeCounts(bins int) *SizeCounts {
	if bins < 1 || bins >= NoSize {
		panic("mechanism: the number of bins of sizes is below 1 or too large")
	}
	return &SizeCounts{
		relation: m.Relation(),
		first:    make([]int64, bins),
		second:   make([]int64, bins),
	}
}

// Add counts a block of records with two bins each. A bin beyond the last counts as
// the last; a record whose first bin is [NoSize] has no sizes. Add panics if the slices
// differ in length.
func (c *SizeCounts) Add(first, second []uint16) {
	if len(first) != len(second) {
		panic("mechanism: a block of sizes has two bins per record")
	}
	last := uint16(len(c.first) - 1)
	for i, b := range first {
		if b == NoSize {
			c.missing[0]++
			continue
		}
		c.first[min(b, last)]++
		c.second[min(second[i], last)]++
	}
}

// Cells are those that [SizeCounts.Add] adds to.
func (c *SizeCounts) Cells() Cells {
	return Join(sumCells(c.first), sumCells(c.second), sumCells(c.missing[:]))
}

// boundCounts returns the weighted counts with their L2 sensitivity.
//
// A record adds either 1 to a bin of the first size and 1/2 to one of the second,
// or w <= sqrt(1.25) to the cell of records without sizes. Add or remove one record:
// a change of sqrt(1 + 1/4) or of w, hence sqrt(1.25) = 1.118034. Substitution of
// records with sizes: at most both bins change, each count falling by its weight in
// one bin and rising in another, sqrt(2 (1 + 1/4)); of a record with sizes by one
// without, or the other way round: sqrt(1.25 + w^2), no more. So 1.581139. All are
// attained (up to the rounding of w). Substituted private columns are a case of
// substitution.
func (c *SizeCounts) boundCounts() Bounded[Vector] {
	squares := float64(firstSizeWeight*firstSizeWeight + secondSizeWeight*secondSizeWeight)
	if c.relation != budget.AddRemove {
		squares *= 2
	}
	return Bounded[Vector]{c.weightedCounts(noSizeWeight), L2, roundUp(math.Sqrt(squares)),
		countUnit, StatSizeCounts}
}

// weightedCounts returns the counts with their weights; missing is that of the cell of records without sizes.
func (c *SizeCounts) weightedCounts(missing int64) Vector {
	out := make(Vector, 0, 2*len(c.first)+1)
	for _, v := range c.first {
		out = append(out, v*firstSizeWeight)
	}
	for _, v := range c.second {
		out = append(out, v*secondSizeWeight)
	}
	return append(out, c.missing[0]*missing)
}

// noSizeEntryWeight is the weight of a record without sizes in [SizeCounts.entryBound], in countUnit.
const noSizeEntryWeight = firstSizeWeight + secondSizeWeight

// entryBound returns the weighted counts with their L1 sensitivity, for Laplace noise.
//
// A record adds 1 to a bin of the first size and 1/2 to one of the second, or 3/2 to the cell of records without sizes. Add or
// remove one record: 3/2. Substitution: one contribution leaves and another one comes, at most 3. Both are attained.
func (c *SizeCounts) entryBound() Bounded[Vector] {
	sens := float64(noSizeEntryWeight)
	if c.relation != budget.AddRemove {
		sens *= 2
	}
	return Bounded[Vector]{c.weightedCounts(noSizeEntryWeight), L1, sens, countUnit, StatSizeEntries}
}

// Sizes are released [SizeCounts]: noisy numbers of records, which may be negative, and
// the standard deviations of their noise.
type Sizes struct {
	First, Second []float64 // by bin
	Missing       float64   // records without a size

	FirstNoise   float64
	SecondNoise  float64
	MissingNoise float64

	Laplace bool // the noise of each number is Laplace noise, and otherwise Gaussian
}

// Release releases the counts by [Gaussian] as draw 0 of the leaf name.
func (c *SizeCounts) Release(s *Session, name string) (Public[Sizes], error) {
	noisy, err := Gaussian(s, name, c.boundCounts())
	if err != nil {
		return Public[Sizes]{}, err
	}
	return Public[Sizes]{c.readSizes(noisy.Value(), s.Scale(name), noSizeWeight*countUnit)}, nil
}

// ReleaseEntries releases the counts by [LaplaceCells] as the leaf name.
func (c *SizeCounts) ReleaseEntries(s *Session, name string) (Public[Sizes], error) {
	noisy, err := LaplaceCells(s, name, c.entryBound())
	if err != nil {
		return Public[Sizes]{}, err
	}
	out := c.readSizes(noisy.Value(), LaplaceDeviation(s, name), noSizeEntryWeight*countUnit)
	out.Laplace = true
	return Public[Sizes]{out}, nil
}

// readSizes divides released numbers by their weights. sigma is the standard deviation of the noise in each.
func (c *SizeCounts) readSizes(values []float64, sigma, missing float64) Sizes {
	const second = secondSizeWeight * countUnit
	bins := len(c.first)
	out := Sizes{
		First:        values[:bins:bins],
		Second:       values[bins : 2*bins : 2*bins],
		Missing:      values[2*bins] / missing,
		FirstNoise:   sigma,
		SecondNoise:  sigma / second,
		MissingNoise: sigma / missing,
	}
	for b := range out.Second {
		out.Second[b] /= second
	}
	return out
}

// The statistics of [SizeCounts.Release] and of [SizeCounts.ReleaseEntries].
const (
	StatSizeCounts  budget.Statistic = "size counts"
	StatSizeEntries budget.Statistic = "size entries"
)
