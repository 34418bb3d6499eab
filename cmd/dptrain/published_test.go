package main

import (
	"strings"
	"testing"
)

// TestPublishedRecipe checks that the recipe of a release has the price of its run without the table and the ledger,
// and can be run with a table that has the same columns.
func TestPublishedRecipe(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(200))
	writeFile(
		t, "other.csv",
		strings.Replace(lineCSV(200), "b", "z", 1),
	)
	must := func(want int, args ...string) result {
		t.Helper()
		got := dptrain(t, args...)
		if got.code != want {
			t.Fatalf("%q: %+v", args, got)
		}
		return got
	}
	must(
		0, "ledger", "init",
		"dptrain.ledger", "--dataset",
		"lines", "--epsilon", "9",
	)
	must(0, "fit",
		"--data", "line.csv",
		"--target", "y",
		"--epsilon", "1",
		"--dataset", "lines",
		"--out", "out",
		"-q",
	)
	const published = "out/release/recipe.yaml"

	plan := must(0, "plan", published)
	direct := must(
		0, "plan", "--data",
		"line.csv", "--target",
		"y", "--epsilon", "1",
	)
	if !strings.HasPrefix(plan.stdout, direct.stdout) ||
		!strings.Contains(plan.stdout,
			"Ledger     data set lines; the effect on the ledger is unknown because there") {
		t.Errorf(
			"%s\nwant\n%s",
			plan.stdout, direct.stdout,
		)
	}
	if got := must(0, "check", published); got.stdout != published+": ok\n" {
		t.Errorf("%+v", got)
	}
	must(0, "plan", published, "--json")
	got := must(0, "plan", published, "--ledger", "dptrain.ledger")
	if !strings.Contains(
		strings.Join(strings.Fields(got.stdout), " "), "Spent so far:") {
		t.Errorf("%s", got.stdout)
	}

	got = must(3, "fit", published)
	if !strings.Contains(got.stderr, "data.path is required") {
		t.Errorf("%+v", got)
	}
	got = must(3, "audit", published, "--own-table")
	if !strings.Contains(got.stderr, "data.path is required") {
		t.Errorf("%+v", got)
	}
	got = must(4, "fit", published,
		"--data", "other.csv",
		"--out", "new",
		"-q",
		"--ledger", "dptrain.ledger",
	)
	if !strings.Contains(got.stderr, "column 2 of the table should be") {
		t.Errorf("%+v", got)
	}
	got = must(6, "fit", published,
		"--data", "line.csv",
		"--out", "new",
		"-q",
	)
	if !strings.Contains(got.stderr, "dptrain.ledger") {
		t.Errorf("a run without its ledger: %+v", got)
	}
	must(0, "fit", published,
		"--data", "line.csv",
		"--out", "new",
		"-q",
		"--ledger", "dptrain.ledger",
	)
	if readFile(t, "new/release/recipe.yaml") != readFile(t, published) {
		t.Error("the same run has another recipe")
	}
}
