package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/sys/terminal"
)

var update = flag.Bool("update", false, "write the golden files")

// asProcess is the environment variable that makes the test binary behave as dptrain.
const asProcess = "DPTRAIN_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asProcess) != "" {
		stage := os.Getenv(killAt)
		if stage != "" {
			killedAt(stage)
		}
		stage = os.Getenv(fullAt)
		if stage != "" {
			os.Exit(fullFrom(stage, os.Args[1:])) //nolint:forbidigo // it is a process of its own
		}
		for name, begin := range startHooks() {
			how := os.Getenv(name)
			if how != "" {
				begin(how)
			}
		}
		main()
		return
	}
	if err := os.Setenv(terminal.ProgressEnv, "off"); err != nil { // the output must not depend on the duration of a test
		panic(err)
	}
	os.Exit(m.Run()) //nolint:forbidigo // a TestMain ends its process
}

// killAt is the environment variable with the stage at which a process that behaves as dptrain kills itself.
const killAt = "DPTRAIN_TEST_KILL"

// fullAt is the environment variable with the stage, or "start", from which a process that behaves as dptrain finds
// the disk full.
const fullAt = "DPTRAIN_TEST_FULL_DISK"

func killedAt(stage string) {
	a := newApp(os.Stdin, os.Stdout, os.Stderr)
	a.onStage = func(begun string) {
		if begun == stage {
			p, err := os.FindProcess(os.Getpid())
			if err == nil && p.Kill() == nil {
				select {}
			}
		}
	}
	os.Exit(a.run(context.Background(), os.Args[1:])) //nolint:forbidigo // it is a process of its own
}

// result is the output and the exit code of a command.
type result struct {
	code           int
	stdout, stderr string
}

// dptrain runs a command in the working directory.
func dptrain(t *testing.T, args ...string) result {
	t.Helper()
	return dptrainIn(t, "", args...)
}

