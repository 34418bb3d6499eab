package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/recipe"
)

const initLong = `Print a commented recipe for a table. Only the header line is read; nothing is
declared about the columns, because that must come from public knowledge.`

func initCommand(a *app) *cobra.Command {
	var target string
	cmd := &cobra.Command{
		Use:     "init TABLE",
		Short:   "Write a starter recipe from the header of a table",
		Long:    initLong,
		Example: "  dptrain init houses.csv --target price > recipe.yaml",
		Args:    exactly(1, "one table"),
		RunE: func(_ *cobra.Command, args []string) error {
			header, err := dataset.Header(args[0], dataset.ReadOptions{})
			if err != nil {
				return err
			}
			text, err := recipe.Init(header, args[0], target)
			if err != nil {
				return err
			}
			_, err = a.stdout.Write(text)
			return err
		},
	}
	cmd.Flags().StringVar(&target, "target", "", "the `COLUMN` to predict (default the last one)")
	return cmd
}

// noFlags is a set in which no flag was given.
func noFlags() *pflag.FlagSet { return pflag.NewFlagSet("", pflag.ContinueOnError) }
