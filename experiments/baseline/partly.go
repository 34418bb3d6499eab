package baseline

import (
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

var (
	// ErrColumns is returned for columns without a private feature, or whose last column is not a public target of
	// two classes.
	ErrColumns = errors.New(
		"there must be a private feature, and then a public target of two classes")
	// ErrSetting is returned if the number of buckets, queries or rounds is out of range.
	ErrSetting = errors.New("a setting is out of range")
)

// splitFeatures lists the private and the public features.
func splitFeatures(columns []dataset.Column) (private, public []int) {
	for j, c := range columns[:len(columns)-1] {
		if c.Private {
			private = append(private, j)
		} else {
			public = append(public, j)
		}
	}
	return private, public
}

// check validates the columns of a partly private classifier.
func check(columns []dataset.Column) error {
	last := len(columns) - 1
	if last < 1 || columns[last].Kind != dataset.Category || len(columns[last].Categories) != 2 ||
		columns[last].Private {
		return ErrColumns
	}
	if private, _ := splitFeatures(columns); len(private) == 0 {
		return ErrColumns
	}
	return nil
}

// checkRelation refuses a session whose relation is not the one that the bounds of this package hold for.
func checkRelation(s *mechanism.Session) error {
	if r := s.Relation(); r != budget.SubstitutePrivateColumns {
		return fmt.Errorf("%w: baselines protect private columns (%v), the run has %v",
			mechanism.ErrRelation, budget.SubstitutePrivateColumns, r)
	}
	return nil
}

// elementsAt returns the elements of a list at the given positions.
func elementsAt[T any](list []T, at []int) []T {
	out := make([]T, len(at))
	for k, j := range at {
		out[k] = list[j]
	}
	return out
}
