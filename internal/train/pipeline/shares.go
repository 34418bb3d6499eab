package pipeline

import (
	"errors"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// ErrShares is returned for shares of the budget that add up to something else than 1, and for the share of a stage that
// does not run.
var ErrShares = errors.New("the shares of the budget do not fit the run")

// Shares divide the budget of the training part among its stages. Each is in (0, 1); 0 means the stage's
// default.
//
// Count is a share of epsilon, and so is Model if the distribution of the model is fixed before the others are
// calibrated (Tukey). The other stages divide the rest: by mu squared under tight composition, by epsilon under
// basic.
//
// If some stages are not set, Count, Words and Transform keep their defaults, and the others divide the rest in
// proportion to their defaults. If all are set, the shares must add up to 1.
type Shares struct {
	Count     float64 // the noisy number of records
	Words     float64 // detecting which columns hold text, and the values of those columns
	Ranges    float64 // the ranges of numeric columns
	Selection float64 // the choice of features
	Model     float64 // the model, with all that it releases
	Fallback  float64 // the model that is trained in case the first one abstains
	Transform float64 // the errors of a model of a transformed target
}

// A NamedShare is a share with its name in recipes.
type NamedShare struct {
	Name  string
	Value *float64
}

// Named lists the shares of s in the order of documents.
func (s *Shares) Named() []NamedShare {
	return []NamedShare{
		{"count", &s.Count},
		{"words", &s.Words},
		{"ranges", &s.Ranges},
		{"selection", &s.Selection},
		{"model", &s.Model},
		{"fallback", &s.Fallback},
		{"transform", &s.Transform},
	}
}

// shareTolerance is the permitted deviation of the sum of all shares from 1: they are written with few digits.
const shareTolerance = 1e-6

// checkShares validates the shares of the budget as far as that does not depend on the stages.
func (r *rules) checkShares() {
	sum := 0.
	for _, share := range r.Shares.Named() {
		field := "budget." + share.Name
		x := *share.Value
		if x != 0 && !(x > 0 && x < 1) {
			r.addProblem(
				ErrShares,
				field,
				"it is a share of the training budget",
				"%s must be above 0 and below 1, not %s",
				field,
				fault.Number(x),
			)
			return
		}
		sum += x
	}
	if sum > 1+shareTolerance {
		r.addProblem(
			ErrShares,
			"budget",
			"the held-out part has its own budget, set by holdout",
			"the shares of budget add up to %s, more than 1",
			fault.Number(sum),
		)
	}
	if r.Shares.Selection != 0 && r.SelectionShare != 0 {
		r.addProblem(
			ErrShares,
			"budget.selection",
			"keep budget.selection",
			"budget.selection and selection.share set the same share",
		)
	}
}

// A division is how the stages of one branch divide the budget of the training part.
type division struct {
	// share of the whole epsilon for a model with a fixed distribution
	fixed float64
	// selection is the relative share of the choice of features. ranges, model and fallback multiply the relative shares
	// that the plans of these stages have by themselves: 1 - linear.GramShare for ranges and linear.GramShare for a model.
	selection, ranges, model, fallback float64
}

// checkedShare is the share of epsilon that the check of the target takes.
func (p *Pipeline) checkedShare() float64 {
	if p.paysForCheck() {
		return checkShare
	}
	return 0
}

// trainingEpsilon is the part of epsilon that the training part may spend.
func (p *Pipeline) trainingEpsilon() float64 {
	return 1 - p.checkedShare()
}

// countShare returns the share of the noisy count in the whole epsilon of the run.
func (p *Pipeline) countShare() float64 {
	switch {
	case p.Shares == (Shares{}):
		return DefaultCountShare
	case p.Shares.Count == 0:
		return DefaultCountShare * p.trainingEpsilon()
	}
	return p.Shares.Count * p.trainingEpsilon()
}

// afterCount is the part of the training budget that the noisy count leaves, where a run has one and shares are given.
func (p *Pipeline) afterCount(counted bool) float64 {
	switch {
	case !counted:
		return 1
	case p.Shares.Count == 0:
		return 1 - DefaultCountShare
	}
	return 1 - p.Shares.Count
}

// askedShare returns the share that the recipe asks for a stage, relative to the budget after the count; 0 if it asks for
// none.
func (p *Pipeline) askedShare(k stage.Kind, counted bool) float64 {
	shares := p.Shares
	for _, share := range shares.Named() {
		if share.Name == k.Share && *share.Value != 0 {
			return *share.Value / p.afterCount(counted)
		}
	}
	return 0
}

// mayCount reports whether some branch of a run with these facts releases a noisy count.
func (p *Pipeline) mayCount(f selection.Facts) bool {
	if p.Search != nil {
		for i := range p.Search.Candidates {
			if p.candidate(i).mayCount(f) {
				return true
			}
		}
		return false
	}
	branches := p.planBranches(f)
	return !publicCount(f) && (len(branches) > 1 || branches[0].countsRecords())
}

// branchStages lists the stages that a branch runs.
type branchStages struct{ mayCount, counted, selects, scaled, fixedModel, fallback bool }

// divideBudget divides the budget among the stages of a branch.
func (p *Pipeline) divideBudget(
	b branch,
	stages branchStages,
) (division, error) {
	chosen := p.selectionShare(b, stages.selects)
	ranges := 1 - chosen
	model := ranges
	if !stages.scaled {
		model /= linear.GramShare // the model has the ranges' share too
	}
	standard := division{
		fixed:     p.fixedShare(b, stages),
		selection: chosen,
		ranges:    ranges,
		model:     model,
		fallback:  model,
	}
	if p.Shares == (Shares{}) {
		return standard, nil
	}
	return p.divideAsAsked(stages, standard)
}

// fixedShare returns the default share of the whole epsilon for a model with a fixed distribution.
func (p *Pipeline) fixedShare(b branch, stages branchStages) float64 {
	check := p.checkedShare()
	switch {
	case b.fallback != nil:
		return fixedBacked * (1 - check)
	case stages.selects || stages.scaled || p.followsTraining():
		return fixedFirst * (1 - check)
	}
	return fixedAlone - check // the count takes its share of the whole epsilon
}

// askedStage is a stage of a branch with the share that the recipe asks for, 0 for no share, and its standard share.
type askedStage struct {
	asked    float64
	standard float64
	runs     bool
	result   float64 // share of the training budget
}

// askedStages returns the stages whose shares a recipe can set.
func (p *Pipeline) askedStages(
	stages branchStages,
	standard division,
) (choice, ranges, model, fallback *askedStage) {
	calibrated := 1.
	if stages.fixedModel {
		calibrated = 1 - standard.fixed/p.trainingEpsilon() - DefaultCountShare
	}
	choice = &askedStage{
		asked:    p.Shares.Selection,
		standard: standard.selection * calibrated,
		runs:     stages.selects,
	}
	ranges = &askedStage{
		asked:    p.Shares.Ranges,
		standard: standard.ranges * (1 - linear.GramShare) * calibrated,
		runs:     stages.scaled,
	}
	model = &askedStage{
		asked:    p.Shares.Model,
		standard: standard.model * linear.GramShare,
		runs:     true,
	}
	if stages.fixedModel {
		model.standard = standard.fixed
	}
	fallback = &askedStage{
		asked:    p.Shares.Fallback,
		standard: standard.fallback * linear.GramShare * calibrated,
		runs:     stages.fallback,
	}
	return choice, ranges, model, fallback
}

// divideAsAsked divides the budget by the shares of the recipe.
func (p *Pipeline) divideAsAsked(
	stages branchStages,
	standard division,
) (division, error) {
	choice, ranges, model, fallback := p.askedStages(stages, standard)
	left := p.afterFixedStages(stages)
	inner := left
	weights := 0.
	missing := p.unpaidShares(stages)
	list := []*askedStage{choice, ranges, model, fallback}
	for _, s := range list {
		switch {
		case !s.runs:
			missing += s.asked
		case s.asked > 0:
			left -= s.asked
		default:
			weights += s.standard
		}
	}
	stretch := 1. // the shares of stages that a branch skips are divided among the stages that it runs
	switch {
	case weights > 0 && left <= shareTolerance:
		return division{}, sharesProblem(
			"the shares of budget leave nothing for the other stages",
			"make them smaller",
		)
	case weights > 0:
	case math.Abs(left-missing) > shareTolerance:
		return division{}, sharesProblem(
			fmt.Sprintf(
				"the shares of the stages that run add up to %s, not 1",
				fault.Number(math.Round((1-left)*1e6)/1e6),
			),
			"omit one of them: it takes the rest. count, words and transform keep their defaults if they are omitted",
		)
	default:
		stretch = inner / (inner - left)
	}
	for _, s := range list {
		switch {
		case !s.runs:
		case s.asked > 0:
			s.result = s.asked * stretch
		default:
			s.result = left * s.standard / weights
		}
	}
	return division{
		fixed:     model.result * p.trainingEpsilon(),
		selection: choice.result / inner,
		ranges:    ranges.result / inner / (1 - linear.GramShare),
		model:     model.result / inner / linear.GramShare,
		fallback:  fallback.result / inner / linear.GramShare,
	}, nil
}

// afterFixedStages returns the share of the training budget after the count and the stages around the training.
func (p *Pipeline) afterFixedStages(stages branchStages) float64 {
	left := 1.
	for _, x := range p.namedStages() {
		left -= x.stage.Spends(p.askedShare(x.Kind, stages.mayCount))
	}
	return left * p.afterCount(stages.counted)
}

// unpaidShares adds up the shares set for a count and for stages around the training that a branch does not have.
func (p *Pipeline) unpaidShares(stages branchStages) float64 {
	sum := 0.
	if !stages.counted {
		sum += p.Shares.Count
	}
	shares := p.Shares
	for _, k := range stageKinds() {
		if k.New(p.description()) != nil {
			continue
		}
		for _, share := range shares.Named() {
			if share.Name == k.Share {
				sum += *share.Value
			}
		}
	}
	return sum
}

func sharesProblem(message, hint string) error {
	return &fault.Error{
		Kind:    fault.Recipe,
		Field:   "budget",
		Message: message,
		Hint:    hint,
		Err:     ErrShares,
	}
}

// unusedShares rejects the share of a stage that no branch of a plan runs, and a setting of the count in a plan
// without one.
func (p *Pipeline) unusedShares(priced *budget.Priced) error {
	ran := map[string]bool{}
	for _, leaf := range priced.Leaves() {
		ran[shareOfStage[leaf.Place.Stage]] = true
	}
	for _, share := range p.Shares.Named() {
		if *share.Value > 0 && !ran[share.Name] {
			field := "budget." + share.Name
			return &fault.Error{
				Kind:    fault.Recipe,
				Field:   field,
				Err:     ErrShares,
				Hint:    "remove it",
				Message: field + " has no effect: " + notRun[share.Name],
			}
		}
	}
	if p.CountFailure != 0 && !ran[shareOfStage[countLeaf]] {
		return &fault.Error{
			Kind:    fault.Recipe,
			Field:   countFailureField,
			Err:     ErrCountFailure,
			Hint:    "remove it",
			Message: countFailureField + " has no effect: " + notRun[shareOfStage[countLeaf]],
		}
	}
	return nil
}

// countFailureField is the key of a recipe that sets [Pipeline.CountFailure].
const countFailureField = "count.failure"

// ShareName returns the name of the share that the leaves of a stage are paid from, "" for the stage of the held-out part.
func ShareName(stage string) string {
	return shareOfStage[stage]
}

// shareOfStage names the share that the leaves of a stage are paid from.
var shareOfStage = withShares(map[string]string{
	countLeaf:     "count",
	scalingNode:   "ranges",
	selectionNode: "selection",
	modelNode:     "model",
	fallbackNode:  "fallback",
})

// withShares adds the shares of the stages around the training.
func withShares(shares map[string]string) map[string]string {
	for _, k := range stageKinds() {
		if k.Share != "" {
			shares[k.Node] = k.Share
		}
	}
	return shares
}

// notRun gives the reason why the stage of a share does not run.
var notRun = withReasons(map[string]string{
	"count":     "this run does not need a noisy number of records",
	"ranges":    "all ranges are declared or not needed",
	"selection": "this run selects no features",
	"fallback":  "this run has no fallback",
})

// withReasons adds the reasons of the stages around the training.
func withReasons(reasons map[string]string) map[string]string {
	for _, k := range stageKinds() {
		if k.Share != "" {
			reasons[k.Share] = k.Absent
		}
	}
	return reasons
}
