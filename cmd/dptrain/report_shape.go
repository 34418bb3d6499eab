package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/sys/terminal"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/regression"
)

// scoreName is the pseudo-column for the score of an additive model.
const scoreName = "(score)"

// printShape prints the contribution of a column to the predictions of a model.
func (a *app) printShape(path, column string) error {
	m, err := readModel(path, "")
	if err != nil {
		return err
	}
	var parts []part
	for _, x := range report.SumsOf(m) {
		parts = append(parts, part{x})
	}
	if len(parts) == 0 {
		return fault.WithKind(fault.Usage,
			&pathError{path,
				errors.New(
					"columns have no shape in this model because it is not a sum over columns: it predicts by a vote or by the nearest prototype")})
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
		return usagef("the model has no column %q; its columns are %s", column,
			strings.Join(names, ", "))
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

// A part is a sum of terms and curves: a model, or the score of one class.
type part struct{ report.Sum }

// names lists the columns that contribute.
func (p part) names() []string {
	var out []string
	for _, c := range p.Columns {
		out = append(out, c.Name)
	}
	if p.Score != nil {
		out = append(out, scoreName)
	}
	return out
}

// print prints the linear term, the categories and the curve of a column.
func (p part) print(w io.Writer, name string) error {
	var b strings.Builder
	row := func(label, text string) {
		b.WriteString(report.Paragraph(label, text))
	}
	unit := "in units of " + p.Target
	if p.Back != nil {
		unit = "in units of " + rescale.Transform(p.Back.Transform).Name(p.Target)
	}
	if p.Class != "" {
		unit = "of the score of class " + p.Class
	}
	j := slices.IndexFunc(p.Columns, func(c regression.Column) bool {
		return c.Name == name
	})
	switch {
	case j >= 0 && p.Columns[j].Type == regression.Category:
		row("Column", name+": a category; values "+unit)
		b.WriteString("\n" + p.categories(j) + "\n")
		if text := p.curveText(j); text != "" {
			b.WriteString("\n")
			row("Score", text)
		}
	case j >= 0:
		if p.Columns[j].Values != nil {
			row("Column", name+": text values encoded as means of the target; values "+unit)
			b.WriteString("\n" + numbersOf(&p.Columns[j]) + "\n\n")
		} else {
			row("Column", name+": a number; values "+unit)
		}
		for _, t := range p.Terms {
			if t.Column == j {
				text := fmt.Sprintf("%s per unit of %s", digits(t.Coefficient), name)
				if deviation := p.StdError(t); deviation > 0 {
					text += ", standard error " + digits(deviation)
				}
				row("Line", text)
			}
		}
		if s := p.curve(j); s != nil {
			b.WriteString("\n" + steps(*s) + "\n")
		} else {
			row("Curve", "none")
		}
		if text := p.curveText(j); text != "" {
			b.WriteString("\n")
			row("Score", text)
		}
	case p.Score != nil:
		row("Column",
			scoreName+
				": a linear combination of all columns, with the coefficients in the model file; values "+
				unit)
		b.WriteString("\n" + steps(p.Score.Step) + "\n")
	default:
		row("Column", name+": not used in this part")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// curve returns the curve of a column, or nil if it has none.
func (p part) curve(column int) *regression.Step {
	for i := range p.Shapes {
		if s := &p.Shapes[i]; s.Column == column {
			return &s.Step
		}
	}
	return nil
}

// curveText describes the effect of the curve of the score on a column. The score is linear in all columns, so the
// curve changes the effect of each. It returns "" for a model without such a curve.
func (p part) curveText(column int) string {
	if p.Score == nil {
		return ""
	}
	from, to, low, high := p.rangeEnds(column)
	curve := func(x float64) string {
		return digits(p.Score.Evaluate(x))
	}
	return fmt.Sprintf(
		"in addition, a curve is applied to the score, a linear combination of all columns. With all other numbers in the middle of their ranges and all other categories at their means, "+
			"the score is %s at %s and %s at %s, where the curve adds %s and %s. --shape %q prints it",
		digits(low), from, digits(high), to, curve(low), curve(high), scoreName)
}

// rangeEnds returns the scores of the model at the two ends of the range of a column, or at the categories with the
// lowest and the highest score, and the names of these ends. Other numeric columns are at the middle of their range,
// and other categorical columns contribute 0.
func (p part) rangeEnds(column int) (from, to string, low, high float64) {
	score := p.Score
	base := score.Intercept
	c := p.Columns[column]
	low, high = math.Inf(1), math.Inf(-1)
	for i, t := range p.Terms {
		x := score.Coefficients[i]
		at := p.Columns[t.Column]
		switch {
		case t.Missing:
		case t.Column != column && at.Type == regression.Numeric:
			base += x * (at.Lower/2 + at.Upper/2)
		case t.Column != column:
		case c.Type == regression.Numeric:
			from, to = edge(c.Lower), edge(c.Upper)
			low, high = x*c.Lower, x*c.Upper
		default:
			name := strconv.Quote(t.Category)
			if t.Other {
				name = "all others"
			}
			if x < low {
				from = name
				low = x
			}
			if x > high {
				to = name
				high = x
			}
		}
	}
	if low > high && c.Type == regression.Category { // a category without a term
		return "any", "any", base, base
	}
	if c.Type == regression.Numeric && from == "" {
		return edge(c.Lower), edge(c.Upper), base, base
	}
	return from, to, base + low, base + high
}

// steps formats a curve with one step per line.
func steps(s regression.Step) string {
	t := terminal.RightAligned(3)
	t.AppendHeader(table.Row{"from", "below", "value"})
	for i, v := range s.Values {
		from := ""
		below := ""
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

// edge formats the start of a step with six digits, since neighbouring edges can be close.
func edge(x float64) string {
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// numbersOf formats the numbers assigned to the texts of a column.
func numbersOf(c *regression.Column) string {
	t := terminal.RightAligned(2)
	t.AppendHeader(table.Row{"value", "number"})
	for i, name := range c.Categories {
		t.AppendRow(table.Row{strconv.Quote(name), digits(c.Values[i])})
	}
	t.AppendRow(table.Row{"all others", digits(c.Values[len(c.Categories)])})
	return t.Render()
}

// categories formats the terms of a category column. A category without a term contributes 0.
func (p part) categories(column int) string {
	c := p.Columns[column]
	stated := slices.ContainsFunc(p.Terms, func(t regression.Term) bool {
		return t.Column == column && p.StdError(t) > 0
	})
	t := terminal.RightAligned(3)
	head := table.Row{"category", "value"}
	if stated {
		head = append(head, "standard error")
	}
	t.AppendHeader(head)
	add := func(name string, matches func(regression.Term) bool) {
		value := 0.
		deviation := 0.
		for _, term := range p.Terms {
			if term.Column == column && matches(term) {
				value = term.Coefficient
				deviation = p.StdError(term)
			}
		}
		row := table.Row{name, digits(value)}
		if stated {
			row = append(row, digits(deviation))
		}
		t.AppendRow(row)
	}
	for _, category := range c.Categories {
		add(strconv.Quote(category), func(t regression.Term) bool {
			return !t.Other && t.Category == category
		})
	}
	if c.Other {
		add("all others", func(t regression.Term) bool {
			return t.Other
		})
	}
	return t.Render()
}
