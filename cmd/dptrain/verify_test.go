package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerifyCommand checks the output and the exit code for a consistent release, an edited release, and a folder
// that is no release.
func TestVerifyCommand(t *testing.T) {
	golden := goldenFiles(t)
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(2000))
	must := func(want int, args ...string) result {
		t.Helper()
		got := dptrain(t, args...)
		if got.code != want {
			t.Fatalf("%q: %+v", args, got)
		}
		return got
	}
	must(
		0, "ledger", "init",
		"dptrain.ledger", "--dataset",
		"lines", "--epsilon", "9",
	)
	must(0, "fit",
		"--data", "line.csv",
		"--target", "y",
		"--epsilon", "1",
		"--undeclared", "numbers",
		"--dataset", "lines",
		"--out", "out",
		"-q",
	)
	whole := must(0, "verify", "out/release")
	for _, line := range strings.Split(whole.stdout, "\n") {
		if len([]rune(line)) > 80 {
			t.Errorf(
				"a line of %d characters: %s",
				len([]rune(line)), line,
			)
		}
	}
	golden.compare(t, "verify", whole.stdout)
	for _, args := range [][]string{
		{"verify", "out"},
		{"verify", "out/release/report.json"},
		{"verify", "out/release", "--ledger", "dptrain.ledger"},
	} {
		got := must(0, args...)
		if got.stdout != whole.stdout {
			t.Errorf("%q: %+v", args, got)
		}
	}
	err := os.Rename("dptrain.ledger", "elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	if got := must(0, "verify", "out"); !strings.Contains(got.stdout, "skipped  ledger: ") ||
		!strings.Contains(got.stdout, "11 checks passed, 1 skipped") {
		t.Errorf("%+v", got)
	}
	must(0, "verify", "out", "--ledger", "elsewhere")

	text := readFile(t, "out/release/report.json")
	writeFile(
		t,
		"out/release/report.json",
		strings.Replace(
			text, `"epsilon": 1,`,
			`"epsilon": 0.5,`, 1,
		),
	)
	got := must(8, "verify", "out", "--ledger", "elsewhere")
	if !strings.Contains(got.stderr, "is inconsistent: 6 of 12 checks failed") {
		t.Errorf("%+v", got)
	}
	golden.compare(t, "verify-edited", got.stdout)

	must(2, "verify")
	must(2, "verify", "out", "--ledger", "")
	must(4, "verify", "nowhere")
	must(4, "verify", "line.csv")
	must(6, "verify", "out", "--ledger", "line.csv")
	writeFile(t, "out/release/report.json", text[:len(text)/2])
	must(4, "verify", "out")
}

// TestVerifyExamples verifies releases of the kinds that need a recipe: a unit, a search, a fallback.
func TestVerifyExamples(t *testing.T) {
	for _, name := range []string{"unit", "search", "tukey-fallback"} {
		out := filepath.Join(t.TempDir(), "out")
		got := dptrain(
			t,
			"fit",
			"../../examples/"+name+".yaml",
			"--out",
			out,
			"-q",
		)
		if got.code != 0 && got.code != exitAbstained {
			t.Fatalf("%+v", got)
		}
		got = dptrain(t, "verify", out)
		if got.code != 0 ||
			strings.Count(got.stdout, "\nok ") != 10 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
