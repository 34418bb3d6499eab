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
	// defaultMost is how many features [DPFSDR], [DPFS] and [CRFS] pick at most
	// when a recipe does not say.
	defaultMost = 10
	// maxEntries bounds the entries of an encoded row (one a numeric column, one
	// a category) of all candidates: products of all pairs are released.
	maxEntries = 1000
	// defaultModel is the mu^2 of the model over that of the selection
	// (docs/proofs/dpfsdr.md, "The surrogate").
	defaultModel = .45 / .50
)

// statsLeaf is the one release of the selectors for classification.
const statsLeaf = "stats"

// DPFSDR picks features for a classifier: those that separate the classes, are
// not correlated with better ones, and together promise the best accuracy (made
// sound after "Differentially Private Feature Selection Based on Dynamic
// Relevance for Correlated Data", 2022; as published no step of it is private,
// see docs/proofs/dpfsdr.md, "What holds, and what does not").
//
// One Gaussian release of class statistics ([mechanism.ClassStats]) is all that
// it spends. F-scores, correlated degrees, the order of dynamic relevance and the
// floating search, on a surrogate accuracy, are functions of what was released;
// so the number of features is free too.
//
// The zero value picks at most 10 features.
type DPFSDR struct {
	K     int  // the most features it picks; 0: 10
	Exact bool // pick K, in the order of dynamic relevance, whatever the surrogate says
	// Correlated is the correlated degree from which the less important of two
	// columns is dropped; 0: .95.
	Correlated float64
	// Model is the mu^2 of the model that is trained afterwards as a multiple of
	// that of the selection: more columns cost a noisier model more. 0: .9.
	Model float64
	// Weights of the released statistics; the zero value is the default.
	Weights mechanism.ClassWeights
	Sizes   []int // see [Sizer]; K is then 0 and Exact unset
}

// DPFS picks features in the order of their F-scores, each if it improves the
// surrogate accuracy: the baseline of that name in the paper (algorithm 4) on the
// release of [DPFSDR].
type DPFS struct {
	K     int   // as in DPFSDR
	Exact bool  // pick the K largest F-scores
	Sizes []int // as in DPFSDR
}

// CRFS is [DPFS] after the less important of two correlated columns has been
// dropped: the paper's baseline CR-FS (T. Zhang, T. Zhu, P. Xiong, H. Huo, Z.
// Tari, W. Zhou, "Correlated differential privacy: feature selection in machine
// learning", 2020) on the release of [DPFSDR].
type CRFS struct {
	K          int     // as in DPFSDR
	Exact      bool    // pick the K largest F-scores
	Correlated float64 // as in DPFSDR
	Sizes      []int   // as in DPFSDR
}

// Name returns "dpfsdr".
func (DPFSDR) Name() string { return "dpfsdr" }

// Name returns "dpfs".
func (DPFS) Name() string { return "dpfs" }

// Name returns "crfs".
func (CRFS) Name() string { return "crfs" }

// NeedsClasses returns true.
func (DPFSDR) NeedsClasses() bool { return true }

// NeedsClasses returns true.
func (DPFS) NeedsClasses() bool { return true }

// NeedsClasses returns true.
func (CRFS) NeedsClasses() bool { return true }

// NeedsRanges returns true.
func (DPFSDR) NeedsRanges(Facts) bool { return true }

// NeedsRanges returns true.
func (DPFS) NeedsRanges(Facts) bool { return true }

// NeedsRanges returns true.
func (CRFS) NeedsRanges(Facts) bool { return true }

// Plan returns the leaf of the class statistics. Errors: [ErrCount],
// [ErrTarget], [ErrCorrelated], [ErrEntries].
func (x DPFSDR) Plan(f Facts) (budget.Node, bool, error) { return x.setting().plan(f) }

// Plan is [DPFSDR.Plan].
func (x DPFS) Plan(f Facts) (budget.Node, bool, error) { return x.setting().plan(f) }

// Plan is [DPFSDR.Plan].
func (x CRFS) Plan(f Facts) (budget.Node, bool, error) { return x.setting().plan(f) }

// Most returns the K candidates that take the most room in a row.
func (x DPFSDR) Most(f Facts) []dataset.Column { return widestOf(x.setting().most, f) }

// Most is [DPFSDR.Most].
func (x DPFS) Most(f Facts) []dataset.Column { return widestOf(x.setting().most, f) }

// Most is [DPFSDR.Most].
func (x CRFS) Most(f Facts) []dataset.Column { return widestOf(x.setting().most, f) }

// Select returns the picked candidates, increasing, at least one. f.Ranges has
// one range a candidate and one for the target, which is not looked at. Errors
// besides those of the mechanism and the context: [ErrRanges].
func (x DPFSDR) Select(ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records) ([]int, error) {
	return x.setting().choose(ctx, s, f, records)
}

// Select is [DPFSDR.Select].
func (x DPFS) Select(ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records) ([]int, error) {
	return x.setting().choose(ctx, s, f, records)
}

// Select is [DPFSDR.Select].
func (x CRFS) Select(ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records) ([]int, error) {
	return x.setting().choose(ctx, s, f, records)
}

// classSetting is what the selectors for classification differ in.
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
		x.Name(), mostOf(x.K, x.Sizes), x.Exact, true, true, or(x.Correlated, defaultCorrelated), or(x.Model, defaultModel), x.Weights, x.Sizes,
	}
}

