package recipe

import (
	"slices"

	"github.com/dptrain/dptrain/dataset"
)

// columnOfGroups converts the declarations of the column of groups. Without declarations its values are found privately, as
// those of a category column, if kinds, which is [Recipe.findsKinds]. only reports that the column is no feature.
func (r *Recipe) columnOfGroups(kinds, only bool) dataset.Column {
	name := r.GroupColumn()
	c := r.column(name, kinds)
	if c.Kind == dataset.Numeric && c.Found {
		return dataset.Column{
			Name:     name,
			Kind:     dataset.Category,
			Other:    true,
			Found:    true,
			TextRule: r.textOf(Column{}),
			Private:  c.Private,
		}
	}
	if only {
		c.TargetEncoded = false
	}
	return c
}

// groups validates what the pipeline cannot see of the section evaluate: columns without declarations.
func (c *checker) groups() {
	if c.r.Evaluate == nil {
		return
	}
	const path = "evaluate.by"
	by := c.r.Evaluate.By
	_, declared := c.r.Data.Columns[by]
	switch {
	case c.bench:
		c.add("evaluate", "evaluate cannot be used in an experiment",
			"remove it; only `dptrain fit` supports it")
	case by == "":
		c.add(path, path+" is empty", "name a category column, or remove it")
	case by == c.r.unitColumn():
		c.add(
			path,
			path+" is the column that identifies the unit",
			"name a category column",
		)
	case declared:
	case slices.Contains(c.r.Data.Exclude, by):
		c.add(path, path+": the column "+quoted(by)+" is excluded, so its values cannot be found privately",
			"list its categories in data.columns (--categories), or remove it from data.exclude")
	case by != c.r.Data.Target && !c.r.findsKinds():
		c.add(path, path+": the values of "+quoted(by)+" cannot be found in this run",
			"list its categories in data.columns (--categories)")
	}
}
