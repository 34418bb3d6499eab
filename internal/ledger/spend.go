package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
)

// A Spend is a release of another tool about a data set, described by its guarantee: exactly one of Rho, Mu and
// Epsilon is above 0. The guarantee must hold for the relation and the privacy unit of the data set, which the ledger
// cannot check.
type Spend struct {
	Dataset string  `json:"dataset"`
	Rho     float64 `json:"rho,omitempty"`     // rho-zCDP
	Mu      float64 `json:"mu,omitempty"`      // mu-GDP
	Epsilon float64 `json:"epsilon,omitempty"` // (Epsilon, Delta)
	Delta   float64 `json:"delta,omitempty"`   // with Epsilon; 0 for a pure guarantee
	// Note describes the release; it may be empty.
	Note   string        `json:"note,omitempty"`
	Charge budget.Charge `json:"charge"`
}

// SpendState is one spend of an account.
type SpendState struct {
	*Spend
	Sequence int64
	Date     string
}

// ErrRho is returned for rho if the currency of the data set is gdp: a rho-zCDP guarantee is not bounded by a Gaussian
// curve of any mu.
var ErrRho = errors.New("rho cannot be converted to this currency")

// mostSpend is the largest rho, mu or epsilon of a spend. It is far beyond any total, and its square is finite.
const mostSpend = 1e100

// checkGuarantee validates the guarantee. The error wraps ErrInvalid.
func (x *Spend) checkGuarantee() error {
	given := 0
	for _, v := range []float64{x.Rho, x.Mu, x.Epsilon} {
		if v != 0 {
			given++
		}
		if !(v >= 0 && v <= mostSpend) {
			return fmt.Errorf(
				"%w: a spend must be a number above 0 and at most %v, not %v",
				ErrInvalid,
				mostSpend,
				v,
			)
		}
	}
	switch {
	case given != 1:
		return fmt.Errorf("%w: a spend must have exactly one of rho, mu and epsilon", ErrInvalid)
	case x.Epsilon == 0 && x.Delta != 0:
		return fmt.Errorf("%w: delta needs epsilon", ErrInvalid)
	case !(x.Delta >= 0 && x.Delta < 1):
		return fmt.Errorf(
			"%w: delta must be at least 0 and below 1, not %v",
			ErrInvalid,
			x.Delta,
		)
	}
	return checkNote(x.Note)
}

// Price returns the cost of a spend in a currency: rho for rho-zCDP; mu²/2 of rho, or mu², for mu-GDP; and the price
// of a black box for (epsilon, delta). The error wraps ErrRho or ErrInvalid.
//
// A filter admits any sequence of steps whose costs stay within its total, whichever tool runs them
// (budget.Total.Limit); a mu-GDP step is (mu²/2)-zCDP (Dong, Roth, Su 2022, Corollary B.6).
func (x *Spend) Price(c budget.Currency) (budget.Charge, error) {
	if err := x.checkGuarantee(); err != nil {
		return budget.Charge{}, err
	}
	switch {
	case x.Rho > 0 && c == budget.GDP:
		return budget.Charge{}, ErrRho
	case x.Rho > 0: // a Gaussian step of that rho
		return budget.ChargeLaws(
			budget.FixedLeaf("spend",
				budget.Law{
					Kind:  budget.Gaussian,
					Mu:    math.Sqrt(2 * x.Rho),
					Draws: 1,
				}), c)
	case x.Mu > 0:
		return budget.ChargeLaws(
			budget.FixedLeaf("spend", budget.Law{
				Kind:  budget.Gaussian,
				Mu:    x.Mu,
				Draws: 1,
			}), c)
	}
	return budget.BlackBoxCharge(c, x.Epsilon, x.Delta), nil
}

// Spend enters a release of another tool, ideally before it is made: a spend that would cross the total is refused
// with a [*SpentError]. The fields of x except Charge describe it. The error wraps ErrUnknown, ErrRho or ErrInvalid.
func (l *Ledger) Spend(
	ctx context.Context,
	x Spend,
) (Head, budget.Charge, error) {
	head, err := l.appendNext(ctx, pathsFor(0, "", ""), l.options.Wait,
		func(b *Book) (*Entry, error) {
			a, err := b.Account(x.Dataset)
			if err != nil {
				return nil, err
			}
			if x.Charge, err = x.Price(a.Promise.Currency); err != nil {
				return nil, err
			}
			if err := a.Refuse(x.Charge); err != nil {
				return nil, err
			}
			return &Entry{
				Kind:  KindSpend,
				Date:  timestamp(),
				Spend: &x,
			}, nil
		})
	return head, x.Charge, err
}

// applySpend checks a spend and adds its charge to the data set.
func (b *Book) applySpend(e *Entry) error {
	x := e.Spend
	a, err := b.Account(x.Dataset)
	if err != nil {
		return err
	}
	if err := x.checkGuarantee(); err != nil {
		return err
	}
	if !x.Charge.Valid() || x.Charge.Cost == 0 && x.Charge.Delta == 0 {
		return errors.New("it costs nothing")
	}
	if err := a.Refuse(x.Charge); err != nil {
		return err
	}
	a.Committed = a.Committed.Plus(x.Charge)
	a.Spends = append(a.Spends, SpendState{x, e.Sequence, e.Date})
	return nil
}
