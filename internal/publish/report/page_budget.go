package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/publish/chart"
	"github.com/dptrain/dptrain/internal/publish/document"
)

// mostColumns is the number of importances drawn.
const mostColumns = 20

// importanceBlocks draws the importance of each column.
func importanceBlocks(r *Report) []document.Block {
	list := r.Importances
	if len(list) == 0 || r.Model.Kind == "" {
		return nil
	}
	unit := "in units of " + r.scale()
	if len(r.Metrics.Recalls) > 0 {
		unit = "in units of the score"
	}
	var bars []chart.Bar
	values := make([]float64, len(list))
	for i, x := range list {
		values[i] = x.Value
	}
	texts := shortAlike(values...)
	g := &document.Table{Head: []string{"column", "importance", "lower", "upper"}}
	for i, x := range list {
		if i < mostColumns {
			bars = append(bars,
				chart.Bar{
					Label: printableName(x.Column),
					Value: x.Value,
					Low:   x.Lower,
					High:  x.Upper,
					Text:  texts[i],
				})
		}
		g.Rows = append(g.Rows,
			[]string{printableName(x.Column), short(x.Value), short(x.Lower), short(x.Upper)})
	}
	return []document.Block{figure(chart.Bars("Importance of each column", bars),
		fmt.Sprintf(
			"Importance: standard deviation of each column's contribution to the prediction, %s, with its %g%% interval for the noise. "+
				"If an interval includes 0, the column may have no effect.", unit,
			100*list[0].Level), g)}
}

// price is the cost of a step in zero-concentrated differential privacy, for comparison: mu²/2 for a Gaussian
// release, epsilon²/8 for a choice by the exponential mechanism, epsilon²/2 for every other noise distribution (M.
// Bun and T. Steinke, "Concentrated differential privacy", 2016; M. Cesar and R. Rogers, "Bounding, concentrating,
// and truncating", 2021).
func price(e Event) float64 {
	x := e.Mu * e.Mu / 2
	switch {
	case e.Mu > 0:
	case e.Law == "exponential":
		x = e.Epsilon * e.Epsilon / 8
	default:
		x = e.Epsilon * e.Epsilon / 2
	}
	return x * float64(e.Draws)
}

// budgetBlocks draws the cost of each stage, and the guarantee at other epsilons.
func budgetBlocks(r *Report) []document.Block {
	type key struct{ part, stage string }
	costs := map[key]float64{}
	totals := map[string]float64{}
	var order []key
	for _, e := range r.Events {
		if e.Taken != nil && !*e.Taken {
			continue
		}
		k := key{e.Part, e.Stage}
		if _, ok := costs[k]; !ok {
			order = append(order, k)
		}
		costs[k] += price(e)
		totals[e.Part] += price(e)
	}
	if r.HasStopped() {
		return profileBlocks(r.Guarantee)
	}
	var bars []chart.Bar
	g := &document.Table{Head: []string{"stage", "records", "share"}}
	for _, k := range order {
		if !(totals[k.part] > 0) {
			continue
		}
		share := 100 * costs[k] / totals[k.part]
		bars = append(bars,
			chart.Bar{
				Label: k.stage + " (" + k.part + ")",
				Value: share,
				Text:  fmt.Sprintf("%.1f%%", share),
			})
		g.Rows = append(g.Rows, []string{k.stage, k.part, fmt.Sprintf("%.1f%%", share)})
	}
	var out []document.Block
	if len(bars) > 0 {
		parts := ""
		if r.Training != nil {
			parts = "A record is either in the training or in the held-out part, so the two parts do not add up as steps do; see \"How the steps add up\". "
		}
		out = append(out, figure(chart.Bars("Share of the budget by stage", bars),
			"The share of each stage in the budget of its records. "+parts+
				"Shares compare steps by their price in zero-concentrated differential privacy.",
			g))
	}
	return append(out, profileBlocks(r.Guarantee)...)
}

// profileBlocks draws delta against epsilon.
func profileBlocks(g Guarantee) []document.Block {
	s := chart.Series{Name: "guaranteed"}
	t := &document.Table{Head: []string{"epsilon", "delta"}}
	points := slices.Clone(g.Profile)
	slices.SortFunc(points, func(a, b Point) int {
		if a.Epsilon < b.Epsilon {
			return -1
		}
		return 1
	})
	for _, p := range points {
		s.X = append(s.X, p.Epsilon)
		s.Y = append(s.Y, p.Delta)
		t.Rows = append(t.Rows,
			[]string{number(p.Epsilon), strconv.FormatFloat(p.Delta, 'g', 3, 64)})
	}
	if len(s.X) < 2 {
		return nil
	}
	promise := chart.Series{
		Name:   "stated",
		X:      []float64{g.Epsilon},
		Y:      []float64{g.Delta},
		Points: true,
		Style:  1,
	}
	p := chart.Plot{
		Title:  "Privacy profile",
		XLabel: "epsilon",
		YLabel: "delta (logarithmic)",
		LogY:   true,
		Series: []chart.Series{s, promise},
	}
	return []document.Block{figure(p.SVG(),
		"The privacy profile: the run satisfies all of these pairs of epsilon and delta at the same time.",
		t)}
}

