package method

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// ErrAbstained is wrapped by the error of a fit without a model. The abstention depends on releases only.
var ErrAbstained = errors.New("the mechanism abstained")

// A Trainer is a method with its settings. It is a plain value that describes
// itself: two that are equal train alike.
type Trainer interface {
	// Name returns the method's name, as recipes have it.
	Name() string
	// Plan returns the node that a fit spends. No record is read.
	Plan(f Facts) (budget.Node, error)
	// Fit trains on the records of d. s is the session of the parent of the node
	// that Plan returned. The columns of d may be fewer than the planned ones.
	Fit(ctx context.Context, s *mechanism.Session, d Data) (*Fit, error)
}

// A Counter is a trainer that uses an estimate of the number of records: it reads Data.AtLeast if NeedsCount
// returns true.
type Counter interface {
	Trainer
	NeedsCount() bool
}

// A Gatherer is a trainer that may need all records in one place.
type Gatherer interface {
	Trainer
	Gathers() bool
}

// A Bucketed trainer or selector that gathers needs the records of one bucket in one place at a time, if InBuckets
// returns true: it asks for them by [mechanism.Records.Buckets].
type Bucketed interface {
	InBuckets() bool
}

// A Ranked selector that gathers needs no more than [mechanism.Maker.NewKendallOver] if ByRanks returns true.
type Ranked interface {
	ByRanks() bool
}

// An Abstainer is a trainer that may end with [ErrAbstained]. The distribution of its release does not scale:
// it spends Facts.Epsilon and Facts.Delta.
type Abstainer interface {
	Trainer
	// Records returns the number of training records that gives a model with a probability of about 95%; 0 for
	// facts that Plan rejects.
	Records(f Facts) int
}

// Facts are the public facts that a trainer is planned from.
type Facts struct {
	// Columns are the features in order and then the target: a number, or for a
	// trainer that reads classes a category column.
	Columns []dataset.Column
	// Relation is the relation of the run.
	Relation budget.Relation
	// Epsilon and Delta are the budget of a release with a fixed distribution.
	Epsilon, Delta float64
	// Derived reports that the target is a number, -1 or +1, that represents classes.
	Derived bool
	// LabelOnly reports that the run protects its target and no other column: every feature is public. It is a fact of
	// the whole run, so it is the same for a plan and for the fewer columns of a fit.
	LabelOnly bool
}

// Target returns the last column.
func (f Facts) Target() dataset.Column {
	return f.Columns[len(f.Columns)-1]
}

// CheckLabelOnly returns an error unless the columns and the relation are those of a run that protects its target only.
func (f Facts) CheckLabelOnly(r budget.Relation) error {
	last := len(f.Columns) - 1
	if f.LabelOnly && r == f.Relation && ProtectsTargetOnly(r, f.Columns[:last], f.Columns[last]) {
		return nil
	}
	return fmt.Errorf("%w: exact moments of features need a run that protects its target only",
		mechanism.ErrRelation)
}

// ProtectsTargetOnly reports whether a run under a relation protects the target but no feature.
func ProtectsTargetOnly(
	r budget.Relation,
	features []dataset.Column,
	target dataset.Column,
) bool {
	return ProtectsTarget(r, target) && !slices.ContainsFunc(features, func(c dataset.Column) bool {
		return c.Private
	})
}

// ProtectsTarget reports whether a run under a relation protects listed columns only, the target among them.
func ProtectsTarget(r budget.Relation, target dataset.Column) bool {
	return r == budget.SubstitutePrivateColumns && target.Private
}

// PublicTarget reports whether a run under a relation protects listed columns only, and the target is not among them.
func PublicTarget(r budget.Relation, target dataset.Column) bool {
	return r == budget.SubstitutePrivateColumns && !target.Private
}

// Data holds the records of a fit and public facts about them. Facts are those of the plan, except that Columns
// are the columns of Records.
type Data struct {
	Facts
	Records mechanism.Records
	// Ranges has one entry per column. That of a target of classes is not read.
	Ranges []scaling.Range
	// AtLeast is a released lower bound of the number of records, or the number
	// itself if it is public; 0 for a trainer that is no [Counter]. A bound that is
	// wrong costs accuracy only.
	AtLeast int
}

// A Fit is the result of a trainer. All of it is public.
type Fit struct {
	// Model is a [*regression.Classifier] if the target has classes.
	Model regression.Model
	// TargetMean is the noisy mean of a numeric target over the (weighted) training
	// records, within the target's range.
	TargetMean float64
	// Spreads holds, for each score of the model (one for a numeric target), the spread over the records of the
	// contribution of each feature; nil if unknown.
	Spreads [][]regression.Spread
	// Scale describes the scores of a classifier if Counts is nil.
	Scale Scale
	// Counts are the released counts of the scores of two classes, or nil.
	Counts *ScoreCounts
}

// Linear returns the linear part of the model of a numeric target; nil for classes.
func (f *Fit) Linear() *regression.Linear {
	return regression.LinearPart(f.Model)
}

// A Scale is the scale of the scores of a classifier.
type Scale int

// The scales.
const (
	Signs   Scale = iota // of least squares on -1 and +1
	Shares               // of least squares on 0 and 1
	LogOdds              // margins and log odds
)

// ScoreLimit is where the scores of more than two classes end that a trainer fits by
// least squares: well beyond their targets, so that the largest one still is.
const ScoreLimit = 16

// ScoreCounts are released numbers of training records by class and score: those of
// the first class in equal bins of the scores, and then those of the second.
type ScoreCounts struct {
	Counts []float64
	Sigma  float64 // standard deviation of the noise in each
	Cutoff float64 // that was read from them
}
