package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestHelpFitsATerminal checks that the help of every command has lines of at most 80 characters.
func TestHelpFitsATerminal(t *testing.T) {
	n := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			visit(c)
		}
		if cmd.Name() == "completion" ||
			cmd.Parent() != nil && cmd.Parent().Name() == "completion" {
			return // the command is cobra's own
		}
		n++
		args := strings.Fields(cmd.CommandPath() + " --help")[1:]
		if cmd.HasParent() && !cmd.Runnable() && !cmd.HasSubCommands() { // a help topic
			args = []string{"help", cmd.Name()}
		}
		for line := range strings.Lines(dptrain(t, args...).stdout) {
			line = strings.TrimSuffix(line, "\n")
			if utf8.RuneCountInString(line) > 80 {
				t.Errorf(
					"%v: %d characters: %s",
					args, utf8.RuneCountInString(line), line,
				)
			}
		}
	}
	visit(rootCommand(newApp(
		strings.NewReader(""), t.Output(),
		t.Output(),
	)))
	if n < 15 {
		t.Errorf("%d commands", n)
	}
}
