package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	bolt "go.etcd.io/bbolt"
)

// checkPublished checks whether the results of a run are in place (want) or are kept until the ledger is available.
func checkPublished(t *testing.T, out string, want bool) {
	t.Helper()
	for path, there := range map[string]bool{
		out + "/release/model.json":         want,
		out + "/curator/run.json":           want,
		out + "/pending/release/model.json": !want,
		out + "/pending":                    !want,
	} {
		_, err := os.Lstat(path)
		if (err == nil) != there {
			t.Errorf(
				"%s: %v, want it there: %v",
				path, err, there,
			)
		}
	}
	info, err := os.Lstat(out + "/pending")
	if err == nil && info.Mode().Perm() != 0o700 {
		t.Errorf(
			"the folder of kept results has mode %v",
			info.Mode(),
		)
	}
}

// TestLedgerHeldAfterTheRun checks that a run waits for its ledger up to the time limit, and that its results are
// kept if it is interrupted.
func TestLedgerHeldAfterTheRun(t *testing.T) {
	withLedger(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout strings.Builder
	stderr := &interrupter{cancel: cancel, after: 1} // the first line says that it waits
	a := newApp(strings.NewReader(""), &stdout, stderr)
	a.ledgerWait = time.Millisecond // for the reservation; the end of a run waits longer
	var holder *bolt.DB
	a.onStage = func(stage string) {
		if stage != "write" {
			return
		}
		var err error
		holder, err = bolt.Open("my.ledger", 0o600, &bolt.Options{ReadOnly: true})
		if err != nil {
			t.Error(err)
		}
	}
	code := a.run(ctx, ledgerArgs("fit", ".4"))
	const want = "dptrain: waiting for my.ledger, which another process is using\n" +
		"dptrain: interrupted; the price of this run remains spent in my.ledger, and its results are kept in out/pending: record and publish them with `dptrain ledger commit out`\n"
	if code != exitInterrupted ||
		stdout.String() != "" ||
		stderr.String() != want {
		t.Errorf(
			"code %d: %s%s",
			code, stdout.String(), stderr.String(),
		)
	}
	checkPublished(t, "out", false)
	if got := dptrain(t, ledgerArgs("fit", ".1", "--force")...); got.code != exitUsage ||
		!strings.Contains(got.stderr, "`dptrain ledger commit out`") {
		t.Errorf("a second run: %+v", got)
	}
	if err := holder.Close(); err != nil {
		t.Fatal(err)
	}
	got := dptrain(t, "ledger", "commit", "out")
	if got.code != exitOK ||
		!strings.Contains(got.stdout, "Recorded   the end of the run of entry 3 in") {
		t.Errorf("%+v", got)
	}
	checkPublished(t, "out", true)
	got = dptrain(t, "ledger", "verify", "my.ledger", "--report",
		"out/release/report.json")
	if got.code != exitOK {
		t.Errorf("%+v", got)
	}
	got = dptrain(t, "ledger", "commit", "out")
	if got.code != exitUsage ||
		!strings.Contains(got.stderr, "no results are waiting") {
		t.Errorf("a second commit: %+v", got)
	}
}

// TestLedgerSpend checks that a release of another tool is charged and shown, and is refused beyond the total.
func TestLedgerSpend(t *testing.T) {
	withLedger(t)
	step := func(code int, args ...string) result {
		t.Helper()
		got := dptrain(t, append([]string{"ledger"}, args...)...)
		if got.code != code {
			t.Errorf("%v: %+v", args, got)
		}
		return got
	}
	got := step(exitOK, "spend", "my.ledger",
		"--dataset", "houses",
		"--rho", "0.01",
		"--note", "yearly counts",
	)
	if !strings.Contains(got.stdout, "rho 0.01 for data set houses") {
		t.Errorf("%+v", got)
	}
	step(exitOK, "spend", "my.ledger",
		"--dataset", "houses",
		"--epsilon", "0.01",
		"--delta", "1e-9",
	)
	got = dptrain(t, ledgerArgs(
		"fit", ".1",
		"--note", "the first",
	)...)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	got = step(exitOK, "show", "my.ledger")
	for _, want := range []string{"2 releases by other", "another tool", "Note 3     yearly counts",
		"Note 5     the first"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf(
				"%q is not in %s",
				want, got.stdout,
			)
		}
	}
	for line := range strings.Lines(got.stdout) {
		n := utf8.RuneCountInString(strings.TrimRight(line, "\n"))
		if n > 80 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	err := os.Rename("my.ledger", "dptrain.ledger")
	if err != nil {
		t.Fatal(err)
	}
	again := step(exitOK, "show")
	if again != got {
		t.Errorf("the default file: %+v", again)
	}
	step(exitOK, "verify")
	for _, args := range [][]string{
		{"spend", "--dataset", "houses"},
		{"spend", "--rho", "1"},
		{
			"spend", "--dataset", "houses",
			"--rho", "1", "--mu",
			"1",
		},
		{
			"spend", "--dataset", "houses",
			"--rho", "-1",
		},
		{
			"spend", "--dataset", "houses",
			"--rho", "1", "--delta",
			".1",
		},
		{"spend", "--dataset", "houses", "--epsilon", "none"},
		{
			"spend", "--dataset", "houses",
			"--rho", "1", "--note",
			"a\nb",
		},
	} {
		step(exitUsage, args...)
	}
	for _, name := range []string{"rho", "mu", "epsilon"} {
		args := []string{
			"ledger", "spend",
			"--dataset", "houses",
			"--" + name, "0",
		}
		r := dptrain(t, args...)
		if r.code != exitUsage ||
			!strings.Contains(r.stderr, "--"+name+" must be above 0") {
			t.Errorf(
				"--%s 0: %+v",
				name, r,
			)
		}
	}
	step(
		exitBudget, "spend", "--dataset",
		"houses", "--rho", "10",
	)
	step(
		exitLedger, "spend", "--dataset",
		"gardens", "--rho",
		".01",
	)
}

// TestPlanRuns checks that the given number of runs fits, one after another, at the epsilon named by plan, and does
// not fit at a slightly larger one.
func TestPlanRuns(t *testing.T) {
	withLedger(t)
	got := dptrain(t, ledgerArgs(
		"plan", "1", "--runs",
		"5", "--json",
	)...)
	var b bill
	err := json.Unmarshal([]byte(got.stdout), &b)
	if err != nil || b.Ledger == nil || b.Ledger.Equal == nil {
		t.Fatalf("%v: %+v", err, got)
	}
	e := b.Ledger.Equal.Epsilon
	if e < .1 || e > 1 {
		t.Fatalf("epsilon %v", e)
	}
	for k := range 5 {
		got := dptrain(
			t,
			ledgerArgs(
				"fit",
				fmt.Sprint(e),
				"--out",
				fmt.Sprint("out", k),
			)...,
		)
		if got.code != exitOK {
			t.Fatalf("run %d: %+v", k, got)
		}
	}
	withLedger(t)
	for k := range 5 {
		got = dptrain(
			t,
			ledgerArgs(
				"fit",
				fmt.Sprint(e*1.01),
				"--out",
				fmt.Sprint("out", k),
			)...,
		)
	}
	if got.code != exitBudget {
		t.Errorf(
			"the last of five runs at a hundredth more: %+v",
			got,
		)
	}
	text := dptrain(t, ledgerArgs(
		"plan", "1", "--runs",
		"5",
	)...)
	if text.code != exitOK ||
		!strings.Contains(text.stdout, "5 runs like this one") {
		t.Errorf("%+v", text)
	}
	got = dptrain(t, "plan",
		"--data", "line.csv",
		"--target", "y",
		"--epsilon", "1",
		"--runs", "5",
	)
	if got.code != exitUsage || !strings.Contains(got.stderr, "--dataset") {
		t.Errorf("without a ledger: %+v", got)
	}
}

// TestLedgerTwoNames checks that a run on a table that has runs under another name causes a warning.
func TestLedgerTwoNames(t *testing.T) {
	withLedger(t)
	if got := dptrain(t, "ledger", "init", "my.ledger", "--dataset", "Houses", "--epsilon",
		"1"); got.code == exitOK || !strings.Contains(got.stderr, "looks like") {
		t.Errorf("%+v", got)
	}
	if got := dptrain(t, "ledger", "init", "my.ledger", "--dataset", "again", "--epsilon",
		"100"); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	if got := dptrain(t, ledgerArgs("fit", ".1", "--out", "first")...); got.code != exitOK ||
		strings.Contains(got.stdout, "several-names") {
		t.Errorf("%+v", got)
	}
	got := dptrain(t, "fit",
		"--data", "line.csv",
		"--target", "y",
		"--epsilon", ".1",
		"--dataset", "again",
		"--ledger", "my.ledger",
		"--out", "second",
	)
	if got.code != exitOK ||
		!strings.Contains(got.stdout, "\nerror[several-names]: ") ||
		!strings.Contains(got.stdout, `"houses"`) {
		t.Errorf("%+v", got)
	}
}
