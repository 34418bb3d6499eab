package main

import (
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/recipe"
)

func schemaCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of recipes, for editors",
		Example: "  dptrain schema > recipe.schema.json",
		Args:    exactly(0, "no argument"),
		RunE: func(*cobra.Command, []string) error {
			_, err := a.stdout.Write(recipe.Schema())
			return err
		},
	}
}
