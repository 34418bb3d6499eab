package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/recipe"
)

const checkLong = `Report all mistakes in a recipe at once, each with file, line and column. If the
header of the table can be read, column names are checked, too. No row is read.`

func checkCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "check RECIPE",
		Short:   "Check a recipe and report every mistake",
		Long:    checkLong,
		Example: "  dptrain check recipe.yaml",
		Args:    exactly(1, "one recipe"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.check(cmd.Context(), args[0], asJSON)
		},
	}
	jsonFlag(cmd, &asJSON, oneObject)
	return cmd
}

// checkFormat is the value of the key "format" of `check --json`.
const checkFormat = "dptrain.check/1"

// checked is the result of check, as printed by `check --json`.
type checked struct {
	Format   string         `json:"format"`
	Recipe   string         `json:"recipe"`
	OK       bool           `json:"ok"`
	Columns  bool           `json:"columns_checked"` // whether a header was available for comparison
	Problems []checkProblem `json:"problems"`
}

// checkProblem is a problem of a recipe, with its position if it has one.
type checkProblem struct {
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// check prints the problems of a recipe.
func (a *app) check(ctx context.Context, path string, asJSON bool) error {
	unread, err := a.validateRecipe(ctx, path)
	if !asJSON {
		return a.checkedText(path, unread, err)
	}
	out := checked{checkFormat, path, err == nil, err == nil && unread == "", []checkProblem{}}
	var problems recipe.Problems
	switch {
	case errors.As(err, &problems):
		for _, p := range problems {
			out.Problems = append(out.Problems,
				checkProblem{p.Line, p.Column, p.Path, p.Msg, p.Hint})
		}
	case err != nil:
		out.Problems = append(out.Problems, checkProblem{Message: message(err)})
	}
	if printed := writeJSON(a.stdout, out); printed != nil {
		return printed
	}
	if err != nil {
		return &quietError{err}
	}
	return nil
}

func (a *app) checkedText(path, unread string, err error) error {
	switch {
	case err != nil:
		return err
	case unread == "":
		_, err = fmt.Fprintf(a.stdout, "%s: ok\n", path)
	default:
		_, err = fmt.Fprintf(a.stdout,
			"%s: ok, but the column names were not checked because %s cannot be read\n", path,
			unread)
	}
	return err
}

// checkPrice computes the price of the run for a table with this header and returns the error, if any.
func (j *job) checkPrice(ctx context.Context, header []string) error {
	if j.recipe.Task == recipe.TaskCausal {
		s, err := j.causalPrice(header)
		if err == nil {
			err = j.checkColumns(ctx, s.schema)
		}
		return err
	}
	p, err := j.pipeline(ctx, header)
	if err == nil {
		err = j.checkColumns(ctx, p.Schema)
	}
	if err == nil {
		_, err = price(ctx, p)
	}
	return err
}

// validateRecipe validates a recipe against its schema, against the header of its table, and by computing a price. A
// declared column that is missing from the header is an error of the recipe here. If the table cannot be read,
// validateRecipe returns its path in unread and does not check the columns.
func (a *app) validateRecipe(
	ctx context.Context,
	path string,
) (unread string, err error) {
	flags := recipeFlags{stdin: a.stdin, notes: a.stderr}
	j, err := flags.load([]string{path})
	if err != nil {
		return "", err
	}
	header, err := j.columns(ctx)
	if errors.Is(err, dataset.ErrUnreadable) {
		return j.tableName(), nil
	}
	if err != nil {
		return "", err
	}
	if problems := j.recipe.Validate(header); len(problems) > 0 {
		return "", problems
	}
	return "", j.checkPrice(ctx, header)
}
