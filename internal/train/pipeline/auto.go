package pipeline

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/logistic"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/prototypes"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/svm"
)

// The automatic choice of the model depends on public facts only; see autoMethod. A run without a selector also
// spends DefaultCountShare of epsilon on a lower bound n_lo of the number of training records, which chooses
// between the two branches of the plan: for a regression, with or without feature selection; for a
// classification of two classes, with or without curves. Each branch is priced for (epsilon - the price of
// n_lo, delta), so basic composition covers either choice (docs/proofs/auto.md, "The rule").
const (
	allBranch      = "all"      // every feature
	kendallBranch  = "kendall"  // selection.DefaultK features
	logisticBranch = "logistic" // every feature, one linear score of two classes
	countLeaf      = "count"
	// DefaultCountShare is the share of epsilon that n_lo costs.
	DefaultCountShare = .03
	// DefaultCountFailure is the probability with which n_lo may exceed the true number. It
	// concerns the quality of the choice, not privacy.
	DefaultCountFailure = .01
	// mostCountFailure is the largest one: at it n_lo is the noisy number itself.
	mostCountFailure = .5
	// fewRecords is the strength n_lo mu/w below which features are chosen
	// first: mu is the model's, so that 1/mu is about the number of records that
	// its noise hides, and w the weight of the candidates. docs/proofs/auto.md,
	// "Why this rule", has the figures.
	fewRecords = 20
	// fewForCurves is the strength below which two classes are separated by a linear score.
	fewForCurves = 50
	// categoryWeight is the weight of a category, relative to 1 for a number: it has no curve, and the records
	// of different categories do not interact.
	categoryWeight = .3
)

// autoMethod returns the trainer of a run without a model. Under tight composition curves are nearly free,
// because many small releases cost no more than a large one; under basic composition they are expensive.
// Numbers and two classes also use a kernel. Without a delta few methods are available. One-versus-rest curves
// pay for every class, whereas prototypes share one softmax. classes is 0 for a numeric target.
func (p *Pipeline) autoMethod(classes int) method.Trainer {
	switch {
	case p.isPure() && p.isClassification() && p.Budget.Relation == budget.SubstitutePrivateColumns:
		return boosting.BRC{}
	case p.isPure() && p.isClassification():
		return svm.SVM{}
	case p.isPure():
		return adassp.JointGram{}
	case p.protectsTargetOnly() && p.isClassification():
		return logistic.Logistic{} // one release of the labels
	case p.Budget.Composition == budget.Basic ||
		p.Budget.Relation == budget.SubstitutePrivateColumns:
		return adassp.JointGram{}
	case classes > 2:
		return prototypes.Prototypes{}
	case p.additive:
		return boosting.Additive{}
	}
	return autoKernel
}

// autoKernel is the kernel booster of runs that name no model. Tests limit its landmarks.
var autoKernel = boosting.Kernel{}

// isKernel reports whether a trainer is a kernel booster.
func isKernel(t method.Trainer) bool {
	_, ok := t.(boosting.Kernel)
	return ok
}

// WithoutKernel returns the pipeline with [boosting.Kernel], whether named or chosen automatically, replaced by
// [boosting.Additive]: the same model without the kernel terms, and much faster. It reports whether the result
// differs from p. A candidate of a search is unchanged if it would become equal to another.
func (p *Pipeline) WithoutKernel() (*Pipeline, bool) {
	q := p.clone()
	q.additive = true
	found := false
	replace := func(m *method.Trainer) {
		if isKernel(*m) {
			*m = boosting.Additive{}
			found = true
		}
		found = found || *m == nil && p.mayBeKernel()
	}
	if q.Search == nil {
		replace(&q.Model)
		return q, found
	}
	for i, c := range q.Search.Candidates {
		c.Model = boosting.Additive{}
		if !slices.ContainsFunc(q.Search.Candidates, func(other Candidate) bool {
			return reflect.DeepEqual(other, c)
		}) {
			replace(&q.Search.Candidates[i].Model)
		}
	}
	return q, found
}

// mayBeKernel reports whether a run that names no model may train [boosting.Kernel].
func (p *Pipeline) mayBeKernel() bool {
	classes := 0
	if j := p.Schema.Index(p.Target); p.isClassification() && j >= 0 {
		classes = p.classesOf(p.Schema.Columns[j])
		if p.Schema.Columns[j].Found && !p.PaddedClasses {
			classes = leastClasses // there may be so few
		}
	}
	return isKernel(p.autoMethod(classes))
}

