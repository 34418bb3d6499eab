package report

import (
	"fmt"
	"strconv"

	"github.com/dptrain/dptrain/internal/publish/chart"
	"github.com/dptrain/dptrain/internal/publish/document"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/regression"
)

// facts are the figures of the guarantee, which head the page.
func facts(g Guarantee) []document.Fact {
	protected := "one record"
	if g.Unit != nil {
		protected = "one value of " + printableName(g.Unit.Column)
	}
	a := g.AttackOf()
	return []document.Fact{
		{
			Name:  "ε",
			Value: number(g.Epsilon),
			Note:  "δ " + number(g.Delta),
		},
		{
			Name:  "Protected",
			Value: protected,
			Note:  "relation " + g.Relation,
		},
		{
			Name:  "An attacker detects a record",
			Value: "≤ " + percent(a.Found),
			Note:  "of the time; " + percent(a.FalseAlarms) + " without the release",
		},
	}
}

// metricFacts returns the metric of a report in a format.
func (t *Training) metricFacts(format string) []document.Fact {
	m := t.Metrics
	switch {
	case t.Model.Kind == "":
	case m.Accuracy != nil && m.Accuracy.unknown():
		return []document.Fact{{
			Name:  "Accuracy",
			Value: hidden,
			Note:  intervalText(m.Accuracy.Lower, m.Accuracy.Upper, m.Accuracy.Level),
		}}
	case m.Accuracy != nil:
		return []document.Fact{{
			Name:  "Accuracy",
			Value: fmt.Sprintf("%.3f", m.Accuracy.Value),
			Note:  intervalText(m.Accuracy.Lower, m.Accuracy.Upper, m.Accuracy.Level),
		}}
	case m.R2 != nil && format != format1 && m.R2.unknown():
		return []document.Fact{{
			Name:  "R²",
			Value: "not reported",
			Note:  intervalText(m.R2.Lower, m.R2.Upper, m.R2.Level),
		}}
	case m.R2 != nil:
		return []document.Fact{{
			Name:  "R²",
			Value: fmt.Sprintf("%.3f", m.R2.Value),
			Note:  intervalText(m.R2.Lower, m.R2.Upper, m.R2.Level),
		}}
	}
	return nil
}

func intervalText(lower, upper, level float64) string {
	return fmt.Sprintf("%.3f to %.3f (%g%%)", lower, upper, 100*level)
}

// promised explains the guarantee.
func promised(r *Report) []document.Block {
	return []document.Block{
		prose(r.Guarantee.MeaningOf()),
		prose(r.Guarantee.comparison() +
			" The smaller it is, the stronger the protection. Facts about the whole population are not hidden: learning them is the purpose of " +
			r.section().kind().aim + "."),
	}
}

// modelBlocks describe the model, or why there is none, and how it was chosen.
func (t *Training) modelBlocks(r *Report) []document.Block {
	var out []document.Block
	if t.Model.Kind != "" {
		out = append(out,
			prose(fmt.Sprintf(
				"The model was trained by %s and predicts %s from %d of %d columns: %s.",
				t.Model.Method, printableName(t.Target), len(t.Features.Selected),
				len(t.Features.Considered), names(t.Features.Selected))))
	} else {
		out = append(out, prose("There is no model: "+r.WhyNoModel()+"."))
		if t.Stopped == nil {
			out = append(out, prose("The budget is spent nevertheless."))
		} else {
			out = append(out, prose(r.stoppedText()))
		}
	}
	if x := t.Search; x != nil && t.Model.Kind != "" {
		out = append(out, prose("A search found the model: "+searched(r)+"."))
	}
	if x := t.Sizes; x != nil && t.Model.Kind != "" {
		out = append(out,
			prose(fmt.Sprintf("%d features won among %s.", x.Chosen, listed(x.Sizes))))
	}
	return out
}

// ledgerBlocks name the entry of the run in its ledger.
func ledgerBlocks(r *Report) []document.Block {
	l := r.Ledger
	if l == nil {
		return nil
	}
	return []document.Block{prose(
		fmt.Sprintf("The run is recorded in a ledger for the data set %s, with the head %d:%s.",
			printableName(l.Dataset), l.Entry, l.Head))}
}

// warningBlocks lists the warnings, the most urgent first.
func warningBlocks(r *Report) []document.Block {
	var out []document.Block
	for _, w := range ranked(r.Warnings) {
		out = append(out,
			document.Block{
				Text:     w.Text,
				Severity: rankOf(w).String(),
				Label:    heading(w),
			})
	}
	return out
}

