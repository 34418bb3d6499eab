//go:build replay

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestEngineFlag checks that the release does not depend on where the table is kept, and that requests unsupported
// by the stream engine are refused before the ledger is opened.
func TestEngineFlag(t *testing.T) {
	table, err := filepath.Abs("../../testdata/houses.csv")
	if err != nil {
		t.Fatal(err)
	}
	chdirTemp(t)
	text := readFile(t, table)
	if err := os.Mkdir("scratch", 0o700); err != nil {
		t.Fatal(err)
	}
	args := []string{
		"fit", "--target", "price",
		"--epsilon", "1", "-q",
	}
	for _, tt := range []struct {
		name, stdin string
		flags       []string
	}{
		{
			"memory", "",
			[]string{"--data", table, "--engine", "memory"},
		},
		{"auto", "", []string{"--data", table}},
		{
			"stream",
			"",
			[]string{
				"--data", table, "--engine",
				"stream", "--scratch", "scratch",
			},
		},
		{
			"stdin",
			text,
			[]string{
				"--data", "-", "--engine",
				"stream", "--scratch", "scratch",
			},
		},
	} {
		out, err := separateProcess(
			t,
			tt.stdin,
			"",
			append(append(args, "--out", tt.name), tt.flags...),
		).CombinedOutput()
		if err != nil {
			t.Fatalf(
				"%s: %v\n%s",
				tt.name, err, out,
			)
		}
		if got, want := readFile(t, tt.name+"/release/model.json"),
			readFile(t, "memory/release/model.json"); got != want {
			t.Errorf("%s: another model than from memory", tt.name)
		}
		got := runFile(t, tt.name).Rows
		want := runFile(t, "memory").Rows
		if got != want {
			t.Errorf(
				"%s: %d rows, want %d",
				tt.name, got, want,
			)
		}
	}
	if left, err := os.ReadDir("scratch"); err != nil || len(left) > 0 {
		t.Errorf(
			"%d folders are left: %v",
			len(left), err,
		)
	}
	for _, tt := range []struct {
		flags []string
		code  int
		text  string
	}{
		{
			[]string{"--engine", "disk"},
			2,
			"--engine must be one of auto, memory, stream, spark",
		},
		{
			[]string{"--engine", "spark"},
			2,
			"--engine spark needs --connect",
		},
		{
			[]string{"--connect", "sc://localhost"},
			2,
			"--connect needs --engine spark",
		},
		{
			[]string{
				"--engine", "spark",
				"--connect",
				"sc://spark.example",
			},
			2,
			"on another machine",
		},
		{
			[]string{
				"--engine", "spark",
				"--connect", "sc://localhost",
				"--method", "tukey",
			},
			3,
			"these steps need all records in one place: tukey",
		},
		{
			[]string{
				"--engine", "spark",
				"--connect", "sc://localhost",
				"--select", "kendall",
			},
			3,
			"these steps need all records in one place: kendall",
		},
		{
			[]string{"--engine", "stream", "--scratch", "none"},
			2,
			"the scratch file cannot be written",
		},
	} {
		got := dptrain(
			t,
			append(append(
				args, "--out", "refused",
				"--data", table,
			), tt.flags...)...,
		)
		if got.code != tt.code || !strings.Contains(got.stderr, tt.text) {
			t.Errorf("%v: %+v", tt.flags, got)
		}
		if _, err := os.Stat("refused/release"); err == nil {
			t.Errorf("%v: a release", tt.flags)
		}
	}
}

