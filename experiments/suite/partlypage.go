package suite

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

func partlyPage(records []Record) Page {
	x := newIndex(records)
	p := Page{
		Title: "Classification with partially private features (seed 004)",
		Lead: []string{
			"The experiments of sections 4 to 7 of the paper on three of its four tables (bank marketing if the folder contains it). Classes are balanced by leaving records out at random beforehand, which no guarantee covers; a tenth of what is left is tested on, exactly; splits are the same for every method.",
			fmt.Sprintf(
				"delta = %v throughout. Partly private methods protect the private columns of one record; target, number of records and the public columns are public: of adult workclass, fnlwgt, race, sex and native-country, of credit default LIMIT_BAL and SEX, of bank marketing campaign, pdays and poutcome. All-private ones are add-remove, but brc as published, which is substitution. Ranges of private columns are released from the same budget.",
				partlyDelta),
			fmt.Sprintf(
				"pate answers %d tested records and then has nothing left; the others end in a model. The two baselines of the paper, pate and boosting-for-people, are our sound versions of them.",
				pateQueries),
			"Points and numbers are medians of the trials, bars their quartiles.",
		},
	}
	p.Sections = append(p.Sections, partlyFigures(x), partlyRounds(x), partlyToy(x),
		partlyTables(x))
	return p
}

// measuredPartlySets returns the sets without those of an optional table that has no results.
func measuredPartlySets(x index) []partlySet {
	open := methodNamed(openLogistic)
	return slices.DeleteFunc(partlySets(), func(set partlySet) bool {
		found := x.summary(partlyCell(set.name, open, 0), metricAccuracy)
		return set.optional && found.Count == 0
	})
}

// partlyFigures draws figures 2, 3 and 4: for each set one plot of the partly private methods and one of the fully
// private methods.
func partlyFigures(x index) Section {
	s := Section{Title: "Accuracy by budget (figures 2, 3, 4a, 4b and 4d)"}
	whole := []string{wholeLogistic, wholeOutput, wholeBRC, wholePublished, wholeGram}
	var left, right []partlyMethod
	for _, m := range partlyMethods() {
		switch {
		case m.name == openLogistic:
			left = append(left, m)
			right = append(right, m)
		case slices.Contains(whole, m.name):
			right = append(right, m)
		default:
			left = append(left, m)
		}
	}
	// The private baseline is in both plots.
	left = append(left, right[1])
	style := map[string]int{}
	for i, m := range left {
		style[m.name] = i
		s.Legend = append(s.Legend, Series{
			Name:  m.name,
			Style: i,
		})
	}
	for _, m := range right[2:] {
		style[m.name] = len(style)
		s.Legend = append(s.Legend, Series{
			Name:  m.name,
			Style: style[m.name],
		})
	}
	for _, set := range measuredPartlySets(x) {
		for _, side := range []struct {
			title   string
			methods []partlyMethod
		}{{"partly private", left}, {"all private", right}} {
			f := Figure{
				Title:  set.name + ", " + side.title,
				XLabel: "epsilon",
				YLabel: "accuracy",
				LogX:   true,
				Ticks:  partlyEpsilons[:],
				YMin:   .45,
				YMax:   .85,
			}
			for _, m := range side.methods {
				f.Series = append(f.Series,
					medianSeries(m.name, style[m.name], partlyEpsilons[:],
						func(epsilon float64) Summary {
							return x.summary(partlyCell(set.name, m, epsilon), metricAccuracy)
						}))
			}
			s.Figures = append(s.Figures, f)
		}
	}
	return s
}

// medianSeries is a curve of medians with their quartiles.
func medianSeries(
	name string,
	style int,
	at []float64,
	of func(float64) Summary,
) Series {
	s := Series{Name: name, Style: style}
	for _, v := range at {
		found := of(v)
		s.Points = append(s.Points, Point{v, found.Median, found.Q25, found.Q75})
	}
	return s
}

