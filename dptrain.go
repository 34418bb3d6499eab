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
// files. Selectors, trainers and ledgers of the other packages of this module may be put
// into a [Run]; package pipeline has the settings that it leaves out.
package dptrain

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/fault"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/method"
	"github.com/dptrain/dptrain/internal/pipeline"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/regression"
	"github.com/dptrain/dptrain/selection"
)

// A Table is a file with records: .csv, .tsv (also .gz) or .parquet. Opened or made by
// hand, it holds the names of the columns and no record.
type Table struct {
	Path            string
	Header          []string // all columns, in the order of the file
	MultilineQuotes bool     // whether a quoted CSV cell may contain line breaks
}

// Open returns the table in a file, of which it reads the header. Errors are those of
// [dataset.Header].
func Open(path string) (*Table, error) {
	header, err := dataset.Header(path, dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	return &Table{Path: path, Header: header}, nil
}

// None stands for 0 as a Delta or Holdout: no delta, no held-out metric. A zero there
// stands for the default.
const None = -1

// A Column declares what is public about a column; the guarantee does not protect it. See [Range] and
// [Categories].
type Column = recipe.Column

// Range declares a numeric column with values from lower to upper, in its own units; others
// are clamped.
func Range(lower, upper float64) Column { return Column{Lower: &lower, Upper: &upper} }

// Categories declares a column with these values; others form a category of their own.
func Categories(names ...string) Column { return Column{Categories: names, Other: new(true)} }

// A Run says what to learn and at which price. The zero value of a field stands for the
// default of a recipe, which docs/reference/recipe.md explains. All of it is public.
type Run struct {
	Target  string  // the column to predict; required
	Epsilon float64 // the privacy budget, above 0; required
	Delta   float64 // in [1e-10, 1), or None

	Classes []string          // the classes of the target, for classification; with two, the second one is the positive class
	Exclude []string          // columns that are not features
	Columns map[string]Column // what is public about columns, by name
	Holdout float64           // share of the records for the held-out metric, in (0, 0.5], or None

	Relation    budget.Relation
	Composition budget.Composition
	Unit        budget.Unit // who is protected, where one person may have several records

	Selector selection.Selector // how features are chosen
	Model    method.Trainer     // what is trained

	// Ledger, if set, keeps all runs on the data set of that name within its total.
	Ledger  *ledger.Ledger
	Dataset string
	Note    string // a label that the ledger keeps with the run; it is not protected

	// Progress, if set, is called when a stage begins, with the share of the stages that are
	// done, in [0, 1], and at the end with 1. Both depend on the plan and on what is
	// released alone.
	Progress func(share float64, stage string)
}

// A Plan is a priced run.
type Plan struct {
	*pipeline.Plan
	run      Run
	pipeline *pipeline.Pipeline
	header   []string
	recipe   []byte // as published; nil where the run has a selector or trainer of its own
	used     atomic.Bool
}

// errDataset says that a run cannot be entered.
var errDataset = fault.New(fault.Usage, "Dataset and Note belong to a run with a Ledger")

// Plan prices the run for the columns of a table; no row is read. Errors are
// [recipe.Problems], which names the key of the recipe that a field stands for, and those
// of [pipeline.Pipeline.Plan] and [pipeline.Pipeline.Rehearse].
func (r Run) Plan(t *Table) (*Plan, error) {
	if r.Ledger == nil && (r.Dataset != "" || r.Note != "") {
		return nil, errDataset
	}
	described := r.recipe(t)
	if problems := described.Check(); len(problems) > 0 {
		return nil, problems
	}
	p, err := described.Pipeline(t.Header)
	if err != nil {
		return nil, err
	}
	out := &Plan{run: r, pipeline: p, header: slices.Clone(t.Header)}
	described.Data.Header = out.header
	if r.Selector != nil || r.Model != nil {
		p.Selector, p.Model = r.Selector, r.Model
	} else if out.recipe, err = described.Public(); err != nil {
		return nil, err
	}
	if out.Plan, err = p.Plan(); err != nil {
		return nil, err
	}
	if err := p.Rehearse(context.Background(), out.Plan); err != nil {
		return nil, err
	}
	return out, nil
}

// Recipe returns the recipe that the run stands for, as it is published: YAML with every
// default. It is nil for a run with a Selector or a Model.
func (p *Plan) Recipe() []byte { return slices.Clone(p.recipe) }

// recipe returns the recipe that the run stands for.
func (r Run) recipe(t *Table) *recipe.Recipe {
	or := func(x, standard float64) float64 {
		switch x {
		case 0:
			return standard
		case None:
			return 0
		}
		return x
	}
	out := recipe.Default()
	out.Data = recipe.Data{
		Path: t.Path, MultilineQuotes: t.MultilineQuotes,
		Target: r.Target, Exclude: r.Exclude, Columns: r.Columns, Classes: r.Classes,
	}
	if len(r.Classes) > 0 {
		out.Task = regression.TaskClassification
	}
	out.Privacy.Epsilon, out.Privacy.Delta = r.Epsilon, or(r.Delta, out.Privacy.Delta)
	out.Privacy.Relation, out.Privacy.Composition = r.Relation.String(), r.Composition.String()
	if r.Unit != (budget.Unit{}) {
		out.Privacy.Unit = &recipe.Unit{Column: r.Unit.Column, MaxRows: r.Unit.MaxRows}
	}
	out.Holdout = or(r.Holdout, out.Holdout)
	if r.Ledger != nil {
		out.Ledger = &recipe.Ledger{Path: r.Ledger.Path(), Dataset: r.Dataset}
	}
	return &out
}
