// Package dptrain trains regression models and classifiers with differential privacy:
//
//	table, err := dptrain.Open("houses.csv") // its header only
//	run := dptrain.Run{Target: "price", Epsilon: 1}
//	plan, err := run.Plan(table) // the price; no row is read
//	fit, err := plan.Fit(ctx, table)
//	fmt.Println(fit.R2, fit.Guarantee)
//	err = fit.Save("out")
//
// # Tables
//
// [Open] returns the table in a file, [HoldRows] one of structs in memory, and [Hold] one of columns in memory.
// [Range] and [Categories] declare public facts about a column in [Run].Columns. Declare whatever is public knowledge,
// because the run spends budget to find ranges and categories that are not declared; never take a declaration from
// the table.
//
// # Runs
//
// A [Run] corresponds to `dptrain fit` with the same settings: same defaults, same guarantee, same files. [ReadRecipe]
// returns the run of a recipe. [Run.Plan] prices it and [Plan.Fit] spends the price. Errors name the field that is
// wrong; a record never causes one. Selector and Model take values of packages selection, adassp, boosting, costtree,
// logistic, prototypes, svm and tukey.
//
// # Results
//
// A [Fit] has the model, its quality on held-out records and the warnings about the run. [Fit.Predictor] predicts
// single records and [Predict] whole tables. [Fit.Save] writes the release, which [ReadModel], [ReadReport] and [Verify]
// read again.
//
// # Ledgers
//
// One run is protected up to its epsilon; several runs on one data set add up. [OpenLedger] returns a ledger that keeps
// them within a total.
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

// None means 0 for [Run].Delta and [Run].Holdout, whose zero value means the default: no delta, no held-out metric.
const None = -1

