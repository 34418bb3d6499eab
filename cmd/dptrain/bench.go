package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/bench"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

const benchLong = `Compare methods on public tables by their exact R² on held-out rows or, with
--task classification, their accuracy. The column "balanced" is the median
balanced accuracy (mean recall over the classes). If features have a cost, the
column "paid" is the average cost of a held-out row. cost-tree:2 buys two units
of new features per node, nonprivate-cstc:0.01 charges 0.01 per unit, and
boosted-adassp:10 runs ten rounds.

Each trial trains on nine tenths of the rows with the whole budget and tests on
the rest; ten trials test every row once, and all methods use the same splits.
The target is the last column unless named, and every other column is a numeric
feature without declared bounds. A recipe is a method named after its file, with
its own columns, methods, relation and budget.

The results are exact and not private, so bench requires --public and refuses
tables that are registered in a ledger. For the experiments from the papers, see
docs/lab/experiments.md.
`

// benchNames returns the names of the methods, wrapped for a terminal.
func benchNames() string {
	return benchLong + "\n" + report.Paragraph("Models", strings.Join(bench.Models(), ", ")) +
		report.Paragraph("Selections", strings.Join(bench.Selections(), ", ")) + "\n" +
		benchSummaries()
}

// benchSummaries returns a list of the methods with a one-line description of each.
func benchSummaries() string {
	var b strings.Builder
	line := func(name, summary string) {
		fmt.Fprintf(&b, "  %-18s%s\n", name, summary)
	}
	b.WriteString("Models:\n")
	for _, m := range pipeline.Trainers() {
		line(m.Name, m.Summary)
	}
	b.WriteString("Models without privacy:\n")
	names, summaries := recipe.OpenSummaries()
	for i, name := range names {
		fmt.Fprintf(&b, "  %-26s%s\n", name, summaries[i])
	}
	b.WriteString("Selections, which keep:\n")
	for _, m := range pipeline.Selectors() {
		line(m.Name, m.Summary)
	}
	return b.String()
}

const benchExample = `  dptrain bench --public --data houses.csv --method joint-gram,nonprivate-ols
  dptrain bench --public --data tables/ --trials 20 --json > results.jsonl
  dptrain bench --public --data adult.csv --task classification --categories
  dptrain bench --public recipe.yaml --method nonprivate-ols --data houses.csv`

// benchFlags holds the flags of bench as given on the command line.
type benchFlags struct {
	config   bench.Config
	epsilon  string
	relation string
	delta    float64
	json     bool
	ledger   string
}

// benchCommand returns the command `dptrain bench`.
func benchCommand(a *app) *cobra.Command {
	f := &benchFlags{}
	cmd := &cobra.Command{
		Use:   "bench --public [RECIPE...] --data FILE_OR_DIR",
		Short: "Compare methods on public data",
		Long:  strings.TrimRight(benchNames(), "\n"), Example: benchExample,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.config.Recipes = args
			if cmd.Flags().Changed("suite") || cmd.Flags().Changed("out") {
				return usagef("%s", suitesAnswer(cmd.Flags()))
			}
			if err := f.config.RefuseKnown(cmd.Context(), f.ledger, a.openLedger); err != nil {
				return err
			}
			if err := f.resolve(cmd.Flags().Changed, args); err != nil {
				return err
			}
			return a.bench(cmd.Context(), f.config, f.json)
		},
	}
	flags, c := cmd.Flags(), &f.config
	flags.SortFlags = false
	flags.BoolVar(&c.Public, "public", false, "confirm that the data are public (required)")
	flags.StringArrayVar(&c.Data, "data", nil,
		"`PATH` of a table or a folder of tables; may be repeated (default: the tables of the recipes)")
	flags.StringSliceVar(&c.Methods, "method", nil,
		"compare these `METHODS`, each MODEL or SELECTION+MODEL from the lists above (default "+
			bench.DefaultMethod+", or only the recipes)")
	flags.StringVar(&c.Target, "target", "", "predict this `COLUMN` (default the last)")
	flags.StringVar(&c.Task, "task", "",
		"train for `TASK`: regression (default, measured by R²) or classification (measured by accuracy)")
	flags.StringSliceVar(&c.Classes, "classes", nil,
		"`CLASSES` of the target (default: its values in the table)")
	flags.BoolVar(&c.Categories, "categories", false,
		"use text columns as categories, with their values in the table")
	flags.BoolVar(&c.Balance, "balance", false,
		"before splitting, drop random rows until all classes are equally large")
	flags.IntVar(&c.Trials, "trials", bench.DefaultTrials,
		"`NUMBER` of trials of each method on each table")
	flags.IntVar(&c.Rows, "rows", 0,
		"`NUMBER` of rows in a random sample, drawn with the seed (default all)")
	flags.StringVar(&f.epsilon, "epsilon", "ln(3)",
		"epsilon of the methods: a `NUMBER` above 0, or ln(number)")
	numberVar(flags, &f.delta, "delta", bench.DefaultDelta, "delta of the methods: a `NUMBER`")
	flags.StringVar(&f.relation, "relation", budget.AddRemove.String(),
		"neighbouring `RELATION` of the methods")
	flags.Uint64Var(&c.Seed, "seed", 0,
		"public seed of the splits, a `NUMBER`; the noise does not depend on it")
	flags.BoolVar(&f.json, "json", false,
		"print one JSON object per line: every trial, then a summary for each table and method")
	completeFlags(cmd, map[string]cobra.CompletionFunc{
		"data": tables, "target": ofHeader(""), "method": trainers,
		"task":     oneOf("regression", "classification"),
		"relation": oneOf("add-remove", "substitute"),
	})
	flags.StringVar(&f.ledger, "ledger", "",
		"refuse tables that are registered in this ledger `FILE`, in addition to any dptrain.ledger next to them or in the working directory")
	for _, name := range suiteFlags {
		flags.String(name, "", "moved to dptrain-experiments")
		_ = flags.MarkHidden(name) // cannot fail: the flag was just declared
	}
	return cmd
}

