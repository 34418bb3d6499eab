package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/publish/report"
)

// ledgerArgs returns the arguments of a run on line.csv with a ledger.
func ledgerArgs(verb, epsilon string, more ...string) []string {
	return append(
		[]string{
			verb,
			"--data", "line.csv",
			"--target", "y",
			"--epsilon", epsilon,
			"--dataset", "houses",
			"--ledger", "my.ledger",
		},
		more...,
	)
}

// withLedger creates a table and a ledger with the total epsilon 1.5.
func withLedger(t *testing.T) {
	t.Helper()
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(200))
	got := dptrain(t, "ledger", "init", "my.ledger",
		"--dataset", "houses",
		"--epsilon", "1.5",
		"--delta", "1e-5",
	)
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
}

// volatile matches the parts of the output of `ledger` that differ between runs.
var volatile = regexp.MustCompile(`[0-9a-f]{64}|\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?`)

// maskVolatile replaces volatile parts by letters of the same length.
func maskVolatile(s string) string {
	return volatile.ReplaceAllStringFunc(s, func(x string) string {
		return strings.Repeat("x", len(x))
	})
}

func TestLedgerHelp(t *testing.T) {
	files := goldenFiles(t)
	var b strings.Builder
	for _, verb := range []string{
		"", "init", "show", "spend",
		"commit", "verify", "export",
	} {
		got := dptrain(t, strings.Fields("help ledger "+verb)...)
		if got.code != exitOK || got.stderr != "" {
			t.Errorf("%+v", got)
		}
		b.WriteString(got.stdout + "\n")
	}
	files.compare(t, "help-ledger", b.String())
}

// TestLedgerRuns follows a data set from its registration to a run that is refused for lack of budget.
func TestLedgerRuns(t *testing.T) {
	files := goldenFiles(t)
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(200))
	var b strings.Builder
	step := func(code int, args ...string) result {
		t.Helper()
		got := dptrain(t, args...)
		if got.code != code {
			t.Fatalf("%v: %+v", args, got)
		}
		return got
	}
	keep := func(got result) {
		b.WriteString(maskVolatile(got.stdout+got.stderr) + "\n")
	}
	keepLedger := func(got result) {
		_, tail, _ := strings.Cut(got.stdout, "\nLedger ")
		b.WriteString("Ledger " + tail + "\n")
	}
	keep(step(exitOK, "ledger", "init", "my.ledger",
		"--dataset", "houses",
		"--epsilon", "1.5",
		"--delta", "1e-5",
	))
	plan := step(exitOK, ledgerArgs("plan", "1")...)
	keepLedger(plan)
	step(exitOK, ledgerArgs(
		"fit", "1", "--out",
		"first",
	)...)
	writeFile(
		t,
		"line.recipe.yaml",
		goodRecipe+"ledger: {path: my.ledger, dataset: houses}\noutput: {dir: second}\n",
	)
	step(exitOK, "fit", "line.recipe.yaml")
	refused := step(exitBudget, ledgerArgs(
		"fit", "1", "--out",
		"third",
	)...)
	keep(refused)
	plan = step(exitBudget, ledgerArgs("plan", "1")...)
	keepLedger(plan)
	if plan.stderr != refused.stderr {
		t.Errorf(
			"plan and fit differ: %q, %q",
			plan.stderr, refused.stderr,
		)
	}
	onlyFiles(
		t, "first", "line.csv",
		"line.recipe.yaml", "my.ledger",
		"second",
	)
	keep(step(exitOK, "ledger", "show", "my.ledger"))
	keep(step(exitOK, "ledger", "verify", "my.ledger",
		"--report", "first/release/report.json",
		"--report", "second/release/report.json",
	))
	files.compare(t, "ledger", b.String())

	// The largest epsilon named in the error is accepted, and a value larger by 0.1% is not.
	_, largest, ok := strings.Cut(
		strings.TrimSpace(refused.stderr),
		"the largest epsilon that fits is ",
	)
	var e float64
	_, err := fmt.Sscan(largest, &e)
	if err != nil || !ok {
		t.Fatalf("%s", refused.stderr)
	}
	step(exitBudget, ledgerArgs("plan", fmt.Sprint(e*1.006))...)
	step(exitOK, ledgerArgs("fit", largest, "--out", "third")...)
}

