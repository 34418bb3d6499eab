package report

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/publish/chart"
	"github.com/dptrain/dptrain/internal/publish/document"
	"github.com/dptrain/dptrain/internal/train/describe"
)

// body shows the estimates.
func (d *Description) body(Source) pageBody {
	records := document.Fact{
		Name:  "Records",
		Value: grouped(*d.Records.Value, 0),
		Note:  grouped(*d.Records.Lower, 0) + " to " + grouped(*d.Records.Upper, 0),
	}
	return pageBody{
		title: "Private description of a table",
		facts: []document.Fact{records},
		sections: []document.Section{
			{
				ID:     "columns",
				Title:  "Columns",
				Blocks: d.columnBlocks(),
			},
			{
				ID:     "histograms",
				Title:  "Histograms and categories",
				Blocks: d.histogramBlocks(),
			},
			{
				ID:     "associations",
				Title:  "Associations",
				Blocks: d.associationBlocks(),
			},
			{
				ID:     "groups",
				Title:  "Groups",
				Blocks: d.groupBlocks(),
			},
		},
	}
}

// columnBlocks lists the estimates of every column.
func (d *Description) columnBlocks() []document.Block {
	show := func(e describe.Estimate) string {
		return interval(e.Value, e.Lower, e.Upper)
	}
	numeric := &document.Table{
		Intervals: true,
		Head: []string{"column", "range", "missing", "mean", "standard deviation",
			"lower quartile", "median", "upper quartile"},
	}
	other := &document.Table{Head: []string{"column", "kind", "categories"}}
	for _, c := range d.Columns {
		switch c.Kind {
		case describe.Numeric:
			numeric.Rows = append(numeric.Rows,
				[]string{printableName(c.Name),
					short3(c.Range[0]) + " to " + short3(c.Range[1]) + " (" + c.Source + ")",
					shareText(c.Missing),
					show(c.Mean), show(c.Deviation), show(c.Quartiles[0]), show(c.Quartiles[1]),
					show(c.Quartiles[2])})
		case describe.Category:
			other.Rows = append(other.Rows,
				[]string{printableName(c.Name), "categories, " + c.Source,
					fmt.Sprint(max(len(c.Categories)-1, 0))})
		default:
			other.Rows = append(other.Rows,
				[]string{printableName(c.Name), "no range or categories were found", "none"})
		}
	}
	out := []document.Block{prose(
		"Each interval contains the value for the table with 95% confidence, separately for each number. Means and standard deviations are " +
			"of values clamped to the range, and everything except the share of missing values is for records with a value.")}
	if len(numeric.Rows) > 0 {
		out = append(out, document.Block{Table: numeric})
	}
	if len(other.Rows) > 0 {
		out = append(out, document.Block{Table: other})
	}
	return out
}

// shareText prints a share in percent.
func shareText(e describe.Estimate) string {
	if !e.Known() {
		return "unknown"
	}
	return fmt.Sprintf(
		"%.1f%% (%.1f%% to %.1f%%)",
		100**e.Value,
		100**e.Lower,
		100**e.Upper,
	)
}

// histogramBars is the number of bars of a histogram, in addition to one for the values below its range and one for
// those above.
const histogramBars = 16

// mostBars is the maximum number of categories drawn.
const mostBars = 20

// histogramBlocks draws each column.
func (d *Description) histogramBlocks() []document.Block {
	var out []document.Block
	for _, c := range d.Columns {
		var bars []chart.Bar
		t := &document.Table{Head: []string{"values", "records", "lower", "upper"}}
		add := func(label string, e describe.Estimate) {
			bars = append(bars,
				chart.Bar{
					Label: label,
					Value: *e.Value,
					Low:   *e.Lower,
					High:  *e.Upper,
					Text:  grouped(*e.Value, 0),
				})
			t.Rows = append(t.Rows,
				[]string{label, grouped(*e.Value, 0), grouped(*e.Lower, 0), grouped(*e.Upper, 0)})
		}
		caption := "Records of " + printableName(c.Name) + ", with 95% intervals."
		switch c.Kind {
		case describe.Numeric:
			add("below "+short3(c.Range[0]), c.Below)
			for k, e := range describe.Bars(c.Bins, histogramBars) {
				each := len(c.Bins.Counts) / histogramBars
				add(short3(c.Bins.Edges[k*each])+" to "+short3(c.Bins.Edges[(k+1)*each]), e)
			}
			add("above "+short3(c.Range[1]), c.Above)
			caption = "Records by the value of " + printableName(c.Name) +
				", with 95% intervals. The first and the last bar include all values beyond the range."
		case describe.Category:
			for k, x := range c.Categories {
				if k < mostBars || x.Other {
					add(categoryName(x.Name, x.Other), x.Count)
				}
			}
			if more := len(c.Categories) - 1 - mostBars; more > 0 {
				caption += fmt.Sprintf(" %d more categories are not shown.", more)
			}
		default:
			continue
		}
		out = append(out, figure(chart.Bars(printableName(c.Name), bars), caption, t))
	}
	return out
}

// mostAssociations is the maximum number of associations listed.
const mostAssociations = 50

func (d *Description) associationBlocks() []document.Block {
	strong := d.strongest()
	if len(d.Correlations) == 0 {
		return nil
	}
	text := fmt.Sprintf(
		"%[2]d of %[1]d pairs of columns could be estimated at this budget. Values are clamped at their outer quantiles, and missing values count as the median. "+
			"The second interval holds jointly for all pairs.", len(d.Correlations), len(strong))
	if len(strong) > mostAssociations {
		text += fmt.Sprintf(" The strongest %d are shown.", mostAssociations)
	}
	t := &document.Table{Head: []string{"columns", "measure", "value", "95% interval",
		"for all pairs"}}
	for _, a := range strong[:min(len(strong), mostAssociations)] {
		t.Rows = append(t.Rows,
			[]string{printableName(a.First) + ", " + printableName(a.Second), a.Measure,
				fmt.Sprintf("%.3f", *a.Value),
				fmt.Sprintf("%.3f to %.3f", *a.Lower, *a.Upper),
				fmt.Sprintf("%.3f to %.3f", *a.LowerAll, *a.UpperAll)})
	}
	out := []document.Block{prose(text)}
	if len(t.Rows) > 0 {
		out = append(out, document.Block{Table: t})
	}
	return out
}

func (d *Description) groupBlocks() []document.Block {
	if d.By == nil {
		return nil
	}
	t := &document.Table{
		Intervals: true,
		Head:      []string{printableName(d.By.Column), "records"},
	}
	for _, c := range d.Columns {
		if c.Kind == describe.Numeric {
			t.Head = append(t.Head, "mean of "+printableName(c.Name))
		}
	}
	for _, g := range d.By.Groups {
		row := []string{categoryName(g.Name, g.Other), counts(g.Count)}
		for i := range len(t.Head) - 2 {
			switch {
			case g.Small:
				row = append(row, "too few records")
			case i < len(g.Means):
				m := g.Means[i]
				row = append(row, interval(m.Value, m.Lower, m.Upper))
			default:
				row = append(row, "unknown")
			}
		}
		t.Rows = append(t.Rows, row)
	}
	misses := 100 * (1 - math.Pow(.95, float64(len(d.By.Groups))))
	return []document.Block{prose(
		fmt.Sprintf(
			"Each interval holds separately for its group: with %d groups, at least one interval of a column misses in up to about %.0f%% of descriptions. "+
				"The group \"other\" contains all other values and missing values.", len(d.By.Groups),
			misses)), {Table: t}}
}
