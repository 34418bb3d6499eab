package suite

import (
	"fmt"
	"math"
	"strconv"
)

// The default number of rounds of Boosted AdaSSP is compared with the best of the numbers up to mostRounds. Its
// median R² may be lower by roundsTolerance.
const (
	mostRounds      = 10
	roundsTolerance = .005
)

// A roundsRow compares the default of Boosted AdaSSP with fixed numbers of rounds on one table.
type roundsRow struct {
	data    string
	chosen  Summary   // of the default
	medians []float64 // of regressionRounds
	best    float64   // largest of the medians up to mostRounds
}

func (t regressionTable) roundsOf(data string) roundsRow {
	row := roundsRow{
		data:   data,
		chosen: t.summary(data, regressionModels[0]),
		best:   math.Inf(-1),
	}
	for _, rounds := range regressionRounds {
		median := score(t.summary(data, roundsMethod(rounds)))
		row.medians = append(row.medians, median)
		if rounds <= mostRounds && median > row.best {
			row.best = median
		}
	}
	return row
}

// isNearBest reports whether the default is at most roundsTolerance below the best.
func (r roundsRow) isNearBest() bool {
	return score(r.chosen) >= r.best-roundsTolerance
}

// gains reports whether the default is above one round.
func (r roundsRow) gains() bool {
	return score(r.chosen) > r.medians[0]
}

// rounds shows Boosted AdaSSP by its number of rounds.
func (t regressionTable) rounds() Section {
	s := Section{Title: "Rounds of Boosted AdaSSP"}
	table := Table{Head: []string{"table"}}
	for _, rounds := range regressionRounds {
		table.Head = append(table.Head, fmt.Sprint("T = ", rounds))
	}
	table.Head = append(table.Head, "chosen", fmt.Sprintf("chosen − best of T ≤ %d", mostRounds),
		"chosen − T = 1")
	var near, gains int
	for _, data := range t.data {
		row := t.roundsOf(data)
		if math.IsInf(row.best, -1) {
			continue
		}
		entries := text(data)
		for i, rounds := range regressionRounds {
			entries = append(entries,
				medianEntry(t.summary(data, roundsMethod(rounds)), row.medians[i] == row.best))
		}
		entries = append(entries, medianEntry(row.chosen, false),
			Entry{Text: signed(score(row.chosen) - row.best)},
			Entry{Text: signed(score(row.chosen) - row.medians[0])})
		if row.isNearBest() {
			near++
		}
		if row.gains() {
			gains++
		}
		table.Rows = append(table.Rows, entries)
	}
	s.Text = []string{
		"Median R² on all columns. Bold is the best of T = 1, 3 and 10. By default boosted-adassp chooses T from the matrix that it released.",
		fmt.Sprintf(
			"The default is at most %v below the best of T = 1, 3 and 10 on %d of %d tables, and above T = 1 on %d.",
			roundsTolerance, near, len(table.Rows), gains),
	}
	s.Tables = []Table{table}
	return s
}

// signed formats a difference with three decimals and its sign.
func signed(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	text := strconv.FormatFloat(x, 'f', 3, 64)
	if x > 0 {
		text = "+" + text
	}
	return text
}
