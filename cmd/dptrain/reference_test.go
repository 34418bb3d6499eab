package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandLinePage is the command-line reference. -update rewrites the part between its marks.
const commandLinePage = "../../docs/reference/command-line.md"

// TestCommandLinePage checks that the reference lists every command and every flag with the descriptions of the
// program.
func TestCommandLinePage(t *testing.T) {
	page := readFile(t, commandLinePage)
	const begin, end = "<!-- begin commands -->\n", "<!-- end commands -->"
	head, rest, found := strings.Cut(page, begin)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no marks for the generated part", commandLinePage)
	}
	root := rootCommand(newApp(strings.NewReader(""), io.Discard, io.Discard))
	want := head + begin + "\n" + commandTable(root) + "\n" + flagTable(root) + end + tail
	if page == want {
		return
	}
	if !*update {
		t.Fatalf(
			"%s does not describe the program; run go test ./cmd/dptrain -run TestCommandLinePage -update",
			commandLinePage)
	}
	err := os.WriteFile(commandLinePage, []byte(want), 0o644)
	if err != nil {
		t.Fatal(err)
	}
}

// runnableCommands returns the runnable commands below root, in the order of the help.
func runnableCommands(root *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() ||
			c.Name() == "help" ||
			c.Name() == "completion" {
			continue
		}
		out = append(out, c)
		out = append(out, runnableCommands(c)...)
	}
	return out
}

// shortName returns the name of a command without the program name.
func shortName(c *cobra.Command) string {
	return strings.TrimPrefix(c.CommandPath(), "dptrain ")
}

// commandTable returns a table with the arguments and the purpose of every command.
func commandTable(root *cobra.Command) string {
	var out strings.Builder
	out.WriteString("## Commands\n\n| command | purpose |\n| --- | --- |\n")
	for _, c := range runnableCommands(root) {
		use := strings.TrimSuffix(
			strings.TrimPrefix(c.UseLine(), "dptrain "),
			" [flags]",
		)
		fmt.Fprintf(
			&out,
			"| `%s` | %s |\n",
			escapeCell(use), escapeCell(c.Short),
		)
	}
	return out.String()
}

// A describedFlag is a flag with a description and the commands that share it.
type describedFlag struct {
	text     string // as in the help
	usage    string
	commands []string
}

// flagTable returns a table of all flags. A flag with different descriptions in different commands has one row per
// description.
func flagTable(root *cobra.Command) string {
	var flags []*describedFlag
	for _, c := range runnableCommands(root) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" || f.Hidden {
				return
			}
			value, usage := pflag.UnquoteUsage(f)
			text := "--" + f.Name
			if f.Shorthand != "" {
				text = "-" + f.Shorthand + ", " + text
			}
			text = strings.TrimSpace(text + " " + value)
			same := slices.IndexFunc(flags, func(d *describedFlag) bool {
				return d.text == text && d.usage == usage
			})
			if same < 0 {
				same = len(flags)
				flags = append(flags, &describedFlag{text: text, usage: usage})
			}
			flags[same].commands = append(flags[same].commands, shortName(c))
		})
	}
	slices.SortStableFunc(flags, func(a, b *describedFlag) int {
		return strings.Compare(flagName(a.text), flagName(b.text))
	})
	var out strings.Builder
	out.WriteString("## Flags\n\n| flag | commands | meaning |\n| --- | --- | --- |\n")
	for _, f := range flags {
		fmt.Fprintf(
			&out,
			"| `%s` | %s | %s |\n",
			escapeCell(f.text),
			strings.Join(f.commands, ", "),
			escapeCell(f.usage),
		)
	}
	return out.String()
}

// flagName returns the long name in the help text of a flag.
func flagName(text string) string {
	_, name, _ := strings.Cut(text, "--")
	return name
}

// escapeCell escapes text for a table cell.
func escapeCell(text string) string {
	return strings.NewReplacer(
		"|", `\|`, "\n",
		" ", "<", `\<`,
	).Replace(text)
}
