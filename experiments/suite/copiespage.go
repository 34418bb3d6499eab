package suite

import (
	"fmt"
	"strconv"
)

func copiesPage(records []Record) Page {
	x := newIndex(records)
	p := Page{
		Title: "Correlated copies: Kendall against SubLasso (theorem 3.8 of seed 001)",
		Lead: []string{
			fmt.Sprintf(
				"The theorem's tables: %d independent standard normal columns whose sum, with noise of variance %v, is the target; each has some copies; independent columns fill up to %d; columns are in random order. The right answer is exactly one column of each group of copies.",
				copiesInformative, copiesNoise, copiesColumns),
			fmt.Sprintf(
				"Every method chooses %d columns with epsilon = %v, delta = 0 (add or remove one record), and nothing else is spent. SubLasso has √n buckets, as if the number of rows were public, and lambda = 0.1 on standardised columns; sis-tau takes the largest |tau| with the target and knows nothing of copies.",
				copiesInformative, copiesEpsilon),
			fmt.Sprintf(
				"A lasso that meets exact copies takes the first of them in every bucket, because its descent goes by position; so exact copies are easy for it. In the tables of near copies each copy has a correlation of %v with the original.",
				nearCorrelation),
			"A trial is a fresh table, the same for every method. Intervals are 95%: Wilson's for shares of trials, the normal one for means.",
		},
	}
	for _, part := range []struct{ title, metric, label string }{
		{"Trials with exactly the right columns", metricRight, "share of trials"},
		{"Groups that are represented", metricGroups, "share of the groups"},
	} {
		p.Sections = append(p.Sections, copiesSection(x, part.title, part.metric, part.label))
	}
	return p
}

// copiesSection shows one metric by the number of copies and by n.
func copiesSection(x index, title, metric, label string) Section {
	s := Section{Title: title}
	for i, m := range copiesSelectors() {
		s.Legend = append(s.Legend, Series{
			Name:  m.name,
			Style: i,
		})
	}
	for _, data := range []string{exactCopies, nearCopies} {
		byCopies := Figure{
			Title:  fmt.Sprintf("%s, n = %d", data, copiesRows),
			XLabel: "copies of each informative column",
			YLabel: label,
			YMax:   1,
		}
		byRows := Figure{
			Title:  fmt.Sprintf("%s, %d of each", data, copiesEach),
			XLabel: "rows",
			YLabel: label,
			YMax:   1,
			LogX:   true,
		}
		for _, c := range copiesCounts {
			byCopies.Ticks = append(byCopies.Ticks, float64(c))
		}
		for _, n := range copiesSizes {
			byRows.Ticks = append(byRows.Ticks, float64(n))
		}
		table := Table{
			Caption: data,
			Head: []string{"method", "rows", "copies", label, "95% interval", "trials",
				"without a value"},
		}
		for i, m := range copiesSelectors() {
			a := Series{
				Name:  m.name,
				Style: i,
			}
			b := Series{Name: m.name, Style: i}
			for _, c := range copiesCounts {
				found := x.summary(copiesCell(data, m.name, copiesRows, c), metric)
				a.Points = append(a.Points, Point{float64(c), found.Mean, found.Low, found.High})
				table.Rows = append(table.Rows, copiesRow(found))
			}
			for _, n := range copiesSizes {
				found := x.summary(copiesCell(data, m.name, n, copiesEach), metric)
				b.Points = append(b.Points, Point{float64(n), found.Mean, found.Low, found.High})
				if n != copiesRows {
					table.Rows = append(table.Rows, copiesRow(found))
				}
			}
			byCopies.Series, byRows.Series = append(byCopies.Series, a), append(byRows.Series, b)
		}
		s.Figures = append(s.Figures, byCopies, byRows)
		s.Tables = append(s.Tables, table)
	}
	return s
}

func copiesRow(s Summary) []Entry {
	return text(s.Method, strconv.Itoa(s.Setting.N), strconv.Itoa(s.Setting.Copies),
		short(s.Mean), interval(s.Distribution), strconv.Itoa(s.Count),
		strconv.Itoa(s.NotApplicable+s.Failed+s.Unavailable))
}

// interval formats the confidence interval of a mean.
func interval(d Distribution) string {
	if d.Count == 0 {
		return "–"
	}
	return short(d.Low) + " to " + short(d.High)
}
