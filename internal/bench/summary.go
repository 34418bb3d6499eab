package bench

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/sys/fault"
)

// summariseRows returns one summary for each method.
func (x *experiment) summariseRows(rows []Row) []Summary {
	var out []Summary
	used := x.rows
	if x.limit > 0 {
		used = min(used, x.limit)
	}
	for _, m := range x.methods {
		s := Summary{
			Data:    x.name,
			Method:  m.name,
			Private: m.private,
			Metric:  m.metricName(),
			N:       used,
			D:       m.features,
		}
		if m.private {
			s.Epsilon = m.recipe.Privacy.Epsilon
			s.Delta = m.recipe.Privacy.Delta
		}
		var values, balanced, seconds, paid []float64
		for _, r := range rows {
			switch {
			case r.Method != m.name:
			case r.Err != nil:
				s.countFailure(r.Err)
			default:
				values = append(values, r.Value)
				seconds = append(seconds, r.Seconds)
				balanced = append(balanced, r.Balanced)
				if r.Paid != nil {
					paid = append(paid, *r.Paid)
				}
			}
		}
		s.Trials = len(values)
		slices.Sort(values)
		slices.Sort(seconds)
		s.Median, s.Q25, s.Q75 = quantile(values, .5), quantile(values, .25), quantile(values, .75)
		if s.Metric == MetricAccuracy {
			slices.Sort(balanced)
			s.Balanced = Quartiles{quantile(balanced, .5), quantile(balanced, .25),
				quantile(balanced, .75)}
		}
		if len(paid) > 0 {
			slices.Sort(paid)
			median := quantile(paid, .5)
			s.Paid = &median
		}
		s.Seconds = quantile(seconds, .5)
		out = append(out, s)
	}
	return out
}

// countFailure counts a trial without a value.
func (s *Summary) countFailure(err error) {
	if s.Failed++; s.Err == nil {
		s.Err = err
	}
	switch {
	case errors.Is(err, ErrAbstained):
		s.Abstained++
	case NotApplicable(err):
		s.NotApplicable++
	}
}

// NotApplicable reports whether a trial has no value because its method has no plan, or no price, for such a table or
// budget.
func NotApplicable(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.Recipe || kind == fault.Budget || kind == fault.Usage
}

// describeFailures describes why trials have no value: "0" if all have one.
func (s *Summary) describeFailures() string {
	var out []string
	for _, x := range []struct {
		n    int
		what string
	}{
		{s.Abstained, "abstained"},
		{s.NotApplicable, "not applicable"},
		{s.Failed - s.Abstained - s.NotApplicable, "failed"},
	} {
		if x.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	if out == nil {
		return "0"
	}
	return strings.Join(out, ", ")
}

// quantile interpolates linearly between the order statistics of sorted values,
// at position p (len-1) from 0, as numpy.quantile does by default. It is NaN for
// no values.
func quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := p * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
