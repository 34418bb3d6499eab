package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/sys/parallel"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/tukey"
)

// TestExitCodes compares the exit code of every kind of error with a golden file, because scripts rely on them.
func TestExitCodes(t *testing.T) {
	wrap := func(err error) error {
		return fmt.Errorf("while testing: %w", err)
	}
	errs := []struct {
		name string
		err  error
	}{
		{"nothing", nil},
		{"an unknown error", errors.New("?")},
		{"a released draw asked for twice", mechanism.ErrSpent},
		{"a table with another schema", pipeline.ErrSchema},
		{"a usage error", usagef("no")},
		{"an output that exists", &report.DirError{Err: report.ErrExists}},
		{"an output with other files", &report.DirError{Err: report.ErrForeign}},
		{"an output that cannot be written", &report.DirError{Err: report.ErrUnwritable}},
		{"problems of a recipe", recipe.Problems{{Msg: "no"}}},
		{"a plan that is refused", fault.WithKind(fault.Recipe, pipeline.ErrNoFeature)},
		{"a table that cannot be read", &dataset.FileError{Err: dataset.ErrUnreadable}},
		{"a table without a header", &dataset.FileError{Err: dataset.ErrNoHeader}},
		{
			"a header that lacks a declared column",
			fault.WithKind(fault.Data, recipe.Problems{{Msg: "no"}}),
		},
		{"a target that is absent, in init", recipe.ErrTargetAbsent},
		{"a header that cannot be used, in init", recipe.ErrHeader},
		{
			"a model that cannot be read",
			fault.WithKind(fault.Data, errors.New("no")),
		},
		{"a cell refused by --strict", cellError("new.csv", "a")},
		{"a budget out of range", &budget.TargetError{}},
		{"a plan with a Gaussian law where delta is 0", &budget.NotPureError{}},
		{"a mechanism that no number of records satisfies", tukey.ErrInfeasible},
		{"fixed laws above the budget", &budget.OverspentError{}},
		{"an epsilon without a finite mu", pipeline.ErrUnbounded},
		{"a noise scale outside the grid", mechanism.ErrScale},
		{"a release that does not hold together", report.ErrBroken},
		{"a cancelled context", context.Canceled},
	}
	var b strings.Builder
	for _, e := range errs {
		code := exitCode(e.err)
		if e.err != nil && exitCode(wrap(e.err)) != code {
			t.Errorf(
				"%s: %d, but wrapped %d",
				e.name, code,
				exitCode(wrap(e.err)),
			)
		}
		fmt.Fprintf(&b, "%3d  %s\n", code, e.name)
	}
	goldenFiles(t).compare(t, "exit-codes", b.String())

	topic := dptrain(t, "help", "exit-codes").stdout
	for _, line := range strings.Split(
		strings.TrimSpace(b.String()),
		"\n",
	) {
		code, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.Contains(topic, "  "+code+"  ") {
			t.Errorf(
				"code %s is not in `dptrain help exit-codes`",
				code,
			)
		}
	}
}

// TestPanicReportHasPositionsOnly checks that a report about a panic contains only source positions, those of the
// goroutine that panicked.
func TestPanicReportHasPositionsOnly(t *testing.T) {
	for i, debug := range []bool{false, true, false, true} {
		chdirTemp(t)
		writeFile(t, "line.csv", lineCSV(50))
		var stdout, stderr strings.Builder
		a := newApp(strings.NewReader(""), &stdout, &stderr)
		a.debug = debug
		a.onStage = func(stage string) {
			if stage != "model" {
				return
			}
			if i < 2 {
				panic("cell 4711")
			}
			var other parallel.Group
			other.Go(func() {
				panicElsewhere()
			})
			other.Wait()
		}
		code := a.run(
			t.Context(),
			strings.Fields("fit --data line.csv --target y --epsilon 1"),
		)
		if code != exitInternal ||
			stdout.String() != "" ||
			!strings.Contains(stderr.String(), "internal error") {
			t.Errorf(
				"code %d, stdout %q, stderr %q",
				code, stdout.String(), stderr.String(),
			)
		}
		if strings.Contains(stderr.String(), "4711") ||
			strings.Contains(stderr.String(), "0x") {
			t.Errorf(
				"the value reached the terminal: %s",
				stderr.String(),
			)
		}
		where := strings.Contains(stderr.String(), "exit_test.go:")
		if where != debug {
			t.Errorf(
				"debug %v: %s",
				debug, stderr.String(),
			)
		}
		if i == 3 &&
			(!strings.Contains(stderr.String(), ".panicElsewhere exit_test.go:") ||
				!strings.Contains(stderr.String(), "panic of type string")) {
			t.Errorf(
				"the place in the other goroutine is missing: %s",
				stderr.String(),
			)
		}
		onlyFiles(t, "line.csv")
	}
}

func panicElsewhere() {
	panic("cell 4711")
}

// TestFilesNamedLikePackages checks that a message about a file starts with its name, even if a package has the same
// name.
func TestFilesNamedLikePackages(t *testing.T) {
	chdirTemp(t)
	for _, name := range []string{
		"report", "ledger", "bench",
		"audit",
	} {
		got := dptrain(t, "predict", name, "new.csv")
		want := "dptrain: " + name + ": the model cannot be read: "
		if got.code != exitData || !strings.HasPrefix(got.stderr, want) {
			t.Errorf("%+v, want %s", got, want)
		}
	}
}
