package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/evaluate"
	"github.com/dptrain/dptrain/mechanism"
	"github.com/dptrain/dptrain/regression"
	"github.com/dptrain/dptrain/scaling"
	"github.com/dptrain/dptrain/selection"
	"github.com/dptrain/dptrain/svm"
)

// How a classification runs. The target is a category column whose categories
// are the declared classes; a record in none of them is coded one past the
// list. Every stage is handed that column, last. Two kinds of stages want
// numbers instead, and get the column that [numericTarget] derives, record by
// record: the selectors that do not say selection.Classed, and the trainers of
// numeric targets, which oneVsRest turns into classifiers. A trainer that reads
// classes is a case of classifierOf, and a selector that does says so itself.

// Errors of the plan of a classification. They depend on public facts only.
var (
	// ErrTask is returned for a task that is neither regression nor
	// classification.
	ErrTask = errors.New("pipeline: unknown task")
	// ErrClasses is returned when the target of a classification is not a
	// category column of 2 to evaluate.MaxClasses classes and nothing else.
	ErrClasses = errors.New("pipeline: the target of a classification must be a category column of 2 to 255 classes, without other")
	// ErrTwoClasses is returned when a stage that can tell two classes apart is
	// given more.
	ErrTwoClasses = errors.New("pipeline: this method takes two classes only")
)

// TwoClasses reports whether a selector or model method, by its name in a
// recipe, can only be run for a target of two classes: it ranks or fits one
// number.
func TwoClasses(method string) bool {
	switch method {
	case selection.Kendall{}.Name(), selection.SubLasso{}.Name(), selection.SIS{}.Name(), Tukey:
		return true
	}
	return false
}

// classification reports whether the target has classes.
func (p *Pipeline) classification() bool { return p.Task == regression.TaskClassification }

// task returns the task by its name.
func (p *Pipeline) task() string {
	if p.Task == "" {
		return regression.TaskRegression
	}
	return p.Task
}

// checkTarget validates the task and the kind of the target.
func (p *Pipeline) checkTarget(target int) error {
	switch p.Task {
	case "", regression.TaskRegression:
		if target < 0 || p.Schema.Columns[target].Kind != dataset.Numeric || p.Schema.Columns[target].Indicator {
			return fmt.Errorf("%w: %q", ErrTarget, p.Target)
		}
	case regression.TaskClassification:
		if target < 0 || p.Schema.Columns[target].Kind != dataset.Category || p.Schema.Columns[target].Other {
			return fmt.Errorf("%w: %q", ErrClasses, p.Target)
		}
		if n := len(p.Schema.Columns[target].Categories); n < 2 || n > evaluate.MaxClasses {
			return fmt.Errorf("%w: %d", ErrClasses, n)
		}
	default:
		return fmt.Errorf("%w: %q", ErrTask, p.Task)
	}
	return nil
}

// scoreRange is the declared range of a derived target.
const scoreRange = 1

// scoreLimit is where the scores of more than two classes end: well beyond
// their targets, so that the largest one still is.
const scoreLimit = 16

