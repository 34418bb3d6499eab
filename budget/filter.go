package budget

import (
	"fmt"
	"math"
)

// Currency is the quantity that a privacy filter adds up across runs.
//
// The data owner chooses the next run after seeing the release of the last one, so parameters of runs are
// fully adaptive. A product of privacy loss distributions does not bound such a sequence. A filter does: it
// fixes a total in advance, admits a run only while the sum stays at or below the total, and the whole
// sequence has the total's guarantee, however runs were chosen.
type Currency uint8

const (
	// ZCDP adds rho of zero-concentrated privacy. If every step is conditionally
	// rho_i-zCDP, where rho_i may depend on all earlier outputs, and the sum of
	// rho_i never exceeds rho, the whole is rho-zCDP (Feldman, Zrnic 2021,
	// "Individual Privacy Accounting via a Rényi Filter", Theorem 4.3 at every
	// order). It is the zero value and the default.
	ZCDP Currency = iota
	// GDP adds mu squared of Gaussian privacy. If every step is conditionally
	// mu_i-GDP and the sum of mu_i^2 never exceeds mu^2, the whole is mu-GDP
	// (Smith, Thakurta 2022, "Fully Adaptive Composition for Gaussian Differential
	// Privacy"; Koskela, Tobaben, Honkela 2023, "Individual Privacy Accounting with
	// Gaussian Differential Privacy"). It is exact for Gaussian laws.
	GDP
)

var currencyNames = [...]string{"zcdp", "gdp"}

// String returns "zcdp" or "gdp".
func (c Currency) String() string {
	if int(c) < len(currencyNames) {
		return currencyNames[c]
	}
	return fmt.Sprintf("currency(%d)", uint8(c))
}

// Symbol returns the symbol of the sum that the currency keeps: "rho" or "mu²".
func (c Currency) Symbol() string {
	if c == GDP {
		return "mu²"
	}
	return "rho"
}

// ParseCurrency reads the names that String writes. The error wraps ErrTarget.
func ParseCurrency(s string) (Currency, error) {
	for i, name := range currencyNames {
		if s == name {
			return Currency(i), nil
		}
	}
	return 0, fmt.Errorf("%w: currency %q: want zcdp or gdp", ErrTarget, s)
}

// The units of a Charge. Sums of whole units are exact, so a sum can neither
// drift nor depend on an order.
const (
	costUnit  = 1.0 / (1 << 40) // of rho or mu²
	deltaUnit = 1.0 / (1 << 53)

	// maxUnits represents every cost that is too large to be admitted. It is also the largest integer that every
	// reader of JSON keeps.
	maxUnits = 1 << 53
)

// Charge is a price in the currency of a filter: Cost in units of 2^-40, and Delta, the probability that black
// boxes spend in addition, in units of 2^-53 (see [Charge.Value]). Prices are rounded up, totals down. Both
// are in [0, 2^53]; 2^53 represents itself and every larger price, and no total admits it.
type Charge struct {
	Cost  int64 `json:"cost"`
	Delta int64 `json:"delta"`
}

// Plus returns the sum of two charges.
func (c Charge) Plus(d Charge) Charge {
	return Charge{min(c.Cost+d.Cost, maxUnits), min(c.Delta+d.Delta, maxUnits)}
}

// Left returns c minus spent in each component, at least 0.
func (c Charge) Left(spent Charge) Charge {
	return Charge{max(0, c.Cost-spent.Cost), max(0, c.Delta-spent.Delta)}
}

// FitsIn reports whether neither component of c exceeds that of limit.
func (c Charge) FitsIn(limit Charge) bool {
	return c.Cost <= limit.Cost && c.Delta <= limit.Delta
}

// Valid reports whether both components are in range.
func (c Charge) Valid() bool {
	return c.Cost >= 0 && c.Cost <= maxUnits && c.Delta >= 0 && c.Delta <= maxUnits
}

// Value returns the charge as real numbers: rho or mu², and delta.
func (c Charge) Value() (cost, delta float64) {
	return float64(c.Cost) * costUnit, float64(c.Delta) * deltaUnit
}

// roundUpCharge returns a price as a Charge, rounded up to whole units.
func roundUpCharge(cost, delta float64) Charge {
	roundUp := func(x, unit float64) int64 {
		x = math.Ceil(x * (1 + numericGuard) / unit)
		if !(x < maxUnits) { // also NaN
			return maxUnits
		}
		return int64(x)
	}
	return Charge{roundUp(cost, costUnit), roundUp(delta, deltaUnit)}
}

