package suite

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// screeningTable is the content of the page of seed-000, computed from its records.
type screeningTable struct {
	data  []string
	ks    map[string][]int // of the accuracy figures, increasing
	index index
	picks map[Cell][]int // for the stability experiments: how often each column was chosen
}

func newScreeningTable(records []Record) screeningTable {
	t := screeningTable{
		ks:    map[string][]int{},
		index: newIndex(records),
		picks: map[Cell][]int{},
	}
	for _, r := range records {
		switch {
		case r.Data == stableW1 || r.Data == stableW1W2:
			if t.picks[r.Cell] == nil {
				t.picks[r.Cell] = make([]int, stabilityColumns+1)
			}
			for _, j := range r.Picked {
				t.picks[r.Cell][j]++
			}
			continue
		case !slices.Contains(t.data, r.Data):
			t.data = append(t.data, r.Data)
		}
		if r.Method == plainTau && !slices.Contains(t.ks[r.Data], r.Setting.K) {
			t.ks[r.Data] = append(t.ks[r.Data], r.Setting.K)
			slices.Sort(t.ks[r.Data])
		}
	}
	return t
}

func screeningPage(records []Record) Page {
	t := newScreeningTable(records)
	p := Page{
		Title: "Private feature selection on wide tables (seed 000)",
		Lead: []string{
			"The experiments of sections 3 and 5 of the paper, with methods that keep their promise, beside the published one, which does not.",
			fmt.Sprintf(
				"The right answer for a table is the k columns of the largest |coefficient| of a lasso without privacy (lambda = %v, standardised columns). A method's accuracy is the share of them that it chooses. On the synthetic set (%d rows, %d columns, %d of them in the target) the truth is known instead, and every trial draws a fresh set.",
				referenceLambda, syntheticRows, syntheticColumns, syntheticNonZero),
			"The methods that release ranges are slow on wide tables: they have fewer budgets and trials; summary.csv counts them.",
			"Budgets are pure, delta = 0, add or remove one record, unless a method says otherwise. Intervals are 95% intervals of a mean over trials: the normal one, or Wilson's where every trial gives 0 or 1.",
			"The numbers on this page are exact numbers about public data. No privacy guarantee covers them.",
		},
	}
	p.Sections = append(p.Sections, t.methods(), t.references(), t.accuracy())
	for i, name := range []string{"k = 5 (figure 6)",
		"k = log d, and 8 on the synthetic set (figure 7)"} {
		p.Sections = append(p.Sections, t.difference(name, i))
	}
	return Page{p.Title, p.Lead, append(p.Sections, t.quality(), t.stability(), t.numbers())}
}

// methods explains the names of the methods.
func (t screeningTable) methods() Section {
	table := Table{Head: []string{"method", "what it is"}}
	for _, m := range screeningMethods() {
		table.Rows = append(table.Rows, []Entry{
			{Text: m.name},
			{
				Text:  m.says,
				Prose: true,
			},
		})
	}
	table.Rows = append(table.Rows,
		[]Entry{{Text: plainTau},
			{
				Text:  "the k columns of the largest |tau| with the target, without noise",
				Prose: true,
			}},
		[]Entry{{Text: plainSIS},
			{
				Text:  "the k columns of the largest |correlation| with the target, without noise",
				Prose: true,
			}})
	return Section{Title: "Methods", Tables: []Table{table}}
}

// references shows the best results that are possible.
func (t screeningTable) references() Section {
	table := Table{Head: []string{"table", "rows", "columns", "R² of the lasso", "columns it keeps",
		"k", "largest |tau|", "largest |correlation|"}}
	for _, data := range t.data {
		for _, k := range t.ks[data] {
			cell := Cell{data, plainTau, Setting{K: k}}
			of := func(metric string) float64 {
				return t.index.summary(cell, metric).Mean
			}
			tau := t.index.summary(cell, metricOverlap)
			cell.Method = plainSIS
			plain := t.index.summary(cell, metricOverlap)
			table.Rows = append(table.Rows, append(
				text(data, integerCell(int(of(metricRows))), integerCell(int(of(metricColumns))),
					short(of(metricR2)), integerCell(int(of(metricKept))), strconv.Itoa(k)),
				Entry{
					Text: short(tau.Mean),
					Heat: tau.Mean,
				},
				Entry{
					Text: short(plain.Mean),
					Heat: plain.Mean,
				}))
		}
	}
	return Section{
		Title: "What can be reached",
		Text: []string{
			"The accuracy of the same scores without any noise, in the last two columns. Where it is low, the largest single correlations and the lasso do not agree on what is right, and no budget helps: the columns that DP-SIS finds still go with the target, but they say the same thing several times. Somebody who needs the lasso's columns there should not use DP-SIS.",
		},
		Tables: []Table{table},
	}
}

