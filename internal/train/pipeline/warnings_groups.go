package pipeline

import (
	"fmt"
	"math"
	"strings"

	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// groupWarnings returns the warnings about the metrics by group; metric is the name of the one by which groups are compared.
func groupWarnings(b *evaluate.ByGroup, metric string) []Warning {
	if b == nil {
		return nil
	}
	var out []Warning
	var widest, largest *evaluate.Group // of differences that are seen, and of those that are not
	var few []string
	reach := func(g *evaluate.Group) float64 {
		return max(-g.Difference.Lower, g.Difference.Upper)
	}
	for k := range b.Groups {
		g := &b.Groups[k]
		if g.TooFew && !g.Other {
			few = append(few, fmt.Sprintf("%q", g.Name))
		}
		switch {
		case g.Difference == nil:
		case g.Difference.Seen():
			if widest == nil || math.Abs(g.Difference.Value) > math.Abs(widest.Difference.Value) {
				widest = g
			}
		case !g.Known():
		case largest == nil || reach(g) > reach(largest):
			largest = g
		}
	}
	switch {
	case widest != nil:
		d := widest.Difference
		direction := "higher"
		low, high := d.Lower, d.Upper
		if d.Value < 0 {
			direction = "lower"
			low, high = -d.Upper, -d.Lower
		}
		out = append(out, Warning{
			Code:     stage.CodeGroupGap,
			Severity: Theoretical,
			Text: fmt.Sprintf(
				"The held-out %s differs between groups of %q by more than its noise and sampling error: for %s it is %s than for %s, by %.3f to %.3f.",
				metric, b.Column, groupName(*widest), direction, groupName(b.Groups[b.Reference]), low,
				high),
		})
	case largest != nil:
		out = append(out, Warning{Code: stage.CodeNoGroupGap, Severity: Negligible, Text: fmt.Sprintf(
			"No difference of the held-out %s between groups of %q exceeds its noise and sampling error. One of up to %.3f cannot be excluded.",
			metric, b.Column, reach(largest))})
	}
	if len(few) > 0 {
		more := ""
		if n := len(few) - mostNamedGroups; n > 0 {
			few = few[:mostNamedGroups]
			more = fmt.Sprintf(" and %d more", n)
		}
		out = append(out, Warning{Code: stage.CodeSmallGroups, Severity: Negligible, Text: fmt.Sprintf(
			"The noise hides how many test records some groups of %q have, so they have no metrics: %s%s. Use more records or a larger epsilon.",
			b.Column, strings.Join(few, ", "), more)})
	}
	return out
}

// mostNamedGroups is the largest number of groups that a warning names.
const mostNamedGroups = 8

// groupName names a group in a warning.
func groupName(g evaluate.Group) string {
	if g.Other {
		return "other values"
	}
	return fmt.Sprintf("%q", g.Name)
}
