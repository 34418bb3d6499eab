package pipeline

import (
	"fmt"

	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/boosting"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/method"
	"github.com/dptrain/dptrain/regression"
	"github.com/dptrain/dptrain/svm"
	"github.com/dptrain/dptrain/tukey"
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

// factsOf returns what the model of a branch is told about the given columns.
func (p *Pipeline) factsOf(b branch, columns []dataset.Column) method.Facts {
	epsilon := tukeyAlone
	switch {
	case b.fallback != "":
		epsilon = tukeyBacked
	case b.others:
		epsilon = tukeyFirst
	}
	return method.Facts{Columns: columns, Relation: p.Budget.Relation, Epsilon: epsilon * p.Budget.Epsilon, Delta: tukeyDelta * p.Budget.Delta}
}

// importanceLevel is the confidence level of the intervals of importances.
const importanceLevel = .95

// importances returns those of the columns of a model; nil where its method
// releases nothing about how they are spread over the records.
func importances(f *method.Fit) []regression.Importance {
	if len(f.Spreads) == 0 {
		return nil
	}
	return regression.Importances(f.Model.Inputs(), f.Spreads, importanceLevel)
}

// named returns the trainer of a method.
func (p *Pipeline) named(name, form string) (method.Trainer, error) {
	switch name {
	case JointGram:
		return adassp.JointGram{}, nil
	case AdaSSP:
		return adassp.AdaSSP{}, nil
	case BoostedAdaSSP:
		return boosting.BoostedAdaSSP{}, nil
	case BoostedAdditive:
		return boosting.Additive{}, nil
	case Tukey:
		return tukey.Tukey{Buckets: p.Buckets}, nil
	case BRC:
		return boosting.BRC{Rounds: p.Rounds, Laplace: form == BRCLaplace, AsPublished: form == BRCPaper}, nil
	case SVM:
		return svm.SVM{}, nil
	case Logistic:
		return svm.Logistic{Output: form == LogisticOutput}, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrModel, name)
}

// trainerFor returns the trainer of a method for a target: a trainer of numbers tells
// classes apart one against the rest.
func (p *Pipeline) trainerFor(name, form string, target dataset.Column) (method.Trainer, error) {
	t, err := p.named(name, form)
	if err != nil {
		return nil, err
	}
	if target.Kind == dataset.Category {
		return classifierOf(t, len(target.Categories))
	}
	if ReadsClasses(name) {
		return nil, fmt.Errorf("%w: %q", ErrModel, name)
	}
	return t, nil
}

// ReadsClasses reports whether a method is for classification only.
func ReadsClasses(name string) bool { return name == BRC || name == SVM || name == Logistic }
