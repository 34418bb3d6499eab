package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/stage"
	"github.com/dptrain/dptrain/internal/train/targetencoding"
	"github.com/dptrain/dptrain/internal/train/transform"
	"github.com/dptrain/dptrain/internal/train/vocabulary"
)

// stageKinds lists the stages around the training, in the order in which they are planned and run. A new one is one more
// line. Everything else in this package knows them by [stage.Stage] only.
func stageKinds() []stage.Kind {
	return []stage.Kind{vocabulary.Kind(), transform.Kind(), targetencoding.Kind()}
}

// stages returns the stages around the training that the run has.
func (p *Pipeline) stages() []stage.Stage {
	var out []stage.Stage
	for _, k := range p.namedStages() {
		out = append(out, k.stage)
	}
	return out
}

// A namedStage is a stage of a run with its kind.
type namedStage struct {
	stage.Kind
	stage stage.Stage
}

// namedStages returns the stages that the run has, with their kinds.
func (p *Pipeline) namedStages() []namedStage {
	d := p.description()
	var out []namedStage
	for _, k := range stageKinds() {
		if s := k.New(d); s != nil {
			out = append(out, namedStage{k, s})
		}
	}
	return out
}

// description returns the public facts from which the stages of the run are made.
func (p *Pipeline) description() stage.Description {
	return stage.Description{
		Schema:         p.Schema,
		Target:         p.Target,
		Transform:      p.Transform,
		Classification: p.isClassification(),
		Budget:         p.Budget,
		Holdout:        p.Holdout,
		Search:         p.Search != nil || p.tried,
		Abstainer:      p.abstainingMethod,
		Classes: func() int {
			if j := p.Schema.Index(p.Target); j >= 0 && p.isClassification() {
				return p.classesOf(p.Schema.Columns[j])
			}
			return 0
		},
	}
}

// abstainingMethod returns the name of a method of the run whose distribution takes a fixed share of delta.
func (p *Pipeline) abstainingMethod() string {
	var names []string
	for _, c := range append(p.candidates(), Candidate{Model: p.Model},
		Candidate{Model: p.Fallback}) {
		if c.Model != nil && mayAbstain(c.Model) {
			names = append(names, c.ModelName())
		}
	}
	return strings.Join(names, ", ")
}

func (p *Pipeline) candidates() []Candidate {
	if p.Search == nil {
		return nil
	}
	return slices.Clone(p.Search.Candidates)
}

// recodings lists the columns whose cells a stage changes before any other step.
func (p *Pipeline) recodings() []stage.Recoding {
	var out []stage.Recoding
	for _, s := range p.stages() {
		if x := s.Recoding(); x != nil {
			out = append(out, *x)
		}
	}
	return out
}

// recodedColumns returns the columns of the schema as later steps see them.
func (p *Pipeline) recodedColumns() []dataset.Column {
	out := slices.Clone(p.Schema.Columns)
	for _, x := range p.recodings() {
		out[x.Column] = x.To
	}
	return out
}

// recodedTable returns a table as later steps see it.
func (p *Pipeline) recodedTable(t *dataset.Table) *dataset.Table {
	for _, x := range p.recodings() {
		t = t.Mapped(x.Column, x.To, x.Apply)
	}
	return t
}

// OfTransformed returns the run on a table whose target is transformed already.
func (p *Pipeline) OfTransformed() *Pipeline {
	if p.Transform == rescale.None {
		return p
	}
	out := p.clone()
	out.Schema.Columns = p.recodedColumns()
	out.Transform = rescale.None
	return out
}

// stageNodes returns the nodes of the stages before and after the training, and the share of the budget that they leave.
func (p *Pipeline) stageNodes(mayCount bool) (before, after []budget.Node, rest float64) {
	rest = 1
	for _, x := range p.namedStages() {
		var first, last []budget.Node
		first, last, rest = x.stage.Around(p.askedShare(x.Kind, mayCount), rest)
		before = append(before, first...)
		after = append(after, last...)
	}
	return before, after, rest
}

// wrapsTraining reports whether something comes before or after the training part.
func (p *Pipeline) wrapsTraining() bool {
	before, after, _ := p.stageNodes(false)
	return len(before)+len(after) > 0
}

// followsTraining reports whether something comes after the training part.
func (p *Pipeline) followsTraining() bool {
	_, after, _ := p.stageNodes(false)
	return len(after) > 0
}

// branchingStage returns the stage that chooses, within the training, the steps that are paid for, if the run has one.
func (p *Pipeline) branchingStage() (_ namedStage, found bool) {
	list := p.namedStages()
	i := slices.IndexFunc(list, namedStage.branches)
	if i < 0 {
		return namedStage{}, false
	}
	return list[i], true
}

// branches reports whether the stage chooses, within the training, the steps that are paid for.
func (x namedStage) branches() bool {
	_, names := x.stage.Branches()
	return len(names) > 0
}

// precedes reports whether the stage comes before the training or its branches.
func (x namedStage) precedes() bool {
	before, _, _ := x.stage.Around(0, 1)
	return len(before) > 0 || x.branches()
}

// runBefore runs the stages that precede the training, or, if within is set, the one with branches, within it.
func (r *runner) runBefore(
	ctx context.Context,
	s *mechanism.Session,
	train mechanism.Records,
	within bool,
) (*mechanism.Session, mechanism.Records, error) {
	for _, x := range r.pipeline.namedStages() {
		if x.branches() != within {
			continue
		}
		var err error
		if s, train, err = x.stage.BeforeTraining(ctx, &r.Run, s, train); err != nil {
			return s, train, fmt.Errorf("%s: %w", x.Node, err)
		}
	}
	return s, train, nil
}

// NoVocabulary returns the reason why words cannot be found privately in a run, or "".
func (p *Pipeline) NoVocabulary() string {
	return vocabulary.Unsupported(p.description())
}

// trainerColumns returns columns as a trainer sees them.
func (p *Pipeline) trainerColumns(columns []dataset.Column) []dataset.Column {
	for _, s := range p.stages() {
		columns = s.TrainerColumns(columns)
	}
	return columns
}

// metricNodes returns the nodes of the held-out part. metric is the usual one.
func (p *Pipeline) metricNodes(metric budget.Node) []budget.Node {
	nodes := []budget.Node{metric}
	for _, s := range p.stages() {
		more := s.Metrics(nodes[0])
		nodes = append(more, nodes[1:]...)
	}
	return nodes
}

// gatheringNodes lists the nodes of the stages that need all records in one place in an engine with these capabilities.
func (p *Pipeline) gatheringNodes(c mechanism.Capabilities) []string {
	var out []string
	for _, x := range p.namedStages() {
		if x.stage.Gathers(c) {
			out = append(out, x.Node)
		}
	}
	return out
}

// rowsFit reports whether rows of columns have room in every way in which the run may train.
func (p *Pipeline) rowsFit(f selection.Facts) bool {
	for _, t := range p.trainings() {
		facts := []selection.Facts{f}
		for _, n := range t.classCounts(f) {
			facts = append(facts, withClasses(f, n))
		}
		if slices.ContainsFunc(facts, t.tooWide) {
			return false
		}
	}
	return true
}

// tooWide reports whether rows of columns are too long for a branch of the run.
func (p *Pipeline) tooWide(f selection.Facts) bool {
	for _, b := range p.planBranches(f) {
		if _, err := p.trainTree(f, &b); errors.Is(err, linear.ErrTooWide) {
			return true
		}
	}
	return false
}
