package main

import (
	"strings"
	"testing"
)

// TestDeltaZeroByFlags checks that all flags together decide whether delta may be 0, and that an error names the
// stage and a remedy.
func TestDeltaZeroByFlags(t *testing.T) {
	const houses = "plan --data ../../testdata/houses.csv --target price --epsilon 1 --delta 0"
	for _, c := range []struct {
		flags string
		code  int
		want  string
	}{
		{houses + " --holdout 0", 0, "epsilon 1, delta 0"},
		{
			houses + " --holdout 0 --select kendall --k 3",
			0,
			"kendall    train    exponential",
		},
		{houses, 0, "sums       holdout  pure"},
		{
			houses + " --holdout 0 --method adassp",
			exitRecipe,
			"the model (adassp) draws Gaussian noise",
		},
		{
			"plan ../../examples/kendall.yaml --delta 0 --holdout 0",
			0, "exponential",
		},
	} {
		got := dptrain(t, strings.Fields(c.flags)...)
		if got.code != c.code ||
			!strings.Contains(got.stdout+got.stderr, c.want) {
			t.Errorf("%s: %+v", c.flags, got)
		}
	}
}
