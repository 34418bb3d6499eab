package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/describe"
)

// verify plans a description anew from what was stated about the columns, and computes the estimates anew from the
// released numbers.
func (d *Description) verify(v *verifier) {
	d.verifyPlan(v)
	v.add("estimates", "every estimate and every interval follows from the released numbers",
		d.estimateProblems())
	v.add("noise", "the noise of the released numbers matches their steps",
		d.noiseProblems(v.report))
}

// hashedFiles lists the page.
func (d *Description) hashedFiles(v *verifier) []hashedFile {
	return []hashedFile{{
		name: pageFile,
		hash: v.report.Files.Page,
		size: maxPageBytes,
	}}
}

// study returns the study that a description is of, as far as its price depends on it.
func (d *Description) study(g Guarantee) (describe.Study, error) {
	target, err := targetOf(g)
	s := describe.Study{
		Budget: target,
		Schema: dataset.Schema{Unit: target.Unit.Column},
	}
	for _, c := range d.Released.Columns {
		x := dataset.Column{Name: c.Name}
		switch {
		case c.Undeclared:
			x.Found = true
		case c.Kind == describe.Category && c.Source == describe.Declared:
			x.Kind = dataset.Category
			x.Categories = c.Categories
		case c.Text:
			x.Kind = dataset.Category
			x.Found = true
		case c.Kind == describe.Numeric && c.Source == describe.Declared:
			x.Ranged = true
			x.Lower = c.Lower
			x.Upper = c.Upper
		}
		s.Schema.Columns = append(s.Schema.Columns, x)
	}
	s.By = d.Released.By
	return s, err
}

// verifyPlan compares the steps with those of a plan that is made anew.
func (d *Description) verifyPlan(v *verifier) {
	const name = "plan"
	study, err := d.study(v.report.Guarantee)
	if err != nil {
		return // reported by guarantee
	}
	plan, err := study.Plan()
	if err != nil {
		v.add(name, "", []string{"the description cannot be planned: " + err.Error()})
		return
	}
	out, _ := v.leafProblems(plan.Priced)
	var stated []string
	for _, f := range v.report.Unprotected {
		if f.Name == "columns" {
			stated = sortedNames(f.Value)
		}
	}
	names := study.Schema.Names()
	slices.Sort(names)
	if !slices.Equal(stated, names) {
		out = append(out, "unprotected does not contain the described columns")
	}
	v.add(name,
		"planning a description of these columns gives the same steps and guarantee; no table was read",
		out)
}

// estimateProblems compares the estimates with recomputed ones.
func (d *Description) estimateProblems() []string {
	again := *d
	again.setCard(describe.Read(d.Released))
	var out []string
	for _, x := range []struct {
		name string
		have any
		now  any
	}{
		{"records", d.Records, again.Records},
		{"columns", d.Columns, again.Columns},
		{"correlations", d.Correlations, again.Correlations},
		{"by", d.By, again.By},
	} {
		if !nearJSON(x.have, x.now) {
			out = append(out, x.name+" does not follow from the released numbers")
		}
	}
	return out
}

// noiseProblems compares the noise of the released numbers with that of their steps.
func (d *Description) noiseProblems(r *Report) []string {
	scale := func(stage string) float64 {
		for _, e := range r.Events {
			if placeOf(e.ID).Stage == stage && e.Released > 0 {
				return e.Scale
			}
		}
		return 0
	}
	var out []string
	check := func(what string, have, want float64) {
		if !(math.Abs(have-want) <= computedTolerance*math.Max(math.Abs(have), math.Abs(want))) {
			out = append(out,
				fmt.Sprintf("the noise of %s is %s, but that of its step is %s", what, number(have),
					number(want)))
		}
	}
	x := d.Released
	check("the histogram", x.HistogramNoise, scale("histogram"))
	check("the moments", x.MomentNoise, scale("moments"))
	check("the matrix", x.MatrixNoise, scale("matrix"))
	records := x.MomentNoise
	if r.Guarantee.Relation != budget.AddRemove.String() {
		records = 0
	}
	check("the number of records", x.RecordNoise, records)
	if g := x.Groups; g != nil {
		relation, err := budget.ParseRelation(r.Guarantee.Relation)
		if err != nil {
			return out
		}
		counts, sums := mechanism.NewMaker(relation).NewGroupSums(1,
			make([]bool, max(len(g.Counted), 1))).Noise(scale("groups"))
		check("a count of a group", g.CountNoise, counts)
		check("a sum of a group", g.SumNoise, sums)
	} else if scale("groups") != 0 {
		out = append(out, "groups were released but are missing")
	}
	return out
}

// nearJSON reports whether two values have the same JSON, except for last digits of numbers, which may differ
// between processors.
func nearJSON(a, b any) bool {
	var x, y any
	for _, v := range []struct{ from, to any }{{a, &x}, {b, &y}} {
		data, err := json.Marshal(v.from)
		if err != nil || json.Unmarshal(data, v.to) != nil {
			return false
		}
	}
	return nearValues(x, y)
}

// nearValues is [nearJSON] for decoded values.
func nearValues(a, b any) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && math.Abs(x-y) <= 1e-6*math.Max(1, math.Max(math.Abs(x), math.Abs(y)))
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, nearValues)
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && maps.EqualFunc(x, y, nearValues)
	}
	return a == b
}
