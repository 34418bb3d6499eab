package pipeline

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/stage"
	"github.com/dptrain/dptrain/regression"
)

// rules collects the problems of a description. Each rule is implemented once, here, in a [method.Method] or in
// package budget; recipes apply the same rules and locate the field of a fault in their text. The field is a
// recipe key.
type rules struct {
	*Pipeline
	home  string // prefix of the keys selection and model: "", or a candidate's path with a dot
	found []*fault.Error
}

// Wrong lists the problems of the description, ignoring columns without declarations. Each fault wraps an error
// of this package.
func (p *Pipeline) Wrong() []*fault.Error {
	r := &rules{Pipeline: p}
	r.checkTarget()
	if !(p.Holdout >= 0 && p.Holdout <= .5) {
		r.addProblem(
			ErrHoldout,
			"holdout",
			"0 means no held-out metric",
			"holdout must be from 0 to 0.5, not %s",
			fault.Number(p.Holdout),
		)
	}
	r.checkShares()
	if !(r.CountFailure >= 0 && r.CountFailure <= mostCountFailure) {
		r.addProblem(ErrCountFailure, countFailureField,
			"omit it for "+fault.Number(DefaultCountFailure),
			"%s must be above 0 and at most %s, not %s",
			countFailureField, fault.Number(mostCountFailure), fault.Number(r.CountFailure))
	}
	r.checkUnit()
	r.privateColumns()
	for _, s := range p.stages() {
		r.found = append(r.found, s.Check()...)
	}
	r.checkGroups()
	if p.Search != nil {
		r.checkSearch()
	} else {
		r.checkStages()
	}
	return r.found
}

func (r *rules) addProblem(err error, field, hint, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if r.home != "" {
		field = r.home + field
		message = strings.TrimSuffix(r.home, ".") + ": " + message
	}
	r.found = append(r.found, &fault.Error{
		Kind:    fault.Recipe,
		Field:   field,
		Message: message,
		Hint:    hint,
		Err:     err,
	})
}

// checkTarget checks the task and the kind of the target.
func (r *rules) checkTarget() {
	var c *dataset.Column
	if j := r.Schema.Index(r.Target); j >= 0 {
		c = &r.Schema.Columns[j]
	}
	switch {
	case r.Task != "" && r.Task != regression.TaskRegression && !r.isClassification():
		r.addProblem(ErrTask, "task", "", "unknown task: %q", r.Task)
	case c == nil && r.isClassification(),
		r.isClassification() && (c.Kind != dataset.Category || c.Other):
		r.addProblem(ErrClasses, "data.target", "", "%v: %q", ErrClasses, r.Target)
	case r.isClassification() && c.Found:
		if n := r.MostClasses; n != 0 && (n < leastClasses || n > evaluate.MaxClasses) {
			r.addProblem(
				ErrClasses,
				"data.most_classes",
				"",
				"data.most_classes must be from %d to %d, not %d",
				leastClasses,
				evaluate.MaxClasses,
				n,
			)
		}
	case r.isClassification() && len(c.Categories) < 2:
		r.addProblem(
			ErrClasses,
			"data.classes",
			"",
			"data.classes needs at least two classes",
		)
	case r.isClassification() && len(c.Categories) > evaluate.MaxClasses:
		r.addProblem(
			ErrClasses,
			"data.classes",
			"",
			"data.classes has %d classes, but at most %d are allowed",
			len(c.Categories),
			evaluate.MaxClasses,
		)
	case r.isClassification():
	case c == nil || c.Kind != dataset.Numeric || c.Indicator:
		r.addProblem(ErrTarget, "data.target", "", "%v: %q", ErrTarget, r.Target)
	}
}

// checkUnit compares the unit that the budget protects with the schema and the relation.
func (r *rules) checkUnit() {
	column := r.Schema.Unit
	unit := r.Budget.Unit
	switch {
	case column != unit.Column && unit.Column == "":
		r.addProblem(
			ErrUnit,
			"privacy.unit",
			"set Budget.Unit",
			"the schema has the unit column %q, but the budget protects records",
			column,
		)
	case column != unit.Column:
		r.addProblem(
			ErrUnit,
			"privacy.unit",
			"",
			"the budget protects units of column %q, but the unit column of the schema is %q",
			unit.Column,
			column,
		)
	case unit != budget.Unit{} && r.Budget.Relation != budget.AddRemove:
		r.addProblem(ErrUnit, "privacy.relation",
			"under other relations the number of records is public, but replacing a unit may change it",
			"privacy.relation must be add-remove with privacy.unit, not %v", r.Budget.Relation)
	}
}

