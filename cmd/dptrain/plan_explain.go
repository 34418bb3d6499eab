package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/regression"
)

// explainFlags are the flags of `plan --explain`.
type explainFlags struct {
	explain bool
	rows    []int
}

func (f *explainFlags) add(set *pflag.FlagSet) {
	set.BoolVar(&f.explain, "explain", false,
		"instead of the price, print the R² or accuracy to expect at several epsilons, from synthetic tables of this shape; takes a few seconds")
	set.IntSliceVar(&f.rows, "rows", bench.DefaultExplainRows(),
		"with --explain: numbers of rows of the synthetic tables, `SIZES` such as 500,5000")
}

// check validates the flags by themselves.
func (f *explainFlags) check(changed func(string) bool) error {
	if changed("rows") && !f.explain {
		return usagef("--rows needs --explain; the price does not depend on the number of rows")
	}
	if !changed("rows") {
		f.rows = nil // the defaults, which may be shortened
	}
	return nil
}

// The values of the key "format" of `plan --explain --json`. The second one adds the results for classification and
// abstentions.
const (
	explainFormat  = "dptrain.explain/1"
	explainFormat2 = "dptrain.explain/2"
)

const explainNotice = "Computed on synthetic tables, not on your data: no row was read."

// explanation is the expected error of a run, as printed by `plan --explain --json`.
type explanation struct {
	Format      string             `json:"format"`
	Notice      string             `json:"notice"`
	Target      string             `json:"target"`
	Task        string             `json:"task,omitempty"`    // format 2
	Classes     *int               `json:"classes,omitempty"` // for a classification
	Method      string             `json:"method"`
	Selection   string             `json:"selection"`
	Features    explainedFeatures  `json:"features"`
	Epsilon     float64            `json:"epsilon"` // as in the recipe
	Delta       float64            `json:"delta"`
	Relation    string             `json:"relation"`
	Composition string             `json:"composition"`
	Holdout     float64            `json:"holdout"`
	Assumed     explainAssumptions `json:"assumptions"`
	References  *explainReferences `json:"references,omitempty"` // for a classification
	Sizes       []explainedSize    `json:"sizes"`
	Notes       []string           `json:"notes"`
	carried     string             // the simulated method and selection, for people
}

type explainedFeatures struct {
	Numeric  int `json:"numeric"`
	Category int `json:"category"`
}

// explainAssumptions describes the synthetic tables.
type explainAssumptions struct {
	R2          float64 `json:"r2"`          // of the true function
	Correlation float64 `json:"correlation"` // between two numeric features
	Tables      int     `json:"tables"`
	TestRows    int     `json:"test_rows"`
	Seed        uint64  `json:"seed"`
}

// explainReferences holds the accuracies of two reference classifiers without training: the largest class for every
// row, and the function that generated the classes.
type explainReferences struct {
	Largest explainedBand `json:"largest_class"`
	Truth   explainedBand `json:"true_function"`
}

type explainedSize struct {
	Rows    int            `json:"rows"`
	Open    explainedBand  `json:"nonprivate"`
	Private []explainedFit `json:"private"`
}

// explainedBand holds the median and the 10% and 90% quantiles of R² or accuracy.
type explainedBand struct {
	Median metric `json:"median"`
	Lower  metric `json:"lower"`
	Upper  metric `json:"upper"`
}

func bandOf(b bench.Band) explainedBand {
	return explainedBand{metric(b.Median), metric(b.Lower), metric(b.Upper)}
}

// metric is a number, or NaN, which becomes null in JSON.
type metric float64

func (x metric) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(x)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(x))
}

type explainedFit struct {
	Epsilon float64 `json:"epsilon"`
	explainedBand
	Abstained *int `json:"abstained,omitempty"` // number of tables; format 2
}

// explain prints the expected error of a pipeline.
func (a *app) explain(
	ctx context.Context,
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
	f *explainFlags,
	asJSON bool,
) error {
	config := bench.ExplainConfig{Rows: f.rows}
	meter := a.meter("models")
	config.Progress = func(done, total int) {
		meter.Show(float64(done), float64(total), "")
	}
	if a.onStep != nil {
		config.Progress = func(done, total int) {
			a.onStep(done, total, "models")
		}
	}
	x, err := bench.Explain(ctx, p, config)
	meter.Clear()
	switch {
	case errors.Is(err, bench.ErrExplainRows):
		return usagef("--rows needs 1 to %d different numbers from %d to %d",
			bench.MaxExplainSizes, bench.MinExplainRows, bench.MaxExplainRows)
	case errors.Is(err, bench.ErrTooWide):
		return usagef(
			"simulating tables of this size takes too long; use smaller --rows or leave out columns with --exclude")
	case err != nil:
		return err
	}
	e := newExplanation(p, plan, x)
	if asJSON {
		return writeJSON(a.stdout, e)
	}
	return e.text(a.stdout)
}

func newExplanation(
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
	x *bench.Explanation,
) *explanation {
	e := &explanation{
		Format: explainFormat, Notice: explainNotice,
		Target: p.Target, Method: plan.Method(), Selection: "auto",
		Epsilon: p.Budget.Epsilon, Delta: p.Budget.Delta,
		Relation: p.Budget.Relation.String(), Composition: p.Budget.Composition.String(),
		Holdout: p.Holdout,
		Assumed: explainAssumptions{bench.SyntheticR2, bench.SyntheticCorrelation, x.Tables,
			bench.ExplainTestRows, x.Seed},
		Notes: append([]string{}, x.Notes...),
	}
	if p.Selector != nil {
		e.Selection = p.Selector.Name()
	}
	e.carried = e.Method + ", selection " + e.Selection
	if p.Search != nil {
		e.Selection = fmt.Sprintf("by one of %d candidates", len(p.Search.Candidates))
		e.carried = fmt.Sprintf("search among %d candidates", len(p.Search.Candidates))
	}
	if s, ok := p.Selector.(selection.Sizer); ok && s.SizeList() != nil {
		e.carried += fmt.Sprintf(" with one of %d sizes", len(s.SizeList()))
	}
	for _, c := range p.Schema.Columns {
		switch {
		case c.Name == p.Target, p.GroupsOnly && c.Name == p.Groups:
		case c.Kind == dataset.Numeric:
			e.Features.Numeric++
		default:
			e.Features.Category++
		}
	}
	classes := p.Task == regression.TaskClassification
	if classes {
		n := len(p.Schema.Columns[p.Schema.Index(p.Target)].Categories)
		e.Classes, e.References = &n, &explainReferences{bandOf(x.Largest), bandOf(x.Truth)}
	}
	if classes || pipeline.MayAbstain(plan.Method()) {
		e.Format, e.Task = explainFormat2, p.Task
	}
	for _, s := range x.Sizes {
		size := explainedSize{
			Rows: s.Rows,
			Open: bandOf(s.Open),
		}
		for i, at := range s.At {
			fit := explainedFit{
				Epsilon:       x.Epsilons[i],
				explainedBand: bandOf(at.Band),
			}
			if e.Format == explainFormat2 {
				fit.Abstained = &at.Abstained
			}
			size.Private = append(size.Private, fit)
		}
		e.Sizes = append(e.Sizes, size)
	}
	return e
}
