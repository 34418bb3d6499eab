package boosting

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	settings "github.com/dptrain/dptrain/boosting"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// Settings of BRC; see docs/proofs/brc.md, "Algorithm".
const (
	// DefaultBRCRounds is the default number of rounds, PublishedBRCRounds the number in the paper.
	DefaultBRCRounds   = 100
	PublishedBRCRounds = 25
	// defaultWeightLower and defaultWeightUpper are l and u, the bounds of private weights. Accuracy and noise
	// depend only on u/l.
	defaultWeightLower = .5
	defaultWeightUpper = 2
	// maxWeightRatio bounds u/l.
	maxWeightRatio = 1 << 10
	// leastWeight is the least of l.
	leastWeight = 1e-3
	// interceptCandidates is the number of points of the grid that an intercept is chosen from.
	interceptCandidates = 33
	// interceptShare is the share of the budget of the rounds that choosing intercepts takes; the agreements
	// take the rest.
	interceptShare = .5
	// brcCountShare is the share of releasing the number of records, if that is private.
	brcCountShare = .02
	// brcStartShare is the share of the logistic regression that a run starts from if it protects its target only.
	brcStartShare = .5
)

var (
	// ErrWeights is returned at plan time for weight bounds that are not
	// 0 < l <= u with u at most 1024 and u/l at most 1024.
	ErrWeights = errors.New("the bounds of the weights are out of range")
	// ErrClasses is returned at plan time for a target that is not a category
	// column of two or more classes.
	ErrClasses = errors.New("BRC needs a category target of two or more classes")
	// ErrPublished is returned at plan time for the published form under
	// add-remove, where its ratio has no public bound.
	ErrPublished = errors.New("BRC as published needs a public number of records")
	// ErrIndicator is returned at plan time for a column with a missing-cell indicator: a random classifier
	// uses one number of a column.
	ErrIndicator = errors.New(
		"BRC takes no indicator of missing cells; declare a missing value, or choose another method")
	// ErrNoPrivate is returned at plan time for a run that protects private columns if neither a feature nor the
	// target is private.
	ErrNoPrivate = errors.New("BRC needs a private column")
)

// BRC is boosting with random classifiers; see the package comment. Its target is a
// category column of two or more classes. Under [budget.SubstitutePrivateColumns] the
// columns that are not Private are public.
type BRC settings.BRC

// Forms of [BRC], as named in recipes.
const (
	// Gaussian has Gaussian noise on a sum, and starts from the public columns.
	Gaussian = "gaussian"
	// Laplace is the same with Laplace noise, which a run with delta 0 requires.
	Laplace = "laplace"
	// Paper is the algorithm as published: 25 rounds unless Rounds is given, Laplace
	// noise on the accuracy as a ratio, random classifiers of all columns at once, and
	// no start from the public features. It is private, but less accurate, and not
	// defined under add-remove.
	Paper = "paper"
)

// Intercepts of random classifiers, as named in recipes.
const (
	// randomIntercept is drawn independently of the data, like the coefficients.
	randomIntercept = "random"
	// zeroIntercept is 0.
	zeroIntercept = "zero"
	// chosenIntercept is chosen in every round from a public grid by the exponential mechanism.
	chosenIntercept = "exponential"
)

// Name returns "brc".
func (BRC) Name() string {
	return "brc"
}

// Gathers returns true: the public classifier is fitted to all rows, and the weights of records are kept in
// memory.
func (BRC) Gathers() bool {
	return true
}

// PureForm returns the trainer, with the form [Laplace] unless a form is set.
func (t BRC) PureForm() method.Trainer {
	if t.Form == "" {
		t.Form = Laplace
	}
	return t
}

// FormName returns the form.
func (t BRC) FormName() string {
	return t.Form
}

// Node names of the plan.
const (
	brcNode       = "brc"
	agreementLeaf = "agreement"
	interceptLeaf = "intercept"
	recordsLeaf   = "records"
	startLeaf     = "start"
)

func classNode(c int) string {
	return fmt.Sprintf("class-%d", c)
}

// brcSettings are the public facts of a run with defaults filled in.
type brcSettings struct {
	rounds       int
	lower, upper float64
	laplace      bool
	published    bool
	intercept    string
}

