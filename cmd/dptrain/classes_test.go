package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// classCSV returns a table whose target is "over 50 K" for large a and "under 50 K" for small a. Every fiftieth row
// has an undeclared class.
func classCSV(rows int) string {
	var s strings.Builder
	s.WriteString("a,b,income\n")
	for i := range rows {
		a := i % 101
		b := i % 5
		class := "under 50 K"
		switch {
		case i%50 == 0:
			class = "crimson"
		case a > 50:
			class = "over 50 K"
		}
		fmt.Fprintf(&s, "%d,%d,%s\n", a, b, class)
	}
	return s.String()
}

// TestFitClasses trains a classifier with flags and checks the published classes.
func TestFitClasses(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "t.csv", classCSV(8000))
	got := dptrain(t, "fit",
		"--data", "t.csv",
		"--target", "income",
		"--task", "classification",
		"--classes", "under 50 K,over 50 K",
		"--epsilon", "2",
	)
	if got.code != 0 ||
		got.stderr != "" ||
		!strings.Contains(got.stdout, "Accuracy") ||
		!strings.Contains(got.stdout, "\nBalanced  ") {
		t.Fatalf("%+v", got)
	}
	r, err := report.Decode(
		strings.NewReader(readFile(
			t,
			filepath.Join("out", "release", "report.json"),
		)))
	if err != nil {
		t.Fatal(err)
	}
	a := r.Metrics.Accuracy
	if r.Task != "classification" ||
		r.Format != report.Format ||
		a == nil ||
		a.Value < .8 ||
		r.Model.Kind != "classifier" {
		t.Errorf("%+v, accuracy %+v", r, a)
	}
	recipe := readFile(t, filepath.Join("out", "release", "recipe.yaml"))
	if !strings.Contains(recipe, "classes: [under 50 K, over 50 K]") {
		t.Error(recipe)
	}
	for _, file := range []string{
		"model.json", "report.json",
		"recipe.yaml",
	} {
		if strings.Contains(readFile(t, filepath.Join("out", "release", file)), "crimson") {
			t.Errorf("%s repeats a cell", file)
		}
	}
	writeFile(
		t, "new.csv",
		"b,a\n1,3\n2,97\n,99\n",
	)
	model := filepath.Join("out", "release", "model.json")
	if got, want := dptrain(t, "predict", model, "new.csv"),
		(result{
			0,
			"income\nunder 50 K\nover 50 K\nover 50 K\n",
			"",
		}); got != want {
		t.Errorf("%+v", got)
	}
	if got, want := dptrain(t, "predict", model, "new.csv", "--append"),
		(result{0, "b,a,income\n1,3,under 50 K\n2,97,over 50 K\n,99,over 50 K\n",
			""}); got != want {
		t.Errorf("%+v", got)
	}
	// Votes are not additive, so no column has a shape.
	writeFile(
		t,
		"brc.yaml",
		"task: classification\ndata: {path: t.csv, target: income, classes: [under 50 K, over 50 K]}\nprivacy: {epsilon: 2}\nmodel: {method: brc}\n",
	)
	if got := dptrain(t, "fit", "brc.yaml", "--out", "votes", "-q"); got.code != 0 {
		t.Errorf("%+v", got)
	}
	got = dptrain(t, "report", "votes", "--shape", "a")
	if got.code != exitUsage || !strings.Contains(got.stderr, "a vote") {
		t.Errorf("%+v", got)
	}
	got = dptrain(t, "predict", model, "t.csv", "--append")
	if got.code != exitUsage ||
		!strings.Contains(got.stderr, "already has a column named income") {
		t.Errorf("%+v", got)
	}
}

