package main

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/sys/terminal"
)

// text prints an explanation as a table with a legend.
func (e *explanation) text(w io.Writer) error {
	t := table.NewWriter()
	t.SetStyle(terminal.PlainTable())
	t.SuppressTrailingSpaces()
	head := table.Row{"epsilon"}
	columns := []table.ColumnConfig{{
		Number:      1,
		Align:       text.AlignRight,
		AlignHeader: text.AlignRight,
	}}
	for i, s := range e.Sizes {
		head = append(head, report.FormatCount(s.Rows)+" rows")
		columns = append(columns,
			table.ColumnConfig{
				Number:      i + 2,
				Align:       text.AlignRight,
				AlignHeader: text.AlignRight,
			})
	}
	t.SetColumnConfigs(columns)
	t.AppendHeader(head)
	row := func(name string, cell func(explainedSize) string) {
		out := table.Row{name}
		for _, s := range e.Sizes {
			out = append(out, cell(s))
		}
		t.AppendRow(out)
	}
	for i, fit := range e.Sizes[0].Private {
		name := digits(fit.Epsilon)
		if fit.Epsilon == e.Epsilon {
			name = "yours: " + name
		}
		row(name, func(s explainedSize) string {
			return s.Private[i].cell(e.Assumed.Tables)
		})
	}
	row("no privacy", func(s explainedSize) string {
		return s.Open.String()
	})
	name := "R²"
	legend := e.legend()
	if r := e.References; r != nil {
		name, legend = "accuracy", e.classLegend()
		row("largest class", func(explainedSize) string {
			return r.Largest.String()
		})
		row("true function", func(explainedSize) string {
			return r.Truth.String()
		})
	}
	_, err := fmt.Fprintf(w,
		"Expected %s on synthetic tables, not on your data: median (10%% to 90%%)\n\n%s\n\n%s",
		name, t.Render(), legend)
	return err
}

// cell formats a fit, with the number of tables on which the method abstained.
func (f explainedFit) cell(tables int) string {
	switch {
	case math.IsNaN(float64(f.Median)):
		return "abstains"
	case f.Abstained != nil && *f.Abstained > 0:
		return fmt.Sprintf(
			"%s, abstains on %d of %d",
			f.explainedBand,
			*f.Abstained,
			tables,
		)
	}
	return f.String()
}

// String formats a band, such as "0.61 (0.55 to 0.66)".
func (b explainedBand) String() string {
	return fmt.Sprintf(
		"%s (%s to %s)",
		decimals(b.Median),
		decimals(b.Lower),
		decimals(b.Upper),
	)
}

// decimals formats x with two decimals, without a minus sign for zero.
func decimals(x metric) string {
	if s := strconv.FormatFloat(float64(x), 'f', 2, 64); s != "-0.00" {
		return s
	}
	return "0.00"
}

// run describes the simulated run.
func (e *explanation) run() string {
	out := fmt.Sprintf("%s, %d numeric and %d category features", e.carried, e.Features.Numeric,
		e.Features.Category)
	if e.Classes != nil {
		out += fmt.Sprintf(", %d classes", *e.Classes)
	}
	return out +
		fmt.Sprintf(", delta %s, relation %s, held-out share %v", fault.Readable(e.Delta), e.Relation,
			e.Holdout)
}

// drawn describes the distribution of the features in the synthetic tables.
func (e *explanation) drawn() string {
	return fmt.Sprintf(
		"%d generated tables with your columns. Numeric features: normal, correlation %v. Categories: equally likely. ",
		e.Assumed.Tables, e.Assumed.Correlation)
}

// legend describes the synthetic tables and how to read the results.
func (e *explanation) legend() string {
	synthetic := e.drawn() +
		fmt.Sprintf(
			"Target: a linear function of all features plus noise, such that the true function has R² %v. No missing values, no outliers.",
			e.Assumed.R2)
	reading := fmt.Sprintf(
		"R² is exact, computed on %s other rows. The ceiling is %v; a constant prediction has 0. "+
			"The last line, \"no privacy\", is least squares. The number of rows includes held-out records. "+
			"Choose the smallest epsilon whose loss against \"no privacy\" you can accept at about your number of rows.",
		report.FormatCount(e.Assumed.TestRows), e.Assumed.R2)
	limits := "Real tables have skewed columns, outliers, missing values and nonlinear effects, so results may be worse; " +
		"with a few strong features, selection may do better."
	return e.paragraphs(synthetic, reading, limits)
}

// classLegend is the legend for a classification.
func (e *explanation) classLegend() string {
	target := fmt.Sprintf(
		"Target: a score that is a linear function of all features plus noise, such that the true function has R² %v; "+
			"records with a positive score have the second class, so both classes are equally large.",
		e.Assumed.R2)
	if *e.Classes > 2 {
		target = fmt.Sprintf(
			"Target: one score per class, a linear function of all features plus noise, such that the true function has R² %v; "+
				"the class is the one with the largest score, so classes are about equally large.",
			e.Assumed.R2)
	}
	reading := fmt.Sprintf(
		"Accuracy is exact, computed on %s other rows. \"largest class\" always answers the most frequent class, without a model; "+
			"\"true function\", the score without its noise, is the ceiling; \"no privacy\" is logistic regression. "+
			"The number of rows includes held-out records. Choose the smallest epsilon whose loss against \"no privacy\" you can accept at "+
			"about your number of rows.", report.FormatCount(e.Assumed.TestRows))
	limits := "Real tables have classes of unequal size, skewed columns, outliers, missing values and nonlinear effects. If one class is large, " +
		"\"largest class\" is its share, which leaves less to gain; with a few strong features, selection may do better."
	return e.paragraphs(e.drawn()+target+" No missing values, no outliers, no unlabelled records.",
		reading, limits)
}

func (e *explanation) paragraphs(synthetic, reading, limits string) string {
	if e.abstains() {
		reading += " Tables on which the method abstained have no model and are left out of the numbers."
	}
	out := report.Paragraph("Run", e.run()) + report.Paragraph("Synthetic", synthetic) +
		report.Paragraph("Reading", reading) +
		report.Paragraph("Limits", limits+" No row was read and no budget was spent.")
	for _, note := range e.Notes {
		out += report.Paragraph("Note", note)
	}
	return out
}

// abstains reports whether the method abstained on any table.
func (e *explanation) abstains() bool {
	for _, s := range e.Sizes {
		for _, fit := range s.Private {
			if fit.Abstained != nil && *fit.Abstained > 0 {
				return true
			}
		}
	}
	return false
}