// TestLedgerInReport checks that report.json names the reservation and omits the warning about a missing ledger.
func TestLedgerInReport(t *testing.T) {
	withLedger(t)
	got := dptrain(t, ledgerArgs("fit", "1")...)
	r, err := report.Decode(strings.NewReader(readFile(t, "out/release/report.json")))
	if err != nil || got.code != exitOK {
		t.Fatalf("%v, %+v", err, got)
	}
	if r.Ledger == nil ||
		r.Ledger.Dataset != "houses" ||
		r.Ledger.Entry != 3 ||
		len(r.Ledger.Head) != 64 {
		t.Errorf("%+v", r.Ledger)
	}
	for _, w := range r.Warnings {
		if w.Code == "no-ledger" {
			t.Errorf("%+v", w)
		}
	}
	if !strings.Contains(got.stdout, "3:"+r.Ledger.Head) ||
		strings.Contains(got.stdout, "no-ledger") {
		t.Errorf("%s", got.stdout)
	}
	public := readFile(t, "out/release/recipe.yaml")
	if strings.Contains(public, "my.ledger") ||
		!strings.Contains(public, "dataset: houses") {
		t.Errorf("%s", public)
	}
	// If the ledger is truncated, verify needs the report to detect it.
	if err := os.Remove("my.ledger"); err != nil {
		t.Fatal(err)
	}
	dptrain(t, "ledger", "init", "my.ledger",
		"--dataset", "houses",
		"--epsilon", "1.5",
		"--delta", "1e-5",
	)
	if got := dptrain(t, "ledger", "verify", "my.ledger"); got.code != exitOK {
		t.Errorf("%+v", got)
	}
	got = dptrain(
		t, "ledger", "verify",
		"my.ledger", "--report",
		"out/release/report.json",
	)
	if got.code != exitLedger ||
		!strings.Contains(got.stderr, "truncated or restored to an earlier state") {
		t.Errorf("%+v", got)
	}
}

func TestLedgerExportAndJSON(t *testing.T) {
	withLedger(t)
	dptrain(t, ledgerArgs("fit", "1", "-q")...)
	got := dptrain(t, "ledger", "export", "my.ledger")
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	if got.code != exitOK || len(lines) != 4 {
		t.Fatalf("%+v", got)
	}
	var last struct{ Kind string }
	err := json.Unmarshal([]byte(lines[3]), &last)
	if err != nil || last.Kind != "commit" {
		t.Errorf("%v, %s", err, lines[3])
	}
	got = dptrain(
		t, "ledger", "show",
		"my.ledger", "--json",
		"--dataset", "houses",
	)
	var show struct {
		Format   string
		Datasets []struct {
			Committed, Reserved, Limit struct{ Cost float64 }
			Runs                       []struct{ Committed bool }
		}
	}
	err = json.Unmarshal([]byte(got.stdout), &show)
	if err != nil ||
		show.Format != ledgerFormat ||
		len(show.Datasets) != 1 ||
		show.Datasets[0].Reserved.Cost != 0 ||
		show.Datasets[0].Committed.Cost <= 0 ||
		!show.Datasets[0].Runs[0].Committed {
		t.Errorf("%v, %s", err, got.stdout)
	}
	got = dptrain(t, ledgerArgs(
		"plan", ".5",
		"--json",
	)...)
	var plan struct {
		Ledger *struct {
			Fits bool
			Runs int
		}
	}
	err = json.Unmarshal([]byte(got.stdout), &plan)
	if err != nil ||
		plan.Ledger == nil ||
		!plan.Ledger.Fits ||
		plan.Ledger.Runs < 1 {
		t.Errorf("%v, %s", err, got.stdout)
	}
}