// TestPredictQuotesClasses checks that class names are quoted as CSV cells.
func TestPredictQuotesClasses(t *testing.T) {
	chdirTemp(t)
	score := func(b int) string {
		return fmt.Sprintf(
			`{"kind": "linear", "columns": [{"name":"a","type":"numeric","lower":-9,"upper":9,"missing":0}],
			"terms": [{"column":"a","coefficient":%d,"std_error":0}], "intercept": {"coefficient":0,"std_error":0}, "prediction": {"lower":-99,"upper":99}}`,
			b,
		)
	}
	writeFile(
		t,
		"model.json",
		`{"format": "dptrain.model/1", "kind": "classifier", "task": "classification", "target": "who, when",
		"classes": ["a, b", "", "say \"no\""], "cutoff": 0, "scores": [`+score(0)+","+score(-1)+","+score(2)+`], "guarantee": null}`,
	)
	if got, want := dptrainIn(t, "a\n0\n-3\n4\n", "predict", "model.json", "-"),
		(result{
			0,
			"\"who, when\"\n\"a, b\"\n\"\"\n\"say \"\"no\"\"\"\n",
			"",
		}); got != want {
		t.Errorf("%+v", got)
	}
}

// TestClassesOfAnyTable checks that the output and the exit code of a run do not depend on the classes in the rows:
// only one class, no class, more classes than declared, or numbers as classes.
func TestClassesOfAnyTable(t *testing.T) {
	rows := func(class func(i int) string) string {
		s := "a,y\n"
		for i := range 200 {
			s += fmt.Sprintf("%d,%s\n", i%7, class(i))
		}
		return s
	}
	for name, table := range map[string]string{
		"both": rows(func(i int) string {
			return fmt.Sprint(i % 2)
		}),
		"one class": rows(func(int) string {
			return "1"
		}),
		"no class": rows(func(int) string {
			return ""
		}),
		"unseen": rows(func(i int) string {
			return fmt.Sprint(i % 9)
		}),
		"floats": rows(func(i int) string {
			return fmt.Sprintf("%d.0", i%2)
		}),
		"empty": "a,y\n",
	} {
		for _, classes := range []string{"0,1", "0,1,2"} {
			chdirTemp(t)
			writeFile(t, "t.csv", table)
			got := dptrain(t, "fit",
				"--data", "t.csv",
				"--target", "y",
				"--task", "classification",
				"--classes", classes,
				"--epsilon", "1",
				"-q",
			)
			if got != (result{}) {
				t.Errorf(
					"%s, classes %s: %+v",
					name, classes, got,
				)
			}
			var confusion struct {
				Metrics struct {
					Confusion struct {
						Classes []string
						Counts  [][]int
					}
				}
			}
			err := json.Unmarshal(
				[]byte(readFile(
					t,
					filepath.Join("out", "release", "report.json"),
				)),
				&confusion)
			if err != nil {
				t.Error(err)
			}
			c := confusion.Metrics.Confusion
			if strings.Join(c.Classes, ",") != classes ||
				len(c.Counts) != len(c.Classes)+1 {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}

func TestClassMistakes(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "t.csv", classCSV(20))
	base := "--data t.csv --target income --epsilon 1 "
	for args, want := range map[string]result{
		"fit " + base + "--task classification --method tukey": {exitRecipe, "",
			"--classes: data.classes: classes cannot be found privately with method tukey"},
		"fit " + base + "--classes a,b": {exitRecipe, "",
			"--classes: cannot be used for regression"},
		"fit " + base + "--task classification --classes a,b,a": {exitRecipe, "",
			"--classes: class \"a\" is listed twice"},
		"fit " + base + "--task ranking": {exitRecipe, "",
			"--task: unknown name \"ranking\""},
		"init t.csv --task classification --classes a": {exitUsage, "",
			"--classes needs every value the target can take"},
		"init t.csv --classes a,b": {exitUsage, "",
			"--classes needs --task classification"},
		"init t.csv --task classification --classes a,a": {exitUsage, "",
			"class \"a\" is listed twice"},
		"init t.csv --task guess": {exitUsage, "", "--task must be regression or classification"},
	} {
		got := dptrain(t, strings.Fields(args)...)
		if got.code != want.code ||
			got.stdout != "" ||
			!strings.Contains(got.stderr, want.stderr) {
			t.Errorf("%s: %+v", args, got)
		}
	}
	for _, method := range []string{"nonprivate-logistic", "nonprivate-svm"} {
		writeFile(
			t,
			"open.yaml",
			"task: classification\ndata: {path: t.csv, target: income, classes: [a, b]}\nprivacy: {epsilon: 1}\nmodel: {method: "+
				method+"}\n",
		)
		got := dptrain(t, "fit", "open.yaml")
		if got.code != exitRecipe ||
			!strings.Contains(got.stderr, "\""+method+"\" gives no privacy guarantee") {
			t.Errorf("%+v", got)
		}
	}
	writeFile(
		t,
		"r.yaml",
		dptrain(t, "init", "t.csv",
			"--task", "classification",
			"--classes", "under 50 K,over 50 K",
		).stdout,
	)
	if got := dptrain(t, "check", "r.yaml"); got != (result{0, "r.yaml: ok\n", ""}) {
		t.Errorf("%+v", got)
	}
	got := dptrain(t, "plan", "r.yaml")
	if got.code != 0 ||
		!strings.Contains(got.stdout, "fit/holdout/accuracy\n  confusion ") {
		t.Errorf("%+v", got)
	}
}

// TestFoundTextCategoriesAreReported trains on a table of text columns with only the target and the task declared. It
// checks that the model contains the categories, that the report lists them as found privately, and that predictions
// name the classes.
func TestFoundTextCategoriesAreReported(t *testing.T) {
	chdirTemp(t)
	var table strings.Builder
	table.WriteString("age,ward,name,ill\n")
	for i := range 6000 {
		ward := []string{"day", "night", "emergency"}[i%3]
		ill := "no"
		if (ward == "night") != (i%10 == 0) {
			ill = "yes"
		}
		fmt.Fprintf(
			&table,
			"%d,%s,person %d,%s\n",
			20+i%60, ward, i, ill,
		)
	}
	writeFile(t, "export.csv", table.String())
	got := dptrain(
		t,
		strings.Fields(
			"fit --data export.csv --target ill --task classification --epsilon 3 --out out --verbose")...,
	)
	if got.code != 0 ||
		!strings.Contains(got.stdout, `"ward" (3)`) ||
		!strings.Contains(got.stdout, "no-words") ||
		strings.Contains(got.stdout, "person ") {
		t.Fatalf("%+v", got)
	}
	model, err := os.ReadFile("out/release/model.json")
	if err != nil ||
		!strings.Contains(string(model), "emergency") ||
		strings.Contains(string(model), "person ") {
		t.Errorf("%v: %s", err, model)
	}
	if got := dptrain(t, "verify", "out"); got.code != 0 {
		t.Errorf("%+v", got)
	}
	predicted := dptrain(t, strings.Fields("predict out/release/model.json export.csv")...)
	lines := strings.Split(strings.TrimSpace(predicted.stdout), "\n")
	if predicted.code != 0 ||
		len(lines) != 6001 ||
		lines[0] != "ill" ||
		lines[2] != "yes" ||
		lines[3] != "no" {
		t.Errorf(
			"%d lines, %q",
			len(lines), lines[:4],
		)
	}
	// The recipe proposed by init behaves the same.
	got = dptrain(
		t,
		strings.Fields("init export.csv --target ill --task classification")...,
	)
	if got.code != 0 ||
		!strings.Contains(got.stdout, "classes: private\n") {
		t.Errorf("%+v", got)
	}
	writeFile(t, "r.yaml", got.stdout)
	got = dptrain(t, "plan", "r.yaml")
	if got.code != 0 || !strings.Contains(got.stdout, "kinds") {
		t.Errorf("%+v", got)
	}
	got = dptrain(t, strings.Fields("plan r.yaml --explain --rows 300")...)
	if got.code != 0 || !strings.Contains(got.stdout, "largest class") {
		t.Errorf("%+v", got)
	}
}
