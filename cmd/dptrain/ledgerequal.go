package main

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/internal/publish/entry"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/sys/fault"
)

// mostRuns is the largest number of equal runs that `plan --runs` takes.
const mostRuns = 1000000

// equalRuns is the largest epsilon at which a number of equal runs fits into a ledger.
type equalRuns struct {
	Runs    int     `json:"runs"`
	Epsilon float64 `json:"epsilon"` // largest that fits, to three digits; 0 if there is no such value
	Delta   float64 `json:"delta"`   // of each run
}

// equalRuns computes the epsilon at which the given number of runs like this one fits into the ledger.
func (a *app) equalRuns(
	ctx context.Context,
	j *job,
	r entry.Run,
	runs int,
	b *bill,
) error {
	switch {
	case runs < 1 || runs > mostRuns:
		return usagef("--runs must be from 1 to %d", mostRuns)
	case b.Ledger == nil:
		return usagef(
			"--runs needs a ledger: name the data set with --dataset, or add a ledger section to the recipe")
	}
	acc, err := a.accountOf(ctx, j, r)
	if err != nil {
		return err
	}
	e, err := entry.LargestEpsilon(ctx, acc, r, runs)
	b.Ledger.Equal = &equalRuns{runs, e, r.Budget.Delta}
	return err
}

func (e *equalRuns) text() string {
	switch {
	case e == nil:
		return ""
	case e.Epsilon == 0:
		return report.Paragraph("Runs",
			fmt.Sprintf(
				"%s like this one would not fit at any epsilon with delta %s; if a step is a black box, a smaller delta costs less",
				plural(e.Runs, "run", "runs"), fault.Readable(e.Delta)))
	}
	return report.Paragraph("Runs",
		fmt.Sprintf("%s like this one would fit with epsilon %v each and delta %s",
			plural(e.Runs, "run", "runs"), e.Epsilon, fault.Readable(e.Delta)))
}
