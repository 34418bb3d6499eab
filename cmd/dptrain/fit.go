package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/publish/entry"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

const fitLong = `Train a private model, measure it on held-out records, and write

  OUT/release/   model.json, report.json, recipe.yaml: may be published
  OUT/curator/   run.json: exact facts for the data's owner alone, never to be
                 published

A recipe is not needed: --data, --target and --epsilon are enough. Given with a
recipe, a flag replaces the recipe's value. The price of the run is fixed before
the first row is read. With a ledger (a key of the recipe, or --dataset) the
price is entered there before that, and a run that would cross the total of the
data set is refused with exit code 5.`

func fitCommand(a *app) *cobra.Command {
	flags := recipeFlags{stdin: a.stdin, notes: a.stderr}
	var how fitHow
	var note string
	cmd := &cobra.Command{
		Use:        "fit [RECIPE]",
		SuggestFor: []string{"train", "learn", "run"},
		Short:      "Train a private model and measure it",
		Long:       fitLong,
		Example: `  dptrain fit --data houses.csv --target price --epsilon 1 --out out
  dptrain fit --data adult.csv --target income --task classification \
    --classes '<=50K,>50K' --epsilon 1
  dptrain fit recipe.yaml --force`,
		Args: between(0, 1, "at most one recipe"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && cmd.Flags().NFlag() == 0 {
				return usagef("nothing to train on: give a recipe, or --data, --target and --epsilon; see `dptrain fit --help`")
			}
			j, err := flags.noted(args, note)
			if err != nil {
				return err
			}
			j.connect = how.engine.connect
			return a.fit(cmd.Context(), j, how)
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&note, "note", "", "a `TEXT` that the ledger keeps with the run; it is not protected")
	how.add(cmd)
	return cmd
}

// fitHow says how a run is carried out and what it prints.
type fitHow struct {
	force, quiet, verbose, progress, json bool
	engine                                engineFlags
}

func (h *fitHow) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&h.force, "force", false, "replace results that are there already")
	flags.BoolVarP(&h.quiet, "quiet", "q", false, "print errors only")
	flags.BoolVarP(&h.verbose, "verbose", "v", false, "print the whole report, not its summary")
	flags.BoolVar(&h.progress, "progress", false, "print a line for every stage on standard error")
	h.engine.add(flags)
	completeFlags(cmd, map[string]cobra.CompletionFunc{"engine": oneOf(engines()...)})
	jsonFlag(cmd, &h.json, "the report of the release, as JSON")
}

// fit carries out a job: the output folder first, then the price, then the
// ledger, then the rows.
func (a *app) fit(ctx context.Context, j *job, how fitHow) error {
	if err := j.needsTable(); err != nil {
		return err
	}
	if how.quiet {
		j.notes = nil
	}
	out := j.recipe.Output.Dir
	folder, err := report.Prepare(out, how.force)
	if err != nil {
		return err
	}
	defer folder.Close()
	p, plan, err := j.prepare(ctx)
	if err != nil {
		return err
	}
	if err := a.checkReplaced(ctx, j, how.force); err != nil {
		return err
	}
	fit, end, err := how.engine.fitter(ctx, j, p, plan)
	if err != nil {
		return err
	}
	defer end()
	e, err := a.reserve(ctx, j, p, plan)
	if err != nil {
		return err
	}
	progress := a.progress(plan, how)
	j.progress = a.progressLine(plan, how)
	j.progress.run()
	res, files, err := a.train(ctx, j, fit, func(stage string) {
		j.progress.stage(stage)
		progress(stage)
	}, e, folder)
	j.progress.clear()
	if err != nil {
		return e.Spent(err)
	}
	if how.json {
		return errors.Join(a.printReleased(out, report.ReportFile), verdict(res, out))
	}
	if how.quiet {
		return verdict(res, out)
	}
	if err := a.printResult(files, out, how.verbose); err != nil {
		return usagef("the results are in %s, but their summary could not be printed: %w", out, err)
	}
	return verdict(res, out)
}

