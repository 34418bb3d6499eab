package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/regression"
)

// releasedRun creates the folder of a run with the report and the model from the tests of their formats.
func releasedRun(t *testing.T) {
	t.Helper()
	model := readFile(
		t,
		"../../regression/testdata/model-1-additive.json",
	)
	text := readFile(
		t,
		"../../internal/publish/report/testdata/report-1.json",
	)
	chdirTemp(t)
	if err := os.MkdirAll("out/release", 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "out/release/model.json", model)
	writeFile(t, "out/release/report.json", text)
}

func TestReport(t *testing.T) {
	files := goldenFiles(t)
	releasedRun(t)
	want := dptrain(t, "report", "out")
	files.compare(t, "report", want.stdout)
	for _, path := range []string{"out/release", "out/release/report.json",
		"out/release/model.json"} {
		got := dptrain(t, "report", path)
		if got != want || got.code != exitOK || got.stderr != "" {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

func TestReportRegistry(t *testing.T) {
	files := goldenFiles(t)
	classes := readFile(
		t,
		"../../internal/publish/report/testdata/report-2.json",
	)
	releasedRun(t)
	writeFile(t, "classes.json", classes)
	got := dptrain(t, "report", "out", "--registry")
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	files.compare(t, "report-registry", got.stdout)
	more := dptrain(t, "report", "classes.json", "--registry")
	if more.code != exitOK ||
		!strings.Contains(more.stdout, "Held-out accuracy: 0.800") {
		t.Errorf("%+v", more)
	}
	got = dptrain(
		t, "report", "out",
		"--registry", "--shape",
		"age",
	)
	if got.code != exitUsage {
		t.Errorf("%+v", got)
	}
}

func TestReportShape(t *testing.T) {
	files := goldenFiles(t)
	releasedRun(t)
	writeFile(t, "linear.json", modelJSON)
	var b strings.Builder
	for _, args := range []string{
		"out --shape income", "out/release/report.json --shape age",
		"out/release/model.json --shape ocean", "out --shape kind", "out --shape (score)",
		"linear.json --shape a", "linear.json --shape b",
	} {
		got := dptrain(t, append([]string{"report"}, strings.Fields(args)...)...)
		if got.code != exitOK || got.stderr != "" {
			t.Errorf("%s: %+v", args, got)
		}
		fmt.Fprintf(&b, "report %s\n%s\n", args, got.stdout)
	}
	files.compare(t, "report-shape", b.String())
}

func TestReportMistakes(t *testing.T) {
	files := goldenFiles(t)
	releasedRun(t)
	writeFile(t, "broken.json", "{}")
	writeFile(
		t, "short.json",
		readFile(t, "out/release/report.json")[:200],
	)
	writeFile(t, "notes.json", `{"format":"dptrain.run/1"}`)
	writeFile(t, "line.csv", lineCSV(2))
	if err := os.MkdirAll("abstained/release", 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(
		t, "abstained/release/report.json",
		readFile(t, "out/release/report.json"),
	)
	var b strings.Builder
	for _, tt := range []struct {
		args string
		code int
	}{
		{"none", exitData},
		{"none --shape age", exitData},
		{"broken.json", exitData},
		{"broken.json --shape age", exitData},
		{"short.json", exitData},
		{"line.csv", exitData},
		{"notes.json", exitData},
		{"line.csv --shape age", exitData},
		{"abstained --shape age", exitData},
		{"out --shape salary", exitUsage},
		{"out --shape", exitUsage},
	} {
		got := dptrain(t, append([]string{"report"}, strings.Fields(tt.args)...)...)
		if got.code != tt.code || got.stdout != "" {
			t.Errorf(
				"%s: %+v, want code %d",
				tt.args, got, tt.code,
			)
		}
		fmt.Fprintf(&b, "report %s\n  %s", tt.args, got.stderr)
	}
	files.compare(t, "report-mistakes", b.String())
}

// TestShapeOfClasses checks that with three classes a column has a shape for each.
func TestShapeOfClasses(t *testing.T) {
	score := func(coefficient float64) *regression.Linear {
		return &regression.Linear{
			Target:  "y",
			Columns: []regression.Column{{Name: "a"}},
			Terms:   []regression.Term{{Coefficient: coefficient}},
		}
	}
	parts := report.SumsOf(
		&regression.Classifier{
			Target:  "y",
			Classes: []string{"no", "maybe", "yes"},
			Scores:  []regression.Model{score(1), score(2), score(3)},
		})
	var b strings.Builder
	for _, p := range parts {
		err := (part{p}).print(&b, "a")
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"score of class no", "score of class maybe", "score of class yes",
		"1 per unit of a", "3 per unit of a"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf(
				"lacks %q:\n%s",
				want, b.String(),
			)
		}
	}
	parts = report.SumsOf(
		&regression.Classifier{
			Classes: []string{"no", "yes"},
			Scores:  []regression.Model{score(1)},
		})
	if len(parts) != 1 || parts[0].Class != "yes" {
		t.Errorf("two classes: %+v", parts)
	}
}
