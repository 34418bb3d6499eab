package main

import (
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/tablefile"
)

const initLong = `Print a commented recipe for a table. Only the header line is read. The recipe
declares nothing about the columns, because declarations must come from public
knowledge.`

// oneField returns the error for a table with only one column.
func oneField(path string) error {
	hint := "set the separator with --separator, or skip the lines above the header with --skip"
	if kind, _, _ := tablefile.ParsePath(path); kind.Packed == tablefile.Sheet {
		hint = "name the sheet with --sheet, or skip the rows above the header with --skip"
	} else if kind.Offsets() {
		hint = "use a table with more columns"
	}
	return fault.WithKind(fault.Data, &placeError{path, "the header is a single field, so there is nothing to learn from; " + hint})
}

func initCommand(a *app) *cobra.Command {
	var target, task string
	var classes []string
	var format keyValues
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "init TABLE",
		Short: "Write a starter recipe from the header of a table",
		Long:  initLong,
		Example: `  dptrain init houses.csv --target price > recipe.yaml
  dptrain init adult.csv --target income --task classification \
    --classes '<=50K,>50K'`,
		Args: exactly(1, "one table"),
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := format.apply(recipe.Data{Path: args[0]})
			if err != nil {
				return err
			}
			reading := data.Reading()
			if target != "" {
				reading.Known = []string{target}
			}
			heading, err := dataset.ReadHeading(args[0], reading)
			if err != nil {
				return err
			}
			printNotes(a.stderr, args[0], heading.Notes)
			header := heading.Names
			if len(header) == 1 {
				return oneField(args[0])
			}
			switch {
			case task == "classification" && len(classes) == 0:
				classes = []string{"private"}
			case task == "classification" && len(classes) == 1 && classes[0] != "private":
				return usagef("--classes needs every value the target can take, such as --classes no,yes, or private to find them privately")
			case task == "regression" && len(classes) > 0:
				return usagef("--classes needs --task classification")
			case task != "regression" && task != "classification":
				return usagef("--task must be regression or classification")
			}
			text, err := data.Init(header, target, recipe.NamesOf(classes))
			if err != nil {
				return err
			}
			if _, problems := recipe.Parse("", text); len(problems) > 0 {
				return usagef("%s", problems[0].Msg)
			}
			if asJSON {
				return writeJSON(a.stdout, started{startedFormat, args[0], header, string(text)})
			}
			_, err = a.stdout.Write(text)
			return err
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&target, "target", "", "predict this `COLUMN` (default the last)")
	cmd.Flags().StringVar(&task, "task", "regression", "write a recipe for `TASK`: regression or classification")
	cmd.Flags().StringSliceVar(&classes, "classes", nil, "public `CLASSES` of the target: no,yes (default private: found with noise)")
	format.add(cmd)
	completeFlags(cmd, map[string]cobra.CompletionFunc{"target": ofHeader(""), "task": oneOf("regression", "classification")})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object: the columns and the recipe")
	return cmd
}

// startedFormat is the value of the key "format" of `init --json`.
const startedFormat = "dptrain.init/1"

// started is the result of init, as printed by `init --json`.
type started struct {
	Format  string   `json:"format"`
	Table   string   `json:"table"`
	Columns []string `json:"columns"` // in the order of the header
	Recipe  string   `json:"recipe"`
}
