package recipe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// This file contains the rules for the sections selection and model.

func (c *checker) selection() {
	s := c.r.Selection
	known := c.name("selection.method", s.Method, selections, c.can.selections)
	if !known {
		return
	}
	c.keys(keyed{selectionSection, s.Method, s.Keys})
	if s.Method == "auto" && s.K() > 0 && len(c.r.Data.Classes.List) > 2 {
		c.add("selection.k",
			fmt.Sprintf(
				"selection.k: auto selects columns only for two classes, but data.classes lists %d",
				len(c.r.Data.Classes.List)), "remove it, or list the columns with method fixed")
	}
}

// columnNames checks a list of features.
func (c *checker) columnNames(path string, names []string) {
	c.nameList(path, names, "column")
	for i, name := range names {
		c.columnName(item(path, i), name)
	}
}

// columnName checks the name of a feature.
func (c *checker) columnName(path, name string) {
	switch {
	case name == "":
	case name == c.r.Data.Target:
		c.add(path, "the target "+quoted(name)+" cannot be a feature", "")
	case name == c.r.unitColumn():
		c.add(path,
			"the column "+quoted(name)+" identifies the privacy unit and cannot be a feature", "")
	case slices.Contains(c.r.Data.Exclude, name):
		c.add(path, "the feature "+quoted(name)+" is excluded in data.exclude",
			"remove it from one of the two lists")
	}
}

func (c *checker) model() {
	m := c.r.Model
	switch {
	case !c.bench &&
		(slices.Contains(nonprivate, m.Method) || strings.HasPrefix(m.Method, asPublished)):
		c.add("model.method", "model.method: "+quoted(m.Method)+" gives no privacy guarantee",
			"it is only for `dptrain bench`, on public data; choose one of "+oneOf(c.can.models))
	case strings.HasPrefix(m.Method, asPublished):
		c.name("model.method", m.Method, []string{m.Method},
			append(slices.Clone(c.can.models), c.can.benchModels...))
	case c.bench:
		c.name("model.method", m.Method, append(slices.Clone(models), nonprivate...),
			append(slices.Clone(c.can.models), c.can.benchModels...))
	default:
		c.name("model.method", m.Method, models, c.can.models)
	}
	if c.r.Task == regression.TaskRegression && openClassifier(m.Method) {
		wrong := pipeline.LacksClasses("model.method", m.Method)
		c.add(wrong.Field, wrong.Message, wrong.Hint)
	}
	c.name("model.fallback", m.Fallback, fallbacks(), c.can.fallbacks)
	before := len(c.ps)
	c.keys(keyed{modelSection, m.Method, m.Keys})
	if known, _ := pipeline.TrainerNamed(m.Method); known.Check != nil && len(c.ps) == before {
		if key, message, hint := known.Check(m.Keys); key != "" {
			path := modelSection + "." + key
			c.add(path, path+" "+message, hint)
		}
	}
}
