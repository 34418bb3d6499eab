// Package dptrain trains regression models and classifiers with differential privacy:
//
//	table, err := dptrain.Open("houses.csv") // its header only
//	run := dptrain.Run{Target: "price", Epsilon: 1}
//	plan, err := run.Plan(table) // the price; no row is read
//	fit, err := plan.Fit(ctx, table)
//	fmt.Println(fit.R2, fit.Guarantee)
//	err = fit.Save("out")
//
// A run corresponds to `dptrain fit` with the same settings: same defaults, same guarantee, same files. A [Run] may
// use selectors and trainers of packages selection, adassp, boosting, svm and tukey, and [OpenLedger] returns a
// ledger that keeps all runs on a data set within a total. [ReadRecipe] returns the run of a recipe, [Hold] a table
// that is in memory, and [Predict] applies a model to a table.
package dptrain

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/tablefile/celltypes"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/selection"
)

// None means 0 for Delta or Holdout: no delta, no held-out metric. The zero value means the default.
const None = -1

// A Run describes the training and its price. The zero value of a field means the default of the recipe key,
// see docs/reference/recipe.md. All fields are public.
type Run struct {
	Target  string  // the column to predict; required
	Epsilon float64 // the privacy budget, above 0; required
	Delta   float64 // in [1e-10, 1), or None

	// Task is "regression" or "classification". Empty means classification if Classes lists some, or if the target
	// of a table in memory is a category, and else regression.
	Task string
	// Classes are the classes of the target, for classification; with two, the second one is the positive class. Without
	// them the classes that enough records have are found privately, up to MostClasses, which is 32 if it is 0.
	Classes     []string
	MostClasses int
	Exclude     []string          // columns that are not features
	Columns     map[string]Column // public declarations about columns, by name
	// Undeclared is the treatment of features that Columns does not list: "found", which determines privately
	// whether they are numbers or text, or "numbers". Empty means "found" if the run can pay for that; in a
	// table in memory, the schema decides.
	Undeclared string
	Holdout    float64 // share of the records for the held-out metric, in (0, 0.5], or None
	// EvaluateBy names a category column by whose values the held-out metric is also given, at no further price:
	// a feature, or one of Exclude whose categories are declared. Empty means no groups.
	EvaluateBy string

	Relation    budget.Relation
	Composition budget.Composition
	Unit        budget.Unit // the privacy unit, if one person may have several records

	Selector selection.Selector // method of feature selection
	Model    Trainer            // trainer of the model
	// Fallback is the trainer used if Model abstains. It is paid for whether it is used or not.
	Fallback Trainer
	// Shares divide the training budget among stages, by name as in the section budget of a recipe: "count",
	// "words", "ranges", "selection", "model", "fallback", "transform". Each is in (0, 1); absent stages use
	// their defaults.
	Shares map[string]float64
	// CountFailure is the probability, above 0 and at most 1/2, that the released lower bound on the number of
	// records exceeds that number; 0 means 0.01. Privacy does not depend on it.
	CountFailure float64
	// SizeRuns is the mean number of tries of a Selector with a list of sizes, above 1.
	SizeRuns float64
	// Search tries several combinations of selection and model. It replaces the fields from Selector on.
	Search *Search
	// DeclaredScaling rejects numeric columns without a declared range; by default such ranges are found
	// privately.
	DeclaredScaling bool
	// UncheckedSelector permits a Selector from outside package selection. It gets the exact records, and its
	// choice is published unprotected.
	UncheckedSelector bool

	// Ledger, if set, keeps all runs on the data set of that name within its total.
	Ledger  *Ledger
	Dataset string
	Note    string // a label that the ledger keeps with the run; it is not protected

	// Engine selects where [Plan.Fit] keeps the table: "memory" (the default), "stream", an encrypted scratch
	// file for tables larger than memory, or "auto", which decides by the plan and the size of the file. The
	// release does not depend on it (docs/guide/large.md). A table in memory stays there.
	Engine  string
	Scratch string // the folder of the scratch file; empty means the folder for temporary files

	// Progress, if set, is called when a stage starts, with the completed share of the stages, in [0, 1], and
	// at the end with 1. Both depend only on the plan and on releases.
	Progress func(share float64, stage string)

	base *recipe.Recipe // the recipe from which the run was read, or nil
}

