package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// selectColumns runs a selector on columns, the last being the target.
func selectColumns(
	t testing.TB,
	x Selector,
	epsilon float64,
	rel budget.Relation,
	columns ...[]float64,
) []int {
	t.Helper()
	var schema dataset.Schema
	var data []dataset.ColumnData
	for j, c := range columns {
		schema.Columns = append(
			schema.Columns,
			dataset.Column{Name: fmt.Sprint("c", j)},
		)
		data = append(data, dataset.ColumnData{Floats: c})
	}
	tab, err := dataset.NewTable(schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	last := len(columns) - 1
	f := Facts{
		Columns:  schema.Columns[:last],
		Target:   schema.Columns[last],
		Relation: rel,
	}
	node, private, err := x.Plan(f)
	if err != nil || !private {
		t.Fatalf("plan: private %v, %v", private, err)
	}
	priced, err := budget.Calibrate(
		budget.Sequence("selection", node),
		budget.Target{
			Epsilon:  epsilon,
			Delta:    1e-6,
			Relation: rel,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	out, err := x.Select(
		context.Background(), s, f,
		memory.NewRecords(tab.View()),
	)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rearrangedColumns returns columns of n records, each a different rearrangement.
func rearrangedColumns(n int, steps ...int) [][]float64 {
	out := make([][]float64, len(steps))
	for j, step := range steps {
		for i := range n {
			out[j] = append(out[j], float64(i*step%n))
		}
	}
	return out
}

// TestKendallFindsWhatMatters checks that with a large budget the column that determines the target is selected
// first, that a copy of it is not selected second, and that scale and direction do not matter.
func TestKendallFindsWhatMatters(t *testing.T) {
	const n = 2003
	w := rearrangedColumns(n, 757, 331, 1201, 89)
	y := make([]float64, n)
	inverse := make([]float64, n)
	copied := make([]float64, n)
	for i := range y {
		y[i] = 3*w[0][i] + w[1][i]
		inverse[i] = -1e12 * w[0][i]
		copied[i] = math.Exp(w[0][i] / n)
	}
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		got := selectColumns(
			t, Kendall{K: 1}, 5, rel,
			w[2], inverse, w[3], y,
		)
		if !slices.Equal(got, []int{1}) {
			t.Errorf(
				"%v: first choice %v, want column 1",
				rel, got,
			)
		}
		got = selectColumns(
			t,
			Kendall{K: 2},
			5,
			rel,
			w[1],
			inverse,
			copied,
			w[3],
			y,
		)
		if !slices.Equal(got, []int{0, 1}) &&
			!slices.Equal(got, []int{0, 2}) {
			t.Errorf(
				"%v: choices %v, want column 0 and one of the copies",
				rel, got,
			)
		}
	}
}

// TestKendallLaw checks that for two candidates the odds of the first are exp((u_0 - u_1) epsilon/width). 3000 runs;
// six standard deviations.
func TestKendallLaw(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5}
	z := []float64{2, 2, 2, 2, 2}
	y := []float64{1, 2, 3, 4, 5}
	node, _, err := Kendall{K: 1}.Plan(numericFacts("x", "z"))
	if err != nil {
		t.Fatal(err)
	}
	priced, err := budget.Calibrate(
		budget.Sequence("selection", node),
		budget.Target{Epsilon: 1, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	law, _ := priced.Law("selection/kendall")
	// t(x, y) = 10/4 and t(z, y) = 0.
	p := 1 / (1 + math.Exp(-2.5*law.Epsilon/2.5))
	first := 0.0
	const runs = 3000
	f := numericFacts("x", "z")
	schema := dataset.Schema{Columns: append(slices.Clone(f.Columns), f.Target)}
	tab, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{{Floats: x}, {Floats: z}, {Floats: y}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	for range runs {
		s, err := mechanism.NewSession(priced.Again())
		if err != nil {
			t.Fatal(err)
		}
		got, err := Kendall{K: 1}.Select(
			context.Background(),
			s,
			f,
			memory.NewRecords(tab.View()),
		)
		if err != nil {
			t.Fatal(err)
		}
		if got[0] == 0 {
			first++
		}
	}
	if math.Abs(first-runs*p) > 6*math.Sqrt(runs*p*(1-p)) {
		t.Errorf(
			"%v of %d first choices, expected %.0f",
			first, runs, runs*p,
		)
	}
}

// TestKendallIsTotal checks that any columns give k different choices.
func TestKendallIsTotal(t *testing.T) {
	nan := math.NaN()
	inf := math.Inf(1)
	for name, columns := range map[string][][]float64{
		"no rows": {{}, {}, {}, {}},
		"one row": {{1}, {2}, {3}, {4}},
		"constant": {
			{1, 1, 1},
			{2, 2, 2},
			{0, 0, 0},
			{5, 5, 5},
		},
		"missing": {
			{nan, nan, nan},
			{1, nan, 2},
			{nan, nan, 1},
			{nan, 1, 2},
		},
		"infinite": {
			{inf, -inf, inf},
			{1, 2, 3},
			{inf, 1, 2},
			{-inf, inf, 0},
		},
		"duplicates": {
			{1, 2, 3},
			{1, 2, 3},
			{1, 2, 3},
			{1, 2, 3},
		},
	} {
		for _, epsilon := range []float64{.01, 1, 30} {
			got := selectColumns(t, Kendall{K: 2}, epsilon, budget.AddRemove, columns...)
			if len(got) != 2 ||
				got[0] >= got[1] ||
				got[0] < 0 ||
				got[1] > 2 {
				t.Errorf("%s: chose %v", name, got)
			}
		}
	}
}

func TestKendallPlan(t *testing.T) {
	f := numericFacts("a", "b", "c")
	for _, k := range []int{-1, 0, 3, 4} {
		_, _, err := (Kendall{K: k}).Plan(f)
		if !errors.Is(err, ErrCount) {
			t.Errorf("k = %d: %v", k, err)
		}
	}
	f.Columns[1].Kind = dataset.Category
	f.Columns[1].Categories = []string{"x", "y"}
	most := (Kendall{K: 2}).Widest(f)
	if len(most) != 2 || most[0].Name != "b" {
		t.Errorf("widest choice %v", most)
	}
}

// TestKendallPerRound reproduces the per-round epsilons of the specification at
// (.5, 1e-6): .0741 for ten rounds, .117 for five.
func TestKendallPerRound(t *testing.T) {
	for k, want := range map[int]float64{10: .0741, 5: .117} {
		node, _, err := Kendall{K: k}.Plan(
			numericFacts(
				"a", "b", "c",
				"d", "e", "f",
				"g", "h", "i",
				"j", "k",
			))
		if err != nil {
			t.Fatal(err)
		}
		priced, err := budget.Calibrate(
			budget.Sequence("selection", node),
			budget.Target{Epsilon: .5, Delta: 1e-6},
		)
		if err != nil {
			t.Fatal(err)
		}
		law, _ := priced.Law("selection/kendall")
		if math.Abs(law.Epsilon-want) > .0006 {
			t.Errorf(
				"k = %d: %v a round, want %v",
				k, law.Epsilon, want,
			)
		}
	}
}

func ExampleKendall() {
	f := Facts{Columns: []dataset.Column{
		{Name: "age"},
		{Name: "dose"},
		{Name: "site"},
	}}
	node, private, err := Kendall{K: 2}.Plan(f)
	fmt.Println(node.Name, node.Leaf.Draws, private, err)
	// Output: kendall 2 true <nil>
}
