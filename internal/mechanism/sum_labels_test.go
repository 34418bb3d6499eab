package mechanism

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// TestLabelSumsSensitivity replaces the label of every record by every other. The declared bound is never exceeded
// and is attained by the longest row, for numbers and for classes, and it does not depend on any label.
func TestLabelSumsSensitivity(t *testing.T) {
	s := testSession(t, budget.SubstitutePrivateColumns, 1)
	rows := [][]int16{
		{FixedOne, -3000},
		{120, 7},
		{-9000, FixedOne},
		{0, 0},
	}
	numbers := []int16{
		-FixedOne, -5000, 0, 77, FixedOne,
		math.MaxInt16, math.MinInt16,
	}
	classes := []int32{0, 1, 2, 3, -1}
	bound := func(k int, labels [4]int) Bounded[Vector] {
		x := s.NewLabelSums(2, k)
		for i, row := range rows {
			if k == 0 {
				x.AddNumbers(columnsOf(row), []int16{numbers[labels[i]]})
			} else {
				x.AddClasses(columnsOf(row), []int32{classes[labels[i]]})
			}
		}
		b, err := x.Bound()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, k := range []int{0, 3} {
		values := len(numbers)
		if k > 0 {
			values = len(classes)
		}
		reached := 0.
		for at := range rows {
			for a := range values {
				for b := range values {
					first := [4]int{1, 2, 0, 3}
					second := [4]int{1, 2, 0, 3}
					first[at] = a
					second[at] = b
					x := bound(k, first)
					y := bound(k, second)
					if x.sens != y.sens {
						t.Fatal("the bound depends on a label")
					}
					d := 0.
					for i := range x.value {
						d += float64(x.value[i]-y.value[i]) * float64(x.value[i]-y.value[i])
					}
					reached = max(reached, math.Sqrt(d)/x.sens)
				}
			}
		}
		if reached > 1 || reached < 1-1e-9 {
			t.Errorf(
				"%d classes: the sums move by %v of the bound",
				k, reached,
			)
		}
	}
}

// TestLabelSumsFollowRows checks that a shorter longest row has a smaller bound, and that rows of zeros have a bound
// above 0.
func TestLabelSumsFollowRows(t *testing.T) {
	s := testSession(t, budget.SubstitutePrivateColumns, 1)
	sens := func(x int16) float64 {
		sums := s.NewLabelSums(1, 0)
		sums.AddNumbers([][]int16{{x}}, []int16{5})
		b, err := sums.Bound()
		if err != nil {
			t.Fatal(err)
		}
		return b.sens
	}
	a := sens(FixedOne)
	b := sens(100)
	c := sens(0)
	if !(a > b && b > c && c > 0) {
		t.Errorf(
			"%v, %v, %v",
			a, b, c,
		)
	}
}

// TestPublicMoments checks that second moments and cross products of public rows are the sums of products.
func TestPublicMoments(t *testing.T) {
	s := testSession(t, budget.SubstitutePrivateColumns, 1)
	g := s.NewPublicGram(2)
	g.Add([][]int16{{FixedOne, -8192}, {4096, FixedOne}})
	moments, longest, err := g.Exact()
	want := []float64{1.25, .25 - .5, 1.0625}
	if err != nil ||
		!slices.Equal(moments.Value(), want) ||
		math.Abs(longest.Value()-math.Sqrt(1.25)) > 1e-12 {
		t.Errorf(
			"%v, longest row %v, %v",
			moments.Value(), longest.Value(), err,
		)
	}
	c := s.NewPublicCross(2)
	c.Add(
		[][]int16{{FixedOne, -8192}, {4096, FixedOne}},
		[]float64{.5, -2},
	)
	cross, err := c.Exact()
	want = []float64{.5 + .5, .125 - 1}
	if err != nil || !slices.Equal(cross.Value(), want) {
		t.Errorf(
			"%v, %v",
			cross.Value(), err,
		)
	}
}

// TestPublicMomentsNeedPublicColumns checks that there are no exact moments under a relation that protects whole
// records.
func TestPublicMomentsNeedPublicColumns(t *testing.T) {
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		s := testSession(t, rel, 1)
		_, _, gram := s.NewPublicGram(1).Exact()
		_, cross := s.NewPublicCross(1).Exact()
		_, labels := s.NewLabelSums(1, 0).Bound()
		_, classes := s.NewPartClassStats(
			[]bool{true}, 2, 1, true,
			ClassWeights{},
		).Bound()
		for i, err := range []error{gram, cross, labels, classes} {
			if !errors.Is(err, ErrRelation) {
				t.Errorf(
					"%v, statistic %d: %v",
					rel, i, err,
				)
			}
		}
	}
}

