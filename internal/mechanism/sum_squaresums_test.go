package mechanism

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
)

// TestSquareSumsSensitivity searches records with numbers at, below and beyond every limit, inside and outside the
// cells, and records without numbers. The bounds under add-remove are attained.
func TestSquareSumsSensitivity(t *testing.T) {
	targets := []float64{-9, -.3, 0, 1, math.NaN()}
	residuals := []float64{
		0, .7, 1, 1.3, -2,
		2.7, 9,
	}
	places := []uint16{NoSize, 0, 1, 3} // no cell, the outer cell, one of each group
	for _, c := range []struct {
		ratio, top float64
		cells      bool
	}{
		{0, 1, false},
		{0, 3.2, false},
		{.4, 2, false},
		{1, 2, true},
		{.2, 4, true},
		{3, 1, true},
		{2, 5, true},
	} {
		groups := CellGroups{}
		cells := places[:1]
		if c.cells {
			groups = CellGroups{2, 2}
			cells = places
		}
		// Under substitution t would have to move by 2 and t^2 by 1, which no pair does. Without nodes their weight is not used.
		reached := .94
		if c.top == 1 {
			reached = .75
		}
		searchNeighbours(
			t,
			1,
			len(targets)*len(residuals)*len(cells),
			reached,
			func(s *Session, rows []int) Bounded[Vector] {
				q := s.NewSquareSums(Nodes{c.top}, groups, c.ratio)
				for _, r := range rows {
					k := r / len(cells)
					q.Add(
						[]float64{targets[k%len(targets)]},
						[]float64{residuals[k/len(targets)]},
						[]uint16{cells[r%len(cells)]},
					)
				}
				return q.boundSums()
			},
		)
	}
	for _, c := range []struct {
		relation budget.Relation
		groups   CellGroups
		want     float64
	}{
		{budget.AddRemove, CellGroups{}, 1.399107},
		{budget.AddRemove, CellGroups{4, 16}, 1.399107},
		{budget.Substitute, CellGroups{}, 1.634778},
		{budget.Substitute, CellGroups{4, 16}, 1.672573},
	} {
		got := testSession(t, c.relation, 1).NewSquareSums(Nodes{4}, c.groups, 1).boundSums().Sensitivity()
		if math.Abs(got-c.want) > 5e-7 {
			t.Errorf(
				"%v, %+v: %v, want %v",
				c.relation, c.groups, got, c.want,
			)
		}
	}
}

// TestSquareEntriesSensitivity searches records with numbers at, below and beyond every limit, and records without numbers, for
// the L1 sensitivity of the sums with Laplace noise, which is attained.
func TestSquareEntriesSensitivity(t *testing.T) {
	targets := []float64{
		-9, -.3, 0, .6,
		1, math.NaN(),
	}
	residuals := []float64{
		0, .3, .7, 1, 1.3,
		-2, 2.7, 9,
	}
	for _, top := range []float64{1, 2, 3.2} {
		reached := .999999
		if top == 1 { // without nodes their weight is not used
			reached = .74
		}
		searchNeighbours(t, 1, len(targets)*len(residuals), reached,
			func(s *Session, rows []int) Bounded[Vector] {
				q := s.NewSquareEntries(Nodes{top})
				for _, r := range rows {
					q.Add(
						targets[r%len(targets):][:1],
						residuals[r/len(targets):][:1],
						[]uint16{NoSize},
					)
				}
				return q.entryBound()
			})
	}
	for rel, want := range map[budget.Relation]float64{budget.AddRemove: 1.6, budget.Substitute: 2.9} {
		got := testSession(t, rel, 1).NewSquareEntries(Nodes{4}).entryBound().Sensitivity()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf(
				"%v: %v, want %v",
				rel, got, want,
			)
		}
	}
}

