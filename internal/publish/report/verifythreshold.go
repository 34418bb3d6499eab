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
			"reports of version "+v.report.Format+
				" do not contain the threshold for new text categories")
		return
	}
	var problems []string
	for _, e := range v.report.Events {
		if (e.Threshold != 0 || e.Columns != 0) && !slices.ContainsFunc(steps, func(x Event) bool {
			return x.ID == e.ID
		}) {
			problems = append(problems,
				printableName(e.ID)+": it has a threshold, but pays for no new text category")
		}
	}
	for _, e := range steps {
		for _, what := range v.thresholdProblems(e) {
			problems = append(problems, printableName(e.ID)+": "+what)
		}
	}
	v.add(name,
		"the probability of publishing a rare text category is at most the delta of its step",
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
		return []string{"it has no threshold for publishing a text category"}
	}
	counts := v.report.Events[k]
	squares := float64(e.Columns)
	if v.report.Guarantee.Relation != budget.AddRemove.String() {
		squares *= 2
	}
	if want := float64(records) * math.Sqrt(squares); math.Abs(counts.Sensitivity-want) > 1e-6*
		want {
		return []string{fmt.Sprintf(
			"it covers %d columns, but the counts of its branch have sensitivity %s", e.Columns,
			short(counts.Sensitivity))}
	}
	if !nearlyEqual(e.Scale, counts.Scale) {
		return []string{"its noise scale differs from that of the counts of its branch"}
	}
	least, err := mechanism.CategoryThreshold(e.Delta, e.Scale, e.Columns, records)
	if err != nil || e.Threshold < least*(1-computedTolerance) {
		return []string{fmt.Sprintf("its threshold is %s, but its delta requires at least %s",
			number(e.Threshold), number(least))}
	}
	return nil
}

// wordCountsName is the name of the step whose noisy counts are compared with a threshold.
const wordCountsName = "counts"