// TestLedgerMistakes checks the exit code and the message of every error, and that errors leave no files behind.
func TestLedgerMistakes(t *testing.T) {
	files := goldenFiles(t)
	withLedger(t)
	writeFile(t, "text.ledger", strings.Repeat("not a ledger\n", 1000))
	err := os.Symlink("my.ledger", "link.ledger")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, "recipe.yaml", goodRecipe+"ledger: {dataset: houses}\n")
	before := readFile(t, "my.ledger")
	run := "--data line.csv --target y --epsilon 1 "
	var b strings.Builder
	for _, tt := range []struct {
		args string
		code int
	}{
		{"fit " + run + "--dataset houses --ledger none.ledger", exitLedger},
		{"fit recipe.yaml", exitLedger},
		{"fit " + run + "--dataset trees --ledger my.ledger", exitLedger},
		{"fit " + run + "--dataset houses --ledger text.ledger", exitLedger},
		{"fit " + run + "--dataset houses --ledger link.ledger", exitLedger},
		{
			"fit " + run + "--dataset houses --ledger my.ledger --relation substitute",
			exitLedger,
		},
		{
			"plan " + run + "--dataset houses --ledger my.ledger --relation substitute",
			exitLedger,
		},
		{"plan " + run + "--dataset trees --ledger my.ledger", exitLedger},
		{"fit " + run + "--ledger my.ledger", exitRecipe},
		{
			"fit " + strings.Replace(run, "1 ", "50 ", 1) +
				"--dataset houses --ledger my.ledger --delta 1e-4 --holdout 0",
			exitBudget,
		},
		{
			"fit " + strings.Replace(run, "1 ", "20000 ", 1) +
				"--dataset houses --ledger my.ledger --holdout 0",
			exitBudget,
		},
		{"ledger", exitUsage},
		{"ledger frob", exitUsage},
		{"ledger init", exitUsage},
		{"ledger init my.ledger", exitUsage},
		{"ledger init my.ledger --dataset trees", exitUsage},
		{"ledger init my.ledger --dataset trees --epsilon 0", exitUsage},
		{"ledger init my.ledger --dataset trees --epsilon 1 --delta 0", exitUsage},
		{
			"ledger init my.ledger --dataset trees --epsilon 1 --black-box-delta 1",
			exitUsage,
		},
		{"ledger init my.ledger --dataset trees --epsilon 1 --currency euro", exitUsage},
		{"ledger init my.ledger --dataset trees --epsilon 1 --relation all", exitUsage},
		{"ledger init my.ledger --dataset houses --epsilon 1", exitLedger},
		{"ledger init none/my.ledger --dataset houses --epsilon 1", exitLedger},
		{"ledger show none.ledger", exitLedger},
		{"ledger show my.ledger --dataset trees", exitLedger},
		{"ledger verify my.ledger --head 3", exitUsage},
		{
			"ledger verify my.ledger --head 2:" + strings.Repeat("0", 64),
			exitLedger,
		},
		{
			"ledger verify my.ledger --head 9:" + strings.Repeat("0", 64),
			exitLedger,
		},
		{"ledger verify my.ledger --report none.json", exitUsage},
		{"ledger export text.ledger", exitLedger},
	} {
		got := dptrain(t, strings.Fields(tt.args)...)
		if got.code != tt.code ||
			got.stdout != "" && !strings.HasPrefix(tt.args, "plan") {
			t.Errorf("%s: %+v", tt.args, got)
		}
		b.WriteString(tt.args + "\n  " +
			strings.ReplaceAll(
				strings.TrimSpace(got.stderr), "\n",
				"\n  ",
			) + "\n")
	}
	files.compare(t, "ledger-mistakes", b.String())
	if readFile(t, "my.ledger") != before {
		t.Error("a refusal changed the ledger")
	}
	onlyFiles(
		t, "line.csv", "link.ledger",
		"my.ledger", "recipe.yaml",
		"text.ledger",
	)
}

// TestLedgerInUse checks that a second process prints a message while it waits for the ledger, and then gives up.
func TestLedgerInUse(t *testing.T) {
	withLedger(t)
	db, err := bolt.Open("my.ledger", 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var stdout, stderr bytes.Buffer
	a := newApp(strings.NewReader(""), &stdout, &stderr)
	a.ledgerWait = 30 * time.Millisecond
	code := a.run(t.Context(), ledgerArgs("fit", "1"))
	want := "dptrain: waiting for my.ledger, which another process is using\nmy.ledger: still in use by another process after 30ms; try again later\n"
	if code != exitLedger || stderr.String() != want {
		t.Errorf(
			"code %d: %s",
			code, stderr.String(),
		)
	}
	onlyFiles(t, "line.csv", "my.ledger")
}

// TestLedgerKilled kills fit at every stage. It checks that the budget of a run that may have read a row is spent,
// and that every release has its reservation.
func TestLedgerKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	withLedger(t)
	stages := []string{
		"read", "split", "scaling", "model",
		"held-out metric", "write",
	}
	for i, stage := range stages {
		cmd := exec.CommandContext(
			t.Context(),
			self,
			ledgerArgs(
				"fit", ".1",
				"--out",
				fmt.Sprint("out", i),
			)...,
		)
		cmd.Env = append(
			os.Environ(), asProcess+"=1",
			killAt+"="+stage,
		)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != -1 {
			t.Fatalf(
				"stage %q never came: %v, %s",
				stage, err, out,
			)
		}
		book, err := ledger.New("my.ledger", ledger.Options{}).Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		runs := book.Datasets[0].Runs
		if len(runs) != i+1 || runs[i].Committed {
			t.Errorf(
				"killed at %q: %d runs, the last committed: %v",
				stage,
				len(runs),
				runs[len(runs)-1].Committed,
			)
		}
		released, _ := filepath.Glob("out*/release")
		if len(released) > 0 {
			t.Errorf("killed at %q: %v", stage, released)
		}
	}
}