// TestSquareEntriesRelease checks that each sum is divided by its weight and has its own noise. With a scale of at most
// .029 in the count a number is off by more than .5 with odds below 1e-7.
func TestSquareEntriesRelease(t *testing.T) {
	for rel, residual := range map[budget.Relation]float64{
		budget.AddRemove: 2, budget.Substitute: math.Sqrt2,
	} {
		priced, err := budget.Calibrate(budget.Sequence("run",
			budget.PureLeaf("leaf", 1, 1).WithStatistic(StatSquareEntries)),
			budget.Target{Epsilon: 1000, Relation: rel})
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSession(priced)
		if err != nil {
			t.Fatal(err)
		}
		before := SquareEntriesNoise(s, "leaf")
		q := s.NewSquareEntries(Nodes{4})
		q.Add(
			[]float64{.5, -2, math.NaN()},
			[]float64{2, .5, 1},
			[]uint16{NoSize, NoSize, NoSize},
		)
		released, err := q.ReleaseEntries(s, "leaf")
		if err != nil {
			t.Fatal(err)
		}
		got := released.Value()
		for name, c := range map[string][2]float64{
			"count": {got.Count, 2}, "sum": {got.Sum, -.5}, "target": {got.Target, 1.25},
			"residual": {got.Residual, 1.25}, "missing": {got.Missing, 1},
			"first node": {got.Nodes[0], 1}, "second node": {got.Nodes[1], 0},
		} {
			if !(math.Abs(c[0]-c[1]) <= .5) {
				t.Errorf(
					"%v: %s is %v, want %v",
					rel, name, c[0], c[1],
				)
			}
		}
		scale := s.Scale("leaf")
		want := residual * scale
		if math.Abs(got.ResidualNoise/want-1) > 1e-9 ||
			math.Abs(before/got.ResidualNoise-1) > 1e-6 || !got.Laplace {
			t.Errorf("%v: the noise of the residuals is %v, announced as %v, want %v", rel,
				got.ResidualNoise, before, want)
		}
		want = math.Sqrt2 * scale / .1
		if math.Abs(got.CountNoise/want-1) > 1e-9 {
			t.Errorf(
				"%v: the noise of the count is %v, want %v",
				rel, got.CountNoise, want,
			)
		}
	}
}

// TestNodeLevels checks that levels double up to the last one, which is robust to a rounding error.
func TestNodeLevels(t *testing.T) {
	for _, c := range []struct {
		top  float64
		want []float64
	}{
		{0, []float64{1}},
		{1, []float64{1}},
		{1 + 1e-12, []float64{1}},
		{1.5, []float64{1, 1.5}},
		{2, []float64{1, 2}},
		{4 * (1 + 1e-12), []float64{1, 2, 4}},
		{5, []float64{1, 2, 4, 5}},
		{math.NaN(), []float64{1}},
	} {
		n := Nodes{c.top}
		if n.Len()+1 != len(c.want) {
			t.Errorf(
				"%v has %d levels, want %d",
				c.top, n.Len()+1,
				len(c.want),
			)
			continue
		}
		for j, want := range c.want {
			if math.Abs(n.Level(j)-want) > 1e-9 {
				t.Errorf(
					"level %d of %v is %v, want %v",
					j, c.top,
					n.Level(j), want,
				)
			}
		}
	}
}

// TestNodesHoldSquares checks, for records in any place and limits at any level, that the sum of squares follows from
// the nodes, up to the rounding of each record to the grid, and that nodes and the outer cell together count every
// outer record once.
func TestNodesHoldSquares(t *testing.T) {
	s := preciseSession(t, budget.AddRemove, 1)
	rapid.Check(t, func(t *rapid.T) {
		top := rapid.Float64Range(1, 70).Draw(t, "top")
		residuals := rapid.SliceOfN(rapid.Float64Range(0, top), 1, 30).Draw(t, "residuals")
		n := Nodes{top}
		q := s.NewSquareSums(n, CellGroups{1, 1}, .5)
		far := 0
		for _, r := range residuals {
			cell := uint16(NoSize)
			if r > .9 {
				far++
				cell = 0
			}
			q.Add([]float64{0}, []float64{r}, []uint16{cell})
		}
		node := func(j int) float64 {
			return float64(q.beyond[j-1]) * sumUnit / .9
		}
		count := float64(q.far[0]) * sumUnit / .9
		for j := 1; j <= n.Len(); j++ {
			count += node(j)
		}
		if math.Abs(count-float64(far)) > 1e-6*float64(far+1) {
			t.Fatalf("%v far records, want %d", count, far)
		}
		for k := range n.Len() + 1 {
			limit := n.Level(k) * n.Level(k)
			got := float64(q.sums[3]) * sumUnit
			want := 0.
			for j := 1; j <= n.Len(); j++ {
				got += (min(
					n.Level(j)*n.Level(j),
					limit,
				) - 1) * node(j)
			}
			for _, r := range residuals {
				want += min(r*r, limit)
			}
			if math.Abs(got-want) > 1e-7*(1+float64(len(residuals))*limit) {
				t.Fatalf(
					"cut at level %d: %v, want %v",
					k, got, want,
				)
			}
		}
	})
}

