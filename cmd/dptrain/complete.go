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

// completing reports whether args come from a shell that asks for completions.
func completing(args []string) bool {
	return len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)
}

// completeFlags registers completions for the values of the named flags of a command. Column names come from the
// header of the table, which is public; no row is read.
func completeFlags(cmd *cobra.Command, byName map[string]cobra.CompletionFunc) {
	for name, complete := range byName {
		if complete != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, complete) // fails if the flag already has a completion
		}
	}
}

// completions registers the completions of the file arguments of commands.
func completions(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "fit", "plan", "check", "causal", "audit":
			cmd.ValidArgsFunction = files([]string{"yaml", "yml"})
		case "init", "look", "describe":
			cmd.ValidArgsFunction = tables
		case "predict":
			cmd.ValidArgsFunction = func(
				cmd *cobra.Command, args []string, word string,
			) ([]string, cobra.ShellCompDirective) {
				if len(args) == 0 {
					return []string{"json"}, cobra.ShellCompDirectiveFilterFileExt
				}
				return tables(cmd, nil, word)
			}
		}
	}
}

// files completes the only argument of a command with files that have one of the suffixes.
func files(suffixes []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return suffixes, cobra.ShellCompDirectiveFilterFileExt
	}
}

// tables completes with table files.
func tables(
	cmd *cobra.Command,
	_ []string,
	word string,
) ([]string, cobra.ShellCompDirective) {
	var suffixes []string
	for _, s := range tablefile.Suffixes() {
		suffixes = append(suffixes, strings.TrimPrefix(s, "."))
	}
	return files(suffixes)(cmd, nil, word)
}

// oneOf completes with a fixed list of values.
func oneOf(list ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// trainers completes with the names of training methods.
func trainers(
	*cobra.Command,
	[]string,
	string,
) ([]string, cobra.ShellCompDirective) {
	names := []string{pipeline.Auto}
	for _, m := range pipeline.Trainers() {
		names = append(names, m.Name+"\t"+m.Summary)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// selectors completes with the names of feature selectors.
func selectors(
	*cobra.Command,
	[]string,
	string,
) ([]string, cobra.ShellCompDirective) {
	names := []string{pipeline.Auto}
	for _, m := range pipeline.Selectors() {
		names = append(names, m.Name+"\t"+m.Summary)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// ofHeader completes with the columns of the table that precedes on the command line, followed by ending. In a
// comma-separated list it completes the last item.
func ofHeader(ending string) cobra.CompletionFunc {
	return func(
		cmd *cobra.Command, args []string, word string,
	) ([]string, cobra.ShellCompDirective) {
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

// headerOf returns the columns of the table of a command that is being typed. The table is that of --data, of the
// first argument, or of the recipe. It returns nil if no table can be read.
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
