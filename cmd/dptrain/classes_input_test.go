package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// loansRecipe returns a recipe for t.csv with the columns a, b, c and y.
func loansRecipe(relation, columns, rest string) string {
	return fmt.Sprintf(
		"task: classification\ndata:\n  path: t.csv\n  target: y\n  classes: [not yet, \"paid, back\"]\n  columns: {c: {categories: [p, q]}%s}\n"+
			"privacy: {epsilon: 1, relation: %s}\n%s\n",
		columns,
		relation,
		rest,
	)
}

// TestEveryClassifierOfAnyTable runs each method under each supported relation on tables with one class, without
// classes, with undeclared classes, with cells of every kind, and without rows. It checks that each run ends as on
// an ordinary table, and that the published files contain the declared classes but no other cell.
func TestEveryClassifierOfAnyTable(t *testing.T) {
	rows := func(class func(i int) string) string {
		s := "a,b,c,y\n"
		for i := range 120 {
			s += fmt.Sprintf(
				"%d,%s,%s,%s\n",
				i%7,
				[]string{
					"1", "", "x", "-inf",
					"1e999", "3",
				}[i%6],
				[]string{"p", "q", "crimson"}[i%3],
				class(i),
			)
		}
		return s
	}
	names := []string{"not yet", `"paid, back"`}
	tables := map[string]string{
		"both": rows(func(i int) string {
			return names[i%2]
		}),
		"one class": rows(func(int) string {
			return "not yet"
		}),
		"no class": rows(func(int) string {
			return ""
		}),
		"unseen": rows(func(i int) string {
			return append(names, "crimson", "notyet")[i%4]
		}),
		"empty": "a,b,c,y\n",
	}
	for _, method := range pipeline.Methods(regression.TaskClassification) {
		want := 0
		if pipeline.MayAbstain(method) {
			want = exitAbstained
		}
		for relation, columns := range map[string]string{
			"add-remove":                 "",
			"substitute":                 "",
			"substitute-private-columns": ", a: {private: true}, b: {private: true}",
		} {
			for name, table := range tables {
				chdirTemp(t)
				writeFile(t, "t.csv", table)
				writeFile(
					t,
					"r.yaml",
					loansRecipe(relation, columns, "model: {method: "+method+"}"),
				)
				got := dptrain(t, "fit", "r.yaml", "-q")
				if relation == "substitute-private-columns" && name == "no class" { // the absence of classes is public
					if got.code != exitAbstained ||
						!strings.Contains(got.stderr, "has none of the declared classes") {
						t.Errorf(
							"%s, %s, %s: %+v",
							method, relation, name, got,
						)
					}
					continue
				}
				if got.code != want ||
					got.stdout != "" ||
					want == 0 && got.stderr != "" {
					t.Errorf(
						"%s, %s, %s: %+v",
						method, relation, name, got,
					)
					continue
				}
				files := []string{"report.json", "recipe.yaml"}
				if want == 0 {
					files = append(files, "model.json")
				}
				for _, file := range files {
					text := readFile(t, filepath.Join("out", "release", file))
					if strings.Contains(text, "crimson") ||
						strings.Contains(text, "notyet") ||
						!strings.Contains(text, "paid, back") && file != "report.json" {
						t.Errorf(
							"%s, %s, %s: %s repeats a cell or lacks a class",
							method,
							relation,
							name,
							file,
						)
					}
				}
			}
		}
	}
}

