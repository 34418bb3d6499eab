package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/describe"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

const describeLong = `Describe the columns of a table with every record protected, and write

  OUT/release/   describe.json, report.html: may be published
  OUT/curator/   run.json: exact facts for the data owner only; never publish it

Ranges, histograms, means, standard deviations, quartiles, categories and
correlations are computed from a single series of noisy counts and sums. Each
has a 95% interval for the value in the table. With --by, means are also
computed within each category of a column; groups smaller than four standard
deviations of the noise show only their count.

Declare ranges and categories that are public knowledge with --range and
--categories; the others are found privately, from the same budget. The noise
grows with the number of columns, so name the ones that matter.`

func describeCommand(a *app) *cobra.Command {
	flags := recipeFlags{stdin: a.stdin, notes: a.stderr}
	var how fitHow
	var planOnly bool
	var note string
	cmd := &cobra.Command{
		Use:   "describe TABLE",
		Short: "Describe the columns of a table privately",
		Long:  describeLong,
		Example: `  dptrain describe visits.csv --epsilon 0.5
  dptrain describe visits.csv --epsilon 0.5 --by ward --exclude id \
    --range age=0:120 --dataset visits
  dptrain describe visits.csv --epsilon 0.5 --columns age,cost --plan`,
		Args: exactly(1, "the table"),
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.table = args[0]
			j, err := flags.loadForLedger(nil, note)
			if err != nil {
				return err
			}
			if planOnly {
				return a.describePlan(cmd.Context(), j, how.json)
			}
			return a.carryOut(cmd.Context(), j, a.description(j), how)
		},
	}
	f := cmd.Flags()
	flags.add(cmd)
	f.StringVar(&note, "note", "",
		"store this `TEXT` with the run in the ledger; it is not protected")
	f.BoolVar(&how.force, "force", false, "overwrite existing results")
	f.BoolVarP(&how.quiet, "quiet", "q", false, "print errors only")
	f.BoolVar(&planOnly, "plan", false, "print the price of every step and read no row")
	jsonFlag(cmd, &how.json, "the description, or with --plan the price, as JSON")
	return cmd
}

// description returns the task of describing columns.
func (a *app) description(j *job) *study {
	return &study{
		app: a,
		job: j,
		kind: studyKind{
			price: (*job).descriptionPrice,
			name:  "describe",
			print: func(a *app, _ report.Files, out string) error {
				_, err := fmt.Fprintf(a.stdout,
					"Published: %s may be shared; %s is for the data owner only\n",
					printable(filepath.Join(out, report.ReleaseDir)),
					printable(filepath.Join(out, report.CuratorDir)))
				return err
			},
		},
	}
}

// descriptionPrice prices the description of a table with this header.
func (j *job) descriptionPrice(header []string) (*pricedStudy, error) {
	if err := j.validate(header); err != nil {
		return nil, err
	}
	s, err := j.recipe.Describe(header)
	if err != nil {
		return nil, err
	}
	out, _, err := priceStudy(s, s.Schema, s.Budget,
		func(res *describe.Result) (*report.Report, pipeline.Curator) {
			return report.NewDescription(res), res.Curator
		})
	if err != nil {
		return nil, err
	}
	out.describe = func(b *bill) {
		b.run = "a description of " + plural(len(b.Features), "column", "columns")
		if n := len(s.Schema.Columns); n > describe.ManyColumns {
			b.advice = report.Paragraph("Advice",
				fmt.Sprintf(
					"the noise of associations grows in proportion to the number of columns, here %d; name the ones that matter with --columns",
					n))
		}
	}
	return out, nil
}

// describePlan prints the price of a description.
func (a *app) describePlan(ctx context.Context, j *job, asJSON bool) error {
	s := a.description(j)
	if err := s.prepare(ctx); err != nil {
		return err
	}
	return a.printBill(ctx, j, s.Run, s.newBill(), nil, asJSON)
}

// description returns the columns to describe, from the flags.
func (f *recipeFlags) description() *recipe.Description {
	columns, _ := f.set.GetStringSlice("columns") // fails for commands without the flag
	by, _ := f.set.GetString("by")
	return &recipe.Description{Columns: columns, By: by}
}
