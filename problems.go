package dptrain

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/internal/recipe"
)

// A Problem is one mistake in a recipe or in the fields of a [Run]. It quotes the recipe and names of columns, never a
// cell of the table.
type Problem struct {
	File         string // the recipe as the caller named it; empty for a run
	Line, Column int    // of the recipe, from 1, Column in characters; 0 for a run
	// Key is the recipe key, such as "privacy.epsilon"; empty for a mistake of the file as a whole.
	Key     string
	Message string // the problem; of a run in terms of its fields
	Hint    string // the remedy; may be empty
	// Header reports that the problem is about the columns of the table: one that the run names is missing, or an
	// unexpected one is there.
	Header bool

	err error
}

// Error returns "file:line:column: message (hint)", without the parts that are empty.
func (p Problem) Error() string {
	var b strings.Builder
	switch {
	case p.File != "" && p.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", p.File, p.Line, p.Column)
	case p.File != "":
		b.WriteString(p.File + ": ")
	}
	b.WriteString(p.Message)
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	return b.String()
}

// Unwrap returns the error of the operating system if that is the cause, and nil otherwise.
func (p Problem) Unwrap() error {
	return p.err
}

// Problems are all mistakes of a recipe or a run, sorted by their place.
type Problems []Problem

// Error returns one line per problem, at most fifty.
func (ps Problems) Error() string {
	const most = 50
	var lines []string
	for i, p := range ps {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(ps)-i))
			break
		}
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.Is and errors.As access to each problem.
func (ps Problems) Unwrap() []error {
	out := make([]error, len(ps))
	for i, p := range ps {
		out[i] = p
	}
	return out
}

// recipeError converts the problems of a recipe, which have keys and positions; other errors are returned unchanged.
func recipeError(err error) error {
	return convertProblems(err, withoutFlags)
}

// convertProblems converts problems with their texts; other errors are returned unchanged.
func convertProblems(err error, text func(string) string) error {
	var found recipe.Problems
	if !errors.As(err, &found) {
		return err
	}
	out := make(Problems, len(found))
	for i, p := range found {
		out[i] = Problem{
			File:    p.File,
			Line:    p.Line,
			Column:  p.Column,
			Key:     p.Path,
			Message: text(p.Msg),
			Hint:    text(p.Hint),
			Header:  p.Header,
			err:     p.Unwrap(),
		}
	}
	return out
}

// goError converts an error of another package for a caller in Go: its texts name fields and options in place of
// recipe keys and flags, and its type is one of this package if that is documented. nil remains nil.
func goError(err error) error {
	if err == nil {
		return nil
	}
	var problems recipe.Problems
	if errors.As(err, &problems) {
		return convertProblems(problems, inFields)
	}
	if spent, ok := spentError(err); ok {
		return spent
	}
	if text := inFields(err.Error()); text != err.Error() {
		return &textError{text, err}
	}
	return err
}

// textError is an error with another text.
type textError struct {
	text string
	err  error
}

// Error returns the text.
func (e *textError) Error() string {
	return e.text
}

// Unwrap returns the error.
func (e *textError) Unwrap() error {
	return e.err
}
