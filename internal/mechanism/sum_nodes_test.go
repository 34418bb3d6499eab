package mechanism

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
)

// nodeWeights are weights of a record in two nodes: in one, in both, in neither, and some with a sum above 1.
var nodeWeights = [][2]float64{
	{1, 0},
	{0, 1},
	{.5, .5},
	{.9, .1},
	{.25, 0},
	{0, 0},
	{1, 1},
	{math.NaN(), 2},
	{-1, .3},
	{.7, .7},
}

func nodeGramsOf(
	s *Session,
	limit float64,
	rows [][]int16,
	picks []int,
) Bounded[Symmetric] {
	g := s.NewNodeGrams(2, len(rows[0]), limit)
	block := make([][]int16, len(rows[0]))
	weights := make([][]float64, 2)
	for _, i := range picks {
		for k := range block {
			block[k] = append(block[k], rows[i%len(rows)][k])
		}
		for k := range weights {
			weights[k] = append(weights[k], nodeWeights[i/len(rows)][k])
		}
	}
	g.Add(block, weights)
	return g.Bound()
}

// distanceOf is the Frobenius distance of lists of matrices.
func distanceOf(a, b Symmetric) float64 {
	sum := 0.
	size := a.P * (a.P + 1) / 2
	for k := 0; k < len(a.Packed); k += size {
		sum = math.Hypot(
			sum,
			frobeniusDistance(
				Symmetric{a.P, a.Packed[k : k+size]},
				Symmetric{a.P, b.Packed[k : k+size]},
			),
		)
	}
	return sum
}

// TestNodeGramsSensitivity searches tables of up to two records, with rows below, at and
// above the limit and every kind of weights: B^2 (sqrt2 B^2) is never passed and is
// attained; nor is it by a record that loses its target under substitution.
func TestNodeGramsSensitivity(t *testing.T) {
	rows := [][]int16{
		{FixedOne, 0},
		{0, FixedOne},
		{FixedOne, -FixedOne},
		{3, 7000},
		{0, 0},
	}
	for _, limit := range []float64{.3, 1, 1.9} {
		for _, rel := range bothRelations() {
			s := testSession(t, rel, 1)
			worst := 0.
			sens := 0.
			grams := rememberTables(2, func(table []int) Bounded[Symmetric] {
				return nodeGramsOf(s, limit, rows, table)
			})
			see := func(a, b []int) {
				x := grams(a)
				y := grams(b)
				sens = x.sens
				worst = math.Max(worst, distanceOf(x.value, y.value))
			}
			eachNeighbour(2, len(rows)*len(nodeWeights), rel, see)
			eachNeighbour(1, len(rows)*len(nodeWeights), budget.AddRemove, see)
			if worst > sens {
				t.Errorf(
					"%v, limit %v: change %v above the declared %v",
					rel,
					limit,
					worst,
					sens,
				)
			}
			if limit <= 1 && worst < .999*sens {
				t.Errorf(
					"%v, limit %v: largest change found is %.4f of the declared sensitivity",
					rel,
					limit,
					worst/sens,
				)
			}
		}
	}
}

// TestNodeGramsManyNodes checks that the whole change of a record is within the bound, whatever the number of its
// nodes, and within the bound times the root of the sum of squared weights.
func TestNodeGramsManyNodes(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 8).Draw(t, "nodes")
		p := rapid.IntRange(1, 4).Draw(t, "p")
		limit := rapid.Float64Range(.01, 5).Draw(t, "limit")
		g := s.NewNodeGrams(nodes, p, limit)
		empty := s.NewNodeGrams(nodes, p, limit).Bound()
		row := make([][]int16, p)
		weights := make([][]float64, nodes)
		for k := range row {
			row[k] = []int16{rapid.Int16().Draw(t, "entry")}
		}
		sum := 0.
		left := 1.
		for k := range weights {
			w := rapid.Float64Range(-.5, 1.5).Draw(t, "weight")
			weights[k] = []float64{w}
			w = min(max(w, 0), left)
			left -= w
			sum += w * w
		}
		g.Add(row, weights)
		got := g.Bound()
		d := distanceOf(got.value, empty.value)
		if d > got.sens ||
			d > got.sens*math.Sqrt(sum)*(1+1e-3)+1 {
			t.Fatalf(
				"change %v, bound %v, squared weights %v",
				d, got.sens, sum,
			)
		}
	})
}

