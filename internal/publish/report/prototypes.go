package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/publish/document"
	"github.com/dptrain/dptrain/regression"
)

// mostTypical is the number of prototypes described in text.
const mostTypical = 12

// A typical is a prototype of a class with the columns of its model.
type typical struct {
	class   string
	columns []regression.Column
	regression.Prototype
}

// typicalOf lists the prototypes of a classifier, class by class; nil for a model without any.
func typicalOf(m regression.Model) []typical {
	c, ok := m.(*regression.Classifier)
	if !ok {
		return nil
	}
	var out []typical
	for i, score := range c.Scores {
		m, ok := score.(*regression.Prototypes)
		if !ok {
			return nil
		}
		for _, p := range m.Prototypes {
			class := len(c.Classes) - len(c.Scores) + i
			if p.Against {
				class-- // with two classes, the first has no score
			}
			out = append(out, typical{printableName(c.Classes[class]), m.Columns, p})
		}
	}
	return out
}

// describe lists the values of the prototype in the first columns: a number, or the likeliest category with its
// share.
func (p typical) describe() string {
	best := make([]int, len(p.columns))
	for j := range best {
		best[j] = -1
	}
	for k, t := range p.Terms {
		if at := best[t.Column]; !t.Missing && (at < 0 || p.Centers[k] > p.Centers[at]) {
			best[t.Column] = k
		}
	}
	var parts []string
	for j, c := range p.columns {
		if len(parts) == mostNames {
			parts = append(parts, fmt.Sprintf("and %d more", len(p.columns)-mostNames))
			break
		}
		if best[j] < 0 {
			continue
		}
		value := fourDigits(p.Centers[best[j]])
		if c.Type == regression.Category {
			value = fmt.Sprintf(
				"%s (%s)",
				levelOf(p.Terms[best[j]]),
				wholePercent(p.Centers[best[j]]),
			)
		}
		parts = append(parts, printableName(c.Name)+" "+value)
	}
	return strings.Join(parts, ", ")
}

// fourDigits prints a number with four digits, and wholePercent a share in whole percent: noise hides further digits.
func fourDigits(x float64) string {
	return strconv.FormatFloat(x, 'g', 4, 64)
}

func wholePercent(x float64) string {
	return fmt.Sprintf("%.0f%%", 100*x)
}

func levelOf(t regression.Term) string {
	if t.Other {
		return "another"
	}
	return printableName(t.Category)
}

// Typical prints a typical member of each class for a model of prototypes; for other models the output is empty. All
// of it is public. It returns the errors of w.
func Typical(w io.Writer, m regression.Model) error {
	list := typicalOf(m)
	var b strings.Builder
	for i, p := range list {
		if i == mostTypical {
			b.WriteString(
				Paragraph("Typical",
					fmt.Sprintf("and %d more prototypes, listed by report --format md",
						len(list)-i)))
			break
		}
		b.WriteString(Paragraph("Typical", p.class+": "+p.describe()))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// typicalBlocks is the table of all prototypes. One direction lists them, the other one the numbers, levels and missing
// cells; the longer list goes down the page.
func typicalBlocks(s Source) []document.Block {
	list := typicalOf(s.Model)
	if len(list) == 0 {
		return nil
	}
	g := &document.Table{Head: []string{"Column"}}
	for _, p := range list {
		g.Head = append(g.Head, p.class)
	}
	for k, t := range list[0].Terms {
		name := printableName(list[0].columns[t.Column].Name)
		share := t.Missing || list[0].columns[t.Column].Type == regression.Category
		switch {
		case t.Missing:
			name += " is missing"
		case share:
			name += " is " + levelOf(t)
		}
		row := []string{name}
		for _, p := range list {
			value := fourDigits(p.Centers[k])
			if share {
				value = wholePercent(p.Centers[k])
			}
			row = append(row, value)
		}
		g.Rows = append(g.Rows, row)
	}
	if len(list) > len(g.Rows) {
		g = transpose(g, "Class")
	}
	out := document.Block{
		Text: "The model consists of these prototypes, in the units of the table: a record belongs to the class with the nearest prototypes, in a metric that was also released. " +
			"They started at the noisy means of the classes and were moved so as to separate the classes; they describe their classes and are not records of anyone.",
		Table: g,
	}
	if len(list[0].Terms)*len(list) > mostCells {
		out.Fold = fmt.Sprintf("%d prototypes", len(list))
	}
	return []document.Block{out}
}

// transpose exchanges the rows and the columns of a table of text. corner is the heading of its new first column.
func transpose(t *document.Table, corner string) *document.Table {
	out := &document.Table{Head: []string{corner}}
	for _, row := range t.Rows {
		out.Head = append(out.Head, row[0])
	}
	for j, name := range t.Head[1:] {
		row := []string{name}
		for _, of := range t.Rows {
			row = append(row, of[j+1])
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// mostCells is the largest table of prototypes that is shown unfolded.
const mostCells = 200
