package pipeline

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/boosting"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/logistic"
	"github.com/dptrain/dptrain/prototypes"
	"github.com/dptrain/dptrain/selection"
	"github.com/dptrain/dptrain/svm"
)

// The automatic choice of the model looks at a public fact alone; see
// autoMethod. A run that names no selector either spends DefaultCountShare of epsilon
// on a lower bound n_lo of the number of training records, and with it chooses
// between the two branches of the plan: a regression whether to choose
// features, a classification of two classes whether to learn curves. Each
// branch is priced for (epsilon - what n_lo costs, delta): whatever the choice,
// basic composition covers it (docs/proofs/auto.md, "The rule").
const (
	allBranch      = "all"      // every feature
	kendallBranch  = "kendall"  // selection.DefaultK features
	logisticBranch = "logistic" // every feature, one linear score of two classes
	countLeaf      = "count"
	// DefaultCountShare is the share of epsilon that n_lo costs.
	DefaultCountShare = .03
	// DefaultCountFailure is the probability with which n_lo may exceed the true number. It
	// concerns the quality of the choice, not privacy.
	DefaultCountFailure = .01
	// mostCountFailure is the largest one: at it n_lo is the noisy number itself.
	mostCountFailure = .5
	// fewRecords is the strength n_lo mu/w below which features are chosen
	// first: mu is the model's, so that 1/mu is about the number of records that
	// its noise hides, and w the weight of the candidates. docs/proofs/auto.md,
	// "Why this rule", has the figures.
	fewRecords = 20
	// fewForCurves is the same strength below which two classes are told apart
	// by a linear score.
	fewForCurves = 50
	// categoryWeight is what a category weighs, where a number weighs 1: it has
	// no curve, and records of one category do not depend on another's.
	categoryWeight = .3
)

// autoMethod is the trainer of a run that does not name one. Under tight
// composition curves cost next to nothing: many small releases are worth as much
// as a large one. Under basic composition they are not. A number, and two classes,
// have a kernel beside them. Without a delta only few methods can run. Curves of one class against the rest pay for every class;
// prototypes share one softmax. classes is 0 for a number.
func (p *Pipeline) autoMethod(classes int) method.Trainer {
	switch {
	case p.pure() && p.classification() && p.Budget.Relation == budget.SubstitutePrivateColumns:
		return boosting.BRC{}
	case p.pure() && p.classification():
		return svm.SVM{}
	case p.pure():
		return adassp.JointGram{}
	case p.Budget.Composition == budget.Basic || p.Budget.Relation == budget.SubstitutePrivateColumns:
		return adassp.JointGram{}
	case classes > 2:
		return prototypes.Prototypes{}
	case p.additive:
		return boosting.Additive{}
	}
	return boosting.Kernel{}
}

// WithoutKernel returns the pipeline with [boosting.Additive] in the place of
// [boosting.Kernel], named or chosen by the run: the same but for the terms of all
// columns together, and much faster. It also reports whether that is another pipeline. A
// candidate of a search stays as it is where it would become the same as another.
func (p *Pipeline) WithoutKernel() (*Pipeline, bool) {
	q := p.clone()
	q.additive = true
	found := false
	replace := func(m *method.Trainer) {
		if *m == method.Trainer(boosting.Kernel{}) {
			*m, found = boosting.Additive{}, true
		}
		found = found || *m == nil && p.mayBeKernel()
	}
	if q.Search == nil {
		replace(&q.Model)
		return q, found
	}
	for i, c := range q.Search.Candidates {
		c.Model = boosting.Additive{}
		if !slices.ContainsFunc(q.Search.Candidates, func(other Candidate) bool { return reflect.DeepEqual(other, c) }) {
			replace(&q.Search.Candidates[i].Model)
		}
	}
	return q, found
}

// mayBeKernel reports whether a run that names no model may train [boosting.Kernel].
func (p *Pipeline) mayBeKernel() bool {
	classes := 0
	if j := p.Schema.Index(p.Target); p.classification() && j >= 0 {
		classes = p.classesOf(p.Schema.Columns[j])
		if p.Schema.Columns[j].Found && !p.PaddedClasses {
			classes = leastClasses // there may be so few
		}
	}
	return p.autoMethod(classes) == method.Trainer(boosting.Kernel{})
}

