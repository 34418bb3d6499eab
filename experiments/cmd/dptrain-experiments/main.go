// Command dptrain-experiments runs a whole experiment of one of the papers:
//
//	dptrain-experiments --public --suite seed-001 --data tables/ --out results/
//
// It prints exact numbers about public tables and provides no privacy. The exit codes are those of dptrain.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/experiments/suite"
	"github.com/dptrain/dptrain/internal/bench"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/sys/terminal"
)

const about = `Dptrain-experiments carries out a whole experiment of one of the papers on the
tables of a folder and writes its results, as JSON lines and CSV, a page with
plots, and its tables in Markdown to --out. A suite has its own methods and
budgets. One that was interrupted goes on where it ended when the same command
is given again. seed-001 and seed-003 also print the published pipelines, at the
claimed epsilon and at the one that holds, beside the paper's figures and ours.

The numbers are exact, so nothing is private here: it runs only with --public,
and on no table that a ledger knows.

Usage:
  dptrain-experiments --public --suite NAME [--data DIR] --out DIR

Flags:
`

// The exit codes are those of dptrain.
const (
	exitOK          = 0
	exitInternal    = 1
	exitUsage       = 2
	exitData        = 4
	exitLedger      = 6
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(
		context.Background(),
		os.Interrupt,
		syscall.SIGTERM,
	)
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	info, err := os.Stderr.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, terminal))
}

// errUsage marks an error in the arguments.
var errUsage = errors.New("see dptrain-experiments --help")

func usagef(format string, args ...any) error {
	return fmt.Errorf(format+"; %w", append(args, errUsage)...)
}

// run is the whole process except for its exit. terminal reports whether stderr is a terminal, which shows the
// progress after every trial.
func run(
	ctx context.Context,
	args []string,
	stdout, stderr io.Writer,
	terminal bool,
) int {
	err := execute(ctx, args, stdout, stderr, terminal)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, pflag.ErrHelp):
		return exitOK
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr,
			"dptrain-experiments: interrupted; the same command goes on where it ended")
		return exitInterrupted
	}
	fmt.Fprintln(stderr, "dptrain-experiments:", err)
	return exitCode(err)
}

func exitCode(err error) int {
	for _, mistake := range []error{errUsage, suite.ErrUnknown, suite.ErrData, suite.ErrOutput} {
		if errors.Is(err, mistake) {
			return exitUsage
		}
	}
	var table *dataset.FileError
	var book *ledger.FileError
	var known *bench.KnownError
	switch {
	case errors.As(err, &table):
		return exitData
	case errors.As(err, &book), errors.As(err, &known):
		return exitLedger
	}
	return exitInternal
}

// arguments are the flags as typed.
type arguments struct {
	suite.Options
	name   string
	ledger string
	data   []string
	json   bool
}

func parse(args []string, stdout io.Writer) (arguments, error) {
	var a arguments
	flags := pflag.NewFlagSet("dptrain-experiments", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.SetOutput(io.Discard)
	flags.BoolVar(
		&a.Public,
		"public",
		false,
		"state that the data are public (required)",
	)
	flags.StringVar(
		&a.name,
		"suite",
		"",
		"the experiment, by `NAME`: "+strings.Join(suite.Names(), ", "),
	)
	flags.StringArrayVar(&a.data, "data", nil,
		"the `FOLDER` of the tables; their last column is the target")
	flags.StringVar(&a.Out, "out", "",
		"the `FOLDER` of the results; an unfinished one is continued")
	flags.IntVar(&a.Trials, "trials", 0,
		"trials of each method, a `NUMBER` (default that of the paper)")
	flags.Uint64Var(&a.Seed, "seed", 0,
		"public seed of the splits and of synthetic tables, a `NUMBER`")
	flags.StringVar(&a.ledger, "ledger", "",
		"refuse the tables that this `FILE` knows, besides those of every dptrain.ledger that is beside them or here")
	flags.BoolVar(&a.json, "json", false, "print one JSON object")
	if err := flags.Parse(args); errors.Is(err, pflag.ErrHelp) {
		fmt.Fprint(stdout, about, flags.FlagUsagesWrapped(80))
		return a, err
	} else if err != nil {
		return a, usagef("%v", err)
	}
	switch {
	case !a.Public:
		return a,
			usagef("exact held-out metrics are not private: add --public if the data are public")
	case a.name == "":
		return a,
			usagef("name the experiment with --suite: one of %s", strings.Join(suite.Names(), ", "))
	case a.Out == "":
		return a, usagef("--suite needs --out, the folder of its results")
	case flags.NArg() > 0:
		return a, usagef("a suite has its own methods; leave out %s", flags.Arg(0))
	case len(a.data) > 1:
		return a, usagef("a suite takes one --data, a folder of tables")
	case flags.Changed("trials") && a.Trials < 1:
		return a, usagef("--trials must be at least 1")
	}
	if len(a.data) == 1 {
		a.Data = a.data[0]
	}
	return a, nil
}

// execute runs a suite and prints the outcomes of its trials and the names of its files.
func execute(
	ctx context.Context,
	args []string,
	stdout, stderr io.Writer,
	live bool,
) error {
	a, err := parse(args, stdout)
	if err != nil {
		return err
	}
	open := func(path string) *ledger.Ledger {
		return ledger.New(path, ledger.Options{})
	}
	if err := (bench.Config{
		Public: a.Public,
		Data:   a.data,
	}).RefuseKnown(ctx, a.ledger,
		open); err != nil {
		return err
	}
	meter := terminal.NewMeter(stderr, live, a.name, "trials")
	a.Progress = func(p suite.Progress) {
		meter.Show(float64(p.Done), float64(p.Total), p.Stage)
	}
	records, err := suite.Run(ctx, a.name, a.Options)
	meter.Clear()
	if err != nil {
		return err
	}
	return a.show(stdout, records)
}

// show prints the outcomes of the trials, the files, and the comparison with the paper.
func (a *arguments) show(stdout io.Writer, records []suite.Record) error {
	count := map[suite.Status]int{}
	files := []string{}
	for _, r := range records {
		count[r.Status]++
	}
	for _, name := range []string{suite.PageFile, suite.TablesFile, suite.SummaryTable,
		suite.ResultsTable, suite.ResultsFile} {
		files = append(files, filepath.Join(a.Out, name))
	}
	if a.json {
		return json.NewEncoder(stdout).Encode(
			map[string]any{
				"format":   "dptrain.experiment/1",
				"suite":    a.name,
				"trials":   len(records),
				"statuses": count,
				"files":    files,
			})
	}
	line := fmt.Sprintf("%s: %d trials", a.name, len(records))
	for _, s := range []suite.Status{suite.Abstained, suite.NotApplicable, suite.Failed,
		suite.Unavailable} {
		if count[s] > 0 {
			line += fmt.Sprintf(", %d %s", count[s], s)
		}
	}
	if _, err := fmt.Fprintln(stdout,
		strings.Join(append([]string{line}, files...), "\n")); err != nil {
		return err
	}
	for _, table := range suite.Comparison(a.name, records) {
		if _, err := fmt.Fprintln(stdout); err != nil {
			return err
		}
		if err := table.Plain(stdout); err != nil {
			return err
		}
	}
	return nil
}