// accuracy draws figures 2 to 5.
func (t screeningTable) accuracy() Section {
	s := Section{Title: "Accuracy (figures 2 to 5)"}
	for i, m := range screeningMethods() {
		s.Legend = append(s.Legend, Series{
			Name:  m.name,
			Style: i,
		})
	}
	for _, data := range t.data {
		for _, k := range t.ks[data] {
			f := Figure{
				Title:  fmt.Sprintf("%s, k = %d", data, k),
				XLabel: "epsilon",
				YLabel: "accuracy",
				LogX:   true,
				Ticks:  screeningEpsilons[:],
				YMax:   1,
			}
			for i, m := range screeningMethods() {
				if m.applies(data, k) {
					f.Series = append(f.Series, t.series(data, m, k, metricOverlap, m.name, i))
				}
			}
			s.Figures = append(s.Figures, f)
		}
	}
	return s
}

// series returns one metric of one method by epsilon.
func (t screeningTable) series(
	data string,
	m screeningMethod,
	k int,
	metric, name string,
	style int,
) Series {
	s := Series{Name: name, Style: style}
	for _, epsilon := range screeningEpsilons {
		found := t.index.summary(screeningCell(data, m, k, epsilon), metric)
		s.Points = append(s.Points, Point{epsilon, found.Mean, found.Low, found.High})
	}
	return s
}

// screeningNamed returns a method by name.
func screeningNamed(name string) screeningMethod {
	methods := screeningMethods()
	return methods[slices.IndexFunc(methods, func(m screeningMethod) bool {
		return m.name == name
	})]
}

// difference is the table of figure 6 or 7. The index which selects the k of each table.
func (t screeningTable) difference(name string, which int) Section {
	table := Table{
		Caption: methodSIS + " less " + methodTwoStage,
		Head:    []string{"table", "k"},
	}
	for _, epsilon := range screeningEpsilons {
		table.Head = append(table.Head, fmt.Sprint("ε = ", epsilon))
	}
	for _, data := range t.data {
		ks := t.ks[data]
		if len(ks) == 0 {
			continue
		}
		k := ks[min(which, len(ks)-1)]
		row := text(data, strconv.Itoa(k))
		for _, epsilon := range screeningEpsilons {
			row = append(row, differenceEntry(
				t.index.summary(screeningCell(data, screeningNamed(methodSIS), k, epsilon),
					metricOverlap),
				t.index.summary(screeningCell(data, screeningNamed(methodTwoStage), k, epsilon),
					metricOverlap)))
		}
		table.Rows = append(table.Rows, row)
	}
	return Section{
		Title: "Difference of accuracy, " + name,
		Text: []string{
			"Blue where DP-SIS is better, orange where the two-stage method is. Below is the half-width of the 95% interval of the difference; it is bold when the interval leaves out 0.",
		},
		Tables: []Table{table},
	}
}

// differenceEntry subtracts the means of independent trials.
func differenceEntry(a, b Summary) Entry {
	if a.Count == 0 || b.Count == 0 {
		return Entry{Text: "–"}
	}
	difference := a.Mean - b.Mean
	half := math.Hypot((a.High-a.Low)/2, (b.High-b.Low)/2)
	e := Entry{
		Text: strconv.FormatFloat(difference, 'f', 2, 64),
		Heat: difference,
	}
	if !math.IsNaN(half) {
		e.Note = "± " + strconv.FormatFloat(half, 'f', 2, 64)
		e.Strong = math.Abs(difference) > half
	}
	return e
}

