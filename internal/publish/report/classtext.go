package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/train/evaluate"
)

// classRows prints the metrics of a classifier.
func classRows(
	row func(label, text string),
	table func(label string, lines []string),
	m Metrics,
) {
	row("Accuracy", accuracy(m))
	if m.Accuracy == nil {
		return
	}
	if s := otherLabels(m); s != "" {
		row("Unknown", s)
	}
	if s := scoreQuality(m); s != "" {
		row("Scores", s)
	}
	if c := m.Confusion; c != nil && len(m.Recalls) > 0 {
		lines, fits := matrix(c, m.Recalls, otherRow(m))
		if !fits {
			lines = worstRecalls(m.Recalls)
		}
		table("Confusion", lines)
	}
}

// accuracy prints the accuracies of a classifier.
func accuracy(m Metrics) string {
	if m.Accuracy == nil || m.BalancedAccuracy == nil {
		return notMeasured
	}
	a, b := m.Accuracy, m.BalancedAccuracy
	if a.unknown() && b.unknown() {
		return m.notMeasuredByNoise()
	}
	s := hidden
	if !a.unknown() {
		s = fmt.Sprintf("%.3f (%g%% interval %.3f to %.3f)", a.Value, 100*a.Level, a.Lower, a.Upper)
	}
	if b.unknown() {
		s += "; balanced accuracy " + hidden
	} else {
		s += fmt.Sprintf("; balanced accuracy %.3f (%.3f to %.3f)", b.Value, b.Lower, b.Upper)
	}
	if x := m.LargestClass; x != nil {
		s += fmt.Sprintf(
			"; always answering %s is correct for %.3f",
			printableName(x.Class),
			x.Value,
		)
	}
	return s
}

// scoreQuality prints the AUC and the log loss of the scores of two classes.
func scoreQuality(m Metrics) string {
	var parts []string
	if a := m.AUC; a != nil && a.unknown() {
		parts = append(parts, "AUC "+hidden+": a class is hidden by the noise")
	} else if a != nil {
		parts = append(parts,
			fmt.Sprintf("AUC %.3f (%g%% interval %.3f to %.3f)", a.Value, 100*a.Level, a.Lower,
				a.Upper))
	}
	switch l := m.LogLoss; {
	case l == nil:
	case !evaluate.LossMeasured(l.Lower, l.Upper, entropy(m.Reliability)):
		parts = append(parts, "log loss "+hidden)
	default:
		parts = append(parts,
			fmt.Sprintf("log loss %.3f (%.3f to %.3f; %.3f for the class shares alone)", l.Value,
				l.Lower, l.Upper, entropy(m.Reliability)))
	}
	return strings.Join(parts, "; ")
}

// entropy is the log loss of predicting the shares of the two classes.
func entropy(bins []Bin) float64 {
	first := 0.
	second := 0.
	for _, b := range bins {
		if len(b.Counts) == 2 {
			first += float64(b.Counts[0])
			second += float64(b.Counts[1])
		}
	}
	a := min(max(second/(first+second), 0), 1)
	if !(a > 0 && a < 1) {
		return 0
	}
	return -a*math.Log(a) - (1-a)*math.Log(1-a)
}

// cell is the maximum width of a name in a table.
const cell = 12

// fitted shortens a name to the width of a cell.
func fitted(name string) string {
	name = printableName(name)
	if utf8.RuneCountInString(name) <= cell {
		return name
	}
	return string([]rune(name)[:cell-1]) + "…"
}

func pad(text string, width int) string {
	return strings.Repeat(" ", max(width-utf8.RuneCountInString(text), 0)) + text
}

func padRight(text string, width int) string {
	return text + strings.Repeat(" ", max(width-utf8.RuneCountInString(text), 0))
}

// otherLabels describes the records whose label is not a class of the model. It returns "" for a report of an earlier
// version, and if there are at most a few such records.
func otherLabels(m Metrics) string {
	x := m.OtherLabels
	switch {
	case x == nil || x.Upper <= fewUnknown:
		return ""
	case x.Lower <= 0:
		return fmt.Sprintf(
			"at most %s of the labelled records belong to classes the model does not know (%g%% confidence); they count as errors",
			percent(x.Upper), 50+50*x.Level)
	}
	return fmt.Sprintf(
		"%s of the labelled records (%g%% interval %s to %s) belong to classes the model does not know; they count as errors",
		percent(x.Share), 100*x.Level, percent(x.Lower), percent(x.Upper))
}

// fewUnknown is the share of records with other labels up to which they are not mentioned.
const fewUnknown = .01

// otherRow names the last row of the confusion matrix.
func otherRow(m Metrics) string {
	if m.OtherLabels == nil {
		return "no class"
	}
	return "other label"
}

