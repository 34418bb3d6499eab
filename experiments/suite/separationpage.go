package suite

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

func separationPage(records []Record) Page {
	x := newIndex(records)
	p := Page{
		Title: "Private feature selection for a classifier (seed 003)",
		Lead: []string{
			fmt.Sprintf(
				"The experiments of section 5 of the paper, with sound methods (add or remove one record, delta = %v): one release of class statistics, and a support vector machine with a perturbed minimum. A trial trains on nine tenths of a table and tests on the rest, exactly.",
				separationDelta),
			fmt.Sprintf(
				"Ranges of columns are told, as in the paper: the mean and %d standard deviations around it. A user who does not know them pays for them, too.",
				rangeDeviations),
			fmt.Sprintf(
				"Generated tables are drawn from a normal law a class with the table's shares, means and covariances, which no table is: they say how many rows it takes, not how accurate a model of the table is. They are tested on %d rows of the same law.",
				generatedTest),
			"Points and numbers are medians of the trials, bars their quartiles; numbers of selected columns are means.",
		},
	}
	p.Sections = []Section{scoreSection(x), budgetSection(x), publishedSeparationSection(x),
		featureSection(x), sizeSection(x), crossingSection(x), wholeSection(x)}
	return p
}

// scoreSection is figure 3.
func scoreSection(x index) Section {
	s := Section{
		Title: "Mean absolute error of F-scores (figure 3)",
		Text: []string{
			"How far released F-scores, and importances (each score's share of the sum), are from exact ones, with the whole budget. An importance of 0 throughout would have the error 1/(number of columns).",
		},
	}
	f := Figure{
		Title:  "importances",
		XLabel: "epsilon 1",
		YLabel: "mean absolute error",
		LogX:   true,
		Ticks:  scoreEpsilons[:],
	}
	table := Table{Head: []string{"table", "rows", "what"}}
	for _, e := range scoreEpsilons {
		table.Head = append(table.Head, fmt.Sprint("ε = ", e))
	}
	style := 0
	for _, data := range separationSets() {
		for _, of := range []Cell{{Data: data},
			{
				Data:    data + generatedOf,
				Setting: Setting{N: generatedSizes[1]},
			},
			{
				Data:    data + generatedOf,
				Setting: Setting{N: slices.Max(generatedSizes[:])},
			}} {
			at := func(metric string) func(float64) Summary {
				return func(e float64) Summary {
					return x.summary(separationCell(of.Data, methodF, e, of.Setting.N), metric)
				}
			}
			rows := at(metricTrainRows)(scoreEpsilons[0]).Median
			name := of.Data + ", no trial"
			size := ""
			if !math.IsNaN(rows) {
				name, size = fmt.Sprintf("%s, %v rows", of.Data, rows), strconv.Itoa(int(rows))
			}
			s.Legend = append(s.Legend, Series{
				Name:  name,
				Style: style,
			})
			f.Series = append(f.Series,
				medianSeries(name, style, scoreEpsilons[:], at(metricImportance)))
			style++
			for _, m := range []struct{ metric, name string }{{metricF,
				"F, mean " + short(at(metricMeanF)(1).Median)}, {metricImportance, "importance"}} {
				row := text(of.Data, size, m.name)
				for _, e := range scoreEpsilons {
					row = append(row, Entry{Text: fourDecimals(at(m.metric)(e).Median)})
				}
				table.Rows = append(table.Rows, row)
			}
		}
	}
	s.Figures = []Figure{f}
	s.Tables = []Table{table}
	return s
}

// fourDecimals formats a number with four decimals.
func fourDecimals(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return strconv.FormatFloat(x, 'f', 4, 64)
}

// separationCurves are the methods of figures 4 and 5.
func separationCurves() []string {
	return []string{openDFS, methodDR, methodDPFS, methodCRFS, methodSVM}
}

// separationAt returns the cell of a method at an epsilon, which methods without privacy do not have.
func separationAt(data, method string, epsilon float64, n int) Cell {
	if method == openDFS || method == openAll {
		epsilon = 0
	}
	return separationCell(data, method, epsilon, n)
}

// measuredSets returns the tables with two classes, and those with several that have results.
func measuredSets(x index) []string {
	out := separationSets()
	for _, data := range manyClassSets() {
		if x.summary(separationAt(data, openAll, 0, 0), metricAccuracy).Count > 0 {
			out = append(out, data)
		}
	}
	return out
}

