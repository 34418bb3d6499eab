package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

const (
	textWidth  = 78
	labelWidth = 11
	mostNames  = 20 // features that are named one by one
)

// Text prints a report for a person: the privacy statement first, then the
// model (or that there is none), the private metrics and the warnings. Everything in it is public. It
// returns the errors of w.
func Text(w io.Writer, r *Report) error {
	var b strings.Builder
	row := func(label, text string) { b.WriteString(Paragraph(label, text)) }
	optional := func(label, text string) {
		if text != "" {
			row(label, text)
		}
	}
	if r.Stopped != nil {
		row("Stopped", r.stoppedText())
	}
	row("Privacy", statement(r.Guarantee, reportFile))
	row("Meaning", r.Guarantee.MeaningOf())
	what := fmt.Sprintf("%s: %s from %d of %d features", r.Model.Method, shown(r.Target), len(r.Features.Selected), len(r.Features.Considered))
	trained := r.Model.Kind != ""
	switch {
	case r.Stopped != nil:
		what = "none: the run stopped before training"
	case !trained:
		what = "none: " + r.Model.Method + " abstained on " + shown(r.Target)
	}
	row("Model", what)
	if r.Stopped == nil {
		row("Features", names(r.Features.Selected))
	}
	if r.Confidence != nil {
		row("Choice", r.Confidence.text())
	}
	switch {
	case !trained:
	case r.Task == regression.TaskClassification:
		classRows(row, func(label string, lines []string) { b.WriteString(block(label, lines)) }, r.Metrics)
	default:
		row("R²", metric(r))
		optional("All errors", allErrors(r.Metrics.R2))
		optional("R² of", transformedMetric(r))
		optional("Error", errorsOf(r))
		optional("Interval", intervals(r.Metrics.Intervals))
	}
	if trained {
		optional("Held out", heldOut(r))
		b.WriteString(weights(r))
	}
	if r.Search != nil && trained {
		row("Search", searched(r))
	}
	if x := r.Sizes; x != nil && trained {
		row("Size", fmt.Sprintf("%d features won among %s, by a noisy count of right predictions on the training records. How often sizes were tried is secret (%s times on average)",
			x.Chosen, listed(x.Sizes), number(x.Runs)))
	}
	if left := notTaken(r.Events); left != "" && r.Stopped == nil {
		row("Not taken", left)
	}
	if l := r.Ledger; l != nil {
		row("Ledger", fmt.Sprintf("entered for data set %s; keep this head: %d:%s", shown(l.Dataset), l.Entry, l.Head))
	}
	for _, warning := range r.Warnings {
		if warning.Code == noTargetCode || warning.Code == largeErrorsCode {
			continue // a row says so
		}
		row("Warning", warning.Text+" ("+string(warning.Severity)+": "+warning.Code+")")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// notTaken names the steps of the branches that a run did not take.
func notTaken(events []Event) string {
	unread, other, classes, way, branch := 0, 0, 0, "", ""
	for _, e := range events {
		if e.Taken == nil || *e.Taken {
			continue
		}
		switch name := firstLeft(events, placeOf(e.ID).Branch); {
		case pipeline.IsWay(name):
			unread, way = unread+1, name
		case pipeline.IsNumberOfClasses(name):
			classes++
		default:
			other, branch = other+1, name
		}
	}
	steps := func(n int) string {
		if n == 1 {
			return "1 step"
		}
		return fmt.Sprintf("%d steps", n)
	}
	var out []string
	if other > 0 {
		out = append(out, fmt.Sprintf("%s of the way %s: the count chose the other way to train, and whichever it chooses fits the budget", steps(other), shown(branch)))
	}
	if unread > 0 {
		what := "words: none of them is"
		if way == pipeline.NumbersWay {
			what = "all numbers: some are words"
		}
		out = append(out, fmt.Sprintf("%s of a run in which columns that declare nothing are %s, and either way fits the budget", steps(unread), what))
	}
	if classes > 0 {
		out = append(out, fmt.Sprintf("%s planned for another number of classes than was found; the price covers every number", steps(classes)))
	}
	return strings.Join(out, ". Also ")
}

// firstLeft returns the first choice on the way to a branch of which no step was taken.
func firstLeft(events []Event, branch string) string {
	names := choices(branch)
	for i := range names {
		if upTo := strings.Join(names[:i+1], "/"); !slices.ContainsFunc(events, func(e Event) bool {
			in := placeOf(e.ID).Branch
			return (in == upTo || strings.HasPrefix(in, upTo+"/")) && (e.Taken == nil || *e.Taken)
		}) {
			return names[i]
		}
	}
	return branch
}

// statement is the privacy statement: unit, relation, epsilon, delta, mu, and
// the file that lists what is not covered.
func statement(g Guarantee, file string) string {
	hidden := "What it says"
	switch g.Relation {
	case "add-remove":
		hidden = "Whether it is in the table"
	case "substitute-private-columns":
		hidden = "What its private columns say"
	}
	s := unit(g)
	if g.Unit != nil {
		hidden = "Whether it is in the table, with all its records,"
	}
	s += fmt.Sprintf(" %s stays hidden from every reader of the release up to epsilon %s, delta %s", hidden, number(g.Epsilon), number(g.Delta))
	if g.Mu != nil {
		s += ", mu " + strconv.FormatFloat(*g.Mu, 'g', 4, 64)
	}
	s += " (relation " + g.Relation + "). "
	if g.Relation == "substitute-private-columns" {
		s += "All other columns, the target and the number of records count as public. "
	}
	return s + "What the recipe states about the data is not protected; " + file + " lists it."
}

// unit names the unit of protection.
func unit(g Guarantee) string {
	if g.Unit == nil {
		return "The unit of protection is one record."
	}
	records := "records"
	if g.Unit.MaxRows == 1 {
		records = "record"
	}
	return fmt.Sprintf("The unit of protection is one value of the column %s: at most %d %s of each were used.", shown(g.Unit.Column), g.Unit.MaxRows, records)
}

// searched says how a search found the model.
func searched(r *Report) string {
	x := r.Search
	way := "unknown"
	if i := x.Chosen - 1; i >= 0 && i < len(x.Candidates) {
		way = x.Candidates[i].Way()
	}
	score := "score (R²)"
	if x.Score.Metric == "accuracy" {
		score = "accuracy"
	}
	s := fmt.Sprintf("candidate %d of %d won (%s) with a released %s of %.3f on records that trained nothing. How often candidates were tried is secret (%s times on average). The best of several scores is biased upwards",
		x.Chosen, len(x.Candidates), way, score, x.Score.Value, number(x.Runs))
	if r.Metrics.R2 != nil || r.Metrics.Accuracy != nil {
		s += "; the figure above, on other records, is not"
	}
	return s
}

// listed prints at most mostNames numbers.
func listed(numbers []int) string {
	words := make([]string, 0, mostNames)
	for _, n := range numbers[:min(len(numbers), mostNames)] {
		words = append(words, strconv.Itoa(n))
	}
	s := strings.Join(words, ", ")
	if more := len(numbers) - mostNames; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

func names(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	quoted := make([]string, 0, mostNames)
	for _, name := range list[:min(len(list), mostNames)] {
		quoted = append(quoted, shown(name))
	}
	s := strings.Join(quoted, ", ")
	if more := len(list) - mostNames; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// number prints the shortest decimal form.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// shown makes a name safe for a terminal.
func shown(name string) string {
	odd := func(c rune) bool { return !unicode.IsPrint(c) || c == utf8.RuneError }
	if name == "" || strings.ContainsFunc(name, odd) {
		return strconv.Quote(name)
	}
	return name
}

// printable replaces what could move the cursor or the colours of a terminal: a
// report may come from anybody.
func printable(c rune) rune {
	if unicode.IsSpace(c) || unicode.IsPrint(c) {
		return c
	}
	return utf8.RuneError
}

// Paragraph lays out text in lines of at most 78 characters, with label in the
// margin of the first, and a newline at the end.
func Paragraph(label, text string) string { return paragraph(label, text, labelWidth) }

// paragraph is Paragraph with another width of the margin.
func paragraph(label, text string, labelWidth int) string {
	var b strings.Builder
	margin := label + strings.Repeat(" ", max(labelWidth-utf8.RuneCountInString(label), 1))
	used := 0
	b.WriteString(margin)
	for i, word := range strings.Fields(strings.Map(printable, text)) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case labelWidth+used+1+n > textWidth:
			b.WriteString("\n" + strings.Repeat(" ", labelWidth))
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	b.WriteByte('\n')
	return b.String()
}