// choosesStages reports whether the run chooses its stages itself. A regression with at most as many candidates as
// would be selected has no choice to make, nor has a classification for which many small releases are too
// expensive, for curves and scores alike. More than two classes always use the method of [Pipeline.autoMethod].
func (p *Pipeline) choosesStages(f selection.Facts) bool {
	switch {
	case p.Budget.Relation == budget.SubstitutePrivateColumns || p.Selector != nil ||
		p.Model != nil || p.isPure():
		return false // without a delta the strength of a model is no mu
	case p.isClassification():
		chosen := p.autoMethod(len(f.Target.Categories))
		return len(f.Target.Categories) == 2 &&
			(isKernel(chosen) || chosen == method.Trainer(boosting.Additive{}))
	}
	return len(f.Columns) > selection.DefaultK
}

// planBranches returns the branches of the training part: one, or two between which n_lo chooses, the second for
// few records.
func (p *Pipeline) planBranches(f selection.Facts) []branch {
	model := p.Model
	if model == nil {
		model = p.autoMethod(len(f.Target.Categories))
	}
	if p.choosesStages(f) {
		model = p.pureForm(model)
		all := branch{
			name:     allBranch,
			selector: selection.None{},
			trainer:  model,
		}
		if p.isClassification() {
			return []branch{all, {
				name:     logisticBranch,
				selector: selection.None{},
				trainer:  logistic.Logistic{},
			}}
		}
		return []branch{all, {
			name:     kendallBranch,
			selector: selection.Kendall{K: selection.DefaultK},
			trainer:  model,
		}}
	}
	b := branch{
		name:     trainNode,
		selector: p.Selector,
		trainer:  p.pureForm(model),
		fallback: p.pureForm(p.Fallback),
	}
	if b.selector == nil {
		b.selector = selection.None{}
	}
	return []branch{b}
}

// IsBranch reports whether a name in a report belongs to a branch of a run with an automatic choice. A skipped
// branch has been paid for but made no release.
func IsBranch(name string) bool {
	return name == allBranch || name == kendallBranch || name == logisticBranch
}

// chooseBranch releases n_lo and returns the branch it points to with its session.
// s is the session of the training part.
func (p *Plan) chooseBranch(
	s *mechanism.Session,
	f selection.Facts,
	records int,
) (branch, *mechanism.Session, error) {
	if len(p.branches) == 1 {
		return p.branches[0], s, nil
	}
	low, err := p.of.releaseCount(s, f, records)
	if err != nil {
		return branch{}, nil, err
	}
	b := p.pickBranch(low, f.Columns)
	if p.forced != nil {
		b = *p.forced
	}
	return b, s.Sub(b.name), nil
}

// pickBranch is the rule of docs/proofs/auto.md, "The rule".
func (p *Plan) pickBranch(low int, columns []dataset.Column) branch {
	if float64(low)*p.modelMu(allBranch) < p.leastStrength(columns) {
		return p.branches[1]
	}
	return p.branches[0]
}

// leastStrength is the strength below which the second branch is taken. Curves take a column of many values for one
// of few. A linear score keeps each value an entry, and still is better where these are many.
func (p *Plan) leastStrength(columns []dataset.Column) float64 {
	if p.branches[1].name == logisticBranch {
		return fewForCurves * columnWeight(p.of.trainerColumns(columns))
	}
	return fewRecords * columnWeight(linear.MostEntries(p.of.trainerColumns(columns)))
}

// modelMu returns the mu, for one record, of all releases of the model of a branch; for alternatives, such as
// numeric or text columns or different numbers of classes, the smallest mu.
func (p *Plan) modelMu(name string) float64 {
	squares := map[string]float64{}
	for _, l := range p.Leaves() {
		if l.Place.Stage == modelNode && strings.HasPrefix(l.Path, p.root+"/"+name+"/") {
			squares[l.Place.Branch] += float64(l.Law.Draws) * l.Law.Mu * l.Law.Mu
		}
	}
	if len(squares) == 0 {
		return 0
	}
	return math.Sqrt(slices.Min(slices.Collect(maps.Values(squares)))) /
		float64(p.Target().Unit.Records())
}

// columnWeight returns the total weight of columns, in units of a numeric column.
func columnWeight(columns []dataset.Column) float64 {
	sum := 0.
	for _, s := range scaling.NewEncoder(columns, nil).Slots() {
		if s.Category == scaling.NumberSlot {
			sum++
		} else { // an indicator of missing cells has no curve either
			sum += categoryWeight
		}
	}
	return sum
}

// oneOf joins the branches' trees. If the number of records is public, the choice costs no budget.
func (p *Pipeline) oneOf(f selection.Facts, trees []budget.Node) budget.Node {
	switch {
	case len(trees) == 1:
		return trees[0]
	case publicCount(f):
		return budget.Branches(trainNode, budget.Sequence(countLeaf), trees...).
			WithRole(budget.RolePart)
	}
	count := budget.LaplaceLeaf(countLeaf, p.countShare(),
		1).WithStatistic(mechanism.StatCount).WithRole(budget.RoleStage)
	return budget.Branches(trainNode, count, trees...).WithRole(budget.RolePart)
}
