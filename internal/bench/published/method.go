package published

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/regression"
)

// Names of the methods.
const (
	NameTukey     = "as-published-tukey"
	NameSIS       = "as-published-sis"
	NameLipschitz = "as-published-lipschitz"
	NameKendall   = "as-published-kendall"
)

// DefaultK is the default number of columns that a selector picks.
const DefaultK = 5

var (
	// ErrTarget is returned for a target that is not a column of the view.
	ErrTarget = errors.New("the target is not a column of the table")
	// ErrNumeric is returned for a table with a category column.
	ErrNumeric = errors.New("these methods take numbers only; give category columns as 0/1 columns")
	// ErrCount is returned for a number of columns to pick outside 1 to d-1.
	ErrCount = errors.New("k must be at least 1 and below the number of candidate columns")
	// ErrBudget is returned for an epsilon that is not positive and finite, or, of
	// a method that needs one, a delta outside (0, 1).
	ErrBudget = errors.New("epsilon must be positive and finite, and delta between 0 and 1")
	// ErrGamma is returned for a gamma outside [0, 1).
	ErrGamma = errors.New("gamma must be at least 0 and below 1")
	// ErrAbstained is returned when the check of the Tukey mechanism did not pass.
	// The script scores such a trial as minus infinity.
	ErrAbstained = errors.New("the check did not pass, so there is no model")
	// ErrTooFew is returned when the records do not make the models that the
	// Tukey mechanism wants. The script stops with an error.
	ErrTooFew = errors.New("too few records for the number of models")
	// ErrLarge is returned for a distribution with too many outcomes to be listed.
	ErrLarge = errors.New("the law has too many outcomes; use fewer columns or a smaller k")
)

// An UnknownMethodError reports a name that is not in [Methods].
type UnknownMethodError struct{ Name string }

func (e *UnknownMethodError) Error() string {
	return fmt.Sprintf("no published method is called %q; there are %s", e.Name,
		strings.Join(Methods(), ", "))
}

// Methods lists the names that [New] knows.
func Methods() []string {
	return []string{NameTukey, NameSIS, NameLipschitz, NameKendall}
}

// Options are the settings of the methods. The zero value is that of the papers.
type Options struct {
	// K is the number of columns that a selector picks; 0 means [DefaultK].
	K int
	// Peeling makes the selector of DP-SIS pick one column after another instead
	// of all by the canonical Lipschitz mechanism.
	Peeling bool
	// Models is the number m of models of the Tukey mechanism; 0 means that it is
	// set from a noisy count, as published.
	Models int
}

// A Method trains or selects without any guarantee, on public data only. It may
// be used from several goroutines at once, each with a source of its own.
type Method interface {
	// Name is the method's name in experiments.
	Name() string
	// Fit runs the method on all rows of a view of numeric columns. target is the index of the column to
	// predict; all others are candidates. It spends (epsilon, delta) in the sense of the paper; the selectors
	// do not use delta.
	//
	// Errors: [ErrTarget], [ErrNumeric], [ErrCount], [ErrBudget], that of ctx, and for the Tukey mechanism
	// [ErrAbstained] and [ErrTooFew], which depend on the records.
	Fit(
		ctx context.Context, src Source, v dataset.View, target int, epsilon, delta float64,
	) (Fitted, error)
}

// Fitted is the outcome of a method: columns or a model.
type Fitted struct {
	// Columns are the positions in the view of the selected columns, increasing
	// and each once; nil when there is a model.
	Columns []int
	// Model predicts the target in its own units; nil for a selector.
	Model *regression.Linear
}

// New returns the method of that name. The error is an [*UnknownMethodError].
func New(name string, o Options) (Method, error) {
	k := o.K
	if k == 0 {
		k = DefaultK
	}
	switch name {
	case NameTukey:
		return Tukey{Models: o.Models}, nil
	case NameSIS:
		return SIS{K: k, Peeling: o.Peeling}, nil
	case NameLipschitz:
		return Lipschitz{K: k}, nil
	case NameKendall:
		return Kendall{K: k}, nil
	}
	return nil, &UnknownMethodError{name}
}

// table is a view as the methods see it: candidate columns and the target, with
// 0 for a missing cell.
type table struct {
	columns []int // positions of the candidates in the view
	names   []string
	x       [][]float64
	target  string
	y       []float64
}

// newTable reads a view.
func newTable(v dataset.View, target int) (*table, error) {
	schema := v.Schema()
	if target < 0 || target >= len(schema.Columns) {
		return nil, ErrTarget
	}
	all := v.Block(0, v.Len())
	t := &table{target: schema.Columns[target].Name}
	for j, c := range schema.Columns {
		if c.Kind != dataset.Numeric {
			return nil, fmt.Errorf("%w: column %q", ErrNumeric, c.Name)
		}
		cells := replaceMissing(all.Float(j, nil))
		if j == target {
			t.y = cells
			continue
		}
		t.columns = append(t.columns, j)
		t.names = append(t.names, c.Name)
		t.x = append(t.x, cells)
	}
	return t, nil
}

// replaceMissing returns the cells with NaN replaced by 0, in the same memory if there is no NaN.
func replaceMissing(cells []float64) []float64 {
	out := cells
	for i, v := range cells {
		if !isFinite(v) {
			if &out[0] == &cells[0] {
				out = slices.Clone(cells)
			}
			out[i] = 0
		}
	}
	return out
}

// fittedOf turns picks among the candidates into positions in the view.
func (t *table) fittedOf(picks []int) Fitted {
	out := make([]int, len(picks))
	for i, j := range picks {
		out[i] = t.columns[j]
	}
	slices.Sort(out)
	return Fitted{Columns: slices.Compact(out)}
}

// checkSelection validates the settings of a selector.
func checkSelection(k, d int, epsilon float64) error {
	if k < 1 || k >= d {
		return fmt.Errorf("%w: k is %d, there are %d", ErrCount, k, d)
	}
	return checkEpsilon(epsilon)
}

func checkEpsilon(epsilon float64) error {
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return ErrBudget
	}
	return nil
}

func isFinite(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0)
}
