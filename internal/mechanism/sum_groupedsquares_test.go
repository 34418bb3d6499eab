package mechanism

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// TestGroupedSquareSumsSensitivity searches records with targets at, below and beyond the limit, errors on and between
// levels, in cells and outside, and records without targets, in two groups or, if the groups are public, in one. With the
// ratio 0 the bounds are attained under add-remove, and under substitution in one group without cells.
func TestGroupedSquareSumsSensitivity(t *testing.T) {
	targets := []float64{-9, .3, 0, 1, math.NaN()}
	residuals := []float64{0, .7, 1, 2, -4, 2.7}
	places := []uint16{NoSize, 0, 3} // none, the far cell, a part
	for _, c := range []struct {
		name    string
		ratio   float64
		cells   CellGroups
		change  bool
		reached float64
	}{
		{"changing", 0, CellGroups{}, true, .994},
		{"changing, with cells", 0, CellGroups{2, 2}, true, .994},
		{"public", 0, CellGroups{}, false, 1 - 1e-6},
		{"public, with cells", 0, CellGroups{2, 2}, false, .99},
		{"changing, another ratio", .4, CellGroups{2, 2}, true, .95},
		{"public, another ratio", 2, CellGroups{2, 2}, false, .9},
	} {
		groups := 1
		cells := places[:1]
		if c.change {
			groups = 2 // otherwise every record of the search is in one
		}
		if c.cells.Groups > 0 {
			cells = places
		}
		t.Run(c.name, func(t *testing.T) {
			searchNeighbours(
				t,
				1,
				len(targets)*len(residuals)*len(cells)*groups,
				c.reached,
				func(s *Session, rows []int) Bounded[Vector] {
					q := s.NewGroupedSquareSums(Nodes{4}, c.cells, c.ratio, 2, c.change)
					for _, r := range rows {
						group := int32(r % groups)
						r /= groups
						place := cells[r%len(cells)]
						r /= len(cells)
						q.Add(
							[]float64{targets[r%len(targets)]},
							[]float64{residuals[r/len(targets)]},
							[]uint16{place},
							[]int32{group},
						)
					}
					return q.boundSums()
				},
			)
		})
	}
}

// TestGroupedSquareSumsBounds compares the bounds with the numbers of the derivation.
func TestGroupedSquareSumsBounds(t *testing.T) {
	for _, c := range []struct {
		relation      budget.Relation
		cells, change bool
		want          float64
	}{
		{budget.AddRemove, true, true, 1.482396},
		{budget.AddRemove, false, false, 1.482396},
		{budget.Substitute, false, false, 1.622498},
		{budget.Substitute, true, false, 1.627498},
		{budget.Substitute, true, true, 1.718648},
		{budget.SubstitutePrivateColumns, true, false, 1.627498},
	} {
		got := groupedSquaresSensitivity(
			c.relation,
			c.cells,
			c.change,
		)
		if math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestGroupedSquareSumsRelease: every number is divided by its weight, and both halves count every record. With deviations
// below .03 the numbers are exact to .4, of twenty at odds below 1e-30.
func TestGroupedSquareSumsRelease(t *testing.T) {
	s := preciseSession(t, budget.AddRemove, 1000)
	q := s.NewGroupedSquareSums(Nodes{4}, CellGroups{1, 2}, .5, 2, true)
	other := s.NewGroupedSquareSums(Nodes{4}, CellGroups{1, 2}, .5, 2, true)
	ones := func(x float64) []float64 {
		out := make([]float64, 100)
		for i := range out {
			out[i] = x
		}
		return out
	}
	cells := make([]uint16, 100)
	groups := make([]int32, 100)
	for i := range cells {
		cells[i] = NoSize
		groups[i] = 1
	}
	q.Add(ones(.5), ones(-2), cells, groups)
	other.Add(ones(-1), ones(.5), cells, groups)
	other.Add(ones(math.NaN()), ones(0), cells, groups)
	q.Cells().mergeValues(other.Cells().copyValues())
	released, err := q.Release(s, "leaf")
	if err != nil {
		t.Fatal(err)
	}
	got := released.Value()
	in := got.Groups[1]
	for name, c := range map[string][2]float64{
		"count":                 {got.All.Count, 200},
		"sum":                   {got.All.Sum, -50},
		"square":                {got.All.Target, 125},
		"residual":              {got.All.Residual, 125},
		"missing":               {got.All.Missing, 100},
		"node":                  {got.All.Nodes[0], 100},
		"count of the group":    {in.Count, 200},
		"sum of the group":      {in.Sum, -50},
		"square of the group":   {in.Target, 125},
		"residual of the group": {in.Residual, 125},
		"signed":                {in.Signed, -50},
		"absolute":              {in.Absolute, 150},
		"missing of the group":  {in.Missing, 100},
		"other count":           {got.Groups[0].Count, 0},
		"other square":          {got.Groups[0].Target, 0},
	} {
		if math.Abs(c[0]-c[1]) > .4 {
			t.Errorf(
				"%s is %v, want %v",
				name, c[0], c[1],
			)
		}
	}
	noise := GroupNoise(got.Unit)
	scale := s.Scale("leaf")
	for name, c := range map[string][2]float64{
		"count":   {noise.Count, .5},
		"square":  {noise.Target, 1},
		"signed":  {noise.Signed, .25},
		"missing": {noise.Missing, .4},
	} {
		if math.Abs(c[0]*c[1]*squareHalf/scale-1) > 1e-9 {
			t.Errorf(
				"the noise of the %s of a group is %v",
				name, c[0],
			)
		}
	}
	// In units of the noise of half the squared weight: the half of all records has the variance 2 along e + q and 2/3 along
	// e - q, and both groups together 2.
	want := math.Sqrt(2) * scale * math.Sqrt((1/(1/2.+1/2.)+1/(3/2.+1/2.))/2)
	if got := GroupedSquaresNoise(s, "leaf", 2, true); math.Abs(got/want-1) > 1e-3 {
		t.Errorf(
			"the noise of both halves together is %v, want %v",
			got, want,
		)
	}
}

func TestGroupedSquareSumsRefuses(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	for name, f := range map[string]func(){
		"no group": func() {
			s.NewGroupedSquareSums(Nodes{1}, CellGroups{}, 1, 0, true)
		},
		"another group": func() {
			s.NewGroupedSquareSums(Nodes{1}, CellGroups{}, 1, 1, true).Add(
				[]float64{0},
				[]float64{0},
				[]uint16{NoSize},
				[]int32{1},
			)
		},
		"lengths": func() {
			s.NewGroupedSquareSums(Nodes{1}, CellGroups{}, 1, 1, true).Add(
				[]float64{0},
				[]float64{0},
				[]uint16{NoSize},
				nil,
			)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was accepted", name)
				}
			}()
			f()
		}()
	}
}
