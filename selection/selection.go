// Package selection chooses the features a model is trained on.
//
// A [Selector] is planned from public facts and then run on the records; what
// it returns is public. [None] keeps every candidate and [Fixed] the ones a
// recipe lists; both release nothing and cost nothing. The candidates are the
// columns as the recipe names them: a category column is one.
//
// Records without a target that can be read are the caller's to leave out
// ([dataset.View.Known]): of those that a selector is handed it takes every target for one.
package selection

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// ErrFeature is returned at plan time for a listed feature that is not a
// candidate or is listed twice.
var ErrFeature = errors.New("not a candidate feature")

// Facts are the public facts a selector is planned from.
type Facts struct {
	Columns  []dataset.Column // candidate features, in table order
	Target   dataset.Column
	Relation budget.Relation
	// AtLeast is a released lower bound of the number of training records, or their
	// number where it is public. It is 0 at plan time, and for a selector that
	// does not ask for it; see [Counter].
	AtLeast int
	// Ranges are the public ranges of the columns and, last, the target. They
	// are nil at plan time, and for a selector that does not ask for them; see
	// [Scaler].
	Ranges []scaling.Range
}

// A Counter is a selector that wants to know about how many records there are.
type Counter interface {
	Selector
	NeedsCount() bool
}

// A Scaler is a selector that works on scaled columns: the ranges of all
// candidates and the target are found first, and it is handed them.
type Scaler interface {
	Selector
	NeedsRanges(Facts) bool
}

// A Classed selector reads the classes of a classification. Its facts and its
// view have the target as a category column, whose categories are the classes;
// a code outside them is in no class. Other selectors are told two classes as a
// number, -1 and +1.
type Classed interface {
	Selector
	NeedsClasses() bool
}

// A Gatherer is a selector that may need all records in one place.
type Gatherer interface {
	Selector
	Gathers(Facts) bool
}

// A Selector chooses features.
type Selector interface {
	// Name is the method's name in a recipe.
	Name() string
	// Plan returns the node that the choice spends, or false when it releases
	// nothing.
	Plan(Facts) (node budget.Node, private bool, err error)
	// Most returns the columns of the widest choice it can make, as stages that
	// come after it are planned for.
	Most(Facts) []dataset.Column
	// Select returns the indices of the chosen candidates, increasing. The
	// columns of v are the candidates and then the target. s is the session of
	// the planned node; it is not used by a selector that releases nothing.
	Select(ctx context.Context, s *mechanism.Session, f Facts, r mechanism.Records) ([]int, error)
}

// None keeps every candidate.
type None struct{}

// Name returns "none".
func (None) Name() string { return "none" }

// Plan releases nothing.
func (None) Plan(Facts) (budget.Node, bool, error) { return budget.Node{}, false, nil }

// Most returns every candidate.
func (None) Most(f Facts) []dataset.Column { return f.Columns }

// Select returns every candidate.
func (None) Select(_ context.Context, _ *mechanism.Session, f Facts, _ mechanism.Records) ([]int, error) {
	all := make([]int, len(f.Columns))
	for j := range all {
		all[j] = j
	}
	return all, nil
}

// Fixed keeps the listed features, in table order.
type Fixed struct{ Features []string }

// Name returns "fixed".
func (Fixed) Name() string { return "fixed" }

// Plan checks the list and releases nothing.
func (x Fixed) Plan(f Facts) (budget.Node, bool, error) {
	_, err := x.indices(f)
	return budget.Node{}, false, err
}

// Most returns the listed candidates.
func (x Fixed) Most(f Facts) []dataset.Column {
	var out []dataset.Column
	for _, c := range f.Columns {
		if slices.Contains(x.Features, c.Name) {
			out = append(out, c)
		}
	}
	return out
}

// Select returns the listed candidates.
func (x Fixed) Select(_ context.Context, _ *mechanism.Session, f Facts, _ mechanism.Records) ([]int, error) {
	return x.indices(f)
}

func (x Fixed) indices(f Facts) ([]int, error) {
	listed := make(map[string]bool, len(x.Features))
	for _, name := range x.Features {
		if listed[name] {
			return nil, fmt.Errorf("%w: %q is listed twice", ErrFeature, name)
		}
		listed[name] = true
	}
	var out []int
	for j, c := range f.Columns {
		if listed[c.Name] {
			out = append(out, j)
			delete(listed, c.Name)
		}
	}
	for name := range listed {
		return nil, fmt.Errorf("%w: %q", ErrFeature, name)
	}
	return out, nil
}

// slotsOf returns how many entries of a row a column takes.
func slotsOf(c dataset.Column) int {
	switch {
	case c.Kind == dataset.Numeric && c.Indicator:
		return 2
	case c.Kind == dataset.Numeric:
		return 1
	case c.Other:
		return len(c.Categories) + 1
	}
	return len(c.Categories)
}

// widestOf returns the k candidates that take the most room in a row: no choice
// of k is wider.
func widestOf(k int, f Facts) []dataset.Column {
	widest := slices.Clone(f.Columns)
	slices.SortStableFunc(widest, func(a, b dataset.Column) int { return slotsOf(b) - slotsOf(a) })
	return widest[:min(k, len(widest))]
}
