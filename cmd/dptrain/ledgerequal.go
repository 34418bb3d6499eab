package main

import (
	"context"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/pipeline"
	"github.com/dptrain/dptrain/internal/report"
)

// mostRuns is the largest number of equal runs that `plan --runs` takes.
const mostRuns = 1000000

// equalRuns says which epsilon a number of equal runs may have in a ledger.
type equalRuns struct {
	Runs    int     `json:"runs"`
	Epsilon float64 `json:"epsilon"` // the largest, to three digits; 0 if none was found
	Delta   float64 `json:"delta"`   // of each run
}

// equalRuns finds the epsilon of so many runs like this one.
func (a *app) equalRuns(ctx context.Context, j *job, p *pipeline.Pipeline, runs int, b *bill) error {
	switch {
	case runs < 1 || runs > mostRuns:
		return usagef("--runs must be from 1 to %d", mostRuns)
	case b.Ledger == nil:
		return usagef("--runs needs the total of a data set: name it with --dataset, or with ledger in the recipe")
	}
	acc, err := a.accountOf(ctx, j, p)
	if err != nil {
		return err
	}
	e, err := largestEpsilon(ctx, acc, p, runs)
	b.Ledger.Equal = &equalRuns{runs, e, p.Budget.Delta}
	return err
}

func (e *equalRuns) text() string {
	switch {
	case e == nil:
		return ""
	case e.Epsilon == 0:
		return report.Paragraph("Runs", fmt.Sprintf("%s like it do not fit at any epsilon with delta %v; a smaller delta costs less where a step is a black box", plural(e.Runs, "run", "runs"), e.Delta))
	}
	return report.Paragraph("Runs", fmt.Sprintf("%s like it may have epsilon %v each, with delta %v", plural(e.Runs, "run", "runs"), e.Epsilon, e.Delta))
}

// times is the price of equal runs; what does not fit an integer fits no total.
func times(c budget.Charge, runs int) budget.Charge {
	total := budget.Charge{}
	for ; runs > 0; runs >>= 1 {
		if runs&1 == 1 {
			total = total.Plus(c)
		}
		c = c.Plus(c)
	}
	return total
}

// largestEpsilon returns the largest epsilon at which so many equal runs fit, to three
// digits and rounded down: between a thousandth and a thousand times that of the run, 0 if
// there is none. A smaller epsilon never costs more, but some methods have no plan at a
// small one.
func largestEpsilon(ctx context.Context, a *ledger.Account, p *pipeline.Pipeline, runs int) (float64, error) {
	fits := func(epsilon float64) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		q := *p
		q.Budget.Epsilon = epsilon
		plan, err := q.Plan()
		if err != nil {
			return false, nil // no plan at such an epsilon
		}
		c, err := a.Price(plan.Priced)
		return err == nil && a.Fits(times(c, runs)), nil
	}
	lo, hi, err := bracket(p.Budget.Epsilon, fits)
	for err == nil && lo > 0 && hi > lo*1.0015 {
		mid := math.Sqrt(lo * hi)
		var ok bool
		if ok, err = fits(mid); ok {
			lo = mid
		} else {
			hi = mid
		}
	}
	if err != nil || lo == 0 {
		return 0, err
	}
	digit := math.Pow(10, math.Floor(math.Log10(lo))-2)
	return math.Round(math.Floor(lo/digit)*digit*1e9) / 1e9, nil
}

// bracket returns an epsilon that fits and a larger one that does not, by steps away from
// one; lo is 0 if nothing fits, and hi is lo if everything does.
func bracket(epsilon float64, fits func(float64) (bool, error)) (lo, hi float64, err error) {
	parts := []float64{1, 1.5, 2, 3, 5, 10, 30, 100, 300, 1000}
	ok, err := fits(epsilon)
	if err != nil {
		return 0, 0, err
	}
	last := epsilon
	for _, part := range parts[1:] {
		next := epsilon / part
		if ok {
			next = epsilon * part
		}
		now, err := fits(next)
		switch {
		case err != nil:
			return 0, 0, err
		case ok && !now:
			return last, next, nil
		case !ok && now:
			return next, last, nil
		}
		last = next
	}
	if ok {
		return last, last, nil
	}
	return 0, 0, nil
}
