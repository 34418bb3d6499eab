package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const manLong = `Print the manual page of dptrain or of one of its commands, for man:

  dptrain man > dptrain.1
  dptrain man fit > dptrain-fit.1`

func manCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "man [COMMAND]",
		Short:   "Print a manual page",
		Long:    manLong,
		Example: "  dptrain man fit | man -l -",
		Args:    between(0, 2, "at most one command, such as fit or ledger show"),
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownVerb(cmd.Root(), strings.Join(args, " "))
			}
			_, err = fmt.Fprint(a.stdout, manPage(of))
			return err
		},
	}
}

// roff writes text for a manual page so that no line is read as a request or an escape.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// manPage returns the manual page of a command.
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %s 1\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n",
		strings.ToUpper(roff(name)), roff(name), roff(cmd.Short), roff(cmd.UseLine()))
	plain := func(title, text string) {
		if text != "" {
			fmt.Fprintf(
				&b,
				".SH %s\n.nf\n%s\n.fi\n",
				title,
				roff(strings.Trim(text, "\n")),
			)
		}
	}
	plain("DESCRIPTION", cmd.Long)
	var commands strings.Builder
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			fmt.Fprintf(
				&commands,
				".TP\n.B %s\n%s\n",
				roff(sub.Name()),
				roff(sub.Short),
			)
		}
	}
	if commands.Len() > 0 {
		b.WriteString(".SH COMMANDS\n" + commands.String())
	}
	if cmd.HasAvailableLocalFlags() {
		b.WriteString(".SH OPTIONS\n")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			value, usage := pflag.UnquoteUsage(f)
			short := ""
			if f.Shorthand != "" {
				short = "-" + f.Shorthand + ", "
			}
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n",
				roff(strings.TrimSpace(short+"--"+f.Name+" "+value)), roff(usage))
		})
	}
	plain("EXAMPLES", cmd.Example)
	return b.String()
}
