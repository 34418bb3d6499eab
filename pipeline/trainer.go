package pipeline

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/boosting"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
	"github.com/dptrain/dptrain/regression"
	"github.com/dptrain/dptrain/scaling"
)

// The names of the model methods, as recipes use them.
const (
	// Auto chooses the method from public facts: BoostedAdditive under tight
	// composition, JointGram under basic; for two classes, Logistic where a noisy
	// count says that records are few.
	Auto = "auto"
	// JointGram is the joint noisy Gram trainer (package adassp).
	JointGram = "joint-gram"
	// AdaSSP is the trainer of Wang 2018, faithful (package adassp).
	AdaSSP = "adassp"
	// BoostedAdaSSP is the trainer of Tang et al. (package boosting).
	BoostedAdaSSP = "boosted-adassp"
	// BoostedAdditive is the additive booster (package boosting).
	BoostedAdditive = "boosted-additive"
	// Tukey is the Tukey mechanism of Amin et al. (package tukey). It may
	// abstain.
	Tukey = "tukey"
	// BRC is boosting with random classifiers (package boosting), for classes.
	BRC = "brc"
	// SVM is the output-perturbed support vector machine (package svm), for
	// classes.
	SVM = "svm"
	// Logistic is logistic regression by private gradients (package svm), for
	// classes.
	Logistic = "logistic"
)

// Methods lists the model methods of a task, [Auto] excepted.
func Methods(task string) []string {
	numbers := []string{JointGram, AdaSSP, BoostedAdaSSP, BoostedAdditive, Tukey}
	if task == regression.TaskClassification {
		return append(numbers, BRC, SVM, Logistic)
	}
	return numbers
}

// MayAbstain reports whether a run of a method may end without a model.
func MayAbstain(method string) bool { return method == Tukey }

// The part of epsilon and delta that the Tukey mechanism takes: its law does
// not scale with the rest, which is calibrated to what it leaves.
const (
	tukeyAlone  = 1 - countShare // where nothing else but n_lo is released
	tukeyFirst  = .85            // beside ranges and a choice of features
	tukeyBacked = .55            // beside a fallback too
	tukeyDelta  = .9
)

// setting is what a trainer is made of.
type setting struct {
	method         string
	columns        []dataset.Column // the features and, last, the target
	epsilon, delta float64          // of a law that does not scale
	atLeast        int              // released lower bound of the training records
	buckets        int
	relation       budget.Relation
	form           string // of BRC
	rounds         int    // of BRC
	derived        bool   // the target is -1 and +1, for classes
}

// setting returns that of a branch's model for the given columns.
func (p *Pipeline) setting(b branch, columns []dataset.Column) setting {
	x := setting{method: b.method, columns: columns, epsilon: tukeyAlone, delta: tukeyDelta * p.Budget.Delta, buckets: p.Buckets, relation: p.Budget.Relation, form: b.form, rounds: p.Rounds}
	switch {
	case b.fallback != "":
		x.epsilon = tukeyBacked
	case b.others:
		x.epsilon = tukeyFirst
	}
	x.epsilon *= p.Budget.Epsilon
	return x
}

// trainer is what a model method does.
type trainer interface {
	// Plan prices the releases from the columns alone.
	Plan() (budget.Node, error)
	// Run trains; s is the session of the parent of the planned node. The last
	// column of v is the target, of classes where it has classes.
	Run(ctx context.Context, s *mechanism.Session, v dataset.View, ranges []scaling.Range) (*fitted, error)
}

// fitted is what a trainer learned: one of the two.
type fitted struct {
	fit        *adassp.Fit            // regression
	classifier *regression.Classifier // classification
	counts     *scoreCounts           // of a classifier whose cutoff was released
	scale      scoreScale             // of another
	spreads    [][]regression.Spread  // of every score of the classifier
}

// importances returns those of the columns of the model; nil where its method
// releases nothing about how they are spread over the records.
func (f *fitted) importances() []regression.Importance {
	spreads := f.spreads
	if f.classifier == nil {
		spreads = [][]regression.Spread{f.fit.Spreads}
	}
	if len(spreads) == 0 {
		return nil
	}
	return regression.Importances(f.model().Inputs(), spreads, importanceLevel)
}

// importanceLevel is the confidence level of the intervals of importances.
const importanceLevel = .95

// model returns the model.
func (f *fitted) model() regression.Model {
	if f.classifier != nil {
		return f.classifier
	}
	return f.fit.Model
}

// promise writes what the run guarantees into the model.
func (f *fitted) promise(g *regression.Guarantee) {
	if f.classifier != nil {
		f.classifier.Guarantee = g
		return
	}
	f.fit.Linear.Guarantee = g
}

// trainerOf returns the trainer of a setting.
func trainerOf(x setting) (trainer, error) {
	if x.columns[len(x.columns)-1].Kind == dataset.Category {
		return classifierOf(x)
	}
	r, err := regressorOf(x)
	return ofNumbers{r}, err
}

// regressor is a trainer of a numeric target.
type regressor interface {
	Plan() (budget.Node, error)
	Run(ctx context.Context, s *mechanism.Session, v dataset.View, ranges []scaling.Range) (*adassp.Fit, error)
}

// ofNumbers makes a regressor a trainer.
type ofNumbers struct{ regressor }

// Run trains; see [trainer].
func (t ofNumbers) Run(ctx context.Context, s *mechanism.Session, v dataset.View, ranges []scaling.Range) (*fitted, error) {
	fit, err := t.regressor.Run(ctx, s, v, ranges)
	if err != nil {
		return nil, err
	}
	saturate(fit.Linear)
	return &fitted{fit: fit}, nil
}

// regressorOf returns the regressor of a setting.
func regressorOf(x setting) (regressor, error) {
	switch x.method {
	case JointGram:
		return adassp.JointGram{Columns: x.columns, Relation: x.relation}, nil
	case AdaSSP:
		return adassp.AdaSSP{Columns: x.columns}, nil
	case BoostedAdaSSP:
		return boosting.BoostedAdaSSP{Columns: x.columns}, nil
	case BoostedAdditive:
		return boosting.Additive{Columns: x.columns, Classes: x.derived}, nil
	case Tukey:
		return x.tukey(), nil
	}
	return nil, fmt.Errorf("%w: %q", ErrModel, x.method)
}