// TestNodeGramsOfOneNode checks that with weight 1 a node has the matrix of [Gram], bit for bit, and that the nodes
// of a hard routing add up to it.
func TestNodeGramsOfOneNode(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "n")
		columns := func() [][]int16 {
			return make([][]int16, 3)
		}
		a := columns()
		b := columns()
		c := columns()
		weights := make([][]float64, 2)
		for range n {
			for k := range a {
				v := rapid.Int16().Draw(t, "entry")
				a[k] = append(a[k], v)
				b[k] = append(b[k], v)
				c[k] = append(c[k], v)
			}
			side := rapid.IntRange(0, 1).Draw(t, "side")
			weights[0] = append(weights[0], float64(side))
			weights[1] = append(weights[1], float64(1-side))
		}
		ones := make([]float64, n)
		for i := range ones {
			ones[i] = 1
		}
		plain := s.NewGram(3, 1.5)
		one := s.NewNodeGrams(1, 3, 1.5)
		two := s.NewNodeGrams(2, 3, 1.5)
		plain.Add(a)
		one.Add(b, [][]float64{ones})
		two.Add(c, weights)
		for i, v := range plain.sums {
			if one.sums[0][i] != v ||
				two.sums[0][i]+two.sums[1][i] != v {
				t.Fatalf(
					"entry %d: %d, one node %d, two %d and %d",
					i,
					v,
					one.sums[0][i],
					two.sums[0][i],
					two.sums[1][i],
				)
			}
		}
	})
}

// medianValues are values around and between the points -1, 0 and 1.
var medianValues = []float64{
	-2, -1, -.5, 0,
	1, 7, math.NaN(),
}

func mediansOf(s *Session, picks []int) Bounded[Lists] {
	m := s.NewMedians(2, []float64{-1, 0, 1})
	values := make([][]float64, 2)
	weights := make([][]float64, 2)
	for _, i := range picks {
		v := medianValues[i%len(medianValues)]
		for k := range 2 {
			values[k] = append(values[k], v)
			weights[k] = append(weights[k], nodeWeights[i/len(medianValues)][k])
		}
	}
	m.Add(values, weights)
	return m.Bound()
}

// sumOfWidths returns the sum of the widths of the changes over the lists.
func sumOfWidths(a, b Bounded[Lists]) float64 {
	sum := 0.
	for i := 0; i < len(a.value.Scores); i += a.value.Size {
		lo := math.Inf(1)
		hi := math.Inf(-1)
		for k := i; k < i+a.value.Size; k++ {
			d := float64(b.value.Scores[k] - a.value.Scores[k])
			lo = min(lo, d)
			hi = max(hi, d)
		}
		sum += hi - lo
	}
	return sum
}

// TestMediansSensitivity checks that the width 1 (2 under substitution) over all nodes is never exceeded and is
// attained, in one node and by a record that changes its node.
func TestMediansSensitivity(t *testing.T) {
	for _, rel := range bothRelations() {
		s := testSession(t, rel, 1)
		worst := 0.
		sens := 0.
		medians := rememberTables(2, func(table []int) Bounded[Lists] {
			return mediansOf(s, table)
		})
		see := func(a, b []int) {
			x := medians(a)
			y := medians(b)
			sens = x.sens
			worst = math.Max(worst, sumOfWidths(x, y))
		}
		eachNeighbour(2, len(medianValues)*len(nodeWeights), rel, see)
		eachNeighbour(1, len(medianValues)*len(nodeWeights), budget.AddRemove, see)
		if worst > sens || worst < .999*sens {
			t.Errorf(
				"%v: change %v, declared %v",
				rel, worst, sens,
			)
		}
		want := map[budget.Relation]float64{budget.AddRemove: 1, budget.Substitute: 2}[rel]
		got := mediansOf(s, nil).Sensitivity()
		if got != want {
			t.Errorf(
				"%v: width %v, want %v",
				rel, got, want,
			)
		}
	}
}