// dptrainIn runs a command in the working directory with text on standard input.
func dptrainIn(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// chdirTemp creates an empty working directory and changes to it, so that paths in messages are short.
func chdirTemp(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	err := os.WriteFile(path, []byte(content), 0o600)
	if err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// golden is the path of a golden file in testdata, relative to dir, because the tests change the working directory.
type golden string

func goldenFiles(t *testing.T) golden {
	t.Helper()
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return golden(dir)
}

func (g golden) compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(string(g), name+".golden")
	if *update {
		writeFile(t, path, got)
	}
	diff := cmp.Diff(readFile(t, path), got)
	if diff != "" {
		t.Errorf(
			"differs from testdata/%s.golden (-want +got; -update writes it):\n%s",
			name,
			diff,
		)
	}
}

// lineCSV returns a table of y = 3a - b plus a ripple.
func lineCSV(rows int) string {
	var s strings.Builder
	s.WriteString("a,b,y\n")
	for i := range rows {
		a := i % 17
		b := i % 5
		fmt.Fprintf(
			&s,
			"%d,%d,%d\n",
			a, b, 3*a-b+i%2,
		)
	}
	return s.String()
}

// runFile reads curator/run.json.
func runFile(t *testing.T, out string) report.Run {
	t.Helper()
	var r report.Run
	err := json.Unmarshal(
		[]byte(readFile(
			t,
			filepath.Join(out, "curator", "run.json"),
		)),
		&r,
	)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// onlyFiles checks that the working directory contains exactly the named entries.
func onlyFiles(t *testing.T, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	diff := cmp.Diff(append([]string{}, want...), got)
	if diff != "" {
		t.Errorf(
			"left in the folder (-want +got):\n%s",
			diff,
		)
	}
}

func TestHelp(t *testing.T) {
	files := goldenFiles(t)
	for _, topic := range []string{"", "fit", "init", "check", "plan", "audit", "predict",
		"describe", "report", "verify", "schema", "version", "exit-codes"} {
		got := dptrain(t, "help", topic)
		if got.code != 0 || got.stderr != "" {
			t.Errorf(
				"help %s: code %d, stderr %q",
				topic, got.code, got.stderr,
			)
		}
		files.compare(t, strings.TrimSuffix("help-"+topic, "-"), got.stdout)
	}
	bare := dptrain(t)
	if bare != dptrain(t, "--help") {
		t.Errorf("without arguments: %+v", bare)
	}
}

func TestUsageErrors(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(5))
	writeFile(t, "model.json", modelJSON)
	tests := []struct {
		args string
		want string // stderr
	}{
		{"pln", `dptrain: unknown command "pln"; did you mean "plan"?`},
		{"zz", "dptrain: unknown command \"zz\"; see `dptrain --help`"},
		{"frobnicate", "dptrain: unknown command \"frobnicate\"; see `dptrain --help`"},
		{
			"fit --frob",
			"dptrain: unknown flag: --frob; see `dptrain fit --help`",
		},
		{
			"fit --espilon 1",
			"dptrain: unknown flag: --espilon; did you mean --epsilon? see `dptrain fit --help`",
		},
		{
			"fit --force=perhaps",
			"dptrain: --force: \"perhaps\" is not true or false; see `dptrain fit --help`",
		},
		{
			"bench --seed -1",
			"dptrain: --seed: \"-1\" is not a whole number of at least 0; see `dptrain bench --help`",
		},
		{
			"bench --trials 1.5",
			"dptrain: --trials: \"1.5\" is not a whole number; see `dptrain bench --help`",
		},
		{
			"bench --trials 1000000000000000000000",
			"dptrain: --trials: \"1000000000000000000000\" is too large or too small; see `dptrain bench --help`",
		},
		{
			"fit",
			"dptrain: nothing to train on: give a recipe, or --data, --target and --epsilon; see `dptrain fit --help`",
		},
		{
			"fit a.yaml b.yaml",
			"dptrain: dptrain fit takes at most one recipe; see `dptrain fit --help`",
		},
		{
			"fit --data line.csv --target y --epsilon 1 --holdout much",
			"dptrain: --holdout: \"much\" is not a number; see `dptrain fit --help`",
		},
		{
			"plan",
			"dptrain: nothing to plan: give a recipe, or --data, --target and --epsilon; see `dptrain plan --help`",
		},
		{
			"plan recipe.yaml --out o",
			"dptrain: unknown flag: --out; see `dptrain plan --help`",
		},
		{"check", "dptrain: dptrain check takes one recipe; see `dptrain check --help`"},
		{"init", "dptrain: dptrain init takes one table; see `dptrain init --help`"},
		{
			"predict model.json",
			"dptrain: dptrain predict takes a model and a table (- for standard input); see `dptrain predict --help`",
		},
		{
			"report",
			"dptrain: dptrain report takes the output folder of a run, or a file of it; see `dptrain report --help`",
		},
		{
			"schema x",
			"dptrain: dptrain schema takes no argument; see `dptrain schema --help`",
		},
		{
			"version x",
			"dptrain: dptrain version takes no argument; see `dptrain version --help`",
		},
		{
			"completion",
			"dptrain: name a shell: bash, zsh, fish or powershell, as in `dptrain completion bash`",
		},
		{
			"completion ksh",
			"dptrain: name a shell: bash, zsh, fish or powershell, as in `dptrain completion bash`",
		},
		{
			"predict model.json line.parquet --append",
			"dptrain: --append supports only CSV and TSV tables; without it, predict prints one prediction per row",
		},
		{
			"predict model.json line.csv -o none/there.csv",
			"dptrain: none/there.csv cannot be written: no such file or directory",
		},
	}
	for _, tt := range tests {
		got := dptrain(t, strings.Fields(tt.args)...)
		want := (result{exitUsage, "", tt.want + "\n"})
		if got != want {
			t.Errorf(
				"dptrain %s:\n got %+v\nwant %+v",
				tt.args, got, want,
			)
		}
	}
	onlyFiles(t, "line.csv", "model.json")
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{
		"bash", "zsh", "fish",
		"powershell",
	} {
		got := dptrain(t, "completion", shell)
		if got.code != 0 || !strings.Contains(got.stdout, "dptrain") {
			t.Errorf(
				"%s: code %d, %d bytes",
				shell, got.code, len(got.stdout),
			)
		}
	}
}

func TestVersion(t *testing.T) {
	line := regexp.MustCompile(`^dptrain 1\.0\.0-rc\.1( [0-9a-f]+\+?)? \(go\S+, \w+/\w+\)\n$`)
	for _, arg := range []string{"version", "--version"} {
		got := dptrain(t, arg)
		if got.code != 0 || !line.MatchString(got.stdout) {
			t.Errorf("%s: %+v", arg, got)
		}
	}
	got := dptrain(t, "version", "--json")
	var v map[string]string
	err := json.Unmarshal([]byte(got.stdout), &v)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"version", "commit", "go",
		"platform",
	} {
		value, ok := v[key]
		if !ok || value == "" && key != "commit" {
			t.Errorf(
				"%s: %q, %v",
				key, value, ok,
			)
		}
	}
}

func TestSchema(t *testing.T) {
	got := dptrain(t, "schema")
	var schema struct {
		Title string `json:"title"`
	}
	err := json.Unmarshal([]byte(got.stdout), &schema)
	if err != nil || schema.Title != "dptrain recipe" || got.code != 0 {
		t.Errorf(
			"code %d, title %q, error %v",
			got.code, schema.Title, err,
		)
	}
}

// noRoom is a writer that fails like a full disk.
type noRoom struct{}

func (noRoom) Write([]byte) (int, error) {
	return 0,
		&os.PathError{
			Op:   "write",
			Path: "/dev/stdout",
			Err:  errors.New("no space left on device"),
		}
}

// TestOutputFails checks that every command reports a usage error if writing to standard output fails.
func TestOutputFails(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(5))
	writeFile(t, "model.json", modelJSON)
	for _, args := range []string{
		"schema", "version", "help exit-codes", "init line.csv", "predict model.json line.csv",
		"predict model.json line.csv --append",
		"plan --data line.csv --target y --epsilon 1", "fit --data line.csv --target y --epsilon 1",
	} {
		var stderr bytes.Buffer
		code := run(
			context.Background(),
			strings.Fields(args),
			strings.NewReader(""),
			noRoom{},
			&stderr,
		)
		want := "standard output cannot be written: no space left on device\n"
		if code != exitUsage ||
			!strings.HasPrefix(stderr.String(), "dptrain: ") ||
			!strings.HasSuffix(stderr.String(), want) {
			t.Errorf(
				"%s: code %d, %s",
				args, code, stderr.String(),
			)
		}
	}
}
