package suite

import (
	"fmt"
	"math"
	"strconv"
)

func spaceSections(x index, _ []Record) []Section {
	return []Section{spaceErrors(x), spaceSpeed(x), spaceFits(x), noiseSection(x)}
}

// spaceCurves lists the methods that keep a share of the records.
func spaceCurves() []string {
	return []string{spaceSubsample, spaceSNC, spaceMetric}
}

// spaceWholes lists the methods without such a share.
func spaceWholes() []string {
	return []string{spaceAll, spaceCNN, spaceFCNN}
}

// percent formats a share.
func percent(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return strconv.FormatFloat(100*x, 'g', 3, 64) + "%"
}

// spaceErrors is figure 3.3 with the condensed sets as individual points.
func spaceErrors(x index) Section {
	s := Section{
		Title: "Error by the share of vectors kept",
		Text: []string{
			"Means of the trials with 95% intervals. Methods without a share to choose are drawn across at " +
				"their error; the table says what they keep.",
		},
	}
	for i, m := range append(spaceCurves(), spaceWholes()...) {
		s.Legend = append(s.Legend, Series{Name: m, Style: i})
	}
	table := Table{Head: []string{"table", "method"}}
	for _, share := range spaceShares {
		table.Head = append(table.Head, percent(share))
	}
	for _, set := range spaceSets() {
		f := Figure{
			Title:  set.name,
			XLabel: "share of the training records",
			YLabel: "error",
			LogX:   true,
			Ticks:  spaceShares[:],
		}
		all := x.summary(spaceCell(set.name, spaceAll, 0, 0), metricError).Mean
		for i, m := range spaceCurves() {
			curve := Series{Name: m, Style: i}
			row := text(set.name, m)
			for _, share := range spaceShares {
				found := x.summary(spaceCell(set.name, m, share, 0), metricError)
				curve.Points = append(curve.Points, Point{share, found.Mean, found.Low, found.High})
				row = append(row, Entry{Text: fourDecimals(found.Mean), Strong: found.Mean <= all})
			}
			f.Series = append(f.Series, curve)
			table.Rows = append(table.Rows, row)
			if m != spaceSubsample {
				row = text(set.name, m+", weighted votes")
				for _, share := range spaceShares {
					found := x.summary(spaceCell(set.name, m, share, 0), metricWeighted)
					row = append(row, Entry{Text: fourDecimals(found.Mean), Strong: found.Mean <= all})
				}
				table.Rows = append(table.Rows, row)
			}
		}
		for i, m := range spaceWholes() {
			found := x.summary(spaceCell(set.name, m, 0, 0), metricError)
			level := Series{Name: m, Style: len(spaceCurves()) + i}
			for _, share := range []float64{spaceShares[0], spaceShares[len(spaceShares)-1]} {
				level.Points = append(level.Points,
					Point{share, found.Mean, math.NaN(), math.NaN()})
			}
			f.Series = append(f.Series, level)
			kept := x.summary(spaceCell(set.name, m, 0, 0), metricShare).Mean
			table.Rows = append(table.Rows,
				append(text(set.name, fmt.Sprintf("%s (keeps %s)", m, percent(kept))),
					Entry{Text: fourDecimals(found.Mean)}))
		}
		s.Figures = append(s.Figures, f)
	}
	table.Caption = "error; bold where it is at most that of all records"
	s.Tables = []Table{table}
	return s
}

// spaceSpeed is table 3.3, and the distances of trees.
func spaceSpeed(x index) Section {
	s := Section{
		Title: "Speed-up of predictions (table 3.3)",
		Text: []string{
			"Time per prediction by all records over that by the vectors of SNC, both looking at every " +
				"vector in blocks of records, and both by a tree (k-d up to 20 columns, vantage points beyond); " +
				"one processor. The last column is what a tree over all records measures over what looking at " +
				"all vectors at 4% does.",
			"The thesis has 143, 73, 34, 16, 7.6 on letters and 76 to 7 on isolet for looking at every " +
				"vector, 9.3 to 1.1 and 23 to 2 for ball trees.",
		},
	}
	table := Table{Head: []string{"table", "how"}}
	for _, share := range spaceShares {
		table.Head = append(table.Head, percent(share))
	}
	table.Head = append(table.Head, "distances at 4%")
	for _, set := range spaceSets() {
		for _, way := range []struct{ name, metric string }{{"every vector", metricOne},
			{"tree", metricTree}} {
			row := text(set.name, way.name)
			all := x.summary(spaceCell(set.name, spaceAll, 0, 0), way.metric).Median
			for _, share := range spaceShares {
				row = append(row,
					Entry{Text: times(all /
						x.summary(spaceCell(set.name, spaceSNC, share, 0), way.metric).Median)})
			}
			vectors := x.summary(spaceCell(set.name, spaceSNC, .04, 0), metricVectors).Median
			looked := x.summary(spaceCell(set.name, spaceAll, 0, 0), metricVectors).Median
			if way.metric == metricTree {
				looked = x.summary(spaceCell(set.name, spaceAll, 0, 0), metricDistances).Median
			}
			table.Rows = append(table.Rows, append(row, Entry{Text: times(looked / vectors)}))
		}
	}
	s.Tables = []Table{table}
	return s
}

