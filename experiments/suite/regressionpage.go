package suite

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/bench"
)

// regressionTable is the content of the page of seed-001, computed from its records.
type regressionTable struct {
	data    []string
	methods []string // available in this version
	ks      map[string]int
	index   index
	missing []string // methods that are not available
}

func newRegressionTable(records []Record) regressionTable {
	t := regressionTable{index: newIndex(records)}
	var methods []string
	methods, t.ks = regressionMethods()
	absent := map[string]bool{}
	for _, r := range records {
		if !slices.Contains(t.data, r.Data) {
			t.data = append(t.data, r.Data)
		}
		absent[r.Method] = absent[r.Method] || r.Status == Unavailable
	}
	for _, m := range methods {
		if absent[m] {
			t.missing = append(t.missing, m)
		} else {
			t.methods = append(t.methods, m)
		}
	}
	return t
}

// summary returns the summary of a method on a table.
func (t regressionTable) summary(data, method string) Summary {
	return t.index.summary(regressionCell(data, method, t.ks), bench.MetricR2)
}

// rankedMethods lists the private methods that are ranked together for k columns: those that choose k columns, and
// those that choose no fixed number.
func (t regressionTable) rankedMethods(k int) []string {
	var out []string
	for _, m := range t.methods {
		if m != nonPrivate && (t.ks[m] == 0 || t.ks[m] == k) {
			out = append(out, m)
		}
	}
	return out
}

// applies reports whether k columns can be chosen in a table, that is, whether some method that chooses k columns
// returned a value or abstained.
func (t regressionTable) applies(data string, k int) bool {
	return slices.ContainsFunc(t.methods, func(m string) bool {
		s := t.summary(data, m)
		return t.ks[m] == k && s.Count+s.Abstained > 0
	})
}

// score returns the number by which a method is ranked: its median, or NaN if fewer than half of its trials returned
// a value.
func score(s Summary) float64 {
	if s.Abstained+s.NotApplicable+s.Failed > s.Count {
		return math.NaN()
	}
	return s.Median
}

// rankIn returns the ranks of the methods of a contest on a table, by method.
func (t regressionTable) rankIn(data string, k int) map[string]float64 {
	out := map[string]float64{}
	if !t.applies(data, k) {
		return out
	}
	contest := t.rankedMethods(k)
	scores := make([]float64, len(contest))
	for i, m := range contest {
		scores[i] = score(t.summary(data, m))
	}
	for i, r := range ranks(scores) {
		out[contest[i]] = r
	}
	return out
}

func regressionPage(records []Record) Page {
	t := newRegressionTable(records)
	p := Page{
		Title: "Private linear regression with private feature selection (seed 001)",
		Lead: []string{
			"The experiment of section 4 of the paper: least squares without privacy, and the private methods on all columns and on 5 or 10 columns that SubLasso or Kendall selection chose.",
			fmt.Sprintf(
				"Every private method spends epsilon = ln 3 = %.4f, delta = %v (add or remove one record), choice of columns included. A trial trains on nine tenths of the rows and measures R² on the rest, exactly; ten trials are the ten folds of one permutation, the same for every method.",
				bench.DefaultEpsilon, bench.DefaultDelta),
			"The numbers on this page are exact numbers about public data. No privacy guarantee covers them.",
		},
	}
	if len(t.missing) > 0 {
		p.Lead = append(p.Lead,
			"Not available in this version, and left out below: "+strings.Join(t.missing, ", ")+".")
	}
	p.Sections = []Section{t.medians(), t.ranking(), t.rounds()}
	p.Sections = append(p.Sections, t.publishedSections()...)
	p.Sections = append(p.Sections, t.figures(), t.missingValues())
	for _, data := range t.data {
		p.Sections = append(p.Sections, t.quantiles(data))
	}
	return p
}

// medians shows the medians of all methods in one table.
func (t regressionTable) medians() Section {
	s := Section{
		Title: "Median R²",
		Text: []string{
			"Rows are tables, columns are methods. A median over the trials that gave a value; the best private one of a row is bold. A note says how many trials gave none.",
		},
	}
	table := Table{Head: append([]string{"table"}, wrappableHeads(t.methods)...)}
	for _, data := range t.data {
		best := math.Inf(-1)
		for _, m := range t.methods {
			if v := score(t.summary(data, m)); m != nonPrivate && v > best {
				best = v
			}
		}
		row := text(data)
		for _, m := range t.methods {
			row = append(row,
				medianEntry(t.summary(data, m), m != nonPrivate && score(t.summary(data, m)) == best))
		}
		table.Rows = append(table.Rows, row)
	}
	s.Tables = []Table{table}
	return s
}

