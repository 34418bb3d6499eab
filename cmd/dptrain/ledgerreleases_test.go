package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// rolledBack makes three equal runs and restores the ledger to its original state before each.
func rolledBack(t *testing.T) {
	t.Helper()
	withLedger(t)
	fresh := readFile(t, "my.ledger")
	for _, out := range []string{"a", "b", "c"} {
		writeFile(t, "my.ledger", fresh)
		got := dptrain(
			t,
			ledgerArgs(
				"fit", "1", "--out",
				out, "--quiet",
			)...,
		)
		if got.code != exitOK {
			t.Fatalf("%+v", got)
		}
	}
}

// TestRolledBackLedger checks that at most one of three runs on a restored ledger verifies, and that verifying them
// together detects the rollback.
func TestRolledBackLedger(t *testing.T) {
	rolledBack(t)
	for out, want := range map[string]int{"a": exitBroken, "b": exitBroken, "c": exitOK} {
		got := dptrain(t, "verify", out, "--ledger", "my.ledger")
		if got.code != want {
			t.Errorf("%s: %+v", out, got)
		}
	}
	got := dptrain(t, "ledger", "verify", "my.ledger",
		"--report", "a/release/report.json",
		"--report", "b",
		"--report", "c/release",
	)
	if got.code != exitLedger ||
		!strings.Contains(got.stderr,
			"entry 3 is claimed by 3 different releases (a/release/report.json, b/release/report.json, c/release/report.json)") ||
		!strings.Contains(got.stderr, "in this ledger it is c/release/report.json") {
		t.Errorf("%+v", got)
	}
	got = dptrain(t, "ledger", "verify", "my.ledger",
		"--report", "c",
		"--report", "c/release/report.json",
	)
	if got.code != exitOK {
		t.Errorf("one release twice: %+v", got)
	}
	got = dptrain(
		t, "verify", "a", "b",
		"c", "--ledger",
		"my.ledger",
	)
	if got.code != exitBroken ||
		strings.Count(
			joinWords(got.stdout),
			"is a different release and also claims entry 3",
		) != 6 {
		t.Errorf("%+v", got)
	}
	got = dptrain(
		t, "verify", "c", "a",
		"--ledger", "my.ledger",
		"--json",
	)
	var first struct {
		Release string `json:"release"`
		OK      bool   `json:"ok"`
	}
	err := json.NewDecoder(strings.NewReader(got.stdout)).Decode(&first)
	if err != nil ||
		first.Release != filepath.Join("c", "release") ||
		first.OK {
		t.Errorf("%v, %+v", err, got)
	}
}

// TestReleasesOfEarlierVersions checks that `ledger verify`, and `verify` of both, detect two different releases of
// version 3 that name the same entry without a nonce. The releases are derived from a genuine one by removing the
// additions of version 4.
func TestReleasesOfEarlierVersions(t *testing.T) {
	rolledBack(t)
	downgrade := func(out, head string) {
		path := filepath.Join(out, "release", "report.json")
		r, err := report.Decode(strings.NewReader(readFile(t, path)))
		if err != nil {
			t.Fatal(err)
		}
		r.Format = "dptrain.report/3"
		r.Ledger.Head = head
		var b bytes.Buffer
		if err := report.Encode(&b, r); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, b.String())
	}
	r, err := report.Decode(strings.NewReader(readFile(t, "c/release/report.json")))
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"a", "b", "c"} {
		downgrade(out, r.Ledger.Head)
	}
	if got := dptrain(t, "verify", "a", "b"); got.code != exitBroken ||
		!strings.Contains(strings.Join(strings.Fields(got.stdout), " "),
			"is a different release and also claims entry 3") {
		t.Errorf("without a ledger: %+v", got)
	}
	got := dptrain(
		t, "ledger", "verify",
		"my.ledger", "--report",
		"a", "--report", "b",
	)
	if got.code != exitLedger ||
		!strings.Contains(got.stderr, "entry 3 is claimed by 2 different releases") {
		t.Errorf("%+v", got)
	}
	got = dptrain(t, "ledger", "verify", "my.ledger", "--report",
		"c")
	if got.code != exitLedger || !strings.Contains(got.stderr, "nonce") {
		t.Errorf(
			"a report without the nonce of its entry: %+v",
			got,
		)
	}
	writeFile(
		t,
		"a/release/report.json",
		strings.Replace(
			readFile(t, "a/release/report.json"),
			`"released":1`,
			`"released":0`,
			1,
		),
	)
	got = dptrain(
		t, "ledger", "verify",
		"my.ledger", "--report",
		"a",
	)
	if got.code != exitUsage ||
		!strings.Contains(got.stderr, "its checksum does not match") {
		t.Errorf("an edited report: %+v", got)
	}
}

