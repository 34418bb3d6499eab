package pipeline

import (
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// The held-out metric may be divided by the values of a category column (docs/proofs/evaluation.md, "By group"): the
// same releases then have sums by group as well, at the same price. The column may be a feature, or be read for this
// purpose only.

// GroupsFact names the column of groups among the facts that are not protected.
const GroupsFact = "groups of the held-out metric"

// readForGroups reports whether a column is read for the groups only.
func (p *Pipeline) readForGroups(c dataset.Column) bool {
	return p.GroupsOnly && c.Name == p.Groups
}

// WithoutGroups returns the run without metrics by group, and without a column that is read for them only.
func (p *Pipeline) WithoutGroups() *Pipeline {
	if p.Groups == "" {
		return p
	}
	out := p.clone()
	out.Schema.Columns = slices.DeleteFunc(out.Schema.Columns, out.readForGroups)
	out.Groups = ""
	out.GroupsOnly = false
	return out
}

// checkGroups checks the column of groups, if the schema has it.
func (r *rules) checkGroups() {
	const field = "evaluate.by"
	if r.Groups == "" {
		if r.GroupsOnly {
			r.addProblem(ErrGroups, field, "",
				"a column is read only to form groups, but the run has no groups")
		}
		return
	}
	if r.Holdout == 0 {
		r.addProblem(ErrGroups, field, "set holdout, such as 0.2",
			"%s splits the held-out records, but no records are held out", field)
	}
	j := r.Schema.Index(r.Groups)
	if r.Groups == r.Target {
		r.addProblem(
			ErrGroups,
			field,
			"name another column",
			"%s names the target %q",
			field,
			r.Groups,
		)
		return
	}
	if j < 0 {
		return
	}
	const list = "list its categories in data.columns (--categories)"
	switch c := r.Schema.Columns[j]; {
	case c.Kind != dataset.Category:
		r.addProblem(ErrGroups, field, list,
			"%s: column %q is numeric, but groups must be categories", field, c.Name)
	case c.Found && r.GroupsOnly:
		r.addProblem(ErrGroups, field, list,
			"%s: the values of %q cannot be found privately because it is not a feature", field, c.Name)
	case !c.Found && len(c.Categories) > evaluate.MaxGroups:
		r.addProblem(ErrGroups, field, "use a column with fewer values",
			"%s: column %q has %d categories, but at most %d groups are allowed", field, c.Name,
			len(c.Categories), evaluate.MaxGroups)
	}
}

// groupsIn returns the groups by the column of groups in a schema of held-out records. names are the values with a group.
func (p *Pipeline) groupsIn(s dataset.Schema, names []string) evaluate.Groups {
	place := s.Index(p.Groups)
	c := s.Columns[place]
	change := p.Budget.Relation == budget.Substitute ||
		p.Budget.Relation == budget.SubstitutePrivateColumns && c.Private
	return evaluate.NewGroups(c, place, names, change)
}

// groups returns the groups of the held-out records.
func (r *runner) groups() evaluate.Groups {
	p := r.pipeline
	if p.Groups == "" {
		return evaluate.Groups{}
	}
	s := r.Held.Schema()
	names := s.Columns[s.Index(p.Groups)].Categories
	if p.Schema.Columns[p.Schema.Index(p.Groups)].Found {
		names = r.values
	}
	return p.groupsIn(s, names)
}

// noteGroups keeps the values of the column of groups that have a group: the most frequent ones by the noisy counts, in whose
// order they are.
func (r *runner) noteGroups(c *dataset.Column) {
	if c.Name == r.pipeline.Groups {
		r.values = slices.Sorted(
			slices.Values(c.Categories[:min(len(c.Categories), evaluate.MaxGroups)]))
	}
}

// plannedGroups returns the groups for a rehearsal on records with the columns of the plan.
func (p *Pipeline) plannedGroups(s dataset.Schema) evaluate.Groups {
	if p.Groups == "" {
		return evaluate.Groups{}
	}
	names := s.Columns[s.Index(p.Groups)].Categories
	if p.Schema.Columns[p.Schema.Index(p.Groups)].Found {
		names = stage.Placeholders("word", evaluate.MaxGroups)
	}
	return p.groupsIn(s, names)
}

// firstColumns lists the first n positions.
func firstColumns(n int) []int {
	out := make([]int, n)
	for k := range out {
		out[k] = k
	}
	return out
}