// wrappableHeads formats method names so that a table head may wrap them.
func wrappableHeads(methods []string) []string {
	out := make([]string, len(methods))
	for i, m := range methods {
		out[i] = strings.ReplaceAll(m, "+", " + ")
	}
	return out
}

// medianEntry is a median with its annotations.
func medianEntry(s Summary, strong bool) Entry {
	e := Entry{
		Text:   short(s.Median),
		Heat:   s.Median,
		Strong: strong,
	}
	var notes []string
	if s.Abstained > 0 {
		notes = append(notes, fmt.Sprintf("%d abstained", s.Abstained))
	}
	if s.NotApplicable > 0 {
		notes = append(notes, fmt.Sprintf("%d not applicable", s.NotApplicable))
	}
	if s.Failed > 0 {
		notes = append(notes, fmt.Sprintf("%d failed", s.Failed))
	}
	e.Note = strings.Join(notes, ", ")
	return e
}

// short formats a number with three decimals, or with an exponent if it is far below, and NaN as a dash.
func short(x float64) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case math.Abs(x) >= 100:
		return strconv.FormatFloat(x, 'e', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}

// ranking shows ranks and counts of positive medians.
func (t regressionTable) ranking() Section {
	s := Section{
		Title: "Ranks and positive medians",
		Text: []string{
			"For each table the private methods are ranked by their median R², 1 the best, apart for k = 5 and k = 10: those that choose k columns with those that choose no fixed number. Equal medians share the mean of their ranks. A method without a value in more than half of its trials is behind all others. A table that has too few columns to choose k of is left out.",
			"A positive median is better than always predicting the mean.",
		},
	}
	for _, k := range regressionKs {
		table := Table{
			Caption: fmt.Sprintf("k = %d", k),
			Head: []string{"method", "mean rank", "first", "first or second", "positive medians",
				"tables", "trials that abstained", "trials not applicable", "trials that failed"},
		}
		var standings []standing
		for _, m := range t.rankedMethods(k) {
			standings = append(standings, t.standingOf(m, k))
		}
		slices.SortStableFunc(standings, func(a, b standing) int {
			return cmp.Compare(a.mean, b.mean)
		})
		for _, st := range standings {
			table.Rows = append(table.Rows, st.row())
		}
		s.Tables = append(s.Tables, table)
	}
	return s
}

// A standing is the result of a method in a contest.
type standing struct {
	method                           string
	mean                             float64 // rank; NaN without a table
	first                            int
	second                           int
	positive                         int
	tables                           int
	abstained, notApplicable, failed int // trials
}

// standingOf computes the result of a method in the contest for k.
func (t regressionTable) standingOf(method string, k int) standing {
	out := standing{method: method}
	for _, data := range t.data {
		rank, ok := t.rankIn(data, k)[method]
		if !ok {
			continue
		}
		found := t.summary(data, method)
		out.mean += rank
		out.tables++
		out.abstained += found.Abstained
		out.notApplicable += found.NotApplicable
		out.failed += found.Failed
		if rank < 1.5 {
			out.first++
		}
		if rank < 2.5 {
			out.second++
		}
		if score(found) > 0 {
			out.positive++
		}
	}
	out.mean /= float64(out.tables)
	return out
}

func (s standing) row() []Entry {
	mean := "–"
	if s.tables > 0 {
		mean = strconv.FormatFloat(s.mean, 'f', 2, 64)
	}
	row := text(s.method, mean)
	for _, n := range []int{s.first, s.second, s.positive, s.tables, s.abstained, s.notApplicable,
		s.failed} {
		row = append(row, Entry{Text: strconv.Itoa(n)})
	}
	return row
}

// lowestR2 is the lower end of the figures.
const lowestR2 = -.2

