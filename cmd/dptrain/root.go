package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/audit"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/terminal"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// app holds the streams that all commands share, and whether standard error is a terminal. A command writes its
// result to stdout and everything else to stderr.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer // for text; see visible
	data, screen   io.Writer // unfiltered stdout and stderr, for predictions and for progress on a terminal
	terminal       bool      // stderr is a terminal, so progress is shown
	debug          bool      // DPTRAIN_DEBUG is set, so crashes print source positions

	onStage func(stage string)                 // for tests: called at the start of each stage of fit
	onStep  func(done, total int, what string) // for the page: receives the progress of a command

	// ownTable runs `audit --own-table`. Tests replace it to inject faults.
	ownTable func(
		ctx context.Context, p *pipeline.Pipeline, t *dataset.Table, o audit.Options,
	) (audit.Verdict, error)

	ledgerWait time.Duration // maximum time to wait for a ledger in use; 0 selects the default
}

// newApp returns an app with these streams.
func newApp(stdin io.Reader, stdout, stderr io.Writer) *app {
	return &app{
		stdin:    stdin,
		stdout:   stdout,
		stderr:   stderr,
		terminal: isTerminal(stderr),
		debug:    os.Getenv("DPTRAIN_DEBUG") != "",
		ownTable: audit.OwnTable,
	}
}

// meter returns a progress meter for work whose progress does not depend on private records.
func (a *app) meter(what string) *terminal.Meter {
	return terminal.NewMeter(a.screen, a.terminal, "dptrain", what)
}

// isTerminal reports whether w is a character device.
func isTerminal(w io.Writer) bool {
	if o, ok := w.(*output); ok {
		w = o.w
	}
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// verbs lists the commands in the order of the help text. To add a command, write its file with a function like
// these and add it here. Commands return their errors without printing them and never exit the process. Use usagef
// for usage errors.
func verbs(a *app) []*cobra.Command {
	return []*cobra.Command{
		fitCommand(a),
		initCommand(a),
		lookCommand(a),
		checkCommand(a),
		planCommand(a),
		auditCommand(a),
		predictCommand(a),
		causalCommand(a),
		describeCommand(a),
		ledgerCommand(a),
		reportCommand(a),
		exportCommand(a),
		serveCommand(a),
		uiCommand(a),
		verifyCommand(a),
		signCommand(a),
		benchCommand(a),
		compressCommand(a),
		schemaCommand(a),
		manCommand(a),
		versionCommand(a),
		workerCommand(a),
		scoresCommand(a),
		recipeTopic(),
		methodsTopic(),
		formatsTopic(),
		exitCodesTopic(),
	}
}

const rootLong = `dptrain trains regression models and classifiers with differential privacy.

Given a table, a target column and a privacy budget, it produces a model, a
private held-out R² or accuracy, and an itemised account of the budget spent.`

const rootExample = `  dptrain fit --data houses.csv --target price --epsilon 1

  dptrain init houses.csv --target price > recipe.yaml
  dptrain check recipe.yaml
  dptrain plan recipe.yaml
  dptrain fit recipe.yaml
  dptrain predict out/release/model.json new.csv > predictions.csv`

func init() {
	cobra.EnableCommandSorting = false // help lists the commands in the order of their use
}

// rootCommand builds the command tree.
func rootCommand(a *app) *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:     "dptrain",
		Short:   "Train regression models and classifiers with differential privacy",
		Long:    rootLong,
		Example: rootExample,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownVerb(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if showVersion {
				return printVersion(a.stdout)
			}
			return cmd.Help()
		},
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
	}
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(printUsage)
	root.AddCommand(verbs(a)...)
	completionNeedsShell(root)
	helpKnowsTopics(root)
	return root
}

// flagError returns the usage error for an unknown flag or an invalid value.
func flagError(cmd *cobra.Command, err error) error {
	what := err.Error()
	and := ";"
	var value *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &value) && errors.Is(err, errTwice):
		what = fmt.Sprintf("--%s is given twice; give it once", value.GetFlag().Name)
	case errors.As(err, &value) && errors.Is(err, strconv.ErrRange):
		what = fmt.Sprintf("--%s: %.100q is too large or too small", value.GetFlag().Name,
			value.GetValue())
	case errors.As(err, &value):
		what = fmt.Sprintf("--%s: %.100q is not %s", value.GetFlag().Name, value.GetValue(),
			kindOf(value.GetFlag()))
	case errors.As(err, &unknown):
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			names = append(names, f.Name)
		})
		if near, ok := recipe.Nearest(unknown.GetSpecifiedName(), names); ok {
			what = what + "; did you mean --" + near + "?"
			and = ""
		}
	}
	return usagef("%s%s see `%s --help`", what, and, cmd.CommandPath())
}

// kindOf describes the values that a flag accepts.
func kindOf(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "int":
		return "a whole number"
	case "intSlice":
		return "a list of whole numbers"
	case "uint64":
		return "a whole number of at least 0"
	case "float64":
		return "a number"
	}
	return "a " + f.Value.Type()
}

// unknownVerb returns the usage error for an unknown command.
func unknownVerb(cmd *cobra.Command, word string) error {
	cmd.SuggestionsMinimumDistance = min(max(len(word)/2, 1), 2)
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		return usagef("unknown command %q; did you mean %q?", word, near[0])
	}
	var names []string
	for _, c := range cmd.Root().Commands() {
		names = append(names, c.Name())
	}
	if near, ok := recipe.Nearest(word, names); ok { // the name of a topic
		return usagef("unknown command %q; did you mean `dptrain help %s`?", word, near)
	}
	return usagef("unknown command %q; see `dptrain --help`", word)
}

// helpKnowsTopics makes `dptrain help` return an error for an unknown topic.
func helpKnowsTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.RunE = func(_ *cobra.Command, args []string) error {
				about, rest, err := root.Find(args)
				if err != nil || strings.Join(rest, "") != "" {
					return unknownVerb(root, strings.Join(args, " "))
				}
				about.InitDefaultHelpFlag()
				return about.Help()
			}
		}
	}
}

// completionNeedsShell makes `dptrain completion` without a shell an error, because a script that sources its output
// must not continue with the help text.
func completionNeedsShell(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args = cobra.ArbitraryArgs
			cmd.RunE = func(*cobra.Command, []string) error {
				return usagef("name a shell: bash, zsh, fish or powershell, as in `dptrain completion bash`")
			}
		}
	}
}

// exactly accepts exactly n arguments. what describes them in the error.
func exactly(n int, what string) cobra.PositionalArgs {
	return between(n, n, what)
}

// between accepts low to high arguments. what describes them in the error.
func between(low, high int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < low || len(args) > high {
			return usagef("%s takes %s; see `%s --help`", cmd.CommandPath(), what,
				cmd.CommandPath())
		}
		return nil
	}
}

// run is the whole process except for its exit. It executes args with the given streams and returns the exit code.
// When ctx ends, it cleans up and returns 130.
func run(
	ctx context.Context,
	args []string,
	stdin io.Reader,
	stdout, stderr io.Writer,
) int {
	return newApp(stdin, stdout, stderr).run(ctx, args)
}