func (t BRC) settings() (brcSettings, error) {
	out := brcSettings{t.Rounds, t.Lower, t.Upper, t.Form == Laplace || t.Form == Paper,
		t.Form == Paper, t.Intercept}
	if out.intercept == "" {
		out.intercept = randomIntercept
	}
	if !slices.Contains(intercepts(), out.intercept) {
		return out,
			fmt.Errorf("%w: brc with intercept %q; use one of %v", method.ErrForm, t.Intercept,
				intercepts())
	}
	if forms := []string{"", Gaussian, Laplace, Paper}; !slices.Contains(forms, t.Form) {
		return out, fmt.Errorf("%w: brc %q; use one of %v", method.ErrForm, t.Form, forms[1:])
	}
	if t.Rounds < 0 || t.Rounds > MaxRounds {
		return out,
			fmt.Errorf("%w: %d; choose 1 to %d, or 0 for the default of %d", ErrRounds, t.Rounds,
				MaxRounds, DefaultBRCRounds)
	}
	if out.rounds == 0 {
		out.rounds = DefaultBRCRounds
		if out.published {
			out.rounds = PublishedBRCRounds
		}
	}
	if out.lower == 0 && out.upper == 0 {
		out.lower = defaultWeightLower
		out.upper = defaultWeightUpper
	}
	if !(out.lower >= leastWeight && out.lower <= out.upper && out.upper <= maxWeightRatio &&
		out.upper <= maxWeightRatio*out.lower) {
		return out,
			fmt.Errorf("%w: l = %v, u = %v; choose %v <= l <= u <= %d with u/l at most %d",
				ErrWeights, t.Lower, t.Upper, leastWeight, maxWeightRatio, maxWeightRatio)
	}
	return out, nil
}

// Plan returns the leaf of the agreements, with one draw per round, and a leaf for the number of records if it
// is private. More than two classes take one boosting run each, with an equal part of the budget. Its errors
// are those of this file and [ErrRounds].
func (t BRC) Plan(f method.Facts) (budget.Node, error) {
	set, err := t.settings()
	if err != nil {
		return budget.Node{}, err
	}
	if err := set.check(f); err != nil {
		return budget.Node{}, err
	}
	if err := checkFeatures(f); err != nil {
		return budget.Node{}, err
	}
	agreement := mechanism.StatAgreement
	if set.published {
		agreement = mechanism.StatAgreementRatio
	}
	share := linear.GramShare
	root := budget.Sequence(brcNode)
	if f.Relation == budget.AddRemove {
		root.Kids = append(root.Kids,
			set.leaf(recordsLeaf, share*brcCountShare, 1, mechanism.StatCount))
		share *= 1 - brcCountShare
	}
	scores := scoreCount(len(f.Target().Categories))
	for c := range scores {
		var leaves []budget.Node
		rounds := share / float64(scores)
		if set.startsFromLabels(f) {
			leaves = append(leaves,
				budget.GaussianLeaf(startLeaf, rounds*brcStartShare, 1).
					WithStatistic(mechanism.StatLabelSums))
			rounds *= 1 - brcStartShare
		}
		root.Kids = append(root.Kids,
			budget.Sequence(classNode(c), append(leaves, set.roundLeaves(rounds, agreement)...)...))
	}
	return root, nil
}

// startsFromLabels reports whether a run starts from a logistic regression of its private target on its features, all of
// which are public: the public classifier of the paper, with noise. Forms of Laplace noise have no such start.
func (set brcSettings) startsFromLabels(f method.Facts) bool {
	return f.LabelOnly && !set.laplace
}

// roundLeaves returns the leaves of a boosting run, with one draw per round each.
func (set brcSettings) roundLeaves(
	share float64,
	agreement budget.Statistic,
) []budget.Node {
	if set.intercept != chosenIntercept {
		return []budget.Node{set.leaf(agreementLeaf, share, set.rounds, agreement)}
	}
	return []budget.Node{
		budget.ExponentialLeaf(interceptLeaf, share*interceptShare,
			set.rounds).WithStatistic(mechanism.StatIntercepts),
		set.leaf(agreementLeaf, share*(1-interceptShare), set.rounds, agreement),
	}
}

// scoreCount returns the number of scores of a classifier with that many classes.
func scoreCount(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}

func (set brcSettings) check(f method.Facts) error {
	if len(f.Columns) == 0 || f.Target().Kind != dataset.Category ||
		len(f.Target().Categories) < 2 {
		return ErrClasses
	}
	if slices.ContainsFunc(f.Columns, func(c dataset.Column) bool {
		return c.Indicator
	}) {
		return ErrIndicator
	}
	if set.published && f.Relation == budget.AddRemove {
		return fmt.Errorf("%w; choose the relation %v or %v, or the form that is not as published",
			ErrPublished, budget.Substitute, budget.SubstitutePrivateColumns)
	}
	return nil
}

