package main

import (
	"strings"
	"testing"
)

// TestCompletesValues checks that flags complete to their valid values, and column flags to the columns of the
// header.
func TestCompletesValues(t *testing.T) {
	chdirTemp(t)
	writeFile(
		t, "t.csv",
		"größe;ort;preis\n1;secret;2\n",
	)
	writeFile(t, "u.csv", "who,size,y\n1,2,3\n")
	writeFile(
		t,
		"recipe.yaml",
		"data: {path: t.csv, target: preis, format: {separator: \";\"}}\nprivacy: {epsilon: 1}\n",
	)
	for _, c := range []struct {
		args []string
		want []string
		not  string
	}{
		{
			[]string{
				"fit", "--data", "u.csv",
				"--target", "",
			},
			[]string{"who\n", "size\n", "y\n"},
			"1",
		},
		{
			[]string{
				"fit", "--data", "t.csv",
				"--separator", ";", "--exclude",
				"ort,",
			},
			[]string{"ort,größe\n", "ort,preis\n"},
			"secret",
		},
		{
			[]string{"fit", "recipe.yaml", "--unit", ""},
			[]string{"größe\n", "ort\n"},
			"secret",
		},
		{
			[]string{
				"plan", "--data", "u.csv",
				"--categories", "",
			},
			[]string{"who=\n", ":6\n"},
			"1",
		},
		{
			[]string{"init", "u.csv", "--target", ""},
			[]string{"size\n"},
			"",
		},
		{
			[]string{
				"fit", "--data", "none.csv",
				"--target", "",
			},
			[]string{":4\n"},
			"y\n",
		},
		{
			[]string{"fit", "--method", ""},
			[]string{"joint-gram\tlinear", "auto\n"},
			"anm",
		},
		{
			[]string{"fit", "--select", ""},
			[]string{"kendall\t"},
			"",
		},
		{
			[]string{"causal", "--method", ""},
			[]string{"anm\n"},
			"joint-gram",
		},
		{
			[]string{"fit", "--encoding", ""},
			[]string{"windows-1252\n", "utf-16\n"},
			"",
		},
		{
			[]string{"fit", "--data", ""},
			[]string{
				"csv\n", "parquet\n",
				"xlsx\n", "feather\n",
				":8\n",
			},
			"",
		},
		{
			[]string{"fit", "--fold", ""},
			[]string{
				"exact\n", "blanks\n",
				"case\n",
				":4\n",
			},
			"",
		},
		{
			[]string{"fit", "--undeclared", ""},
			[]string{"found\n", "numbers\n"},
			"",
		},
		{
			[]string{"predict", ""},
			[]string{"json\n", ":8\n"},
			"",
		},
		{
			[]string{"predict", "m.json", ""},
			[]string{"jsonl.gz\n"},
			"",
		},
		{
			[]string{"check", ""},
			[]string{"yaml\n", ":8\n"},
			"",
		},
	} {
		got := dptrain(t, append([]string{"__complete"}, c.args...)...)
		for _, want := range c.want {
			if !strings.Contains(got.stdout, want) {
				t.Errorf(
					"%v: no %q in %q",
					c.args, want, got.stdout,
				)
			}
		}
		if c.not != "" && strings.Contains(got.stdout, c.not) {
			t.Errorf(
				"%v: %q in %q",
				c.args, c.not, got.stdout,
			)
		}
	}
}

// TestRangeAndDateFlags checks that --range and --date have the same effect as the recipe keys.
func TestRangeAndDateFlags(t *testing.T) {
	chdirTemp(t)
	writeFile(
		t, "t.csv",
		"born,size,y\n2000-01-02,1,2\n",
	)
	writeFile(
		t,
		"recipe.yaml",
		"data: {path: t.csv, target: y, columns: {born: {date: 2006-01-02}, y: {lower: 0, upper: 9}}}\nprivacy: {epsilon: 1}\n",
	)
	want := dptrain(t, "plan", "recipe.yaml", "--json")
	base := []string{
		"plan",
		"--data", "t.csv",
		"--target", "y",
		"--epsilon", "1",
		"--json",
	}
	got := dptrain(
		t,
		append(
			base, "--date",
			"born=2006-01-02",
			"--range", "y=0:9",
		)...,
	)
	if got != want || got.code != exitOK {
		t.Errorf("%+v, want %+v", got, want)
	}
	for text, args := range map[string][]string{
		"--date needs":            {"--date", "born"},
		"is not NAME=LOWER:UPPER": {"--range", "y"},
		"--date: ": {
			"--date", "born=Jan",
			"--range",
			"y=0:9",
		},
		"--range: ": {"--range", "y=9:0"},
	} {
		got := dptrain(t, append(base, args...)...)
		if !strings.Contains(got.stderr, text) {
			t.Errorf("%v: %+v", args, got)
		}
	}
}
