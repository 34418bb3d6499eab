package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dptrain/dptrain/regression"
)

// An Importance measures how much a column moves the predictions of the model: the standard deviation, over the
// records, of its contribution, in units of the target, or of the scores of a classifier. The interval has confidence
// Level and covers privacy noise; if Lower is 0, the column may have no effect.
type Importance struct {
	Column string  `json:"column"`
	Value  float64 `json:"value"`
	Lower  float64 `json:"lower"`
	Upper  float64 `json:"upper"`
	Level  float64 `json:"level"`
}

func importances(list []regression.Importance) []Importance {
	var out []Importance
	for _, x := range list {
		out = append(out, Importance(x))
	}
	return out
}

const (
	mostImportances = 8  // number of columns shown
	mostNameWidth   = 28 // maximum number of characters of a name
)

// weights prints the most important columns, one per line.
func weights(r *Report) string {
	list := r.Importances
	if len(list) == 0 {
		return ""
	}
	unit := "in units of " + r.scale()
	if r.Task == regression.TaskClassification {
		unit = "in units of the score"
	}
	shownOnes := list[:min(len(list), mostImportances)]
	names := make([]string, len(shownOnes))
	values := make([]string, len(shownOnes))
	width := 0
	nameWidth := 0
	for i, x := range shownOnes {
		names[i], values[i] = truncateText(printableName(x.Column), mostNameWidth), short(x.Value)
		nameWidth = max(nameWidth, utf8.RuneCountInString(names[i]))
		width = max(width, len(values[i]))
	}
	var b strings.Builder
	b.WriteString(
		Paragraph("Columns",
			fmt.Sprintf(
				"importance: standard deviation of each column's contribution to the prediction, %s, with %g%% interval",
				unit, 100*list[0].Level)))
	for i, x := range shownOnes {
		gap := strings.Repeat(" ", nameWidth-utf8.RuneCountInString(names[i]))
		fmt.Fprintf(&b, "%*s%s%s  %*s  %s to %s\n", labelWidth, "", names[i], gap, width, values[i],
			short(x.Lower), short(x.Upper))
	}
	note := "If an interval includes 0, the column may have no effect. Correlated columns share their effect."
	if more := len(list) - mostImportances; more > 0 {
		note = fmt.Sprintf("report.json has %d more. ", more) + note
	}
	b.WriteString(Paragraph("", note))
	if x := r.Interactions; x != nil {
		b.WriteString(Paragraph("Pairs", x.sentence(strings.TrimPrefix(unit, "in "))))
	}
	return b.String()
}

// truncateText shortens a text to the given number of characters.
func truncateText(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
