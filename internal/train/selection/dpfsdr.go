package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	settings "github.com/dptrain/dptrain/selection"
)

// Errors of the selectors for classification at plan time.
var (
	// ErrTarget is returned for a target that is not a category column of at
	// least two classes.
	ErrTarget = errors.New("the target must be a category column of at least two classes")
	// ErrCorrelated is returned for a correlated degree outside (0, 1].
	ErrCorrelated = errors.New("the correlated degree must be above 0 and at most 1")
	// ErrEntries is returned for columns of more than 1000 entries.
	ErrEntries = errors.New("the columns encode to too many entries")
)

const (
	// defaultMost is the default of the largest number of features of [DPFSDR], [DPFS]
	// and [CRFS].
	defaultMost = 10
	// maxEntries bounds the entries of an encoded row of all candidates (one per numeric
	// column, one per category), because the products of all pairs are released.
	maxEntries = 1000
	// defaultModel is the mu^2 of the model over that of the selection
	// (docs/proofs/dpfsdr.md, "The surrogate").
	defaultModel = .45 / .50
)

// statsLeaf is the leaf of the only release of the selectors for classification.
const statsLeaf = "stats"

// DPFSDR picks features for a classifier: those that separate the classes, are
// not correlated with better ones, and together promise the best accuracy (made
// sound after "Differentially Private Feature Selection Based on Dynamic
// Relevance for Correlated Data", 2022; as published no step of it is private,
// see docs/proofs/dpfsdr.md, "What holds, and what does not").
//
// Its only release is one of class statistics with Gaussian noise
// ([mechanism.ClassStats]). F-scores, correlated degrees, the order of dynamic
// relevance and the floating search, on a surrogate accuracy, are functions of the
// released numbers, so the number of features is free too.
//
// The zero value picks at most 10 features.
type DPFSDR struct {
	K     int  // largest number of features; 0 means 10
	Exact bool // pick K features in the order of dynamic relevance, without the surrogate
	// Correlated is the correlated degree from which the less important of two
	// columns is dropped; 0 means .95.
	Correlated float64
	// Model is the mu^2 of the model that is trained afterwards as a multiple of
	// that of the selection, because more columns harm a noisier model more. 0 means .9.
	Model float64
	// Weights of the released statistics; the zero value is the default.
	Weights mechanism.ClassWeights
	Sizes   []int // see [Sizer]; K is then 0 and Exact unset
}

// DPFS picks features in the order of their F-scores, each if it improves the
// surrogate accuracy: the baseline of that name in the paper (algorithm 4) on the
// release of [DPFSDR].
type DPFS settings.DPFS

// CRFS is [DPFS] after the less important of two correlated columns has been
// dropped: the paper's baseline CR-FS (T. Zhang, T. Zhu, P. Xiong, H. Huo, Z.
// Tari, W. Zhou, "Correlated differential privacy: feature selection in machine
// learning", 2020) on the release of [DPFSDR].
type CRFS settings.CRFS

// Name returns "dpfsdr".
func (DPFSDR) Name() string {
	return "dpfsdr"
}

// Name returns "dpfs".
func (DPFS) Name() string {
	return "dpfs"
}

// Name returns "crfs".
func (CRFS) Name() string {
	return "crfs"
}

// NeedsClasses returns true.
func (DPFSDR) NeedsClasses() bool {
	return true
}

// NeedsClasses returns true.
func (DPFS) NeedsClasses() bool {
	return true
}

// NeedsClasses returns true.
func (CRFS) NeedsClasses() bool {
	return true
}

// NeedsRanges returns true.
func (DPFSDR) NeedsRanges(Facts) bool {
	return true
}

// NeedsRanges returns true.
func (DPFS) NeedsRanges(Facts) bool {
	return true
}

// NeedsRanges returns true.
func (CRFS) NeedsRanges(Facts) bool {
	return true
}

// Plan returns the leaf of the class statistics. Errors: [ErrCount],
// [ErrTarget], [ErrCorrelated], [ErrEntries].
func (x DPFSDR) Plan(f Facts) (budget.Node, bool, error) {
	return x.setting().planRelease(f)
}

// Plan is [DPFSDR.Plan].
func (x DPFS) Plan(f Facts) (budget.Node, bool, error) {
	return x.setting().planRelease(f)
}

// Plan is [DPFSDR.Plan].
func (x CRFS) Plan(f Facts) (budget.Node, bool, error) {
	return x.setting().planRelease(f)
}

