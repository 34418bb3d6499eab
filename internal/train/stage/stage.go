// Package stage defines the stages of a run that are not part of its training: steps that examine columns before the
// training, change the columns of a trainer, or complete the model afterwards.
//
// A stage is a package that implements [Stage] and describes itself by a [Kind]. Package pipeline has a list of kinds
// and knows stages by this interface only.
package stage

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// A Kind describes a stage for plans, shares of the budget and messages.
type Kind struct {
	// Node is the name of the node of the stage in a plan.
	Node string
	// Share is the name of its share of the training budget in a recipe; "" for a stage that shares that of the model.
	Share string
	// Absent explains why the share has no effect in a run without the stage.
	Absent string
	// Statistics are those that the stage sums over records.
	Statistics []mechanism.Statistic
	// New returns the stage of a run, or nil for a run that does not need it.
	New func(Description) Stage
}

// A Description holds the public facts of a run from which its stages are made.
type Description struct {
	Schema         dataset.Schema
	Target         string // name of the target, which Schema may lack
	Transform      rescale.Transform
	Classification bool
	Budget         budget.Target
	// Holdout is the share of records in the held-out part; with 0 there is none.
	Holdout float64
	// Classes returns the number of classes, or the largest number where they are found; 0 for a target of numbers.
	Classes func() int
	// Abstainer returns the names of the methods of the run that spend all of delta; "" if there is none.
	Abstainer func() string
	// Search reports that the run has, or is, a try of a search. All tries see the same columns.
	Search bool
}

// TargetColumn returns the declaration of the target, or the zero value if the schema lacks it.
func (d Description) TargetColumn() dataset.Column {
	if j := d.Schema.Index(d.Target); j >= 0 {
		return d.Schema.Columns[j]
	}
	return dataset.Column{}
}

// A Stage is a stage of one run. [Passive] has the methods that most stages do not need.
type Stage interface {
	// Check returns the mistakes in the description of the run.
	Check() []*fault.Error
	// TwoClasses reports whether the stage supports no more than two classes.
	TwoClasses() bool
	// Facts lists the facts that the stage takes from the recipe, which the guarantee does not protect.
	Facts() []Fact

	// Recoding describes how the stage changes the cells of a column before any other step, or nil.
	Recoding() *Recoding
	// PlanFacts returns the facts from which the later steps are planned. fits reports whether rows of columns have room
	// in every way in which the run may train.
	PlanFacts(f selection.Facts, fits func(selection.Facts) bool) selection.Facts
	// Spends returns the share of the training budget that the stage takes, after the noisy count. asked is the share
	// that the recipe asks for; 0 leaves it to the stage.
	Spends(asked float64) float64
	// Around returns the nodes before and after the training, and the share of the budget that they leave of rest.
	Around(asked, rest float64) (before, after []budget.Node, left float64)
	// Branches returns the name of the node, and those of its branches, with which a stage within the training chooses
	// the steps that are paid for. A stage without such a choice returns no branches.
	Branches() (node string, names []string)
	// InBranches returns the node of that name with the stage and, in each branch, the other steps of the training. It
	// is called only if there are branches.
	InBranches(name string, steps []budget.Node, asked float64) budget.Node
	// Metrics returns the nodes of the held-out part, given the default one.
	Metrics(metric budget.Node) []budget.Node

	// TrainerColumns returns columns as a trainer sees them, and Trainer the trainer that turns the records into these.
	TrainerColumns(columns []dataset.Column) []dataset.Column
	Trainer(t method.Trainer) method.Trainer

	// Gathers reports whether the stage needs all records in one place in an engine with these capabilities.
	Gathers(c mechanism.Capabilities) bool
	// CheckEngine describes why an engine with these capabilities cannot run the stage; "" if it can.
	CheckEngine(c mechanism.Capabilities) string

	// BeforeTraining runs the stage on the training part. s is the session of the node of its parent. It returns the session
	// and the records for the training, and updates run. A stage with branches is called within the training.
	BeforeTraining(
		ctx context.Context, run *Run, s *mechanism.Session, train mechanism.Records,
	) (*mechanism.Session, mechanism.Records, error)
	// AfterTraining completes the model. train and held are the sessions of the two parts.
	AfterTraining(ctx context.Context, run *Run, train, held *mechanism.Session, fit *method.Fit) error
	// Warnings describes the findings of the stage. target names the target of the run.
	Warnings(f Findings, target string) []Warning
}