func (x DPFS) setting() classSetting {
	return classSetting{name: x.Name(), most: mostOf(x.K, x.Sizes), exact: x.Exact, correlated: 1, model: defaultModel, sizes: x.Sizes}
}

func (x CRFS) setting() classSetting {
	return classSetting{
		name: x.Name(), most: mostOf(x.K, x.Sizes), exact: x.Exact,
		filter: true, correlated: or(x.Correlated, defaultCorrelated), model: defaultModel, sizes: x.Sizes,
	}
}

func or(v, otherwise float64) float64 {
	if v == 0 {
		return otherwise
	}
	return v
}

func (x classSetting) plan(f Facts) (budget.Node, bool, error) {
	entries := 0
	for _, c := range f.Columns {
		entries += slotsOf(c)
	}
	var err error
	switch {
	case x.sizes != nil && !increasing(x.sizes, len(f.Columns)):
		err = fmt.Errorf("%w: sizes %v of %d", ErrSizes, x.sizes, len(f.Columns))
	case len(f.Columns) == 0 || x.most < 1 || x.exact && x.most >= len(f.Columns):
		err = fmt.Errorf("%w: k is %d, there are %d", ErrCount, x.most, len(f.Columns))
	case f.Target.Kind != dataset.Category || len(f.Target.Categories) < 2:
		err = fmt.Errorf("%w: %q has %d", ErrTarget, f.Target.Name, len(f.Target.Categories))
	case !(x.correlated > 0 && x.correlated <= 1):
		err = fmt.Errorf("%w, not %v", ErrCorrelated, x.correlated)
	case entries < 1 || entries > maxEntries:
		err = fmt.Errorf("%w: %d, of 1 to %d (a numeric column has one, a category column one a category)", ErrEntries, entries, maxEntries)
	}
	if err != nil {
		return budget.Node{}, false, err
	}
	return budget.Seq(x.name, budget.GaussianLeaf(statsLeaf, 1, 1).Of(mechanism.StatClassStatistics)), true, nil
}

func (x classSetting) choose(ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records) ([]int, error) {
	d, err := x.release(ctx, s, f, records)
	if err != nil {
		return nil, err
	}
	return x.pick(ctx, d)
}

// rate is choose, or rank with a list of sizes, with the confidence of the choice.
func (x classSetting) rate(ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records) (method.Choice, error) {
	d, err := x.release(ctx, s, f, records)
	if err != nil {
		return method.Choice{}, err
	}
	out := method.Choice{Picked: x.ranked(d)}
	if x.sizes == nil {
		if out.Picked, err = x.pick(ctx, d); err != nil {
			return method.Choice{}, err
		}
	}
	out.Confidence = func(ctx context.Context, size int) (method.Confidence, error) {
		p, err := x.confidence(ctx, d, size, s.PublicStream(confidenceStream))
		return method.Confidence{Probabilities: p}, err
	}
	return out, nil
}

// Choose implements [Rater]: the probability of every column to be among as many first ones
// of the order, on the exact statistics, as were chosen.
func (x DPFSDR) Choose(ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records) (method.Choice, error) {
	return x.setting().rate(ctx, s, f, records)
}

// Choose is [DPFSDR.Choose].
func (x DPFS) Choose(ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records) (method.Choice, error) {
	return x.setting().rate(ctx, s, f, records)
}

// Choose is [DPFSDR.Choose].
func (x CRFS) Choose(ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records) (method.Choice, error) {
	return x.setting().rate(ctx, s, f, records)
}

// release releases the class statistics and reads them.
func (x classSetting) release(ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records) (*discriminant, error) {
	if err := f.checkRanges(); err != nil {
		return nil, err
	}
	s = s.Sub(x.name)
	pass, err := mechanism.Sum[*classPass](ctx, s, records, classStatistic{f, x.weights})
	if err != nil {
		return nil, err
	}
	released, err := pass.sums.Release(s, statsLeaf)
	if err != nil {
		return nil, err
	}
	model := s.Mu(statsLeaf) * math.Sqrt(x.model)
	e := classEncoder(f)
	return newDiscriminant(e, len(f.Columns), released.Value(), min(1, math.Sqrt(e.NormLimit(0))), model), nil
}

// checkRanges refuses facts without one range per column.
func (f Facts) checkRanges() error {
	if len(f.Ranges) != len(f.Columns)+1 {
		return fmt.Errorf("%w: got %d for %d columns", ErrRanges, len(f.Ranges), len(f.Columns)+1)
	}
	return nil
}

func classEncoder(f Facts) *scaling.Encoder {
	columns := slices.Clone(f.Columns)
	for j := range columns {
		columns[j].Indicator = false // what is chosen is columns; the model has their indicators
	}
	return scaling.NewEncoder(columns, f.Ranges[:len(columns)])
}

// pick chooses from what was released.
func (x classSetting) pick(ctx context.Context, d *discriminant) ([]int, error) {
	if x.exact || x.sizes != nil {
		picked := x.ranked(d)
		slices.Sort(picked)
		return picked, nil
	}
	picked, err := d.search(ctx, x.candidates(d), x.most, x.dynamic)
	slices.Sort(picked)
	return picked, err
}

// candidates are the columns that are left of the graph, by falling importance.
func (x classSetting) candidates(d *discriminant) []int {
	if x.filter {
		return d.uncorrelated(d.byImportance(), x.correlated)
	}
	return d.byImportance()
}

// ranked returns the first columns of the order, the best first.
func (x classSetting) ranked(d *discriminant) []int {
	return d.first(x.candidates(d), x.most, x.dynamic)
}
