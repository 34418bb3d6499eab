// Package dptrain trains regression models and classifiers with differential privacy:
//
//	table, err := dptrain.Open("houses.csv") // its header only
//	run := dptrain.Run{Target: "price", Epsilon: 1}
//	plan, err := run.Plan(table) // the price; no row is read
//	fit, err := plan.Fit(ctx, table)
//	fmt.Println(fit.R2, fit.Guarantee)
//	err = fit.Save("out")
//
// A run is that of `dptrain fit` with the same settings: same defaults, same promise, same
// files. Selectors and trainers of packages selection, adassp, boosting, svm and tukey may be put
// into a [Run], and [OpenLedger] returns what keeps all runs on a data set within a total.
// [ReadRecipe] returns the run of a recipe, [Hold] a table that is in memory, and [Predict]
// applies a model to one.
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

// None stands for 0 as a Delta or Holdout: no delta, no held-out metric. A zero there
// stands for the default.
const None = -1

// A Run says what to learn and at which price. The zero value of a field stands for the
// default of a recipe, which docs/reference/recipe.md explains. All of it is public.
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
	Columns     map[string]Column // what is public about columns, by name
	// Undeclared says what features are that Columns does not mention: "found" for numbers or text, whichever is found
	// privately, or "numbers". Empty means found where that has a price; in a table in memory, what its schema says.
	Undeclared string
	Holdout    float64 // share of the records for the held-out metric, in (0, 0.5], or None

	Relation    budget.Relation
	Composition budget.Composition
	Unit        budget.Unit // who is protected, where one person may have several records

	Selector selection.Selector // how features are chosen
	Model    Trainer            // what is trained
	// Fallback is what is trained if Model abstains. It is paid for whether it is used or not.
	Fallback Trainer
	// Shares divide the training budget among stages, by name as in the section budget of a recipe: "count", "words",
	// "ranges", "selection", "model", "fallback", "transform". Each is in (0, 1); the others take their defaults.
	Shares map[string]float64
	// CountFailure is the probability, above 0 and at most 1/2, with which the released lower bound of the number of records
	// may exceed it; 0 stands for 0.01. Privacy does not depend on it.
	CountFailure float64
	// SizeRuns is the mean number of tries of a Selector with a list of sizes, above 1.
	SizeRuns float64
	// Search tries several ways to select and train, in place of the fields from Selector on.
	Search *Search
	// DeclaredScaling refuses a numeric column without a range; by default it is found
	// privately.
	DeclaredScaling bool
	// UncheckedSelector admits a Selector that is not of package selection. It is handed the
	// exact records, and nobody checks what it publishes of them.
	UncheckedSelector bool

	// Ledger, if set, keeps all runs on the data set of that name within its total.
	Ledger  *Ledger
	Dataset string
	Note    string // a label that the ledger keeps with the run; it is not protected

	// Engine says where [Plan.Fit] keeps the table: "memory" (the default), "stream", which is an encrypted scratch
	// file for tables larger than memory, or "auto", which decides by the plan and the size of the file. The
	// release does not depend on it (docs/guide/large.md). A table in memory stays there.
	Engine  string
	Scratch string // the folder of the scratch file; that for temporary files if it is empty

	// Progress, if set, is called when a stage begins, with the share of the stages that are
	// done, in [0, 1], and at the end with 1. Both depend on the plan and on what is
	// released alone.
	Progress func(share float64, stage string)

	base *recipe.Recipe // what the run was read from, or nil
}

// A Plan is a priced run.
type Plan struct {
	*pipeline.Plan
	run      Run
	pipeline *pipeline.Pipeline
	header   []string
	recipe   []byte // as published; nil for a run with values that no recipe states
	used     atomic.Bool
}

// errDataset says that a run cannot be entered.
var errDataset = fault.New(fault.Usage, "Dataset and Note belong to a run with a Ledger")

// Plan prices the run for the columns of a table; no row is read. Errors are
// [Problems], which name the key of the recipe that a field stands for, [ErrSchema] for a table in
// memory whose columns are declared otherwise, and those of [pipeline.Pipeline.Plan] and
// [pipeline.Pipeline.Rehearse].
func (r Run) Plan(t *Table) (*Plan, error) {
	if r.Ledger == nil && (r.Dataset != "" || r.Note != "") {
		return nil, errDataset
	}
	described := r.describe(t)
	for _, stage := range slices.Sorted(maps.Keys(r.Shares)) {
		if !described.SetShare(stage, r.Shares[stage]) {
			return nil, &fault.Error{Kind: fault.Usage, Message: fmt.Sprintf("Shares: there is no stage %q", stage), Hint: "the stages are " + strings.Join(recipe.Stages(), ", ")}
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
	if described.Data.Undeclared == "" && described.Undeclared() == foundPrivately && p.NoVocabulary() != "" {
		r.Undeclared = asNumbers // the recipe does not know of a value that rules text columns out
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

// values puts the values of the run that no recipe states into a pipeline. It reports whether there are any.
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

// Recipe returns the recipe that the run stands for, as it is published: YAML with every
// default. It is nil for a run with a Selector, a Model or another value that no recipe states.
func (p *Plan) Recipe() []byte { return slices.Clone(p.recipe) }

// Again returns the plan for one run more, which costs what the first one did once more.
func (p *Plan) Again() *Plan {
	return &Plan{Plan: p.Plan.Again(), run: p.run, pipeline: p.pipeline, header: p.header, recipe: p.recipe}
}