// times formats a ratio.
func times(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// spaceFits shows the time needed to compute the vectors.
func spaceFits(x index) Section {
	s := Section{
		Title: "Seconds to make the vectors",
		Text: []string{
			"Medians on all processors. The thesis has 41, 78, 164, 274, 493 seconds on letters with eight.",
		},
	}
	table := Table{Head: []string{"table", "method"}}
	for _, share := range spaceShares {
		table.Head = append(table.Head, percent(share))
	}
	for _, set := range spaceSets() {
		for _, m := range []string{spaceSNC, spaceMetric} {
			row := text(set.name, m)
			for _, share := range spaceShares {
				row = append(row,
					Entry{Text: times(x.summary(spaceCell(set.name, m, share, 0), metricFit).Median)})
			}
			table.Rows = append(table.Rows, row)
		}
		for _, m := range []string{spaceCNN, spaceFCNN} {
			table.Rows = append(table.Rows,
				text(set.name, m, times(x.summary(spaceCell(set.name, m, 0, 0), metricFit).Median)))
		}
	}
	s.Tables = []Table{table}
	return s
}

// noiseSection is figure 3.5.
func noiseSection(x index) Section {
	s := Section{Title: "Label noise (figure 3.5)", Text: []string{
		fmt.Sprintf(
			"letters with %d training records, of which a share has a label drawn anew from all classes; "+
				"tested on the table's own test records, whose labels are right.", noiseRows),
	}}
	f := Figure{
		Title:  noisyLetters,
		XLabel: "share of labels drawn anew",
		YLabel: "error",
		Ticks:  spaceNoise[:],
	}
	kept := Figure{
		Title:  "vectors kept",
		XLabel: "share of labels drawn anew",
		YLabel: "share of the records",
		Ticks:  spaceNoise[:],
	}
	table := Table{Head: []string{"method"}}
	for _, noise := range spaceNoise {
		table.Head = append(table.Head, "noise "+percent(noise))
	}
	table.Head = append(table.Head, "over 1nn at the most noise")
	most := spaceNoise[len(spaceNoise)-1]
	plain := x.summary(spaceCell(noisyLetters, spaceAll, 0, most), metricError).Mean
	line := func(name, method string, share float64) {
		style := len(f.Series)
		s.Legend = append(s.Legend, Series{
			Name:  name,
			Style: style,
		})
		curve, keeps, row := Series{
			Name:  name,
			Style: style,
		}, Series{Name: name, Style: style},
			text(name)
		for _, noise := range spaceNoise {
			c := spaceCell(noisyLetters, method, share, noise)
			found, vectors := x.summary(c, metricError), x.summary(c, metricShare)
			curve.Points = append(curve.Points, Point{noise, found.Mean, found.Low, found.High})
			keeps.Points = append(keeps.Points,
				Point{noise, vectors.Mean, vectors.Low, vectors.High})
			row = append(row, Entry{
				Text: fourDecimals(found.Mean),
				Note: "keeps " + percent(vectors.Mean),
			})
		}
		row = append(row,
			Entry{Text: short(x.summary(spaceCell(noisyLetters, method, share, most), metricError).Mean /
				plain)})
		f.Series, kept.Series, table.Rows = append(f.Series, curve), append(kept.Series, keeps),
			append(table.Rows, row)
	}
	for _, m := range spaceWholes() {
		line(m, m, 0)
	}
	for _, share := range spaceShares[1:4] {
		line(fmt.Sprintf("%s, %s", spaceSNC, percent(share)), spaceSNC, share)
	}
	s.Figures, s.Tables = []Figure{f, kept}, []Table{table}
	return s
}