// TestPrivateClassStatsSensitivity replaces the class of a record by every other, including a missing one. The bound
// is never exceeded and is attained by a row that is the longest in both senses, and the exact moments stay
// bit-identical.
func TestPrivateClassStatsSensitivity(t *testing.T) {
	s := testSession(t, budget.SubstitutePrivateColumns, 1)
	rows := [][]int16{
		{FixedOne, 0},
		{9000, -700},
		{0, 5},
	}
	for _, w := range []ClassWeights{{}, {1, .3, 2, 1}} {
		reached := 0.
		var products, totals []float64
		for at := range rows {
			for a := range int32(4) {
				for b := range int32(4) {
					stats := func(class int32) (Bounded[Weighted], ClassMoments) {
						c := s.NewPartClassStats([]bool{true, true}, 3, 1, true, w)
						for i, row := range rows {
							k := int32(i)
							if i == at {
								k = class
							}
							c.Add(columnsOf(row), []int32{k})
						}
						x, err := c.Bound()
						if err != nil {
							t.Fatal(err)
						}
						m, _, _ := c.moments(c.blocks())
						return x, m
					}
					x, first := stats(a)
					y, second := stats(b)
					if x.sens != y.sens ||
						!slices.Equal(first.Products, second.Products) ||
						!slices.Equal(first.Totals, second.Totals) ||
						first.Records != 3 ||
						second.Records != 3 {
						t.Fatal("a class changes what is exact")
					}
					products = first.Products
					totals = first.Totals
					reached = max(reached, weightedChange(x, y)/x.sens)
				}
			}
		}
		if reached > 1 || reached < 1-1e-6 {
			t.Errorf(
				"weights %v: the statistics move by %v of their bound",
				w, reached,
			)
		}
		if len(products) != 3 ||
			math.Abs(totals[0]-(1+9000./FixedOne)) > 1e-12 {
			t.Errorf("products %v, totals %v", products, totals)
		}
	}
}

// TestPartClassStatsSensitivity replaces the private part of a record with a long public part by every other over a
// circle of directions, below, at and above the limit. The bound is never exceeded and nearly reached, and the exact
// moments stay bit-identical.
func TestPartClassStatsSensitivity(t *testing.T) {
	s := testSession(t, budget.SubstitutePrivateColumns, 1)
	var circle [][]int16
	for i := range 24 {
		for _, r := range []float64{.3, 1} {
			a := 2 * math.Pi * float64(i) / 24
			circle = append(
				circle,
				[]int16{
					int16(r * math.Cos(a) * FixedOne),
					int16(r * math.Sin(a) * FixedOne),
				},
			)
		}
	}
	for _, limit := range []float64{.5, 1} {
		for _, w := range []ClassWeights{
			{},
			{1, 3, .2, 1},
			{1, .1, .2, 1},
		} {
			stats := func(z []int16) (Bounded[Weighted], *PartClassStats) {
				c := s.NewPartClassStats([]bool{true, false, false}, 2, limit, false, w)
				c.Add(
					columnsOf([]int16{FixedOne, z[0], z[1]}),
					[]int32{1},
				)
				c.Add(columnsOf([]int16{500, 9000, -77}), []int32{0})
				c.Add(columnsOf([]int16{-40, z[1], z[0]}), []int32{2}) // in no class
				x, err := c.Bound()
				if err != nil {
					t.Fatal(err)
				}
				return x, c
			}
			reached := 0.
			for _, first := range circle {
				x, a := stats(slices.Clone(first))
				for _, second := range circle {
					y, b := stats(slices.Clone(second))
					if x.sens != y.sens ||
						a.stats.sums[1][0] != b.stats.sums[1][0] ||
						a.stats.rows.sums[0] != b.stats.rows.sums[0] ||
						!slices.Equal(a.stats.counts, b.stats.counts) {
						t.Fatal("a private entry changes what is exact")
					}
					reached = max(reached, weightedChange(x, y)/x.sens)
				}
			}
			if reached > 1 || reached < .9 {
				t.Errorf(
					"limit %v, weights %v: the statistics move by %v of their bound",
					limit,
					w,
					reached,
				)
			}
		}
	}
}
