package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/bench"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/pipeline"
	"github.com/dptrain/dptrain/report"
)

// explainFlags are the flags of `plan --explain`.
type explainFlags struct {
	explain bool
	rows    []int
}

func (f *explainFlags) add(set *pflag.FlagSet) {
	set.BoolVar(&f.explain, "explain", false, "instead of the price, print the expected R² at several epsilons on synthetic\ntables of this shape; takes some seconds")
	set.IntSliceVar(&f.rows, "rows", bench.DefaultExplainRows(), "with --explain: `SIZES` of the synthetic tables, such as 500,5000")
}

// check refuses what the flags alone show to be wrong.
func (f *explainFlags) check(changed func(string) bool) error {
	if changed("rows") && !f.explain {
		return usagef("--rows is for --explain: the price does not depend on the number of rows")
	}
	if !changed("rows") {
		f.rows = nil // the defaults, which may be cut short
	}
	return nil
}

// explainFormat is the value of the key "format" of `plan --explain --json`.
const explainFormat = "dptrain.explain/1"

const explainNotice = "Computed on synthetic tables, not on your data: no row was read."

// explanation is an expected error. Its fields are the keys of
// `plan --explain --json`.
type explanation struct {
	Format      string             `json:"format"`
	Notice      string             `json:"notice"`
	Target      string             `json:"target"`
	Method      string             `json:"method"`
	Selection   string             `json:"selection"`
	Features    explainedFeatures  `json:"features"`
	Epsilon     float64            `json:"epsilon"` // of the recipe
	Delta       float64            `json:"delta"`
	Relation    string             `json:"relation"`
	Composition string             `json:"composition"`
	Holdout     float64            `json:"holdout"`
	Assumed     explainAssumptions `json:"assumptions"`
	Sizes       []explainedSize    `json:"sizes"`
	Notes       []string           `json:"notes"`
}

type explainedFeatures struct {
	Numeric  int `json:"numeric"`
	Category int `json:"category"`
}

// explainAssumptions say what the synthetic tables are like.
type explainAssumptions struct {
	R2          float64 `json:"r2"`          // of the true function
	Correlation float64 `json:"correlation"` // of two numeric features
	Tables      int     `json:"tables"`
	TestRows    int     `json:"test_rows"`
	Seed        uint64  `json:"seed"`
}

type explainedSize struct {
	Rows    int            `json:"rows"`
	Open    explainedBand  `json:"nonprivate"`
	Private []explainedFit `json:"private"`
}

// explainedBand is the median and the 10% and 90% quantiles of R².
type explainedBand struct {
	Median float64 `json:"median"`
	Lower  float64 `json:"lower"`
	Upper  float64 `json:"upper"`
}

type explainedFit struct {
	Epsilon float64 `json:"epsilon"`
	explainedBand
}

