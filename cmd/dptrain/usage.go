package main

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

// helpWidth is the terminal width for help texts.
const helpWidth = 80

// printUsage prints the usage part of the help of a command. It has cobra's layout, but omits the line for dptrain
// without a command, leaves space after the names of help topics, and wraps flags to fit a terminal. It is code
// rather than a template because a template makes the linker keep every method of the program.
func printUsage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:")
	if cmd.Runnable() && cmd.HasParent() {
		b.WriteString("\n  " + cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n  " + cmd.CommandPath() + " [command]")
	}
	if len(cmd.Aliases) > 0 {
		b.WriteString("\n\nAliases:\n  " + cmd.NameAndAliases())
	}
	if cmd.HasExample() {
		b.WriteString("\n\nExamples:\n" + cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n\nAvailable Commands:")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				fmt.Fprintf(&b, "\n  %-*s %s", c.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	flags := func(title string, usages string) {
		b.WriteString("\n\n" + title + ":\n" + strings.TrimRightFunc(usages, unicode.IsSpace))
	}
	if cmd.HasAvailableLocalFlags() {
		flags("Flags", cmd.LocalFlags().FlagUsagesWrapped(helpWidth))
	}
	if cmd.HasAvailableInheritedFlags() {
		flags("Global Flags", cmd.InheritedFlags().FlagUsagesWrapped(helpWidth))
	}
	if cmd.HasHelpSubCommands() {
		b.WriteString("\n\nAdditional help topics:")
		for _, c := range cmd.Commands() {
			if c.IsAdditionalHelpTopicCommand() {
				fmt.Fprintf(
					&b,
					"\n  %-*s  %s",
					c.CommandPathPadding(),
					c.CommandPath(),
					c.Short,
				)
			}
		}
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n\nUse \"" + cmd.CommandPath() +
			" [command] --help\" for more information about a command.")
	}
	fmt.Fprintln(cmd.OutOrStderr(), b.String())
	return nil
}
