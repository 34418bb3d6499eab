package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// TestSubLassoFindsWhatMatters checks that the right columns are chosen from 4000 records with 3 strong columns among
// 20, including one in tiny units and one with a negative effect. Each is in every bucket's vote, so at 20 a round
// the chance of a miss is below 1e-9.
func TestSubLassoFindsWhatMatters(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	columns := make([][]float64, 21)
	for range 4000 {
		y := rng.NormFloat64()
		for j := range 20 {
			v := rng.NormFloat64()
			switch j {
			case 4:
				y += 2 * v
				v *= 1e-9
			case 11:
				y -= 2 * v
				v += 1e6
			case 19:
				y += 2 * v
			}
			columns[j] = append(columns[j], v)
		}
		columns[20] = append(columns[20], y)
	}
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		got := selectColumns(t, SubLasso{K: 3, Buckets: 40}, 60, rel, columns...)
		if !slices.Equal(got, []int{4, 11, 19}) {
			t.Errorf(
				"%v: chose %v, want [4 11 19]",
				rel, got,
			)
		}
	}
}

// TestSubLassoIsTotal checks that any columns give k different choices, for a chosen and for a given number of
// buckets, even if there are more buckets than rows.
func TestSubLassoIsTotal(t *testing.T) {
	nan := math.NaN()
	inf := math.Inf(1)
	for name, columns := range map[string][][]float64{
		"no rows": {{}, {}, {}, {}},
		"one row": {{1}, {2}, {3}, {4}},
		"two rows": {
			{1, 2}, {2, 2},
			{3, 1}, {4, 9},
		},
		"constant": {
			{1, 1, 1},
			{2, 2, 2},
			{0, 0, 0},
			{5, 5, 5},
		},
		"constant target": {
			{1, 2, 3},
			{2, 7, 2},
			{0, 0, 0},
			{5, 5, 5},
		},
		"missing": {
			{nan, nan, nan},
			{1, nan, 2},
			{nan, nan, 1},
			{nan, 1, 2},
		},
		"missing target": {
			{1, 2, 3},
			{1, nan, 2},
			{nan, nan, 1},
			{nan, nan, nan},
		},
		"infinite": {
			{inf, -inf, inf},
			{1, 2, 3},
			{inf, 1, 2},
			{-inf, inf, 0},
		},
		"huge": {
			{1e308, -1e308, 5},
			{1e300, 2, 3},
			{1e-308, 1, 2},
			{1e308, -1e308, 0},
		},
		"tiny": {
			{1e-308, 3e-308, 5e-308},
			{1e-99, 2e-99, 0},
			{1, 1 + 1e-16, 1},
			{1e-99, -1e-99, 0},
		},
		"duplicates": {
			{1, 2, 3},
			{1, 2, 3},
			{1, 2, 3},
			{1, 2, 3},
		},
	} {
		for _, buckets := range []int{0, 2, 9} {
			got := selectColumns(
				t,
				SubLasso{K: 2, Buckets: buckets},
				1,
				budget.AddRemove,
				columns...,
			)
			if len(got) != 2 ||
				got[0] >= got[1] ||
				got[0] < 0 ||
				got[1] > 2 {
				t.Errorf("%s: chose %v", name, got)
			}
		}
	}
}

func TestSubLassoPlan(t *testing.T) {
	f := numericFacts("a", "b", "c")
	for want, list := range map[error][]SubLasso{
		ErrCount: {
			{K: -1},
			{K: 0}, {K: 3},
			{K: 4},
		},
		ErrBuckets: {
			{K: 1, Buckets: -1},
			{K: 1, Buckets: 1},
			{K: 1, Buckets: MaxBuckets + 1},
		},
		ErrLambda: {
			{K: 1, Lambda: -1},
			{K: 1, Lambda: 1},
			{K: 1, Lambda: math.NaN()},
			{K: 1, Lambda: math.Inf(1)},
		},
	} {
		for _, x := range list {
			_, private, err := x.Plan(f)
			if private || !errors.Is(err, want) {
				t.Errorf(
					"%+v: private %v, error %v, want %v",
					x, private, err, want,
				)
			}
		}
	}
	node, private, err := SubLasso{K: 2}.Plan(f)
	if err != nil ||
		!private ||
		node.Leaf.Kind != budget.Exponential ||
		node.Leaf.Draws != 2 {
		t.Errorf(
			"plan %+v, private %v, %v",
			node, private, err,
		)
	}
	x := (SubLasso{K: 2})
	if !x.NeedsCount() || x.lassoPenalty() != .1 {
		t.Errorf(
			"%+v needs no count or has lambda %v",
			x, x.lassoPenalty(),
		)
	}
	if (SubLasso{K: 2, Buckets: 5}).NeedsCount() {
		t.Error("a given number of buckets needs a count")
	}
	f.Columns[1].Kind = dataset.Category
	f.Columns[1].Categories = []string{"x", "y"}
	most := (SubLasso{K: 2}).Widest(f)
	if len(most) != 2 || most[0].Name != "b" {
		t.Errorf("widest choice %v", most)
	}
}