// privateColumns checks which columns are protected.
func (r *rules) privateColumns() {
	if r.Budget.Relation != budget.SubstitutePrivateColumns {
		return
	}
	if !slices.ContainsFunc(r.Schema.Columns, func(c dataset.Column) bool {
		return c.Private
	}) {
		r.addProblem(ErrRelation, "privacy.relation", "",
			"the relation %v needs at least one column with private: true", r.Budget.Relation)
	}
}

// checkStages checks a selector, a model and its fallback.
func (r *rules) checkStages() {
	r.ofSelector()
	r.ofModel()
	r.checkSizes()
}

func (r *rules) ofSelector() {
	if r.SelectionShare != 0 {
		r.checkKey(ErrShare, "share", r.SelectionShare)
	}
	s := r.Selector
	if s == nil {
		return
	}
	if !ownSelector(s) {
		r.addProblem(
			ErrSelector,
			"selection.method",
			"",
			"%v: %q",
			ErrSelector,
			s.Name(),
		)
	}
	r.forTask("selection.method", s.Name())
}

// checkKey puts a number to the rule of a key of the selection.
func (r *rules) checkKey(err error, name string, x float64) {
	field := "selection." + name
	if message, hint := keysNamed(name)[0].Wrong(field, x); message != "" {
		r.addProblem(err, field, hint, "%s", message)
	}
}

func (r *rules) ofModel() {
	if f := r.Fallback; f != nil {
		switch {
		case f.Name() == r.ModelName():
			r.addProblem(
				ErrFallback,
				"model.fallback",
				"choose another method, or none",
				"model.fallback is the same as model.method",
			)
		case !mayAbstain(r.Model):
			r.addProblem(
				ErrFallback,
				"model.fallback",
				"remove it",
				"model.fallback has no effect with method %s, which never abstains",
				r.ModelName(),
			)
		case mayAbstain(f):
			r.addProblem(ErrFallback, "model.fallback", "", "model.fallback: %s may abstain itself",
				f.Name())
		}
		if _, err := methodOf(f); err != nil {
			r.addProblem(err, "model.fallback", "", "%v", err)
		}
		r.forTask("model.fallback", f.Name())
	}
	if r.Model == nil {
		return
	}
	m, err := methodOf(r.Model)
	if err != nil {
		r.addProblem(err, "model.method", "", "%v", err)
		return
	}
	r.forTask("model.method", m.Name)
}

// forTask checks a method against the task and the number of classes.
func (r *rules) forTask(field, name string) {
	classes := 0
	found := false
	if j := r.Schema.Index(r.Target); j >= 0 && r.isClassification() {
		classes = r.classesOf(r.Schema.Columns[j])
		found = r.Schema.Columns[j].Found
	}
	switch {
	case !r.isClassification() && NeedsClasses(name):
		lacks := LacksClasses(field, name)
		r.addProblem(ErrModel, field, lacks.Hint, "%s", lacks.Message)
	case classes > 2 && TwoClasses(name) && found:
		r.addProblem(
			ErrTwoClasses,
			field,
			"use another method, or most_classes: 2",
			"%s: %s supports only two classes, but data.most_classes is %d",
			field,
			name,
			classes,
		)
	case classes > 2 && TwoClasses(name):
		r.addProblem(
			ErrTwoClasses,
			field,
			"use another method",
			"%s: %s supports only two classes, but data.classes lists %d",
			field,
			name,
			classes,
		)
	}
}

// LacksClasses returns the error for a method at field that needs classes in a task without classes.
func LacksClasses(field, name string) *fault.Error {
	return &fault.Error{
		Kind:    fault.Recipe,
		Field:   field,
		Err:     ErrModel,
		Message: field + ": " + name + " needs classes",
		Hint:    "set task: classification, or use another method",
	}
}

// NeedsClasses reports whether a selector or model method, by its name in a recipe, is for
// classification only.
func NeedsClasses(name string) bool {
	s, _ := SelectorNamed(name)
	m, _ := TrainerNamed(name)
	return s.NeedsClasses || m.ClassesOnly()
}

// TwoClasses reports whether a selector or model method, by its name in a recipe, can only be
// run for a target of two classes: it ranks or fits one number.
func TwoClasses(name string) bool {
	s, _ := SelectorNamed(name)
	m, _ := TrainerNamed(name)
	return s.TwoClasses || m.TwoClasses()
}

