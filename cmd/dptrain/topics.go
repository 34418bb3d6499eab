package main

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// methodsTopic returns the help topic methods.
func methodsTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString(
		"The values of --method and --select, or of model.method and selection.method in\na recipe. The default, auto, chooses from the information that the plan has.\n\nModels:\n\n")
	for _, m := range pipeline.Trainers() {
		item(&b, m.Name, m.Summary+tasksOf(m.ClassesOnly(), m.TwoClasses()))
	}
	b.WriteString("\nFeature selectors:\n\n")
	for _, m := range pipeline.Selectors() {
		item(&b, m.Name, m.Summary+tasksOf(m.NeedsClasses, m.TwoClasses))
	}
	b.WriteString("\ndocs/explanation/method.md explains which one suits a table.")
	return &cobra.Command{
		Use:   "methods",
		Short: "Training methods and feature selectors",
		Long:  b.String(),
	}
}

// tasksOf describes the targets that a method does not support.
func tasksOf(classesOnly, twoClasses bool) string {
	switch {
	case classesOnly && twoClasses:
		return " (two classes only)"
	case classesOnly:
		return " (classes only)"
	case twoClasses:
		return " (not for three classes or more)"
	}
	return ""
}

// item writes an entry of a two-column list.
func item(b *strings.Builder, name, meaning string) {
	const width = 20
	label := fmt.Sprintf("  %-*s", width-2, name)
	if len(name) > width-3 {
		label += "\n" + strings.Repeat(" ", width)
	}
	for line := range strings.Lines(text.WrapSoft(meaning, 79-width)) {
		b.WriteString(label + strings.TrimRight(line, " \n") + "\n")
		label = strings.Repeat(" ", width)
	}
}

// recipeTopic returns the help topic recipe. Its text is generated on demand.
func recipeTopic() *cobra.Command {
	c := &cobra.Command{
		Use:   "recipe",
		Short: "The keys of a recipe",
	}
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		c.Long = recipeText()
		c.Root().HelpFunc()(c, args)
	})
	return c
}

func recipeText() string {
	var b strings.Builder
	b.WriteString(`A recipe is a YAML file that describes one run. Three keys are required:

  data:
    path: houses.csv
    target: price
  privacy:
    epsilon: 1.0

dptrain init TABLE writes a starter, dptrain check RECIPE reports every mistake
in one, and dptrain schema prints its JSON Schema, for editors. All keys:
`)
	section := ""
	for _, k := range recipe.AllKeys() {
		name := k.Path
		if head, rest, ok := strings.Cut(k.Path, "."); ok {
			if head != section {
				section = head
				b.WriteString("\n" + head + "\n")
			}
			name = rest
		} else {
			section = ""
		}
		item(&b, name, k.Text)
	}
	b.WriteString("\ndocs/reference/recipe.md explains every key.")
	return b.String()
}

// formatsTopic returns the help topic formats.
func formatsTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString(
		"The files that can be read as tables. The file name determines the format and\nthe header line names the columns; rows are never used for guessing.\n\n")
	for _, f := range [...][2]string{
		{".csv, .tsv", "cells separated by commas, semicolons or tabs, with a header line"},
		{".jsonl, .ndjson",
			"one JSON object per line. There is no header: fit needs the columns (--header a,b,c)"},
		{".gz after these", "the same, compressed with gzip"},
		{".parquet", "Parquet"},
		{".xlsx, .xlsm", "a sheet of an Excel workbook"},
		{".arrow, .feather", "Arrow, as a file or a stream (.arrows, .ipc)"},
		{"visits-*.csv", "all matching files, as one table. Quote it: --data 'visits-*.csv'"},
		{"-", "CSV from standard input; -.jsonl, -.parquet and so on for other formats"},
	} {
		item(&b, f[0], f[1])
	}
	b.WriteString(
		"\nFlags, or keys of a recipe, describe how the text of a table is written:\n\n")
	for _, f := range flagsOf("look") {
		item(&b, "--"+f.name, strings.ReplaceAll(f.help, "`", "")+" ("+f.key+")")
	}
	b.WriteString(`
If the header line contradicts these settings, the error names the flag to
change. dptrain look TABLE detects the settings from the rows and writes them,
with a recipe, to a file for the data owner only.
docs/guide/tables.md has examples.`)
	return &cobra.Command{
		Use:   "formats",
		Short: "Table formats, and flags for reading them",
		Long:  b.String(),
	}
}
