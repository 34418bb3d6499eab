package recipe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/pipeline"
	"github.com/dptrain/dptrain/selection"
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
	if s.Method == "fixed" {
		if len(s.Features) == 0 {
			c.add("selection.features", "selection.features is required with method fixed: the columns to use", "")
		}
		c.features()
	} else if s.Features != nil {
		c.add("selection.features", "selection.features has no effect with method "+s.Method, "use method fixed, or remove it")
	}
	c.own()
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

// own checks the keys that belong to selection methods.
func (c *checker) own() {
	s := c.r.Selection
	belongs := func(key string, given bool) bool {
		owners := selection.WithKey(strings.TrimPrefix(key, "selection."))
		its := slices.Contains(owners, s.Method)
		if given && !its {
			c.add(key, key+" has no effect with method "+s.Method, "use method "+joinedBy(owners, "or")+", or remove it")
		}
		return given && its
	}
	if belongs("selection.score", s.Score != "") {
		c.name("selection.score", s.Score, scores, scores)
	}
	if belongs("selection.topk", s.TopK != "") {
		c.name("selection.topk", s.TopK, topks, topks)
	}
	if belongs("selection.lambda", s.Lambda != 0 || c.given("selection.lambda")) && !(s.Lambda > 0 && s.Lambda < 1) {
		c.add("selection.lambda", "selection.lambda must be above 0 and below 1, not "+show(s.Lambda), "leave it out for .1; at 1 no coefficient is left")
	}
	if belongs("selection.buckets", s.Buckets != 0 || c.given("selection.buckets")) && s.Buckets < 2 {
		c.add("selection.buckets", fmt.Sprintf("selection.buckets must be at least 2, not %d", s.Buckets), "leave it out to let the method decide")
	}
}

// sizes checks the numbers of columns to try.
func (c *checker) sizes() {
	s, path := c.r.Selection, "selection.sizes"
	hasRuns := s.Runs != 0 || c.given("selection.runs")
	switch {
	case s.Sizes == nil && c.given(path):
		c.add(path, "selection.sizes must list two numbers of columns or more", "leave it out to let the method decide")
		return
	case s.Sizes == nil && hasRuns:
		c.add("selection.runs", "selection.runs has no effect without selection.sizes", "list the numbers of columns to try, or remove it")
		return
	case s.Sizes == nil:
		return
	case !slices.Contains(selection.WithKey("sizes"), s.Method):
		c.add(path, path+" has no effect with method "+s.Method, "use one of "+oneOf(selection.WithKey("sizes"))+", or make each size a candidate of search")
		return
	case s.K != 0 || c.given("selection.k"):
		c.add(path, "selection.sizes stands beside selection.k", "keep one of the two: a number of columns, or several to try")
	case len(s.Sizes) < 2:
		c.add(path, "selection.sizes must list two numbers of columns or more", "one alone is selection.k")
	}
	for i, size := range s.Sizes {
		if size < 1 || i > 0 && size <= s.Sizes[i-1] {
			c.add(item(path, i), "selection.sizes must be increasing numbers from 1 on", "for example [2, 4, 8]")
			break
		}
	}
	if hasRuns && !(s.Runs > 1 && s.Runs <= pipeline.MaxRuns) {
		c.add("selection.runs", fmt.Sprintf("selection.runs must be above 1 and at most %d, not %s", pipeline.MaxRuns, show(s.Runs)), "it is the mean number of tries; 3 is the default")
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

func (c *checker) features() {
	s := c.r.Selection
	c.nameList("selection.features", s.Features, "column")
	for i, f := range s.Features {
		switch {
		case f == "":
		case f == c.r.Data.Target:
			c.add(item("selection.features", i), "the target "+quoted(f)+" cannot be a feature", "")
		case f == c.r.unitColumn():
			c.add(item("selection.features", i), "the column "+quoted(f)+" identifies the privacy unit and cannot be a feature", "")
		case slices.Contains(c.r.Data.Exclude, f):
			c.add(item("selection.features", i), "the feature "+quoted(f)+" is excluded in data.exclude", "remove it from one of the two lists")
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
	c.keys()
}
