package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/internal/sys/parallel"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/regression"
)

// Limits of an explanation.
const (
	// DefaultTables is the number of synthetic tables of an explanation.
	DefaultTables = 9
	// MinExplainRows and MaxExplainRows limit the size of a synthetic table.
	MinExplainRows = 10
	MaxExplainRows = 10_000_000
	// MaxExplainSizes is the largest number of sizes.
	MaxExplainSizes = 8
	// ExplainTestRows is the number of rows that models are tested on.
	ExplainTestRows = 5000
)

// The band of an explanation leaves out this share of the tables on either side.
const bandTail = .1

var (
	// ErrExplainRows is returned for sizes outside the limits.
	ErrExplainRows = fmt.Errorf(
		"an explanation needs 1 to %d different numbers of rows from %d to %d",
		MaxExplainSizes, MinExplainRows, MaxExplainRows)
	// ErrTooWide is returned for a shape that no bounded experiment can
	// explain.
	ErrTooWide = errors.New(
		"simulating tables of this shape takes too long at all requested sizes; " +
			"give fewer rows or exclude columns")
)

// DefaultExplainRows returns the sizes of synthetic tables by default.
func DefaultExplainRows() []int {
	return []int{1000, 10_000, 100_000}
}

// ExplainEpsilons returns the grid that an explanation adds the pipeline's own
// epsilon to.
func ExplainEpsilons() []float64 {
	return []float64{.1, .3, 1, 3, 10}
}

// ExplainConfig describes an explanation. The zero value of every field means its default.
type ExplainConfig struct {
	// Rows lists the sizes of the synthetic tables, the part held out by the
	// pipeline included; nil means [DefaultExplainRows].
	Rows []int
	// Tables is the number of synthetic tables; 0 means [DefaultTables].
	Tables int
	// Seed chooses the synthetic tables. It is public and has no part in the
	// noise.
	Seed uint64
	// Progress, if set, is called with the number of trained models and the total. Its calls do not overlap.
	Progress func(done, total int)
}

// A Band is the distribution of a metric over the synthetic tables: R², or of a
// classification the accuracy.
type Band struct {
	Median, Lower, Upper float64 // Lower and Upper are the 10% and 90% quantiles
}

// An ExplainedFit is the expected error at one number of rows and one epsilon.
type ExplainedFit struct {
	Band          // over the tables with a model; NaN if there are none
	Abstained int // number of tables on which the method abstained
}

// An ExplainedSize is the expected error at one number of rows.
type ExplainedSize struct {
	Rows int
	Open Band           // without privacy: least squares, of classes logistic regression
	At   []ExplainedFit // by epsilon
}

// An Explanation is the expected error of a pipeline on synthetic tables.
type Explanation struct {
	Epsilons []float64 // increasing, the pipeline's own among them
	Sizes    []ExplainedSize
	// Largest is the accuracy of always predicting the largest class, Truth that
	// of the true function. For a classification only.
	Largest, Truth Band
	Tables         int
	Seed           uint64
	Notes          []string // parts that were omitted, with reasons
}

// Explain runs a pipeline on synthetic tables of its declared shape, for several numbers of rows and epsilons,
// and reports the quality of its models. It reads no record: the result depends on the pipeline, the
// configuration and the noise.
//
// A synthetic table has the pipeline's columns. Any two numeric features are normal with correlation
// [SyntheticCorrelation], in random units; a declared range is four standard deviations on either side of its
// middle. Category cells are uniform over the declared list (and "other", if that is kept). No cell is missing,
// and if the pipeline protects units, every row is one. The target is linear in the features, with effects from
// the standard normal distribution, plus normal noise: the true function has the R² [SyntheticR2]. Features
// that the selection excludes without looking at data have no effect.
//
// For classes there are such scores instead of the target, as many as a [regression.Classifier] has, with
// effects and noise of their own: with two classes, the second one is chosen if the score is above 0, with
// more, the one with the largest score. Two classes are equally large then, more classes approximately. Every
// row is in a class.
//
// Every table is used at every size, as its first rows, and at every epsilon, so that differences are paired.
// Models are tested on [ExplainTestRows] additional rows by their exact R² or accuracy. Tables on which the
// method abstained are counted. boosted-kernel, which takes longer, is replaced by boosted-additive, see Notes.
// Wide shapes get fewer tables and sizes, see Notes, or are rejected with [ErrTooWide]. Other errors are
// [ErrExplainRows], the context's and those of [pipeline.Pipeline.Plan].
func Explain(
	ctx context.Context,
	p *pipeline.Pipeline,
	c ExplainConfig,
) (*Explanation, error) {
	x, err := newExplainer(p.AsIfFound(), c)
	if err != nil {
		return nil, err
	}
	results := make([]tableScores, x.out.Tables)
	errs := make([]error, x.out.Tables)
	next := make(chan int)
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	var workers parallel.Group
	for range min(x.out.Tables, x.parallelTables()) {
		workers.Go(func() {
			for t := range next {
				if results[t], errs[t] = x.scoreTable(within, t); errs[t] != nil {
					cancel()
				}
			}
		})
	}
	for t := 0; t < x.out.Tables && within.Err() == nil; t++ {
		select {
		case next <- t:
		case <-within.Done():
		}
	}
	close(next)
	workers.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, err
		}
	}
	x.summariseTables(results)
	return x.out, nil
}

