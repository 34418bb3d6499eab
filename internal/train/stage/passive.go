package stage

import (
	"context"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// Passive is a stage that does nothing. Other stages embed it and have methods of their own in place of some of its.
type Passive struct{}

var _ Stage = Passive{}

// Check returns no mistakes.
func (Passive) Check() []*fault.Error {
	return nil
}

// TwoClasses returns false.
func (Passive) TwoClasses() bool {
	return false
}

// Facts returns no facts.
func (Passive) Facts() []Fact {
	return nil
}

// Recoding returns nil.
func (Passive) Recoding() *Recoding {
	return nil
}

// PlanFacts returns f.
func (Passive) PlanFacts(
	f selection.Facts,
	_ func(selection.Facts) bool,
) selection.Facts {
	return f
}

// Spends returns 0.
func (Passive) Spends(float64) float64 {
	return 0
}

// Around returns no nodes.
func (Passive) Around(_, rest float64) (before, after []budget.Node, left float64) {
	return nil, nil, rest
}

// Branches returns no branches.
func (Passive) Branches() (node string, names []string) {
	return "", nil
}

// InBranches returns the steps in a sequence.
func (Passive) InBranches(
	name string,
	steps []budget.Node,
	_ float64,
) budget.Node {
	return budget.Sequence(name, steps...)
}

// Metrics returns the usual node.
func (Passive) Metrics(metric budget.Node) []budget.Node {
	return []budget.Node{metric}
}

// TrainerColumns returns the columns.
func (Passive) TrainerColumns(columns []dataset.Column) []dataset.Column {
	return columns
}

// Trainer returns the trainer.
func (Passive) Trainer(t method.Trainer) method.Trainer {
	return t
}

// Gathers returns false.
func (Passive) Gathers(mechanism.Capabilities) bool {
	return false
}

// CheckEngine returns "".
func (Passive) CheckEngine(mechanism.Capabilities) string {
	return ""
}

// BeforeTraining returns the session and the records.
func (Passive) BeforeTraining(
	_ context.Context,
	_ *Run,
	s *mechanism.Session,
	train mechanism.Records,
) (*mechanism.Session, mechanism.Records, error) {
	return s, train, nil
}

// AfterTraining does nothing.
func (Passive) AfterTraining(
	context.Context,
	*Run,
	*mechanism.Session,
	*mechanism.Session,
	*method.Fit,
) error {
	return nil
}

// Warnings returns no warnings.
func (Passive) Warnings(Findings, string) []Warning {
	return nil
}
