package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// Columns that are hard to read, according to the released counts of numbers. A column in which no bin of the
// range histogram exceeds its threshold leaves the model, and every later stage runs without it: rows are
// narrower, so their norm limit and with it the noise of sums over them is smaller, and fewer histograms and
// curves share a release. Each stage computes its sensitivity from the columns that it is given, which are
// determined by releases; the prices of the plan are unchanged. Draws that a narrower model does not need are
// not made.

// An Unread is a column whose range was not found and that is not in the model.
type Unread struct {
	Column string
	// Faint reports that even a column full of numbers might have been missed.
	Faint bool
}

// A Gap is a feature with many cells that are not numbers.
type Gap struct {
	Column   string
	Share    float64 // of such cells, in [0, 1]
	StdError float64 // of Share, by the noise of the counts
}

// readings holds the findings of scaling about columns, other than their ranges.
type readings struct {
	unread []Unread
	gaps   []Gap
	huge   []string  // columns whose range is [scaling.Range.Huge]
	tiny   []string  // columns whose range is [scaling.Range.Tiny]
	alike  []string  // columns whose range is [scaling.Range.Alike]
	two    []float64 // the two values of a target that is [scaling.Range.TwoValues]
}

const (
	// leastGap is the share of unreadable cells from which a column has a gap, beyond
	// the noise.
	leastGap = .05
	// gapDoubt is the chance that the noise makes gaps anywhere among full columns.
	gapDoubt = .01
)

// usableColumns returns the features, that is, the columns except the last, that remain in the model: those whose
// ranges were found, or no feature if the range of the target was not found, because then no effect can be
// estimated. A rehearsal, which has no records, keeps all.
func usableColumns(
	s *mechanism.Session,
	columns []dataset.Column,
	ranges []scaling.Range,
) (kept []int) {
	last := len(columns) - 1
	for j := range last {
		if s.KeepsColumns() || !ranges[j].Unread && !ranges[last].Unread {
			kept = append(kept, j)
		}
	}
	return kept
}

// keepFeatures is leave for features that are chosen after they are scaled: it narrows
// the facts and the records and returns which of the
// candidates are left.
func keepFeatures(
	s *mechanism.Session,
	f *selection.Facts,
	v records,
) (records, []int) {
	kept := usableColumns(s, append(slices.Clone(f.Columns), f.Target), f.Ranges)
	columns := f.Columns
	ranges := f.Ranges
	f.Columns, f.Ranges = selectItems(columns, kept),
		append(selectItems(ranges, kept), ranges[len(columns)])
	return selectColumns(v, kept), kept
}

// selectItems returns the entries of a list at the given indices.
func selectItems[T any](list []T, at []int) []T {
	out := make([]T, len(at))
	for i, j := range at {
		out[i] = list[j]
	}
	return out
}

// keepsAll reports whether a selector keeps all of that many candidates, so that there is no choice to make.
func keepsAll(x selection.Selector, candidates int) bool {
	s, ok := x.(fullSelector)
	return candidates == 0 || ok && s.SelectsAll(candidates)
}

// readColumns collects the information that the ranges of columns give about their cells. The last column is the
// target. records is the number of records of the view; only relations under which it is public use it.
func readColumns(
	columns []dataset.Column,
	ranges []scaling.Range,
	rel budget.Relation,
	records int,
) readings {
	var out readings
	for j, r := range ranges {
		if r.Unread && !isWordless(columns[j]) {
			out.unread = append(out.unread, Unread{columns[j].Name, r.Faint})
		}
		if r.Huge {
			out.huge = append(out.huge, columns[j].Name)
		}
		if r.Tiny {
			out.tiny = append(out.tiny, columns[j].Name)
		}
		if r.Alike {
			out.alike = append(out.alike, columns[j].Name)
		}
	}
	last := len(columns) - 1
	if ranges[last].TwoValues {
		out.two = ranges[last].Values[:]
	}
	doubt := math.Sqrt(2 * math.Log(float64(len(columns))/gapDoubt))
	all := ranges[last].Numbers
	for _, r := range ranges[:last] {
		if least := r.Numbers.Value - doubt*r.Numbers.Sigma; least > all.Value {
			all = scaling.Count{Value: least}
		}
	}
	if rel != budget.AddRemove {
		all = scaling.Count{Value: float64(records)}
	}
	for j, r := range ranges[:last] {
		n := r.Numbers
		if r.Unread || n == (scaling.Count{}) || !(all.Value > 0) {
			continue
		}
		if all.Value-n.Value > leastGap*all.Value+doubt*math.Hypot(n.Sigma, all.Sigma) {
			share := min(max(n.Value/all.Value, 0), 1)
			out.gaps = append(
				out.gaps,
				Gap{columns[j].Name, 1 - share, math.Hypot(n.Sigma, share*all.Sigma) / all.Value},
			)
		}
	}
	slices.SortStableFunc(out.gaps, func(a, b Gap) int {
		switch {
		case a.Share > b.Share:
			return -1
		case a.Share < b.Share:
			return 1
		}
		return 0
	})
	return out
}

// readingsOf is read for a stage of a session.
func readingsOf(
	ctx context.Context,
	s *mechanism.Session,
	v mechanism.Records,
	ranges []scaling.Range,
) (readings, error) {
	n, err := v.Len(ctx)
	return readColumns(v.Schema().Columns, ranges, s.Relation(), n), err
}

// AlikeNumbers begins the text of the warning "extreme-numbers" about columns whose numbers the search for ranges cannot tell
// apart.
const AlikeNumbers = "Nearly all numbers of"