// TestMedians checks the scores against their definition, and the units of a record in each node.
func TestMedians(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	m := s.NewMedians(2, []float64{0, 1, 2})
	m.Add(
		[][]float64{
			{-3, .5, 1, 9, math.NaN()},
			{0, 0, 0, 0, 0},
		},
		[][]float64{
			{1, 1, .5, .25, 1},
			{0, 0, .5, .75, 0},
		},
	)
	x := m.Bound()
	// Node 0 has a total of 3.75: 1 up to 0, 2.5 up to 1, 2.5 up to 2. Node 1 has 1.25, all at 0.
	for i, want := range []float64{
		1 - 1.875, -.625,
		-.625, -.625, -.625,
		-.625,
	} {
		got := float64(x.value.Scores[i]) * x.unit
		if got != want {
			t.Errorf(
				"score %d is %v, want %v",
				i, got, want,
			)
		}
	}
}

// TestChooseEach checks that each list is a choice by the exponential mechanism at the epsilon of the draw, by
// counting 4,000 draws (tolerance 6 standard deviations, false alarm below 1e-8 for all lists), and that a draw is
// spent once.
func TestChooseEach(t *testing.T) {
	const draws = 4000
	p, err := budget.Calibrate(
		budget.Sequence("run",
			budget.FixedLeaf(
				"medians",
				budget.Law{
					Kind:    budget.Exponential,
					Epsilon: 1,
					Draws:   draws,
				},
			).
				WithStatistic(StatMedians),
		),
		budget.Target{Epsilon: draws, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(p)
	if err != nil {
		t.Fatal(err)
	}
	m := s.NewMedians(2, []float64{0, 1})
	m.Add(
		[][]float64{
			{0, 0, 0, 1},
			{0, 1, 1, 1},
		},
		[][]float64{
			{1, 1, 1, 1},
			{0, 0, 0, 0},
		},
	)
	x := m.Bound() // node 0: u = -1 and -2; node 1: no records, u = 0 and 0
	var first [2]int
	for i := range draws {
		got, err := ChooseEach(s, "medians", i, x)
		if err != nil {
			t.Fatal(err)
		}
		for k, j := range got.Value() {
			if j == 0 {
				first[k]++
			}
		}
	}
	for k, want := range []float64{
		1 / (1 + math.Exp(-1)),
		.5,
	} {
		got := float64(first[k]) / draws
		if math.Abs(got-want) > 6*math.Sqrt(want*(1-want)/draws) {
			t.Errorf(
				"list %d: the first point in %v of the draws, want %v",
				k, got, want,
			)
		}
	}
	if _, err := ChooseEach(s, "medians", 0, x); !errors.Is(err, ErrSpent) {
		t.Errorf("a draw for a second time: %v", err)
	}
}

func BenchmarkNodeGrams(b *testing.B) {
	m := NewMaker(budget.AddRemove)
	const p, n, nodes = 96, 1024, 4
	columns := make([][]int16, p)
	weights := make([][]float64, nodes)
	for j := range columns {
		columns[j] = make([]int16, n)
		for i := range columns[j] {
			columns[j][i] = int16((i*7919+j*104729)%1000) - 500
		}
	}
	for k := range weights {
		weights[k] = make([]float64, n)
		for i := k; i < n; i += nodes {
			weights[k][i] = 1
		}
	}
	g := m.NewNodeGrams(nodes, p, 20)
	for b.Loop() {
		g.Add(columns, weights)
	}
}
