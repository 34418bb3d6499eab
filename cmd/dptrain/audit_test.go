package main

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/internal/audit"
)

// TestAudit checks the table and the JSON of a small audit. With a hundred runs at this confidence no bound can
// exceed 0, so the output does not depend on noise.
func TestAudit(t *testing.T) {
	files := goldenFiles(t)
	chdirTemp(t)
	writeFile(t, "line.csv", "a,b,y\n9,8\nbroken,\"\n\x00") // no row is read
	writeFile(t, "recipe.yaml", goodRecipe+"model: {method: joint-gram}\n")
	args := strings.Fields("audit recipe.yaml --runs 100 --draws 100 --confidence 0.9999999999")
	got := dptrain(t, args...)
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	files.compare(t, "audit", got.stdout)
	got = dptrain(t, append(args, "--json")...)
	var x audited
	err := json.Unmarshal([]byte(got.stdout), &x)
	if err != nil || got.code != exitOK {
		t.Fatalf("%v: %+v", err, got)
	}
	if x.Format != auditFormat ||
		len(x.Steps) == 0 ||
		x.Violations == nil ||
		x.Run.Runs != 100 ||
		x.Run.Epsilon != 1 {
		t.Errorf("%+v", x)
	}
	onlyFiles(t, "line.csv", "recipe.yaml")
}

func TestAuditMistakes(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", "a,b,y\n")
	writeFile(t, "recipe.yaml", goodRecipe)
	const outOfRange = "dptrain: --runs and --draws must be at least 100, --records from 1 to 1000, and --confidence between 0 and 1\n"
	for _, tt := range []struct {
		args string
		want result
	}{
		{
			"audit",
			result{exitUsage, "",
				"dptrain: dptrain audit takes one recipe; see `dptrain audit --help`\n"},
		},
		{"audit recipe.yaml --runs 5", result{exitUsage, "", outOfRange}},
		{"audit recipe.yaml --runs 0", result{exitUsage, "", outOfRange}},
		{"audit recipe.yaml --draws 0", result{exitUsage, "", outOfRange}},
		{"audit recipe.yaml --confidence 0", result{exitUsage, "", outOfRange}},
		{"audit recipe.yaml --draws -1", result{exitUsage, "", outOfRange}},
		{"audit recipe.yaml --confidence 1", result{exitUsage, "", outOfRange}},
		{
			"audit recipe.yaml --own-table --records 0",
			result{exitUsage, "", outOfRange},
		},
		{
			"audit recipe.yaml --own-table --records 1001",
			result{exitUsage, "", outOfRange},
		},
		{
			"audit recipe.yaml --own-table --runs 5",
			result{exitUsage, "", outOfRange},
		},
		{
			"audit recipe.yaml --own-table --json",
			result{exitUsage, "",
				"dptrain: --json and --draws cannot be combined with --own-table: the verdict goes to a file for the data owner, and steps are measured without the table\n"},
		},
		{
			"audit recipe.yaml --force",
			result{
				exitUsage, "",
				"dptrain: --records, --out and --force need --own-table\n",
			},
		},
	} {
		got := dptrain(t, strings.Fields(tt.args)...)
		if got != tt.want {
			t.Errorf(
				"%s:\n got %+v\nwant %+v",
				tt.args, got, tt.want,
			)
		}
	}
	got := dptrain(t, "audit", "absent.yaml")
	if got.code == exitOK || got.stdout != "" {
		t.Errorf("%+v", got)
	}
}

// TestAuditInterrupted checks that an audit ends when its context ends.
func TestAuditInterrupted(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", "a,b,y\n")
	writeFile(t, "recipe.yaml", goodRecipe)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var out strings.Builder
	code := run(
		ctx,
		[]string{"audit", "recipe.yaml"},
		strings.NewReader(""),
		&out,
		io.Discard,
	)
	if code != exitInterrupted || out.Len() > 0 {
		t.Errorf(
			"code %d, %q",
			code, out.String(),
		)
	}
}

// TestRehearsalInterrupted checks that a rehearsal, which may take as long as a run, ends with its context in each
// command that has one.
func TestRehearsalInterrupted(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", "a,b,y\n")
	writeFile(
		t,
		"recipe.yaml",
		strings.Replace(goodRecipe, "epsilon: 1", "epsilon: 0.001", 1),
	)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range []string{"plan recipe.yaml", "fit recipe.yaml", "audit recipe.yaml",
		"audit recipe.yaml --own-table"} {
		var stdout, stderr strings.Builder
		code := run(
			ctx, strings.Fields(args),
			strings.NewReader(""), &stdout, &stderr,
		)
		if code != exitInterrupted ||
			stdout.Len() > 0 ||
			stderr.String() != "dptrain: interrupted\n" {
			t.Errorf(
				"%s: code %d, %q, %q",
				args, code, stdout.String(),
				stderr.String(),
			)
		}
		onlyFiles(t, "line.csv", "recipe.yaml")
	}
}

// TestAuditViolation checks that a violation is an internal error whose message names the violation.
func TestAuditViolation(t *testing.T) {
	var out strings.Builder
	a := newApp(strings.NewReader(""), &out, io.Discard)
	v := audit.Verdict{
		Leaves: []audit.Leaf{{
			Path:    "fit/x",
			Epsilon: 1,
			Measure: audit.Measure{Epsilon: 2},
		}},
		Confidence: .99,
	}
	err := a.showVerdict(
		&audited{Violations: v.Violations(), Confidence: .99},
		v, false,
	)
	if exitCode(err) != exitInternal ||
		!strings.Contains(err.Error(), "fit/x") ||
		!strings.Contains(out.String(), "the measured privacy loss exceeds the claim") {
		t.Errorf(
			"%v: %s",
			err, out.String(),
		)
	}
}
