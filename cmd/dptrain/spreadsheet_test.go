package main

import (
	"strings"
	"testing"
)

// TestSpreadsheetSafe checks that text that a spreadsheet may take for a formula gets an apostrophe, and that
// numbers and other texts are unchanged.
func TestSpreadsheetSafe(t *testing.T) {
	for text, want := range map[string]string{
		"=1+1":     "'=1+1",
		"@SUM(A1)": "'@SUM(A1)",
		"+x":       "'+x",
		"-x":       "'-x",
		"\t=1":     "'\t=1",
		" =1":      "' =1",
		"\rx":      "'\rx",
		"＝1":       "'＝1",
		"-2+3":     "'-2+3",
		"+":        "'+",
		"\uFEFF=1": "'\uFEFF=1",
		"\u00a0@a": "'\u00a0@a",
		"":         "",
		"-1":       "-1",
		"+1.5e3":   "+1.5e3",
		"a=1":      "a=1",
		"beech":    "beech",
		"a-b":      "a-b",
		"'=1":      "'=1",
		" x":       " x",
	} {
		if got := spreadsheetSafe(text); got != want {
			t.Errorf(
				"%q becomes %q, want %q",
				text, got, want,
			)
		}
	}
}

// formulaModel returns a classifier in which a class, the target and the column are formulas.
func formulaModel() string {
	return strings.NewReplacer(`"repaid"`, `"=cmd"`, `"no"`, `"=1+1"`, `"yes, late"`, `"-5"`, `"a"`,
		`"@x"`).Replace(chanceModel(""))
}

// TestPredictSpreadsheetSafe checks class names, column names and copied cells in every form of the CSV output of
// predict. Without the flag they are unchanged.
func TestPredictSpreadsheetSafe(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "model.json", formulaModel())
	writeFile(
		t, "t.csv",
		"@x,note\n-1,=HYPERLINK(1)\n2,fine\n",
	)
	for args, want := range map[string]string{
		"":                            "=cmd\n=1+1\n-5\n",
		"--spreadsheet-safe":          "'=cmd\n'=1+1\n-5\n",
		"--append":                    "@x,note,=cmd\n-1,=HYPERLINK(1),=1+1\n2,fine,-5\n",
		"--append --spreadsheet-safe": "'@x,note,'=cmd\n-1,'=HYPERLINK(1),'=1+1\n2,fine,-5\n",
	} {
		got := dptrain(
			t,
			append([]string{"predict", "model.json", "t.csv"}, strings.Fields(args)...)...,
		)
		if got.code != 0 || got.stdout != want {
			t.Errorf("%s: %+v", args, got)
		}
	}
	got := dptrain(t, "predict", "model.json", "t.csv",
		"--json",
		"--spreadsheet-safe",
	)
	if got.code != exitUsage ||
		!strings.Contains(got.stderr, "--spreadsheet-safe is for CSV") {
		t.Errorf("%+v", got)
	}
}
