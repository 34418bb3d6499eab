package bench_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/bench"
	"github.com/dptrain/dptrain/internal/bench/published"
	"github.com/dptrain/dptrain/internal/recipe"
)

// TestPublishedVariants checks that the recipe's list agrees with the package, and that a table of results never
// marks such a method as private.
func TestPublishedVariants(t *testing.T) {
	var listed []string
	for _, name := range recipe.AvailableInBench() {
		if strings.HasPrefix(name, "as-published-") {
			listed = append(listed, name)
		}
	}
	have := slices.Sorted(slices.Values(published.Methods()))
	if slices.Sort(listed); !slices.Equal(listed, have) {
		t.Fatalf(
			"recipes know %v, the package has %v",
			listed, have,
		)
	}
	values := map[string]int{}
	_, err := bench.Run(
		context.Background(),
		bench.Config{
			Public:  true,
			Data:    []string{"../../testdata/houses.csv"},
			Target:  "price",
			Trials:  2,
			Methods: have,
		},
		func(r bench.Row) {
			if r.Private {
				t.Errorf("%s is called private", r.Method)
			}
			if r.Err == nil {
				values[r.Method]++
			}
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range have {
		if name != "as-published-tukey" && values[name] != 2 { // that one may abstain
			t.Errorf(
				"%s gave %d values of 2",
				name, values[name],
			)
		}
	}
}