// explain prints the expected error of a pipeline.
func (a *app) explain(ctx context.Context, p *pipeline.Pipeline, plan *pipeline.Plan, f *explainFlags, asJSON bool) error {
	config := bench.ExplainConfig{Rows: f.rows}
	clearLine := func() {}
	if a.terminal {
		clearLine = func() { fmt.Fprint(a.stderr, "\r\x1b[K") }
		config.Progress = func(done, total int) { fmt.Fprintf(a.stderr, "\r%d of %d models", done, total) }
	}
	x, err := bench.Explain(ctx, p, config)
	clearLine()
	switch {
	case errors.Is(err, bench.ErrExplainRows):
		return usagef("--rows takes 1 to %d different numbers from %d to %d",
			bench.MaxExplainSizes, bench.MinExplainRows, bench.MaxExplainRows)
	case errors.Is(err, bench.ErrExplainTask):
		return usagef("--explain is for regression: its synthetic tables have a number as their target; `dptrain plan` without it prints the price")
	case errors.Is(err, bench.ErrTooWide):
		return usagef("tables of this shape and number of rows take too long to simulate; give a smaller --rows, or leave columns out with --exclude")
	case err != nil:
		return err
	}
	e := newExplanation(p, plan, x)
	if asJSON {
		enc := json.NewEncoder(a.stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(e)
	}
	return e.text(a.stdout)
}

func newExplanation(p *pipeline.Pipeline, plan *pipeline.Plan, x *bench.Explanation) *explanation {
	e := &explanation{
		Format: explainFormat, Notice: explainNotice,
		Target: p.Target, Method: plan.Method(), Selection: "auto",
		Epsilon: p.Budget.Epsilon, Delta: p.Budget.Delta,
		Relation: p.Budget.Relation.String(), Composition: p.Budget.Composition.String(), Holdout: p.Holdout,
		Assumed: explainAssumptions{bench.SyntheticR2, bench.SyntheticCorrelation, x.Tables, bench.ExplainTestRows, x.Seed},
		Notes:   append([]string{}, x.Notes...),
	}
	switch {
	case p.Search != nil:
		e.Selection = fmt.Sprintf("that of one of %d candidates", len(p.Search.Candidates))
	case p.Selector != nil:
		e.Selection = p.Selector.Name()
	}
	for _, c := range p.Schema.Columns {
		switch {
		case c.Name == p.Target:
		case c.Kind == dataset.Numeric:
			e.Features.Numeric++
		default:
			e.Features.Category++
		}
	}
	for _, s := range x.Sizes {
		size := explainedSize{Rows: s.Rows, Open: explainedBand(s.Open)}
		for i, band := range s.At {
			size.Private = append(size.Private, explainedFit{x.Epsilons[i], explainedBand(band)})
		}
		e.Sizes = append(e.Sizes, size)
	}
	return e
}

func (e *explanation) text(w io.Writer) error {
	t := table.NewWriter()
	t.SetStyle(plainTable())
	t.SuppressTrailingSpaces()
	head := table.Row{"epsilon"}
	columns := []table.ColumnConfig{{Number: 1, Align: text.AlignRight, AlignHeader: text.AlignRight}}
	open := table.Row{"no privacy"}
	for i, s := range e.Sizes {
		head = append(head, fmt.Sprintf("%d rows", s.Rows))
		open = append(open, s.Open.String())
		columns = append(columns, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	t.AppendHeader(head)
	for i, fit := range e.Sizes[0].Private {
		name := digits(fit.Epsilon)
		if fit.Epsilon == e.Epsilon {
			name = "yours: " + name
		}
		row := table.Row{name}
		for _, s := range e.Sizes {
			row = append(row, s.Private[i].String())
		}
		t.AppendRow(row)
	}
	t.AppendRow(open)
	_, err := fmt.Fprintf(w, "Expected R² on synthetic tables, not on your data: median (10%% to 90%%)\n\n%s\n\n%s", t.Render(), e.legend())
	return err
}

// String prints a band as "0.61 (0.55 to 0.66)".
func (b explainedBand) String() string {
	return fmt.Sprintf("%s (%s to %s)", decimals(b.Median), decimals(b.Lower), decimals(b.Upper))
}

// decimals prints two decimals, and no minus sign before 0.00.
func decimals(x float64) string {
	if s := strconv.FormatFloat(x, 'f', 2, 64); s != "-0.00" {
		return s
	}
	return "0.00"
}

// legend says what the table is made of and how to read it.
func (e *explanation) legend() string {
	run := fmt.Sprintf("%s, selection %s, %d numeric and %d category features, delta %v, relation %s, held-out share %v",
		e.Method, e.Selection, e.Features.Numeric, e.Features.Category, e.Delta, e.Relation, e.Holdout)
	synthetic := fmt.Sprintf("%d tables drawn by program with your columns. Numeric features: normal, correlation %v. Categories: all equally likely. "+
		"Target: linear in the features, every feature counts, plus noise so that the true function has R² %v. No missing cells, no outliers.",
		e.Assumed.Tables, e.Assumed.Correlation, e.Assumed.R2)
	reading := fmt.Sprintf("R² is exact, on %d further rows. %v is the ceiling, 0 is as good as a constant. "+
		"The number of rows counts those held out. Take the smallest epsilon whose loss against \"no privacy\" you can accept at "+
		"about your number of rows; the last line is least squares.", e.Assumed.TestRows, e.Assumed.R2)
	limits := "Real tables have skewed columns, outliers, missing cells and effects that are not linear, so results may be worse; " +
		"with few strong features selection may do better. No row was read and nothing was spent."
	out := report.Paragraph("Run", run) + report.Paragraph("Synthetic", synthetic) +
		report.Paragraph("Reading", reading) + report.Paragraph("Limits", limits)
	for _, note := range e.Notes {
		out += report.Paragraph("Note", note)
	}
	return out
}