// TestSquareSumsRelease checks that each sum is divided by its weight and has its own noise. With deviations below
// .0104 the sums are exact to .13, twelve deviations (odds below 1e-30).
func TestSquareSumsRelease(t *testing.T) {
	s := preciseSession(t, budget.AddRemove, 1000)
	q := s.NewSquareSums(Nodes{4}, CellGroups{1, 2}, .5)
	other := s.NewSquareSums(Nodes{4}, CellGroups{1, 2}, .5)
	q.Add(
		[]float64{.5, -2, math.NaN()},
		[]float64{2, .5, 1},
		[]uint16{NoSize, 2, 0},
	)
	other.Add(
		[]float64{math.NaN(), 0, 0},
		[]float64{
			math.NaN(), math.NaN(),
			-math.Sqrt(2.5),
		},
		[]uint16{0, 2, 0},
	)
	q.Cells().mergeValues(other.Cells().copyValues())
	released, err := q.Release(s, "leaf")
	if err != nil {
		t.Fatal(err)
	}
	got := released.Value()
	for name, c := range map[string][2]float64{
		"count":       {got.Count, 4},
		"sum":         {got.Sum, -.5},
		"target":      {got.Target, 1.25},
		"residual":    {got.Residual, 2.25},
		"contrast":    {got.Contrast, .875*.875 + .0625 + 1},
		"missing":     {got.Missing, 2},
		"first node":  {got.Nodes[0], 1.5},
		"second node": {got.Nodes[1], 0},
		"first cell":  {got.Cells[0], .5},
		"second cell": {got.Cells[1], 0},
		"third cell":  {got.Cells[2], 2},
		"group":       {got.Groups[0], 2},
	} {
		if math.Abs(c[0]-c[1]) > .13 {
			t.Errorf(
				"%s is %v, want %v",
				name, c[0], c[1],
			)
		}
	}
	for name, c := range map[string][2]float64{
		"count":          {got.CountNoise, .15},
		"sum":            {got.SumNoise, .25},
		"target":         {got.TargetNoise, math.Sqrt(.75)},
		"residual":       {got.ResidualNoise, math.Sqrt(.75)},
		"contrast":       {got.ContrastNoise, .25},
		"shared":         {math.Sqrt(got.SharedNoise), math.Sqrt(1.5)},
		"missing":        {got.MissingNoise, .4},
		"nodes":          {got.NodeNoise, .9},
		"the first cell": {got.FarNoise, .9},
		"cells":          {got.CellNoise, math.Sqrt(.405)},
	} {
		if math.Abs(c[0]*c[1]/s.Scale("leaf")-1) > 1e-8 {
			t.Errorf(
				"the noise of %s is %v",
				name, c[0],
			)
		}
	}
}

// TestSquareSumsNoise checks the standard deviations of the specification at mu = 1, with a share of .85 of mu^2.
func TestSquareSumsNoise(t *testing.T) {
	for rel, want := range map[budget.Relation]float64{
		budget.AddRemove:  1.752309,
		budget.Substitute: 1.773166,
	} {
		s := preciseSession(t, rel, math.Sqrt(.85))
		released, err := s.NewSquareSums(Nodes{2}, CellGroups{}, 1).Release(s, "leaf")
		if err != nil {
			t.Fatal(err)
		}
		got := released.Value().ResidualNoise
		if math.Abs(got-want) > 2e-6 {
			t.Errorf(
				"%v: %v, want %v",
				rel, got, want,
			)
		}
	}
}
