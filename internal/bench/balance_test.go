package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
)

// TestBalancedClassesHaveEqualRows checks that every class has as many rows as the smallest, that rows in no class are
// removed, and that the choice depends on the seed but not on the order of the rows.
func TestBalancedClassesHaveEqualRows(t *testing.T) {
	codes := make([]int32, 1000)
	for i := range codes {
		codes[i] = int32(min(i*i%7, 3)) // 0, 1, 2 or none
	}
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: []dataset.Column{{
			Name:       "y",
			Kind:       dataset.Category,
			Categories: []string{"a", "b", "c"},
		}}},
		[]dataset.ColumnData{{Codes: codes}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	rows := balancedRows(tab, 0, 3, 1)
	count := map[int32]int{}
	for _, i := range rows {
		count[codes[i]]++
	}
	if !slices.IsSorted(rows) ||
		len(slices.Compact(slices.Clone(rows))) != len(rows) ||
		count[0] == 0 ||
		count[0] != count[1] ||
		count[1] != count[2] ||
		count[3] != 0 {
		t.Errorf("%v of each class", count)
	}
	if !slices.Equal(rows, balancedRows(tab, 0, 3, 1)) ||
		slices.Equal(rows, balancedRows(tab, 0, 3, 2)) {
		t.Error("the choice does not go by the seed")
	}
	if rows[0] > 100 || rows[len(rows)-1] < 900 {
		t.Errorf(
			"rows from %d to %d of 1000",
			rows[0],
			rows[len(rows)-1],
		)
	}
}

// TestRunBalanced checks that on balanced classes a constant prediction is correct half of the time, that all methods
// see the same rows, and that numeric targets are not balanced.
func TestRunBalanced(t *testing.T) {
	c := Config{
		Public:     true,
		Data:       []string{loans},
		Task:       "classification",
		Target:     "repaid",
		Categories: true,
		Trials:     10,
		Balance:    true,
		Methods: []string{
			"nonprivate-ols", "joint-gram",
			"none+nonprivate-ols",
		},
		Budget: budget.Target{Epsilon: 2, Delta: 1e-5},
	}
	balanced, err := Run(context.Background(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Balance = false
	all, err := Run(context.Background(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	// A share .28 of the rows is in the smaller class.
	n := balanced[0].N
	of := all[0].N
	if float64(n) < .5*float64(of) ||
		float64(n) > .62*float64(of) ||
		n%2 != 0 {
		t.Errorf("%d of %d rows are left", n, of)
	}
	if balanced[0].Median != balanced[2].Median ||
		balanced[0].Failed != 0 ||
		!(balanced[1].Median > .55) {
		t.Errorf("%+v", balanced)
	}
	if balanced[0].Median >= all[0].Median {
		t.Errorf(
			"accuracy %v on balanced classes, %v on all rows",
			balanced[0].Median,
			all[0].Median,
		)
	}
	for name, c := range map[string]Config{
		"regression": {
			Public:  true,
			Data:    []string{loans},
			Target:  "income",
			Balance: true,
		},
		"no task": {
			Public:  true,
			Recipes: []string{"../../examples/basic.yaml"},
			Balance: true,
		},
	} {
		_, err := Run(context.Background(), c, nil)
		if !errors.Is(err, ErrTask) {
			t.Errorf("%s: %v", name, err)
		}
	}
	number := filepath.Join(t.TempDir(), "number.yaml")
	err = os.WriteFile(
		number,
		[]byte("data: {target: income, exclude: [home, purpose, rating, repaid]}\nmodel: {method: nonprivate-ols}\n"),
		0o600,
	)
	if err != nil {
		t.Fatal(err)
	}
	c.Balance = true
	c.Trials = 1
	c.Recipes = []string{number}
	mixed, err := Run(context.Background(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range mixed {
		if (s.Metric == MetricR2) != (s.Failed == 1) {
			t.Errorf("%+v", s)
		}
	}
}