// declared lists the facts stated by the recipe.
func declared(r *Report) []document.Block {
	text := "The recipe states these facts"
	if r.Description != nil {
		text = "These facts were stated about the columns"
	}
	out := []document.Block{prose(text +
		", so they are public. The guarantee covers the contents of the rows, but not these declarations.")}
	g := &document.Table{
		Head:  []string{"fact", "value"},
		Words: true,
	}
	for _, f := range r.Unprotected {
		g.Rows = append(g.Rows, []string{printableName(f.Name), declaredText(f.Value)})
	}
	if len(g.Rows) > 0 {
		out = append(out, document.Block{Table: g})
	}
	return out
}

// declaredText prints a declared value.
func declaredText(v any) string {
	switch v := v.(type) {
	case string:
		return printableName(v)
	case float64:
		return number(v)
	case []any: // in a report that was read back
		return joined(v, declaredText)
	case []string:
		return joined(v, printableName)
	case []float64:
		return joined(v, number)
	}
	return fmt.Sprint(v)
}

// joined prints the items of a list.
func joined[T any](list []T, item func(T) string) string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = item(x)
	}
	return strings.Join(out, ", ")
}

// stepBlocks lists the events.
func stepBlocks(r *Report) []document.Block {
	g := &document.Table{Head: []string{"step", "records", "law", "draws", "sensitivity",
		"noise scale", "mu or epsilon", "taken"}}
	for _, e := range r.Events {
		parameter := "mu " + short(e.Mu)
		taken := "yes"
		if e.Mu == 0 {
			parameter = "epsilon " + short(e.Epsilon)
		}
		if e.Delta > 0 {
			parameter += ", delta " + short(e.Delta)
		}
		if e.Taken != nil && !*e.Taken {
			taken = "no"
		}
		g.Rows = append(g.Rows,
			[]string{e.ID, e.Part, e.Law, strconv.Itoa(e.Draws), short(e.Sensitivity),
				short(e.Scale), parameter, taken})
	}
	if len(g.Rows) == 0 {
		return nil
	}
	text := "All releases that the price covers, in the order of the plan, including steps that were skipped."
	if r.HasStopped() {
		text = "The steps of the plan. The run stopped after the ones that were taken and spent nothing on the others."
	}
	return []document.Block{{
		Text:  text,
		Table: g,
		Fold:  fmt.Sprintf("%d steps", len(g.Rows)),
	}}
}

// accountingBlocks describes how the steps add up to the guarantee.
func accountingBlocks(r *Report) []document.Block {
	a := r.Accounting
	if a == nil {
		return nil
	}
	sentence := "Added up by the rule %s, the steps cost epsilon %s at delta %s."
	if r.HasStopped() {
		sentence = "Added up by the rule %s, the steps of a run that does not stop cost epsilon %s at delta %s."
	}
	out := []document.Block{prose(
		fmt.Sprintf(sentence, a.Rule, short(a.Epsilon), number(r.Guarantee.Delta)))}
	if text := a.amplificationText(); text != "" {
		out = append(out, prose(text))
	}
	parts := &document.Table{Head: []string{"part", "probability", "factor of mu and epsilon",
		"plan"}}
	for i, p := range a.Parts {
		probability := "fixed for each record"
		if a.SecretSplit > 0 {
			probability = number(rounded([]float64{1 - a.SecretSplit, a.SecretSplit}[i]))
		}
		parts.Rows = append(parts.Rows,
			[]string{p.Part, probability, fmt.Sprintf("%.4f", p.Raised), p.Plan.text()})
		parts.Marks = append(parts.Marks, []document.Mark{{}, {}, {}, {Prose: true}})
	}
	out = append(out, document.Block{Table: parts})
	rules := &document.Table{
		Head:  []string{"rule"},
		Words: true,
	}
	for _, text := range a.Formula {
		rules.Rows = append(rules.Rows, []string{text})
	}
	return append(out,
		document.Block{
			Text: "The rules, in full. " + r.FileName() +
				" has the same with every number, under accounting.",
			Table: rules,
			Fold:  "The formula",
		},
		prose("A program that recomputes the total from "+r.FileName()+
			" alone, with the public Python library dp-accounting:"),
		document.Block{Code: "dptrain report release --check-script > check.py\npython check.py release/" +
			r.FileName()})
}

// text writes a plan in one line.
func (n AccountingNode) text() string {
	if n.Op == "step" {
		return n.Step
	}
	kids := make([]string, len(n.Kids))
	for i, kid := range n.Kids {
		kids[i] = kid.text()
	}
	name := n.Op
	if n.Tries != nil {
		name += fmt.Sprintf(" (mean %s, eta %s, gamma %s)", number(rounded(n.Tries.Mean)),
			number(n.Tries.Eta), short(n.Tries.Gamma))
	}
	return name + "(" + strings.Join(kids, ", ") + ")"
}

// useBlocks explains how to predict and to verify, and shows the recipe.
func useBlocks(s Source) []document.Block {
	var out []document.Block
	if s.Report.training().Model.Kind != "" {
		out = append(out,
			prose("Predict new records, which may have more columns than the model needs:"),
			document.Block{Code: "dptrain predict release/model.json new.csv"})
	}
	out = append(out,
		prose("Check that the files of this release are consistent, and recompute the privacy cost. No data are needed; with the public key of the publisher, the signature is checked, too:"),
		document.Block{Code: "dptrain verify release\ndptrain verify release --key publisher.pub"})
	if s.Recipe != nil {
		out = append(out,
			document.Block{
				Text: "The recipe with all defaults, ready to run again.",
				Code: string(s.Recipe),
				Fold: "Recipe",
			})
	}
	return out
}
