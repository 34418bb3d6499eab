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
	{exitInternal, "internal error: a fault of dptrain"},
	{exitUsage, "usage: a wrong flag or argument, or an output that exists or cannot be written"},
	{exitRecipe, "the recipe is invalid"},
	{exitData, "a table, a model or a report cannot be read, or a declared column is absent"},
	{exitBudget,
		"the budget is refused: the plan cannot be priced within it, or would cross the total of the ledger"},
	{exitLedger, "the ledger is in use, damaged or not there, or does not know the data set"},
	{exitAbstained,
		"the mechanism abstained, within its guarantee: there is a report and no model"},
	{exitBroken, "a release does not hold together: `dptrain verify` says what does not fit"},
	{exitInterrupted, "interrupted; a run of fit leaves nothing behind"},
}

// exitOfKind maps each kind of error to its exit code.
var exitOfKind = [...]int{
	fault.Internal: exitInternal, fault.Usage: exitUsage, fault.Recipe: exitRecipe,
	fault.Data: exitData, fault.Budget: exitBudget,
	fault.Ledger: exitLedger, fault.Abstained: exitAbstained, fault.Broken: exitBroken,
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

func is[T error](err error) bool {
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
	case is[*dataset.FileError](err), is[*placeError](err), is[recipe.Problems](err),
		is[*report.DirError](err), is[*ledger.FileError](err), is[*bench.KnownError](err):
		return err.Error()
	}
	return "dptrain: " + err.Error()
}

// exitCodesTopic returns the help topic exit-codes.
func exitCodesTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("Every command ends with one of these codes:\n\n")
	for _, e := range exitTable {
		label := fmt.Sprintf("  %3d  ", e.code)
		for line := range strings.Lines(text.WrapSoft(e.meaning, 72)) {
			b.WriteString(label + strings.TrimRight(line, " \n") + "\n")
			label = "       "
		}
	}
	b.WriteString("\nNo code says anything about a record, but what a mechanism released.")
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: b.String()}
}