// figures draws one figure per table.
func (t regressionTable) figures() Section {
	s := Section{
		Title: "Effect of the selection",
		Text: []string{fmt.Sprintf(
			"Median R² with its quartiles, on all columns, on 5 and on 10. What is below %v is drawn there; a method without a value is not drawn.",
			lowestR2)},
	}
	type curve struct {
		name    string
		methods [3]string
		style   int
	}
	var curves []curve
	for i, model := range regressionModels {
		for j, selection := range regressionSelections {
			curves = append(curves, curve{selection + " + " + model, [3]string{model,
				fmt.Sprintf("%s:%d+%s", selection, regressionKs[0], model),
				fmt.Sprintf("%s:%d+%s", selection, regressionKs[1], model)}, 2*i + j})
		}
	}
	for i, m := range []string{"joint-gram", nonPrivate} {
		curves = append(curves, curve{m, [3]string{m, m, m}, 5 + i})
	}
	for _, c := range curves {
		s.Legend = append(s.Legend, Series{
			Name:  c.name,
			Style: c.style,
		})
	}
	for _, data := range t.data {
		f := Figure{
			Title:     data,
			XLabel:    "columns",
			YLabel:    "R²",
			YMin:      lowestR2,
			YMax:      1,
			Ticks:     []float64{0, 1, 2},
			TickNames: []string{"all", "5", "10"},
		}
		for _, c := range curves {
			series := Series{Name: c.name, Style: c.style}
			for x, m := range c.methods {
				found := t.summary(data, m)
				series.Points = append(series.Points,
					Point{float64(x), clampR2(found.Median), clampR2(found.Q25),
						clampR2(found.Q75)})
			}
			f.Series = append(f.Series, series)
		}
		s.Figures = append(s.Figures, f)
	}
	return s
}

// clampR2 raises x to lowestR2 and preserves NaN.
func clampR2(x float64) float64 {
	return math.Max(x, lowestR2)
}

// missingValues lists the reasons of trials without a value.
func (t regressionTable) missingValues() Section {
	s := Section{
		Title: "Trials without a value",
		Text: []string{
			"What a plan asks for is known before any row is read: with that many rows, the method answers 95% of the time.",
		},
	}
	table := Table{Head: []string{"table", "method", "abstained", "not applicable", "failed",
		"rows of a trial", "rows that the plan asks for", "first reason"}}
	for _, data := range t.data {
		for _, m := range t.methods {
			if found := t.summary(data, m); found.Abstained+found.NotApplicable+found.Failed > 0 {
				row := append(
					text(data, m, strconv.Itoa(found.Abstained), strconv.Itoa(found.NotApplicable),
						strconv.Itoa(found.Failed)), t.neededRows(data, m)...)
				table.Rows = append(table.Rows, append(row, Entry{
					Text:  found.Reason,
					Prose: true,
				}))
			}
		}
	}
	if len(table.Rows) == 0 {
		s.Text = []string{"There is none."}
		return s
	}
	s.Tables = []Table{table}
	return s
}

// neededRows returns the number of rows that the plan of a method needs and the number that it gets. It returns no
// entry for a method that never abstains.
func (t regressionTable) neededRows(data, method string) []Entry {
	cell := planCell(data, method, t.ks)
	rows := t.index.summary(cell, metricTrain)
	needed := t.index.summary(cell, metricNeeded)
	if needed.Count == 0 {
		return text("", "")
	}
	return text(strconv.Itoa(int(rows.Mean)), strconv.Itoa(int(needed.Mean)))
}

// quantiles shows the table of one data set.
func (t regressionTable) quantiles(data string) Section {
	table := Table{Head: []string{"method", "min", "q25", "median", "q75", "max", "rank, k = 5",
		"rank, k = 10", "trials", "abstained", "not applicable", "failed"}}
	var byK []map[string]float64
	for _, k := range regressionKs {
		byK = append(byK, t.rankIn(data, k))
	}
	for _, m := range t.methods {
		found := t.summary(data, m)
		row := text(m)
		for _, v := range []float64{found.Min, found.Q25, found.Median, found.Q75, found.Max} {
			row = append(row, Entry{Text: short(v)})
		}
		for _, of := range byK {
			rank := ""
			if r, ok := of[m]; ok {
				rank = strconv.FormatFloat(r, 'g', -1, 64)
			}
			row = append(row, Entry{Text: rank})
		}
		table.Rows = append(table.Rows,
			append(row,
				text(strconv.Itoa(found.Count), strconv.Itoa(found.Abstained),
					strconv.Itoa(found.NotApplicable), strconv.Itoa(found.Failed))...))
	}
	return Section{Title: data, Tables: []Table{table}}
}
