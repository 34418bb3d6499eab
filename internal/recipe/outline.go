package recipe

import (
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/regression"
)

// outline returns the run that the recipe describes, as far as possible without a header and for a recipe with
// mistakes: enough for the rules of the pipeline. Parts that another rule rejects are omitted.
func (r *Recipe) outline(bench bool) *pipeline.Pipeline {
	p := &pipeline.Pipeline{Target: r.Data.Target, Holdout: r.Holdout, MostClasses: r.Data.MostClasses}
	declared := r.Data.Columns[r.Data.Target]
	if slices.Contains(rescale.Words(), declared.Transform) {
		p.Transform = r.Data.transform()
	}
	p.Budget.Epsilon = r.Privacy.Epsilon
	p.Budget.Delta = r.Privacy.Delta
	p.Budget.Relation, _ = budget.ParseRelation(r.Privacy.Relation)
	p.Budget.Composition, _ = budget.ParseComposition(r.Privacy.Composition)
	if u := r.Privacy.Unit; u != nil && !bench {
		p.Schema.Unit = u.Column
		p.Budget.Unit = budget.Unit{Column: u.Column, MaxRows: u.MaxRows}
	}
	target := dataset.Column{Name: r.Data.Target, Private: declared.Private}
	if p.Transform != rescale.None && declared.Lower != nil && declared.Upper != nil {
		target.Ranged = true
		target.Lower = *declared.Lower
		target.Upper = *declared.Upper
	}
	if r.Task == regression.TaskClassification {
		p.Task = r.Task
		target.Kind = dataset.Category
		target.Categories = r.Data.Classes.List
		if target.Found = r.Classes().Found && !bench; !target.Found && len(target.Categories) == 0 { // reported elsewhere
			target.Categories = make([]string, 2)
		}
	}
	p.Schema.Columns = append(p.Schema.Columns, target)
	p.Groups = r.GroupColumn()
	p.GroupsOnly = p.Groups != "" && slices.Contains(r.Data.Exclude, p.Groups)
	for name, c := range r.Data.Columns {
		encoded := c.Encode == EncodeTarget && (c.Categories.Declared() || c.Hash != 0)
		switch {
		case name == target.Name:
		case name == p.Groups:
			p.Schema.Columns = append(p.Schema.Columns, r.columnOfGroups(false, p.GroupsOnly))
		case c.Private:
			p.Schema.Columns = append(p.Schema.Columns, dataset.Column{Name: name, Private: true, TargetEncoded: encoded})
		case c.Categories.Found || encoded:
			p.Schema.Columns = append(p.Schema.Columns, dataset.Column{Name: name, Kind: dataset.Category, Other: true, Found: c.Categories.Found, TargetEncoded: encoded})
		}
	}
	p.CountFailure = r.countFailure()
	if r.Search != nil {
		p.Shares, p.Search = r.Budget.shares(), r.outlineSearch()
		return p
	}
	p.Selector, _ = r.Selection.outline()
	p.Model, _ = r.Model.outline()
	p.Shares, p.SelectionShare = r.divided()
	if p.Selector != nil && r.Selection.Keys.Wholes("sizes") != nil {
		p.SizeRuns = r.Selection.Keys.Number("runs")
	}
	if m, ok := pipeline.TrainerNamed(r.Model.Fallback); ok {
		p.Fallback = m.New(nil)
	}
	return p
}

// outlineSearch returns nil if a candidate names an unknown method.
func (r *Recipe) outlineSearch() *pipeline.Search {
	out := &pipeline.Search{
		Runs:    r.Search.Runs,
		Holdout: r.Search.Holdout,
	}
	for _, x := range r.Search.Candidates {
		selector, known := x.Selection.outline()
		model, trains := x.Model.outline()
		if !known || !trains {
			return nil
		}
		out.Candidates = append(out.Candidates, pipeline.Candidate{
			Selector:       selector,
			SelectionShare: x.Selection.Share(),
			Model:          model,
		})
	}
	return out
}

// outline returns the selector, nil for auto, and whether the method is known.
func (s Selection) outline() (selection.Selector, bool) {
	m, ok := pipeline.SelectorNamed(s.Method)
	if !ok {
		return nil, s.Method == pipeline.Auto
	}
	return m.New(pipeline.SelectorSettings{
		K:      s.K(),
		Share:  s.Share(),
		Values: checked(selectionSection, s.Keys),
	}), true
}

// outline returns the trainer, nil for auto, and whether the method is known.
func (m Model) outline() (method.Trainer, bool) {
	x, ok := pipeline.TrainerNamed(m.Method)
	if !ok {
		return nil, m.Method == pipeline.Auto
	}
	return x.New(checked(modelSection, m.Keys)), true
}

// checked returns values without invalid text values.
func checked(section string, values method.Values) method.Values {
	out := method.Values{}
	for _, k := range keysOf(section) {
		if v, ok := values[k.Name]; ok && (k.Kind != method.Word || slices.Contains(k.words(), values.Word(k.Name))) {
			out[k.Name] = v
		}
	}
	return out
}