// numericTarget is the column that is derived from a target of classes: +1 for
// the records of one class, -1 for those of the others and 0 for those in no
// class. Its range is a public fact.
func numericTarget(target dataset.Column) dataset.Column {
	return dataset.Column{Name: target.Name, Ranged: true, Lower: -scoreRange, Upper: scoreRange}
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

// derive returns the view with its last column, the target, derived for a
// class.
func derive(v dataset.View, class int) dataset.View {
	columns := v.Schema().Columns
	last := len(columns) - 1
	return v.Recode(last, numericTarget(columns[last]), valuesFor(class, len(columns[last].Categories)))
}

// readsClasses reports whether a selector wants the target as it is: the
// classes, or because it looks at no record.
func readsClasses(s selection.Selector) bool {
	c, ok := s.(selection.Classed)
	return ok && c.NeedsClasses()
}

// factsFor returns the facts that a selector is told. With two classes a
// selector of numbers sees them as -1 and +1.
func factsFor(s selection.Selector, f selection.Facts) (selection.Facts, error) {
	if f.Target.Kind != dataset.Category || readsClasses(s) {
		return f, nil
	}
	if n := len(f.Target.Categories); n > 2 && TwoClasses(s.Name()) {
		return f, fmt.Errorf("%w: selection %q, and there are %d", ErrTwoClasses, s.Name(), n)
	}
	f.Target = numericTarget(f.Target)
	return f, nil
}

// viewFor returns the records as a selector reads them.
func viewFor(s selection.Selector, f selection.Facts, v dataset.View) dataset.View {
	if f.Target.Kind != dataset.Category || readsClasses(s) {
		return v
	}
	return derive(v, 1)
}

// classifierOf returns the trainer of a setting whose target has classes. A
// trainer that reads the classes itself has a case here; the others learn
// numbers.
func classifierOf(x setting) (trainer, error) {
	last := len(x.columns) - 1
	target := x.columns[last]
	classes := len(target.Categories)
	if classes > 2 {
		if TwoClasses(x.method) {
			return nil, fmt.Errorf("%w: model %q, and there are %d", ErrTwoClasses, x.method, classes)
		}
		if x.method == JointGram {
			return classGram{adassp.ClassGram{Columns: x.columns, Relation: x.relation}}, nil
		}
	}
	switch x.method {
	case BRC:
		return x.brc()
	case SVM:
		return machine{svm.SVM{Columns: x.columns}, x.atLeast}, nil
	case Logistic:
		return x.logistic()
	}
	x.columns, x.derived = append(x.columns[:last:last], numericTarget(target)), true
	r, err := regressorOf(x)
	t := oneVsRest{regressor: r, target: target}
	if classes == 2 && !MayAbstain(x.method) { // its law leaves no budget for more
		return withCutoff{t}, err
	}
	return t, err
}

// oneVsRest is a classifier made of models of numbers: one of -1 and +1 for two
// classes, else one for each class against the others.
type oneVsRest struct {
	regressor
	target dataset.Column
}

// classNode is the name of the node of a class.
func classNode(k int) string { return "class-" + strconv.Itoa(k+1) }

// Plan prices the fits: with L > 2 classes each has 1/L of the budget.
func (t oneVsRest) Plan() (budget.Node, error) {
	node, err := t.regressor.Plan()
	classes := len(t.target.Categories)
	if err != nil || classes == 2 {
		return node, err
	}
	nodes := make([]budget.Node, classes)
	for k := range nodes {
		nodes[k] = budget.Seq(classNode(k), node).Scaled(1 / float64(classes))
	}
	return budget.Seq("classes", nodes...), nil
}

// Run trains; see [trainer].
func (t oneVsRest) Run(ctx context.Context, s *mechanism.Session, v dataset.View, ranges []scaling.Range) (*fitted, error) {
	classes := len(t.target.Categories)
	out := &regression.Classifier{Target: t.target.Name, Classes: t.target.Categories}
	if classes == 2 {
		fit, err := t.regressor.Run(ctx, s, derive(v, 1), ranges)
		if err != nil {
			return nil, err
		}
		saturate(fit.Linear)
		out.Scores = []regression.Model{fit.Model}
		return &fitted{classifier: out, spreads: [][]regression.Spread{fit.Spreads}}, nil
	}
	s = s.Sub("classes")
	var spreads [][]regression.Spread
	for k := range classes {
		fit, err := t.regressor.Run(ctx, s.Sub(classNode(k)), derive(v, k), ranges)
		if err != nil {
			return nil, err
		}
		out.Scores = append(out.Scores, scoreOf(fit))
		spreads = append(spreads, fit.Spreads)
	}
	return &fitted{classifier: out, spreads: spreads}, nil
}

// scoreOf returns a fit as one of several scores: clamped to [-1, 1], those of
// two sure classes would be equal.
func scoreOf(fit *adassp.Fit) regression.Model {
	saturate(fit.Linear)
	fit.Linear.Lower, fit.Linear.Upper = -scoreLimit, scoreLimit
	return fit.Model
}

// classGram is the joint noisy Gram trainer for more than two classes.
type classGram struct{ adassp.ClassGram }

// Run trains; see [trainer].
func (t classGram) Run(ctx context.Context, s *mechanism.Session, v dataset.View, ranges []scaling.Range) (*fitted, error) {
	fits, err := t.ClassGram.Run(ctx, s, v, ranges)
	if err != nil {
		return nil, err
	}
	target := t.Columns[len(t.Columns)-1]
	out := &regression.Classifier{Target: target.Name, Classes: target.Categories}
	var spreads [][]regression.Spread
	for _, fit := range fits {
		out.Scores = append(out.Scores, scoreOf(fit))
		spreads = append(spreads, fit.Spreads)
	}
	return &fitted{classifier: out, scale: shares, spreads: spreads}, nil
}