// twoValuesWarning warns of a target with two values, which may be the labels of classes.
func twoValuesWarning(r *Result) []Warning {
	if len(r.TwoValues) == 0 {
		return nil
	}
	return []Warning{{
		Code:     stage.CodeTwoValues,
		Severity: Theoretical,
		Text: fmt.Sprintf(
			"Nearly all numbers of the target %q are near %.4g or near %.4g. If they are the labels of two classes, add task: classification (--task classification).",
			r.Target, r.TwoValues[0], r.TwoValues[1]),
	}}
}

// TooFewRecords begins the texts of the warnings "no-range" about columns that may be full of numbers.
const TooFewRecords = "At this budget the records are too few"

// unreadWarnings are those about columns that are hard to read.
func unreadWarnings(r *Result) []Warning {
	var out []Warning
	var none, faint []string
	for _, u := range r.Unread {
		switch {
		case u.Column == r.Target:
			out = append(out, Warning{
				Code:     stage.CodeNoRange,
				Severity: Critical,
				Text:     targetUnread(u),
			})
		case u.Faint:
			faint = append(faint, u.Column)
		default:
			none = append(none, u.Column)
		}
	}
	if len(none) > 0 {
		out = append(out, Warning{
			Code:     stage.CodeNoRange,
			Severity: Critical,
			Text: fmt.Sprintf(
				"As far as the noise shows, %s contain almost no numbers, so they are not in the model. Declare text with categories (which may be private), dates with date, number formats in data.format, or lower and upper; exclude the rest, such as identifiers.",
				stage.ListNames(none)),
		})
	}
	if len(faint) > 0 {
		out = append(out, Warning{
			Code:     stage.CodeNoRange,
			Severity: Critical,
			Text: fmt.Sprintf(
				TooFewRecords+
					" to find the range of %s: even a column full of numbers could have been missed. It is not in the model. Declare lower and upper from public knowledge (or categories for text), or use more records, a larger epsilon or fewer columns.",
				stage.ListNames(faint)),
		})
	}
	out = append(out, extremeNumbers(r)...)
	if len(r.Alike) > 0 {
		out = append(out, Warning{
			Code:     stage.CodeExtremeNumbers,
			Severity: Theoretical,
			Text: fmt.Sprintf(
				AlikeNumbers+" %s are alike compared with their size: the range search cannot tell them apart. Unless they are constant, subtract a public offset, or declare lower and upper from public knowledge.",
				stage.ListNames(r.Alike)),
		})
	}
	out = append(out, twoValuesWarning(r)...)
	if len(r.Gaps) > 0 {
		parts := make([]string, len(r.Gaps))
		for i, g := range r.Gaps {
			parts[i] = fmt.Sprintf("%q %.0f%% (± %.0f%%)", g.Column, 100*g.Share,
				100*1.96*g.StdError)
		}
		out = append(out, Warning{
			Code:     stage.CodeUnreadCells,
			Severity: Theoretical,
			Text: fmt.Sprintf(
				"Missing or non-numeric values: %s. They count as the median of their column. If they are numbers, declare their format in data.format, such as thousands: \",\". With missing: indicator, the model treats such values separately.",
				stage.ListParts(parts)),
		})
	}
	return out
}

// extremeNumbers returns warnings about columns with numbers beyond the sizes that the search for ranges
// distinguishes.
func extremeNumbers(r *Result) []Warning {
	return ExtremeNumbers(r.Huge, r.Tiny, func(column string) Severity {
		if column == r.Target {
			return Critical
		}
		return Theoretical
	})
}

// ExtremeNumbers returns the warnings about columns whose released ranges are [scaling.Range.Huge] or
// [scaling.Range.Tiny]. A warning is as severe as the most severe of its columns.
func ExtremeNumbers(
	huge, tiny []string,
	severity func(column string) Severity,
) []Warning {
	const code = stage.CodeExtremeNumbers
	const remedy = "Use another unit, or declare lower and upper from public knowledge."
	var out []Warning
	if len(huge) > 0 {
		out = append(out, Warning{
			Code:     code,
			Severity: mostSevere(huge, severity),
			Text: fmt.Sprintf(
				"Some numbers of %s are at least %.2g in absolute value. The range search ends at twice that, and larger numbers are clamped. %s",
				stage.ListNames(huge), scaling.LargestSize, remedy),
		})
	}
	if len(tiny) > 0 {
		out = append(out, Warning{
			Code:     code,
			Severity: mostSevere(tiny, severity),
			Text: fmt.Sprintf(
				"All numbers of %s seem to be below %.2g in absolute value. The range search cannot resolve such small numbers, and they are lost in its noise. %s",
				stage.ListNames(tiny), scaling.SmallestSize, remedy),
		})
	}
	return out
}

// mostSevere returns Critical if severity does for one of the columns, else Theoretical.
func mostSevere(
	columns []string,
	severity func(column string) Severity,
) Severity {
	for _, column := range columns {
		if severity(column) == Critical {
			return Critical
		}
	}
	return Theoretical
}

// targetUnread returns the message for a target whose range was not found.
func targetUnread(u Unread) string {
	if u.Faint {
		return fmt.Sprintf(
			TooFewRecords+
				" to find the range of the target %q, so the model predicts a constant. Declare its lower and upper from public knowledge, or use more records, a larger epsilon or fewer columns; a target of text needs task: classification.",
			u.Column,
		)
	}
	return fmt.Sprintf(
		"The target %q contains almost no numbers, as far as the noise shows, so the model predicts a constant. If it holds class labels, add task: classification (--task classification); if it contains numbers, declare their format in data.format.",
		u.Column,
	)
}

// isWordless reports whether a column is a text column without words.
func isWordless(c dataset.Column) bool {
	return c.Found && c.Kind == dataset.Category && len(c.Categories) == 0
}