// TestSubLassoCancelled checks that a cancelled context ends the run with its error, before any release.
func TestSubLassoCancelled(t *testing.T) {
	s := anySession(t, 1)
	f, tab := noiseTable(30, 3)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	got, err := (SubLasso{K: 1, Buckets: 4}).Select(
		ctx,
		s,
		f,
		memory.NewRecords(tab.View()),
	)
	if !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("cancelled: %v, %v", got, err)
	}
	if s.Events()[0].Released != 0 {
		t.Error("something was released")
	}
	_, err = (SubLasso{K: 1, Buckets: 4}).Select(
		context.Background(),
		s.Sub("absent"),
		f,
		memory.NewRecords(tab.View()),
	)
	if !errors.Is(err, mechanism.ErrUnknownLeaf) {
		t.Errorf("a leaf that is not planned: %v", err)
	}
}

// noiseTable returns n records of d normal columns and a target computed from the first.
func noiseTable(n, d int) (Facts, *dataset.Table) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	var schema dataset.Schema
	data := make([]dataset.ColumnData, d+1)
	for j := range data {
		schema.Columns = append(
			schema.Columns,
			dataset.Column{Name: fmt.Sprint("c", j)},
		)
		data[j].Floats = make([]float64, n)
	}
	for i := range n {
		for j := range d {
			data[j].Floats[i] = rng.NormFloat64()
		}
		data[d].Floats[i] = 3*data[0].Floats[i] + rng.NormFloat64()
	}
	tab, err := dataset.NewTable(schema, data, nil)
	if err != nil {
		panic(err)
	}
	return Facts{Columns: schema.Columns[:d], Target: schema.Columns[d]}, tab
}

// The number of buckets follows from public facts: the budget of a round, the
// shape of the table and a released lower bound of the number of records.
func TestSubLassoBuckets(t *testing.T) {
	at := func(n, d, k int, epsilon float64) int {
		f := Facts{AtLeast: n, Columns: make([]dataset.Column, d)}
		return SubLasso{K: k}.numBuckets(f, epsilon)
	}
	for _, c := range []struct {
		name          string
		n, d, k, want int
		epsilon       float64
	}{
		{
			"enough votes: ceil(4/.012 ln(20 15 5))",
			241600, 15, 5, 2438, .012,
		},
		{
			"rows run out: ceil(16599/(10 ln 11 + 6))",
			16599, 16, 5, 554, .012,
		},
		{
			"a large budget wants few votes: ceil(2 ln 1500)",
			241600, 15, 5, 15, 2,
		},
		{"wide: ceil(sqrt 100)", 100, 2000, 5, 10, .5},
		{
			"wide, large budget: ceil(ln(2e5))",
			200, 2000, 5, 13, 4,
		},
		{
			"all but one column: ceil(99/9)", 99,
			9, 8, 11, .01,
		},
		{"no count", 0, 10, 3, 2, 1},
		{"one record", 1, 10, 3, 2, 1},
		{"no bound on epsilon", 1000, 10, 3, 2, math.Inf(1)},
		{
			"no epsilon: ceil(10000/(6 ln 7 + 4))",
			10000, 10, 3, 638, 0,
		},
		{"absurd count", math.MaxInt, 10, 3, MaxBuckets, 1e-9},
	} {
		got := at(c.n, c.d, c.k, c.epsilon)
		if got != c.want {
			t.Errorf(
				"%s: %d buckets, want %d",
				c.name, got, c.want,
			)
		}
	}
	wide := Facts{AtLeast: 16599, Columns: make([]dataset.Column, 16)}
	wide.Columns[0] = dataset.Column{
		Kind:       dataset.Category,
		Categories: make([]string, 40),
		Other:      true,
	}
	got := (SubLasso{K: 5}).numBuckets(wide, .012)
	if got != 367 { // 10 ln 51 + 6 rows each
		t.Errorf("a column of 41 slots: %d buckets", got)
	}
	got = (SubLasso{K: 5, Buckets: 7}).numBuckets(wide, .012)
	if got != 7 {
		t.Errorf("7 buckets asked for, %d given", got)
	}
}

// A plan releases K choices. Without a number of buckets it requests a released lower bound of the number of records
// first.
func ExampleSubLasso() {
	f := Facts{Columns: []dataset.Column{
		{Name: "age"},
		{Name: "dose"},
		{Name: "site"},
	}}
	x := SubLasso{K: 2}
	node, private, err := x.Plan(f)
	fmt.Println(node.Name, node.Leaf.Draws, private, x.NeedsCount(), err)
	// Output: sublasso 2 true true <nil>
}