// partlyRounds is figure 4c.
func partlyRounds(x index) Section {
	s := Section{
		Title: "Convergence (figure 4c)",
		Text: []string{
			fmt.Sprintf(
				"Accuracy after some of %d rounds at epsilon %v on adult with integer codes, public columns as above; AdaBoost draws its classifiers as brc does, weighs them without noise and without limits, and takes all columns.",
				curveLength, curveEpsilon),
		},
	}
	f := Figure{
		Title:  curveSet,
		XLabel: "rounds",
		YLabel: "accuracy",
		YMin:   .45,
		YMax:   .85,
		Ticks:  []float64{0, 20, 40, 60, 80, 100},
	}
	table := Table{Head: []string{"method"}}
	for _, t := range curveRounds {
		table.Head = append(table.Head, strconv.Itoa(t))
	}
	var rounds []float64
	for _, t := range curveRounds {
		rounds = append(rounds, float64(t))
	}
	for i, m := range curveMethods() {
		cell := partlyCell(curveSet, m, curveEpsilon)
		curve := medianSeries(m.name, i, rounds, func(t float64) Summary {
			return x.summary(cell, afterRounds(int(t)))
		})
		s.Legend = append(s.Legend, Series{
			Name:  m.name,
			Style: i,
		})
		f.Series = append(f.Series, curve)
		row := text(m.name)
		for _, p := range curve.Points {
			row = append(row, Entry{Text: short(p.Y)})
		}
		table.Rows = append(table.Rows, row)
	}
	flat := methodNamed(wholeLogistic)
	i := len(curveMethods())
	s.Legend = append(s.Legend, Series{
		Name:  flat.name,
		Style: i,
	})
	f.Series = append(f.Series, medianSeries(flat.name, i, rounds, func(float64) Summary {
		return x.summary(partlyCell(adultCodes, flat, curveEpsilon), metricAccuracy)
	}))
	s.Figures = []Figure{f}
	s.Tables = []Table{table}
	return s
}

// methodNamed returns a method of figures 2 and 3.
func methodNamed(name string) partlyMethod {
	methods := partlyMethods()
	return methods[slices.IndexFunc(methods, func(m partlyMethod) bool {
		return m.name == name
	})]
}

// partlyToy is figure 1a.
func partlyToy(x index) Section {
	s := Section{
		Title: "The toy example of section 4 (figure 1a)",
		Text: []string{
			fmt.Sprintf(
				"%d points on a line, their place private; the left half is one class, the right half the other. Accuracy on the points themselves.",
				toyPoints),
		},
	}
	f := Figure{
		Title:  toySet,
		XLabel: "epsilon",
		YLabel: "accuracy",
		LogX:   true,
		Ticks:  toyEpsilons[:],
		YMax:   1,
	}
	table := Table{Head: []string{"method", "epsilon", "min", "q25", "median", "q75", "max",
		"trials"}}
	for i, m := range toyMethods() {
		of := func(epsilon float64) Summary {
			return x.summary(partlyCell(toySet, m, epsilon), metricAccuracy)
		}
		s.Legend = append(s.Legend, Series{
			Name:  m.name,
			Style: i,
		})
		f.Series = append(f.Series, medianSeries(m.name, i, toyEpsilons[:], of))
		for _, epsilon := range toyEpsilons {
			d := of(epsilon)
			table.Rows = append(table.Rows,
				text(m.name, fmt.Sprint(epsilon), short(d.Min), short(d.Q25), short(d.Median),
					short(d.Q75), short(d.Max), strconv.Itoa(d.Count)))
		}
	}
	s.Figures = []Figure{f}
	s.Tables = []Table{table}
	return s
}

// partlyTables shows the figures as tables.
func partlyTables(x index) Section {
	s := Section{
		Title: "Accuracy in numbers",
		Text:  []string{"Medians, and below them the quartiles. The best private number of a column is bold."},
	}
	for _, set := range measuredPartlySets(x) {
		t := Table{
			Caption: set.name,
			Head:    []string{"method"},
		}
		best := make([]float64, len(partlyEpsilons))
		for k, epsilon := range partlyEpsilons {
			t.Head = append(t.Head, fmt.Sprint("ε = ", epsilon))
			for _, m := range partlyMethods() {
				if found := x.summary(partlyCell(set.name, m, epsilon), metricAccuracy); !m.open &&
					found.Median > best[k] {
					best[k] = found.Median
				}
			}
		}
		for _, m := range partlyMethods() {
			row := text(m.name)
			for k, epsilon := range partlyEpsilons {
				found := x.summary(partlyCell(set.name, m, epsilon), metricAccuracy)
				row = append(row, quartileEntry(found, !m.open && found.Median == best[k]))
			}
			t.Rows = append(t.Rows, row)
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}

// quartileEntry is a median with its quartiles, or the reason why there is no value.
func quartileEntry(s Summary, strong bool) Entry {
	if math.IsNaN(s.Median) {
		if s.Reason != "" {
			return Entry{Text: s.Reason, Prose: true}
		}
		return Entry{Text: "–"}
	}
	return Entry{
		Text:   short(s.Median),
		Note:   short(s.Q25) + " to " + short(s.Q75),
		Heat:   2*s.Median - 1,
		Strong: strong,
	}
}