// checkSizes checks the tries of a list of sizes. The selector validates the list itself.
func (r *rules) checkSizes() {
	sizes := sizesOf(r.Selector)
	switch {
	case sizes == nil && r.SizeRuns != 0:
		r.addProblem(ErrSizeSearch, "selection.runs", "",
			"selection.runs has no effect without selection.sizes")
		return
	case sizes == nil:
		return
	case r.home != "":
		r.addProblem(
			ErrSearch,
			"selection.sizes",
			"make each size a separate candidate with selection.k",
			"selection.sizes cannot be used inside a search candidate",
		)
		return
	}
	if !r.isClassification() {
		r.addProblem(
			ErrSizeSearch,
			"selection.sizes",
			"use selection.k",
			"selection.sizes needs classes, because it counts correct predictions",
		)
	}
	r.checkKey(ErrSizeSearch, "runs", r.sizeRuns())
	r.rejectUnpricedTries(ErrSizeSearch, "selection.sizes cannot", "selection.k")
	if mayAbstain(r.Model) {
		r.addProblem(
			ErrSizeSearch,
			"model.method",
			"use another method",
			"%s may abstain, which selection.sizes does not support",
			r.ModelName(),
		)
	}
}

// rejectUnpricedTries rejects tries, which are priced by a Rényi curve, under an accounting without such curves.
func (r *rules) rejectUnpricedTries(err error, what, instead string) {
	if r.Budget.Composition == budget.Basic {
		r.addProblem(
			err,
			"privacy.composition",
			"use composition tight, or "+instead,
			"%s be used with basic composition",
			what,
		)
	}
	if r.Budget.Delta == 0 {
		r.addProblem(
			err,
			deltaField,
			"use "+instead+"; or omit "+deltaField+": "+deltaHint,
			"%s must be above 0: tries are scored with Gaussian noise",
			deltaField,
		)
	}
}

// deltaHint names the usual delta.
const deltaHint = stage.DeltaHint

// BesideSearch returns the error for a recipe with a search and a section "selection" or "model".
func BesideSearch(section string) *fault.Error {
	return &fault.Error{
		Kind:    fault.Recipe,
		Field:   section,
		Err:     ErrSearch,
		Message: section + " cannot be combined with search, in which each candidate has its own",
		Hint:    "move it into search.candidates",
	}
}

// checkSearch checks the search by itself and each of its candidates as a run of its own.
func (r *rules) checkSearch() {
	x := r.Search
	if r.Selector != nil || r.SelectionShare != 0 {
		r.found = append(r.found, BesideSearch("selection"))
	}
	if r.Model != nil || r.Fallback != nil {
		r.found = append(r.found, BesideSearch("model"))
	}
	if !(x.Runs > 1 && x.Runs <= MaxRuns) {
		r.addProblem(
			ErrSearch,
			"search.runs",
			"it is the mean number of tries; the default is 5",
			"search.runs must be above 1 and at most %d, not %s",
			MaxRuns,
			fault.Number(x.Runs),
		)
	}
	if !(x.Holdout > 0 && x.Holdout <= .5) {
		r.addProblem(
			ErrSearch,
			"search.holdout",
			"it is the share of the training records used for scoring",
			"search.holdout must be above 0 and at most 0.5, not %s",
			fault.Number(x.Holdout),
		)
	}
	r.rejectUnpricedTries(ErrSearch, "a search cannot", "a single selection and model")
	if n := len(x.Candidates); n < 2 || n > MaxCandidates {
		r.addProblem(
			ErrSearch,
			"search.candidates",
			"for a single one, use selection and model",
			"search.candidates must list 2 to %d, not %d",
			MaxCandidates,
			n,
		)
		return
	}
	for i, c := range x.Candidates {
		r.candidateRules(i, c)
	}
}

func (r *rules) candidateRules(i int, c Candidate) {
	field := fault.Item("search.candidates", i)
	for j := range i {
		if reflect.DeepEqual(c, r.Search.Candidates[j]) {
			r.addProblem(
				ErrSearch,
				field,
				"including defaults; remove one",
				"search.candidates: items %d and %d are the same",
				j+1,
				i+1,
			)
			return
		}
	}
	if c.SelectionShare != 0 && r.Shares.Selection != 0 {
		r.addProblem(
			ErrShares,
			field+".selection.share",
			"keep one of the two",
			"%s.selection.share and budget.selection are the same share",
			field,
		)
	}
	one := rules{
		Pipeline: r.candidate(i),
		home:     field + ".",
	}
	one.checkStages()
	if mayAbstain(c.Model) {
		one.addProblem(
			ErrSearch,
			"model.method",
			"use another method",
			"%s may abstain, which a search does not support",
			c.ModelName(),
		)
	}
	r.found = append(r.found, one.found...)
}

// mayAbstain reports whether a run of a trainer may end without a model.
func mayAbstain(t method.Trainer) bool {
	_, ok := t.(method.Abstainer)
	return ok
}
