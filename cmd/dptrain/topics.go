package main

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/pipeline"
	"github.com/dptrain/dptrain/internal/recipe"
)

// methodsTopic is the help topic methods.
func methodsTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("What --method and --select, or model.method and selection.method of a recipe,\nmay say. auto, the default of both, chooses by what the plan knows.\n\nModels:\n\n")
	for _, m := range pipeline.Trainers() {
		item(&b, m.Name, m.Summary+tasksOf(m.ClassesOnly(), m.TwoClasses()))
	}
	b.WriteString("\nWays to choose columns:\n\n")
	for _, m := range pipeline.Selectors() {
		item(&b, m.Name, m.Summary+tasksOf(m.NeedsClasses, m.TwoClasses))
	}
	b.WriteString("\ndocs/guide/method.md says which one suits a table.")
	return &cobra.Command{Use: "methods", Short: "What can be trained, and how columns can be chosen", Long: b.String()}
}

// tasksOf says what a method cannot predict.
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

// item writes an entry of a list with two columns.
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

// recipeTopic is the help topic recipe.
func recipeTopic() *cobra.Command {
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
	return &cobra.Command{Use: "recipe", Short: "The keys of a recipe", Long: b.String()}
}