// suiteFlags are the flags of the suites of the papers, which used to be part of bench.
var suiteFlags = [...]string{"suite", "out"}

// suitesAnswer returns the message for a user who asks for a suite. It names the equivalent command: the program of
// the experiments with the same flags.
func suitesAnswer(flags *pflag.FlagSet) string {
	line := "go run ./cmd/dptrain-experiments"
	flags.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			line += " --" + f.Name
			switch {
			case f.Value.Type() == "bool":
			case strings.Trim(value, plainText) == "" && value != "":
				line += " " + value
			default:
				line += " '" + strings.ReplaceAll(value, "'", `'\''`) + "'"
			}
		}
	})
	return "the suites of the papers have moved to a separate command; " +
		"in the folder experiments/ of the source code of dptrain, run\n" + line
}

// plainText lists the characters that need no quotes in a shell.
const plainText = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+@%"

// resolve validates the flags and completes the configuration.
func (f *benchFlags) resolve(changed func(string) bool, recipes []string) error {
	c := &f.config
	c.Recipes = recipes
	if c.Trials < 1 {
		return usagef("--trials must be at least 1")
	}
	if changed("rows") && c.Rows < 1 {
		return usagef("--rows must be at least 1")
	}
	if changed("method") && len(c.Methods) == 0 {
		return usagef("--method is empty; the methods are %s", strings.Join(bench.Models(), ", "))
	}
	epsilon, err := recipe.ParseEpsilon(f.epsilon)
	if err != nil || epsilon <= 0 {
		return usagef("--epsilon must be a number above 0 or ln(number), such as 1.0 or ln(3)")
	}
	relation, err := budget.ParseRelation(f.relation)
	if err != nil || relation == budget.SubstitutePrivateColumns {
		return usagef(
			"--relation must be %s or %s",
			budget.AddRemove,
			budget.Substitute,
		)
	}
	c.Budget = budget.Target{
		Epsilon:  epsilon,
		Delta:    f.delta,
		Relation: relation,
	}
	if err := c.Budget.Validate(); err != nil {
		return usagef("--delta must be 0, or at least %g and below 1", budget.MinDelta)
	}
	return nil
}

// bench runs an experiment and prints the results. With asJSON it prints each row as soon as it is available;
// otherwise it prints a table at the end.
func (a *app) bench(ctx context.Context, c bench.Config, asJSON bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lines := json.NewEncoder(a.stdout)
	lines.SetEscapeHTML(false)
	meter := a.meter("trials")
	c.Progress = func(done, total int) {
		meter.Show(float64(done), float64(total), "")
	}
	summaries, err := bench.Run(ctx, c, func(r bench.Row) {
		if !asJSON {
			return
		}
		meter.Clear()
		if err := lines.Encode(r); err != nil {
			cancel(err)
		}
	})
	meter.Clear()
	if cause := context.Cause(ctx); errors.Is(err, context.Canceled) && cause != nil {
		err = cause
	}
	if printed := printSummaries(a, lines, summaries, asJSON); err == nil {
		err = printed
	}
	return benchError(err)
}

// printSummaries prints the summaries at the end of the output, including those of an interrupted experiment.
func printSummaries(
	a *app,
	lines *json.Encoder,
	summaries []bench.Summary,
	asJSON bool,
) error {
	if len(summaries) == 0 {
		return nil
	}
	if !asJSON {
		return bench.WriteTable(a.stdout, summaries)
	}
	for _, s := range summaries {
		if err := lines.Encode(s); err != nil {
			return err
		}
	}
	return nil
}

// benchError converts mistakes in the command line into usage errors with their messages and exit code.
func benchError(err error) error {
	var method *bench.MethodError
	switch {
	case errors.Is(err, bench.ErrNotPublic):
		return usagef(
			"bench prints exact held-out metrics, which are not private: add --public if the data are public, and train on private data with `dptrain fit`")
	case errors.Is(err, bench.ErrNoData):
		return usagef("%v; give --data FILE_OR_DIR", err)
	case errors.Is(err, bench.ErrTask):
		return usagef(
			"--task must be regression or classification, and --classes and --balance need --task classification")
	case errors.Is(err, bench.ErrNoClasses):
		return usagef("%v; name the target with --target, or its classes with --classes", err)
	case errors.As(err, &method):
		return usagef("%v", err)
	}
	return err
}