// TestEngineKey checks that a recipe may name the engine, that the published recipe omits it, and that the flag
// overrides it.
func TestEngineKey(t *testing.T) {
	table, err := filepath.Abs("../../testdata/loans.csv")
	if err != nil {
		t.Fatal(err)
	}
	chdirTemp(t)
	for name, method := range map[string]string{"sums": "joint-gram", "rows": "svm"} {
		writeFile(
			t,
			name+".yaml",
			"engine: stream\ntask: classification\ndata: {path: "+table+
				", target: repaid, classes: [no, yes]}\nprivacy: {epsilon: 1}\nmodel: {method: "+
				method+"}\n",
		)
	}
	for out, flags := range map[string][]string{
		"stream": nil,
		"memory": {"--engine", "memory"},
	} {
		text, err := separateProcess(
			t,
			"",
			"",
			append(
				[]string{
					"fit", "sums.yaml", "-q",
					"--out", out,
				},
				flags...,
			),
		).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	for _, file := range []string{
		"model.json", "report.json",
		"recipe.yaml",
	} {
		if readFile(t, "stream/release/"+file) != readFile(t, "memory/release/"+file) {
			t.Errorf("%s depends on the engine", file)
		}
	}
	got := dptrain(t, "fit", "rows.yaml")
	if got.code != 3 ||
		!strings.Contains(got.stderr, "need all records in one place: svm") {
		t.Errorf("the key is not looked at: %+v", got)
	}
	got = dptrain(
		t, "fit", "rows.yaml",
		"-q", "--engine",
		"memory",
	)
	if got.code != 0 {
		t.Errorf(
			"the flag does not replace the key: %+v",
			got,
		)
	}
}

// separateProcess returns dptrain as a separate process whose first run has the first key of its plan. The process kills
// itself at the start of the stage kill.
func separateProcess(t *testing.T, stdin, kill string, args []string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(
		os.Environ(), asProcess+"=1",
		killAt+"="+kill,
	)
	cmd.Stdin = strings.NewReader(stdin)
	return cmd
}

// TestKilledWithScratch checks that a killed run leaves no readable scratch file and no release, and that the next
// run removes the empty folder.
func TestKilledWithScratch(t *testing.T) {
	table, err := filepath.Abs("../../testdata/houses.csv")
	if err != nil {
		t.Fatal(err)
	}
	chdirTemp(t)
	args := []string{
		"fit",
		"--data", table,
		"--target", "price",
		"--undeclared", "numbers",
		"--epsilon", "1",
		"-q",
		"--engine", "stream",
		"--scratch", ".",
	}
	out, err := separateProcess(t, "", "scaling", args).CombinedOutput()
	if err == nil {
		t.Fatalf("it was not killed:\n%s", out)
	}
	left, err := filepath.Glob("dptrain-scratch-*")
	if err != nil || len(left) != 1 {
		t.Fatalf(
			"%d folders are left: %v",
			len(left), err,
		)
	}
	if runtime.GOOS != "windows" {
		inside, err := os.ReadDir(left[0])
		if err != nil || len(inside) > 0 {
			t.Errorf(
				"%d files are left: %v",
				len(inside), err,
			)
		}
	}
	if _, err := os.Stat("out/release"); err == nil {
		t.Error("a release of a run that was killed")
	}
	if out, err := separateProcess(t, "", "", args).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if left, err = filepath.Glob("dptrain-scratch-*"); err != nil || len(left) > 0 {
		t.Errorf(
			"%d folders are left after the next run: %v",
			len(left), err,
		)
	}
}

// TestQueryOfCluster checks that commands without a cluster refuse a recipe whose rows come from a cluster query,
// before opening the ledger.
func TestQueryOfCluster(t *testing.T) {
	chdirTemp(t)
	const data = "data: {spark: select a and y from secret_table, target: y"
	writeFile(t, "query.yaml", data+"}\nprivacy: {epsilon: 1}\n")
	writeFile(
		t, "listed.yaml",
		data+", header: [a, y]}\nprivacy: {epsilon: 1}\n",
	)
	for _, tt := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"check", "query.yaml"}, 0, ""},
		{[]string{"check", "listed.yaml"}, 0, ""},
		{[]string{"plan", "listed.yaml"}, 0, ""},
		{
			[]string{"plan", "query.yaml"},
			4,
			"known only to the cluster; add --connect",
		},
		{
			[]string{
				"plan", "query.yaml",
				"--connect",
				"sc://spark.example",
			},
			2,
			"without TLS and a token",
		},
		{
			[]string{
				"plan", "query.yaml",
				"--data", "t.csv",
				"--connect", "sc://localhost",
			},
			2,
			"--connect needs data.spark",
		},
		{
			[]string{"fit", "query.yaml"},
			4, "known only to the cluster",
		},
		{
			[]string{"fit", "listed.yaml"},
			2,
			"use fit --engine spark --connect",
		},
		{
			[]string{"fit", "listed.yaml", "--engine", "memory"},
			2,
			"use fit --engine spark --connect",
		},
		{
			[]string{"fit", "listed.yaml", "--engine", "spark"},
			2,
			"--engine spark needs --connect",
		},
		{
			[]string{"audit", "query.yaml"},
			4, "known only to the cluster",
		},
		{
			[]string{"audit", "listed.yaml", "--own-table"},
			2,
			"use fit --engine spark --connect",
		},
	} {
		got := dptrain(t, tt.args...)
		if got.code != tt.code ||
			!strings.Contains(got.stderr, tt.text) ||
			strings.Contains(got.stderr, "secret_table") {
			t.Errorf("%v: %+v", tt.args, got)
		}
	}
}
