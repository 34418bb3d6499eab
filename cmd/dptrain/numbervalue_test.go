package main

import (
	"strings"
	"testing"
)

// TestNumbersThatBecomeZero checks that a number that is too small for a float64 is refused in flags and recipes. It was
// read as 0, which switches delta or the held-out part off.
func TestNumbersThatBecomeZero(t *testing.T) {
	for _, args := range [][]string{
		{"plan", "--delta", "1e-400"},
		{"plan", "--delta", "1e400"},
		{"plan", "--holdout", "1e-400"},
		{"plan", "--set", "privacy.delta=1e-400"},
		{"ledger", "spend", "x.ledger", "--epsilon", "1", "--delta", "1e-400"},
	} {
		if args[0] == "plan" {
			args = append(args, "--data", "../../testdata/houses.csv", "--target", "price", "--epsilon", "1")
		}
		r := dptrain(t, args...)
		if r.code != 2 && r.code != 3 ||
			!strings.Contains(r.stderr, "too large or too small") && !strings.Contains(r.stderr, "4.9e-324") {
			t.Errorf("%q: exit code %d, %s", args, r.code, r.stderr)
		}
	}
}