// TestBenchRefusesKnownData checks that bench, which prints exact numbers, refuses a table known to a ledger.
func TestBenchRefusesKnownData(t *testing.T) {
	withLedger(t)
	dptrain(t, ledgerArgs("fit", "1", "-q")...)
	writeFile(
		t,
		"ledgered.yaml",
		goodRecipe+"ledger: {path: my.ledger, dataset: houses}\n",
	)
	writeFile(t, "other.csv", lineCSV(50))
	args := strings.Fields("bench --public --method nonprivate-ols --trials 1 --data")
	err := os.Symlink("line.csv", "alias.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range [][]string{
		{"line.csv", "--ledger", "my.ledger"},
		{"alias.csv", "--ledger", "my.ledger"},
		{".", "--ledger", "my.ledger"},
		{"other.csv", "ledgered.yaml"},
		{"other.csv", "--ledger", "none"},
	} {
		got := dptrain(t, append(args, more...)...)
		if got.code != exitLedger || got.stdout != "" {
			t.Errorf("%v: %+v", more, got)
		}
	}
	if got := dptrain(t,
		append(
			args, "other.csv", "--ledger",
			"my.ledger",
		)...); got.code != exitOK {
		t.Errorf("another table: %+v", got)
	}
	err = os.Rename("my.ledger", "dptrain.ledger")
	if err != nil {
		t.Fatal(err)
	}
	got := dptrain(t, append(args, "line.csv")...)
	want := "dptrain.ledger: it contains line.csv as data set \"houses\"; bench prints exact metrics without a privacy guarantee\n"
	if got.code !=
		exitLedger || got.stderr != want {
		t.Errorf("%+v", got)
	}
}

// TestLedgerOfColumns checks that a data set with protected columns admits no run that uses one of these columns as
// public, in plan and in fit.
func TestLedgerOfColumns(t *testing.T) {
	chdirTemp(t)
	writeFile(
		t, "two.csv",
		"a,b,y\n1,2,3\n2,1,4\n3,5,1\n",
	)
	recipe := func(name, private string) {
		writeFile(
			t,
			name,
			"data:\n  path: two.csv\n  target: y\n  columns:\n    "+private+": {private: true}\n"+
				"privacy: {epsilon: .5, relation: substitute-private-columns}\nledger: {path: my.ledger, dataset: two}\noutput: {dir: "+
				private+"}\n",
		)
	}
	recipe("a.yaml", "a")
	recipe("b.yaml", "b")
	for _, more := range [][]string{
		{"--relation", "substitute-private-columns"},
		{"--private", "a"},
	} {
		got := dptrain(
			t,
			append(
				[]string{
					"ledger", "init", "my.ledger",
					"--dataset", "two",
					"--epsilon", "3",
				},
				more...,
			)...,
		)
		if got.code != exitUsage || !strings.Contains(got.stderr, "--private") {
			t.Errorf("%v: %+v", more, got)
		}
	}
	got := dptrain(t, "ledger", "init", "my.ledger",
		"--dataset", "two",
		"--epsilon", "3",
		"--relation", "substitute-private-columns",
		"--private", "a",
	)
	if got.code != exitOK ||
		!strings.Contains(got.stdout, "substitute-private-columns of a)") {
		t.Fatalf("%+v", got)
	}
	if got := dptrain(t, "fit", "a.yaml"); got.code != exitOK {
		t.Errorf("%+v", got)
	}
	for _, verb := range []string{"plan", "fit"} {
		got := dptrain(t, verb, "b.yaml")
		if got.code != exitLedger ||
			!strings.Contains(got.stderr, `protects column "a"`) ||
			!strings.Contains(got.stderr, "private: true") {
			t.Errorf("%s: %+v", verb, got)
		}
	}
	got = dptrain(t, "ledger", "show", "my.ledger")
	if got.code != exitOK ||
		strings.Count(got.stdout, "ended\n") != 1 {
		t.Errorf("%+v", got)
	}
}

