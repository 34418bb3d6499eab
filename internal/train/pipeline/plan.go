package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// Errors of a plan. They depend on public facts only.
var (
	// ErrTarget is returned when the target is not a numeric column of the
	// schema, or has an indicator of missing cells.
	ErrTarget = stage.ErrTarget
	// ErrNoFeature is returned when no candidate feature is left.
	ErrNoFeature = errors.New("no feature is left to train on")
	// ErrRelation is returned when a stage does not support the relation.
	ErrRelation = errors.New("a stage does not support the relation")
	// ErrHoldout is returned for a held-out share outside [0, 0.5].
	ErrHoldout = errors.New("the held-out share must lie in [0, 0.5]")
	// ErrShare is returned for a selection share outside (0, 1).
	ErrShare = errors.New("the selection's share must lie in (0, 1)")
	// ErrUnit is returned where the schema's unit column is not that of the budget,
	// and for a unit under another relation than add-remove: a unit that is replaced
	// may bring another number of records, which the other relations make public.
	ErrUnit = errors.New("the privacy unit cannot be protected as asked")
	// ErrRange is returned when declared scaling meets a column without a
	// range, and for a declared range that float64 does not resolve.
	ErrRange = errors.New("a usable declared range is needed")
	// ErrUnbounded is returned for a budget that no finite mu covers: a model could not state its guarantee.
	ErrUnbounded = fault.New(
		fault.Budget,
		"no finite mu covers the budget, so it would guarantee nothing; use a smaller epsilon",
	)
	// ErrPlan is returned by a fit with a plan of another pipeline, or of one that was
	// changed since.
	ErrPlan = errors.New("the plan is that of another pipeline; plan it again")
	// ErrSelector is returned for a selector that is not one of package selection.
	ErrSelector = errors.New(
		"only the selectors of this module can run: another one could choose from exact records at no price")
	// ErrCountFailure is returned for a probability outside (0, 1/2], and for a run that releases no number of records.
	ErrCountFailure = errors.New("the failure probability of the noisy count does not fit the run")
	// ErrGroups is returned for groups that the held-out metric cannot have.
	ErrGroups = errors.New("the held-out metric cannot be divided by this column")
	// ErrModel is returned for a model method that this package does not run.
	ErrModel = errors.New("unknown model method")
	// ErrFallback is returned for a fallback of a method that never abstains,
	// and for one that may abstain itself.
	ErrFallback = errors.New("a fallback must be a method that never abstains, beside one that may")
)

// DefaultSelectionShare is the share of the training budget that a private
// selection spends by default: of mu^2 under tight composition, of epsilon
// under basic.
const DefaultSelectionShare = .1

// ClassedSelectionShare is the selection share of selectors that release statistics of whole classes, from
// which they compute more than a choice of features (docs/proofs/dpfsdr.md, "Algorithm").
const ClassedSelectionShare = .5

// narrowest is the smallest half width of a declared range.
const narrowest = 0x1p-1000

// DefaultHoldout is the share of records that recipes hold out by default.
const DefaultHoldout = .2

// A Pipeline describes a private training run. It holds public facts only and
// may be used for any number of runs, also at once.
type Pipeline struct {
	// Schema declares the columns that the run reads: candidate features and
	// the target, and the unit column where Budget protects units.
	Schema dataset.Schema
	// Task is regression.TaskRegression, also when it is empty, or
	// regression.TaskClassification.
	Task string
	// Target names the column to predict: a number, or for classification a
	// category column whose categories are the classes, without other.
	Target string
	// MostClasses is the maximum number of classes to find for a target whose classes are found privately, from
	// 2 to evaluate.MaxClasses; 0 means [DefaultMostClasses], or 2 if a stage supports two classes only.
	MostClasses int
	// PaddedClasses plans the training once, for MostClasses classes, as releases of earlier versions did.
	PaddedClasses bool
	// Transform of a numeric target: the model is fitted to the transformed target, and predicts the mean of the target in
	// its own units.
	Transform rescale.Transform
	// Budget is the (epsilon, delta), relation, composition and privacy unit of
	// the run.
	Budget budget.Target
	// Holdout is the share of records, in [0, .5], for the private held-out metric; with 0 there is no held-out
	// part.
	Holdout float64
	// Groups names a category column by whose values the held-out metric is divided as well; "" for none. At most
	// [evaluate.MaxGroups] categories. GroupsOnly reports that the column is no feature.
	Groups     string
	GroupsOnly bool
	// DeclaredScaling rejects numeric columns without a declared range instead of releasing their ranges.
	DeclaredScaling bool
	// Selector chooses the features. It must be one of [Selectors], because a selector sees exact records and another
	// implementation might publish them. Nil keeps all, but without a Model and more than selection.DefaultK candidates the run
	// chooses between all and selection.Kendall.
	Selector selection.Selector
	// SelectionShare is the share, in (0, 1), of a selector that makes releases, relative to the budget left by
	// the noisy count and by a model with a fixed distribution; 0 means DefaultSelectionShare. Shares.Selection
	// is a share of the whole budget.
	SelectionShare float64
	// Shares divide the budget of the training part among its stages; the zero value leaves it to the defaults.
	Shares Shares
	// CountFailure is the probability, above 0 and at most 1/2, with which the released lower bound of the number of records
	// may exceed it; 0 means [DefaultCountFailure]. Privacy does not depend on it.
	CountFailure float64
	// Model is the trainer, of a method of [Trainers]; nil chooses one, see [Auto].
	Model method.Trainer
	// Fallback is the trainer used if Model abstains; optional. It is paid for whether it is used or not, and
	// requires a Model that is a [method.Abstainer].
	Fallback method.Trainer
	// SizeRuns is the mean number of tries for a selector's list of sizes (see selection.Sizer), above 1; 0
	// means DefaultSizeRuns.
	SizeRuns float64
	// Search, if set, tries several ways to select and train and keeps the best;
	// the fields from Selector on are then empty.
	Search *Search

	// additive: boosting.Additive is trained where boosting.Kernel would be.
	additive bool
	// tried: it is a candidate of a search, for which columns were looked at already.
	tried bool
}

