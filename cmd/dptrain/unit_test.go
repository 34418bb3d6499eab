package main

import (
	"fmt"
	"strings"
	"testing"
)

// visitsCSV returns a table of n records of seven persons, whose names identify them in the output.
func visitsCSV(n int) string {
	var b strings.Builder
	b.WriteString("person,a,b,y\n")
	for i := range n {
		fmt.Fprintf(
			&b,
			"secret-%d,%d,%d,%d\n",
			i%7, i, i%5, 2*i,
		)
	}
	return b.String()
}

const unitRecipe = `data:
  path: visits.csv
  target: y
privacy:
  epsilon: 1
  unit: {column: person, max_rows: 2}
model: {method: joint-gram}
`

// TestUnit checks that the plan, the report and the terminal output of a run that protects persons state the unit,
// and that the output contains no name.
func TestUnit(t *testing.T) {
	files := goldenFiles(t)
	chdirTemp(t)
	writeFile(t, "visits.csv", visitsCSV(60))
	writeFile(t, "recipe.yaml", unitRecipe)
	files.compare(
		t, "plan-unit",
		dptrain(t, "plan", "recipe.yaml").stdout,
	)
	got := dptrain(t, "fit", "recipe.yaml")
	if got.code != exitOK ||
		!strings.Contains(strings.Join(strings.Fields(got.stdout), " "),
			"per value of person, with at most 2 records") {
		t.Fatalf("%+v", got)
	}
	report := readFile(t, "out/release/report.json")
	if !strings.Contains(report, `"unit": {"column":"person","max_rows":2}`) ||
		!strings.Contains(report, `"considered":["a","b"]`) &&
			!strings.Contains(report, `"considered": ["a","b"]`) {
		t.Errorf("%s", report)
	}
	for _, text := range []string{
		got.stdout,
		got.stderr,
		report,
		readFile(t, "out/release/model.json"),
		readFile(t, "out/release/recipe.yaml"),
		readFile(t, "out/curator/run.json"),
	} {
		if strings.Contains(text, "secret-") {
			t.Error("a person is named")
		}
	}
	shown := dptrain(t, "report", "out/release/report.json")
	if shown.code != exitOK || !strings.Contains(shown.stdout, "person") {
		t.Errorf("%+v", shown)
	}
	for _, want := range []string{`"privacy_unit": "User"`, `one value of the column \"person\"`,
		"at most 2 records of each were used", "Neighbouring tables differ by the presence of one user"} {
		shown := dptrain(t, "report", "out", "--registry")
		if shown.code != exitOK ||
			!strings.Contains(shown.stdout, want) ||
			strings.Contains(shown.stdout, "differ by the presence of one record") {
			t.Errorf(
				"the registry's fields lack %q: %+v",
				want, shown,
			)
		}
	}
}

// TestUnitMistakes checks the errors for a unit that is missing from the table and for one that cannot be protected.
func TestUnitMistakes(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "visits.csv", visitsCSV(5))
	for name, c := range map[string]struct {
		old, new string
		code     int
		text     string
	}{
		"absent": {"column: person", "column: patient", exitData,
			`the unit column "patient" is not in the header`},
		"relation": {"epsilon: 1", "epsilon: 1\n  relation: substitute", exitRecipe,
			"recipe.yaml:6:13: privacy.relation must be add-remove"},
		"cap": {"max_rows: 2", "max_rows: 0", exitRecipe,
			"recipe.yaml:6:36: privacy.unit.max_rows must be from 1 to 1000"},
	} {
		writeFile(
			t, "recipe.yaml",
			strings.Replace(unitRecipe, c.old, c.new, 1),
		)
		got := dptrain(t, "plan", "recipe.yaml")
		if got.code != c.code || !strings.Contains(got.stderr, c.text) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	writeFile(t, "recipe.yaml", unitRecipe)
	got := dptrain(t, "bench", "--public", "recipe.yaml")
	if got.code != exitRecipe ||
		!strings.Contains(got.stderr, "privacy.unit cannot be used in an experiment") {
		t.Errorf("%+v", got)
	}
	got = dptrain(
		t, "plan", "recipe.yaml",
		"--explain", "--rows",
		"100",
	)
	if got.code != exitOK {
		t.Errorf("%+v", got)
	}
}

// TestUnitLedger checks that a data set in a ledger does not mix runs that protect persons with runs that protect
// records.
func TestUnitLedger(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "visits.csv", visitsCSV(20))
	writeFile(t, "recipe.yaml", unitRecipe)
	people := dptrain(t, "ledger", "init", "my.ledger",
		"--dataset", "people",
		"--epsilon", "5",
		"--unit", "person",
	)
	if people.code != exitOK || !strings.Contains(people.stdout, "unit person") {
		t.Fatalf("%+v", people)
	}
	got := dptrain(t, "ledger", "init", "my.ledger",
		"--dataset", "rows",
		"--epsilon", "5",
	)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	got = dptrain(t, "ledger", "init", "my.ledger",
		"--dataset", "x",
		"--epsilon", "5",
		"--unit", "person",
		"--relation", "substitute",
	)
	if got.code != exitUsage {
		t.Errorf("%+v", got)
	}
	got = dptrain(t, "fit", "recipe.yaml",
		"--ledger", "my.ledger",
		"--dataset", "people",
	)
	if got.code != exitOK {
		t.Errorf("%+v", got)
	}
	got = dptrain(t, "fit", "recipe.yaml",
		"--ledger", "my.ledger",
		"--dataset", "rows",
		"--out", "second",
	)
	if got.code != exitLedger ||
		!strings.Contains(got.stderr, "different privacy units") {
		t.Errorf("%+v", got)
	}
	flags := []string{
		"fit",
		"--data", "visits.csv",
		"--target", "y",
		"--epsilon", "1",
		"--exclude", "person",
		"--out", "third",
		"--ledger", "my.ledger",
		"--dataset", "people",
	}
	got = dptrain(t, flags...)
	if got.code != exitLedger ||
		!strings.Contains(got.stderr, "single records") {
		t.Errorf("%+v", got)
	}
	for _, args := range [][]string{
		{"ledger", "show", "my.ledger", "--json"},
		{"ledger", "show", "my.ledger"},
		{"ledger", "verify", "my.ledger"},
	} {
		got := dptrain(t, args...)
		if got.code != exitOK {
			t.Errorf("%v: %+v", args, got)
		}
	}
}
