package mechanism

import (
	"math"

	"github.com/dptrain/dptrain/budget"
)

// A Tally counts records in several tables of cells at once, which are released by
// one [WeightedGaussian]. A record is either in one cell of the apart table or in at
// most one cell of every joint table.
//
// A cell of a joint table with the share w weighs sqrt(w), and one of the apart table 1: the
// noise in a joint cell is sqrt(1/w) times that in an apart one.
type Tally struct {
	joint    []JointTable
	apart    int // number of cells of the apart table
	relation budget.Relation
	counts   []int64 // of the joint tables in their order, then of the apart one
}

// A JointTable is a table of cells of a [Tally]. Its share is the square of the weight of a cell.
type JointTable struct {
	Cells int
	Share float64 // in (0, 1]; those of all joint tables add up to at most 1
}

// NewTally returns an empty tally with at least one joint table and the given number of cells in the apart table. It
// panics if a share is not positive or the shares add up to more than 1.
func (m Maker) NewTally(joint []JointTable, apart int) *Tally {
	if len(joint) == 0 {
		panic("mechanism: a tally has a joint table")
	}
	cells := apart
	shares := 0.
	for _, table := range joint {
		if !(table.Share > 0) {
			panic("mechanism: a joint table of a tally has no share")
		}
		cells += table.Cells
		shares += table.Share
	}
	if !(shares <= 1+shareSlack) {
		panic("mechanism: the shares of a tally add up to more than 1")
	}
	return &Tally{joint, apart, m.Relation(), make([]int64, cells)}
}

// shareSlack is by how much rounding may raise a sum of shares such as three thirds; [Tally.Bound] covers it.
const shareSlack = 1e-14

// Add counts a block of records. apart holds one cell per record, cells one slice per
// joint table with one cell per record. A cell that does not exist is ignored.
// Add panics if the slices differ in number or length.
func (t *Tally) Add(cells [][]uint16, apart []uint16) {
	if len(cells) != len(t.joint) {
		panic("mechanism: a block of a tally has one slice a table")
	}
	for _, table := range cells {
		if len(table) != len(apart) {
			panic("mechanism: the tables of a tally's block differ in length")
		}
	}
	first := len(t.counts) - t.apart
	for i, cell := range apart {
		if int(cell) < t.apart {
			t.counts[first+int(cell)]++
			continue
		}
		start := 0
		for j, table := range t.joint {
			if cell := int(cells[j][i]); cell < table.Cells {
				t.counts[start+cell]++
			}
			start += table.Cells
		}
	}
}

// Cells are those that [Tally.Add] adds to.
func (t *Tally) Cells() Cells {
	return sumCells(t.counts)
}

// Bound returns the counts with their sensitivity in the weighted norm.
//
// The weighted contribution of a record is a vector u of non-negative entries. |u|^2 is 1 for a
// record of the apart table and at most the sum of the shares, 1, for any other record. Add or
// remove one record: |u| <= 1. Substitution of u by v, for any change of a record:
// |u - v|^2 = |u|^2 + |v|^2 - 2 u.v <= 2. Both are attained, the second by any two records
// without a common cell.
func (t *Tally) Bound() Bounded[Weighted] {
	x := Weighted{make(Vector, len(t.counts)), make([]float64, len(t.counts)),
		make([]float64, len(t.counts))}
	for i, v := range t.counts {
		x.Values[i] = v << 20
		x.Weights[i] = 1
		x.Units[i] = countUnit
	}
	start := 0
	for _, table := range t.joint {
		for i := range table.Cells {
			x.Weights[start+i] = math.Sqrt(table.Share)
		}
		start += table.Cells
	}
	square := 1.0
	if t.relation != budget.AddRemove {
		square = 2
	}
	// Shares and weights that were rounded up: their squares add up to at most 1 + shareSlack + 1e-15.
	return Bounded[Weighted]{x, L2, roundUp(math.Sqrt(square*(1+2*shareSlack))) / countUnit,
		countUnit, StatTally}
}

// StatTally is the statistic of [Tally.Bound].
const StatTally budget.Statistic = "tally"

// EntryBound returns the counts with their weights and their L1 sensitivity, for Laplace noise. In this release a cell of a joint
// table weighs its share, and one of the apart table as much as one cell of every joint table.
//
// The weighted contribution of a record is a vector u of non-negative entries with the sum W, the sum of the shares: a record
// of the apart table adds W to one cell, and any other one adds the share of each joint table to at most one of its cells. Add
// or remove one record: |u|_1 <= W. Substitution of u by v, for any change of a record: |u - v|_1 <= |u|_1 + |v|_1 <= 2 W.
// Both are attained, the second by any two records without a common cell.
func (t *Tally) EntryBound() Bounded[Vector] {
	weights := t.entryWeights()
	out := make(Vector, len(t.counts))
	for i, n := range t.counts {
		out[i] = n * weights[i]
	}
	sens := float64(t.entryTotal())
	if t.relation != budget.AddRemove {
		sens *= 2
	}
	return Bounded[Vector]{out, L1, sens, countUnit, StatTallyEntries}
}

// entryWeights returns the weight of every cell in countUnit, rounded down.
func (t *Tally) entryWeights() []int64 {
	out := make([]int64, 0, len(t.counts))
	for _, table := range t.joint {
		for range table.Cells {
			out = append(out, shareWeight(table))
		}
	}
	total := t.entryTotal()
	for range t.apart {
		out = append(out, total)
	}
	return out
}

// entryTotal is the sum of the weights of one cell of every joint table.
func (t *Tally) entryTotal() int64 {
	total := int64(0)
	for _, table := range t.joint {
		total += shareWeight(table)
	}
	return total
}

func shareWeight(table JointTable) int64 {
	return max(int64(table.Share/countUnit), 1)
}

// ReleaseEntries releases the counts by [LaplaceCells] as the leaf name. It returns the noisy numbers of records and the
// standard deviation of the noise in each.
func (t *Tally) ReleaseEntries(
	s *Session,
	name string,
) (counts, deviations Public[[]float64], err error) {
	noisy, err := LaplaceCells(s, name, t.EntryBound())
	if err != nil {
		return Public[[]float64]{}, Public[[]float64]{}, err
	}
	values := noisy.Value()
	scales := make([]float64, len(values))
	for i, w := range t.entryWeights() {
		weight := float64(w) * countUnit
		values[i] /= weight
		scales[i] = LaplaceDeviation(s, name) / weight
	}
	return Public[[]float64]{values}, Public[[]float64]{scales}, nil
}

// StatTallyEntries is the statistic of [Tally.EntryBound].
const StatTallyEntries budget.Statistic = "tally entries"