// TestLedgerOfRecords checks that all runs on a data set must split its lines into records in the same way.
func TestLedgerOfRecords(t *testing.T) {
	withLedger(t)
	recipe := func(name, quotes string) {
		writeFile(
			t,
			name,
			"data: {path: line.csv, target: y, multiline_quotes: "+quotes+
				"}\nprivacy: {epsilon: .3}\nledger: {path: my.ledger, dataset: houses}\noutput: {dir: out-"+
				quotes+"}\n",
		)
	}
	recipe("a.yaml", "true")
	recipe("b.yaml", "false")
	if got := dptrain(t, "fit", "a.yaml"); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	for _, verb := range []string{"plan", "fit"} {
		got := dptrain(t, verb, "b.yaml")
		if got.code != exitLedger ||
			!strings.Contains(got.stderr,
				`every line is a record in this run, but quoted cells may contain line breaks in earlier runs on data set "houses"; use the same data.multiline_quotes`) {
			t.Errorf("%s: %+v", verb, got)
		}
	}
	if got := dptrain(t, "plan", "a.yaml"); got.code != exitOK {
		t.Errorf("%+v", got)
	}
	got := dptrain(t, "ledger", "show", "my.ledger")
	if got.code != exitOK ||
		strings.Count(got.stdout, "ended\n") != 1 ||
		!strings.Contains(got.stdout, "Records") {
		t.Errorf("%+v", got)
	}
}

// TestLedgerWarnsOfMisspeltColumn checks that a protected column that is missing from the table causes a warning, and
// that a run that uses a column of a similar name as public is refused.
func TestLedgerWarnsOfMisspeltColumn(t *testing.T) {
	chdirTemp(t)
	writeFile(
		t, "money.csv",
		"income,debt,home,y\n1,2,1,3\n2,1,2,4\n3,5,1,1\n",
	)
	recipe := func(name, columns string) {
		writeFile(t, name, "data:\n  path: money.csv\n  target: y\n"+columns+
			"privacy: {epsilon: .5, relation: substitute-private-columns}\nledger: {path: my.ledger, dataset: x}\noutput: {dir: "+
			name+"-out}\n")
	}
	recipe("open.yaml", "  columns: {debt: {private: true}}\n")
	recipe(
		"both.yaml",
		"  columns: {debt: {private: true}, income: {private: true}}\n",
	)
	recipe(
		"less.yaml",
		"  columns: {debt: {private: true}}\n  exclude: [income]\n",
	)
	for dataset, private := range map[string]string{
		"typo":  "debt,incmoe",
		"case":  "debt,Income",
		"far":   "debt,salary",
		"right": "debt",
	} {
		got := dptrain(t, "ledger", "init", "my.ledger",
			"--dataset", dataset,
			"--epsilon", "9",
			"--relation", "substitute-private-columns",
			"--private", private,
		)
		if got.code != exitOK {
			t.Fatalf("%+v", got)
		}
	}
	for _, c := range []struct {
		recipe, dataset string
		code            int
		warns           bool
	}{
		{"open.yaml", "typo", exitLedger, false},
		{"open.yaml", "case", exitLedger, false},
		{"both.yaml", "typo", exitOK, true},
		{"less.yaml", "typo", exitOK, true},
		{"open.yaml", "far", exitOK, true},
		{"open.yaml", "right", exitOK, false},
	} {
		for _, verb := range []string{"plan", "fit"} {
			args := []string{verb, c.recipe, "--dataset", c.dataset}
			if verb == "fit" {
				args = append(args, "--verbose", "--out", c.recipe+c.dataset)
			}
			got := dptrain(t, args...)
			if got.code != c.code ||
				strings.Contains(strings.Join(strings.Fields(got.stdout), " "),
					"which the table does not have") != c.warns ||
				c.code != exitOK &&
					!strings.Contains(strings.ReplaceAll(got.stderr, "\n", " "),
						`but the run uses "income" as public; if the name was misspelt in the ledger`) {
				t.Errorf("%v: %+v", args, got)
			}
			if verb == "fit" &&
				c.warns &&
				!strings.Contains(readFile(
					t,
					c.recipe+c.dataset+"/release/report.json",
				),
					`"protected-absent"`) {
				t.Errorf("%v: no warning in the report", args)
			}
		}
	}
	got := dptrain(t, "ledger", "show", "my.ledger")
	if strings.Count(got.stdout, "ended\n") != 4 ||
		strings.Contains(got.stdout, "reserved\n") {
		t.Errorf("%+v", got)
	}
}