// A Plan is a priced run.
type Plan struct {
	*pipeline.Plan
	run      Run
	pipeline *pipeline.Pipeline
	header   []string
	recipe   []byte // as published; nil for a run that a recipe cannot express
	used     atomic.Bool
}

// errDataset is returned for a run with Dataset or Note but no Ledger.
var errDataset = fault.New(fault.Usage, "Dataset and Note belong to a run with a Ledger")

// Plan prices the run for the columns of a table; no row is read. It returns [Problems], which name the recipe
// key of each field, [ErrSchema] for a table in memory whose schema contradicts the declarations, and errors of
// [pipeline.Pipeline.Plan] and [pipeline.Pipeline.Rehearse].
func (r Run) Plan(t *Table) (*Plan, error) {
	if r.Ledger == nil && (r.Dataset != "" || r.Note != "") {
		return nil, errDataset
	}
	described := r.describe(t)
	for _, stage := range slices.Sorted(maps.Keys(r.Shares)) {
		if !described.SetShare(stage, r.Shares[stage]) {
			return nil,
				&fault.Error{
					Kind:    fault.Usage,
					Message: fmt.Sprintf("Shares: there is no stage %q", stage),
					Hint:    "the stages are " + strings.Join(recipe.Stages(), ", "),
				}
		}
	}
	described.SettleShares()
	if r.CountFailure != 0 {
		described.Count = &recipe.Count{Failure: r.CountFailure}
	}
	if problems := described.Check(); len(problems) > 0 {
		return nil, problems
	}
	if problems := described.CheckTypes(celltypes.Of(t.Path)); len(problems) > 0 {
		return nil, problems
	}
	p, err := described.Pipeline(t.Header)
	if err != nil {
		return nil, err
	}
	out := &Plan{run: r, pipeline: p, header: slices.Clone(t.Header)}
	described.Data.Header = out.header
	values := r.values(p)
	if described.Data.Undeclared == "" && described.Undeclared() == foundPrivately &&
		p.NoVocabulary() != "" {
		r.Undeclared = asNumbers // the recipe has no value that rules out text columns
		return r.Plan(t)
	}
	if !values {
		if out.recipe, err = described.Public(); err != nil {
			return nil, err
		}
	}
	if err := t.fits(p.Schema); err != nil {
		return nil, err
	}
	if t.held == nil && t.Path != "" {
		if err := t.reading().CheckColumns(context.Background(), t.Path, p.Schema); err != nil {
			return nil, err
		}
	}
	if out.Plan, err = p.Plan(); err != nil {
		return nil, err
	}
	if err := p.Rehearse(context.Background(), out.Plan); err != nil {
		return nil, err
	}
	return out, nil
}

// The values of Run.Undeclared.
const (
	foundPrivately = "found"
	asNumbers      = "numbers"
)

// values sets the values of a pipeline that a recipe cannot express. It reports whether there are any.
func (r Run) values(p *pipeline.Pipeline) bool {
	before := *p
	if r.Selector != nil {
		p.Selector = r.Selector
	}
	if r.Model != nil {
		p.Model = r.Model
	}
	if r.Fallback != nil {
		p.Fallback = r.Fallback
	}
	if r.SizeRuns != 0 {
		p.SizeRuns = r.SizeRuns
	}
	if r.Search != nil {
		p.Search = r.Search
	}
	p.UncheckedSelector = r.UncheckedSelector
	return !reflect.DeepEqual(&before, p)
}

// Recipe returns the recipe of the run as it is published: YAML with every default. It is nil for a run with a
// Selector, a Model or another value that a recipe cannot express.
func (p *Plan) Recipe() []byte {
	return slices.Clone(p.recipe)
}

// Again returns a plan for another run, at the same price.
func (p *Plan) Again() *Plan {
	return &Plan{
		Plan:     p.Plan.Again(),
		run:      p.run,
		pipeline: p.pipeline,
		header:   p.header,
		recipe:   p.recipe,
	}
}
