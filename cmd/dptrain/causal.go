package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/causal"
	"github.com/dptrain/dptrain/internal/publish/entry"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/sys/fault"
)

const causalLong = `Ask which of two numeric columns causes the other, with every record protected,
and write

  OUT/release/   causal.json, causal.svg, recipe.yaml: may be published
  OUT/curator/   run.json: exact facts for the data's owner alone, never to be
                 published

One noisy two-dimensional histogram per pair of columns is all that is released:
every score is read from it for free. A direction is stated if at least 90% of
20 redraws of the histogram agree, and the pair is undecided otherwise. It
assumes that no third column causes both. --method anm is the baseline of the
literature, for comparison: a noisy difference of two scores of regressions.

Declare ranges that are public knowledge, with --range or in the recipe: to find
them privately costs 30% of epsilon and, on few records, the answer. A recipe
has "task: causal". Given with a recipe, a flag replaces the recipe's value.`

func causalCommand(a *app) *cobra.Command {
	flags := recipeFlags{stdin: a.stdin, notes: a.stderr}
	var how fitHow
	var note string
	cmd := &cobra.Command{
		Use:   "causal [RECIPE]",
		Short: "Ask which of two columns causes the other",
		Long:  causalLong,
		Example: `  dptrain causal --data visits.csv --columns dose,response --epsilon 1 \
    --range dose=0:50 --range response=0:200
  dptrain causal recipe.yaml --force`,
		Args: between(0, 1, "at most one recipe"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && cmd.Flags().NFlag() == 0 {
				return usagef("nothing to ask: give a recipe, or --data, --columns and --epsilon; see `dptrain causal --help`")
			}
			j, err := flags.noted(args, note)
			if err != nil {
				return err
			}
			return a.causal(cmd.Context(), j, how)
		},
	}
	f := cmd.Flags()
	flags.add(cmd)
	f.StringVar(&note, "note", "", "a `TEXT` that the ledger keeps with the run; it is not protected")
	f.BoolVar(&how.force, "force", false, "replace results that are there already")
	f.BoolVarP(&how.quiet, "quiet", "q", false, "print errors only")
	jsonFlag(cmd, &how.json, "the account of the release, as JSON")
	return cmd
}

// study returns the study of a recipe for a table with this header, with its price.
func (j *job) study(header []string) (causal.Study, *causal.Plan, error) {
	if err := j.validate(header); err != nil {
		return causal.Study{}, nil, err
	}
	s, err := j.recipe.Study(header)
	if err != nil {
		return s, nil, err
	}
	plan, err := s.Plan()
	if err != nil && fault.KindOf(err) == fault.Internal {
		err = fault.WithKind(fault.Recipe, err)
	}
	return s, plan, err
}

// prepareStudy reads the header of the table, if there is one, and prices the study. No row
// is read.
func (j *job) prepareStudy(ctx context.Context) (causal.Study, *causal.Plan, error) {
	header, err := j.columns(ctx)
	if err != nil {
		return causal.Study{}, nil, err
	}
	j.header = header
	s, plan, err := j.study(header)
	if err == nil {
		err = j.checkColumns(ctx, s.Schema)
	}
	if err == nil {
		err = plan.Rehearse(ctx)
	}
	return s, plan, err
}

// runOf is a study as its ledger sees it.
func runOf(s causal.Study, plan *causal.Plan) entry.Run {
	return entry.Run{Priced: plan.Priced, Budget: s.Budget, Method: plan.Method(), Target: s.Target(),
		Price: func(epsilon float64) (*budget.Priced, error) {
			s := s
			s.Budget.Epsilon = epsilon
			plan, err := s.Plan()
			if err != nil {
				return nil, err
			}
			return plan.Priced, nil
		}}
}

// causal carries out a study in the order of [app.fit]: the output folder first, then the
// price, then the ledger, then the rows.
func (a *app) causal(ctx context.Context, j *job, how fitHow) error {
	if err := j.needsTable(); err != nil {
		return err
	}
	out := j.recipe.Output.Dir
	folder, err := report.Prepare(out, how.force)
	if err != nil {
		return err
	}
	defer folder.Close()
	s, plan, err := j.prepareStudy(ctx)
	if err != nil {
		return err
	}
	if err := entry.Holdable(j.table, len(j.header), s.Schema, 1); err != nil {
		return err
	}
	if err := a.checkReplaced(ctx, j, how.force); err != nil {
		return err
	}
	e, err := a.reserveStudy(ctx, j, s, plan)
	if err != nil {
		return err
	}
	files, err := a.carryOut(ctx, j, s, plan, e, folder)
	if err != nil {
		return e.Spent(err)
	}
	switch {
	case how.json:
		return a.printReleased(out, report.CausalFile)
	case how.quiet:
		return nil
	}
	err = report.Text(a.stdout, files.Report)
	if err == nil {
		_, err = fmt.Fprint(a.stdout, causalPointer(out))
	}
	if err != nil {
		return usagef("the results are in %s, but their summary could not be printed: %w", out, err)
	}
	return nil
}