// automatic reports whether the run chooses its stages by itself. A regression
// with no more candidates than would be chosen has nothing to choose; nor has a
// classification whose many small releases cost too much, for curves and scores
// alike. More than two classes keep the method of [Pipeline.autoMethod].
func (p *Pipeline) automatic(f selection.Facts) bool {
	switch {
	case p.Budget.Relation == budget.SubstitutePrivateColumns || p.Selector != nil || p.Model != nil || p.pure():
		return false // without a delta the strength of a model is no mu
	case p.classification():
		chosen := p.autoMethod(len(f.Target.Categories))
		return len(f.Target.Categories) == 2 && (chosen == method.Trainer(boosting.Kernel{}) || chosen == method.Trainer(boosting.Additive{}))
	}
	return len(f.Columns) > selection.DefaultK
}

// branches returns the ways in which the training part may run: one, or two
// of which n_lo chooses one, the second where records are few.
func (p *Pipeline) branches(f selection.Facts) []branch {
	model := p.Model
	if model == nil {
		model = p.autoMethod(len(f.Target.Categories))
	}
	if p.automatic(f) {
		model = p.pureForm(model)
		all := branch{name: allBranch, selector: selection.None{}, trainer: model}
		if p.classification() {
			return []branch{all, {name: logisticBranch, selector: selection.None{}, trainer: logistic.Logistic{}}}
		}
		return []branch{all, {name: kendallBranch, selector: selection.Kendall{K: selection.DefaultK}, trainer: model}}
	}
	b := branch{name: trainNode, selector: p.Selector, trainer: p.pureForm(model), fallback: p.pureForm(p.Fallback)}
	if b.selector == nil {
		b.selector = selection.None{}
	}
	return []branch{b}
}

// IsBranch reports whether a name in a report is that of a branch of a run that chooses
// by itself. A branch that was not taken has been paid for and released nothing.
func IsBranch(name string) bool {
	return name == allBranch || name == kendallBranch || name == logisticBranch
}

// choose releases n_lo and returns the branch it points to with its session.
// s is the session of the training part.
func (p *Plan) choose(s *mechanism.Session, f selection.Facts, records int) (branch, *mechanism.Session, error) {
	if len(p.branches) == 1 {
		return p.branches[0], s, nil
	}
	low, err := p.of.releaseCount(s, f, records)
	if err != nil {
		return branch{}, nil, err
	}
	b := p.pick(low, f.Columns)
	if p.forced != nil {
		b = *p.forced
	}
	return b, s.Sub(b.name), nil
}

// pick is the rule of docs/proofs/auto.md, "The rule".
func (p *Plan) pick(low int, columns []dataset.Column) branch {
	if float64(low)*p.modelMu(allBranch) < p.fewest(columns) {
		return p.branches[1]
	}
	return p.branches[0]
}

// fewest is the strength below which the second branch is taken. Curves take a column of many values for one
// of few. A linear score keeps each value an entry, and still is better where these are many.
func (p *Plan) fewest(columns []dataset.Column) float64 {
	if p.branches[1].name == logisticBranch {
		return fewForCurves * weight(asNumbers(columns))
	}
	return fewRecords * weight(linear.MostEntries(asNumbers(columns)))
}

// modelMu is the mu, for one record, of all that the model of a branch releases; the smallest of alternatives, as of a run
// in which columns that declare nothing are words, or of numbers of classes.
func (p *Plan) modelMu(name string) float64 {
	squares := map[string]float64{}
	for _, l := range p.Leaves() {
		if l.Place.Stage == modelNode && strings.HasPrefix(l.Path, p.root+"/"+name+"/") {
			squares[l.Place.Branch] += float64(l.Law.Draws) * l.Law.Mu * l.Law.Mu
		}
	}
	if len(squares) == 0 {
		return 0
	}
	return math.Sqrt(slices.Min(slices.Collect(maps.Values(squares)))) / float64(p.Target().Unit.Records())
}

// weight is what columns ask of the records, in numbers.
func weight(columns []dataset.Column) float64 {
	sum := 0.
	for _, s := range scaling.NewEncoder(columns, nil).Slots() {
		if s.Category == scaling.NumberSlot {
			sum++
		} else { // an indicator of missing cells has no curve either
			sum += categoryWeight
		}
	}
	return sum
}

// oneOf joins the branches' trees. A public number of records chooses for nothing.
func (p *Pipeline) oneOf(f selection.Facts, trees []budget.Node) budget.Node {
	switch {
	case len(trees) == 1:
		return trees[0]
	case publicCount(f):
		return budget.OneOf(trainNode, budget.Seq(countLeaf), trees...).As(budget.Part)
	}
	count := budget.LaplaceLeaf(countLeaf, p.countShare(), 1).Of(mechanism.StatCount).As(budget.Stage)
	return budget.OneOf(trainNode, count, trees...).As(budget.Part)
}
