package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/dptrain/dptrain/regression"
	"github.com/dptrain/dptrain/report"
)

// scoreName stands for the score of an additive model among its columns.
const scoreName = "(score)"

// printShape prints what a column adds to the prediction of a model.
func (a *app) printShape(path, column string) error {
	m, err := readModel(path, "")
	if err != nil {
		return err
	}
	parts := partsOf(m)
	if len(parts) == 0 {
		return &sorted{&pathError{path, errors.New("this model is no sum of columns, so no column has a shape: what it predicts is a vote")}, errUsage}
	}
	names := parts[0].names()
	for _, p := range parts[1:] {
		for _, name := range p.names() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if !slices.Contains(names, column) {
		return usagef("the model has no column %q; it has %s", column, strings.Join(names, ", "))
	}
	for i, p := range parts {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		if err := p.print(a.stdout, column); err != nil {
			return err
		}
	}
	return nil
}

// part is a sum of terms and curves: a model, or the score of a class.
type part struct {
	class  string // "" for a whole model
	linear *regression.Linear
	curves *regression.Additive // nil: none
}

// partsOf takes a model apart; nil for a kind that is no sum.
func partsOf(m regression.Model) []part {
	switch m := m.(type) {
	case *regression.Linear:
		return []part{{linear: m}}
	case *regression.ClippedLinear:
		return []part{{linear: &m.Linear}}
	case *regression.Additive:
		return []part{{linear: &m.Linear, curves: m}}
	case *regression.Classifier:
		var out []part
		for i, score := range m.Scores {
			for _, p := range partsOf(score) {
				p.class = m.Classes[len(m.Classes)-len(m.Scores)+i]
				out = append(out, p)
			}
		}
		return out
	}
	return nil
}

// names lists what has a shape.
func (p part) names() []string {
	var out []string
	for _, c := range p.linear.Columns {
		out = append(out, c.Name)
	}
	if p.curves != nil && p.curves.Score != nil {
		out = append(out, scoreName)
	}
	return out
}

// print writes the line, the categories and the curve of a column.
func (p part) print(w io.Writer, name string) error {
	var b strings.Builder
	row := func(label, text string) { b.WriteString(report.Paragraph(label, text)) }
	unit := "in units of " + p.linear.Target
	if p.class != "" {
		unit = "of the score of class " + p.class
	}
	j := slices.IndexFunc(p.linear.Columns, func(c regression.Column) bool { return c.Name == name })
	switch {
	case j >= 0 && p.linear.Columns[j].Type == regression.Category:
		row("Column", name+": a category; values "+unit)
		b.WriteString("\n" + p.categories(j) + "\n")
	case j >= 0:
		row("Column", name+": a number; values "+unit)
		for _, t := range p.linear.Terms {
			if t.Column == j {
				row("Line", fmt.Sprintf("%s for each unit of %s, standard error %s", digits(t.Coefficient), name, digits(t.StdError)))
			}
		}
		if s := p.curve(j); s != nil {
			b.WriteString("\n" + steps(*s) + "\n")
		} else {
			row("Curve", "none: the line says all about this column")
		}
	case p.curves != nil && p.curves.Score != nil:
		row("Column", scoreName+": a linear prediction made of all columns, whose coefficients the model file lists; values "+unit)
		b.WriteString("\n" + steps(p.curves.Score.Step) + "\n")
	default:
		row("Column", name+": not in this part")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// curve returns that of a column; nil if it has none.
func (p part) curve(column int) *regression.Step {
	if p.curves == nil {
		return nil
	}
	for i := range p.curves.Shapes {
		if s := &p.curves.Shapes[i]; s.Column == column {
			return &s.Step
		}
	}
	return nil
}

// steps prints a curve, one step a line.
func steps(s regression.Step) string {
	t := rightAligned(3)
	t.AppendHeader(table.Row{"from", "below", "value"})
	for i, v := range s.Values {
		from, below := "", ""
		if i > 0 {
			from = edge(s.Edges[i-1])
		}
		if i < len(s.Edges) {
			below = edge(s.Edges[i])
		}
		t.AppendRow(table.Row{from, below, digits(v)})
	}
	return t.Render()
}

// edge prints where a step begins; neighbouring edges can be close.
func edge(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// categories prints the terms of a category column. A category without a term
// adds nothing.
func (p part) categories(column int) string {
	c := p.linear.Columns[column]
	t := rightAligned(3)
	t.AppendHeader(table.Row{"category", "value", "standard error"})
	add := func(name string, of func(regression.Term) bool) {
		value, deviation := 0., 0.
		for _, term := range p.linear.Terms {
			if term.Column == column && of(term) {
				value, deviation = term.Coefficient, term.StdError
			}
		}
		t.AppendRow(table.Row{name, digits(value), digits(deviation)})
	}
	for _, category := range c.Categories {
		add(strconv.Quote(category), func(t regression.Term) bool { return !t.Other && t.Category == category })
	}
	if c.Other {
		add("every other", func(t regression.Term) bool { return t.Other })
	}
	return t.Render()
}

// rightAligned is a table of numbers.
func rightAligned(columns int) table.Writer {
	t := table.NewWriter()
	t.SetStyle(plainTable())
	t.SuppressTrailingSpaces()
	var config []table.ColumnConfig
	for i := range columns {
		config = append(config, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(config)
	return t
}
