package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/publish/entry"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/describe"
)

const describeLong = `Describe the columns of a table, with every record protected, and write

  OUT/release/   describe.json, report.html: may be published
  OUT/curator/   run.json: exact facts for the data's owner alone, never to be
                 published

Ranges, histograms, means, spreads, quartiles, categories and correlations are
computed from one sequence of noisy counts and sums. Each has a 95% interval for
the value in the table. With --by, means are also computed by the values of a
category column; a group below four standard deviations of noise shows its
count alone.

Declare ranges and categories that are public knowledge, with --range and
--categories: what is not declared is found privately, from the same budget.
Noise grows with the number of columns, so name those that matter.`

func describeCommand(a *app) *cobra.Command {
	flags := recipeFlags{stdin: a.stdin, notes: a.stderr}
	var how fitHow
	var planOnly bool
	var note string
	cmd := &cobra.Command{
		Use:   "describe TABLE",
		Short: "Describe the columns of a table, privately",
		Long:  describeLong,
		Example: `  dptrain describe visits.csv --epsilon 0.5
  dptrain describe visits.csv --epsilon 0.5 --by ward --exclude id \
    --range age=0:120 --dataset visits
  dptrain describe visits.csv --epsilon 0.5 --columns age,cost --plan`,
		Args: exactly(1, "the table"),
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.table = args[0]
			j, err := flags.noted(nil, note)
			if err != nil {
				return err
			}
			if how.quiet {
				j.notes = nil
			}
			if planOnly {
				return a.describePlan(cmd.Context(), j, how.json)
			}
			return a.describe(cmd.Context(), j, how)
		},
	}
	f := cmd.Flags()
	flags.add(cmd)
	f.StringVar(&note, "note", "", "a `TEXT` that the ledger keeps with the run; it is not protected")
	f.BoolVar(&how.force, "force", false, "replace results that are there already")
	f.BoolVarP(&how.quiet, "quiet", "q", false, "print errors only")
	f.BoolVar(&planOnly, "plan", false, "print the price of every step; no row is read")
	jsonFlag(cmd, &how.json, "the description, or with --plan the price, as JSON")
	return cmd
}

// prepareDescription reads the header of the table and prices the description. No row is read.
func (j *job) prepareDescription(ctx context.Context) (describe.Study, *describe.Plan, error) {
	var none describe.Study
	header, err := j.columns(ctx)
	if err != nil {
		return none, nil, err
	}
	j.header = header
	if err := j.validate(header); err != nil {
		return none, nil, err
	}
	s, err := j.recipe.Describe(header)
	if err != nil {
		return none, nil, err
	}
	plan, err := s.Plan()
	if err == nil {
		err = j.checkColumns(ctx, s.Schema)
	}
	if err == nil {
		err = plan.Rehearse(ctx)
	}
	if err != nil && fault.KindOf(err) == fault.Internal {
		err = fault.WithKind(fault.Recipe, err)
	}
	return s, plan, err
}

// runOfDescription is a description as its ledger sees it.
func runOfDescription(s describe.Study, plan *describe.Plan) entry.Run {
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

// describe carries out a description in the order of [app.fit]: the output folder first, then the price, then the ledger, then
// the rows.
func (a *app) describe(ctx context.Context, j *job, how fitHow) error {
	out := j.recipe.Output.Dir
	folder, err := report.Prepare(out, how.force)
	if err != nil {
		return err
	}
	defer folder.Close()
	s, plan, err := j.prepareDescription(ctx)
	if err != nil {
		return err
	}
	if err := entry.Holdable(j.table, len(j.header), s.Schema, 1); err != nil {
		return err
	}
	if err := a.checkReplaced(ctx, j, how.force); err != nil {
		return err
	}
	var e *entry.Entry
	if j.ledger != "" {
		e, err = entry.Reserve(ctx, entry.Request{
			Ledger: a.openLedger(j.ledger), Dataset: j.recipe.Ledger.Dataset, Note: j.note,
			Table: j.filed(), Format: j.recipe.Data.Reading().Format, Header: j.header, Run: runOfDescription(s, plan),
		})
		if err != nil {
			return err
		}
	}
	files, err := a.carryOutDescription(ctx, j, s, plan, e, folder)
	if err != nil {
		return e.Spent(err)
	}
	switch {
	case how.json:
		return a.printReleased(out, report.DescriptionFile)
	case how.quiet:
		return nil
	}
	err = report.Text(a.stdout, files.Report)
	if err == nil {
		_, err = fmt.Fprintf(a.stdout, "Published: %s may be shared; %s is for the data's owner only\n",
			printable(filepath.Join(out, report.ReleaseDir)), printable(filepath.Join(out, report.CuratorDir)))
	}
	if err != nil {
		return usagef("the results are in %s, but their summary could not be printed: %w", out, err)
	}
	return nil
}

// carryOutDescription reads the rows, describes them, commits and writes the results.
func (a *app) carryOutDescription(ctx context.Context, j *job, s describe.Study, plan *describe.Plan, e *entry.Entry, folder *report.Folder) (report.Files, error) {
	none := report.Files{}
	a.stage("read")
	start := time.Now()
	table, stats, err := j.read(ctx, s.Schema)
	if err != nil {
		return none, err
	}
	seconds := time.Since(start).Seconds()
	a.stage("describe")
	res, err := plan.Run(ctx, table)
	if err != nil {
		return none, err
	}
	res.Curator.Seconds = map[string]float64{"read": seconds, "describe": time.Since(start).Seconds() - seconds}
	files := report.Collect(report.NewDescription(res), nil, res.Curator, stats, nil, j.shown())
	e.Enter(files.Report)
	a.stage("write")
	if err := folder.Stage(ctx, files); err != nil {
		return none, err
	}
	return files, e.Publish(ctx, folder, j.recipe.Output.Dir)
}

// describePlan prints the price of a description.
func (a *app) describePlan(ctx context.Context, j *job, asJSON bool) error {
	s, plan, err := j.prepareDescription(ctx)
	if err != nil {
		return err
	}
	b := pricedBill(plan.Priced)
	b.describes, b.Target, b.Method, b.Features = true, s.Target(), plan.Method(), s.Schema.Names()
	refused, err := a.entryOf(ctx, j, runOfDescription(s, plan), b)
	if err != nil {
		return err
	}
	if asJSON {
		err = writeJSON(a.stdout, b)
	} else {
		err = b.text(a.stdout)
		if n := len(s.Schema.Columns); err == nil && n > describe.ManyColumns {
			_, err = fmt.Fprint(a.stdout, report.Paragraph("Advice", fmt.Sprintf("the noise of associations grows in proportion to the number of columns, which is %d; name those that matter with --columns", n)))
		}
	}
	return errors.Join(err, refused)
}

// description returns which columns are described.
func (f *recipeFlags) description() *recipe.Description {
	columns, _ := f.set.GetStringSlice("columns") // fails for a command without the flag
	by, _ := f.set.GetString("by")
	return &recipe.Description{Columns: columns, By: by}
}
