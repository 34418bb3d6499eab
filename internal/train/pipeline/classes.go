package pipeline

import (
	"errors"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/regression"
)

// In a classification, the target is a category column whose categories are the declared classes; a record in
// no class is coded one past the list. Every stage gets that column, last. Two kinds of stages require numbers
// instead, and get the column that [numericTarget] derives, record by record: selectors that do not implement
// selection.Classed, and trainers of numeric targets, which oneVsRest turns into classifiers.

// Errors of the plan of a classification. They depend on public facts only.
var (
	// ErrTask is returned for a task that is neither regression nor
	// classification.
	ErrTask = errors.New("unknown task")
	// ErrClasses is returned if the target of a classification is not a category column of 2 to
	// evaluate.MaxClasses classes without an "other" level.
	ErrClasses = errors.New(
		"the target of a classification must be a category column of 2 to 255 classes, without other")
	// ErrTwoClasses is returned if a stage that supports two classes only is given more.
	ErrTwoClasses = errors.New("this method supports only two classes")
)

// isClassification reports whether the target has classes.
func (p *Pipeline) isClassification() bool {
	return p.Task == regression.TaskClassification
}

// taskName returns the task by its name.
func (p *Pipeline) taskName() string {
	if p.Task == "" {
		return regression.TaskRegression
	}
	return p.Task
}

// scoreRange is the declared range of a derived target.
const scoreRange = 1

// numericTarget is the column that is derived from a target of classes: +1 for
// the records of one class, -1 for those of the others and 0 for those in no
// class. Its range is a public fact.
func numericTarget(target dataset.Column) dataset.Column {
	return dataset.Column{
		Name:    target.Name,
		Ranged:  true,
		Lower:   -scoreRange,
		Upper:   scoreRange,
		Private: target.Private,
	}
}

// valuesFor returns the derived target's value of every code.
func valuesFor(class, classes int) []float64 {
	values := make([]float64, classes+1)
	for k := range classes {
		values[k] = -1
	}
	values[class] = 1
	return values
}

// deriveTarget returns the records with its last column, the target, derived for a
// class.
func deriveTarget(r mechanism.Records, class int) mechanism.Records {
	columns := r.Schema().Columns
	last := len(columns) - 1
	return r.Recode(
		last,
		numericTarget(columns[last]),
		valuesFor(class, len(columns[last].Categories)),
	)
}

// readsClasses reports whether a selector wants the target as it is: the
// classes, or because it looks at no record.
func readsClasses(s selection.Selector) bool {
	c, ok := s.(selection.Classed)
	return ok && c.NeedsClasses()
}

// releasesClasses reports whether a selector releases statistics of whole classes.
func releasesClasses(s selection.Selector) bool {
	if m, ok := SelectorNamed(s.Name()); ok {
		return m.NeedsClasses
	}
	return readsClasses(s)
}

// factsFor returns the facts for a selector. A numeric selector gets two classes as -1 and +1.
func factsFor(s selection.Selector, f selection.Facts) selection.Facts {
	if f.Target.Kind == dataset.Category && !readsClasses(s) {
		f.Target = numericTarget(f.Target)
	}
	return f
}

// viewFor returns the records as a selector reads them.
func viewFor(
	s selection.Selector,
	f selection.Facts,
	r mechanism.Records,
) mechanism.Records {
	if f.Target.Kind != dataset.Category || readsClasses(s) {
		return r
	}
	return deriveTarget(r, 1)
}

// classifierOf returns the trainer for that many classes: t itself if it supports classes, otherwise
// one-versus-rest. The cutoff of two classes is released with Gaussian noise, which a pure run omits.
func classifierOf(
	t method.Trainer,
	m method.Method,
	classes int,
	pure bool,
) method.Trainer {
	switch {
	case m.ClassesFrom > 0 && classes >= m.ClassesFrom:
		return t
	case classes == 2 && !m.Abstains && !pure: // its fixed distribution leaves no budget for a cutoff
		return withCutoff{oneVsRest{t}}
	}
	return oneVsRest{t}
}