// printResult prints the summary of a run, or the whole report.
func (a *app) printResult(files report.Files, out string, verbose bool) error {
	if !verbose {
		return report.Summary(a.stdout, files.Report, out)
	}
	err := report.Text(a.stdout, files.Report)
	if err == nil {
		err = report.PathCosts(a.stdout, files.Model)
	}
	if err == nil {
		err = report.Typical(a.stdout, files.Model)
	}
	if err == nil {
		_, err = fmt.Fprint(a.stdout, pointer(out))
	}
	return err
}

// fitter reads the rows and trains. stats is what the reader counted.
type fitter func(ctx context.Context, progress func(string)) (res *pipeline.Result, stats *dataset.Stats, err error)

// inMemory returns what reads the whole table and trains on it.
func (j *job) inMemory(p *pipeline.Pipeline, plan *pipeline.Plan) fitter {
	return func(ctx context.Context, progress func(string)) (*pipeline.Result, *dataset.Stats, error) {
		ended := begin(progress, "read")
		table, stats, err := j.read(ctx, p.Schema)
		if err != nil {
			return nil, nil, err
		}
		seconds := ended()
		res, err := p.FitPlan(ctx, plan, table, pipeline.Options{Progress: progress})
		if err == nil {
			res.Curator.Seconds["read"] = seconds
		}
		return res, stats, err
	}
}

// begin names a stage, and returns what tells the seconds since then.
func begin(progress func(string), stage string) func() float64 {
	progress(stage)
	start := time.Now()
	return func() float64 { return time.Since(start).Seconds() }
}

// train reads the rows, trains, commits and writes the results.
func (a *app) train(ctx context.Context, j *job, fit fitter, progress func(string), e *entry.Entry, folder *report.Folder) (*pipeline.Result, report.Files, error) {
	none := report.Files{}
	res, stats, err := fit(ctx, progress)
	if err != nil {
		return nil, none, err
	}
	if res.Stopped != nil {
		e.Stop()
	}
	files, err := j.files(res, stats)
	if err != nil {
		return nil, none, err
	}
	e.Enter(files.Report)
	progress("write")
	if err := folder.Stage(ctx, files); err != nil {
		return nil, none, err
	}
	return res, files, e.Publish(ctx, folder, j.recipe.Output.Dir)
}

// verdict turns a run without a model into the error that says so. The bit it
// tells was released by the mechanism.
func verdict(res *pipeline.Result, out string) error {
	if res.Model != nil {
		return nil
	}
	if stop := res.Stopped; stop != nil {
		return fault.WithKind(fault.Abstained, fmt.Errorf("%s\nThe run stopped before it trained anything. %s", stop.Advice(), stopSpent(res, out)))
	}
	return fault.WithKind(fault.Abstained, fmt.Errorf("%s abstained: no model; the budget is spent, as the report in %s says; `dptrain plan` says how many rows it needs", res.Method, out))
}

// stopSpent returns the sentence on the budget of a run that stopped.
func stopSpent(res *pipeline.Result, out string) string {
	if res.Stopped.Scale == 0 {
		return fmt.Sprintf("It spent nothing, as the report in %s says.", out)
	}
	return fmt.Sprintf("It spent epsilon %s of %s, as the report in %s says; in a ledger it counts with that.",
		formatNumber(res.Stopped.Epsilon), formatNumber(res.Guarantee.Epsilon), out)
}

// formatNumber writes a number with at most six digits.
func formatNumber(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// files collects what goes to the two folders.
func (j *job) files(res *pipeline.Result, stats *dataset.Stats) (report.Files, error) {
	published := *j.recipe
	published.Data.Header = j.header
	public, err := published.Public()
	if err != nil {
		return report.Files{}, err
	}
	return report.Collect(report.New(res), res.Model, res.Curator, stats, public, j.shown()), nil
}

// pointer says where the results are. It ends the output of every run in the
// same way, whatever the data were like.
func pointer(out string) string {
	return report.Paragraph("Published", filepath.Join(out, report.ReleaseDir)+" may be shared: model, report and recipe") +
		report.Paragraph("Private", filepath.Join(out, report.CuratorDir)+" is for the owner of the data only: exact counts, covered by no guarantee")
}
