package mechanism

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// TestTreeCountsSensitivity searches records in intervals of one node and of two, beyond the range, with missing values, and
// with cells that do not exist, in two numeric columns and a category column.
func TestTreeCountsSensitivity(t *testing.T) {
	cells := []uint16{0, 1, 8, 63, TreeBelow, TreeAbove, TreeMissing, 999}
	levels := []uint16{0, 2, 999}
	alphabet := len(cells) * len(cells) * len(levels)
	searchNeighbours(t, 1, alphabet, 1-1e-9, func(s *Session, rows []int) Bounded[Vector] {
		q := s.NewTreeCounts(2, []int{3})
		for _, r := range rows {
			a := r % len(cells)
			b := r / len(cells) % len(cells)
			c := r / len(cells) / len(cells)
			q.Add([][]uint16{
				{cells[a]},
				{cells[b]},
				{levels[c]},
			})
		}
		return q.Bound()
	})
}

// TestMomentsSensitivity searches values at the ends, between and beyond them, and missing ones, in two columns.
func TestMomentsSensitivity(t *testing.T) {
	values := []float64{-7, -1, -1 + sumUnit, -.8, -.3, 0, .5, .9, 1 - sumUnit, 1, math.Inf(1),
		math.NaN()}
	searchNeighbours(t, 1, len(values)*len(values), 1-1e-9, func(s *Session, rows []int) Bounded[Vector] {
		q := s.NewMoments(2)
		for _, r := range rows {
			q.Add(
				1,
				[][]float64{
					{values[r%len(values)]},
					{values[r/len(values)]},
				},
			)
		}
		return q.Bound()
	})
}

// TestMomentsOnFineGrid compares all pairs of 401 values of one column with the bound of a replaced record.
func TestMomentsOnFineGrid(t *testing.T) {
	s := testSession(t, budget.Substitute, 1)
	sums := func(x float64) Bounded[Vector] {
		q := s.NewMoments(1)
		q.Add(1, [][]float64{{x}})
		return q.Bound()
	}
	var all []Bounded[Vector]
	for i := range 401 {
		all = append(all, sums(float64(i-200)/200))
	}
	worst := 0.
	for _, a := range all {
		for _, b := range all {
			worst = max(worst, changeNorm(a, b))
		}
	}
	most := all[0].sens
	if worst > most || worst < most*(1-1e-9) {
		t.Errorf(
			"the largest change is %v, the bound %v",
			worst, most,
		)
	}
}

// TestGroupSumsSensitivity searches groups, values and missing values of two columns, one with its missing values counted, and
// groups that do not exist.
func TestGroupSumsSensitivity(t *testing.T) {
	values := []float64{-2, -.4, .7, 1, math.NaN()}
	groups := []int32{0, 2, -1, 3}
	searchNeighbours(
		t,
		1,
		len(values)*len(values)*len(groups),
		1-1e-8,
		func(s *Session, rows []int) Bounded[Vector] {
			q := s.NewGroupSums(3, []bool{true, false})
			for _, r := range rows {
				q.Add(
					[]int32{groups[r%len(groups)]},
					[][]float64{
						{values[r/len(groups)%len(values)]},
						{values[r/len(groups)/len(values)]},
					},
				)
			}
			return q.Bound()
		},
	)
}

// TestDescribeSensitivities compares the bounds with the numbers of their derivations.
func TestDescribeSensitivities(t *testing.T) {
	for _, c := range []struct {
		relation budget.Relation
		want     [3]float64 // tree counts of 3 columns, moments of 2, group sums
	}{
		{
			budget.AddRemove,
			[3]float64{
				math.Sqrt(3),
				math.Sqrt(1 + 2*1.36),
				1,
			},
		},
		{
			budget.Substitute,
			[3]float64{math.Sqrt(6), 2 * math.Sqrt2, math.Sqrt2},
		},
		{
			budget.SubstitutePrivateColumns,
			[3]float64{math.Sqrt(6), 2 * math.Sqrt2, math.Sqrt2},
		},
	} {
		s := testSession(t, c.relation, 1)
		got := [3]float64{
			s.NewTreeCounts(2, []int{3}).Bound().Sensitivity(),
			s.NewMoments(2).Bound().Sensitivity(),
			s.NewGroupSums(2, []bool{false}).Bound().Sensitivity(),
		}
		for i, want := range c.want {
			if math.Abs(got[i]-want) > 1e-9 {
				t.Errorf(
					"%v, statistic %d: %v, want %v",
					c.relation, i, got[i], want,
				)
			}
		}
	}
}

// TestDescribeReads compares numbers that were read back with the records, for statistics without noise.
func TestDescribeReads(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	exact := func(b Bounded[Vector]) []float64 {
		return toFloats(b.value, b.unit)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6 {
			t.Errorf(
				"%s is %v, want %v",
				what, got, want,
			)
		}
	}
	tree := s.NewTreeCounts(1, []int{3})
	tree.Add([][]uint16{
		{0, 7, 8, TreeAbove, TreeMissing},
		{0, 2, 2, 1, 2},
	})
	columns := tree.Read(exact(tree.Bound()))
	near("the first node", columns[0].Nodes[0], 2)
	near("the second node", columns[0].Nodes[1], 1)
	near("an interval", columns[0].Leaves[7], 1)
	near("below", columns[0].Other[0], 0)
	near("above", columns[0].Other[1], 1)
	near("missing", columns[0].Other[2], 1)
	near("a code", columns[1].Other[2], 3)

	moments := s.NewMoments(2)
	moments.Add(
		3,
		[][]float64{
			{.5, -1, math.NaN()},
			{.25, 0, 2},
		},
	)
	records, sums := moments.Read(exact(moments.Bound()))
	near("records", records, 3)
	near("a sum", sums[0].Sum, -.5)
	near("a sum of squares", sums[0].Square, 1.25)
	near("missing values", sums[0].Missing, 1)
	near("another sum", sums[1].Sum, 1.25)

	groups := s.NewGroupSums(2, []bool{true, false})
	groups.Add(
		[]int32{1, 1, 0},
		[][]float64{
			{.5, math.NaN(), 1},
			{1, -.5, math.NaN()},
		},
	)
	read := groups.Read(exact(groups.Bound()))
	near("records of a group", read[1].Records, 2)
	near("a sum of a group", read[1].Sums[0], .5)
	near("missing values of a group", read[1].Missing[0], 1)
	near("another sum of a group", read[1].Sums[1], .5)
	near("a filled value", read[0].Sums[1], 0)
}
