package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/experiments/suite"
)

func TestBenchSuite(t *testing.T) {
	data, out := filepath.Dir(benchFile(t)), filepath.Join(t.TempDir(), "out")
	args := []string{"bench", "--public", "--suite", "seed-001", "--data", data, "--out", out, "--trials", "1"}
	first := dptrain(t, args...)
	lines := strings.Split(first.stdout, "\n")
	// The table has one feature, of which nothing can be chosen.
	if first.code != 0 || first.stderr != "" || !strings.HasPrefix(lines[0], "seed-001: 18 trials, ") || !strings.Contains(lines[0], "12 failed") {
		t.Fatalf("exit %d, %s\n%s", first.code, first.stderr, first.stdout)
	}
	for i, name := range []string{suite.PageFile, suite.SummaryTable, suite.ResultsTable, suite.ResultsFile} {
		if lines[i+1] != filepath.Join(out, name) {
			t.Errorf("line %d is %q", i+2, lines[i+1])
		}
		if text := read(t, lines[i+1]); !strings.Contains(text, "nonprivate-ols") {
			t.Errorf("%s lacks a method", name)
		}
	}
	before := read(t, filepath.Join(out, suite.ResultsFile))
	if again := dptrain(t, args...); again != first || read(t, filepath.Join(out, suite.ResultsFile)) != before {
		t.Errorf("a finished suite is not left alone: %+v", again)
	}
}

func TestBenchSuiteInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := filepath.Join(t.TempDir(), "out")
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"bench", "--public", "--suite", "copies", "--out", out}, strings.NewReader(""), &stdout, &stderr)
	if code != 130 || stdout.Len() > 0 {
		t.Errorf("exit %d, printed %q", code, stdout.String())
	}
	if files, err := os.ReadDir(out); err != nil || len(files) != 1 || files[0].Name() != suite.ResultsFile {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// A terminal is told of every trial, and its line is cleared at the end.
func TestBenchSuiteProgress(t *testing.T) {
	var stdout, stderr bytes.Buffer
	a := newApp(strings.NewReader(""), &stdout, &stderr)
	a.terminal = true
	code := a.run(context.Background(), []string{"bench", "--public", "--suite", "seed-001", "--data", filepath.Dir(benchFile(t)), "--out", t.TempDir(), "--trials", "1"})
	if code != 0 || !strings.Contains(stderr.String(), "\r\x1b[Kseed-001: line, 18 of 18\r\x1b[K") {
		t.Errorf("exit %d, %q", code, stderr.String())
	}
}

func TestBenchSuiteMistakes(t *testing.T) {
	data := filepath.Dir(benchFile(t))
	other := t.TempDir()
	write(t, filepath.Join(other, suite.ResultsFile), "a,b\n1,2\n")
	out := filepath.Join(t.TempDir(), "out")
	damaged := t.TempDir()
	write(t, filepath.Join(damaged, "bad.csv.gz"), "not compressed")
	suiteOf := func(more ...string) []string { return append([]string{"--public", "--suite", "seed-001"}, more...) }
	for name, c := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"not public":     {[]string{"--suite", "seed-001", "--data", data, "--out", out}, 2, []string{"--public"}},
		"unknown":        {[]string{"--public", "--suite", "seed-9", "--out", out}, 2, []string{`"seed-9"`, "seed-001, seed-000, copies"}},
		"no out":         {suiteOf("--data", data), 2, []string{"--out"}},
		"no suite":       {[]string{"--public", "--data", data, "--out", out}, 2, []string{"--suite", "copies"}},
		"no data":        {suiteOf("--out", out), 2, []string{"data folder is missing"}},
		"needless data":  {[]string{"--public", "--suite", "copies", "--data", data, "--out", out}, 2, []string{"makes its own tables"}},
		"missing table":  {[]string{"--public", "--suite", "seed-004", "--data", data, "--out", out}, 2, []string{"begins with adult"}},
		"two folders":    {suiteOf("--data", data, "--data", data, "--out", out), 2, []string{"one --data"}},
		"recipe":         {suiteOf("--data", data, "--out", out, "recipe.yaml"), 2, []string{"recipe.yaml"}},
		"method":         {suiteOf("--data", data, "--out", out, "--method", "auto"), 2, []string{"--method"}},
		"epsilon":        {suiteOf("--data", data, "--out", out, "--epsilon", "2"), 2, []string{"--epsilon"}},
		"json":           {suiteOf("--data", data, "--out", out, "--json"), 2, []string{"--json"}},
		"trials":         {suiteOf("--data", data, "--out", out, "--trials", "0"), 2, []string{"--trials"}},
		"other results":  {suiteOf("--data", data, "--out", other), 2, []string{suite.ResultsFile, "another folder"}},
		"absent folder":  {suiteOf("--data", filepath.Join(data, "none"), "--out", out), 2, []string{"cannot be listed"}},
		"damaged tables": {suiteOf("--data", damaged, "--out", out), 4, []string{"bad.csv.gz"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := dptrain(t, append([]string{"bench"}, c.args...)...)
			if r.code != c.code || r.stdout != "" {
				t.Errorf("exit %d, want %d; printed %q; %s", r.code, c.code, r.stdout, r.stderr)
			}
			for _, words := range c.says {
				if !strings.Contains(r.stderr, words) {
					t.Errorf("%q does not say %q", r.stderr, words)
				}
			}
		})
	}
}