// TestForceKeepsTheEvidence checks that no command replaces a release that is missing from the ledger, and that a
// release in the ledger can be replaced.
func TestForceKeepsTheEvidence(t *testing.T) {
	rolledBack(t)
	before := readFile(t, "a/release/report.json")
	entries := dptrain(t, "ledger", "verify", "my.ledger").stdout
	for name, args := range map[string][]string{
		"fit": ledgerArgs(
			"fit", ".1",
			"--out", "a",
			"--force",
		),
		"without a ledger": {
			"fit",
			"--data", "line.csv",
			"--target", "y",
			"--epsilon", ".1",
			"--out", "a",
			"--force",
		},
		"causal": {
			"causal",
			"--data", "line.csv",
			"--columns", "a,y",
			"--epsilon", ".1",
			"--out", "a",
			"--force",
			"--ledger", "my.ledger",
			"--dataset", "houses",
			"--range", "a=0:200",
			"--range", "y=-10:1000",
		},
		"describe": {
			"describe", "line.csv",
			"--epsilon", ".1",
			"--out", "a",
			"--force",
			"--ledger", "my.ledger",
			"--dataset", "houses",
		},
	} {
		got := dptrain(t, args...)
		if got.code != exitLedger &&
			!(name == "without a ledger" && got.code == exitUsage) ||
			!strings.Contains(got.stderr, "entry 3") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if readFile(t, "a/release/report.json") != before ||
		dptrain(t, "ledger", "verify", "my.ledger").stdout != entries {
		t.Error("something was replaced or entered")
	}
	got := dptrain(
		t,
		ledgerArgs(
			"fit", ".1",
			"--out", "c",
			"--force", "--quiet",
		)...,
	)
	if got.code != exitOK {
		t.Errorf("a release that the ledger has: %+v", got)
	}
}

// TestLedgerUnderAnotherName checks that the same file cannot be used both as the ledger and as the table, an
// output, or a file to be replaced, even under different names. It also checks that bench recognises a table by its
// file.
func TestLedgerUnderAnotherName(t *testing.T) {
	withLedger(t)
	err := os.Link("my.ledger", "linked.csv")
	if err != nil {
		t.Skip(err)
	}
	err = os.Link("line.csv", "other.csv")
	if err != nil {
		t.Skip(err)
	}
	got := dptrain(
		t, "look", "line.csv",
		"--ledger", "line.csv",
		"--dataset", "houses",
	)
	if got.code != exitLedger {
		t.Errorf("a table as the ledger: %+v", got)
	}
	got = dptrain(t, ledgerArgs(
		"fit", "1", "--out",
		"out", "--quiet",
	)...)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	before := readFile(t, "my.ledger")
	writeFile(t, "new.csv", "x\n1\n")
	for _, path := range []string{"my.ledger", "linked.csv"} {
		got := dptrain(t, "predict", "out/release/model.json", "new.csv", "-o", path,
			"--force")
		if got.code != exitUsage || !strings.Contains(got.stderr, "is a ledger") {
			t.Errorf("predict to %s: %+v", path, got)
		}
		got = dptrain(t, "export", "out/release/model.json",
			"--python", "-o",
			path,
			"--force",
		)
		if got.code != exitUsage {
			t.Errorf("export to %s: %+v", path, got)
		}
	}
	got = dptrain(t, "bench",
		"--public",
		"--data", "other.csv",
		"--ledger", "linked.csv",
		"--trials", "1",
	)
	if got.code == exitOK ||
		!strings.Contains(got.stderr, `data set "houses"`) {
		t.Errorf(
			"bench on another name of the table: %+v",
			got,
		)
	}
	err = os.Rename("out/curator/run.json", "run.json")
	if err != nil {
		t.Fatal(err)
	}
	err = os.Link("my.ledger", "out/curator/run.json")
	if err != nil {
		t.Fatal(err)
	}
	got = dptrain(
		t,
		ledgerArgs(
			"fit", ".1",
			"--out", "out",
			"--force",
		)...,
	)
	if got.code != exitLedger ||
		!strings.Contains(got.stderr, "this run would replace") {
		t.Errorf("a ledger in the output: %+v", got)
	}
	if readFile(t, "my.ledger") != before {
		t.Error("the ledger was changed")
	}
	got = dptrain(t, "ledger", "init", "my.ledger",
		"--dataset", "gardens",
		"--epsilon", "1.5",
		"--delta", "1e-5",
	)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	got = dptrain(t, "fit",
		"--data", "other.csv",
		"--target", "y",
		"--epsilon", ".2",
		"--dataset", "gardens",
		"--ledger", "linked.csv",
		"--out", "gardens",
		"--json",
	)
	if got.code != exitOK ||
		!strings.Contains(got.stdout, `"code":"several-names"`) {
		t.Errorf("another name of the table: %+v", got)
	}
}
