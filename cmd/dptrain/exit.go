package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/bench"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/ledger"
	"github.com/dptrain/dptrain/mechanism"
	"github.com/dptrain/dptrain/pipeline"
	"github.com/dptrain/dptrain/recipe"
	"github.com/dptrain/dptrain/report"
	"github.com/dptrain/dptrain/tukey"
)

// The exit codes. None of them depends on a record outside a mechanism.
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

// exitTable says what the codes mean, for `dptrain help exit-codes`.
var exitTable = [...]struct {
	code    int
	meaning string
}{
	{exitOK, "done"},
	{exitInternal, "internal error: a fault of dptrain"},
	{exitUsage, "usage: a wrong flag or argument, or an output that exists or cannot be written"},
	{exitRecipe, "the recipe is invalid"},
	{exitData, "a table, a model or a report cannot be read, or a declared column is absent"},
	{exitBudget, "the budget is refused: the plan cannot be priced within it, or would cross the total of the ledger"},
	{exitLedger, "the ledger is in use, damaged or not there, or does not know the data set"},
	{exitAbstained, "the mechanism abstained, within its guarantee: there is a report and no model"},
	{exitBroken, "a release does not hold together: `dptrain verify` says what does not fit"},
	{exitInterrupted, "interrupted; a run of fit leaves nothing behind"},
}

// exitCode returns the code for what a verb returned.
func exitCode(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return exitInterrupted
	case errors.Is(err, errAbstained):
		return exitAbstained
	case errors.Is(err, report.ErrBroken):
		return exitBroken
	case isAny(err, errUsage, report.ErrExists, report.ErrForeign, report.ErrUnwritable, report.ErrKept):
		return exitUsage
	case isAny(err, errAbsent, errModel, errCell, recipe.ErrTargetAbsent, recipe.ErrHeader) || is[*dataset.FileError](err):
		return exitData
	case errors.Is(err, ledger.ErrSpent):
		return exitBudget
	case is[*ledger.FileError](err), is[*bench.KnownError](err):
		return exitLedger
	case is[recipe.Problems](err), errors.Is(err, errRecipe):
		return exitRecipe
	case isAny(err, pipeline.ErrUnbounded, tukey.ErrInfeasible, budget.ErrTarget, budget.ErrTree, budget.ErrLaw, budget.ErrNotPure, budget.ErrOverspent, budget.ErrNoConversion, mechanism.ErrScale):
		return exitBudget
	case errors.Is(err, errPlan):
		return exitRecipe
	}
	return exitInternal
}

func isAny(err error, targets ...error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

func is[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

// The command's own sentinels. They sort errors and never reach the terminal.
var (
	errUsage     = errors.New("usage")
	errRecipe    = errors.New("recipe")
	errAbsent    = errors.New("declared column absent")
	errModel     = errors.New("model file")
	errCell      = errors.New("cell")
	errPlan      = errors.New("plan")
	errAbstained = errors.New("abstained")
)

// sorted is an error that also is one of the sentinels.
type sorted struct {
	error
	as error
}

func (e *sorted) Unwrap() []error { return []error{e.error, e.as} }

// placeError is an error of this package that begins with a place.
type placeError struct{ place, what string }

func (e *placeError) Error() string { return e.place + ": " + e.what }

// pathError is an error about a file that the message begins with, whatever its
// name: plain leaves it alone.
type pathError struct {
	path string
	error
}

func (e *pathError) Error() string { return e.path + ": " + e.error.Error() }

func (e *pathError) Unwrap() error { return e.error }

// usagef makes a usage error.
func usagef(format string, args ...any) error {
	return &sorted{fmt.Errorf(format, args...), errUsage}
}

// message returns what is printed about an error. Errors that begin with a
// place, file:line:column, are left as they are, so that editors find it.
func message(err error) string {
	switch {
	case exitCode(err) == exitInterrupted:
		var spent *staysSpent
		if errors.As(err, &spent) {
			return "dptrain: interrupted" + spent.note()
		}
		return "dptrain: interrupted"
	case is[*dataset.FileError](err), is[*placeError](err), is[recipe.Problems](err), is[*report.DirError](err), is[*ledger.FileError](err), is[*bench.KnownError](err):
		return err.Error()
	case is[*pathError](err):
		return "dptrain: " + err.Error()
	}
	return "dptrain: " + plain(err.Error())
}

// plain leaves out the names of packages that a message begins with: they are for
// those who read code.
func plain(text string) string {
	parts := strings.SplitN(text, ": ", 4)
	kept := parts[:0]
	for i, part := range parts {
		if i == len(parts)-1 || !slices.Contains([]string{"audit", "bench", "budget", "dataset", "ledger", "mechanism", "pipeline", "recipe", "report", "selection"}, part) {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, ": ")
}

// exitCodesTopic is the help topic exit-codes.
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
