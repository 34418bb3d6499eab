package main

import (
	"context"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/publish/entry"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/sys/fault"
)

// openLedger returns the ledger at path, which prints a message while it waits for a lock.
func (a *app) openLedger(path string) *ledger.Ledger {
	return ledger.New(path, ledger.Options{
		Wait: a.ledgerWait,
		Waiting: func() {
			fmt.Fprintf(
				a.stderr,
				"dptrain: waiting for %s, which another process is using\n",
				path,
			)
		},
	})
}

// checkReplaced returns an error if the run would replace a release that is missing from its ledger; see
// [entry.CheckReplaced].
func (a *app) checkReplaced(ctx context.Context, j *job, force bool) error {
	if !force {
		return nil // there is no release to replace
	}
	var l *ledger.Ledger
	if j.ledger != "" {
		l = a.openLedger(j.ledger)
	}
	return entry.CheckReplaced(ctx, l, j.recipe.Output.Dir, ledger.Head{})
}

// reserve enters the price of a run, or refuses it. No row was read so far.
func (a *app) reserve(
	ctx context.Context,
	j *job,
	r entry.Run,
) (*entry.Entry, error) {
	if j.ledger == "" {
		return nil, nil
	}
	return entry.Reserve(ctx, entry.Request{
		Ledger:  a.openLedger(j.ledger),
		Dataset: j.recipe.Ledger.Dataset,
		Note:    j.note,
		Table:   j.ledgerPath(),
		Format:  j.recipe.Data.Reading().Format,
		Header:  j.header,
		Run:     r,
	})
}

// billLedger describes the effect of a run on its ledger.
type billLedger struct {
	Dataset  string  `json:"dataset"`
	Currency string  `json:"currency"`
	Epsilon  float64 `json:"epsilon"` // total
	Delta    float64 `json:"delta"`
	Limit    amount  `json:"limit"`
	Spent    amount  `json:"spent"`
	Cost     amount  `json:"cost"` // of this run
	Fits     bool    `json:"fits"`
	// Remains is the budget left after the run, and Runs the number of further equal runs that fit into it. If the
	// run does not fit, Remains is the budget left now and Runs is 0.
	Remains amount `json:"remains"`
	Runs    int64  `json:"runs"`
	// Equal is the epsilon for a number of equal runs; absent unless requested.
	Equal *equalRuns `json:"equal_runs,omitempty"`
	// Absent lists protected columns that are missing from the table.
	Absent []string `json:"absent,omitempty"`
	symbol string
}

// amount is a charge as real numbers: rho or mu², and the delta of black boxes.
type amount struct {
	Cost  float64 `json:"cost"`
	Delta float64 `json:"delta"`
}

func amountOf(c budget.Charge) amount {
	cost, delta := c.Value()
	return amount{cost, delta}
}

// accountOf reads the account of the run's data set from its ledger.
func (a *app) accountOf(
	ctx context.Context,
	j *job,
	r entry.Run,
) (*ledger.Account, error) {
	acc, err := a.openLedger(j.ledger).Account(ctx, j.recipe.Ledger.Dataset)
	if err != nil {
		return nil, entry.Hint(ctx, err, j.ledger, r)
	}
	return acc, nil
}

// entryOf fills in the effect of the run on its ledger, if it has one. It does not write to the ledger. refused is
// the error that the run would return.
func (a *app) entryOf(
	ctx context.Context,
	j *job,
	r entry.Run,
	b *bill,
) (refused, err error) {
	if j.ledger == "" {
		return nil, nil
	}
	acc, err := a.accountOf(ctx, j, r)
	if err != nil {
		return nil, err
	}
	cost, err := acc.Price(r.Priced)
	if err == nil {
		err = acc.CheckPublic(r.Public)
	}
	if err == nil {
		err = acc.CheckRecords(entry.Records(j.ledgerPath(), j.recipe.Data.Reading().Format))
	}
	if err != nil {
		return nil, entry.Hint(ctx, ledger.InFile(j.ledger, err), j.ledger, r)
	}
	l := &billLedger{
		Dataset:  acc.Name,
		Currency: acc.Currency,
		Epsilon:  acc.Epsilon,
		Delta:    acc.Delta,
		symbol:   acc.Promise.Currency.Symbol(),
		Limit:    amountOf(acc.Limit),
		Spent:    amountOf(acc.Spent()),
		Cost:     amountOf(cost),
		Fits:     acc.Fits(cost),
		Remains:  amountOf(acc.Left()),
	}
	if l.Absent, err = entry.Absent(acc, j.ledger, j.header, r.Public); err != nil {
		return nil, err
	}
	b.Ledger = l
	if err := acc.Refuse(cost); err != nil {
		return entry.Hint(ctx, err, j.ledger, r), nil
	}
	left := acc.Limit.Left(acc.Spent().Plus(cost))
	l.Remains, l.Runs = amountOf(left), moreRuns(left, cost)
	return nil, nil
}

// moreRuns returns how many runs at this cost fit into the remaining budget.
func moreRuns(left, cost budget.Charge) int64 {
	n := int64(math.MaxInt64)
	if cost.Cost > 0 {
		n = left.Cost / cost.Cost
	}
	if cost.Delta > 0 {
		n = min(n, left.Delta/cost.Delta)
	}
	return n
}

func (l *billLedger) text() string {
	if l == nil {
		return ""
	}
	show := func(x amount) string {
		s := l.symbol + " " + digits(x.Cost)
		if l.Cost.Delta > 0 {
			s += " and delta " + digits(x.Delta)
		}
		return s
	}
	s := fmt.Sprintf(
		"data set %s, total epsilon %v, delta %s (%s). Spent so far: %s. This run needs %s",
		l.Dataset, l.Epsilon, fault.Readable(l.Delta), show(l.Limit), show(l.Spent), show(l.Cost))
	warning := l.Equal.text()
	if len(l.Absent) > 0 {
		warning += report.Paragraph("Warning", entry.AbsentText(l.Dataset, l.Absent))
	}
	if !l.Fits {
		return report.Paragraph("Ledger", s+", which exceeds the total, so it would be refused") + warning
	}
	return report.Paragraph("Ledger",
		fmt.Sprintf("%s. Left afterwards: %s, enough for %d more", s, show(l.Remains), l.Runs)) +
		warning
}
