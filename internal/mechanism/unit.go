package mechanism

import (
	"fmt"
	"math"
)

// unitRecords returns m, the largest number of records of a privacy unit in the capped table. It is
// a public fact, and 1 if the record is the unit.
func (s *Session) unitRecords() int {
	return s.core.priced.Target().Unit.Records()
}

// perUnit converts the bound for a record into the bound for a privacy unit. Every release calls
// it, and no other function makes this conversion. It returns x with the sensitivity between
// tables that differ by a whole unit of at most m records, or [ErrNorm] if the sensitivity is not
// in the norm kind.
//
// Let T and T' be capped tables, T' with one unit less than T, and let r_1, ..., r_k, k <= m, be
// the records of that unit in T. The other units keep the same records in both tables (see
// [Lots]), so T' = T without r_1..r_k. In the chain T = T_0, T_1, ..., T_k = T', where T_i is
// T_(i-1) without r_i, consecutive tables differ by one record. The coins, the lots and all
// earlier releases are fixed, so a statistic f is the same function of all these tables, and its
// bound for one record, which holds for any table, holds at every step:
//
//   - L1, L2 and Absolute: |f(T) - f(T')| <= sum |f(T_(i-1)) - f(T_i)| <= m sens, by the
//     triangle inequality. A sum attains it for a unit of equal records.
//   - Width: if an added record moves every score by an amount in [a, b], then k records move it
//     by an amount in [k a, k b], of width k (b - a) <= m sens.
//
// A bound with [OfUnit] is about buckets. A unit is in one bucket as a whole, so the bound holds
// for units as well. The noise grows with the sensitivity, while the noise distribution of the
// plan, relative to the sensitivity, stays the same, so the accountant adds up the privacy loss of
// a unit.
func perUnit[T any](
	s *Session,
	name string,
	x Bounded[T],
	kind Norm,
) (Bounded[T], error) {
	if x.norm&^OfUnit != kind {
		return x, fmt.Errorf("%w: %q needs %s", ErrNorm, s.childPath(name), kind)
	}
	if m := s.unitRecords(); m > 1 && x.norm&OfUnit == 0 {
		x.sens = timesUp(float64(m), x.sens)
		x.norm |= OfUnit
	}
	return x, nil
}

// timesUp returns a b, rounded up if it is not exact.
func timesUp(a, b float64) float64 {
	c := a * b
	if math.FMA(a, b, -c) > 0 { // the exact product exceeds c
		c = math.Nextafter(c, math.Inf(1))
	}
	return c
}

// String describes the sensitivity.
func (n Norm) String() string {
	switch n &^ OfUnit {
	case L2:
		return "an L2 sensitivity"
	case L1:
		return "an L1 sensitivity"
	case Absolute:
		return "an absolute sensitivity"
	case Width:
		return "the width of the scores' change"
	case Replaced:
		return "a number of points"
	}
	return fmt.Sprintf("norm(%d)", uint8(n))
}
