package pipeline

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/boosting"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
	"github.com/dptrain/dptrain/scaling"
)

// The names of the model methods, as recipes use them.
const (
	// Auto chooses the method from public facts; it is JointGram.
	Auto = "auto"
	// JointGram is the joint noisy Gram trainer (package adassp).
	JointGram = "joint-gram"
	// AdaSSP is the trainer of Wang 2018, faithful (package adassp).
	AdaSSP = "adassp"
	// BoostedAdaSSP is the trainer of Tang et al. (package boosting).
	BoostedAdaSSP = "boosted-adassp"
	// BoostedAdditive is the additive booster (package boosting).
	BoostedAdditive = "boosted-additive"
)

// Methods lists the model methods, [Auto] excepted.
func Methods() []string { return []string{JointGram, AdaSSP, BoostedAdaSSP, BoostedAdditive} }

// trainer is what a model method does.
type trainer interface {
	// Plan prices the releases from the columns alone.
	Plan() (budget.Node, error)
	// Run trains; s is the session of the parent of the planned node.
	Run(ctx context.Context, s *mechanism.Session, v dataset.View, ranges []scaling.Range) (*adassp.Fit, error)
}

// trainerOf returns the trainer of a method for the features and, last, the
// target.
func trainerOf(method string, columns []dataset.Column) (trainer, error) {
	switch method {
	case JointGram:
		return adassp.JointGram{Columns: columns}, nil
	case AdaSSP:
		return adassp.AdaSSP{Columns: columns}, nil
	case BoostedAdaSSP:
		return boosting.BoostedAdaSSP{Columns: columns}, nil
	case BoostedAdditive:
		return boosting.Additive{Columns: columns}, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrModel, method)
}
