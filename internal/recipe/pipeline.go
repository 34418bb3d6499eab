package recipe

import (
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/regression"
)

// Pipeline returns the run that the recipe describes for a table with the given header (column names in file order).
// The candidate features are the columns of the header, in order, except the target, the excluded columns and the
// column that identifies the privacy unit. The error is Problems if the recipe and the header do not match; see
// [Recipe.Validate].
func (r *Recipe) Pipeline(header []string) (*pipeline.Pipeline, error) {
	if r.Task == TaskCausal {
		return nil, r.noModel()
	}
	if problems := r.Validate(header); len(problems) > 0 {
		return nil, problems
	}
	target, err := r.budget()
	if err != nil {
		return nil, err
	}
	p := &pipeline.Pipeline{
		Task:            r.Task,
		Target:          r.Data.Target,
		Budget:          target,
		Holdout:         r.Holdout,
		MostClasses:     r.Data.MostClasses,
		DeclaredScaling: r.Scaling.Method == "declared",
		Transform:       r.Data.transform(),
		Groups:          r.GroupColumn(),
	}
	shares, selectionShare := r.divided()
	p.Shares, p.CountFailure = shares, r.countFailure()
	reading := r.Data.Reading()
	p.Schema.Numbers = reading.Format.Numbers()
	excluded := nameSet(r.Data.Exclude)
	kinds := r.findsKinds()
	if p.Schema.Unit = r.unitColumn(); p.Schema.Unit != "" {
		excluded[p.Schema.Unit] = true
	}
	for _, name := range header {
		if name == p.Groups {
			p.GroupsOnly = excluded[name]
			p.Schema.Columns = append(p.Schema.Columns, r.columnOfGroups(kinds, p.GroupsOnly))
			continue
		}
		if d := r.Data.Columns[name]; d.Date != "" && !excluded[name] {
			p.Schema.Columns = append(p.Schema.Columns, dateColumns(name, d)...)
			continue
		}
		if !excluded[name] {
			p.Schema.Columns = append(p.Schema.Columns, r.column(name, kinds))
		}
	}
	candidates := len(p.Schema.Columns) - 1
	if p.GroupsOnly {
		candidates--
	}
	if r.Search != nil {
		p.Search, err = r.search(candidates)
		return p, err
	}
	p.Model, p.SelectionShare, p.SizeRuns = r.Model.trainer(), selectionShare,
		r.Selection.Keys.Number("runs")
	if r.Model.Fallback != "none" {
		p.Fallback = trainerOf(r.Model.Fallback, nil)
	}
	if p.Selector, err = r.selector(candidates); err != nil {
		return nil, err
	}
	return p, nil
}

// selector converts the selection section, for d candidate features. Methods that support classes can also
// choose the number of features.
func (r *Recipe) selector(d int) (selection.Selector, error) {
	s := r.Selection
	if s.Method == pipeline.Auto {
		switch {
		case s.K() > 0: // the number is set
			return selection.Kendall{K: s.K()}, nil
		case r.Model.Method == pipeline.Auto: // the pipeline chooses
			return nil, nil
		}
		return selection.None{}, nil
	}
	m, ok := pipeline.SelectorNamed(s.Method)
	if !ok {
		return nil, fmt.Errorf("selection %q has no selector", s.Method)
	}
	x := pipeline.SelectorSettings{
		K:      s.K(),
		Share:  max(s.Share(), r.Budget.shares().Selection),
		Values: s.Keys,
	}
	if x.Share == 0 && m.NeedsClasses {
		x.Share = pipeline.ClassedSelectionShare
	}
	if m.Private && !m.NeedsClasses && s.K() == 0 && s.Keys["budget"] == nil &&
		s.Keys["sizes"] == nil {
		if x.K = selection.DefaultK; d <= x.K { // every candidate is kept
			return selection.None{}, nil
		}
	}
	return m.New(x), nil
}

// budget translates the privacy section.
func (r *Recipe) budget() (budget.Target, error) {
	relation, err := budget.ParseRelation(r.Privacy.Relation)
	if err != nil {
		return budget.Target{}, err
	}
	composition, err := budget.ParseComposition(r.Privacy.Composition)
	out := budget.Target{
		Epsilon:     r.Privacy.Epsilon,
		Delta:       r.Privacy.Delta,
		Relation:    relation,
		Composition: composition,
	}
	if u := r.Privacy.Unit; u != nil {
		out.Unit = budget.Unit{
			Column:  u.Column,
			MaxRows: u.MaxRows,
		}
	}
	return out, err
}

// column converts the declarations of a column. kinds is [Recipe.findsKinds].
func (r *Recipe) column(name string, kinds bool) dataset.Column {
	if name == r.Data.Target && r.Task == regression.TaskClassification {
		return dataset.Column{
			Name:       name,
			Private:    r.Data.Columns[name].Private,
			Kind:       dataset.Category,
			Labels:     true,
			Categories: r.values(r.Data.Classes.List, Column{}),
			Found:      r.Classes().Found,
			TextRule:   r.textOf(Column{}),
		}
	}
	d := r.Data.Columns[name]
	c := dataset.Column{Name: name, Private: d.Private}
	if d.Categories.Declared() || d.Hash > 0 {
		c.Kind, c.Categories, c.Other = dataset.Category, r.values(d.Categories.List, d),
			d.Other == nil || *d.Other
		c.Found = d.Categories.Found
		c.TextRule = r.textOf(d)
		c.TargetEncoded = d.Encode == EncodeTarget
		if d.Hash > 0 {
			c.Categories = cell.Text(c.TextRule).Buckets()
		}
		return c
	}
	if d.Lower != nil && d.Upper != nil {
		c.Ranged = true
		c.Lower = *d.Lower
		c.Upper = *d.Upper
	}
	if x := d.Missing.number(); x != nil {
		c.HasMissing = true
		c.Missing = *x
	}
	c.Indicator = d.Missing.asIndicator()
	c.TellsText = name == r.Data.Target
	if c.Found = kinds && name != r.Data.Target && !c.Ranged && !c.HasMissing &&
		!c.Indicator; c.Found {
		c.TextRule = r.textOf(Column{})
	}
	return c
}
