package targetencoding

import (
	"errors"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// Names of nodes and leaves in a plan.
const (
	// Node is the name of the node of the stage, below that of the model.
	Node        = "target-encoding"
	valuesLeaf  = "values"
	encodedNode = "encoded"
)

// The settings. They are public constants; docs/proofs/target-encoding.md, "How the settings were chosen".
const (
	// encodingShare is the part of the model's mu^2 that the sums by value take.
	encodingShare = .2
	// encodedReach is the bound of encoded numbers: standard deviations, over the records, from their mean.
	encodedReach = 3
	// encodingSteps is the number of candidate variances, each half of the previous one.
	encodingSteps = 20
)

// ErrUnsupported is returned for columns that cannot be encoded by the target.
var ErrUnsupported = errors.New("columns cannot be encoded by the target here")

// Kind describes the stage.
func Kind() stage.Kind {
	return stage.Kind{
		Node:       Node,
		Statistics: []mechanism.Statistic{encodingStatistic{}},
		New: func(d stage.Description) stage.Stage {
			if !slices.ContainsFunc(d.Schema.Columns, isEncoded) {
				return nil
			}
			return Stage{Description: d}
		},
	}
}

func isEncoded(c dataset.Column) bool {
	return c.TargetEncoded
}

// Stage is the stage of a run with a feature that is encoded by the target.
type Stage struct {
	stage.Passive
	stage.Description
}

// TwoClasses returns true: of two classes, one is the number -1 and the other +1.
func (x Stage) TwoClasses() bool {
	return true
}

// Check checks that columns can be encoded by the target.
func (x Stage) Check() []*fault.Error {
	var out []*fault.Error
	for _, c := range x.Schema.Columns {
		if !c.TargetEncoded {
			continue
		}
		field := fault.Child(fault.Child("data.columns", c.Name), "encode")
		if what, hint := x.refusal(c); what != "" {
			out = append(out, stage.Problem(ErrUnsupported, field, hint,
				"%s: a column cannot be encoded by the target %s", field, what))
		}
	}
	return out
}

// refusal returns the reason why a column cannot be target-encoded, and a remedy, or two empty strings.
func (x Stage) refusal(c dataset.Column) (what, hint string) {
	switch {
	case c.Name == x.Target:
		return "if it is the target", "remove it"
	case x.Budget.Relation == budget.SubstitutePrivateColumns:
		return "under the relation " + x.Budget.Relation.String(),
			"use add-remove or substitute, or remove it"
	case x.Budget.Delta == 0 && x.Budget.Epsilon > 0:
		return "with a delta of 0, because its noise is Gaussian", stage.DeltaHint
	case x.Classes() > 2:
		return "if there are more than two classes", "remove it"
	case x.Abstainer() != "":
		return "with method " + x.Abstainer() + ", which spends all of delta", "use another method"
	}
	return "", ""
}

// TrainerColumns returns the columns as a trainer sees them: those that are encoded are numbers of a known range.
func (x Stage) TrainerColumns(columns []dataset.Column) []dataset.Column {
	return asNumbers(columns)
}

// Trainer returns a trainer that gives t numbers in place of target-encoded columns.
func (x Stage) Trainer(t method.Trainer) method.Trainer {
	return trainer{t}
}

// asNumbers returns the columns as a trainer sees them: those that are encoded are numbers of a known range.
func asNumbers(columns []dataset.Column) []dataset.Column {
	out := slices.Clone(columns)
	for j := range out {
		if out[j].TargetEncoded {
			out[j] = encodedColumn(out[j], scaling.Range{
				Lower: -1,
				Upper: 1,
			})
		}
	}
	return out
}

// encodedColumn declares the numbers of a column.
func encodedColumn(c dataset.Column, r scaling.Range) dataset.Column {
	return dataset.Column{
		Name:   c.Name,
		Ranged: true,
		Lower:  r.Lower,
		Upper:  r.Upper,
	}
}