// checkFeatures returns an error for a plan without the required features. A run may have fewer features than
// were planned, if the ranges of some could not be found.
func checkFeatures(f method.Facts) error {
	if len(f.Columns) < 2 {
		return ErrClasses
	}
	if f.Relation != budget.SubstitutePrivateColumns || f.Target().Private {
		return nil
	}
	if private, _ := splitFeatures(f); len(private) == 0 {
		return errNoPrivate()
	}
	return nil
}

func errNoPrivate() error {
	return fmt.Errorf("%w; mark the columns to protect as private, or choose another relation",
		ErrNoPrivate)
}

// splitFeatures lists the features of the random classifiers and those of the public classifier. Without public
// columns, or beside a private target, the former are all features: a classifier that is fitted to private labels is not
// public.
func splitFeatures(f method.Facts) (private, public []int) {
	for j, c := range f.Columns[:len(f.Columns)-1] {
		if method.PublicTarget(f.Relation, f.Target()) && !c.Private {
			public = append(public, j)
		} else {
			private = append(private, j)
		}
	}
	return private, public
}

// Fit trains; see [method.Trainer]. A record in no class contributes to no sum. If a record may be replaced, d
// must hold all records: their number is then public, and that of records in a class is not. Ranges of public
// columns may be exact. Without a private feature the model is the public classifier, and without any features
// it is the constant 0. Every score is a [*regression.Votes].
func (t BRC) Fit(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (*method.Fit, error) {
	set, err := t.settings()
	if err != nil {
		return nil, err
	}
	if err := set.check(d.Facts); err != nil {
		return nil, err
	}
	if rel := s.Relation(); rel != d.Relation {
		return nil,
			fmt.Errorf("%w: BRC was planned for %v, the run has %v", mechanism.ErrRelation,
				d.Relation, rel)
	}
	s = s.Sub(brcNode)
	classes := d.Target().Categories
	records, err := set.records(ctx, s, d)
	if err != nil {
		return nil, err
	}
	model := &regression.Classifier{
		Target:  d.Target().Name,
		Classes: classes,
	}
	for c := range scoreCount(len(classes)) {
		positive := int32(c)
		if len(classes) == 2 {
			positive = 1
		}
		b, err := newRun(ctx, s.Sub(classNode(c)), set, d, positive)
		if err != nil {
			return nil, err
		}
		b.records = records
		if err := b.boost(ctx); err != nil {
			return nil, err
		}
		model.Scores = append(model.Scores, b.model())
	}
	return &method.Fit{
		Model: model,
		Scale: method.LogOdds,
	}, nil
}

// records returns the divisor of sums: the number of records in a class, released and at least the size of its
// noise, or exact if the classes are public.
//
// Under substitution, and with a private target, that number is private, because a replaced record may lose its class;
// the public number of
// all records is used instead. Then every alpha is smaller by the share of records in a class: the steps are
// shorter, but their signs are unchanged.
func (set brcSettings) records(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (float64, error) {
	counted := d.Records
	if d.Relation == budget.AddRemove || method.PublicTarget(d.Relation, d.Target()) {
		counted = counted.Known(len(d.Columns) - 1)
	}
	n, err := counted.Len(ctx)
	if err != nil {
		return 0, err
	}
	if d.Relation != budget.AddRemove {
		return max(float64(n), 1), nil
	}
	noisy, err := set.release(s, recordsLeaf, 0, s.Count(n))
	return max(noisy, s.Scale(recordsLeaf), 1), err
}

// leaf plans releases of one number with the noise of the run.
func (set brcSettings) leaf(
	name string,
	share float64,
	draws int,
	number budget.Statistic,
) budget.Node {
	if set.laplace {
		return budget.LaplaceLeaf(name, share, draws).WithStatistic(number)
	}
	return budget.GaussianLeaf(name, share, draws).WithStatistic(mechanism.StatAlone(number))
}

// release adds the noise of the run to one number.
func (set brcSettings) release(
	s *mechanism.Session,
	leaf string,
	draw int,
	x mechanism.Bounded[int64],
) (float64, error) {
	if set.laplace {
		out, err := mechanism.Laplace(s, leaf, draw, x)
		return out.Value(), err
	}
	out, err := mechanism.GaussianDraw(s, leaf, draw, mechanism.Alone(x))
	if err != nil {
		return 0, err
	}
	return out.Value()[0], nil
}

// reference returns the initial private weight, sqrt(l u).
func (set brcSettings) reference() float64 {
	return math.Sqrt(set.lower * set.upper)
}
