package ledger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
)

// An Account is one registered data set with its spending.
type Account struct {
	Dataset
	Promise budget.Total
	// Reserved is the sum over runs that have not committed, Committed the sum over those that have. Both count as
	// spent.
	Reserved, Committed budget.Charge
	// Records is the record rule of the first run that stated one. All later runs must use the same.
	Records Records
	Runs    []RunState
	Spends  []SpendState
	Notes   []NoteState
}

// RunState is one run of an account.
type RunState struct {
	*Run
	Sequence  int64 // of the reservation
	Date      string
	Committed bool
	Release   string // the checksum of the release that ended it; empty before version 4
	// Stopped is the cost of a run that stopped after the first step of its plan, in place of its charge. It is nil
	// for any other run.
	Stopped *budget.Charge
}

// Cost returns the amount that the run adds to the sums: its charge, or less if it stopped.
func (r RunState) Cost() budget.Charge {
	if r.Stopped != nil {
		return *r.Stopped
	}
	return r.Charge
}

// Spent returns the sum of reserved and committed charges.
func (a *Account) Spent() budget.Charge {
	return a.Reserved.Plus(a.Committed)
}

// Left returns the remaining budget.
func (a *Account) Left() budget.Charge {
	return a.Limit.Left(a.Spent())
}

// Fits reports whether a run of price c would stay within the total.
func (a *Account) Fits(c budget.Charge) bool {
	return a.Spent().Plus(c).FitsIn(a.Limit)
}

// Refuse returns a *SpentError if a run of price c does not fit, and nil otherwise.
func (a *Account) Refuse(c budget.Charge) error {
	if a.Fits(c) {
		return nil
	}
	return &SpentError{
		Dataset: a.Name,
		Total:   a.Promise,
		Limit:   a.Limit,
		Spent:   a.Spent(),
		Charge:  c,
	}
}

// Price returns the price of a plan in the currency of the account. The error wraps ErrRelation or ErrUnit if the
// plan's relation or privacy unit differs from the account's.
func (a *Account) Price(p *budget.Priced) (budget.Charge, error) {
	price, _, err := a.pricePlan(p)
	return price, err
}

// pricePlan returns the price and the mu of the Gaussian distribution that covers the plan. mu is 0 if the price is the
// sum of the steps.
func (a *Account) pricePlan(p *budget.Priced) (price budget.Charge, mu float64, err error) {
	if p.Target().Relation != a.Promise.Relation {
		return price, 0,
			fmt.Errorf("%w: the run uses %v but data set %q uses %v, and their budgets cannot be added",
				ErrRelation, p.Target().Relation, a.Name, a.Promise.Relation)
	}
	if unit := p.Target().Unit.Column; unit != a.Promise.Unit {
		return price, 0,
			fmt.Errorf("%w: the run protects %s but data set %q protects %s, and their budgets cannot be added",
				ErrUnit, describeUnit(unit), a.Name, describeUnit(a.Promise.Unit))
	}
	price, mu = p.ChargeWithin(a.Promise)
	return price, mu, nil
}

// CheckPublic refuses a run that treats a protected column of the data set as public. The error wraps ErrPublic.
//
// The relation substitute-private-columns is one relation for each list of columns. A run protects its own list R: all
// columns except those it reads as public. Tables that differ in the columns P of one record, with P within R, are
// neighbours for the run too; so the sum over runs is a promise about P if, and in general only if, no run uses a
// column of P as public.
func (a *Account) CheckPublic(public []string) error {
	if (a.Promise.Relation == budget.SubstitutePrivateColumns) != (len(public) > 0) {
		return fmt.Errorf(
			"%w: public columns are required with the relation %v and not allowed with others",
			ErrInvalid, budget.SubstitutePrivateColumns)
	}
	for _, name := range public {
		if slices.Contains(a.Private, name) {
			return fmt.Errorf(
				"%w: data set %q protects column %q",
				ErrPublic,
				a.Name,
				name,
			)
		}
	}
	return nil
}

// CheckRecords refuses a run that splits the table into other records than an earlier run: it would have other
// neighbouring tables, as a record of three lines is three records to a run that reads line by line. The error wraps
// ErrRecords, or ErrInvalid for an unknown rule.
func (a *Account) CheckRecords(r Records) error {
	switch {
	case r != RecordsUnstated && r != RecordsLines && r != RecordsQuoted:
		return fmt.Errorf("%w: unknown record format %.40q", ErrInvalid, string(r))
	case r == RecordsUnstated || a.Records == RecordsUnstated || r == a.Records:
		return nil
	}
	return fmt.Errorf("%w: %s in this run, but %s in earlier runs on data set %q", ErrRecords,
		r.describeQuoting(), a.Records.describeQuoting(), a.Name)
}

// describeQuoting describes how a run treats a quoted field.
func (r Records) describeQuoting() string {
	if r == RecordsQuoted {
		return "quoted cells may contain line breaks"
	}
	return "every line is a record"
}

// checkPrivate refuses a list of protected columns that is inconsistent with the relation.
func checkPrivate(r budget.Relation, private []string) error {
	switch {
	case r != budget.SubstitutePrivateColumns && len(private) > 0:
		return fmt.Errorf(
			"%w: with the relation %v every column is protected, so list none",
			ErrInvalid,
			r,
		)
	case r == budget.SubstitutePrivateColumns && len(private) == 0:
		return fmt.Errorf("%w: with the relation %v the protected columns must be listed", ErrInvalid,
			r)
	}
	return nil
}

// validNames replaces invalid UTF-8 in names, so that JSON can represent them.
func validNames(names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, strings.ToValidUTF8(name, "\uFFFD"))
	}
	return out
}

// describeUnit names a privacy unit for a message.
func describeUnit(unit string) string {
	if unit == "" {
		return "single records"
	}
	return fmt.Sprintf("the units of column %.220q", unit)
}
