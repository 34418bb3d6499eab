package suite

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/bench"
)

func targetsPage(records []Record) Page {
	x := newIndex(records)
	p := Page{
		Title: "Counts, ordered classes and quantiles",
		Lead: []string{
			fmt.Sprintf(
				"Methods for other kinds of targets against `auto`, at epsilon = %g and delta = %g. A fifth of the rows tests. Means of trials with the standard error in brackets.",
				targetsEpsilon, targetsDelta),
		},
	}
	for _, part := range []struct {
		kind    string
		metrics []string
	}{
		{countTarget, []string{metricDeviance, bench.MetricR2}},
		{orderedTarget, []string{metricLevels, metricAccuracy}},
		{quantileTarget, []string{metricPinball}},
	} {
		s := Section{Title: part.kind}
		for _, metric := range part.metrics {
			s.Tables = append(s.Tables, targetsTable(x, part.kind, metric))
		}
		p.Sections = append(p.Sections, s)
	}
	return p
}

// targetsTable shows one metric by table and method; the best method is bold.
func targetsTable(x index, kind, metric string) Table {
	t := Table{Caption: metric, Head: []string{"table"}}
	var methods []string
	for _, m := range targetMethods() {
		if m.kind == kind {
			methods = append(methods, m.name)
		}
	}
	t.Head = append(t.Head, methods...)
	for _, s := range targetSources() {
		if s.kind != kind {
			continue
		}
		row := text(s.name)
		best := 0
		var means []float64
		for i, name := range methods {
			found := x.summary(targetCell(s, name), metric)
			entry := Entry{Text: short(found.Mean)}
			if found.Count > 1 {
				entry.Note = short((found.High - found.Mean) / z95)
			}
			means = append(means, found.Mean)
			if means[i] > means[best] {
				best = i
			}
			row = append(row, entry)
		}
		row[best+1].Strong = true
		t.Rows = append(t.Rows, row)
	}
	return t
}