// budgetSection is figure 4.
func budgetSection(x index) Section {
	s := Section{
		Title: "Accuracy by epsilon 2 (figure 4)",
		Text: []string{
			fmt.Sprintf(
				"The selection has epsilon 1 = %v, the model epsilon 2; the table says what both are together, of which %s has all.",
				chooseEpsilon, methodSVM),
		},
	}
	for i, m := range separationCurves() {
		s.Legend = append(s.Legend, Series{
			Name:  m,
			Style: i,
		})
	}
	for _, data := range measuredSets(x) {
		f := Figure{
			Title:  data,
			XLabel: "epsilon 2",
			YLabel: "accuracy",
			LogX:   true,
			Ticks:  separationEpsilons[:],
			YMin:   .3,
			YMax:   1,
		}
		table := Table{
			Caption: data,
			Head:    []string{"method"},
		}
		for _, e := range separationEpsilons {
			total, _ := splitBudget(chooseEpsilon, e, separationDelta)
			table.Head = append(table.Head, fmt.Sprintf("ε2 = %v (together %.3g)", e, total))
		}
		for i, m := range append(separationCurves(), openAll) {
			row := text(m)
			of := func(e float64) Summary {
				return x.summary(separationAt(data, m, e, 0), metricAccuracy)
			}
			for _, e := range separationEpsilons {
				row = append(row, quartileEntry(of(e), false))
			}
			table.Rows = append(table.Rows, row)
			if m != openAll {
				f.Series = append(f.Series, medianSeries(m, i, separationEpsilons[:], of))
			}
		}
		s.Figures = append(s.Figures, f)
		s.Tables = append(s.Tables, table)
	}
	return s
}

// featureSection is figure 5.
func featureSection(x index) Section {
	s := Section{Title: "Selected columns by epsilon 2 (figure 5)"}
	names := []string{openDFS, methodDR, methodDPFS, methodCRFS}
	for i, m := range names {
		s.Legend = append(s.Legend, Series{
			Name:  m,
			Style: i,
		})
	}
	for _, data := range measuredSets(x) {
		f := Figure{
			Title:  data,
			XLabel: "epsilon 2",
			YLabel: "columns",
			LogX:   true,
			Ticks:  separationEpsilons[:],
		}
		table := Table{
			Caption: data,
			Head:    []string{"method"},
		}
		for _, e := range separationEpsilons {
			table.Head = append(table.Head, fmt.Sprint("ε2 = ", e))
		}
		for i, m := range names {
			row := text(m)
			curve := Series{Name: m, Style: i}
			for _, e := range separationEpsilons {
				found := x.summary(separationAt(data, m, e, 0), metricFeatures)
				curve.Points = append(curve.Points, Point{e, found.Mean, found.Low, found.High})
				row = append(row, Entry{Text: short(found.Mean)})
			}
			f.Series = append(f.Series, curve)
			table.Rows = append(table.Rows, row)
		}
		s.Figures = append(s.Figures, f)
		s.Tables = append(s.Tables, table)
	}
	return s
}

// separationSizes returns the sizes of generated tables, where 0 is the size of the table.
func separationSizes() []int {
	return append([]int{0}, generatedSizes[:]...)
}

