package main

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// anyNumber matches the numbers of an explanation that depend on noise.
var anyNumber = regexp.MustCompile(`("(?:median|lower|upper)": )-?[0-9][-+.e0-9]*`)

func TestPlanExplainJSON(t *testing.T) {
	files := goldenFiles(t)
	chdirTemp(t)
	writeFile(t, "line.csv", "a,b,y\n9,8\nbroken,\"\n\x00") // no row is read
	args := strings.Fields("plan --data line.csv --target y --epsilon 1 --explain --rows 60 --json")
	got := dptrain(t, args...)
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	files.compare(
		t, "plan-explain-json",
		anyNumber.ReplaceAllString(got.stdout, "${1}0"),
	)
	var x explanation
	err := json.Unmarshal([]byte(got.stdout), &x)
	if err != nil || x.Format != explainFormat {
		t.Fatalf("%v: %+v", err, x)
	}
	writeFile(t, "line.csv", "a,b,y") // there are no rows
	again := dptrain(t, args...)
	var y explanation
	if err := json.Unmarshal([]byte(again.stdout), &y); err != nil {
		t.Fatalf("%v: %+v", err, again)
	}
	for i := range x.Sizes {
		if x.Sizes[i].Open != y.Sizes[i].Open {
			t.Errorf(
				"other rows, another value without noise: %+v, %+v",
				x.Sizes[i].Open,
				y.Sizes[i].Open,
			)
		}
	}
	onlyFiles(t, "line.csv")
}

// TestPlanExplainClasses checks that the explanation of a classification contains accuracies, uses the header only,
// and has format 2.
func TestPlanExplainClasses(t *testing.T) {
	files := goldenFiles(t)
	chdirTemp(t)
	writeFile(t, "line.csv", "a,b,y\n9,8\nbroken,\"\n\x00") // no row is read
	writeFile(
		t,
		"r.yaml",
		"task: classification\ndata: {path: line.csv, target: y, classes: [no, yes], columns: {b: {categories: [u, v]}}}\nprivacy: {epsilon: 1}\nmodel: {method: joint-gram}\n",
	)
	got := dptrain(
		t, "plan", "r.yaml",
		"--explain", "--rows",
		"60,5000", "--json",
	)
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	files.compare(
		t,
		"plan-explain-classes-json",
		anyNumber.ReplaceAllString(got.stdout, "${1}0"),
	)
	var x explanation
	err := json.Unmarshal([]byte(got.stdout), &x)
	if err != nil || x.Format != explainFormat2 || x.References == nil {
		t.Fatalf("%v: %+v", err, x)
	}
	best := x.Sizes[1].Private[4]
	if !(best.Median > x.References.Largest.Median+.1 &&
		best.Median < x.References.Truth.Median+.05) {
		t.Errorf(
			"epsilon 10: %+v, %+v",
			best, x.References,
		)
	}
	got = dptrain(
		t, "plan", "r.yaml",
		"--explain", "--rows",
		"500",
	)
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	for _, want := range []string{"Expected accuracy on synthetic tables, not on your data",
		"500 rows", "yours: 1 ", "no privacy", "largest class 0.5", "true function 0.8",
		"1 numeric and 1 category features, 2 classes", "No row was read"} {
		if !strings.Contains(strings.Join(strings.Fields(got.stdout), " "),
			strings.TrimSpace(want)) {
			t.Errorf(
				"lacks %q:\n%s",
				want, got.stdout,
			)
		}
	}
	onlyFiles(t, "line.csv", "r.yaml")
}

// TestPlanExplainAbstains checks that a method that returns no model for a small number of rows causes no error.
func TestPlanExplainAbstains(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", "a,y\n")
	writeFile(
		t,
		"r.yaml",
		"data: {path: line.csv, target: y}\nprivacy: {epsilon: 1}\nmodel: {method: tukey}\n",
	)
	got := dptrain(
		t, "plan", "r.yaml",
		"--explain", "--rows",
		"20,5000", "--json",
	)
	var x explanation
	err := json.Unmarshal([]byte(got.stdout), &x)
	if err != nil ||
		got.code != exitOK ||
		x.Format != explainFormat2 ||
		x.Task != "regression" ||
		x.References != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	few := x.Sizes[0].Private[0]
	many := x.Sizes[1].Private[4]
	if few.Abstained == nil ||
		*few.Abstained != x.Assumed.Tables ||
		many.Abstained == nil ||
		*many.Abstained != 0 ||
		!(many.Median > .6) {
		t.Errorf("%s", got.stdout)
	}
	if !strings.Contains(got.stdout, `"median": null`) {
		t.Errorf("no null in %s", got.stdout)
	}
	got = dptrain(
		t, "plan", "r.yaml",
		"--explain", "--rows",
		"20",
	)
	if got.code != exitOK ||
		!strings.Contains(got.stdout, " abstains\n") ||
		!strings.Contains(got.stdout, "have no model") {
		t.Errorf("%+v", got)
	}
}

func TestPlanExplainText(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", "a,b,y\n")
	writeFile(t, "recipe.yaml", goodRecipe)
	got := dptrain(
		t, "plan", "recipe.yaml",
		"--explain", "--rows",
		"500",
	)
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	for _, want := range []string{"on synthetic tables, not on your data", "500 rows", "yours: 1 ",
		"no privacy", "R² 0.7.", "No row was read"} {
		if !strings.Contains(strings.Join(strings.Fields(got.stdout), " "),
			strings.TrimSpace(want)) {
			t.Errorf(
				"lacks %q:\n%s",
				want, got.stdout,
			)
		}
	}
}

func TestPlanExplainMistakes(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", "a,b,y\n")
	writeFile(t, "wide.csv", columnNames(2000)+",y\n")
	const sizes = "dptrain: --rows needs 1 to 8 different numbers from 10 to 10000000\n"
	tests := []struct{ data, flags, want string }{
		{
			"line.csv",
			"--rows 100",
			"dptrain: --rows needs --explain; the price does not depend on the number of rows\n",
		},
		{"line.csv", "--explain --rows 9", sizes},
		{"line.csv", "--explain --rows 100,100", sizes},
		{
			"line.csv",
			"--explain --rows 1,2,3,4,5,6,7,8,9",
			sizes,
		},
		{
			"line.csv",
			"--explain --rows many",
			"dptrain: --rows: \"many\" is not a list of whole numbers; see `dptrain plan --help`\n",
		},
		{
			"wide.csv",
			"--explain --rows 100000",
			"dptrain: simulating tables of this size takes too long; use smaller --rows or leave out columns with --exclude\n",
		},
	}
	for _, tt := range tests {
		args := strings.Fields("plan --target y --epsilon 1 --data " + tt.data + " " + tt.flags)
		got := dptrain(t, args...)
		want := (result{exitUsage, "", tt.want})
		if got != want {
			t.Errorf(
				"%v:\n got %+v\nwant %+v",
				args, got, want,
			)
		}
	}
}

// columnNames returns n distinct names.
func columnNames(n int) string {
	names := make([]string, n)
	for j := range names {
		names[j] = "c" + strconv.Itoa(j)
	}
	return strings.Join(names, ",")
}

func TestPlanExplainInterrupted(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", "a,b,y\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := run(
		ctx,
		strings.Fields("plan --data line.csv --target y --epsilon 1 --explain"),
		strings.NewReader(""),
		&stdout,
		&stderr,
	)
	if code != exitInterrupted ||
		stdout.Len() > 0 ||
		stderr.String() != "dptrain: interrupted\n" {
		t.Errorf(
			"code %d, %q, %q",
			code, &stdout, &stderr,
		)
	}
}
