package suite

import "fmt"

// A causalFigure holds the shares of table 4.2 of the thesis for a score: one per pair, in the order of the table,
// without noise and with test records protected at epsilon 1.
type causalFigure struct {
	method    string
	noiseless [10]float64
	one       [10]float64
}

// causalFigures returns table 4.2: ten pairs of about 7,800 records, half of them for testing.
func causalFigures() []causalFigure {
	return []causalFigure{
		{
			method:    causalSpearman,
			noiseless: [10]float64{.5, 0, 0, .7, .9, 1, 0, .3, 0, 1},
			one:       [10]float64{.5, 0, 0, .69, .91, 1, .06, .3, 0, 1},
		},
		{
			method:    causalKendall,
			noiseless: [10]float64{.5, 0, 0, .7, .8, 1, 0, .8, 0, 1},
			one:       [10]float64{.5, 0, 0, .7, .81, 1, 0, .8, 0, 1},
		},
		{
			method:    causalHSIC,
			noiseless: [10]float64{1, 0, 1, 1, .7, .6, 1, .4, 1, .1},
			one:       [10]float64{.85, .39, .98, .52, .55, .5, .66, .21, 1, .49},
		},
		{
			method:    causalIQR,
			noiseless: [10]float64{.5, 0, .1, 1, 1, 1, 0, .9, 0, 1},
			one:       [10]float64{.54, .48, .49, .52, .58, .51, .48, .5, .47, .51},
		},
	}
}

// causalBaseline compares the thesis' scores on its own pairs with the same scores on our pairs.
func causalBaseline(x index) Section {
	s := Section{
		Title: "The paper's own baseline",
		Text: []string{
			"The thesis' scores as shares of pairs decided rightly: in the thesis the mean over the ten pairs of table 4.2, here over the pairs of a set. Test records alone are protected.",
		},
	}
	for _, private := range []bool{false, true} {
		table := Table{
			Caption: "without noise",
			Head:    []string{"score", "the paper's own baseline"},
		}
		if private {
			table.Caption = "epsilon 1"
		}
		for _, set := range causalSets {
			table.Head = append(table.Head, "ours, "+set)
		}
		for _, f := range causalFigures() {
			figures := f.noiseless
			metric := metricNoiseless
			if private {
				figures = f.one
				metric = metricDirection
			}
			row := text(f.method, fmt.Sprintf("%.3f", average(figures[:])))
			for _, set := range causalSets {
				row = append(row,
					Entry{Text: share2(x.summary(causalCell(set, f.method, 1, 0), metric).Mean)})
			}
			table.Rows = append(table.Rows, row)
		}
		s.Tables = append(s.Tables, table)
	}
	return s
}