// Widest returns the K candidates that take the most room in a row.
func (x DPFSDR) Widest(f Facts) []dataset.Column {
	return widestOf(x.setting().most, f)
}

// Widest is [DPFSDR.Widest].
func (x DPFS) Widest(f Facts) []dataset.Column {
	return widestOf(x.setting().most, f)
}

// Widest is [DPFSDR.Widest].
func (x CRFS) Widest(f Facts) []dataset.Column {
	return widestOf(x.setting().most, f)
}

// Select returns the picked candidates, increasing, at least one. f.Ranges has
// one range per candidate and one for the target, which is not used. Errors
// besides those of the mechanism and the context: [ErrRanges].
func (x DPFSDR) Select(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) ([]int, error) {
	return x.setting().chooseColumns(ctx, s, f, records)
}

// Select is [DPFSDR.Select].
func (x DPFS) Select(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) ([]int, error) {
	return x.setting().chooseColumns(ctx, s, f, records)
}

// Select is [DPFSDR.Select].
func (x CRFS) Select(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) ([]int, error) {
	return x.setting().chooseColumns(ctx, s, f, records)
}

// classSetting contains the settings in which the selectors for classification differ.
type classSetting struct {
	name       string
	most       int
	exact      bool
	dynamic    bool    // order by dynamic relevance
	filter     bool    // drop correlated columns
	correlated float64 // from this degree on
	model      float64
	weights    mechanism.ClassWeights
	sizes      []int
}

func (x DPFSDR) setting() classSetting {
	return classSetting{
		x.Name(), mostFeatures(x.K, x.Sizes), x.Exact, true, true,
		valueOr(x.Correlated, defaultCorrelated), valueOr(x.Model, defaultModel), x.Weights,
		x.Sizes,
	}
}

func (x DPFS) setting() classSetting {
	return classSetting{
		name:       x.Name(),
		most:       mostFeatures(x.K, x.Sizes),
		exact:      x.Exact,
		correlated: 1,
		model:      defaultModel,
		sizes:      x.Sizes,
	}
}

func (x CRFS) setting() classSetting {
	return classSetting{
		name:       x.Name(),
		most:       mostFeatures(x.K, x.Sizes),
		exact:      x.Exact,
		filter:     true,
		correlated: valueOr(x.Correlated, defaultCorrelated),
		model:      defaultModel,
		sizes:      x.Sizes,
	}
}

func valueOr(v, otherwise float64) float64 {
	if v == 0 {
		return otherwise
	}
	return v
}

func (x classSetting) planRelease(f Facts) (budget.Node, bool, error) {
	entries := 0
	for _, c := range f.Columns {
		entries += slotsOf(c)
	}
	var err error
	switch {
	case x.sizes != nil && !isIncreasing(x.sizes, len(f.Columns)):
		err = fmt.Errorf("%w: sizes %v of %d", ErrSizes, x.sizes, len(f.Columns))
	case len(f.Columns) == 0 || x.most < 1 || x.exact && x.most >= len(f.Columns):
		err = fmt.Errorf("%w: k is %d, there are %d", ErrCount, x.most, len(f.Columns))
	case f.Target.Kind != dataset.Category || len(f.Target.Categories) < 2:
		err = fmt.Errorf(
			"%w: %q has %d",
			ErrTarget,
			f.Target.Name,
			len(f.Target.Categories),
		)
	case !(x.correlated > 0 && x.correlated <= 1):
		err = fmt.Errorf("%w, not %v", ErrCorrelated, x.correlated)
	case entries < 1 || entries > maxEntries:
		err = fmt.Errorf(
			"%w: %d, of 1 to %d (a numeric column has one, a category column one a category)",
			ErrEntries,
			entries,
			maxEntries,
		)
	}
	if err != nil {
		return budget.Node{}, false, err
	}
	statistic := mechanism.StatClassStatistics
	if f.hasExactProducts() {
		statistic = mechanism.StatPartClassStatistics
	}
	return budget.Sequence(x.name, budget.GaussianLeaf(statsLeaf, 1, 1).WithStatistic(statistic)),
		true, nil
}

func (x classSetting) chooseColumns(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) ([]int, error) {
	d, err := x.releaseStatistics(ctx, s, f, records)
	if err != nil {
		return nil, err
	}
	return x.pickColumns(ctx, d)
}

