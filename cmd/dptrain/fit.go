package main

import (
	"context"
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
  OUT/curator/   run.json: exact facts for the data owner only; never publish it

A recipe is optional: --data, --target and --epsilon are enough. Flags override
the recipe. The price of the run is fixed before the first row is read. With a
ledger (a recipe key, or --dataset) the price is also recorded there first, and
a run that would exceed the data set's total is refused with exit code 5.`

func fitCommand(a *app) *cobra.Command {
	flags := recipeFlags{stdin: a.stdin, notes: a.stderr}
	var how fitHow
	var note string
	cmd := &cobra.Command{
		Use:        "fit [RECIPE]",
		SuggestFor: []string{"train", "learn", "run"},
		Short:      "Train and evaluate a private model",
		Long:       fitLong,
		Example: `  dptrain fit --data houses.csv --target price --epsilon 1 --out out
  dptrain fit --data adult.csv --target income --task classification \
    --classes '<=50K,>50K' --epsilon 1
  dptrain fit recipe.yaml --force`,
		Args: between(0, 1, "at most one recipe"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && cmd.Flags().NFlag() == 0 {
				return usagef(
					"nothing to train on: give a recipe, or --data, --target and --epsilon; see `dptrain fit --help`")
			}
			j, err := flags.loadForLedger(args, note)
			if err != nil {
				return err
			}
			j.connect = how.engine.connect
			return a.fit(cmd.Context(), j, how)
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&note, "note", "",
		"store this `TEXT` with the run in the ledger; it is not protected")
	how.add(cmd)
	return cmd
}

// fitHow holds the options of a run that are not part of its recipe.
type fitHow struct {
	force    bool
	quiet    bool
	verbose  bool
	progress bool
	json     bool
	engine   engineFlags
}

func (h *fitHow) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&h.force, "force", false, "overwrite existing results")
	flags.BoolVarP(&h.quiet, "quiet", "q", false, "print errors only")
	flags.BoolVarP(
		&h.verbose,
		"verbose",
		"v",
		false,
		"print the whole report instead of a summary",
	)
	flags.BoolVar(
		&h.progress,
		"progress",
		false,
		"print a line per stage to standard error",
	)
	h.engine.add(flags)
	completeFlags(cmd, map[string]cobra.CompletionFunc{"engine": oneOf(engines()...)})
	jsonFlag(cmd, &h.json, "the report of the release, as JSON")
}

// A training is the task of a job that trains a model.
type training struct {
	app      *app
	job      *job
	how      fitHow
	pipeline *pipeline.Pipeline
	plan     *pipeline.Plan
	fit      fitter
	progress func(stage string)
	result   *pipeline.Result
}

// fit trains the model of a job.
func (a *app) fit(ctx context.Context, j *job, how fitHow) error {
	return a.carryOut(ctx, j, &training{
		app: a,
		job: j,
		how: how,
	}, how)
}

func (t *training) prepare(ctx context.Context) (err error) {
	t.pipeline, t.plan, err = t.job.prepare(ctx)
	return err
}

func (t *training) start(ctx context.Context) (end func(), err error) {
	t.fit, end, err = t.how.engine.fitter(ctx, t.job, t.pipeline, t.plan)
	return end, err
}

func (t *training) ledgerRun() entry.Run {
	return entry.RunOf(t.pipeline, t.plan)
}

func (t *training) run(ctx context.Context) (report.Files, error) {
	t.progress = t.app.progress(t.plan, t.how)
	t.job.progress = t.app.progressLine(t.plan, t.how)
	t.job.progress.run()
	res, stats, err := t.fit(ctx, t.stage)
	if err != nil {
		return report.Files{}, err
	}
	t.result = res
	public, err := t.job.published()
	if err != nil {
		return report.Files{}, err
	}
	return report.Collect(report.New(res), res.Model, res.Curator, stats, public, t.job.tableName()),
		nil
}

func (t *training) stage(name string) {
	t.job.progress.stage(name)
	t.progress(name)
}

func (t *training) done() {
	t.job.progress.clear()
}

func (t *training) print(files report.Files, out string) error {
	return t.app.printResult(files, out, t.how.verbose, t.job.noteRows())
}

func (t *training) verdict(out string) error {
	return verdict(t.result, out)
}

// printResult prints the whole report, or a summary that fits a terminal together with the rows before it.
func (a *app) printResult(files report.Files, out string, verbose bool, before int) error {
	if !verbose {
		return report.Summary(a.stdout, files.Report, out, before)
	}
	err := report.Text(a.stdout, files.Report)
	if err == nil {
		err = report.PathCosts(a.stdout, files.Model)
	}
	if err == nil {
		err = report.Typical(a.stdout, files.Model)
	}
	if err == nil {
		_, err = fmt.Fprint(a.stdout, pointer(out, modelContents))
	}
	return err
}

// A fitter reads the rows and trains. stats holds the counts of the reader.
type fitter func(
	ctx context.Context, progress func(string),
) (res *pipeline.Result, stats *dataset.Stats, err error)

// inMemory returns a fitter that reads the whole table into memory and trains on it.
func (j *job) inMemory(p *pipeline.Pipeline, plan *pipeline.Plan) fitter {
	return func(
		ctx context.Context, progress func(string),
	) (*pipeline.Result, *dataset.Stats, error) {
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

// begin reports the start of a stage and returns a function that returns the seconds since then.
func begin(progress func(string), stage string) func() float64 {
	progress(stage)
	start := time.Now()
	return func() float64 {
		return time.Since(start).Seconds()
	}
}

// verdict returns the error for a run without a model, or nil. Whether there is a model was
// released by the mechanism.
func verdict(res *pipeline.Result, out string) error {
	if res.Model != nil {
		return nil
	}
	if stop := res.Stopped; stop != nil {
		return fault.WithKind(fault.Abstained,
			fmt.Errorf("%s\nThe run stopped before training. %s", stop.Advice(),
				stopSpent(res, out)))
	}
	if res.LacksClasses() {
		return fault.WithKind(fault.Abstained,
			fmt.Errorf(
				"only one class of the target %q was found, or none, so there is no model; list them with --classes (data.classes) if they are public, or use more records or a larger epsilon\n%s",
				res.Target, fmt.Sprintf("The budget is spent; see the report in %s.", out)))
	}
	return fault.WithKind(fault.Abstained,
		fmt.Errorf(
			"%s abstained, so there is no model; the budget is spent (see the report in %s); `dptrain plan` shows how many rows it needs",
			res.Method, out))
}

// stopSpent returns the sentence about the budget of a run that stopped.
func stopSpent(res *pipeline.Result, out string) string {
	if res.Stopped.Scale == 0 {
		return fmt.Sprintf("It spent nothing; see the report in %s.", out)
	}
	return fmt.Sprintf(
		"It spent epsilon %s of %s, which is also what a ledger counts; see the report in %s.",
		formatNumber(res.Stopped.Epsilon), formatNumber(res.Guarantee.Epsilon), out)
}

// formatNumber formats x with at most six significant digits.
func formatNumber(x float64) string {
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// modelContents names the files of the release of a training.
const modelContents = "model, report and recipe"

// pointer returns the last paragraphs of the output of a run: the folders of its results and which of
// them may be published. They do not depend on the data.
func pointer(out, published string) string {
	return report.Paragraph("Published",
		filepath.Join(out, report.ReleaseDir)+" may be shared: "+published) +
		report.Paragraph("Private",
			filepath.Join(out, report.CuratorDir)+
				" is for the data owner only: it holds exact counts without any guarantee")
}
