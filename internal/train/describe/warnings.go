package describe

import (
	"fmt"
	"math"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// ManyBeyond is the share of records beyond one end of a range above which a description states it. Ranges that are found
// leave out less than that on either side, apart from noise.
const ManyBeyond = .005

// warnings returns public remarks on a run.
func (r *runner) warnings() []pipeline.Warning {
	out := []pipeline.Warning{pipeline.NoLedgerWarning()}
	var unread, empty, huge, tiny, missing, cut []string
	for j, c := range r.out.Columns {
		switch {
		case c.Kind == Unread && r.columns[j].Kind == dataset.Category:
			empty = append(empty, c.Name)
		case c.Kind == Unread:
			unread = append(unread, c.Name)
		case c.Kind == Numeric:
			if _, gone := r.out.countValues(&r.out.Columns[j],
				noisyNumber{}); gone.value > manyMissing*gone.noise {
				missing = append(missing, c.Name)
			}
			least := ManyBeyond*r.out.countRecords().value + z95*r.out.HistogramNoise
			if max(r.out.Columns[j].Below, r.out.Columns[j].Above) > least {
				cut = append(cut, c.Name)
			}
		}
		if r.ranges[j].Huge {
			huge = append(huge, c.Name)
		}
		if r.ranges[j].Tiny {
			tiny = append(tiny, c.Name)
		}
	}
	out = append(out, r.cellWarnings(unread, empty, missing, cut)...)
	out = append(out, pipeline.ExtremeNumbers(huge, tiny, func(string) pipeline.Severity {
		return pipeline.Critical
	})...)
	if n := len(r.numeric) + len(r.categorical); n > ManyColumns {
		out = append(out, warningOf(stage.CodeManyColumns, pipeline.Theoretical,
			"With %d columns, the noise of correlations is about %.1f times that with %d columns. Name the columns that matter with --columns.",
			n, float64(n+1)/(ManyColumns+1), ManyColumns))
	}
	if records := r.out.countRecords(); !(records.value >= minSignal*records.noise) {
		out = append(out, warningOf(stage.CodeFewRecords, pipeline.Critical,
			"At this budget the number of records cannot be distinguished from 0: it is at most about %.0f.",
			math.Max(records.value+z95*records.noise, 0)))
	}
	return append(out, pipeline.EpsilonWarnings(r.plan.study.Budget.Epsilon)...)
}

// cellWarnings returns the remarks on columns that are not described, and on columns whose description leaves out cells or
// cuts them. The arguments are their names.
func (r *runner) cellWarnings(unread, empty, missing, cut []string) []pipeline.Warning {
	var out []pipeline.Warning
	if len(unread) > 0 {
		out = append(out, warningOf(stage.CodeNoRange, pipeline.Critical,
			"No range was found for %s, so they are not described. They contain no numbers, or there are too few records for "+
				"this budget. Declare their ranges, describe fewer columns, or use a larger epsilon.",
			quoteNames(unread)))
	}
	if len(empty) > 0 {
		out = append(out, warningOf(stage.CodeNoWords, pipeline.Theoretical,
			"No value of %s occurs in enough records to be published: about %.0f are required. Declare the categories if they are "+
				"public, or exclude columns of names, identifiers or dates.", quoteNames(empty),
			r.least))
	}
	if len(missing) > 0 {
		out = append(out, warningOf(stage.CodeMissingValues, pipeline.Theoretical,
			"%s have missing values. Means, standard deviations and quartiles cover only the other records; correlations count a missing "+
				"value as the median.", quoteNames(missing)))
	}
	if len(cut) > 0 {
		out = append(out, warningOf(stage.CodeFarValues, pipeline.Theoretical,
			"Many values of %s are beyond the range and count as its ends in means, standard deviations and correlations, so the mean of all "+
				"values may be far from the stated one. Quartiles are those of all values. Declare a wider range if it is public knowledge.",
			quoteNames(cut)))
	}
	return out
}

func warningOf(code string, severity pipeline.Severity, format string, args ...any) pipeline.Warning {
	return pipeline.Warning{
		Code:     code,
		Severity: severity,
		Text:     fmt.Sprintf(format, args...),
	}
}

// quoteNames lists names in quotes.
func quoteNames(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(list, ", ")
}
