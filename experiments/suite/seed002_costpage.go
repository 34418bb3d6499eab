package suite

import (
	"fmt"
	"math"
	"strconv"
)

func costSections(x index, _ []Record) []Section {
	return []Section{logisticSection(x), costCurves(x), costTables(x)}
}

// logisticSection is table 2.1.
func logisticSection(x index) Section {
	s := Section{
		Title: "Table 2.1: l1 logistic regression",
		Text: []string{
			"Spambase, all records, standardised columns; the loss is a sum. The thesis does not state whether its constant has " +
				"a penalty, so all three ways are shown.",
		},
	}
	table := Table{
		Caption: "training error and number of features",
		Head:    []string{"lambda", "the paper's own baseline"},
	}
	distance := make([]float64, len(costConstants()))
	for _, c := range costConstants() {
		table.Head = append(table.Head, c.caption)
	}
	for _, p := range logisticPrices {
		row := text(times(p.lambda), fmt.Sprintf("%.3f, %d", p.err, p.features))
		for i, c := range costConstants() {
			cell := costCell(tableOne, c.method, 0, 0, 0, p.lambda)
			wrong := x.summary(cell, metricTrained).Median
			row = append(row,
				Entry{Text: fourDecimals(wrong) + ", " + times(x.summary(cell, metricPaid).Median)})
			distance[i] = max(distance[i], math.Abs(wrong-p.err))
		}
		table.Rows = append(table.Rows, row)
	}
	last := text("largest difference in error", "")
	for _, d := range distance {
		last = append(last, Entry{Text: fourDecimals(d)})
	}
	table.Rows = append(table.Rows, last)
	s.Tables = []Table{table}
	return s
}

// A costCurve is a method whose cells differ in the budget of a node or in a price.
type costCurve struct {
	name  string
	cells func(data string) []Cell
}

// costLines are the curves of the figures.
func costLines() []costCurve {
	by := func(method string, depth int, epsilon float64) func(string) []Cell {
		return func(data string) []Cell {
			var out []Cell
			for _, k := range costBudgets {
				out = append(out, costCell(data, method, depth, k, epsilon, 0))
			}
			return out
		}
	}
	return []costCurve{
		{"astc, depth 2", by(costHard, costDepth, 0)},
		{"astc, soft, depth 2", by(costSoft, costDepth, 0)},
		{"cstc, depth 2", func(data string) []Cell {
			var out []Cell
			for i := len(costPrices) - 1; i >= 0; i-- {
				out = append(out, costCell(data, costCSTC, costDepth, 0, 0, costPrices[i]))
			}
			return out
		}},
		{"cost-tree, depth 2, epsilon 1", by(costPrivate, costDepth, 1)},
		{"cost-tree, depth 1, epsilon 1", by(costPrivate, 1, 1)},
		{"cost-tree, depth 2, epsilon .3", by(costPrivate, costDepth, .3)},
	}
}

// costTicks are the marked numbers of features.
var costTicks = [...]float64{.5, 1, 2, 5, 10, 20, 60}

// costCurves draws accuracy against the number of features paid per record.
func costCurves(x index) Section {
	s := Section{
		Title: "Accuracy and features paid",
		Text: []string{
			"Means of the trials. A budget is the number of new features per node: 1, 2, 5, 10 and all. CSTC has a price in its place.",
		},
	}
	for i, l := range costLines() {
		s.Legend = append(s.Legend, Series{
			Name:  l.name,
			Style: i,
		})
	}
	for _, set := range costSets() {
		f := Figure{
			Title:  set.name,
			XLabel: "features paid per record",
			YLabel: "accuracy",
			LogX:   true,
			Ticks:  costTicks[:],
		}
		for i, l := range costLines() {
			curve := Series{Name: l.name, Style: i}
			for _, c := range l.cells(set.name) {
				paid := x.summary(c, metricPaid)
				wrong := x.summary(c, metricError)
				if !(paid.Mean >= costTicks[0]) {
					continue
				}
				curve.Points = append(curve.Points,
					Point{paid.Mean, 1 - wrong.Mean, 1 - wrong.High, 1 - wrong.Low})
			}
			f.Series = append(f.Series, curve)
		}
		s.Figures = append(s.Figures, f)
	}
	return s
}

// costTables lists accuracy and features paid for all trees.
func costTables(x index) Section {
	s := Section{
		Title: "Accuracy at features paid",
		Text: []string{
			"Medians of the trials, for 1, 2, 5, 10 and all new features per node.",
		},
	}
	table := Table{Head: []string{"table", "method", "epsilon"}}
	for _, k := range costBudgets {
		name := strconv.Itoa(k)
		if k == 0 {
			name = "all"
		}
		table.Head = append(table.Head, name)
	}
	at := func(c Cell) Entry {
		paid := x.summary(c, metricPaid).Median
		wrong := x.summary(c, metricError).Median
		if math.IsNaN(paid) {
			return Entry{Text: "–"}
		}
		return Entry{Text: fmt.Sprintf(
			"%.3f @%s",
			1-wrong,
			times(math.Round(10*paid)/10),
		)}
	}
	for _, set := range costSets() {
		row := func(method string, depth int, epsilon float64, name string) {
			entries := text(set.name, fmt.Sprintf("%s, depth %d", method, depth), name)
			for _, k := range costBudgets {
				entries = append(entries, at(costCell(set.name, method, depth, k, epsilon, 0)))
			}
			table.Rows = append(table.Rows, entries)
		}
		for depth := 1; depth <= 3; depth++ {
			row(costHard, depth, 0, "–")
			for _, epsilon := range costEpsilons {
				row(costPrivate, depth, epsilon, times(epsilon))
			}
		}
		row(costSoft, costDepth, 0, "–")
		row(costSoftly, costDepth, 1, "1")
		entries := text(
			set.name,
			fmt.Sprintf("%s, depth %d", costCSTC, costDepth),
			"–",
		)
		for i := len(costPrices) - 1; i >= 0; i-- {
			entries = append(entries,
				at(costCell(set.name, costCSTC, costDepth, 0, 0, costPrices[i])))
		}
		table.Rows = append(table.Rows, entries)
	}
	table.Caption = "accuracy @ features paid; CSTC by falling price"
	s.Tables = []Table{table}
	return s
}
