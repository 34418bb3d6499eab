package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/tablefile"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// completing reports whether arguments are those of a shell that asks how a line may go on.
func completing(args []string) bool {
	return len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)
}

// completeFlags completes the values of flags of a command, by name. Columns are those of the header line of the table, which
// is public; no row is read.
func completeFlags(cmd *cobra.Command, byName map[string]cobra.CompletionFunc) {
	for name, complete := range byName {
		if complete != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, complete) // fails for a flag that has one
		}
	}
}

// completions completes the files that commands take.
func completions(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "fit", "plan", "check", "causal", "audit":
			cmd.ValidArgsFunction = files([]string{"yaml", "yml"})
		case "init", "look", "describe":
			cmd.ValidArgsFunction = tables
		case "predict":
			cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
				if len(args) == 0 {
					return []string{"json"}, cobra.ShellCompDirectiveFilterFileExt
				}
				return tables(cmd, nil, word)
			}
		}
	}
}

// files completes the one argument of a verb with files that end in one of the given ways.
func files(suffixes []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return suffixes, cobra.ShellCompDirectiveFilterFileExt
	}
}

// tables completes with files that hold tables.
func tables(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	var suffixes []string
	for _, s := range tablefile.Suffixes() {
		suffixes = append(suffixes, strings.TrimPrefix(s, "."))
	}
	return files(suffixes)(cmd, nil, word)
}

// oneOf completes with a closed list.
func oneOf(list ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// trainers completes with the methods of training.
func trainers(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := []string{pipeline.Auto}
	for _, m := range pipeline.Trainers() {
		names = append(names, m.Name+"\t"+m.Summary)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// selectors completes with the ways to choose columns.
func selectors(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := []string{pipeline.Auto}
	for _, m := range pipeline.Selectors() {
		names = append(names, m.Name+"\t"+m.Summary)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// ofHeader completes with the columns of the table that is named before on the line, each with an ending. In a list it
// completes the last one.
func ofHeader(ending string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		before := word[:strings.LastIndexByte(word, ',')+1]
		var out []string
		for _, name := range headerOf(cmd, args) {
			if !strings.ContainsAny(name, ",\t\n\"=") {
				out = append(out, before+name+ending)
			}
		}
		directive := cobra.ShellCompDirectiveNoFileComp
		if ending != "" {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return out, directive
	}
}

// headerOf returns the columns of the table of a command that is being typed: that of --data, of the table that is its
// argument, or of its recipe. Nil if there is none that can be read.
func headerOf(cmd *cobra.Command, args []string) []string {
	data := recipe.Data{}
	if f := cmd.Flags().Lookup("data"); f != nil {
		data.Path = f.Value.String()
	}
	if len(args) > 0 && data.Path == "" {
		if tablefile.Holds(args[0]) {
			data.Path = args[0]
		} else if r, err := recipe.Load(args[0]); err == nil {
			data, data.Path = r.Data, r.DataFile()
		}
	}
	if _, piped := tablefile.Stdin(data.Path); data.Path == "" || piped {
		return nil
	}
	reading, err := (&keyValues{"look", cmd.Flags()}).reading(data)
	if err != nil {
		return nil
	}
	names, err := dataset.Header(data.Path, reading)
	if err != nil {
		return nil
	}
	return slices.Clone(names)
}
