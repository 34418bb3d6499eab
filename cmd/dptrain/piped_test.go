package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestJSONLinesFromStdin checks that training and predictions on JSON Lines from standard input give the same
// results as on the same file, whose format follows from its name.
func TestJSONLinesFromStdin(t *testing.T) {
	chdirTemp(t)
	var lines strings.Builder
	for i := range 400 {
		fmt.Fprintf(
			&lines,
			`{"a": %d, "b": %d, "y": %d}`+"\n",
			i%17, i%5,
			3*(i%17)+i%5,
		)
	}
	writeFile(t, "t.jsonl", lines.String())
	for _, data := range []string{"t.jsonl", "-.jsonl"} {
		got := dptrainIn(t, lines.String(), "fit",
			"--data", data,
			"--header", "a,b,y",
			"--target", "y",
			"--epsilon", "5",
			"--method", "joint-gram",
			"--quiet",
			"--force",
		)
		if got.code != 0 {
			t.Fatalf("%s: %+v", data, got)
		}
	}
	want := dptrain(
		t, "predict",
		"out/release/model.json",
		"t.jsonl",
	)
	got := dptrainIn(
		t, lines.String(), "predict",
		"out/release/model.json",
		"-.jsonl",
	)
	if got.code != 0 ||
		got.stdout != want.stdout ||
		strings.Count(got.stdout, "\n") != 401 {
		t.Errorf(
			"from standard input %+v, from a file %+v",
			got, want,
		)
	}
}

// TestBenchReadsAsRecipesSay checks that a table in another dialect gives the same results as the plain table, and
// that recipes that read it differently are refused.
func TestBenchReadsAsRecipesSay(t *testing.T) {
	chdirTemp(t)
	plain := "a,b,y\n"
	other := "a;b;y\n"
	for i := range 300 {
		row := fmt.Sprintf(
			"%d.5,%d,%d.25",
			i%13, i*7%5,
			2*(i%13)+i*7%5,
		)
		plain = plain + row + "\n"
		other = other + strings.ReplaceAll(
			strings.ReplaceAll(row, ",", ";"),
			".",
			",",
		) + "\n"
	}
	writeFile(t, "t.csv", plain)
	recipe := "data:\n  path: t.csv\n  target: y\n%smodel: {method: nonprivate-ols}\n"
	writeFile(t, "plain.yaml", fmt.Sprintf(recipe, ""))
	writeFile(
		t,
		"german.yaml",
		fmt.Sprintf(
			recipe,
			"  format: {separator: \";\", decimal: \",\"}\n",
		),
	)
	want := dptrain(
		t, "bench", "--public",
		"plain.yaml", "--trials",
		"3", "--json",
	)
	err := os.Rename("t.csv", "plain.csv")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, "t.csv", other)
	got := dptrain(
		t, "bench", "--public",
		"german.yaml", "--trials",
		"3", "--json",
	)
	values := func(out string) string {
		var list []string
		for _, line := range strings.Split(out, "\n") {
			_, rest, ok := strings.Cut(line, `"value":`)
			if ok {
				value, _, _ := strings.Cut(rest, ",")
				list = append(list, value)
			}
		}
		return strings.Join(list, " ")
	}
	if values(want.stdout) == "" ||
		values(want.stdout) != values(got.stdout) {
		t.Errorf(
			"plain: %+v\nother: %+v",
			want, got,
		)
	}
	both := dptrain(
		t, "bench", "--public",
		"german.yaml", "plain.yaml",
		"--trials", "3",
	)
	if both.code != exitRecipe ||
		!strings.Contains(both.stderr, "read the table differently") {
		t.Errorf("two ways: %+v", both)
	}
}
