package mechanism

import (
	"math"

	"github.com/dptrain/dptrain/budget"
)

// GroupSums accumulates, for each of several groups, the number of records and the sums of several columns with values in
// [-1, 1]. A column may also have its missing values counted; those of the others must be filled before. A record
// is in one group.
type GroupSums struct {
	relation budget.Relation
	groups   int
	counted  []bool // of each column: its missing values are counted
	a, b     int64  // weights of a record and of a value, in grid units
	counts   []int64
	values   []int64 // by group and column, weighted
	missing  []int64 // by group and column
}

// groupCountShare returns the squared weight of a record in its group. The rest, up to 1, is divided among the columns.
// Under add-remove the sensitivity is the same for any share; under the other relations 1/2 is the largest share for which
// a change within a group is at most as large as a change of the group.
func groupCountShare(relation budget.Relation) float64 {
	if relation == budget.AddRemove {
		return .4
	}
	return .5
}

// NewGroupSums returns an empty accumulator for at least one group and one column per entry of counted, at least one.
func (m Maker) NewGroupSums(groups int, counted []bool) *GroupSums {
	d := len(counted)
	if groups < 1 || d < 1 {
		panic("mechanism: GroupSums need a group and a column")
	}
	share := groupCountShare(m.Relation())
	return &GroupSums{
		relation: m.Relation(),
		groups:   groups,
		counted:  counted,
		a:        toGrains(math.Sqrt(share)),
		b:        toGrains(math.Sqrt((1 - share) / float64(d))),
		counts:   make([]int64, groups),
		values:   make([]int64, groups*d),
		missing:  make([]int64, groups*d),
	}
}

// Add adds a block of records: the group of each, and one slice per column with one value per record, which is clamped to
// [-1, 1]. NaN is a missing value; in a column whose missing values are not counted it is 0. Records of a group that does
// not exist are ignored. Add panics if the slices differ in number or length.
func (g *GroupSums) Add(groups []int32, columns [][]float64) {
	d := len(g.counted)
	if len(columns) != d {
		panic("mechanism: a block of GroupSums has one slice per column")
	}
	for _, k := range groups {
		if k >= 0 && int(k) < g.groups {
			g.counts[k]++
		}
	}
	b := float64(g.b) * sumUnit
	for j, column := range columns {
		if len(column) != len(groups) {
			panic("mechanism: the columns of a block of GroupSums differ in length")
		}
		for i, x := range column {
			k := int(groups[i])
			switch {
			case k < 0 || k >= g.groups:
			case x == x:
				g.values[k*d+j] += toGrains(b * min(max(x, -1), 1))
			case g.counted[j]:
				g.missing[k*d+j]++
			}
		}
	}
}

// Cells are those that [GroupSums.Add] adds to.
func (g *GroupSums) Cells() Cells {
	return Join(sumCells(g.counts), sumCells(g.values), sumCells(g.missing))
}

// Bound returns, for each group, its weighted number of records, and for each column the weighted sum and, where they are
// counted, the weighted number of missing values, with their L2 sensitivity.
//
// With a the weight of a record, b that of a value and d columns, a² + d b² = 1, up to the rounding of both toward zero. Add or
// remove one record: in its group it adds a, and in each column b x with |x| <= 1, or b to the missing values. The squared
// change is at most a² + d b² <= 1, however many groups there are, attained by |x| = 1.
//
// Substitution: within a group the number of records stays, and in each column the sum moves by at most 2b, or the sum and
// the missing values by at most b each: at most 4 d b². Between two groups, each moves by a vector of squared length at
// most 1: 2. Here a² = d b² = 1/2, so both are 2 and the change is at most sqrt(2), attained.
func (g *GroupSums) Bound() Bounded[Vector] {
	square := 1.
	if g.relation != budget.AddRemove {
		square = 2
	}
	d := len(g.counted)
	var out Vector
	for k, n := range g.counts {
		out = append(out, n*g.a)
		for j, counted := range g.counted {
			out = append(out, g.values[k*d+j])
			if counted {
				out = append(out, g.missing[k*d+j]*g.b)
			}
		}
	}
	return Bounded[Vector]{out, L2, roundUp(math.Sqrt(square)) / sumUnit, sumUnit, StatGroupSums}
}

// GroupMoments are the released numbers of one group. Missing is 0 for a column whose missing values were not counted.
type GroupMoments struct {
	Records       float64
	Sums, Missing []float64 // by column
}

// Read splits released numbers by group and divides them by their weights.
func (g *GroupSums) Read(released []float64) []GroupMoments {
	a := float64(g.a) * sumUnit
	b := float64(g.b) * sumUnit
	out := make([]GroupMoments, g.groups)
	next := func() float64 {
		x := released[0]
		released = released[1:]
		return x
	}
	for k := range out {
		out[k] = GroupMoments{next() / a, make([]float64, len(g.counted)),
			make([]float64, len(g.counted))}
		for j, counted := range g.counted {
			out[k].Sums[j] = next() / b
			if counted {
				out[k].Missing[j] = next() / b
			}
		}
	}
	return out
}

// Noise returns the standard deviations of the noise in a released number of records and in a sum, which is also that of a
// number of missing values, for the scale of a release.
func (g *GroupSums) Noise(scale float64) (records, sum float64) {
	return scale / (float64(g.a) * sumUnit), scale / (float64(g.b) * sumUnit)
}

// StatGroupSums is the statistic of [GroupSums.Bound].
const StatGroupSums budget.Statistic = "group sums"
