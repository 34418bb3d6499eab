package suite

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/numeric/direction"
)

func causalSections(x index, _ []Record) []Section {
	return []Section{causalAccuracy(x), causalBaseline(x), causalStated(x), causalOthers(x),
		causalForms(x)}
}

// causalBest returns the best mean of the thesis' hsic with all records protected, over the penalties.
func causalBest(x index, set string, epsilon float64) float64 {
	best := math.NaN()
	for _, penalty := range causalPenalties {
		if v := x.summary(causalCell(set, causalAll, epsilon, penalty),
			metricDirection).Mean; !(v <= best) {
			best = v
		}
	}
	return best
}

// share2 formats a share with two digits.
func share2(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.3f", x)
}

func causalHead(first ...string) []string {
	for _, e := range causalEpsilons {
		first = append(first, fmt.Sprintf("epsilon %v", e))
	}
	return first
}

// causalAccuracy shows table 4.2 for the simulated pairs.
func causalAccuracy(x index) Section {
	s := Section{Title: "Share of pairs decided rightly (table 4.2)", Text: []string{
		"Means over the draws, every pair decided. In brackets the thesis' scores without noise. Of the thesis' hsic with " +
			"all records protected the best of three penalties is shown, chosen with the answers in hand.",
	}}
	table := Table{Head: causalHead("set", "method")}
	for i, m := range causalMethods() {
		s.Legend = append(s.Legend, Series{
			Name:  m,
			Style: i,
		})
	}
	for _, set := range causalSets {
		f := Figure{
			Title:  set,
			XLabel: "epsilon",
			YLabel: "decided rightly",
			LogX:   true,
			Ticks:  causalEpsilons[:],
			YMin:   .3,
			YMax:   1,
		}
		for i, m := range causalMethods() {
			row, curve := text(set, m), Series{
				Name:  m,
				Style: i,
			}
			if m != causalHistogram && m != causalAll {
				row[1].Note = "without noise " +
					share2(x.summary(causalCell(set, m, causalEpsilons[0], 0), metricNoiseless).Mean)
			}
			for _, e := range causalEpsilons {
				found := x.summary(causalCell(set, m, e, 0), metricDirection)
				mean := found.Mean
				if m == causalAll {
					mean = causalBest(x, set, e)
				}
				row = append(row, Entry{
					Text:   share2(mean),
					Strong: m == causalHistogram,
				})
				curve.Points = append(curve.Points, Point{e, mean, math.NaN(), math.NaN()})
			}
			f.Series, table.Rows = append(f.Series, curve), append(table.Rows, row)
		}
		s.Figures = append(s.Figures, f)
	}
	for _, set := range []string{causalMade, causalMadePrivate} {
		row := text(set, causalHistogram)
		for _, e := range causalEpsilons {
			row = append(row,
				Entry{
					Text: share2(
						x.summary(causalCell(set, causalHistogram, e, 0), metricDirection).Mean),
					Strong: true,
				})
		}
		table.Rows = append(table.Rows, row)
	}
	s.Tables = []Table{table}
	return s
}

// causalStated shows the pairs whose direction is stated.
func causalStated(x index) Section {
	s := Section{
		Title: "Directions that are stated",
		Text: []string{
			"Right among the pairs with a stability of at least .9 and a dependence of at least .99, and the share of pairs that have them.",
		},
	}
	table := Table{Head: causalHead("set")}
	for _, set := range append(append([]string{}, causalSets[:]...), causalMade,
		causalMadePrivate) {
		row := text(set)
		for _, e := range causalEpsilons {
			c := causalCell(set, causalHistogram, e, 0)
			row = append(row,
				Entry{
					Text: share2(x.summary(c, metricStated).Mean),
					Note: "of " + share2(x.summary(c, metricDecided).Mean),
				})
		}
		table.Rows = append(table.Rows, row)
	}
	s.Tables = []Table{table}
	return s
}

// causalOthers compares the scores of one histogram.
func causalOthers(x index) Section {
	s := Section{Title: "Other scores of the same histogram",
		Text: []string{"They cost nothing more: each is read from the counts that " +
			"were released."}}
	table := Table{Head: causalHead("set", "score")}
	for _, set := range causalSets {
		for _, m := range []struct{ name, metric string }{
			{direction.Blend, metricDirection},
			{direction.Likelihood, metricLikelihood},
			{"vote", metricVote},
			{direction.HSIC, metricHSICRight},
			{direction.IGCI, metricIGCIRight},
		} {
			row := text(set, m.name)
			for _, e := range causalEpsilons {
				row = append(row,
					Entry{Text: share2(
						x.summary(causalCell(set, causalHistogram, e, 0), m.metric).Mean)})
			}
			table.Rows = append(table.Rows, row)
		}
	}
	s.Tables = []Table{table}
	return s
}

// causalForms compares the thesis' noise with the correct one.
func causalForms(x index) Section {
	s := Section{
		Title: "The thesis' noise and the right one",
		Text: []string{
			"As published, both scores get noise of sensitivity/epsilon, which costs 2 epsilon, with the published sensitivities. The right " +
				"form adds noise to their " +
				"difference once, with the exact ones. Test records alone are protected.",
		},
	}
	table := Table{Head: causalHead("set", "method")}
	for _, set := range causalSets {
		for _, m := range []string{causalSpearman, causalKendall, causalHSIC} {
			for _, name := range []string{m, m + causalPublished} {
				row := text(set, name)
				for _, e := range causalEpsilons {
					row = append(row,
						Entry{Text: share2(
							x.summary(causalCell(set, name, e, 0), metricDirection).Mean)})
				}
				table.Rows = append(table.Rows, row)
			}
		}
	}
	s.Tables = []Table{table}
	return s
}