// reserveStudy enters the price of a study, or refuses it.
func (a *app) reserveStudy(ctx context.Context, j *job, s causal.Study, plan *causal.Plan) (*entry.Entry, error) {
	if j.ledger == "" {
		return nil, nil
	}
	return entry.Reserve(ctx, entry.Request{
		Ledger: a.openLedger(j.ledger), Dataset: j.recipe.Ledger.Dataset, Note: j.note,
		Table: j.filed(), Format: j.recipe.Data.Reading().Format, Header: j.header,
		Run: runOf(s, plan),
	})
}

// carryOut reads the rows, asks, commits and writes the results.
func (a *app) carryOut(ctx context.Context, j *job, s causal.Study, plan *causal.Plan, e *entry.Entry, folder *report.Folder) (report.Files, error) {
	none := report.Files{}
	a.stage("read")
	start := time.Now()
	table, stats, err := j.read(ctx, s.Schema)
	if err != nil {
		return none, err
	}
	seconds := time.Since(start).Seconds()
	a.stage("histogram")
	res, err := plan.Run(ctx, table)
	if err != nil {
		return none, err
	}
	res.Curator.Seconds = map[string]float64{"read": seconds, "histogram": time.Since(start).Seconds() - seconds}
	published := *j.recipe
	published.Data.Header = j.header
	public, err := published.Public()
	if err != nil {
		return none, err
	}
	files := report.Collect(report.NewCausal(res), nil, res.Curator, stats, public, j.shown())
	e.Enter(files.Report)
	a.stage("write")
	if err := folder.Stage(ctx, files); err != nil {
		return none, err
	}
	return files, e.Publish(ctx, folder, j.recipe.Output.Dir)
}

// causalPointer says where the results are.
func causalPointer(out string) string {
	return strings.Replace(pointer(out), "model, report and recipe", "answer, picture and recipe", 1)
}

// billRanges says what private ranges need.
type billRanges struct {
	Spoiled float64 `json:"spoiled_below"` // rows below which the answer is likely to be spoiled
	Free    float64 `json:"free_from"`     // rows from which private ranges cost nothing that shows
}

func (r *billRanges) text() string {
	if r == nil {
		return ""
	}
	return report.Paragraph("Warning", fmt.Sprintf("not all ranges are declared, so 30%% of epsilon goes to finding them. At this budget "+
		"that is likely to spoil the answer on fewer than %.0f rows, "+
		"and costs nothing that shows from about %.0f rows on. Declare ranges that are public knowledge", r.Spoiled, r.Free))
}

// protectedText says that the promise is about some of the records.
func (b *bill) protectedText() string {
	if b.Protected == "" {
		return ""
	}
	return report.Paragraph("Protected", "the test records alone, about half of all. What is said above is about them; the training "+
		"records have no protection, and the run enters no ledger")
}

// causalPlan prints the price of a study.
func (a *app) causalPlan(ctx context.Context, j *job, changed func(string) bool, runs int, asJSON bool) error {
	if changed("explain") {
		return usagef("--explain is for runs that train a model; docs/lab/ has how often directions are right")
	}
	s, plan, err := j.prepareStudy(ctx)
	if err != nil {
		return err
	}
	b := pricedBill(plan.Priced)
	b.causal, b.Target, b.Method, b.Features = true, s.Target(), plan.Method(), s.Schema.Names()
	if s.TestOnly {
		b.Protected = "test"
	}
	if spoiled, free, ok := plan.RangeRows(); ok {
		b.Ranges = &billRanges{spoiled, free}
	}
	refused, err := a.entryOf(ctx, j, runOf(s, plan), b)
	if err == nil && changed("runs") {
		refused = nil // the question is which epsilon is not
		err = a.equalRuns(ctx, j, runOf(s, plan), runs, b)
	}
	if err != nil {
		return err
	}
	if asJSON {
		err = writeJSON(a.stdout, b)
	} else {
		err = errors.Join(b.text(a.stdout), a.withoutLedger(j))
	}
	return errors.Join(err, refused)
}