// A Plan is a priced pipeline.
type Plan struct {
	*budget.Priced
	of        *Pipeline               // the planned pipeline
	guarantee func() budget.Guarantee // computed once
	facts     selection.Facts
	root      string // path of the training node
	branches  []branch
	tries     []*Plan // of the candidates of a search; branches is then empty
	byClasses []*Plan // of the numbers of classes that may be found, where they are planned apart; branches is then empty
	name      string  // of a plan for a number of classes: that of its node
	columns   []int   // candidate features, the target, and a column that is read for groups only, as schema columns
	records   int

	forced        *branch // in a rehearsal: the branch to take
	forcedWay     string  // in a rehearsal: whether undeclared columns are numbers or text
	forcedClasses int     // in a rehearsal: the number of classes
}

// subplans lists the plans beneath p that have branches, and p itself if it has some.
func (p *Plan) subplans() []*Plan {
	if len(p.branches) > 0 {
		return []*Plan{p}
	}
	var out []*Plan
	for _, t := range append(slices.Clone(p.tries), p.byClasses...) {
		out = append(out, t.subplans()...)
	}
	return out
}

// Node names of the plan. They are part of report.json.
const (
	rootNode      = "fit"
	trainNode     = "train"
	selectionNode = "selection"
	scalingNode   = "scaling"
	modelNode     = "model"
	fallbackNode  = "fallback"
	holdoutNode   = "holdout"
)

// Plan prices the run without reading any rows. Errors are those of this package, of package budget and of the
// stages.
func (p *Pipeline) Plan() (*Plan, error) {
	return p.PlanContext(context.Background())
}

// PlanContext is Plan with a context. It checks the context between its steps, because a plan for very many columns
// takes seconds, and returns the error of a context that has ended.
func (p *Pipeline) PlanContext(ctx context.Context) (*Plan, error) {
	plan := &Plan{of: p.clone()}
	if err := p.checkPlan(ctx, plan); err != nil {
		return nil, err
	}
	train, err := p.wholeTraining(ctx, plan)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	root := budget.Parallel(rootNode, train)
	if p.Holdout > 0 {
		metric, err := p.metricNode(plan.facts.Target, p.Groups != "")
		if err != nil {
			return nil, err
		}
		root.Kids = append(root.Kids, budget.Sequence(holdoutNode, p.metricNodes(metric)...).
			WithRole(budget.RolePart))
		root.Coin = mechanism.Odds(p.Holdout)
	}
	if p.paysForCheck() {
		root = root.WithLead(targetCheckNode())
	}
	plan.Priced, err = budget.Calibrate(root, p.Budget)
	if err != nil {
		return nil, notPure(err)
	}
	for _, t := range append(slices.Clone(plan.tries), plan.subplans()...) {
		t.Priced = plan.Priced
	}
	if err := p.unusedShares(plan.Priced); err != nil {
		return nil, err
	}
	plan.guarantee = sync.OnceValue(plan.Priced.Guarantee)
	if !plan.HasMu() && (!plan.isApproximate() || p.Budget.Epsilon > mostEpsilon) {
		return nil, fmt.Errorf("%w than %v", ErrUnbounded, p.Budget.Epsilon)
	}
	return plan, nil
}

// wholeTraining plans the training part with the stages around it.
func (p *Pipeline) wholeTraining(
	ctx context.Context,
	plan *Plan,
) (budget.Node, error) {
	before, after, rest := p.stageNodes(p.mayCount(plan.facts))
	if len(before)+len(after) == 0 {
		return p.trainingPart(ctx, plan, rootNode+"/"+trainNode)
	}
	train, err := p.trainingPart(ctx, plan, rootNode+"/"+trainNode+"/"+trainNode)
	return budget.Sequence(trainNode, append(append(before, train.Scaled(rest)), after...)...).
		WithRole(budget.RolePart), err
}