// matrix lays out the confusion matrix with the recalls, and reports whether it fits the width of the text. other is
// the name of its last row.
func matrix(c *Confusion, recalls []Recall, other string) ([]string, bool) {
	first := max(len("true class"), len(other))
	widths := make([]int, len(c.Classes))
	for k, name := range c.Classes {
		first = max(first, utf8.RuneCountInString(fitted(name)))
		widths[k] = utf8.RuneCountInString(fitted(name))
		for _, row := range c.Counts {
			if k < len(row) {
				widths[k] = max(widths[k], len(strconv.Itoa(row[k])))
			}
		}
	}
	line := func(head string, cells []string, end string) string {
		s := padRight(head, first)
		for k, x := range cells {
			s += "  " + pad(x, widths[k])
		}
		return strings.TrimRight(s+"  "+end, " ")
	}
	var names []string
	for _, name := range c.Classes {
		names = append(names, fitted(name))
	}
	lines := []string{line("true class", names, "recall")}
	for k, row := range c.Counts {
		var cells []string
		for _, n := range row[:min(len(row), len(names))] {
			cells = append(cells, strconv.Itoa(n))
		}
		head, end := other, ""
		if k < len(names) && k < len(recalls) {
			head, end = names[k], recall(recalls[k])
		}
		lines = append(lines, line(head, cells, end))
	}
	widest := 0
	for _, l := range lines {
		widest = max(widest, utf8.RuneCountInString(l))
	}
	return lines, labelWidth+widest <= textWidth
}

// unknown reports whether the interval is too wide for the value to be informative.
func (r Recall) unknown() bool {
	return !evaluate.ShareMeasured(r.Lower, r.Upper)
}

// recall prints a recall with its interval.
func recall(r Recall) string {
	if r.unknown() {
		return hidden
	}
	return fmt.Sprintf("%.3f (%.3f to %.3f)", r.Value, r.Lower, r.Upper)
}

// mostRecalls is the number of recalls printed if the matrix does not fit.
const mostRecalls = 10

// worstRecalls lists all recalls, or the lowest ones if there are many.
func worstRecalls(recalls []Recall) []string {
	list := slices.Clone(recalls)
	title := "recall by true class:"
	if len(list) > mostRecalls {
		slices.SortStableFunc(list, func(a, b Recall) int {
			return cmp.Compare(a.Value, b.Value)
		})
		title = fmt.Sprintf(
			"recall by true class, the lowest %d of %d:",
			mostRecalls,
			len(list),
		)
		list = list[:mostRecalls]
	}
	lines := []string{title}
	for _, r := range list {
		lines = append(lines, padRight(fitted(r.Class), cell)+"  "+recall(r))
	}
	return append(lines, "the full matrix is in report.json")
}

// block lays out lines with label in the margin of the first.
func block(label string, lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			label = ""
		}
		b.WriteString(
			strings.TrimRight(padRight(label, labelWidth)+strings.Map(printable, line), " ") + "\n")
	}
	return b.String()
}

// ScoreTable prints the released statistics about the scores of a classifier: for each bin the frequency of the
// second class (of two) or of a correct prediction, and for each threshold of two classes the resulting quality. It
// returns the errors of w.
func ScoreTable(w io.Writer, r *Report) error {
	m := r.Metrics
	if len(m.Reliability) == 0 {
		_, err := io.WriteString(w,
			Paragraph("Scores",
				"not available: there is no classifier with held-out metrics from this version"))
		return err
	}
	what := "right"
	if len(m.Thresholds) > 0 && m.Confusion != nil && len(m.Confusion.Classes) == 2 {
		what = fitted(m.Confusion.Classes[1])
	}
	lines := []string{fmt.Sprintf("%9s %9s %9s %13s  %s", "above", "up to", "records", "share of",
		"model says"), pad(what, 43)}
	for _, b := range m.Reliability {
		lines = append(lines, binLine(b))
	}
	text := block("Bins", lines)
	if len(m.Thresholds) > 0 {
		lines = []string{fmt.Sprintf("%8s %6s  %-21s %-21s", "above", "prob.", "recall of "+what,
			"precision")}
		for _, t := range m.Thresholds {
			lines = append(lines,
				fmt.Sprintf("%8.4g %6s  %-21s %-21s", t.Score, optional3(t.Probability),
					estimateText(t.Recall), estimateText(t.Precision)))
		}
		text += block("Thresholds", lines)
	}
	_, err := io.WriteString(w, text)
	return err
}

func binLine(b Bin) string {
	end := func(x *float64) string {
		if x == nil {
			return ""
		}
		return strconv.FormatFloat(*x, 'g', 4, 64)
	}
	n := 0
	for _, x := range b.Counts {
		n += x
	}
	share := "hidden"
	if b.Share != nil && b.StdError != nil {
		share = fmt.Sprintf("%.3f ± %.3f", *b.Share, *b.StdError)
	}
	return strings.TrimRight(
		fmt.Sprintf("%9s %9s %9d %13s  %s", end(b.Above), end(b.UpTo), n, share,
			optional3(b.Probability)), " ")
}

func optional3(x *float64) string {
	if x == nil {
		return ""
	}
	return fmt.Sprintf("%.3f", *x)
}

func estimateText(x []float64) string {
	if len(x) != 3 || !evaluate.ShareMeasured(x[1], x[2]) {
		return hidden
	}
	return fmt.Sprintf("%.3f (%.3f to %.3f)", x[0], x[1], x[2])
}
