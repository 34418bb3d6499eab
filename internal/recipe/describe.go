package recipe

import (
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/describe"
)

// TaskDescribe is the task of a description of the columns of a table. It is selected by flags, never by a recipe
// file.
const TaskDescribe = "describe"

// describeSection is the section of the paths of a description in problems.
const describeSection = "describe"

// Description selects the columns to describe.
type Description struct {
	Columns []string // empty for all columns
	By      string   // column whose values form groups; optional
}

// describe validates a description.
func (c *checker) describe() {
	d := c.r.Data
	if d.Path == "" {
		c.add("data.path", "a table is required: name the file to describe", "")
	}
	c.reading()
	c.nameList("data.exclude", d.Exclude, "column")
	c.nameList("data.header", d.Header, "column")
	c.nameList("describe.columns", c.r.Description.Columns, "column")
	for i, name := range c.r.Description.Columns {
		if slices.Contains(d.Exclude, name) {
			c.add(item("describe.columns", i), "the column "+quoted(name)+" is excluded",
				"name it in --columns or in --exclude, not both")
		}
	}
	if by := c.r.Description.By; by != "" && slices.Contains(d.Exclude, by) {
		c.add("describe.by", "the column "+quoted(by)+", which defines the groups, is excluded",
			"remove it from --exclude")
	}
	c.undeclared()
	c.foldChecks()
	c.columns()
	c.privacy()
	c.ledgerAndOutput()
}

// Describe returns the description of a table with the given header. Columns are in the order of the header. An
// undeclared grouping column has categories, which are found privately. The error is Problems if the recipe and
// the header do not match.
func (r *Recipe) Describe(header []string) (describe.Study, error) {
	if problems := r.Validate(header); len(problems) > 0 {
		return describe.Study{}, problems
	}
	target, err := r.budget()
	if err != nil {
		return describe.Study{}, err
	}
	d := r.Description
	reading := r.Data.Reading()
	s := describe.Study{
		Schema: dataset.Schema{
			Unit:    r.unitColumn(),
			Numbers: reading.Format.Numbers(),
		},
		By:     d.By,
		Budget: target,
	}
	asked := func(name string) bool {
		return len(d.Columns) == 0 || name == d.By || slices.Contains(d.Columns, name)
	}
	kinds := r.findsKinds()
	excluded := nameSet(r.Data.Exclude)
	for _, name := range header {
		if name == s.Schema.Unit || excluded[name] {
			continue
		}
		if declared := r.Data.Columns[name]; declared.Date != "" {
			for _, part := range dateColumns(name, declared) {
				if asked(part.Name) || slices.Contains(d.Columns, name) {
					s.Schema.Columns = append(s.Schema.Columns, part)
				}
			}
			continue
		}
		if !asked(name) {
			continue
		}
		c := r.column(name, kinds)
		if name == d.By && c.Kind == dataset.Numeric && !c.Ranged {
			c = dataset.Column{
				Name:     name,
				Kind:     dataset.Category,
				Other:    true,
				Found:    true,
				TextRule: r.textOf(Column{}),
			}
		}
		s.Schema.Columns = append(s.Schema.Columns, c)
	}
	return s, nil
}
