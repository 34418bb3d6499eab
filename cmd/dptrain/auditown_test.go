package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/audit"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// ownArgs are the arguments of a small audit of the owner's table. With a hundred runs at this confidence no bound
// can exceed 0.
var ownArgs = strings.Fields(
	"audit recipe.yaml --own-table --runs 100 --records 2 --confidence 0.9999999999")

// ownVerdict reads the verdict in the curator folder.
func ownVerdict(t *testing.T, out string) ownAudit {
	t.Helper()
	var x ownAudit
	err := json.Unmarshal(
		[]byte(readFile(
			t,
			filepath.Join(out, "curator", "audit.json"),
		)),
		&x,
	)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// modesBelow returns the mode of each file and folder below a folder, by path.
func modesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && path != dir {
			out[path] = info.Mode().String()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestOwnAudit checks that malformed tables of every kind lead to the same output, exit code and list of files, and
// that only the file in the curator folder contains the verdict.
func TestOwnAudit(t *testing.T) {
	files := goldenFiles(t)
	var first result
	for name, c := range map[string]struct {
		data  string
		pairs int
	}{
		"ordinary":    {lineCSV(40), 5},
		"header only": {"a,b,y\n", 2},
		"one row":     {"a,b,y\n1,2,3\n", 4},
		"text and ragged": {
			"a,b,y\nred,2\n1,NaN,inf,5\n,,\n",
			5,
		},
		"constant": {
			"a,b,y\n" + strings.Repeat("1,1,1\n", 20),
			5,
		},
	} {
		chdirTemp(t)
		writeFile(t, "line.csv", c.data)
		writeFile(t, "recipe.yaml", goodRecipe+"model: {method: joint-gram}\n")
		got := dptrain(t, ownArgs...)
		if got.code != exitOK || got.stderr != "" {
			t.Fatalf("%s: %+v", name, got)
		}
		if first.stdout == "" {
			first = got
			files.compare(t, "audit-own", got.stdout)
		}
		if got != first {
			t.Errorf("%s: %+v", name, got)
		}
		x := ownVerdict(t, "out")
		if x.Format != ownAuditFormat ||
			len(x.Pairs) != c.pairs ||
			len(x.Violations) > 0 ||
			x.Run.Epsilon != 1 ||
			!strings.Contains(x.Notice, "Do not publish") ||
			!strings.Contains(x.Verdict, "this is no proof") {
			t.Errorf("%s: %+v", name, x)
		}
		diff := cmp.Diff(
			map[string]string{
				"out/curator":            "drwx------",
				"out/curator/audit.json": "-rw-------",
			},
			modesBelow(t, "out"))
		if diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		onlyFiles(t, "line.csv", "out", "recipe.yaml")
	}
}

// TestOwnAuditVerdicts checks that the output and the exit code are the same for a verdict with violations, for one
// without, and for an empty one.
func TestOwnAuditVerdicts(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(40))
	writeFile(t, "recipe.yaml", goodRecipe)
	var seen []string
	for i, v := range []audit.Verdict{
		{
			Whole:      audit.Measure{Epsilon: 9},
			Pairs:      []string{"x"},
			Confidence: .99,
		},
		{Pairs: []string{"x"}, Confidence: .99},
		{Confidence: .99},
	} {
		var stdout, stderr strings.Builder
		a := newApp(strings.NewReader(""), &stdout, &stderr)
		a.ownTable = func(
			context.Context, *pipeline.Pipeline, *dataset.Table, audit.Options,
		) (audit.Verdict, error) {
			return v, nil
		}
		code := a.run(
			t.Context(),
			append(slices.Clone(ownArgs), "--force"),
		)
		if code != exitOK || stderr.Len() > 0 {
			t.Errorf(
				"code %d, %s",
				code, stderr.String(),
			)
		}
		seen = append(seen, stdout.String())
		x := ownVerdict(t, "out")
		want := []string{"the measured privacy loss exceeds the claim", "no violation found",
			"not measured"}[i]
		if !strings.HasPrefix(x.Verdict, want) ||
			(len(x.Violations) > 0) != (i == 0) {
			t.Errorf("%+v", x)
		}
	}
	if len(slices.Compact(seen)) != 1 {
		t.Errorf("%q", seen)
	}
}

// TestOwnAuditIsWrittenNextToARun checks that the verdict is written next to the private files of a run, that it is not
// replaced without --force, and that the output folder can be changed.
func TestOwnAuditIsWrittenNextToARun(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(40))
	writeFile(t, "recipe.yaml", goodRecipe+"model: {method: joint-gram}\n")
	if got := dptrain(t, "fit", "recipe.yaml"); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	model := readFile(t, "out/release/model.json")
	if got := dptrain(t, ownArgs...); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	if runFile(t, "out").Rows != 40 ||
		readFile(t, "out/release/model.json") != model {
		t.Error("the results of the run changed")
	}
	before := readFile(t, "out/curator/audit.json")
	got := dptrain(t, ownArgs...)
	if got.code != exitUsage ||
		!strings.Contains(got.stderr, "out/curator/audit.json: already exists") ||
		readFile(t, "out/curator/audit.json") != before {
		t.Errorf("%+v", got)
	}
	got = dptrain(t, append(
		slices.Clone(ownArgs), "--out",
		"other",
	)...)
	if got.code != exitOK ||
		!strings.Contains(got.stdout, "other/curator/audit.json") {
		t.Errorf("%+v", got)
	}
}