// mostEpsilon is the largest epsilon of a plan with steps that lose a probability outright. Beyond it, curves leave
// float64.
const mostEpsilon = 1e6

// trainingPart plans what happens to the training part, whose node is at path, and
// notes its branches or tries in plan.
func (p *Pipeline) trainingPart(
	ctx context.Context,
	plan *Plan,
	path string,
) (budget.Node, error) {
	plan.root = path
	if p.Search != nil {
		return p.searchTree(ctx, plan)
	}
	if counts := p.classCounts(plan.facts); len(counts) > 0 {
		return p.planByClasses(ctx, plan, path, counts)
	}
	return p.trainingOf(ctx, plan, path)
}

// trainingOf plans the training part for the facts of plan.
func (p *Pipeline) trainingOf(
	ctx context.Context,
	plan *Plan,
	path string,
) (budget.Node, error) {
	plan.root = path
	plan.branches = p.planBranches(plan.facts)
	trees := make([]budget.Node, len(plan.branches))
	for i := range plan.branches {
		err := ctx.Err()
		if err != nil {
			return budget.Node{}, err
		}
		if trees[i], err = p.trainTree(plan.facts, &plan.branches[i]); err != nil {
			return budget.Node{}, err
		}
	}
	plan.records = p.recordsFor(plan.facts, plan.branches[0])
	return p.oneOf(plan.facts, trees), nil
}

// metricNode prices the held-out metric, by group or not.
func (p *Pipeline) metricNode(
	target dataset.Column,
	byGroup bool,
) (budget.Node, error) {
	if p.isClassification() {
		return evaluate.Classification{
			Classes: target.Categories,
			Pure:    p.isPure() && !byGroup,
		}.Plan()
	}
	return evaluate.Regression{ByGroup: byGroup, Pure: p.isPure()}.Plan(), nil
}

// isApproximate reports whether a step of the plan is known by an epsilon and a
// delta only: no Gaussian curve covers it, so there is no mu.
func (p *Plan) isApproximate() bool {
	return slices.ContainsFunc(p.Leaves(), func(l budget.PricedLeaf) bool {
		return l.Law.Kind == budget.Approximate
	})
}

// Guarantee returns the guarantee of the plan.
func (p *Plan) Guarantee() budget.Guarantee {
	return p.guarantee()
}

// checkPlan validates the description and collects the facts of the plan.
func (p *Pipeline) checkPlan(ctx context.Context, plan *Plan) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := p.Schema.Validate(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if wrong := p.Wrong(); len(wrong) > 0 {
		return wrong[0]
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if wrong := p.NeedsDelta(); wrong != nil {
		return wrong
	}
	if p.Groups != "" && p.Schema.Index(p.Groups) < 0 {
		return fmt.Errorf("%w: there is no column %q", ErrGroups, p.Groups)
	}
	target := p.Schema.Index(p.Target)
	columns := p.recodedColumns()
	plan.facts = selection.Facts{
		Target:    columns[target],
		Relation:  p.Budget.Relation,
		LabelOnly: p.protectsTargetOnly(),
	}
	for j, c := range columns {
		if c.Ranged && !(c.Upper/2-c.Lower/2 >= narrowest) {
			return fmt.Errorf(
				"%w: that of %q is too narrow to compute with",
				ErrRange,
				c.Name,
			)
		}
		if p.DeclaredScaling && c.Kind == dataset.Numeric && !c.Ranged && !c.Found {
			return fmt.Errorf("%w: %q has none", ErrRange, c.Name)
		}
		if j != target && !p.readForGroups(c) {
			plan.facts.Columns = append(plan.facts.Columns, c)
			plan.columns = append(plan.columns, j)
		}
	}
	if err := p.checkPublicColumns(); err != nil {
		return err
	}
	plan.columns = append(plan.columns, target)
	if p.GroupsOnly {
		plan.columns = append(plan.columns, p.Schema.Index(p.Groups))
	}
	for _, s := range p.stages() {
		plan.facts = s.PlanFacts(plan.facts, p.rowsFit)
	}
	plan.facts.OnlyNumbers = !slices.ContainsFunc(plan.facts.Columns, func(c dataset.Column) bool {
		return c.Kind == dataset.Category
	})
	if len(plan.facts.Columns) == 0 {
		return ErrNoFeature
	}
	return nil
}

// Method returns the name of the plan's model method, or [SearchMethod], or [Auto] if it depends on the number
// of classes found.
func (p *Plan) Method() string {
	if len(p.tries) > 0 {
		return SearchMethod
	}
	plans := p.subplans()
	method := plans[0].branches[0].trainer.Name()
	if slices.ContainsFunc(plans, func(x *Plan) bool {
		return x.branches[0].trainer.Name() != method
	}) {
		return Auto
	}
	return method
}

// Columns lists the names of the candidate features in table order.
func (p *Plan) Columns() []string {
	names := make([]string, len(p.facts.Columns))
	for j, c := range p.facts.Columns {
		names[j] = c.Name
	}
	return names
}
