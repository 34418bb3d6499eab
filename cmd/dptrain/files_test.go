package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestOneTableInManyForms checks that training gives the same model for a table from standard input, in several
// files, as JSON Lines and without a header.
func TestOneTableInManyForms(t *testing.T) {
	chdirTemp(t)
	var csv, body, lines strings.Builder
	csv.WriteString("x,y\n")
	for i := range 400 {
		fmt.Fprintf(
			&body, "%d,%d\n",
			i%20, 2*(i%20),
		)
		fmt.Fprintf(
			&lines,
			"{\"y\": %d, \"x\": %d}\n",
			2*(i%20), i%20,
		)
	}
	csv.WriteString(body.String())
	writeFile(t, "part-1.csv", csv.String())
	writeFile(t, "part-2.csv", csv.String())
	writeFile(t, "bare.csv", body.String())
	writeFile(t, "t.jsonl", lines.String())
	rest := []string{
		"--target", "y",
		"--epsilon", "5",
		"--method", "joint-gram",
		"--quiet",
		"--force",
	}
	var plan string
	for name, args := range map[string][]string{
		"stdin":   {"--data", "-"},
		"pattern": {"--data", "part-*.csv"},
		"bare": {
			"--data", "bare.csv",
			"--header", "x,y",
		},
		"json": {
			"--data", "t.jsonl",
			"--header", "x,y",
		},
	} {
		got := dptrainIn(
			t,
			csv.String(),
			append(append([]string{"fit"}, args...), rest...)...,
		)
		if got.code != exitOK {
			t.Fatalf("%s: %+v", name, got)
		}
		for _, line := range []string{"-", "new.jsonl"} {
			writeFile(t, "new.jsonl", "{\"x\": 3}\n")
			extra := []string{"predict", "out/release/model.json", line}
			if name == "bare" {
				extra = append(extra, "--header", "x")
			}
			in := "x\n3\n"
			if name == "bare" && line == "-" {
				in = "3\n"
			}
			got := dptrainIn(t, in, extra...)
			if got.code != exitOK ||
				strings.Count(got.stdout, "\n") != 2 {
				t.Errorf(
					"%s, %s: %+v",
					name, line, got,
				)
			}
		}
		priced := dptrainIn(
			t,
			csv.String(),
			append(append([]string{"plan"}, args...), rest[:6]...)...,
		)
		if plan == "" {
			plan = priced.stdout
		}
		if priced.code != exitOK || priced.stdout != plan {
			t.Errorf("%s: %+v", name, priced)
		}
	}
	got := dptrain(
		t,
		append([]string{"fit", "--data", "t.jsonl"}, rest...)...,
	)
	if got.code != exitData || !strings.Contains(got.stderr, "--header") {
		t.Errorf("%+v", got)
	}
}
