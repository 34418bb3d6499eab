package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/experiments/suite"
	"github.com/dptrain/dptrain/internal/ledger"
)

type result struct {
	code           int
	stdout, stderr string
}

// runExperiments runs the command without a terminal.
func runExperiments(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, &stdout, &stderr, false)
	return result{code, stdout.String(), stderr.String()}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	err := os.WriteFile(path, []byte(text), 0o600)
	if err != nil {
		t.Fatal(err)
	}
}

// writeTables returns a folder with a public table of y = 3x + a ripple.
func writeTables(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 300 {
		fmt.Fprintf(
			&b, "%d,%d\n",
			i, 3*i+i%7,
		)
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "line.csv"), b.String())
	return dir
}

func TestSuite(t *testing.T) {
	data := writeTables(t)
	out := filepath.Join(t.TempDir(), "out")
	args := []string{
		"--public",
		"--suite", "seed-001",
		"--data", data,
		"--out", out,
		"--trials", "1",
	}
	first := runExperiments(t, args...)
	lines := strings.Split(first.stdout, "\n")
	// The table has one feature, so selectors are not applicable.
	if first.code != 0 ||
		first.stderr != "" ||
		!strings.HasPrefix(lines[0], "seed-001: 31 trials, ") ||
		!strings.Contains(lines[0], "18 not applicable") {
		t.Fatalf(
			"exit %d, %s\n%s",
			first.code, first.stderr, first.stdout,
		)
	}
	for i, name := range []string{suite.PageFile, suite.TablesFile, suite.SummaryTable,
		suite.ResultsTable, suite.ResultsFile} {
		if lines[i+1] != filepath.Join(out, name) {
			t.Errorf(
				"line %d is %q",
				i+2, lines[i+1],
			)
		}
		text := readFile(t, lines[i+1])
		if !strings.Contains(text, "nonprivate-ols") {
			t.Errorf("%s lacks a method", name)
		}
	}
	for _, words := range []string{"Share of tables with a positive median R², by version",
		"as-published kendall + tukey", "744.7", "Rounds of Boosted AdaSSP", "T = 100"} {
		if !strings.Contains(first.stdout, words) {
			t.Errorf(
				"%q is not printed:\n%s",
				words, first.stdout,
			)
		}
	}
	before := readFile(t, filepath.Join(out, suite.ResultsFile))
	again := runExperiments(t, args...)
	if again != first ||
		readFile(t, filepath.Join(out, suite.ResultsFile)) != before {
		t.Errorf(
			"a finished suite is not left alone: %+v",
			again,
		)
	}
}

func TestSuiteInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := filepath.Join(t.TempDir(), "out")
	var stdout, stderr bytes.Buffer
	code := run(
		ctx,
		[]string{
			"--public", "--suite", "copies",
			"--out", out,
		},
		&stdout,
		&stderr,
		false,
	)
	if code != 130 || stdout.Len() > 0 {
		t.Errorf(
			"exit %d, printed %q",
			code, stdout.String(),
		)
	}
	files, err := os.ReadDir(out)
	if err != nil ||
		len(files) != 1 ||
		files[0].Name() != suite.ResultsFile {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// TestSuiteProgress checks that a terminal shows the progress and that its line is cleared at the end.
func TestSuiteProgress(t *testing.T) {
	var stdout, stderr bytes.Buffer
	args := []string{
		"--public",
		"--suite", "seed-001",
		"--data", writeTables(t),
		"--out", t.TempDir(),
		"--trials", "1",
	}
	code := run(context.Background(), args, &stdout, &stderr, true)
	if code != 0 ||
		!strings.HasPrefix(
			stderr.String(),
			"\r\x1b[Kseed-001: 0 of 31 trials, line",
		) ||
		!strings.HasSuffix(stderr.String(), "\r\x1b[K") {
		t.Errorf(
			"exit %d, %q",
			code, stderr.String(),
		)
	}
}

func TestSuiteMistakes(t *testing.T) {
	data := writeTables(t)
	other := t.TempDir()
	writeFile(
		t, filepath.Join(other, suite.ResultsFile),
		"a,b\n1,2\n",
	)
	out := filepath.Join(t.TempDir(), "out")
	damaged := t.TempDir()
	writeFile(t, filepath.Join(damaged, "bad.csv.gz"), "not compressed")
	suiteOf := func(more ...string) []string {
		return append([]string{
			"--public", "--suite",
			"seed-001",
		}, more...)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"not public": {
			[]string{
				"--suite", "seed-001",
				"--data", data, "--out", out,
			},
			2,
			[]string{"--public"},
		},
		"unknown": {
			[]string{
				"--public", "--suite",
				"seed-9", "--out", out,
			},
			2,
			[]string{`"seed-9"`, "seed-001, seed-000, copies"},
		},
		"no out": {
			suiteOf("--data", data),
			2,
			[]string{"--out"},
		},
		"no suite": {
			[]string{
				"--public", "--data", data,
				"--out", out,
			},
			2,
			[]string{"--suite", "copies"},
		},
		"no data": {
			suiteOf("--out", out),
			2,
			[]string{"data folder is missing"},
		},
		"needless data": {
			[]string{
				"--public", "--suite", "copies",
				"--data", data, "--out", out,
			},
			2,
			[]string{"makes its own tables"},
		},
		"missing table": {
			[]string{
				"--public",
				"--suite", "seed-004",
				"--data", data,
				"--out", out,
			},
			2,
			[]string{"begins with adult"},
		},
		"two folders": {
			suiteOf(
				"--data", data, "--data",
				data, "--out", out,
			),
			2,
			[]string{"one --data"},
		},
		"recipe": {
			suiteOf("--data", data, "--out", out, "recipe.yaml"),
			2,
			[]string{"recipe.yaml"},
		},
		"method": {
			suiteOf(
				"--data", data, "--out",
				out, "--method", "auto",
			),
			2,
			[]string{"--method"},
		},
		"epsilon": {
			suiteOf(
				"--data", data, "--out",
				out, "--epsilon", "2",
			),
			2,
			[]string{"--epsilon"},
		},
		"trials": {
			suiteOf(
				"--data", data, "--out",
				out, "--trials", "0",
			),
			2,
			[]string{"--trials"},
		},
		"other results": {
			suiteOf("--data", data, "--out", other),
			2,
			[]string{suite.ResultsFile, "another folder"},
		},
		"absent folder": {
			suiteOf(
				"--data",
				filepath.Join(data, "none"),
				"--out", out,
			),
			2,
			[]string{"cannot be listed"},
		},
		"damaged tables": {
			suiteOf("--data", damaged, "--out", out),
			4,
			[]string{"bad.csv.gz"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := runExperiments(t, c.args...)
			if r.code != c.code || r.stdout != "" {
				t.Errorf(
					"exit %d, want %d; printed %q; %s",
					r.code,
					c.code,
					r.stdout,
					r.stderr,
				)
			}
			for _, words := range c.says {
				if !strings.Contains(r.stderr, words) {
					t.Errorf(
						"%q does not say %q",
						r.stderr, words,
					)
				}
			}
		})
	}
}

func TestHelp(t *testing.T) {
	r := runExperiments(t, "--help")
	if r.code != 0 || r.stderr != "" {
		t.Errorf("%+v", r)
	}
	for _, name := range suite.Names() {
		if !strings.Contains(r.stdout, name) {
			t.Errorf(
				"%s is not in the help:\n%s",
				name, r.stdout,
			)
		}
	}
}

// TestKnownData checks that a table known to a ledger is refused, since a suite prints exact results.
func TestKnownData(t *testing.T) {
	data := writeTables(t)
	out := filepath.Join(t.TempDir(), "out")
	path := filepath.Join(t.TempDir(), "my.ledger")
	book := ledger.New(path, ledger.Options{})
	_, err := book.Register(
		t.Context(),
		"lines",
		budget.Total{Epsilon: 1, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{
		"--public",
		"--suite", "seed-001",
		"--data", data,
		"--out", out,
		"--trials", "1",
		"--ledger", path,
	}
	if r := runExperiments(t, args...); r.code != 0 {
		t.Fatalf(
			"a ledger that does not know the table: %+v",
			r,
		)
	}
	table := filepath.Join(data, "line.csv")
	_, err = book.Note(
		t.Context(),
		ledger.Note{
			Dataset: "lines",
			Table:   table,
			Method:  "tukey",
			What:    ledger.NoteAudit,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	r := runExperiments(t, args...)
	if r.code != exitLedger ||
		r.stdout != "" ||
		!strings.Contains(r.stderr, `as data set "lines"`) {
		t.Errorf("%+v", r)
	}
}
