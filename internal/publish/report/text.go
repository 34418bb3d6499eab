package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/vocabulary"
	"github.com/dptrain/dptrain/regression"
)

const (
	textWidth  = 78
	labelWidth = 11
	mostNames  = 20 // maximum number of features listed by name
)

// Text prints a report for a person: the guarantee, the results of the task and the warnings by rank. Everything in it
// is public. It returns the errors of w.
func Text(w io.Writer, r *Report) error {
	_, err := io.WriteString(w, r.section().text(r))
	return err
}

// rows are the labelled paragraphs of a report.
type rows struct{ strings.Builder }

// newRows begins with the guarantee.
func newRows(r *Report) *rows {
	var out rows
	if r.HasStopped() {
		out.add("Stopped", r.stoppedText())
	}
	out.add("Privacy", statement(r))
	out.add("Meaning", r.Guarantee.MeaningOf())
	return &out
}

// add writes a paragraph.
func (x *rows) add(label, text string) {
	x.WriteString(Paragraph(label, text))
}

// addIf writes a paragraph, unless the text is empty.
func (x *rows) addIf(label, text string) {
	if text != "" {
		x.add(label, text)
	}
}

// finish adds the ledger and the warnings but those with a code in without, and returns the text.
func (x *rows) finish(r *Report, without ...string) string {
	if l := r.Ledger; l != nil {
		x.add("Ledger",
			fmt.Sprintf("recorded for data set %s; keep this head: %d:%s", printableName(l.Dataset), l.Entry,
				l.Head))
	}
	x.WriteString(warningText(r.Warnings, without...))
	return x.String()
}

// text prints the model, or why there is none, and the private metrics.
func (t *Training) text(r *Report) string {
	rows := newRows(r)
	what := fmt.Sprintf("%s: %s from %d of %d features", t.Model.Method, printableName(t.Target),
		len(t.Features.Selected), len(t.Features.Considered))
	trained := t.Model.Kind != ""
	switch {
	case t.Stopped != nil:
		what = "none: the run stopped before training"
	case r.lacksClasses():
		what = "none: " + r.WhyNoModel() + " of " + printableName(t.Target)
	case !trained:
		what = "none: " + t.Model.Method + " abstained on " + printableName(t.Target)
	}
	rows.add("Model", what)
	if t.Stopped == nil {
		rows.add("Features", names(t.Features.Selected))
	}
	if t.Confidence != nil {
		rows.add("Choice", t.Confidence.text())
	}
	switch {
	case !trained:
	case t.Task == regression.TaskClassification:
		classRows(rows.add, func(label string, lines []string) {
			rows.WriteString(block(label, lines))
		}, t.Metrics)
	default:
		rows.add("R²", metric(r))
		rows.addIf("All errors", allErrors(t.Metrics.R2))
		rows.addIf("R² of", transformedMetric(r))
		rows.addIf("Error", errorsOf(r))
		rows.addIf("Interval", intervals(r))
	}
	if trained {
		rows.addIf("Held out", heldOut(r))
		if g := t.Metrics.Groups; g != nil {
			label := "By " + truncateText(printableName(g.Column), labelWidth-4)
			for _, line := range append(g.lines(), g.differences()...) {
				rows.add(label, line)
				label = ""
			}
		}
		rows.WriteString(weights(r))
	}
	if t.Search != nil && trained {
		rows.add("Search", searched(r))
	}
	if x := t.Sizes; x != nil && trained {
		rows.add("Size",
			fmt.Sprintf(
				"%d features won among %s, by a noisy count of right predictions on the training records. The number of tries is secret (%s on average)",
				x.Chosen, listed(x.Sizes), number(x.Runs)))
	}
	if left := skipped(r.Events); left != "" && t.Stopped == nil {
		rows.add("Skipped", left)
	}
	return rows.finish(r, noTargetCode, largeErrorsCode)
}

// skipped describes the steps of the strategies that a run was priced for and did not carry out.
func skipped(events []Event) string {
	steps := map[string]int{}
	classes := 0
	var order []string
	for _, e := range events {
		if e.Taken == nil || *e.Taken {
			continue
		}
		name := firstLeft(events, placeOf(e.ID).Branch)
		if pipeline.IsNumberOfClasses(name) {
			classes++
			continue
		}
		if steps[name] == 0 {
			order = append(order, name)
		}
		steps[name]++
	}
	var out []string
	for _, name := range order {
		out = append(out, fmt.Sprintf("%s, %s", strategyName(name), countOf(steps[name], "step")))
	}
	if classes > 0 {
		out = append(out,
			fmt.Sprintf("branches for other numbers of classes, %s",
				countOf(classes, "step")))
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, "; ") + ". The price covers all branches between which the noisy counts choose"
}

