package ledger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
)

// An Account is one data set with what was spent on it.
type Account struct {
	Dataset
	Promise budget.Total
	// Reserved is the sum over runs that have not committed, Committed over those
	// that have. Both are spent.
	Reserved, Committed budget.Charge
	// Records is how the first run that said so takes records from the table; all
	// after it do the same.
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
	// Stopped is what the run cost if it stopped after the first step of its plan, in place of its charge; nil for any
	// other.
	Stopped *budget.Charge
}

// Cost returns what the run counts with: its charge, or less if it stopped.
func (r RunState) Cost() budget.Charge {
	if r.Stopped != nil {
		return *r.Stopped
	}
	return r.Charge
}

// Spent returns what is spent: reserved and committed.
func (a *Account) Spent() budget.Charge { return a.Reserved.Plus(a.Committed) }

// Left returns what may still be spent.
func (a *Account) Left() budget.Charge { return a.Limit.Left(a.Spent()) }

// Fits reports whether a run of this price would stay within the total.
func (a *Account) Fits(c budget.Charge) bool { return a.Spent().Plus(c).Within(a.Limit) }

// Refuse returns the *SpentError of a run that does not fit, or nil.
func (a *Account) Refuse(c budget.Charge) error {
	if a.Fits(c) {
		return nil
	}
	return &SpentError{Dataset: a.Name, Total: a.Promise, Limit: a.Limit, Spent: a.Spent(), Charge: c}
}

// Price returns what a plan costs in the currency of the account. The error wraps
// ErrRelation or ErrUnit if the plan's relation or privacy unit is not the account's.
func (a *Account) Price(p *budget.Priced) (budget.Charge, error) {
	price, _, err := a.price(p)
	return price, err
}

// price returns the price with the mu of the Gaussian law that covers the plan, 0 where it
// is the sum of the steps.
func (a *Account) price(p *budget.Priced) (price budget.Charge, mu float64, err error) {
	if p.Target().Relation != a.Promise.Relation {
		return price, 0, fmt.Errorf("%w: the run has %v, data set %q has %v; a sum over both means nothing",
			ErrRelation, p.Target().Relation, a.Name, a.Promise.Relation)
	}
	if unit := p.Target().Unit.Column; unit != a.Promise.Unit {
		return price, 0, fmt.Errorf("%w: the run protects %s, data set %q %s; a sum over both means nothing",
			ErrUnit, protects(unit), a.Name, protects(a.Promise.Unit))
	}
	price, mu = p.ChargeWithin(a.Promise)
	return price, mu, nil
}

// CheckPublic refuses a run that uses as public what the data set protects. The
// error wraps ErrPublic.
//
// The relation substitute-private-columns is one relation for each list of
// columns. A run protects its own list R, or all but what it reads and does not
// protect. Tables that differ in the columns P of one record, P within R, are
// neighbours for the run too; so the sum over runs is a promise about P if, and
// in general only if, no run uses a column of P as public.
func (a *Account) CheckPublic(public []string) error {
	if (a.Promise.Relation == budget.SubstitutePrivateColumns) != (len(public) > 0) {
		return fmt.Errorf("%w: a run has public columns under %v, the target at least, and under no other relation", ErrInvalid, budget.SubstitutePrivateColumns)
	}
	for _, name := range public {
		if slices.Contains(a.Private, name) {
			return fmt.Errorf("%w: data set %q protects column %q", ErrPublic, a.Name, name)
		}
	}
	return nil
}

// CheckRecords refuses a run that takes other records from the table than an
// earlier one: it would have other neighbouring tables, as a record of three lines
// is three records to a run that reads line by line. The error wraps ErrRecords, or
// ErrInvalid for a way that is none.
func (a *Account) CheckRecords(r Records) error {
	switch {
	case r != RecordsUnstated && r != RecordsLines && r != RecordsQuoted:
		return fmt.Errorf("%w: %.40q is no way of reading records", ErrInvalid, string(r))
	case r == RecordsUnstated || a.Records == RecordsUnstated || r == a.Records:
		return nil
	}
	return fmt.Errorf("%w: %s, in earlier runs on data set %q %s", ErrRecords, r.does(), a.Name, a.Records.does())
}

// does says what a run does with a quoted field.
func (r Records) does() string {
	if r == RecordsQuoted {
		return "a quoted field may hold newlines"
	}
	return "every line is a record"
}

// checkPrivate refuses a list of protected columns that does not suit a relation.
func checkPrivate(r budget.Relation, private []string) error {
	switch {
	case r != budget.SubstitutePrivateColumns && len(private) > 0:
		return fmt.Errorf("%w: under %v every column is protected; list none", ErrInvalid, r)
	case r == budget.SubstitutePrivateColumns && len(private) == 0:
		return fmt.Errorf("%w: under %v the columns that are protected must be listed", ErrInvalid, r)
	}
	return nil
}

// valid makes names ones that JSON holds.
func valid(names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, strings.ToValidUTF8(name, "\uFFFD"))
	}
	return out
}

// protects names a privacy unit.
func protects(unit string) string {
	if unit == "" {
		return "single records"
	}
	return fmt.Sprintf("the units of column %.220q", unit)
}
