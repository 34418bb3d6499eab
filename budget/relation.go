package budget

import (
	"fmt"
	"math"
)

// Relation defines which pairs of tables are neighbours. A run has exactly one.
type Relation uint8

const (
	// AddRemove: one record is added or removed; the number of records is
	// private. It is the zero value and the default.
	AddRemove Relation = iota
	// Substitute: one record is replaced; the number of records is public.
	Substitute
	// SubstitutePrivateColumns: the declared private columns of one record are
	// replaced; everything else, including the number of records, is public. It
	// is implied by Substitute and implies neither of the others.
	SubstitutePrivateColumns
)

var relationNames = [...]string{"add-remove", "substitute", "substitute-private-columns"}

// String returns the name used in recipes: "add-remove", "substitute" or
// "substitute-private-columns".
func (r Relation) String() string {
	if int(r) < len(relationNames) {
		return relationNames[r]
	}
	return fmt.Sprintf("relation(%d)", uint8(r))
}

// ParseRelation reads the names that String writes. The error wraps ErrTarget.
func ParseRelation(s string) (Relation, error) {
	for i, name := range relationNames {
		if s == name {
			return Relation(i), nil
		}
	}
	return 0,
		fmt.Errorf("%w: relation %q: want add-remove, substitute or substitute-private-columns",
			ErrTarget, s)
}

// convertToSubstitute turns an (epsilon, delta) guarantee under from into one
// under Substitute: replacing a record is removing one and adding another, so
// add-remove becomes (2 epsilon, (1+e^epsilon) delta). Recomputing the
// sensitivity under Substitute is usually better. A guarantee under
// SubstitutePrivateColumns has no conversion (ErrNoConversion).
func convertToSubstitute(
	from Relation,
	epsilon, delta float64,
) (float64, float64, error) {
	switch from {
	case Substitute:
		return epsilon, delta, nil
	case AddRemove:
		if delta == 0 {
			return 2 * epsilon, 0, nil
		}
		return 2 * epsilon, math.Min(1, (1+math.Exp(epsilon))*delta), nil
	}
	return math.Inf(1), 1, &conversionError{
		From: from,
		To:   Substitute,
	}
}

// convertMuToSubstitute is convertToSubstitute for Gaussian privacy: mu becomes
// 2 mu (Dong, Roth, Su 2022, group privacy).
func convertMuToSubstitute(from Relation, mu float64) (float64, error) {
	return scaleToSubstitute(from, mu, 2)
}

// convertRhoToSubstitute is convertToSubstitute for zero-concentrated privacy:
// rho becomes 4 rho (Bun, Steinke 2016, Proposition 1.9).
func convertRhoToSubstitute(from Relation, rho float64) (float64, error) {
	return scaleToSubstitute(from, rho, 4)
}

func scaleToSubstitute(from Relation, value, factor float64) (float64, error) {
	switch from {
	case Substitute:
		return value, nil
	case AddRemove:
		return factor * value, nil
	}
	return math.Inf(1), &conversionError{
		From: from,
		To:   Substitute,
	}
}

// ConvertToAddRemove returns its arguments when from is AddRemove and ErrNoConversion otherwise: a mechanism
// that publishes the exact number of records can be perfectly private under substitution, so a guarantee with
// a public number of records does not bound the effect of an added record.
func ConvertToAddRemove(
	from Relation,
	epsilon, delta float64,
) (float64, float64, error) {
	if from == AddRemove {
		return epsilon, delta, nil
	}
	return math.Inf(1), 1, &conversionError{
		From: from,
		To:   AddRemove,
	}
}
