package report

import (
	"fmt"
	"math"
	"path"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// threshold recomputes the noisy count from which new text categories were published. For a report without such a
// step there is no such check.
func (v *verifier) threshold() {
	const name = "threshold"
	var steps []Event
	for _, e := range v.report.Events {
		if e.Law == budget.Approximate.String() && e.Epsilon == 0 && e.Released > 0 {
			steps = append(steps, e)
		}
	}
	switch {
	case len(steps) == 0 && !slices.ContainsFunc(v.report.Events, func(e Event) bool {
		return e.Threshold != 0 || e.Columns != 0
	}):
		return
	case !v.report.isCurrent():
		v.skip(name,
			"a report of the version "+v.report.Format+
				" does not hold the threshold for new text categories")
		return
	}
	var problems []string
	for _, e := range v.report.Events {
		if (e.Threshold != 0 || e.Columns != 0) && !slices.ContainsFunc(steps, func(x Event) bool {
			return x.ID == e.ID
		}) {
			problems = append(problems,
				shown(e.ID)+": it has a threshold, and pays for no new text category")
		}
	}
	for _, e := range steps {
		for _, what := range v.thresholdProblems(e) {
			problems = append(problems, shown(e.ID)+": "+what)
		}
	}
	v.add(name,
		"a new text category is published with at most the delta of its step, by the noise and the number of columns",
		problems)
}

// thresholdProblems compares the threshold of a step with the one required by its delta, the noise of the counts and
// the number of columns.
func (v *verifier) thresholdProblems(e Event) []string {
	records := 1
	if u := v.report.Guarantee.Unit; u != nil {
		records = u.MaxRows
	}
	k := slices.IndexFunc(v.report.Events, func(x Event) bool {
		return path.Dir(x.ID) == path.Dir(e.ID) && x.Law == budget.Gaussian.String() &&
			path.Base(x.ID) == wordCountsName
	})
	if k < 0 || e.Columns < 1 || !(e.Threshold > 0) {
		return []string{"it does not say from which noisy count on a text category was published"}
	}
	counts := v.report.Events[k]
	squares := float64(e.Columns)
	if v.report.Guarantee.Relation != budget.AddRemove.String() {
		squares *= 2
	}
	if want := float64(records) * math.Sqrt(squares); math.Abs(counts.Sensitivity-want) > 1e-6*
		want {
		return []string{fmt.Sprintf(
			"it is about %d columns, and the counts beside it have the sensitivity %s", e.Columns,
			short(counts.Sensitivity))}
	}
	if !near(e.Scale, counts.Scale) {
		return []string{"its noise scale is not that of the counts beside it"}
	}
	least, err := mechanism.CategoryThreshold(e.Delta, e.Scale, e.Columns, records)
	if err != nil || e.Threshold < least*(1-computedTolerance) {
		return []string{fmt.Sprintf("its threshold is %s, and its delta asks for at least %s",
			number(e.Threshold), number(least))}
	}
	return nil
}

// wordCountsName is the name of the step whose noisy counts are compared with a threshold.
const wordCountsName = "counts"