// quality draws figure 8 for every table.
func (t screeningTable) quality() Section {
	s := Section{Title: fmt.Sprintf("Order statistics, k = %d (figure 8)", qualityK),
		Text: []string{
			fmt.Sprintf(
				"How well %s chooses by its own scores, the lasso aside. TOP: exactly the k largest. GREAT: the k/10 largest, and the rest from the 11k/10 largest. GOOD: the k/100 largest (none when k is below 100), and the rest from the 3k/2 largest. The share of trials, with Wilson's interval.",
				methodSIS),
		}}
	metrics := []struct{ metric, name string }{
		{metricTop, "TOP"},
		{metricGreat, "GREAT"},
		{metricGood, "GOOD"},
	}
	for i, m := range metrics {
		s.Legend = append(s.Legend, Series{
			Name:  m.name,
			Style: i,
		})
	}
	for _, data := range t.data {
		f := Figure{
			Title:  data,
			XLabel: "epsilon",
			YLabel: "share of trials",
			LogX:   true,
			Ticks:  screeningEpsilons[:],
			YMax:   1,
		}
		for i, m := range metrics {
			f.Series = append(f.Series,
				t.series(data, screeningNamed(methodSIS), qualityK, m.metric, m.name, i))
		}
		s.Figures = append(s.Figures, f)
	}
	return s
}

// stability draws figure 1.
func (t screeningTable) stability() Section {
	s := Section{
		Title: "Stability (figure 1)",
		Text: []string{
			fmt.Sprintf(
				"Without privacy: how often each of %d columns is among the %d chosen. The target is the sum of columns 1 to 5 and a little noise (w1); in w1-w2 every tenth row has the sum of columns 96 to 100 instead. The two-stage method takes the columns that the lassos of ten blocks of ten rows keep most often; equal ones are drawn at random.",
				stabilityColumns, stabilityK),
		},
	}
	table := Table{Head: []string{"experiment", "method", "right columns", "95% interval",
		"trials"}}
	for _, data := range []string{stableW1, stableW1W2} {
		for i, m := range stabilityMethods() {
			cell := stabilityCell(data, m)
			found := t.index.summary(cell, metricOverlap)
			table.Rows = append(table.Rows,
				text(data, m, short(found.Mean), interval(found.Distribution),
					strconv.Itoa(found.Count)))
			f := Figure{
				Title:  data + ", " + m,
				XLabel: "column",
				YLabel: "times chosen",
				Bars:   true,
				Ticks:  []float64{1, 5, 20, 40, 60, 80, 96, 100},
				YMax:   float64(max(1, found.Count)),
			}
			bars := Series{Style: i}
			for j := 1; j <= stabilityColumns; j++ {
				if times := t.picks[cell]; times != nil {
					bars.Points = append(bars.Points, Point{
						X: float64(j),
						Y: float64(times[j]),
					})
				}
			}
			f.Series = []Series{bars}
			s.Figures = append(s.Figures, f)
		}
	}
	s.Tables = []Table{table}
	return s
}

// numbers shows the accuracies as a table for each data set and k.
func (t screeningTable) numbers() Section {
	s := Section{
		Title: "Accuracy in numbers",
		Text:  []string{"Means, and below them the 95% intervals."},
	}
	for _, data := range t.data {
		for _, k := range t.ks[data] {
			table := Table{
				Caption: fmt.Sprintf("%s, k = %d", data, k),
				Head:    []string{"method"},
			}
			for _, epsilon := range screeningEpsilons {
				table.Head = append(table.Head, fmt.Sprint("ε = ", epsilon))
			}
			for _, m := range screeningMethods() {
				if !m.applies(data, k) {
					continue
				}
				row := text(m.name)
				for _, epsilon := range screeningEpsilons {
					row = append(row,
						accuracyEntry(
							t.index.summary(screeningCell(data, m, k, epsilon), metricOverlap)))
				}
				table.Rows = append(table.Rows, row)
			}
			s.Tables = append(s.Tables, table)
		}
	}
	return s
}

// accuracyEntry is a mean with its interval, or the reason why there is no value.
func accuracyEntry(s Summary) Entry {
	if s.Count == 0 {
		return Entry{
			Text:  cmp.Or(s.Reason, "–"),
			Prose: s.Reason != "",
		}
	}
	return Entry{
		Text: short(s.Mean),
		Note: interval(s.Distribution),
		Heat: s.Mean,
	}
}