// TestTooSmallForTheGrid checks that a budget whose noise exceeds the integer grid is refused before any
// reservation, in plan and in fit.
func TestTooSmallForTheGrid(t *testing.T) {
	withLedger(t)
	for _, verb := range []string{"plan", "fit"} {
		args := []string{
			verb,
			"--data", "line.csv",
			"--target", "y",
			"--task", "classification",
			"--classes", "0,1",
			"--epsilon", "1e-10",
			"--dataset", "houses",
			"--ledger", "my.ledger",
		}
		got := dptrain(t, args...)
		if got.code != exitBudget ||
			!strings.Contains(got.stderr, "epsilon 1e-10 is too small for this run") {
			t.Errorf("%s: %+v", verb, got)
		}
	}
	got := dptrain(t, "ledger", "show", "my.ledger")
	if strings.Contains(got.stdout, "reserved\n") ||
		!strings.Contains(got.stdout, "0 (0 with exact notes") {
		t.Errorf("%+v", got)
	}
}

// TestEndedRunReportsSpentBudget checks that the message about a run that ends after its price was entered includes
// that the price stays spent.
func TestEndedRunReportsSpentBudget(t *testing.T) {
	withLedger(t)
	writeFile(t, "line.csv.gz", gzipText(t, lineCSV(2000))[:200])
	const note = "; the price of this run remains spent in my.ledger\n"
	got := dptrain(t, "fit",
		"--data", "line.csv.gz",
		"--target", "y",
		"--epsilon", ".1",
		"--dataset", "houses",
		"--ledger", "my.ledger",
	)
	if got.code != exitData ||
		!strings.HasPrefix(got.stderr, "line.csv.gz: ends early") ||
		!strings.HasSuffix(got.stderr, note) {
		t.Errorf("%+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout, stderr strings.Builder
	a := newApp(strings.NewReader(""), &stdout, &stderr)
	a.onStage = func(string) {
		cancel()
	}
	code := a.run(ctx, ledgerArgs("fit", ".1"))
	if code != exitInterrupted ||
		stderr.String() != "dptrain: interrupted"+note {
		t.Errorf(
			"%d, %s",
			code, stderr.String(),
		)
	}
	got = dptrain(t, "ledger", "show", "my.ledger")
	if strings.Count(got.stdout, "reserved\n") != 2 {
		t.Errorf("%+v", got)
	}
}

// TestBlackBoxTooWide uses the Tukey mechanism, a black box for which the default total reserves half of its delta.
// It checks that the error names the delta that fits, and that a run with this delta succeeds.
func TestBlackBoxTooWide(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(500))
	writeFile(
		t,
		"recipe.yaml",
		"data: {path: line.csv, target: y}\nprivacy: {epsilon: 1}\nmodel: {method: tukey}\n",
	)
	if got := dptrain(t, "ledger", "init", "my.ledger", "--dataset", "houses", "--epsilon",
		"3"); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	run := []string{
		"plan", "recipe.yaml", "--ledger",
		"my.ledger", "--dataset", "houses",
	}
	got := dptrain(t, run...)
	_, after, said := strings.Cut(
		got.stderr,
		"with delta 1e-6 no epsilon fits, but with a delta of at most ",
	)
	delta, _, _ := strings.Cut(after, " ")
	if got.code != exitBudget || !said {
		t.Fatalf("%+v", got)
	}
	got = dptrain(t, append(run, "--delta", delta)...)
	if strings.Contains(got.stderr, "black boxes") ||
		strings.Contains(got.stderr, "no epsilon fits") {
		t.Errorf("with delta %s: %+v", delta, got)
	}
}
