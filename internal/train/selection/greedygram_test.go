package selection

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// greedyTable has six numbers and a category. The target is computed from x0, x2 and the category; x1 is nearly equal
// to x0, and x3 is a weak cause.
func greedyTable(t testing.TB, n, classes int) (dataset.View, Facts) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 3))
	columns := make([][]float64, 6)
	groups := make([]int32, n)
	y := make([]int32, n)
	numbers := make([]float64, n)
	for i := range n {
		for j := range columns {
			columns[j] = append(columns[j], 2*rng.Float64()-1)
		}
		columns[1][i] = .95*columns[0][i] + .05*columns[1][i]
		groups[i] = int32(rng.IntN(3))
		v := columns[0][i] + .6*columns[2][i] + .2*columns[3][i]
		if groups[i] == 1 {
			v += 1.2
		}
		numbers[i] = v / 3
		for y[i] = 0; int(y[i]) < classes-1 && v > -.4+.8*float64(y[i]); y[i]++ {
		}
	}
	v, f := classTable(
		t, 1, columns,
		[][]int32{groups}, 3,
		max(classes, 2), y,
	)
	if classes > 0 {
		return v, f
	}
	f.Target = dataset.Column{
		Name:   "y",
		Ranged: true,
		Lower:  -1,
		Upper:  1,
	}
	f.Ranges[len(f.Ranges)-1] = scaling.Range{
		Lower:    -1,
		Upper:    1,
		Declared: true,
	}
	data := make([]dataset.ColumnData, 0, 8)
	for _, c := range columns {
		data = append(data, dataset.ColumnData{Floats: c})
	}
	data = append(
		data,
		dataset.ColumnData{Codes: groups},
		dataset.ColumnData{Floats: numbers},
	)
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: append(slices.Clone(f.Columns), f.Target)},
		data,
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return tab.View(), f
}

// TestGreedyGramOrder checks that with hardly any noise the causes are selected first, but not the copy of the first
// cause, for a numeric target and for two and three classes.
func TestGreedyGramOrder(t *testing.T) {
	for _, classes := range []int{0, 2, 3} {
		v, f := greedyTable(t, 4000, classes)
		x := GreedyGram{K: 4}
		order, err := x.Ranked(
			context.Background(),
			classSession(t, x, 1e4, f),
			f,
			memory.NewRecords(v),
		)
		if err != nil {
			t.Fatal(err)
		}
		first := slices.Sorted(slices.Values(order[:3]))
		if !slices.Equal(first, []int{0, 2, 6}) && !slices.Equal(first, []int{1, 2, 6}) ||
			order[3] != 3 {
			t.Errorf("%d classes: order %v", classes, order)
		}
		got := classPick(t, x, 1e4, f, v)
		if len(got) != 4 || !slices.IsSorted(got) {
			t.Errorf("%d classes: picked %v", classes, got)
		}
	}
}

// TestGreedyGramCosts checks that a column of higher cost must explain more, that the budget of costs holds, and that
// free columns are always chosen.
func TestGreedyGramCosts(t *testing.T) {
	v, f := greedyTable(t, 4000, 0)
	pick := func(x GreedyGram) []int {
		return classPick(t, x, 1e4, f, v)
	}
	got := pick(
		GreedyGram{
			Budget: 2,
			Costs: map[string]float64{
				"x0": 50,
				"x1": 50,
				"g0": 3,
			},
		})
	if !slices.Equal(got, []int{2, 3}) {
		t.Errorf("%v: the affordable causes are 2 and 3", got)
	}
	got = pick(GreedyGram{Budget: 1, Costs: map[string]float64{"x5": 0}})
	if len(got) != 2 || !slices.Contains(got, 5) {
		t.Errorf("%v: the free column and one more", got)
	}
	if got := pick(GreedyGram{K: 1, Budget: 9}); len(got) != 1 {
		t.Errorf("%v: k bounds the number too", got)
	}
	if got := pick(GreedyGram{}); len(got) != DefaultK {
		t.Errorf("%v by default", got)
	}
	if got := (GreedyGram{
		Budget: 2.5,
		Costs:  map[string]float64{"g0": 2, "x0": 9},
	}).Widest(
		f); len(got) != 2 || got[0].Name != "g0" {
		t.Errorf("the widest choice is %v", got)
	}
}

// TestGreedyGramPlan checks that settings that contradict the columns are errors of the plan.
func TestGreedyGramPlan(t *testing.T) {
	_, f := greedyTable(t, 10, 0)
	for _, tt := range []struct {
		x    GreedyGram
		want error
	}{
		{GreedyGram{K: 7}, ErrCount},
		{GreedyGram{K: -1}, ErrCount},
		{GreedyGram{Sizes: []int{3, 2}}, ErrSizes},
		{GreedyGram{Sizes: []int{1, 2}, Budget: 1}, ErrSizes},
		{GreedyGram{Budget: -1}, errCosts},
		{GreedyGram{Costs: map[string]float64{"x0": -1}}, errCosts},
		{GreedyGram{K: 2}, nil},
		{GreedyGram{Sizes: []int{1, 3}}, nil},
	} {
		_, _, err := tt.x.Plan(f)
		if !errors.Is(err, tt.want) {
			t.Errorf(
				"%+v: %v, want %v",
				tt.x, err, tt.want,
			)
		}
	}
	f.Ranges = nil
	x := GreedyGram{K: 2}
	_, err := x.Select(
		context.Background(),
		classSession(t, x, 1, f),
		f,
		memory.NewRecords(dataset.View{}),
	)
	if !errors.Is(err, ErrRanges) {
		t.Errorf("without ranges: %v", err)
	}
}

func BenchmarkGreedyGram(b *testing.B) {
	v, f := greedyTable(b, 100_000, 2)
	x := GreedyGram{K: 4}
	priced := classPriced(b, x, 1, f)
	for b.Loop() {
		s, err := mechanism.NewSession(priced.Again())
		if err != nil {
			b.Fatal(err)
		}
		_, err = x.Select(context.Background(), s, f, memory.NewRecords(v))
		if err != nil {
			b.Fatal(err)
		}
	}
}
