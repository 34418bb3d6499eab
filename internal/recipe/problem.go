package recipe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/sys/fault"
)

// A Problem is one mistake in a recipe. It quotes only the recipe and names of columns, never a cell of the data.
type Problem struct {
	File   string // as the caller named it; empty for flags and recipes built in code
	Line   int    // 1-based; 0 without a text
	Column int    // 1-based, in characters; 0 without a text
	Path   string // key, such as privacy.epsilon or data.columns.age.lower; empty for the file as a whole
	Msg    string // the problem
	Hint   string // the remedy; may be empty

	// Header reports that the problem is about the columns of the table: a column named by the recipe is missing, or
	// an unexpected one is present.
	Header bool

	flag string // the command-line flag with the mistake, for recipes made from flags
	err  error  // cause from the operating system, if any
}

// Error returns `file:line:column: message (hint)` without unknown parts. For a recipe made from flags, the
// flag replaces the file.
func (p Problem) Error() string {
	var b strings.Builder
	switch {
	case p.File != "" && p.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", p.File, p.Line, p.Column)
	case p.File != "":
		b.WriteString(p.File + ": ")
	case p.Line > 0:
		fmt.Fprintf(&b, "%d:%d: ", p.Line, p.Column)
	case p.flag != "":
		b.WriteString(p.flag + ": ")
	}
	b.WriteString(p.Msg)
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	return b.String()
}

// Flag returns the flag that gave the value, or that can give the missing one; empty for a value in a file.
func (p Problem) Flag() string {
	return p.flag
}

// Unwrap returns the operating system's error, if that is the cause.
func (p Problem) Unwrap() error {
	return p.err
}

// Problems are all mistakes in a recipe, sorted by position. It is an error; errors.As finds it in the errors of
// [Load] and [Options.FromSettings].
type Problems []Problem

// maxPrinted is the maximum number of problems printed by Error; the slice itself is never cut.
const maxPrinted = 50

// Error prints one problem per line, the first fifty at most.
func (ps Problems) Error() string {
	var b strings.Builder
	for i, p := range ps {
		if i == maxPrinted {
			fmt.Fprintf(&b, "\nand %d more", len(ps)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.Error())
	}
	return b.String()
}

// Unwrap gives errors.Is and errors.As access to each problem.
func (ps Problems) Unwrap() []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errs
}

// AboutHeader reports whether one of the problems is about the columns of the table.
func (ps Problems) AboutHeader() bool {
	return slices.ContainsFunc(ps, func(p Problem) bool {
		return p.Header
	})
}

// FaultKind returns [fault.Recipe].
func (ps Problems) FaultKind() fault.Kind {
	return fault.Recipe
}

// Err returns ps, or an untyped nil if there is no problem.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// sorted sorts by position, then by path and text, and removes duplicates.
func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Msg, b.Msg),
		)
	})
	return slices.CompactFunc(ps, func(a, b Problem) bool {
		return a.Line == b.Line && a.Column == b.Column && a.Path == b.Path && a.Msg == b.Msg
	})
}

// maxQuoted is the maximum number of characters of a recipe that a message quotes.
const maxQuoted = 60

// quoted makes a text of the recipe safe for a terminal: control characters are escaped and the length is
// limited.
func quoted(s string) string {
	if utf8.RuneCountInString(s) > maxQuoted {
		s = string([]rune(s)[:maxQuoted]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