// A Recoding is a public, total function of single cells of a numeric column.
type Recoding struct {
	Column int            // in the schema
	To     dataset.Column // declaration of the recoded column
	Apply  func(float64) float64
}

// A Run is the part of the state of a run that its stages read and update.
type Run struct {
	Facts    selection.Facts   // for the steps that follow: those of the plan, updated with findings about columns
	Training mechanism.Records // training part, with declared columns once they are known
	Held     mechanism.Records // held-out part, likewise
	Findings Findings

	Branch string // branch that a stage with branches took; "" for none
	Forced string // branch that a rehearsal takes, in place of the one that the releases choose

	// Fits reports whether rows of features have room in every way in which the run may train.
	Fits func(features []dataset.Column) bool
	// NoteCategories is called with each column whose categories were found, the most frequent first.
	NoteCategories func(c *dataset.Column)
	// CompleteClasses is called with a target whose classes were found. It adds those that the plan needs.
	CompleteClasses func(target *dataset.Column)
	// Start announces a step and returns the function that ends it.
	Start func(name string) func()
}

// PairsOf returns the pairs of targets and predictions of a model of a numeric target, on records of the run: in units of
// the target, or of the transformed one before a model has its way back.
func (r *Run) PairsOf(v mechanism.Records, fit *method.Fit) evaluate.Pairs {
	m := fit.Linear()
	pairs := evaluate.Pairs{
		Records: v,
		Target:  len(r.Facts.Columns),
		Model:   method.NewPredictor(fit.Model, r.Facts.Columns),
		Center:  m.Back.Mean(fit.TargetMean, m.Lower, m.Upper),
		Lower:   m.Lower,
		Upper:   m.Upper,
	}
	if m.Back != nil {
		pairs.Lower = m.Back.Lower
		pairs.Upper = m.Back.Upper
		pairs.From = rescale.Transform(m.Back.Transform)
	}
	return pairs
}

// HeldOut is the name under which steps on the held-out part are announced.
const HeldOut = "held-out metric"

// Findings are the released findings of the stages of a run, as a report lists them.
type Findings struct {
	Vocabulary  []Vocabulary // of the text columns detected privately
	Kinds       []KindCount  // of the columns without declarations; nil if they were not counted
	Transformed *evaluate.R2 // of a transformed target, in transformed units
}

// A Vocabulary is the findings about a text column.
type Vocabulary struct {
	Column string
	Words  []string // sorted; empty if no word is frequent enough
	// Counts are the noisy numbers of training records of Words, with noise of standard deviation Sigma.
	Counts []float64
	Sigma  float64
	Least  float64 // minimum noisy number of records of a word that is used
	Cut    bool    // some words that reach Least were left out, because there are too many
}

// A KindCount holds the noisy numbers of training records whose cell of a column is a number, text, or missing. Each
// has noise of standard deviation Sigma.
type KindCount struct {
	Column  string
	Numbers float64
	Text    float64
	Absent  float64
	Sigma   float64
}

// A Fact is a number or list stated by the recipe, which the guarantee does not protect.
type Fact struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// ErrTarget is returned when the target is not a numeric column of the schema, or has an indicator of missing cells.
var ErrTarget = errors.New(
	"the target must be a numeric column of the schema, without an indicator of missing cells")

// Problem returns a mistake in the description of a run. field is a recipe key, and err a sentinel.
func Problem(err error, field, hint, format string, args ...any) *fault.Error {
	return &fault.Error{
		Kind:    fault.Recipe,
		Field:   field,
		Message: fmt.Sprintf(format, args...),
		Hint:    hint,
		Err:     err,
	}
}

// DeltaHint names the usual delta.
const DeltaHint = "the default is 1e-6"

// Placeholders returns names for n categories or classes that are not known.
func Placeholders(what string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("(%s %d)", what, i+1)
	}
	return out
}