// sizeSection is figure 4 over the number of rows.
func sizeSection(x index) Section {
	s := Section{
		Title: "Accuracy by the number of rows",
		Text:  []string{"Generated tables; dpfsdr + svm with epsilon 1 as above, one curve for each epsilon 2."},
	}
	for i, e := range separationEpsilons {
		s.Legend = append(s.Legend,
			Series{Name: fmt.Sprint("dpfsdr + svm, epsilon 2 = ", e), Style: i})
	}
	s.Legend = append(s.Legend, Series{Name: openDFS, Style: len(separationEpsilons)})
	for _, name := range separationSets() {
		data := name + generatedOf
		f := Figure{Title: data, XLabel: "rows", YLabel: "accuracy", LogX: true, YMin: .3, YMax: 1}
		table := Table{Caption: data, Head: []string{"method", "ε2"}}
		rows := map[int]float64{}
		for _, n := range separationSizes() {
			rows[n] = x.summary(separationAt(data, openDFS, 0, n), metricTrainRows).Median
			if math.IsNaN(rows[n]) {
				rows[n] = max(1, float64(n))
			}
			f.Ticks = append(f.Ticks, rows[n])
			table.Head = append(table.Head, fmt.Sprintf("%v rows", rows[n]))
		}
		line := func(method string, epsilon float64, style int, draw bool) {
			curve := Series{Name: method, Style: style}
			row := text(method, number(epsilon))
			for _, n := range separationSizes() {
				found := x.summary(separationAt(data, method, epsilon, n), metricAccuracy)
				curve.Points = append(curve.Points,
					Point{rows[n], found.Median, found.Q25, found.Q75})
				row = append(row, quartileEntry(found, false))
			}
			if draw {
				f.Series = append(f.Series, curve)
			}
			table.Rows = append(table.Rows, row)
		}
		for _, m := range []string{methodDR, methodDPFS, methodCRFS} {
			for i, e := range separationEpsilons {
				line(m, e, i, m == methodDR)
			}
		}
		line(openDFS, 0, len(separationEpsilons), true)
		line(openAll, 0, 0, false)
		s.Figures = append(s.Figures, f)
		s.Tables = append(s.Tables, table)
	}
	return s
}

// nearDFS is the largest difference from DFS that counts as reached.
const nearDFS = .05

// crossingSection shows the epsilon from which on DFS is reached.
func crossingSection(x index) Section {
	s := Section{
		Title: fmt.Sprintf("The epsilon at which dpfsdr + svm is within %v of DFS",
			nearDFS),
		Text: []string{
			"One budget for selection and model, half of mu² each. The smallest epsilon of the grid from which on the median accuracy stays that close to the median of " +
				openDFS + " with as many rows.",
		},
	}
	for _, name := range separationSets() {
		table := Table{
			Caption: name,
			Head:    []string{"rows", "dfs"},
		}
		for _, e := range wholeEpsilons {
			table.Head = append(table.Head, fmt.Sprint("ε = ", e))
		}
		table.Head = append(table.Head, "within from")
		add := func(data string, n int) {
			open := x.summary(separationAt(data, openDFS, 0, n), metricAccuracy)
			label := short(x.summary(separationAt(data, openDFS, 0, n), metricTrainRows).Median)
			if rows := x.summary(separationAt(data, openDFS, 0, n), metricTrainRows).Median; !math.IsNaN(
				rows) {
				label = strconv.Itoa(int(rows))
			}
			if data != name {
				label += generatedOf
			}
			row := append(text(label), Entry{Text: short(open.Median)})
			var medians []float64
			for _, e := range wholeEpsilons {
				found := x.summary(separationCell(data, wholeDR, e, n), metricAccuracy)
				medians = append(medians, found.Median)
				row = append(row, quartileEntry(found, found.Median >= open.Median-nearDFS))
			}
			from := "none of these"
			if e := crossing(wholeEpsilons[:], medians, open.Median-nearDFS); !math.IsNaN(e) {
				from = fmt.Sprint(e)
			}
			table.Rows = append(table.Rows, append(row, Entry{Text: from}))
		}
		add(name, 0)
		for _, n := range separationSizes() {
			add(name+generatedOf, n)
		}
		s.Tables = append(s.Tables, table)
	}
	return s
}

// crossing returns the first position from which on all values are at least level, or NaN if even the last value is
// below it.
func crossing(at, values []float64, level float64) float64 {
	from := math.NaN()
	for i := len(at) - 1; i >= 0 && values[i] >= level; i-- {
		from = at[i]
	}
	return from
}

// wholeSection compares the methods with training without selection.
func wholeSection(x index) Section {
	s := Section{
		Title: "One budget for everything",
		Text:  []string{"Whether to select at all: the same epsilon with and without a selection."},
	}
	for _, data := range measuredSets(x) {
		table := Table{
			Caption: data,
			Head:    []string{"method"},
		}
		for _, e := range wholeEpsilons {
			table.Head = append(table.Head, fmt.Sprint("ε = ", e))
		}
		for _, m := range []string{wholeDR, wholeSVM, wholeLinear} {
			row := text(m)
			for _, e := range wholeEpsilons {
				row = append(row,
					quartileEntry(x.summary(separationCell(data, m, e, 0), metricAccuracy), false))
			}
			table.Rows = append(table.Rows, row)
		}
		s.Tables = append(s.Tables, table)
	}
	return s
}