// explainer is one call of Explain.
type explainer struct {
	pipelines []*pipeline.Pipeline // by epsilon
	plans     []*pipeline.Plan     // those of pipelines
	features  []int                // the columns that the target depends on
	target    int
	open      trainer // without privacy
	shape     shape
	out       *Explanation

	progress func(done, total int)
	mu       sync.Mutex
	done     int
}

func newExplainer(p *pipeline.Pipeline, c ExplainConfig) (*explainer, error) {
	sizes, err := explainSizes(c.Rows)
	if err != nil {
		return nil, err
	}
	transform := p.Transform
	groups := p.Groups
	p, kernel := p.WithoutGroups().OfTransformed().WithoutKernel()
	plan, err := p.Plan()
	if err != nil {
		return nil, err
	}
	x := &explainer{
		target:   p.Schema.Index(p.Target),
		progress: c.Progress,
		out:      &Explanation{Tables: c.Tables, Seed: c.Seed},
	}
	if x.out.Tables <= 0 {
		x.out.Tables = DefaultTables
	}
	open := *p
	if open.Selector == nil { // keeps all, or chooses: all may be used
		open.Selector = selection.None{}
	}
	if transform != rescale.None {
		x.addNote(
			"all results are for %s; R² in the units of the target differs",
			transform.Name(p.Target))
	}
	if groups != "" {
		x.addNote(
			"metrics by %s are not simulated: they cost no budget, but can raise the noise of the overall metric by a factor of up to 1.5",
			groups)
	}
	if kernel {
		x.addNote(
			"boosted-additive was simulated instead of boosted-kernel, which takes longer; these linear tables do not need its kernel")
	}
	x.features, err = publicChoice(&open, x.target)
	private := errors.Is(err, errPrivateSelection)
	if private {
		x.features = nil
		err = nil
		for j := range p.Schema.Columns {
			if j != x.target {
				x.features = append(x.features, j)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	open.Selector = fixedChoice(p.Schema, x.features)
	baseline := nonprivate.NonprivateOLS
	if p.Task == regression.TaskClassification {
		baseline = nonprivate.NonprivateLogistic
	}
	if x.open, err = newBaselineTrainer(baseline, &open); err != nil {
		return nil, err
	}
	x.keepPriceable(p)
	x.shape = shapeOf(p, plan.Method(), x.features, private)
	return x, x.boundWork(sizes, c.Rows != nil)
}

// explainSizes checks and sorts the sizes.
func explainSizes(rows []int) ([]int, error) {
	if rows == nil {
		rows = DefaultExplainRows()
	}
	rows = slices.Clone(rows)
	slices.Sort(rows)
	n := len(rows)
	if n == 0 || n > MaxExplainSizes || rows[0] < MinExplainRows || rows[n-1] > MaxExplainRows ||
		len(slices.Compact(rows)) < n {
		return nil, ErrExplainRows
	}
	return rows, nil
}

// keepPriceable keeps the epsilons that the pipeline can be priced at.
func (x *explainer) keepPriceable(p *pipeline.Pipeline) {
	grid := append(ExplainEpsilons(), p.Budget.Epsilon)
	slices.Sort(grid)
	for _, epsilon := range slices.Compact(grid) {
		at := *p
		at.Budget.Epsilon = epsilon
		plan, err := at.Plan()
		if err != nil {
			x.addNote("epsilon %v is left out because the run cannot be planned with it", epsilon)
			continue
		}
		x.pipelines = append(x.pipelines, &at)
		x.plans = append(x.plans, plan)
		x.out.Epsilons = append(x.out.Epsilons, epsilon)
	}
}

func (x *explainer) addNote(format string, args ...any) {
	x.out.Notes = append(x.out.Notes, fmt.Sprintf(format, args...))
}

// parallelTables is the number of tables that are worked on at once.
func (x *explainer) parallelTables() int {
	largest := x.out.Sizes[len(x.out.Sizes)-1].Rows + ExplainTestRows
	return max(1, min(runtime.GOMAXPROCS(0), copiesBytes/(16*largest*x.shape.width)))
}