// rateChoice is chooseColumns, or releaseRanked with a list of sizes, with the confidence of the choice.
func (x classSetting) rateChoice(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (method.Choice, error) {
	d, err := x.releaseStatistics(ctx, s, f, records)
	if err != nil {
		return method.Choice{}, err
	}
	out := method.Choice{Picked: x.rankedColumns(d)}
	if x.sizes == nil {
		if out.Picked, err = x.pickColumns(ctx, d); err != nil {
			return method.Choice{}, err
		}
	}
	out.Confidence = func(ctx context.Context, size int) (method.Confidence, error) {
		p, err := x.choiceConfidence(ctx, d, size, s.PublicStream(confidenceStream))
		return method.Confidence{Probabilities: p}, err
	}
	return out, nil
}

// Choose implements [Rater]: the probability of every column to be among the first columns of the
// order on the exact statistics, with the same number of columns.
func (x DPFSDR) Choose(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (method.Choice, error) {
	return x.setting().rateChoice(ctx, s, f, records)
}

// Choose is [DPFSDR.Choose].
func (x DPFS) Choose(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (method.Choice, error) {
	return x.setting().rateChoice(ctx, s, f, records)
}

// Choose is [DPFSDR.Choose].
func (x CRFS) Choose(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (method.Choice, error) {
	return x.setting().rateChoice(ctx, s, f, records)
}

// releaseStatistics releases the class statistics and returns their discriminant.
func (x classSetting) releaseStatistics(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (*discriminant, error) {
	if err := f.checkRanges(); err != nil {
		return nil, err
	}
	s = s.Sub(x.name)
	moments, err := x.releaseMoments(ctx, s, f, records)
	if err != nil {
		return nil, err
	}
	model := s.Mu(statsLeaf) * math.Sqrt(x.model)
	e := classEncoder(f)
	reach := 1.
	if !f.hasExactProducts() { // rows are limited as a whole
		reach = min(1, math.Sqrt(e.NormLimit(0)))
	}
	return newDiscriminant(e, len(f.Columns), moments, reach, model), nil
}

// releaseMoments releases the class statistics. If only private columns may change, those of public columns are exact, and so
// are the products of pairs of them.
func (x classSetting) releaseMoments(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (mechanism.ClassMoments, error) {
	if f.hasExactProducts() {
		pass, err := mechanism.Sum[*partClassPass](
			ctx,
			s,
			records,
			partClassStatistic{f, x.weights},
		)
		if err != nil {
			return mechanism.ClassMoments{}, err
		}
		released, err := pass.sums.Release(s, statsLeaf)
		return released.Value(), err
	}
	pass, err := mechanism.Sum[*classPass](ctx, s, records, classStatistic{f, x.weights})
	if err != nil {
		return mechanism.ClassMoments{}, err
	}
	released, err := pass.sums.Release(s, statsLeaf)
	return released.Value(), err
}

// hasExactProducts reports whether pairs of public columns have exact products: with a public target, or if the target alone
// is private.
func (f Facts) hasExactProducts() bool {
	return f.LabelOnly || method.PublicTarget(f.Relation, f.Target)
}

// checkRanges returns [ErrRanges] for facts without one range per column.
func (f Facts) checkRanges() error {
	if len(f.Ranges) != len(f.Columns)+1 {
		return fmt.Errorf(
			"%w: got %d for %d columns",
			ErrRanges,
			len(f.Ranges),
			len(f.Columns)+1,
		)
	}
	return nil
}

func classEncoder(f Facts) *scaling.Encoder {
	columns := slices.Clone(f.Columns)
	for j := range columns {
		columns[j].Indicator = false // choices are of columns; their indicators are entries of the model only
	}
	return scaling.NewEncoder(columns, f.Ranges[:len(columns)])
}

// pickColumns chooses columns by the released statistics.
func (x classSetting) pickColumns(
	ctx context.Context,
	d *discriminant,
) ([]int, error) {
	if x.exact || x.sizes != nil {
		picked := x.rankedColumns(d)
		slices.Sort(picked)
		return picked, nil
	}
	picked, err := d.floatingSearch(ctx, x.orderedCandidates(d), x.most, x.dynamic)
	slices.Sort(picked)
	return picked, err
}

// orderedCandidates returns the columns that are not dropped as correlated, by falling importance.
func (x classSetting) orderedCandidates(d *discriminant) []int {
	if x.filter {
		return d.dropCorrelated(d.byImportance(), x.correlated)
	}
	return d.byImportance()
}

// rankedColumns returns the first columns of the order, the best first.
func (x classSetting) rankedColumns(d *discriminant) []int {
	return d.firstColumns(x.orderedCandidates(d), x.most, x.dynamic)
}
