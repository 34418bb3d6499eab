package dptrain

import (
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/regression"
)

// errNoRecipe is returned for a run that names no table.
var errNoRecipe = fault.New(fault.Usage,
	"the run does not come from a recipe with a table; open the table by its path")

// errQuery is returned for a run whose records are in a database or on a cluster.
var errQuery = fault.New(fault.Recipe,
	"data.sql and data.spark are supported only by the program dptrain; this package reads files and tables in memory")

// ReadRecipe returns the run of a recipe file (docs/reference/recipe.md). It sets the fields of the run that
// correspond to keys; the run keeps the other settings internally: selection, training, fallbacks, searches. A
// Selector, Model or Fallback set afterwards replaces that of the recipe. The recipe's ledger is the run's;
// output.dir applies to `dptrain fit` only. An invalid recipe is rejected with [Problems], which have the line and the
// key of each mistake.
func ReadRecipe(path string) (Run, error) {
	r, err := recipe.Load(path)
	if err != nil {
		return Run{}, recipeError(err)
	}
	return runOf(r)
}

// ParseRecipe is [ReadRecipe] for the text of a recipe. Problems call it name, and its paths are relative
// to the folder of that name.
func ParseRecipe(name string, text []byte) (Run, error) {
	r, problems := recipe.Parse(name, text)
	if len(problems) > 0 {
		return Run{}, recipeError(problems)
	}
	return runOf(r)
}

// runOf returns the run of a recipe.
func runOf(r *recipe.Recipe) (Run, error) {
	or := func(x float64) float64 {
		if x == 0 {
			return None
		}
		return x
	}
	relation, err := budget.ParseRelation(r.Privacy.Relation)
	if err != nil {
		return Run{}, err
	}
	composition, err := budget.ParseComposition(r.Privacy.Composition)
	if err != nil {
		return Run{}, err
	}
	out := Run{
		Target:          r.Data.Target,
		Task:            r.Task,
		Classes:         r.Data.Classes.List,
		MostClasses:     r.Data.MostClasses,
		Exclude:         r.Data.Exclude,
		Undeclared:      r.Data.Undeclared,
		Epsilon:         r.Privacy.Epsilon,
		Delta:           or(r.Privacy.Delta),
		Holdout:         or(r.Holdout),
		EvaluateBy:      r.GroupColumn(),
		Relation:        relation,
		Composition:     composition,
		DeclaredScaling: r.Scaling.Method == declaredScaling,
		Engine:          r.Engine,
		base:            r,
	}
	if r.Data.Columns != nil {
		out.Columns = map[string]Column{}
		for name, c := range r.Data.Columns {
			out.Columns[name] = columnOfRecipe(c)
		}
	}
	if u := r.Privacy.Unit; u != nil {
		out.Unit = budget.Unit{
			Column:  u.Column,
			MaxRows: u.MaxRows,
		}
	}
	if r.Ledger != nil {
		out.Ledger = OpenLedger(r.LedgerFile())
		out.Dataset = r.Ledger.Dataset
	}
	return out, nil
}

// declaredScaling is the value of the key scaling.method for ranges that are declared.
const declaredScaling = "declared"

// Open opens the table named by the run's recipe and reads its header. A published recipe names no table: the
// result then has the columns that it lists, and can only be used for a plan.
func (r Run) Open() (*Table, error) {
	if r.base == nil {
		return nil, errNoRecipe
	}
	data := r.base.Data
	switch path := r.base.DataFile(); {
	case data.SQL != nil || data.Spark != "":
		return nil, errQuery
	case path != "":
		o := data.Reading()
		if r.Target != "" {
			o.Known = []string{r.Target}
		}
		return open(path, o)
	case len(data.Header) > 0:
		o := data.Reading()
		return &Table{
			Header:   data.Header,
			Format:   o.Format,
			NoHeader: o.Names != nil,
		}, nil
	}
	return nil, errNoRecipe
}

// describe returns the recipe of the run for a table.
func (r Run) describe(t *Table) *recipe.Recipe {
	t.declared(&r)
	or := func(x, standard float64) float64 {
		switch x {
		case 0:
			return standard
		case None:
			return 0
		}
		return x
	}
	standard := recipe.Default()
	out := standard
	if r.base != nil {
		out = *r.base
	}
	d := &out.Data
	d.Path = t.Path
	d.SQL = nil
	d.Spark = ""
	d.Target = r.Target
	d.Exclude = r.Exclude
	d.Undeclared = r.Undeclared
	d.Columns = columnsInRecipe(r.Columns)
	d.Classes = recipe.Names{List: r.Classes}
	d.MostClasses = r.MostClasses
	out.Data.SetReading(t.reading())
	if t.Path == "" && len(out.Data.Header) == 0 {
		out.Data.Header = t.Header
	}
	if out.Task = r.Task; out.Task == "" {
		out.Task = regression.TaskRegression
		if len(r.Classes) > 0 {
			out.Task = regression.TaskClassification
		}
	}
	if out.Task == regression.TaskClassification && len(r.Classes) == 0 {
		out.Data.Classes = recipe.Private()
	}
	out.Privacy = recipe.Privacy{
		Epsilon: r.Epsilon, Delta: or(r.Delta, standard.Privacy.Delta),
		Relation: r.Relation.String(), Composition: r.Composition.String(),
	}
	if r.Unit != (budget.Unit{}) {
		out.Privacy.Unit = &recipe.Unit{Column: r.Unit.Column, MaxRows: r.Unit.MaxRows}
	}
	out.Holdout = or(r.Holdout, standard.Holdout)
	out.Evaluate = nil
	if r.EvaluateBy != "" {
		out.Evaluate = &recipe.Evaluate{By: r.EvaluateBy}
	}
	out.Scaling = standard.Scaling
	if r.DeclaredScaling {
		out.Scaling.Method = declaredScaling
	}
	out.Ledger = nil
	if r.Ledger != nil {
		out.Ledger = &recipe.Ledger{Path: r.Ledger.Path(), Dataset: r.Dataset}
	}
	if r.Selector != nil || r.Model != nil || r.Fallback != nil || r.Search != nil {
		out.StagesInCode()
	}
	return &out
}