// Total is the guarantee of a filter over all runs on one data set.
type Total struct {
	Epsilon float64 // positive and finite
	Delta   float64 // in [MinDelta, 1)
	// BlackBox is the part of Delta, in [0, Delta), that is kept for the deltas of
	// black boxes (Approximate laws); the rest converts the currency. The two
	// parts are fixed in advance, because a filter has a fixed total in each.
	BlackBox float64
	Relation Relation
	Currency Currency
	// Unit names the column that identifies the privacy unit; it is empty if the unit is one record. It needs
	// AddRemove. Runs may keep different numbers of a unit's records: each charges the privacy loss of the whole
	// unit.
	Unit string
}

// Validate returns a *TargetError if a field is out of range.
func (t Total) Validate() error {
	target := Target{
		Epsilon:  t.Epsilon,
		Delta:    t.Delta,
		Relation: t.Relation,
	}
	if err := target.Validate(); err != nil {
		return err
	}
	bad := func(field string, v float64, problem string) error {
		return &TargetError{
			Field:   field,
			Value:   v,
			Problem: problem,
		}
	}
	switch {
	case t.Delta == 0:
		return bad("delta", 0, "a total needs a delta of at least 1e-10")
	case !(t.BlackBox >= 0 && t.BlackBox < t.Delta):
		return bad("black-box delta", t.BlackBox, "must be at least 0 and below delta")
	case t.Delta-t.BlackBox < MinDelta:
		return bad("black-box delta", t.BlackBox, "must leave at least 1e-10 of delta")
	case t.Currency > GDP:
		return bad("currency", float64(t.Currency), "unknown currency")
	case t.Unit != "":
		return Unit{t.Unit, 1}.validate(t.Relation)
	}
	return nil
}

// Limit converts the total to the currency. It is called once, when the data set is registered.
//
// The whole sequence of runs is (Epsilon, Delta)-private if its costs stay within
// the limit. Every (epsilon, delta_i) black box is, for a fixed pair of
// neighbours, a mixture: with probability 1-delta_i an epsilon-private step, with
// probability delta_i anything (Kairouz, Oh, Viswanath 2015). Let w be the
// product of the 1-delta_i along a path of outputs, at least 1 minus their sum, and
// P', Q' the laws of the whole when every step is the private one. Then
// P(S) <= (1 - w) + integral over S of w dP', Q(S) >= integral over S of w dQ', and so
//
//	P(S) - e^epsilon Q(S) <= sum of delta_i + delta'(epsilon)
//
// where delta' is the curve of the filter that admits the private steps: rho-zCDP
// converted by ZCDPEpsilon, or the Gaussian curve. The delta_i may be adaptive as
// long as their sum never exceeds BlackBox; delta'(Epsilon) is kept at most
// Delta - BlackBox.
func (t Total) Limit() (Charge, error) {
	if err := t.Validate(); err != nil {
		return Charge{}, err
	}
	rest := t.Delta - t.BlackBox
	var cost float64
	switch t.Currency {
	case GDP:
		mu := GaussianMu(t.Epsilon, rest)
		cost = mu * mu
	default:
		cost = zcdpRho(t.Epsilon, rest)
	}
	cost = math.Floor(cost * (1 - numericGuard) / costUnit)
	switch {
	case cost < 1:
		return Charge{}, &TargetError{
			Field:   "epsilon",
			Value:   t.Epsilon,
			Problem: "too small for a total",
		}
	case cost >= maxUnits:
		return Charge{}, &TargetError{
			Field:   "epsilon",
			Value:   t.Epsilon,
			Problem: "too large for a total: it would guarantee nothing",
		}
	}
	return Charge{int64(cost), int64(t.BlackBox / deltaUnit)}, nil
}

// zcdpRho returns the largest rho with ZCDPEpsilon(rho, delta) <= epsilon, rounded
// down.
func zcdpRho(epsilon, delta float64) float64 {
	holds := func(rho float64) bool {
		return ZCDPEpsilon(rho, delta) <= epsilon
	}
	hi := 1.0
	for holds(hi) {
		hi *= 2
	}
	lo, _ := bisect(0, hi, 1e-14, holds)
	return lo
}

// EpsilonOf returns the epsilon at t.Delta of a filter whose total is exactly spent: the guarantee of the runs
// if they had all been fixed in advance. The guarantee for runs that were chosen adaptively is t itself.
func (t Total) EpsilonOf(spent Charge) float64 {
	cost, _ := spent.Value()
	if spent.Cost == 0 {
		return 0
	}
	if t.Currency == GDP {
		return GaussianEpsilon(math.Sqrt(cost), t.Delta-t.BlackBox)
	}
	return ZCDPEpsilon(cost, t.Delta-t.BlackBox)
}
