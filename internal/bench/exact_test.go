package bench_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/bench"
)

// forkTable returns a table whose target is a if c is 0, and b otherwise. Column d is irrelevant.
func forkTable(classes bool) string {
	var b strings.Builder
	b.WriteString("a,b,c,d,y\n")
	for i := range 600 {
		x := math.Sin(float64(7 * i))
		z := math.Cos(float64(3 * i))
		d := math.Sin(float64(11 * i))
		c := float64(i % 2)
		y := c*(10+z) + (1-c)*(x-10)
		if classes {
			fmt.Fprintf(
				&b,
				"%v,%v,%v,%v,%s\n",
				x,
				z,
				c,
				d,
				map[bool]string{true: "high", false: "low"}[y > 0 == (i%29 > 0)],
			)
			continue
		}
		fmt.Fprintf(
			&b,
			"%v,%v,%v,%v,%v\n",
			x, z, c, d, y,
		)
	}
	return b.String()
}

// TestExactForms runs the exact forms by name and by recipe, and checks the price paid per row.
func TestExactForms(t *testing.T) {
	dir := t.TempDir()
	path := writeFile(t, dir, "forks.csv", forkTable(false))
	costs := writeFile(
		t,
		dir,
		"costs.yaml",
		"data: {path: forks.csv, target: y}\nmodel: {method: nonprivate-cost-tree, depth: 2, budget: 4, costs: {c: 3}, soft: true}\n",
	)
	_, s := collectRows(t, bench.Config{
		Public:  true,
		Data:    []string{path},
		Trials:  3,
		Recipes: []string{costs},
		Methods: []string{"nonprivate-cost-tree:1", "nonprivate-cost-tree",
			"nonprivate-cost-tree-soft:1", "nonprivate-cstc"},
	})
	// A budget of 1 buys one feature at the root and one at the leaf; without a budget the tree buys all four. CSTC
	// drops the useless d. If c costs 3, a budget of 4 buys c and another feature at the root and then the other two.
	want := []struct{ least, paid float64 }{
		{.99, 2},
		{.999, 4},
		{.99, 2},
		{.999, 3},
		{.99, 6},
	}
	if len(s) != len(want) {
		t.Fatalf("%d summaries", len(s))
	}
	for i, x := range s {
		if x.Failed > 0 ||
			!(x.Median >= want[i].least) ||
			x.Paid == nil ||
			math.Abs(*x.Paid-want[i].paid) > 1e-9 {
			t.Errorf(
				"%s: %v (%v) for %v, want %v for %v",
				x.Method,
				x.Median,
				x.Err,
				*x.Paid,
				want[i].least,
				want[i].paid,
			)
		}
	}
}

// TestExactClasses checks that a price leaves features out and that a third class is refused.
func TestExactClasses(t *testing.T) {
	dir := t.TempDir()
	path := writeFile(t, dir, "forks.csv", forkTable(true))
	c := bench.Config{
		Public: true,
		Data:   []string{path},
		Trials: 3,
		Task:   "classification",
		Methods: []string{"nonprivate-cost-logistic", "nonprivate-cost-logistic:30",
			"nonprivate-cost-tree:1", "nonprivate-cstc:0.01"},
	}
	_, s := collectRows(t, c)
	for i, paid := range []float64{4, 1, 2, 1} {
		x := s[i]
		if x.Failed > 0 ||
			!(x.Median > .9) ||
			x.Paid == nil ||
			*x.Paid > paid {
			t.Errorf(
				"%s: %+v, want at most %v paid",
				x.Method, x, paid,
			)
		}
	}
	third := writeFile(
		t,
		dir,
		"third.csv",
		strings.Replace(forkTable(true), "low", "middle", 40),
	)
	c.Data = []string{third}
	c.Methods = []string{"nonprivate-cost-tree"}
	rows, _ := collectRows(t, c)
	if len(rows) == 0 ||
		rows[0].Err == nil ||
		!strings.Contains(rows[0].Err.Error(), "two classes") {
		t.Errorf("three classes: %+v", rows)
	}
}