// qualities describes the quality of the model, with its uncertainty.
func qualities(r *Report) []document.Block {
	if r.Model.Kind == "" {
		return nil
	}
	var out []document.Block
	if r.Task == regression.TaskClassification {
		out = classBlocks(r)
	} else {
		out = append(out,
			prose("R² is the share of the target's variance that predictions explain: "+metric(r)+
				"."))
		out = append(out, allErrorsBlocks(r.Metrics.R2)...)
		if s := transformedMetric(r); s != "" {
			out = append(out,
				prose("The model is fitted to "+r.scale()+
					", and its predictions are converted to the mean of "+printableName(r.Target)+
					". R² of "+
					s+"."))
		}
		if s := errorsOf(r); s != "" {
			out = append(out, prose("Errors: "+s+"."))
		}
		if s := intervals(r); s != "" {
			out = append(out, prose("Single predictions: "+s+"."))
		}
	}
	if s := heldOut(r); s != "" {
		out = append(out,
			prose("Measured, with noise, on records held out from training: "+s+
				". Intervals cover the noise and the choice of test records."))
	}
	return out
}

// allErrorsBlocks compares R² with its worst case.
func allErrorsBlocks(m *R2) []document.Block {
	text := allErrors(m)
	if text == "" {
		return nil
	}
	out := []document.Block{prose("All errors: " + text)}
	if m.AllErrors.Lower <= 0 {
		return out
	}
	headline := fmt.Sprintf("errors up to %s", short(m.ErrorLimit))
	worst := "all errors, worst case"
	bars := []chart.Bar{
		{
			Label: headline,
			Value: m.Value,
			Low:   m.Lower,
			High:  m.Upper,
			Text:  fmt.Sprintf("%.3f", m.Value),
		},
		{
			Label: worst,
			Value: m.AllErrors.Lower,
			Text:  fmt.Sprintf("%.3f", m.AllErrors.Lower),
		},
	}
	table := &document.Table{
		Head: []string{"R² of", "value", "lower", "upper"},
		Rows: [][]string{
			{headline, fmt.Sprintf("%.3f", m.Value), fmt.Sprintf("%.3f", m.Lower),
				fmt.Sprintf("%.3f", m.Upper)},
			{worst, "", fmt.Sprintf("%.3f", m.AllErrors.Lower), ""},
		},
	}
	return append(out, figure(chart.Bars("R² and its worst case", bars),
		fmt.Sprintf(
			"R² with its %g%% interval, and the lowest R² that all errors can have, whatever their distribution.",
			100*m.Level),
		table))
}

// classBlocks shows the metrics of a classifier.
func classBlocks(r *Report) []document.Block {
	m := r.Metrics
	out := []document.Block{prose(
		"Accuracy is the share of new records with a label that are classified correctly: " +
			accuracy(m) + ".")}
	if s := otherLabels(m); s != "" {
		out = append(out, prose("Unknown classes: "+s+"."))
	}
	if s := scoreQuality(m); s != "" {
		out = append(out, prose("Scores: "+s+"."))
	}
	if len(m.Recalls) > 0 {
		bars := make([]chart.Bar, 0, len(m.Recalls))
		g := &document.Table{Head: []string{"class", "recall", "lower", "upper"}}
		for _, x := range m.Recalls {
			if x.unknown() {
				g.Rows = append(g.Rows, []string{printableName(x.Class), hidden, "", ""})
				continue
			}
			bars = append(bars,
				chart.Bar{
					Label: printableName(x.Class),
					Value: x.Value,
					Low:   x.Lower,
					High:  x.Upper,
					Text:  fmt.Sprintf("%.3f", x.Value),
				})
			g.Rows = append(g.Rows,
				[]string{printableName(x.Class), fmt.Sprintf("%.3f", x.Value), fmt.Sprintf("%.3f", x.Lower),
					fmt.Sprintf("%.3f", x.Upper)})
		}
		out = append(out, figure(chart.Bars("Recall by class", bars),
			fmt.Sprintf(
				"Recall by class: the share of its records that is classified correctly, with its %g%% interval.",
				100*m.Recalls[0].Level),
			g))
	}
	if c := m.Confusion; c != nil && len(c.Classes) > 0 {
		out = append(out, confusionBlock(c, otherRow(m)))
	}
	if len(m.Reliability) > 0 && m.Reliability[0].Probability != nil {
		out = append(out, calibration(m))
	}
	if len(m.Thresholds) > 0 {
		out = append(out, receiver(m))
	}
	return out
}

