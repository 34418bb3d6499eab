package bench

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/regression"
)

// tableScores are the values of the metric of one table.
type tableScores struct {
	sizes          []sizeScores
	largest, truth float64 // of classes
}

// sizeScores are those at one size; NaN where the method abstained.
type sizeScores struct {
	open float64
	at   []float64
}

// scoreTable draws a synthetic table and trains every model on it.
func (x *explainer) scoreTable(
	ctx context.Context,
	t int,
) (tableScores, error) {
	var scores tableScores
	schema := x.pipelines[0].Schema
	family := newFamily(
		schema,
		x.features,
		x.target,
		newSynthetic(x.out.Seed, uint64(t)),
	)
	cols, err := family.drawRows(ctx, ExplainTestRows)
	if err != nil {
		return scores, err
	}
	test, err := firstRows(schema, cols, ExplainTestRows)
	if err != nil {
		return scores, err
	}
	if classes := schema.Columns[x.target].Categories; x.hasClasses() {
		if scores.largest, scores.truth, err = referenceAccuracies(classes, test.Codes(x.target),
			family.best); err != nil {
			return scores, err
		}
	}
	sizes := x.out.Sizes
	if cols, err = family.drawRows(ctx, sizes[len(sizes)-1].Rows); err != nil {
		return scores, err
	}
	for _, size := range sizes {
		train, err := firstRows(schema, cols, size.Rows)
		if err != nil {
			return scores, err
		}
		var at sizeScores
		if at.open, err = x.scoreModel(ctx, x.open, train, test); err != nil {
			return scores, err
		}
		for i, p := range x.pipelines {
			value, err := x.scoreModel(
				ctx,
				newPrivateTrainer(p, x.plans[i]),
				train,
				test,
			)
			if errors.Is(err, ErrAbstained) {
				value = math.NaN()
				err = nil
			}
			if err != nil {
				return scores, err
			}
			at.at = append(at.at, value)
		}
		scores.sizes = append(scores.sizes, at)
	}
	return scores, nil
}

// hasClasses reports whether the target has classes.
func (x *explainer) hasClasses() bool {
	return x.pipelines[0].Schema.Columns[x.target].Kind != dataset.Numeric
}

// referenceAccuracies are the accuracies of the largest class and of the classes that the
// true function points to.
func referenceAccuracies(
	classes []string,
	codes, best []int32,
) (largest, truth float64, err error) {
	count := make([]int, len(classes))
	for _, k := range codes {
		count[k]++
	}
	got, err := ScoreClasses(classes, codes, best)
	return float64(slices.Max(count)) / float64(len(codes)), got.Accuracy, err
}

// scoreModel trains a model and returns its R² or accuracy on the test rows.
func (x *explainer) scoreModel(
	ctx context.Context,
	train trainer,
	rows, test *dataset.Table,
) (float64, error) {
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	by, err := train(ctx, rows)
	if err != nil && !errors.Is(err, ErrAbstained) {
		return 0, err
	}
	x.countModel()
	if err != nil {
		return 0, err
	}
	prediction, err := by.predict(test)
	if err != nil {
		return 0, err
	}
	if x.hasClasses() {
		got, err := ScoreClasses(
			test.Schema().Columns[x.target].Categories,
			test.Codes(x.target),
			codesOf(prediction),
		)
		return got.Accuracy, err
	}
	value := regression.R2(prediction, test.Float(x.target))
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, ErrNotFinite
	}
	return value, nil
}

// countModel reports one more model.
func (x *explainer) countModel() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.done++; x.progress != nil {
		x.progress(x.done, x.out.Tables*len(x.out.Sizes)*(1+len(x.pipelines)))
	}
}

// summariseTables turns the values of all tables into bands.
func (x *explainer) summariseTables(results []tableScores) {
	band := func(value func(tableScores) float64) ExplainedFit {
		var values []float64
		for _, r := range results {
			if v := value(r); !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		slices.Sort(values)
		return ExplainedFit{Band{quantile(values, .5), quantile(values, bandTail),
			quantile(values, 1-bandTail)}, len(results) - len(values)}
	}
	for i := range x.out.Sizes {
		size := &x.out.Sizes[i]
		size.Open = band(func(s tableScores) float64 {
			return s.sizes[i].open
		}).Band
		for e := range x.pipelines {
			size.At = append(size.At, band(func(s tableScores) float64 {
				return s.sizes[i].at[e]
			}))
		}
	}
	if x.hasClasses() {
		x.out.Largest = band(func(s tableScores) float64 {
			return s.largest
		}).Band
		x.out.Truth = band(func(s tableScores) float64 {
			return s.truth
		}).Band
	}
}
