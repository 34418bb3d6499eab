package transform

import (
	"errors"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// Node names.
const (
	// Node is the name of the node of the errors in a plan.
	Node            = "way-back"
	errorsLeaf      = "errors"
	transformedNode = "r2-transformed"
)

// The settings. They are public constants; docs/proofs/transform.md, "How the settings were chosen".
const (
	// DefaultShare is the share of mu^2 of the training part that the errors take.
	DefaultShare = .03
	// transformedShare is the share of mu^2 of the held-out part that R² of the transformed target takes.
	transformedShare = .25
	// errorWeight is the weight of the sums that are large in any case.
	errorWeight = .5
	errorRidge  = 1
	// errorReach is where errors are cut, in half widths of the range of the transformed target.
	errorReach = .75
)

// mostLogError is where errors of logarithms are cut: at a factor of four.
var mostLogError = math.Log(4)

// Fact names the transform among the facts that are not protected.
const Fact = "transform of the target"

// ErrTarget is returned for a transform of a target that cannot have it.
var ErrTarget = errors.New("the target cannot be transformed so")

// Kind describes the stage.
func Kind() stage.Kind {
	return stage.Kind{
		Node:       Node,
		Share:      "transform",
		Absent:     "the target is not transformed",
		Statistics: []mechanism.Statistic{errorStatistic{}},
		New: func(d stage.Description) stage.Stage {
			if d.Transform == rescale.None {
				return nil
			}
			return Stage{Description: d}
		},
	}
}

// Stage is the stage of a run with a transformed target.
type Stage struct {
	stage.Passive
	stage.Description
}

// Check checks that the target can be transformed.
func (x Stage) Check() []*fault.Error {
	c := x.TargetColumn()
	wrong := func(hint, format string, args ...any) []*fault.Error {
		field := fault.Child(fault.Child("data.columns", x.Target), "transform")
		return []*fault.Error{stage.Problem(ErrTarget, field, hint, format, args...)}
	}
	switch {
	case x.Transform != rescale.Log && x.Transform != rescale.Sqrt:
		return wrong(
			"it is log, sqrt or none",
			"%v: unknown transform %q",
			ErrTarget,
			x.Transform,
		)
	case x.Classification:
		return wrong("remove it", "a transform needs a numeric target, but this one has classes")
	case c.Ranged && x.Transform == rescale.Log && !(c.Lower > 0):
		return wrong(
			"numbers below the lower end are set to it",
			"the logarithm of the target needs a lower end above 0, not %v",
			c.Lower,
		)
	case c.Ranged && x.Transform == rescale.Sqrt && !(c.Lower >= 0):
		return wrong(
			"numbers below the lower end are set to it",
			"the root of the target needs a lower end of at least 0, not %v",
			c.Lower,
		)
	case x.Budget.Delta == 0 && x.Budget.Epsilon > 0:
		return wrong(
			"give a delta, such as 1e-6",
			"a transform of the target needs a delta: the size of the errors is released with Gaussian noise",
		)
	}
	return nil
}

// Facts lists the transform.
func (x Stage) Facts() []stage.Fact {
	return []stage.Fact{{
		Name:  Fact,
		Value: string(x.Transform),
	}}
}

// Recoding returns the transform of the target. The bounds of its range are public, and are transformed like cells.
func (x Stage) Recoding() *stage.Recoding {
	c := x.TargetColumn()
	rule := rescale.Rule{
		Transform: x.Transform,
		Ranged:    c.Ranged,
		Lower:     c.Lower,
	}
	if c.Ranged {
		c.Lower, c.Upper = rule.Apply(c.Lower), rule.Apply(c.Upper)
	}
	if c.HasMissing {
		c.Missing = rule.Apply(c.Missing)
	}
	return &stage.Recoding{
		Column: x.Schema.Index(x.Target),
		To:     c,
		Apply:  rule.Apply,
	}
}

// Spends returns the share of the errors.
func (x Stage) Spends(asked float64) float64 {
	if asked == 0 {
		return DefaultShare
	}
	return asked
}

// Around returns the node of the errors after the training.
func (x Stage) Around(asked, rest float64) (before, after []budget.Node, left float64) {
	share := x.Spends(asked)
	node := budget.Sequence(Node,
		budget.GaussianLeaf(errorsLeaf, share, 1).WithStatistic(mechanism.StatSums)).
		WithRole(budget.RoleStage)
	return nil, []budget.Node{node}, rest - share
}

// Metrics returns the held-out metric of a transformed target: in its own units, and in transformed ones, which is not
// by group.
func (x Stage) Metrics(metric budget.Node) []budget.Node {
	again := evaluate.Regression{}.Plan().Scaled(transformedShare)
	again.Name = transformedNode
	return []budget.Node{metric.Scaled(1 - transformedShare), again}
}

// Gathers reports whether the engine cannot transform cells where they are.
func (x Stage) Gathers(c mechanism.Capabilities) bool {
	return c.Mapped == nil
}

// CheckEngine describes an engine that cannot transform cells where they are.
func (x Stage) CheckEngine(c mechanism.Capabilities) string {
	if c.Mapped == nil {
		return "the target is transformed; read the table into memory"
	}
	return ""
}