// strategyName describes a strategy that the noisy counts did not choose.
func strategyName(branch string) string {
	switch {
	case branch == vocabulary.NumbersBranch:
		return "training without text columns (some were detected)"
	case vocabulary.IsBranch(branch):
		return "training with text columns (none was detected)"
	case branch == "kendall":
		return "feature selection by Kendall (the noisy record count chose the branch without it)"
	case branch == "logistic":
		return "logistic regression (the noisy record count chose the larger model)"
	case branch == "all":
		return "training on all columns (the noisy record count chose the smaller model)"
	}
	return "the strategy " + printableName(branch)
}

// countOf prints a number and the noun it counts.
func countOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// firstLeft returns the first choice on the path to a branch without any taken step.
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

// statement states the guarantee: unit, relation, epsilon, delta and mu, and the file that lists the facts that it does
// not cover.
func statement(r *Report) string {
	g := r.Guarantee
	protected := "Each record"
	verb := "is"
	switch {
	case g.Unit != nil:
		protected = fmt.Sprintf("Each value of the column %s, with at most %s,",
			printableName(g.Unit.Column), countOf(g.Unit.MaxRows, "record"))
	case g.Relation == "substitute-private-columns":
		protected = "The private columns of each record"
		verb = "are"
	}
	s := fmt.Sprintf("%s %s protected by (epsilon %s, delta %s)-differential privacy: %s",
		protected, verb, number(g.Epsilon), number(g.Delta), g.neighbours())
	if g.Mu != nil {
		s += ", mu " + roundedUp(*g.Mu)
	}
	s += ". "
	if g.Relation == "substitute-private-columns" {
		s += "All other columns, the target and the number of records are public. "
	}
	return s +
		fmt.Sprintf("Facts stated %s (column names, ranges, categories) are public; %s lists them.",
			r.section().kind().stated, r.FileName())
}

// neighbours names the neighbouring relation.
func (g Guarantee) neighbours() string {
	switch g.Relation {
	case "add-remove":
		return "add/remove neighbours"
	case "substitute":
		return "substitution neighbours"
	case "substitute-private-columns":
		return "neighbours by substitution of private columns"
	}
	return "relation " + g.Relation
}

// searched describes the winner of a search.
func searched(r *Report) string {
	x := r.Search
	candidate := "unknown"
	if i := x.Chosen - 1; i >= 0 && i < len(x.Candidates) {
		candidate = x.Candidates[i].Way()
	}
	score := "score (R²)"
	if x.Score.Metric == "accuracy" {
		score = "accuracy"
	}
	s := fmt.Sprintf(
		"candidate %d of %d won (%s) with a released %s of %.3f on records held out from training. The number of tries is secret (%s on average). The best of several scores is biased upwards",
		x.Chosen, len(x.Candidates), candidate, score, x.Score.Value, number(x.Runs))
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
		quoted = append(quoted, printableName(name))
	}
	s := strings.Join(quoted, ", ")
	if more := len(list) - mostNames; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// number prints the shortest decimal form that is read back as x.
func number(x float64) string {
	return plainExponent(strconv.FormatFloat(x, 'g', -1, 64))
}

// plainExponent shortens an exponent of two digits: 1e-06 becomes 1e-6.
func plainExponent(s string) string {
	s = strings.Replace(s, "e-0", "e-", 1)
	return strings.Replace(s, "e+0", "e+", 1)
}

// roundedUp prints a positive number with three significant digits, rounded up, because it bounds a privacy loss.
func roundedUp(x float64) string {
	if !(x > 0) || math.IsInf(x, 1) {
		return number(x)
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	up, err := strconv.ParseFloat(strconv.FormatFloat(math.Ceil(x/unit-1e-9)*unit, 'g', 3, 64), 64)
	if err != nil {
		return number(x)
	}
	return number(up)
}

// printableName makes a name safe for a terminal.
func printableName(name string) string {
	odd := func(c rune) bool {
		return !unicode.IsPrint(c) || c == utf8.RuneError
	}
	if name == "" || strings.ContainsFunc(name, odd) {
		return strconv.Quote(name)
	}
	return name
}

// printable replaces characters that could move the cursor or change the colours of a terminal: a report may come
// from an untrusted source.
func printable(c rune) rune {
	if unicode.IsSpace(c) || unicode.IsPrint(c) {
		return c
	}
	return utf8.RuneError
}

// Paragraph lays out text in lines of at most 78 characters, with label in the margin of the first, and a newline at
// the end.
func Paragraph(label, text string) string {
	return paragraph(label, text, labelWidth)
}

// paragraph is Paragraph with a given margin width.
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
