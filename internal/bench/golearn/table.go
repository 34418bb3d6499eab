package golearn

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/numeric/columns"
)

// The names of the methods, as recipes and the bench command use them.
const (
	KNN    = "golearn-knn"
	ID3    = "golearn-id3"
	Forest = "golearn-forest"
)

var (
	// ErrRows is returned for a table without a row that has a target.
	ErrRows = errors.New("golearn needs a row with a target")
	// ErrNumbers is returned by [ForTable] for a method that predicts classes only.
	ErrNumbers = errors.New("this method of golearn predicts classes only")
	// ErrUnknown is returned by [ForTable] for a name of another method.
	ErrUnknown = errors.New("golearn has no such baseline")
)

// A Source returns 64 random bits at a time. It may be seeded, because the data are public.
type Source interface{ Uint64() uint64 }

// A Model predicts rows of a view with the columns of the one that it was trained on.
type Model interface {
	// Predict returns a number per row, or the index of a class.
	Predict(ctx context.Context, v dataset.View) ([]float64, error)
}

// A Trainer fits a model to some columns of public rows. It may be called from several goroutines at once, each with a
// source of its own.
type Trainer func(
	ctx context.Context, src Source, v dataset.View, target int, features []int,
) (Model, error)

// ForTable returns the method of that name for targets that are numbers, or classes. Errors: [ErrUnknown],
// [ErrNumbers].
func ForTable(name string, classes bool) (Trainer, error) {
	switch {
	case name == KNN:
		return func(
			ctx context.Context, _ Source, v dataset.View, target int, features []int,
		) (Model, error) {
			return trainNeighbours(ctx, v, target, features, classes)
		}, nil
	case name != ID3 && name != Forest:
		return nil, fmt.Errorf("%w: %q", ErrUnknown, name)
	case !classes:
		return nil, fmt.Errorf("%w: %s", ErrNumbers, name)
	case name == ID3:
		return trainTree, nil
	}
	return trainForest, nil
}

// scale standardises a numeric column.
type scale struct{ mean, deviation float64 }

// newScale returns the scale of training values. A missing value counts as the mean.
func newScale(values []float64) scale {
	c := columns.Clean(values)
	sum := 0.0
	for _, v := range c.Values {
		sum += (v - c.Mean) * (v - c.Mean)
	}
	s := scale{c.Mean, math.Sqrt(sum / float64(max(1, len(values))))}
	if c.Spread == 0 {
		s.deviation = 0
	}
	return s
}

// maxDeviations bounds a standardised value.
const maxDeviations = 100

// apply returns the standardised value, 0 for a missing one and for a constant column.
func (s scale) apply(v float64) float64 {
	if math.IsNaN(v) || s.deviation == 0 {
		return 0
	}
	return min(max((v-s.mean)/s.deviation, -maxDeviations), maxDeviations)
}

// withTarget lists the rows of a view that have a target: a number, or a class of the list.
func withTarget(
	v dataset.View,
	target int,
	classes bool,
) (rows []int, y []float64) {
	all := v.Block(0, v.Len())
	if !classes {
		for i, x := range all.Float(target, make([]float64, v.Len())) {
			if !math.IsNaN(x) && !math.IsInf(x, 0) {
				rows = append(rows, i)
				y = append(y, x)
			}
		}
		return rows, y
	}
	known := len(v.Schema().Columns[target].Categories)
	for i, code := range all.Codes(target, make([]int32, v.Len())) {
		if code >= 0 && int(code) < known {
			rows = append(rows, i)
			y = append(y, float64(code))
		}
	}
	return rows, y
}

// largest returns the index of the first largest value.
func largest(values []float64) int {
	best := 0
	for k, v := range values {
		if v > values[best] {
			best = k
		}
	}
	return best
}
