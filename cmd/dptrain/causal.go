package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/train/causal"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

const causalLong = `Estimate which of two numeric columns causes the other, with every record
protected, and write

  OUT/release/   causal.json, causal.svg, recipe.yaml: may be published
  OUT/curator/   run.json: exact facts for the data owner only; never publish it

The only release is one noisy two-dimensional histogram per pair of columns; all
scores are computed from it at no further cost. A direction is reported if at
least 90% of 20 redraws of the histogram agree; otherwise the pair is undecided.
The method assumes that no third column causes both. For comparison, --method
anm is the baseline from the literature: a noisy difference of two regression
scores.

Declare ranges that are public knowledge, with --range or in the recipe. Finding
them privately costs 30% of epsilon and, with few records, often the answer. A
recipe needs "task: causal". Flags override the recipe.`

func causalCommand(a *app) *cobra.Command {
	flags := recipeFlags{stdin: a.stdin, notes: a.stderr}
	var how fitHow
	var note string
	cmd := &cobra.Command{
		Use:   "causal [RECIPE]",
		Short: "Estimate which of two columns causes the other",
		Long:  causalLong,
		Example: `  dptrain causal --data visits.csv --columns dose,response --epsilon 1 \
    --range dose=0:50 --range response=0:200
  dptrain causal recipe.yaml --force`,
		Args: between(0, 1, "at most one recipe"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && cmd.Flags().NFlag() == 0 {
				return usagef(
					"nothing to do: give a recipe, or --data, --columns and --epsilon; see `dptrain causal --help`")
			}
			j, err := flags.loadForLedger(args, note)
			if err != nil {
				return err
			}
			return a.carryOut(cmd.Context(), j, a.causalStudy(j), how)
		},
	}
	f := cmd.Flags()
	flags.add(cmd)
	f.StringVar(&note, "note", "",
		"store this `TEXT` with the run in the ledger; it is not protected")
	f.BoolVar(&how.force, "force", false, "overwrite existing results")
	f.BoolVarP(&how.quiet, "quiet", "q", false, "print errors only")
	jsonFlag(cmd, &how.json, "the report of the release, as JSON")
	return cmd
}

// causalStudy returns the task of a recipe that asks for causal directions.
func (a *app) causalStudy(j *job) *study {
	return &study{
		app: a,
		job: j,
		kind: studyKind{
			price:  (*job).causalPrice,
			recipe: true,
			name:   "histogram",
			print: func(a *app, _ report.Files, out string) error {
				_, err := io.WriteString(a.stdout, pointer(out, "answer, picture and recipe"))
				return err
			},
		},
	}
}

// causalPrice prices the study of a recipe for a table with this header.
func (j *job) causalPrice(header []string) (*pricedStudy, error) {
	if err := j.validate(header); err != nil {
		return nil, err
	}
	s, err := j.recipe.Study(header)
	if err != nil {
		return nil, err
	}
	out, plan, err := priceStudy(s, s.Schema, s.Budget,
		func(res *causal.Result) (*report.Report, pipeline.Curator) {
			return report.NewCausal(res), res.Curator
		})
	if err != nil {
		return nil, err
	}
	out.describe = func(b *bill) {
		b.run = fmt.Sprintf(
			"causal directions, method %s, columns %s",
			b.Method,
			printable(b.Target),
		)
		if s.TestOnly {
			b.Protected = "test"
		}
		if spoiled, free, ok := plan.RangeRows(); ok {
			b.Ranges = &billRanges{spoiled, free}
		}
	}
	return out, nil
}

// billRanges describes the requirements of private ranges.
type billRanges struct {
	Spoiled float64 `json:"spoiled_below"` // rows below which the result is likely to be unusable
	Free    float64 `json:"free_from"`     // rows from which the effect of private ranges is negligible
}

func (r *billRanges) text() string {
	if r == nil {
		return ""
	}
	return report.Paragraph("Warning",
		fmt.Sprintf(
			"some ranges are not declared, so 30%% of epsilon is spent on finding them. At this budget, "+
				"that is likely to spoil the answer with fewer than %.0f rows "+
				"and makes no visible difference from about %.0f rows on. Declare ranges that are public knowledge",
			r.Spoiled, r.Free))
}

// protectedText explains that the guarantee covers some of the records only.
func (b *bill) protectedText() string {
	if b.Protected == "" {
		return ""
	}
	return report.Paragraph("Protected",
		"only the test records, about half of all. The guarantee above is about them; the training "+
			"records are not protected, and the run cannot be recorded in a ledger")
}

// causalPlan prints the price of a study.
func (a *app) causalPlan(
	ctx context.Context,
	j *job,
	changed func(string) bool,
	equal *int,
	asJSON bool,
) error {
	if changed("explain") {
		return usagef(
			"--explain is for runs that train a model; docs/lab/causal.md reports how often directions are correct")
	}
	s := a.causalStudy(j)
	if err := s.prepare(ctx); err != nil {
		return err
	}
	return a.printBill(ctx, j, s.Run, s.newBill(), equal, asJSON)
}
