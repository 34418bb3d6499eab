package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// The size of a terminal, which the text of [Summary] fits. Only the paths of the folders may be longer than a line.
const (
	SummaryLines = 24
	SummaryWidth = 80
)

const (
	leastLines       = 20 // that a summary may use, however many lines precede it
	summaryMargin    = 10 // width of the labels
	mostSummaryBars  = 6  // number of columns drawn
	barWidth         = 10 // characters of the longest bar
	barNameWidth     = 14 // characters of the name of a class
	longNameWidth    = 20 // characters of a column's name; the bars are shorter beside long ones
	barCellWidth     = 34 // characters of a name, its bar and its value
	mostIntervalName = 18 // characters of " of " and a target that the line about intervals has room for
	mostRecallsRow   = 3  // number of classes whose recall is printed; of more classes, the lowest and the highest
)

// Summary prints the result of a run in lines of [SummaryWidth] characters: the model, its metrics, the guarantee, the
// most important columns, the warnings by rank, and the folders under dir. It has at most [SummaryLines] lines, and
// together with up to 4 lines that the program printed before it, unless the names of the warnings take their room.
// [Text] and the page contain the rest. Everything in it is public. It returns the errors of w.
func Summary(w io.Writer, r *Report, dir string, before int) error {
	title := wrapSummary("", r.summaryTitle())
	for i := range title {
		title[i] = strings.TrimPrefix(title[i], strings.Repeat(" ", summaryMargin))
	}
	head := [][]string{title, r.summaryMetrics(), r.summaryPrivacy()}
	tail := r.summaryFolders(dir)
	used := 0
	for _, lines := range append(head, tail) {
		if len(lines) > 0 {
			used += len(lines) + 1 // with an empty line before, except for the title
		}
	}
	warnings := ranked(r.Warnings, largeErrorsCode)
	urgent := slices.DeleteFunc(slices.Clone(warnings), func(x pipeline.Warning) bool {
		return rankOf(x) == rankNote
	})
	named := used + len(otherWarnings("", warnings))
	room := min(max(SummaryLines-before, leastLines, named), SummaryLines) + 1 - used
	reserved := len(briefWarnings(urgent, math.MaxInt))
	if notes := warnings[len(urgent):]; len(notes) > 0 {
		reserved += len(otherWarnings("more ", notes))
	}
	columns := r.summaryColumns(room - 1 - reserved - 1)
	if len(columns) > 0 {
		room -= len(columns) + 1
	}
	var b strings.Builder
	for _, lines := range append(head, columns, briefWarnings(warnings, room-1), tail) {
		if len(lines) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		for _, line := range lines {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// summaryTitle names the model.
func (r *Report) summaryTitle() string {
	target := truncateText(printableName(r.Target), mostNameWidth)
	switch {
	case r.Stopped != nil:
		return "no model of " + target + ": " + r.Stopped.Meaning
	case r.Model.Kind == "":
		return fmt.Sprintf("no model of %s: %s", target, r.WhyNoModel())
	}
	return fmt.Sprintf("%s from %s · %s", target, countOf(len(r.Features.Selected), "column"),
		r.Model.Method)
}

// summaryMetrics prints the metrics; it returns an empty list for a run without a model.
func (r *Report) summaryMetrics() []string {
	var out []string
	row := func(label, text string) {
		if text != "" {
			out = append(out, wrapSummary(label, text)...)
		}
	}
	m := r.Metrics
	switch {
	case r.Model.Kind == "":
	case m.Accuracy != nil && m.BalancedAccuracy != nil:
		row("Accuracy", m.accuracySummary())
		row("Balanced", m.balancedSummary())
		row("Recall", recallSummary(m.Recalls))
		if a := m.AUC; a != nil && !a.unknown() {
			row("AUC", fmt.Sprintf("%.3f  (%.3f to %.3f)", a.Value, a.Lower, a.Upper))
		} else if a != nil {
			row("AUC", hidden)
		}
	case m.R2 != nil && r.Format != format1:
		row("R²", m.R2.summary(m))
		if x := m.R2.AllErrors; x != nil && !m.R2.unknown() {
			all := "no lower limit if every error counts in full"
			if x.Lower > 0 {
				all = fmt.Sprintf("at least %.2f if every error counts in full", x.Lower)
			}
			row("", all)
		}
		row("MAE", m.maeSummary())
		if len(m.Intervals) > 0 {
			of := " of " + printableName(r.Target)
			if utf8.RuneCountInString(of) > mostIntervalName {
				of = ""
			}
			row("Interval", fmt.Sprintf("%g%% of new values%s lie within ±%s of the prediction",
				100*m.Intervals[0].Level, of, short(m.Intervals[0].HalfWidth)))
		}
	default:
		row("Quality", notMeasured)
	}
	if g := m.Groups; g != nil && r.Model.Kind != "" {
		if s := g.summary(); s != "" {
			out = append(out,
				limitLines(wrapSummary("By "+truncateText(printableName(g.Column), summaryMargin-4), s), 1)...)
		}
	}
	return out
}

// summary prints R².
func (m *R2) summary(of Metrics) string {
	if m.unknown() {
		return fmt.Sprintf("not reported: it can only be placed between %s and %s", limit2(m.Lower),
			limit2(m.Upper))
	}
	s := fmt.Sprintf(
		"%.3f  (%g%% interval %.3f to %.3f)",
		m.Value,
		100*m.Level,
		m.Lower,
		m.Upper,
	)
	if of.Records != nil {
		s += fmt.Sprintf(", about %s test records", roundedCount(of.Records.Value, of.Records.Scale))
	}
	if m.ErrorLimit > 0 {
		s += fmt.Sprintf("; an error above %s counts as %[1]s", short(m.ErrorLimit))
	}
	return s
}

// maeSummary prints the mean absolute error, with the limit of errors where the line of R² does not state it; empty without one.
func (m Metrics) maeSummary() string {
	switch {
	case m.MAE == nil:
		return ""
	case m.errorsUnknown():
		return "not reported: " + errorsHidden
	}
	texts := shortAlike(m.MAE.Value, m.MAE.Lower, m.MAE.Upper)
	s := fmt.Sprintf("%s  (%s to %s), mean absolute error", texts[0], texts[1], texts[2])
	if m.R2.unknown() && m.R2.ErrorLimit > 0 {
		s += fmt.Sprintf("; an error above %s counts as %[1]s", short(m.R2.ErrorLimit))
	}
	return s
}

// accuracySummary prints the accuracy.
func (m Metrics) accuracySummary() string {
	if m.Accuracy.unknown() {
		return m.notMeasuredByNoise()
	}
	s := fmt.Sprintf("%.3f  (%g%% interval %.3f to %.3f)", m.Accuracy.Value, 100*m.Accuracy.Level,
		m.Accuracy.Lower, m.Accuracy.Upper)
	if m.Records != nil {
		s += fmt.Sprintf(", about %s test records", roundedCount(m.Records.Value, m.Records.Scale))
	}
	if x := m.LargestClass; x != nil {
		s += fmt.Sprintf("; always answering %s is correct for %.3f",
			truncateText(printableName(x.Class), barNameWidth), x.Value)
	}
	return s
}

// balancedSummary prints the balanced accuracy.
func (m Metrics) balancedSummary() string {
	b := m.BalancedAccuracy
	if b.unknown() {
		return hidden
	}
	return fmt.Sprintf("%.3f  (%.3f to %.3f), the mean of the recalls", b.Value, b.Lower, b.Upper)
}

// recallSummary prints the recalls of a few classes, or the lowest and the highest of many.
func recallSummary(list []Recall) string {
	if len(list) == 0 {
		return ""
	}
	list = slices.DeleteFunc(slices.Clone(list), Recall.unknown)
	if len(list) == 0 {
		return hidden
	}
	text := func(x Recall) string {
		return fmt.Sprintf("%s %.3f", truncateText(printableName(x.Class), barNameWidth), x.Value)
	}
	if len(list) <= mostRecallsRow {
		parts := make([]string, len(list))
		for i, x := range list {
			parts[i] = fmt.Sprintf("%s (%.3f to %.3f)", text(x), x.Lower, x.Upper)
		}
		return strings.Join(parts, ", ")
	}
	slices.SortStableFunc(list, func(a, b Recall) int {
		return cmp.Compare(a.Value, b.Value)
	})
	return fmt.Sprintf("lowest %s, highest %s, of %d classes", text(list[0]),
		text(list[len(list)-1]), len(list))
}

// summaryPrivacy prints the guarantee.
func (r *Report) summaryPrivacy() []string {
	g := r.Guarantee
	protected := "record"
	if g.Unit != nil {
		protected = fmt.Sprintf("value of %s, with at most %s",
			truncateText(printableName(g.Unit.Column), mostNameWidth), countOf(g.Unit.MaxRows, "record"))
	}
	relation := map[string]string{
		"add-remove":                 "add/remove",
		"substitute":                 "substitution",
		"substitute-private-columns": "substitution of private columns",
	}[g.Relation]
	s := fmt.Sprintf("epsilon %s, delta %s per %s (%s)", number(g.Epsilon), number(g.Delta),
		protected, cmp.Or(relation, g.Relation))
	if g.Mu != nil {
		s += ", mu " + roundedUp(*g.Mu)
	}
	a := g.AttackOf()
	does := "detects a given " + map[bool]string{
		true:  "unit",
		false: "record",
	}[g.Unit != nil]
	if g.Relation != "add-remove" {
		does = "tells two versions of a record apart"
	}
	return append(wrapSummary("Privacy", s),
		wrapSummary("",
			fmt.Sprintf("An attacker with a %s false-positive rate %s at most %s of the time.",
				percent(a.FalseAlarms), does, percent(a.Found)))...)
}

// summaryColumns draws the most important columns in at most most lines, two columns per line. Without importances it
// lists the columns of the model.
func (r *Report) summaryColumns(most int) []string {
	if r.Model.Kind == "" || most < 1 {
		return nil
	}
	list := r.Importances
	if len(list) == 0 {
		return limitLines(wrapSummary("Columns", names(r.Features.Selected)), min(most, 2))
	}
	n := min(len(list), mostSummaryBars, 2*max(most-1, 1))
	width := 0
	for _, x := range list[:n] {
		width = max(width, utf8.RuneCountInString(printableName(x.Column)))
	}
	width = min(width, longNameWidth)
	values := make([]float64, n)
	for i, x := range list[:n] {
		values[i] = x.Value
	}
	texts := shortAlike(values...)
	longest := barWidth
	for _, text := range texts {
		longest = min(longest, barCellWidth-width-2-utf8.RuneCountInString(text))
	}
	longest = max(longest, 1)
	var out []string
	for i, x := range list[:n] {
		bar := 0
		if list[0].Value > 0 {
			bar = min(max(int(math.Round(float64(longest)*x.Value/list[0].Value)), 0), longest)
		}
		cell := padRight(truncateText(printableName(x.Column), longNameWidth), width) + " " +
			strings.TrimLeft(strings.Repeat("█", bar)+" "+texts[i], " ")
		if i%2 == 1 {
			out[len(out)-1] = padRight(out[len(out)-1], summaryMargin+barCellWidth) + "  " + cell
			continue
		}
		label := ""
		if i == 0 {
			label = "Columns"
		}
		out = append(out, padRight(label, summaryMargin)+cell)
	}
	if more := len(list) - n; more > 0 && len(out) < most {
		out = append(out,
			strings.Repeat(" ", summaryMargin)+fmt.Sprintf("%d more in the report", more))
	}
	return out
}

// summaryFolders prints the ledger entry and the two folders of a run.
func (r *Report) summaryFolders(dir string) []string {
	var out []string
	if l := r.Ledger; l != nil {
		out = append(out,
			wrapSummary("Ledger",
				fmt.Sprintf("recorded for data set %s; keep its head:",
					truncateText(printableName(l.Dataset), mostNameWidth)))...)
		head := fmt.Sprintf("%d:%s", l.Entry, l.Head)
		out = append(out,
			strings.Repeat(" ",
				min(max(SummaryWidth-utf8.RuneCountInString(head), 0), summaryMargin))+head)
	}
	release := filepath.Join(dir, ReleaseDir)
	curator := filepath.Join(dir, CuratorDir)
	width := max(utf8.RuneCountInString(release), utf8.RuneCountInString(curator))
	what := "model, report.html, recipe: may be published"
	if r.Model.Kind == "" {
		what = "report.html, recipe: may be published"
	}
	return append(out, padRight(release, width)+"   "+what,
		padRight(curator, width)+"   exact counts: keep private")
}

// actions are the possible actions for a warning, by its code; see [brief].
var actions = map[string]string{
	stage.CodeNoLedger:       "See `dptrain ledger init`.",
	stage.CodeNoSignal:       "`dptrain plan --explain` estimates how much more budget or records help.",
	stage.CodeNoRange:        "Declare their number format or categories, or leave them out with --exclude.",
	stage.CodeNumbersAsText:  "Remove the column there if they are measurements.",
	stage.CodeNoWords:        "Exclude identifiers and names; declare the categories of other columns.",
	stage.CodeUnreadCells:    "If they are numbers, declare their format (--thousands, --decimal).",
	stage.CodeExtremeNumbers: "Use another unit, or declare the range (--range).",
	stage.CodeFarTargets:     "Declare a wider range of the target (--range) if it is public knowledge.",
	stage.CodeMissingTargets: "Check the format of the target: unit, thousands mark, spelling.",
	stage.CodeUnknownClasses: "List all classes (--classes).",
	stage.CodeClassesCut:     "Raise --most-classes.",
	stage.CodeMajorityClass:  "Look at the balanced accuracy and the recalls.",
	stage.CodeNoMetric:       "Set --holdout 0.2 to measure it.",
	stage.CodeGroupGap:       "The report has all groups.",
	stage.CodeSmallGroups:    "Use more records or a larger epsilon.",
}

// briefLines is the maximum number of lines of a warning in a summary.
func briefLines(w pipeline.Warning) int {
	switch rankOf(w) {
	case rankError:
		if w.Code == noTargetCode || w.Code == stage.CodeNoClasses { // the only reason why there is no model
			return 7
		}
		return 4
	case rankWarning:
		return 3
	}
	return 2
}

// warningLines returns the lines of a warning in a summary: its first sentence and its action, or all of it if no
// action is known.
func warningLines(w pipeline.Warning) []string {
	text := w.Text
	action := actions[w.Code]
	if w.Code == stage.CodeNoRange && strings.HasPrefix(text, pipeline.TooFewRecords) {
		action = "Use more records, a larger epsilon or fewer columns, or declare ranges (--range)."
	}
	if w.Code == "extreme-numbers" && strings.HasPrefix(text, pipeline.AlikeNumbers) {
		action = "Unless they are constant, subtract a public offset, or declare the range (--range)."
	}
	if w.Code == stage.CodeMajorityClass && strings.HasSuffix(text, pipeline.OrderedScores) {
		action = pipeline.OrderedScores
	}
	if action != "" || rankOf(w) == rankNote {
		text = firstSentence(text)
	}
	most := briefLines(w)
	lines := wrapText(heading(w)+" "+text+" "+action, SummaryWidth, "  ")
	if len(lines) <= most {
		return lines
	}
	words := strings.Fields(text)
	for n := len(words) - 1; n > 0; n-- {
		shorter := wrapText(heading(w)+" "+strings.TrimRight(strings.Join(words[:n], " "), ",:;.")+
			" … "+action, SummaryWidth, "  ")
		if len(shorter) <= most {
			return shorter
		}
	}
	return lines[:most]
}

// firstSentence returns the text up to the first full stop that ends a sentence. A full stop within quotation marks
// is part of a name.
func firstSentence(text string) string {
	quotedName := false
	for i := 0; i+2 < len(text); i++ {
		if text[i] == '"' {
			quotedName = !quotedName
		}
		if !quotedName && text[i] == '.' && text[i+1] == ' ' && text[i+2] >= 'A' &&
			text[i+2] <= 'Z' {
			return text[:i+1]
		}
	}
	return text
}

// briefWarnings prints the first warnings that fit into room lines, and names the others below them.
func briefWarnings(list []pipeline.Warning, room int) []string {
	for n := len(list); n >= 0; n-- {
		var out []string
		for _, w := range list[:n] {
			out = append(out, warningLines(w)...)
		}
		if n < len(list) {
			lead := ""
			if n > 0 {
				lead = "more "
			}
			out = append(out, otherWarnings(lead, list[n:])...)
		}
		if len(out) <= room {
			return out
		}
		if n == 0 && room > 0 {
			return limitLines(out, room)
		}
	}
	return nil
}

// otherWarnings names the warnings that are only in the report.
func otherWarnings(lead string, list []pipeline.Warning) []string {
	names := make([]string, len(list))
	for k, w := range list {
		names[k] = fmt.Sprintf("%s[%s]", rankOf(w), w.Code)
	}
	return wrapText(lead+"in the report: "+strings.Join(names, ", "), SummaryWidth, "  ")
}

// wrapSummary breaks a text into lines with the label in the margin of the first.
func wrapSummary(label, text string) []string {
	lines := wrapText(text, SummaryWidth-summaryMargin, "")
	for i, line := range lines {
		lines[i] = padRight(label, summaryMargin) + line
		label = ""
	}
	return lines
}

// limitLines keeps the first most lines and marks the last one if others follow.
func limitLines(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	lines = slices.Clone(lines[:most])
	last := []rune(lines[most-1])
	lines[most-1] = string(last[:min(len(last), SummaryWidth-2)]) + " …"
	return lines
}