// confusionBlock draws the confusion matrix, with each row as shares; other is the name of its last row.
func confusionBlock(c *Confusion, other string) document.Block {
	h := chart.Heat{
		Title:  "Confusion matrix",
		XLabel: "predicted",
		YLabel: "true class",
	}
	g := &document.Table{Head: []string{"true class"}}
	for _, name := range c.Classes {
		h.Columns, g.Head = append(h.Columns, printableName(name)), append(g.Head, printableName(name))
	}
	for i, row := range c.Counts {
		name := other
		if i < len(c.Classes) {
			name = printableName(c.Classes[i])
		}
		total := 0
		for _, n := range row {
			total += max(n, 0)
		}
		shares := make([]float64, len(c.Classes))
		texts := make([]string, len(c.Classes))
		for k, n := range row[:min(len(row), len(c.Classes))] {
			shares[k], texts[k] = float64(max(n, 0))/float64(max(total, 1)), strconv.Itoa(n)
		}
		g.Rows = append(g.Rows, append([]string{name}, texts...))
		if i < len(c.Classes) {
			h.Rows = append(h.Rows, name)
			h.Shares = append(h.Shares, shares)
			h.Texts = append(h.Texts, texts)
		}
	}
	return figure(h.SVG(),
		fmt.Sprintf(
			"Held-out records by true and by predicted class, as noisy numbers (standard deviation %s); colour is the share of the row.",
			short(c.Scale)),
		g)
}

// calibration draws the frequency of the second class against its predicted probability.
func calibration(m Metrics) document.Block {
	s := chart.Series{Points: true}
	g := &document.Table{Head: []string{"predicted probability", "share", "standard deviation"}}
	for _, b := range m.Reliability {
		if b.Probability == nil || b.Share == nil || b.StdError == nil {
			continue
		}
		half := 1.96 * *b.StdError
		s.X = append(s.X, *b.Probability)
		s.Y = append(s.Y, *b.Share)
		s.Low = append(s.Low, max(*b.Share-half, 0))
		s.High = append(s.High, min(*b.Share+half, 1))
		g.Rows = append(g.Rows,
			[]string{fmt.Sprintf("%.3f", *b.Probability), fmt.Sprintf("%.3f", *b.Share),
				fmt.Sprintf("%.3f", *b.StdError)})
	}
	p := chart.Plot{
		Title:  "Calibration",
		XLabel: "predicted probability",
		YLabel: "share of records",
		Square: true,
		Series: []chart.Series{s},
	}
	return figure(p.SVG(),
		"Calibration: on the diagonal, predicted probabilities are correct. Whiskers are 1.96 standard deviations; bins whose counts are hidden by the noise are left out.",
		g)
}

// receiver draws the receiver operating characteristic.
func receiver(m Metrics) document.Block {
	s := chart.Series{X: []float64{1}, Y: []float64{1}}
	g := &document.Table{Head: []string{"score above", "recall", "false-positive rate",
		"precision"}}
	for _, t := range m.Thresholds {
		if len(t.Recall) != 3 || len(t.FirstRecall) != 3 || len(t.Precision) != 3 {
			continue
		}
		row := []string{short(t.Score), hidden, hidden, hidden}
		for i, x := range [][]float64{t.Recall, t.FirstRecall, t.Precision} {
			if !evaluate.ShareMeasured(x[1], x[2]) {
				continue
			}
			value := x[0]
			if i == 1 {
				value = 1 - value
			}
			row[1+i] = fmt.Sprintf("%.3f", value)
		}
		if row[1] != hidden && row[2] != hidden {
			s.X = append(s.X, 1-t.FirstRecall[0])
			s.Y = append(s.Y, t.Recall[0])
		}
		g.Rows = append(g.Rows, row)
	}
	s.X = append(s.X, 0)
	s.Y = append(s.Y, 0)
	p := chart.Plot{
		Title:  "Receiver operating characteristic",
		XLabel: "false-positive rate",
		YLabel: "recall of the second class",
		Square: true,
		Series: []chart.Series{s},
	}
	caption := "Receiver operating characteristic: recall and false-positive rate at other thresholds. The diagonal is guessing."
	if m.AUC != nil && !m.AUC.unknown() {
		caption += fmt.Sprintf(" The area under the curve is %.3f (%.3f to %.3f).", m.AUC.Value,
			m.AUC.Lower, m.AUC.Upper)
	}
	return figure(p.SVG(), caption, g)
}
