package entry

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/sys/fault"
)

// Hint adds a hint to a refusal of the ledger at path; nil stays nil. If run r would cross the total, the hint
// contains the largest epsilon that fits.
func Hint(ctx context.Context, err error, path string, r Run) error {
	switch {
	case errors.Is(err, ledger.ErrSpent):
		return fitting(ctx, err, r)
	case errors.Is(err, ledger.ErrUnknown), errors.Is(err, ledger.ErrUnreadable):
		return fmt.Errorf(
			"%w; register it with `dptrain ledger init %s --dataset NAME --epsilon TOTAL`", err,
			path)
	case errors.Is(err, ledger.ErrRelation):
		return fmt.Errorf("%w; change privacy.relation", err)
	case errors.Is(err, ledger.ErrPublic):
		return fmt.Errorf(
			"%w; mark it with private: true in data.columns, or list it in data.exclude", err)
	case errors.Is(err, ledger.ErrRecords):
		return fmt.Errorf(
			"%w; use the same data.multiline_quotes, or register the data set under another name",
			err)
	case errors.Is(err, ledger.ErrUnit):
		return fmt.Errorf(
			"%w; change privacy.unit, or register the data set for that unit under another name",
			err)
	}
	return err
}

// fitting adds to the refusal of a run that would cross the total the largest epsilon that would be admitted, with
// the same delta.
func fitting(ctx context.Context, refusal error, r Run) error {
	var spent *ledger.SpentError
	if !errors.As(refusal, &spent) {
		return refusal
	}
	a := &ledger.Account{
		Dataset:   ledger.Dataset{Limit: spent.Limit},
		Promise:   spent.Total,
		Committed: spent.Spent,
	}
	e, err := LargestEpsilon(ctx, a, r, 1)
	delta := smallerDelta(spent, r.Budget.Delta)
	switch {
	case err != nil:
		return err
	case e == 0 && delta > 0:
		return fmt.Errorf(
			"%w; with delta %s no epsilon fits, but with a delta of at most %s one may fit", refusal,
			fault.Readable(r.Budget.Delta), fault.Readable(delta))
	case e == 0:
		return fmt.Errorf("%w; with delta %s no epsilon fits any more", refusal,
			fault.Readable(r.Budget.Delta))
	}
	return fmt.Errorf("%w; with delta %s the largest epsilon that fits is %v", refusal,
		fault.Readable(r.Budget.Delta), e)
}

// smallerDelta returns the delta, instead of the given one, at which the black boxes of a refused run would fit, to
// two digits and rounded down. It returns 0 if they are not the reason for the refusal, or if no valid delta is small
// enough.
func smallerDelta(spent *ledger.SpentError, delta float64) float64 {
	_, cost := spent.Charge.Value()
	_, left := spent.Limit.Left(spent.Spent).Value()
	if cost <= left {
		return 0
	}
	delta *= left / cost
	if delta < budget.MinDelta {
		return 0
	}
	digit := math.Pow(10, math.Floor(math.Log10(delta))-1)
	rounded, err := strconv.ParseFloat(
		strconv.FormatFloat(math.Floor(delta/digit)*digit, 'g', 2, 64), 64)
	if err != nil || rounded > delta {
		return 0
	}
	return rounded
}

// times is the price of equal runs; a price that overflows an integer exceeds any total.
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

// LargestEpsilon returns the largest epsilon at which the given number of equal runs fit, to three digits and rounded
// down: between a thousandth and a thousand times that of the run, or 0 if there is no such epsilon. A smaller
// epsilon never costs more, but some methods have no plan at a small one.
func LargestEpsilon(
	ctx context.Context,
	a *ledger.Account,
	r Run,
	runs int,
) (float64, error) {
	fits := func(epsilon float64) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		plan, err := r.Price(epsilon)
		if err != nil {
			return false, nil // no plan at such an epsilon
		}
		c, err := a.Price(plan)
		return err == nil && a.Fits(times(c, runs)), nil
	}
	lo, hi, err := bracket(r.Budget.Epsilon, fits)
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

// bracket returns an epsilon that fits and a larger one that does not, searching in steps from the given one; lo is 0
// if no epsilon fits, and hi is lo if every epsilon does.
func bracket(
	epsilon float64,
	fits func(float64) (bool, error),
) (lo, hi float64, err error) {
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
