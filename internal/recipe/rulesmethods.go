package recipe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/pipeline"
)

// The rules of the sections selection and model.

func (c *checker) selection() {
	s := c.r.Selection
	known := c.name("selection.method", s.Method, selections, c.can.selections)
	if s.K < 0 || s.K == 0 && c.given("selection.k") {
		c.add("selection.k", fmt.Sprintf("selection.k must be at least 1, not %d", s.K), "leave it out to let the method decide")
	}
	hasShare := s.Share != 0 || c.given("selection.share")
	if hasShare && !(s.Share > 0 && s.Share < 1) {
		c.add("selection.share", "selection.share must be above 0 and below 1, not "+show(s.Share), "")
	}
	if !known {
		return
	}
	c.keys(keyed{selectionSection, s.Method, s.Keys})
	c.sizes()
	c.forTask("selection.method", s.Method, c.can.selections)
	if s.Method == "auto" && s.K > 0 && len(c.r.Data.Classes) > 2 {
		c.add("selection.k", fmt.Sprintf("selection.k: auto chooses columns for two classes only, and data.classes lists %d", len(c.r.Data.Classes)), "remove it, or list the columns with method fixed")
	}
	if !c.can.choosesColumns(s.Method) {
		hint := "remove it, or choose another method"
		if s.Method == "auto" {
			hint = "in this version auto keeps every column; remove it, or list the columns with method fixed"
		}
		if s.K > 0 {
			c.add("selection.k", "selection.k has no effect with method "+s.Method, hint)
		}
		if hasShare {
			c.add("selection.share", "selection.share has no effect with method "+s.Method, hint)
		}
	}
}

// forTask checks a method that is available against the task and the number of
// classes.
func (c *checker) forTask(path, method string, available []string) {
	classes := len(c.r.Data.Classes)
	switch {
	case !slices.Contains(available, method):
	case c.r.Task == "regression" && readsClasses(method):
		c.add(path, path+": "+method+" needs classes", "set task: classification with data.classes, or use another method")
	case c.r.Task == "classification" && classes > 2 && pipeline.TwoClasses(method):
		c.add(path, fmt.Sprintf("%s: %s takes two classes only, and data.classes lists %d", path, method, classes), "use another method")
	}
}

// sizes checks what stands beside numbers of columns to try: they are a search.
func (c *checker) sizes() {
	path := "selection.sizes"
	m, _ := pipeline.SelectorNamed(c.r.Selection.Method)
	if c.r.Selection.Keys.Wholes("sizes") == nil || !m.Has("sizes") {
		return
	}
	switch {
	case c.home != "":
		c.add(path, "selection.sizes inside a candidate is a search within a search", "make each size a candidate, with selection.k")
	case c.r.Privacy.Composition == "basic":
		c.add("privacy.composition", "selection.sizes has no price under basic composition", "use composition tight, or selection.k")
	case pipeline.MayAbstain(c.r.Model.Method):
		c.add("model.method", c.r.Model.Method+" may abstain and its law has no price beside selection.sizes", "use another method")
	}
}

// columnNames checks a list of features.
func (c *checker) columnNames(path string, names []string) {
	c.nameList(path, names, "column")
	for i, name := range names {
		switch {
		case name == "":
		case name == c.r.Data.Target:
			c.add(item(path, i), "the target "+quoted(name)+" cannot be a feature", "")
		case name == c.r.unitColumn():
			c.add(item(path, i), "the column "+quoted(name)+" identifies the privacy unit and cannot be a feature", "")
		case slices.Contains(c.r.Data.Exclude, name):
			c.add(item(path, i), "the feature "+quoted(name)+" is excluded in data.exclude", "remove it from one of the two lists")
		}
	}
}

func (c *checker) model() {
	m := c.r.Model
	switch {
	case !c.bench && (slices.Contains(nonprivate, m.Method) || strings.HasPrefix(m.Method, asPublished)):
		c.add("model.method", "model.method: "+quoted(m.Method)+" gives no privacy guarantee", "only `dptrain bench` runs it, on public data; here: "+oneOf(c.can.models))
	case strings.HasPrefix(m.Method, asPublished):
		c.name("model.method", m.Method, []string{m.Method}, append(slices.Clone(c.can.models), c.can.benchModels...))
	case c.bench:
		c.name("model.method", m.Method, append(slices.Clone(models), nonprivate...), append(slices.Clone(c.can.models), c.can.benchModels...))
	default:
		c.name("model.method", m.Method, models, c.can.models)
	}
	c.forTask("model.method", m.Method, append(slices.Clone(c.can.models), c.can.benchModels...))
	c.forTask("model.fallback", m.Fallback, c.can.fallbacks)
	switch {
	case !c.name("model.fallback", m.Fallback, fallbacks(), c.can.fallbacks):
	case m.Fallback == m.Method:
		c.add("model.fallback", "model.fallback is the method itself", "name another method, or none")
	case m.Fallback != "none" && !pipeline.MayAbstain(m.Method):
		c.add("model.fallback", "model.fallback has no effect with method "+m.Method+", which never abstains", "remove it")
	}
	c.keys(keyed{modelSection, m.Method, m.Keys})
}