// TestPrivateColumnMistakes checks that check and fit report the same errors for impossible declarations of public
// and private columns, before a row is read.
func TestPrivateColumnMistakes(t *testing.T) {
	chdirTemp(t)
	writeFile(
		t, "t.csv",
		"a,b,c,y\n1,2,p,not yet\n",
	)
	for _, c := range []struct {
		name, recipe string
		code         int
		stderr       string
	}{
		{
			"a public column that does not exist",
			loansRecipe(
				"substitute-private-columns",
				", a: {private: true}, zip: {categories: [u, v]}",
				"",
			),
			exitData,
			`the declared column "zip" is not in the header of the table`,
		},
		{
			"a private column that does not exist",
			loansRecipe("substitute-private-columns", ", zip: {private: true}", ""),
			exitData,
			`the declared column "zip" is not in the header of the table`,
		},
		{
			"a private column without a range, which must be declared",
			loansRecipe(
				"substitute-private-columns",
				", a: {private: true}, b: {lower: 0, upper: 9}",
				"scaling: {method: declared}",
			),
			exitRecipe,
			`with scaling declared, all numeric columns need lower and upper; they are missing for "a"`,
		},
		{
			"a column without a range under substitution, which must be declared",
			loansRecipe(
				"substitute",
				", b: {lower: 0, upper: 9}",
				"scaling: {method: declared}",
			),
			exitRecipe,
			`with scaling declared, all numeric columns need lower and upper; they are missing for "a"`,
		},
		{
			"a private column under substitution of whole records",
			loansRecipe("substitute", ", a: {private: true}", ""),
			exitRecipe,
			"private columns need the relation substitute-private-columns",
		},
		{
			"every column private",
			strings.Replace(
				loansRecipe(
					"substitute-private-columns",
					", a: {private: true}, b: {private: true}, y: {private: true}",
					"",
				),
				"[p, q]}",
				"[p, q], private: true}",
				1,
			),
			exitRecipe,
			"no column of the run is public",
		},
		{
			"nothing private",
			loansRecipe("substitute-private-columns", "", ""),
			exitRecipe,
			"needs at least one column with private: true",
		},
	} {
		writeFile(t, "r.yaml", c.recipe)
		got := dptrain(t, "fit", "r.yaml")
		if got.code != c.code ||
			got.stdout != "" ||
			!strings.Contains(got.stderr, c.stderr) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	// A private target is valid.
	writeFile(
		t,
		"r.yaml",
		loansRecipe("substitute-private-columns", ", y: {private: true}", ""),
	)
	if got := dptrain(t, "plan", "r.yaml"); got.code != exitOK ||
		!strings.Contains(got.stdout, "second moments of the features in logistic") {
		t.Errorf("a private target: %+v", got)
	}
	flags := strings.Fields(
		"plan --data t.csv --target y --task classification --classes no,yes --epsilon 1 --relation substitute-private-columns --private y --undeclared numbers --method joint-gram")
	if got := dptrain(t, flags...); got.code != exitOK ||
		!strings.Contains(got.stdout, "second moments of the features in joint-gram") {
		t.Errorf("a private target by flags: %+v", got)
	}
	// If classes cannot be found privately, the message names the flag to list them.
	writeFile(t, "few.csv", classCSV(9))
	got := dptrain(
		t,
		strings.Fields(
			"fit --data few.csv --target income --task classification --epsilon 1 --method tukey")...,
	)
	if got.code != exitRecipe ||
		!strings.Contains(got.stderr,
			"--classes: data.classes: classes cannot be found privately with method tukey") {
		t.Errorf("%+v", got)
	}
	// Unlisted classes are found privately, including texts.
	got = dptrain(
		t,
		strings.Fields("plan --data few.csv --target income --task classification --epsilon 1")...,
	)
	if got.code != 0 ||
		!strings.Contains(got.stdout, "kinds") ||
		!strings.Contains(got.stdout, "words      train    approximate") {
		t.Errorf("%+v", got)
	}
	// The range of a private column without a declared range is found privately.
	writeFile(
		t,
		"r.yaml",
		loansRecipe("substitute-private-columns", ", a: {private: true}", ""),
	)
	got = dptrain(t, "plan", "r.yaml")
	if got.code != 0 || !strings.Contains(got.stdout, "scaling") {
		t.Errorf("%+v", got)
	}
}

// TestBenchBalance checks that balancing is accepted only by bench and only for classification.
func TestBenchBalance(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "t.csv", classCSV(400))
	got := dptrain(t, "bench",
		"--public",
		"--data", "t.csv",
		"--task", "classification",
		"--balance",
		"--method", "nonprivate-ols",
		"--trials", "2",
	)
	if got.code != 0 ||
		got.stderr != "" ||
		!strings.Contains(got.stdout, "nonprivate-ols") {
		t.Errorf("%+v", got)
	}
	for args, want := range map[string]string{
		"bench --public --data t.csv --target a --balance":                            "--balance need --task classification",
		"fit --data t.csv --target income --classes a,b --epsilon 1 --balance":        "unknown flag: --balance",
		"bench --public --data t.csv --target a --task regression --balance --json":   "--balance need --task classification",
		"bench --data t.csv --task classification --balance --method nonprivate-ols ": "--public",
	} {
		got := dptrain(t, strings.Fields(args)...)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v", args, got)
		}
	}
}
