// Package selection chooses the features a model is trained on.
//
// A [Selector] is planned from public facts and then run on the records; its
// result is public. [None] keeps every candidate and [Fixed] keeps the listed
// candidates; both make no release and are free. The candidates are the columns of
// the recipe, and a category column is one candidate.
//
// The caller must leave out records without a usable target ([dataset.View.Known]).
// A selector uses all records that it gets.
package selection

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	settings "github.com/dptrain/dptrain/selection"
)

// ErrFeature is returned at plan time for a listed feature that is not a
// candidate or is listed twice.
var ErrFeature = errors.New("not a candidate feature")

// Facts are the public facts from which a selector is planned.
type Facts struct {
	Columns  []dataset.Column // candidate features, in table order
	Target   dataset.Column
	Relation budget.Relation
	// LabelOnly reports that the run protects its target and no other column; see [method.Facts].
	LabelOnly bool
	// OnlyNumbers reports that no candidate was a category column when the run was planned. Undeclared ones may have turned
	// out to be text since, on which the steps of a selector must not depend.
	OnlyNumbers bool
	// AtLeast is a released lower bound of the number of training records, or their
	// number where it is public. It is 0 at plan time, and for a selector that
	// does not ask for it; see [Counter].
	AtLeast int
	// Ranges are the public ranges of the columns and, last, the target. They are nil
	// at plan time and for a selector that is not a [Scaler].
	Ranges []scaling.Range
}

// A Counter is a selector that may need a lower bound of the number of records.
type Counter interface {
	Selector
	NeedsCount() bool
}

// A Scaler is a selector that may work on scaled columns. The ranges of all
// candidates and of the target are then found before Select is called.
type Scaler interface {
	Selector
	NeedsRanges(Facts) bool
}

// A Classed selector reads the classes of a classification. Its facts and its
// view have the target as a category column, whose categories are the classes;
// a code outside them means that the record has no class. For other selectors two
// classes are the numbers -1 and +1.
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
	// Name returns the name of the method in a recipe.
	Name() string
	// Plan returns the node that the choice spends, or false if it makes no release.
	Plan(Facts) (node budget.Node, private bool, err error)
	// Widest returns the columns of the widest possible choice, for which later stages
	// are planned.
	Widest(Facts) []dataset.Column
	// Select returns the indices of the chosen candidates, increasing. The
	// columns of v are the candidates and then the target. s is the session of
	// the planned node; a selector without releases does not use it.
	Select(ctx context.Context, s *mechanism.Session, f Facts, r mechanism.Records) ([]int, error)
}

// None keeps every candidate.
type None settings.None

// Name returns "none".
func (None) Name() string {
	return "none"
}

// Plan returns no node.
func (None) Plan(Facts) (budget.Node, bool, error) {
	return budget.Node{}, false, nil
}

// Widest returns every candidate.
func (None) Widest(f Facts) []dataset.Column {
	return f.Columns
}

// Select returns every candidate.
func (None) Select(
	_ context.Context,
	_ *mechanism.Session,
	f Facts,
	_ mechanism.Records,
) ([]int, error) {
	all := make([]int, len(f.Columns))
	for j := range all {
		all[j] = j
	}
	return all, nil
}

// Fixed keeps the listed features, in table order.
type Fixed settings.Fixed

// Name returns "fixed".
func (Fixed) Name() string {
	return "fixed"
}

// Plan checks the list and returns no node.
func (x Fixed) Plan(f Facts) (budget.Node, bool, error) {
	_, err := x.listedIndices(f)
	return budget.Node{}, false, err
}

// Widest returns the listed candidates.
func (x Fixed) Widest(f Facts) []dataset.Column {
	var out []dataset.Column
	for _, c := range f.Columns {
		if slices.Contains(x.Features, c.Name) {
			out = append(out, c)
		}
	}
	return out
}

// Select returns the listed candidates.
func (x Fixed) Select(
	_ context.Context,
	_ *mechanism.Session,
	f Facts,
	_ mechanism.Records,
) ([]int, error) {
	return x.listedIndices(f)
}

func (x Fixed) listedIndices(f Facts) ([]int, error) {
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

// publicColumns returns which candidates are public and whether the target is, as far as a statistic of the records may rely
// on it: with a private target only if every candidate is public, because otherwise the records without a target, which
// depend on it, are left out.
func (f Facts) publicColumns() (candidates []bool, target bool) {
	target = method.PublicTarget(f.Relation, f.Target)
	candidates = make([]bool, len(f.Columns))
	for j, c := range f.Columns {
		candidates[j] = f.Relation == budget.SubstitutePrivateColumns && !c.Private &&
			(target || f.LabelOnly)
	}
	return candidates, target
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

// widestOf returns the k candidates with the most entries in a row: no choice of k
// is wider.
func widestOf(k int, f Facts) []dataset.Column {
	widest := slices.Clone(f.Columns)
	slices.SortStableFunc(widest, func(a, b dataset.Column) int {
		return slotsOf(b) - slotsOf(a)
	})
	return widest[:min(k, len(widest))]
}