// A Run describes the training and its price. Target and Epsilon are required; the zero value of every other field
// means its default. All fields are public, except Ledger, Scratch and Progress they are part of the release.
type Run struct {
	Target  string  // the column to predict; required
	Epsilon float64 // the privacy budget, above 0; required
	// Delta is the probability with which the guarantee may fail, in [1e-10, 1); 0 means 1e-6. [None] means that it
	// may not fail, which needs methods with pure noise.
	Delta float64

	// Task is "regression" or "classification". Empty means classification if Classes lists some, or if the target
	// of a table in memory is a category, and else regression.
	Task string
	// Classes are the classes of the target, for classification; with two, the second one is the positive class. Without
	// them the classes that enough records have are found privately, up to MostClasses, which is 32 if it is 0.
	Classes     []string
	MostClasses int
	Exclude     []string          // columns that are not features
	Columns     map[string]Column // public facts about columns, by name
	// Undeclared is the treatment of features that Columns does not list: "found", which determines privately
	// whether they are numbers or text, or "numbers". Empty means "found" if the run can pay for that; in a
	// table in memory, the schema decides.
	Undeclared string
	// Holdout is the share of the records that measure the model, in (0, 0.5]; 0 means 0.2. With [None] all records
	// train, and the result has no metric.
	Holdout float64
	// EvaluateBy names a category column by whose values the held-out metric is also given, at no further price:
	// a feature, or one of Exclude whose categories are declared. Empty means no groups.
	EvaluateBy string

	Relation    budget.Relation    // which tables are neighbours: what is protected
	Composition budget.Composition // how the prices of the steps add up
	Unit        budget.Unit        // the privacy unit, if one person may have several records

	// Selector chooses the features. Nil keeps all of them, or chooses if Model is nil too and there are many.
	Selector selection.Selector
	// Model trains the model. Nil means the default of the task.
	Model Trainer
	// Fallback is the trainer used if Model abstains, as tukey.Tukey may. It is paid for whether it is used or not.
	Fallback Trainer
	// Shares divide the training budget among stages, by name as in the section budget of a recipe: "count",
	// "words", "ranges", "selection", "model", "fallback", "transform". Each is in (0, 1); absent stages use
	// their defaults.
	Shares map[string]float64
	// CountFailure is the probability, above 0 and at most 1/2, that the released lower bound on the number of
	// records exceeds that number; 0 means 0.01. Privacy does not depend on it.
	CountFailure float64
	// SizeRuns is the mean number of tries of a Selector with a list of sizes, above 1; 0 means the default.
	SizeRuns float64
	// Search tries several combinations of selection and model. Selector, Model, Fallback and SizeRuns are then empty.
	Search *Search
	// DeclaredScaling rejects numeric columns without a declared range; by default such ranges are found
	// privately.
	DeclaredScaling bool

	// Ledger, if set, keeps all runs on the data set with the name Dataset within its total.
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

// A Plan is a priced run. It pays for one call of [Plan.Fit].
type Plan struct {
	plan     *pipeline.Plan
	run      Run
	pipeline *pipeline.Pipeline
	header   []string
	recipe   []byte // as published; nil for a run that a recipe cannot express
	used     atomic.Bool
}

// Guarantee returns the guarantee of the run, with the whole privacy profile.
func (p *Plan) Guarantee() budget.Guarantee {
	return p.plan.Guarantee()
}

// Steps returns the releases of the run with their prices, in the order of the plan. Those of a branch or a candidate
// that the run does not take are paid for too.
func (p *Plan) Steps() []budget.PricedLeaf {
	return p.plan.Leaves()
}

// Method returns the name of the training method in a recipe; "search" for a search, and "auto" if it depends on
// released numbers.
func (p *Plan) Method() string {
	return p.plan.Method()
}

// Stages lists the stages that [Run].Progress announces, each once, besides "read" and "done". A run may leave some
// out.
func (p *Plan) Stages() []string {
	return p.plan.Stages()
}

// errDataset is returned for a run with Dataset or Note but no Ledger.
var errDataset = fault.New(fault.Usage, "Dataset and Note need a Ledger")

// Plan prices the run for the columns of a table; no row is read. The error is [Problems] for fields that are missing,
// out of range or inconsistent, or wraps [ErrSchema] for a table in memory whose schema contradicts Columns, or
// [budget.ErrTarget] and the other errors of package budget for a price that cannot be found.
func (r Run) Plan(t *Table) (*Plan, error) {
	out, err := r.plan(t)
	return out, goError(err)
}

// plan is Plan with errors in terms of recipe keys.
func (r Run) plan(t *Table) (*Plan, error) {
	if r.Ledger == nil && (r.Dataset != "" || r.Note != "") {
		return nil, errDataset
	}
	described := r.describe(t)
	for _, stage := range slices.Sorted(maps.Keys(r.Shares)) {
		if !described.SetShare(stage, r.Shares[stage]) {
			return nil,
				&fault.Error{
					Kind:    fault.Usage,
					Message: fmt.Sprintf("Shares: unknown stage %q", stage),
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
	if problems := described.CheckTypes(celltypes.Read(t.Path)); len(problems) > 0 {
		return nil, problems
	}
	p, err := described.Pipeline(t.Header)
	if err != nil {
		return nil, err
	}
	out := &Plan{run: r, pipeline: p, header: slices.Clone(t.Header)}
	described.Data.Header = out.header
	values, err := r.values(p)
	if err != nil {
		return nil, err
	}
	if described.Data.Undeclared == "" && described.Undeclared() == foundPrivately &&
		p.NoVocabulary() != "" {
		r.Undeclared = asNumbers // the recipe has no value that rules out text columns
		return r.plan(t)
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
	if out.plan, err = p.Plan(); err != nil {
		return nil, err
	}
	if err := p.Rehearse(context.Background(), out.plan); err != nil {
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
func (r Run) values(p *pipeline.Pipeline) (bool, error) {
	before := *p
	chosen, err := selector("Selector", r.Selector)
	if err != nil {
		return false, err
	}
	if chosen != nil {
		p.Selector = chosen
	}
	model, err := trainer("Model", r.Model)
	if err != nil {
		return false, err
	}
	if model != nil {
		p.Model = model
	}
	fallback, err := trainer("Fallback", r.Fallback)
	if err != nil {
		return false, err
	}
	if fallback != nil {
		p.Fallback = fallback
	}
	if r.SizeRuns != 0 {
		p.SizeRuns = r.SizeRuns
	}
	search, err := r.search()
	if err != nil {
		return false, err
	}
	if search != nil {
		p.Search = search
	}
	return !reflect.DeepEqual(&before, p), nil
}

// Recipe returns the recipe of the run as it is published: YAML with every default. It is nil for a run with a
// Selector, a Model or another value that a recipe cannot express.
func (p *Plan) Recipe() []byte {
	return slices.Clone(p.recipe)
}

// Again returns a plan for another run at the same price, which comes on top of the price of the first one.
func (p *Plan) Again() *Plan {
	return &Plan{
		plan:     p.plan.Again(),
		run:      p.run,
		pipeline: p.pipeline,
		header:   p.header,
		recipe:   p.recipe,
	}
}
