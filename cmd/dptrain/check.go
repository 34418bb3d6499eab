package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/recipe"
)

const checkLong = `Report everything that is wrong with a recipe at once, each mistake with file,
line and column. If the header of the table can be read, the names of the
columns are checked too. No row is read.`

func checkCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "check RECIPE",
		Short:   "Report every mistake in a recipe at once",
		Long:    checkLong,
		Example: "  dptrain check recipe.yaml",
		Args:    exactly(1, "one recipe"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.check(args[0]) },
	}
}

// priceable prices the run of a recipe for a table with this header.
func (j *job) priceable(header []string) error {
	if j.recipe.Task == recipe.TaskCausal {
		_, _, err := j.study(header)
		return err
	}
	p, err := j.pipeline(header)
	if err == nil {
		_, err = price(p)
	}
	return err
}

// check puts a recipe to its rules, to the header of its table and to a price.
// Here a declared column that is absent is a mistake of the recipe.
func (a *app) check(path string) error {
	flags := recipeFlags{set: noFlags(), stdin: a.stdin}
	j, err := flags.load([]string{path})
	if err != nil {
		return err
	}
	header, err := j.columns()
	if errors.Is(err, dataset.ErrUnreadable) {
		_, err := fmt.Fprintf(a.stdout, "%s: ok, but %s cannot be read, so the names of the columns were not checked\n", path, j.table)
		return err
	}
	if err != nil {
		return err
	}
	if problems := j.recipe.Validate(header); len(problems) > 0 {
		return problems
	}
	if err := j.priceable(header); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%s: ok\n", path)
	return err
}