// TestOwnAuditUnits checks that an audit with persons as the unit adds and removes whole persons, and that its
// output names no person.
func TestOwnAuditUnits(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "visits.csv", visitsCSV(60))
	writeFile(t, "recipe.yaml", unitRecipe)
	got := dptrain(t, ownArgs...)
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	x := ownVerdict(t, "out")
	if len(x.Pairs) != 5 ||
		!strings.HasPrefix(x.Pairs[0], "the unit of record ") {
		t.Errorf("%+v", x)
	}
	if strings.Contains(got.stdout+readFile(t, "out/curator/audit.json"), "secret") {
		t.Error("a person is named")
	}
}

// TestOwnAuditInterrupted cancels an audit at each of its stages, and kills the process there. It checks that no new
// file remains.
func TestOwnAuditInterrupted(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(40))
	writeFile(t, "recipe.yaml", goodRecipe+"model: {method: joint-gram}\n")
	want := result{exitInterrupted, "", "dptrain: interrupted\n"}
	for _, at := range []string{"read", "audit", "write"} {
		ctx, cancel := context.WithCancel(t.Context())
		var stdout, stderr strings.Builder
		a := newApp(strings.NewReader(""), &stdout, &stderr)
		a.onStage = func(stage string) {
			if stage == at {
				cancel()
			}
		}
		code := a.run(ctx, ownArgs)
		got := (result{code, stdout.String(), stderr.String()})
		if got != want {
			t.Errorf("cancelled at %q: %+v", at, got)
		}
		cancel()
		onlyFiles(t, "line.csv", "recipe.yaml")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"read", "audit", "write"} {
		cmd := exec.Command(self, ownArgs...)
		cmd.Env = append(
			os.Environ(), asProcess+"=1",
			killAt+"="+at,
		)
		out, err := cmd.CombinedOutput()
		if err == nil || len(out) > 0 {
			t.Errorf(
				"killed at %q: %v, %s",
				at, err, out,
			)
		}
		_, err = os.Lstat("out/curator")
		if !os.IsNotExist(err) {
			t.Errorf(
				"killed at %q: a file is there (%v)",
				at, err,
			)
		}
	}
}

// TestOwnAuditLedger checks that the ledger records the audit with price 0 before a row is read, that bench then
// refuses the table because the ledger knows it, and that no row is read if the data set is missing.
func TestOwnAuditLedger(t *testing.T) {
	withLedger(t)
	writeFile(
		t, "recipe.yaml",
		goodRecipe+"ledger: {path: my.ledger, dataset: houses}\n",
	)
	spent := func() string {
		t.Helper()
		got := dptrain(t, "ledger", "show", "my.ledger")
		if got.code != exitOK {
			t.Fatalf("%+v", got)
		}
		return maskVolatile(got.stdout)
	}
	before := spent()
	if got := dptrain(t, ownArgs...); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	after := spent()
	want := strings.Replace(
		before,
		"0 (0 with exact notes for the data owner)",
		"0 (0 with exact notes for the data owner); 1 audit of the table for\n           the data owner",
		1,
	)
	if steadyHead(after) != steadyHead(want) {
		t.Errorf("%s\n%s", after, want)
	}
	got := dptrain(t, "ledger", "verify", "my.ledger")
	if got.code != exitOK ||
		!strings.Contains(got.stdout, "3 entries, 0 runs") {
		t.Errorf("%+v", got)
	}
	got = dptrain(t, "ledger", "show", "my.ledger", "--json")
	if !strings.Contains(got.stdout,
		`"what": "audit"`) || !strings.Contains(
		got.stdout,
		`"method": "boosted-kernel"`,
	) {
		t.Errorf("%+v", got)
	}
	got = dptrain(t, "bench",
		"--public",
		"--data", "line.csv",
		"--target", "y",
		"--method", "joint-gram",
		"--trials", "1",
		"--ledger", "my.ledger",
	)
	if got.code != exitLedger {
		t.Errorf("%+v", got)
	}
	writeFile(
		t, "recipe.yaml",
		goodRecipe+"ledger: {path: my.ledger, dataset: gardens}\n",
	)
	writeFile(t, "line.csv", "a,b,y\n")
	got = dptrain(
		t,
		append(slices.Clone(ownArgs), "--out", "second")...,
	)
	if got.code != exitLedger || got.stdout != "" {
		t.Errorf("%+v", got)
	}
	onlyFiles(t, "line.csv", "my.ledger", "out", "recipe.yaml")
}

// steadyHead masks the number of the head.
func steadyHead(s string) string {
	head, _, _ := strings.Cut(s, "Head ")
	return head
}
