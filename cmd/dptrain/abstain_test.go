package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/publish/report"
)

const tukeyRecipe = `data: {path: line.csv, target: y}
privacy: {epsilon: 1}
model: {method: tukey}
`

// TestAbstainedRunWritesReportOnly checks that a run whose mechanism abstains ends with its own exit code, writes a
// report of the spent budget but no model, and removes an old model from the folder.
func TestAbstainedRunWritesReportOnly(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(50))
	writeFile(t, "recipe.yaml", tukeyRecipe)
	if got := dptrain(t, fitArgs...); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	got := dptrain(t, "fit", "recipe.yaml", "--force")
	if got.code != exitAbstained ||
		!strings.Contains(got.stderr, "tukey abstained, so there is no model") ||
		!strings.Contains(got.stdout, "no model of y: tukey abstained\n") {
		t.Errorf("%+v", got)
	}
	onlyFiles(t, "line.csv", "out", "recipe.yaml")
	if _, err := os.Stat("out/release/model.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("model.json: %v", err)
	}
	r, err := report.Decode(strings.NewReader(readFile(t, "out/release/report.json")))
	if err != nil {
		t.Fatal(err)
	}
	if r.Model.Kind != "" ||
		r.Metrics.R2 != nil ||
		r.Guarantee.Spent <= 0 ||
		r.Guarantee.Mu != nil {
		t.Errorf("%+v", r)
	}
	for _, args := range []string{"predict out/release/model.json line.csv",
		"report out --shape x"} {
		if got, want := dptrain(t, strings.Fields(args)...),
			(result{exitData, "",
				"out/release/model.json: this run has no model: tukey abstained\n"}); got != want {
			t.Errorf("%s: %+v", args, got)
		}
	}
	quiet := dptrain(t, "fit", "recipe.yaml",
		"--force",
		"--quiet",
	)
	if quiet.code != exitAbstained || quiet.stdout != "" {
		t.Errorf("%+v", quiet)
	}
	writeFile(
		t,
		"recipe.yaml",
		strings.Replace(tukeyRecipe, "tukey", "tukey, fallback: joint-gram", 1),
	)
	got = dptrain(t, "fit", "recipe.yaml", "--force")
	if got.code != exitOK ||
		!strings.Contains(got.stdout, " · joint-gram\n") ||
		!strings.Contains(got.stdout, "\nwarning[fallback]: ") {
		t.Errorf("with a fallback: %+v", got)
	}
	plan := dptrain(t, "plan", "recipe.yaml")
	if plan.code != exitOK || !strings.Contains(plan.stdout, "Needs      about ") {
		t.Errorf("%+v", plan)
	}
}

// TestStoppedRunNamesTheCauseFirst checks that a run without a readable target exits with code 7 and that the first
// line of both outputs names the cause, and the first line of standard error the remedy.
func TestStoppedRunNamesTheCauseFirst(t *testing.T) {
	chdirTemp(t)
	writeCheckedTable(t)
	got := dptrain(
		t, "fit", "--data",
		"table.csv", "--target",
		"word", "--exclude", "id",
		"--epsilon", "20",
	)
	summary, _, _ := strings.Cut(got.stdout, "\n")
	message, _, _ := strings.Cut(got.stderr, "\n")
	const cause = `the target "word" contains no numbers`
	if got.code != exitAbstained || !strings.HasPrefix(summary, "no model of word: "+cause) ||
		!strings.HasPrefix(message, "dptrain: "+cause) ||
		!strings.Contains(message, "--task classification") {
		t.Errorf("%+v", got)
	}
}

// TestStoppedReleaseIsConsistent checks that verify accepts the release of a run that stopped before its method was
// known: because the classes were to be found, or because a search was to choose.
func TestStoppedReleaseIsConsistent(t *testing.T) {
	for name, recipe := range map[string]string{
		"classes to be found": "task: classification\ndata: {path: t.csv, target: y}\n",
		"search":              "data: {path: t.csv, target: y}\nsearch: {runs: 3, candidates: [{model: {method: joint-gram}}, {model: {method: adassp}}]}\n",
		"list of sizes":       "task: classification\ndata: {path: t.csv, target: y, classes: [no, yes]}\nselection: {method: dpfsdr, sizes: [1, 2], runs: 3}\nmodel: {method: svm}\n",
	} {
		t.Run(name, func(t *testing.T) {
			chdirTemp(t)
			writeFile(
				t, "t.csv",
				"a,b,c,y\n"+strings.Repeat("1,2,3,\n", 3000),
			)
			writeFile(t, "r.yaml", recipe+"privacy: {epsilon: 1}\n")
			got := dptrain(t, "fit", "r.yaml", "-q")
			if got.code != exitAbstained ||
				!strings.Contains(got.stderr, "stopped before training") {
				t.Fatalf("%+v", got)
			}
			got = dptrain(t, "verify", "out/release")
			if got.code != exitOK {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestRunWithoutClassesAbstains checks that a run that finds fewer than two classes exits with code 7 with its cause
// first, that its report states that no step was taken after the classes were looked for, and that the release is
// consistent. The table has 3,000 records, so that noise hides the class or invents one with probability below 1e-9.
func TestRunWithoutClassesAbstains(t *testing.T) {
	search := "search: {runs: 3, candidates: [{model: {method: joint-gram}}, {model: {method: logistic}}]}\n"
	for name, c := range map[string]struct{ keys, label string }{
		"one class": {"", "yes"},
		"one class, one branch": {
			"selection: {method: none}\nmodel: {method: joint-gram}\n",
			"yes",
		},
		"one class, a search": {search, "yes"},
		"no class":            {"", "name"},
	} {
		t.Run(name, func(t *testing.T) {
			chdirTemp(t)
			var table strings.Builder
			table.WriteString("a,y\n")
			for i := range 3000 {
				label := c.label
				if label == "name" {
					label = fmt.Sprint("name", i)
				}
				fmt.Fprintf(&table, "%d,%s\n", i%7, label)
			}
			writeFile(t, "t.csv", table.String())
			writeFile(
				t, "r.yaml",
				"task: classification\ndata: {path: t.csv, target: y}\nprivacy: {epsilon: 1}\n"+c.keys,
			)
			got := dptrain(t, "fit", "r.yaml", "--quiet")
			const cause = `dptrain: only one class of the target "y" was found, or none, so there is no model`
			message, rest, _ := strings.Cut(got.stderr, "\n")
			if got.code != exitAbstained || got.stdout != "" || !strings.HasPrefix(message, cause) ||
				!strings.Contains(message, "--classes") || !strings.Contains(rest, "The budget is spent") {
				t.Errorf("%+v", got)
			}
			r, err := report.Decode(strings.NewReader(readFile(t, "out/release/report.json")))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range r.Events {
				found := strings.Contains(e.ID, "/vocabulary/") || e.Part == "all"
				if found != (e.Released > 0) {
					t.Errorf(
						"%s: %d draws",
						e.ID, e.Released,
					)
				}
			}
			if got := dptrain(t, "verify", "out/release"); got.code != exitOK {
				t.Errorf("%+v", got)
			}
			got = dptrain(t, "report", "out")
			if got.code != exitOK || !strings.Contains(got.stdout, "none: fewer than two classes were found of y\n") ||
				!strings.Contains(got.stdout, "error[no-classes]") ||
				strings.Contains(got.stdout, "[abstained]") {
				t.Errorf("%+v", got)
			}
		})
	}
}
