package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/publish/entry"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/fault"
)

// The exit codes. They do not depend on a record, except through the output of a mechanism.
const (
	exitOK          = 0
	exitInternal    = 1
	exitUsage       = 2
	exitRecipe      = 3
	exitData        = 4
	exitBudget      = 5
	exitLedger      = 6
	exitAbstained   = 7
	exitBroken      = 8
	exitInterrupted = 130
)

// exitTable holds the meanings of the exit codes, for `dptrain help exit-codes`.
var exitTable = [...]struct {
	code    int
	meaning string
}{
	{exitOK, "done"},
	{exitInternal, "internal error: a bug in dptrain"},
	{exitUsage,
		"usage error: an invalid flag or argument, or an output that exists or cannot be written"},
	{exitRecipe, "the recipe is invalid"},
	{exitData, "a table, model or report cannot be read, or a declared column is missing"},
	{exitBudget,
		"over budget: no plan fits the budget, or the run would exceed the total in the ledger"},
	{exitLedger, "the ledger is in use, damaged or missing, or does not contain the data set"},
	{exitAbstained,
		"the mechanism abstained, as its guarantee allows: there is a report but no model"},
	{exitBroken, "a release is inconsistent; `dptrain verify` shows where"},
	{exitInterrupted, "interrupted; an interrupted fit leaves no files behind"},
}

// exitOfKind maps each kind of error to its exit code.
var exitOfKind = [...]int{
	fault.Internal:  exitInternal,
	fault.Usage:     exitUsage,
	fault.Recipe:    exitRecipe,
	fault.Data:      exitData,
	fault.Budget:    exitBudget,
	fault.Ledger:    exitLedger,
	fault.Abstained: exitAbstained,
	fault.Broken:    exitBroken,
}

// exitCode returns the exit code for the error of a command.
func exitCode(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return exitInterrupted
	}
	return exitOfKind[fault.KindOf(err)]
}

// hasType reports whether an error of type T is in the chain of err.
func hasType[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

// placeError is an error of this package whose message starts with a position.
type placeError struct{ place, what string }

func (e *placeError) Error() string {
	return e.place + ": " + e.what
}

// pathError is an error about a file whose message starts with the path.
type pathError struct {
	path string
	error
}

func (e *pathError) Error() string {
	return e.path + ": " + e.error.Error()
}

func (e *pathError) Unwrap() error {
	return e.error
}

// usagef returns a formatted usage error.
func usagef(format string, args ...any) error {
	return fault.WithKind(fault.Usage, fmt.Errorf(format, args...))
}

// message returns the text to print for an error. It leaves messages that start with a position (file:line:column)
// unchanged, so that editors recognise it.
func message(err error) string {
	switch {
	case exitCode(err) == exitInterrupted:
		var spent *entry.SpentError
		if errors.As(err, &spent) {
			return "dptrain: interrupted" + spent.Consequence()
		}
		return "dptrain: interrupted"
	case hasType[*dataset.FileError](err), hasType[*placeError](err), hasType[recipe.Problems](err),
		hasType[*report.DirError](err), hasType[*ledger.FileError](err), hasType[*bench.KnownError](err):
		return err.Error()
	}
	return "dptrain: " + err.Error()
}

// exitCodesTopic returns the help topic exit-codes.
func exitCodesTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("Every command exits with one of these codes:\n\n")
	for _, e := range exitTable {
		label := fmt.Sprintf("  %3d  ", e.code)
		for line := range strings.Lines(text.WrapSoft(e.meaning, 72)) {
			b.WriteString(label + strings.TrimRight(line, " \n") + "\n")
			label = "       "
		}
	}
	b.WriteString("\nAn exit code depends on a record only through the output of a mechanism.")
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "Exit codes",
		Long:  b.String(),
	}
}
