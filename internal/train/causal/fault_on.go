//go:build replay

package causal

import (
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/direction"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// RunRecorded implements Run in a session with a recorder. It exists in test builds only: the recorder holds
// exact private values.
func (p *Plan) RunRecorded(
	ctx context.Context,
	t *dataset.Table,
	r *mechanism.Recorder,
) (*Result, error) {
	return p.run(ctx, t, func(priced *budget.Priced) (*mechanism.Session, error) {
		return mechanism.NewRecordedSession(priced, r), nil
	})
}

// sortedColumns returns the known values of the columns of a view, in increasing order.
func sortedColumns(
	ctx context.Context,
	r mechanism.Records,
) ([][]float64, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	var out [][]float64
	b := v.Block(0, v.Len())
	for j := range v.Schema().Columns {
		values := slices.DeleteFunc(slices.Clone(b.Float(j, nil)), math.IsNaN)
		slices.Sort(values)
		out = append(out, values)
	}
	return out, nil
}

// rangesFor returns the ranges that are divided into bins.
func rangesFor(
	ctx context.Context,
	s *mechanism.Session,
	r mechanism.Records,
	ranges []scaling.Range,
) ([]scaling.Range, error) {
	if !s.Planted(mechanism.RangeFromData) {
		return ranges, nil
	}
	values, err := sortedColumns(ctx, r)
	for j, column := range values {
		if n := len(column); n > 1 && column[0] < column[n-1] &&
			!math.IsInf(column[n-1]-column[0], 0) {
			ranges[j].Lower = column[0]
			ranges[j].Upper = column[n-1]
		}
	}
	return ranges, err
}

// statisticFor returns the statistic of the histograms.
func statisticFor(
	ctx context.Context,
	s *mechanism.Session,
	r mechanism.Records,
	x cellStatistic,
) (mechanism.Statistic, error) {
	if !s.Planted(mechanism.BinsFromData) {
		return x, nil
	}
	values, err := sortedColumns(ctx, r)
	return quantileStatistic{x, values}, err
}

// quantileStatistic has bins of equal numbers of records.
type quantileStatistic struct {
	cellStatistic
	values [][]float64
}

// New implements [mechanism.Statistic].
func (x quantileStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	p := x.cellStatistic.New(m).(*cellPass)
	p.bin = func(out []uint16, column []float64, j int) {
		for k, v := range column {
			at, _ := slices.BinarySearch(x.values[j], v)
			out[k] = uint16(min(at*x.Bins/max(len(x.values[j]), 1), x.Bins-1))
		}
	}
	return p
}

// redrawFrom computes the stability from exact counts.
func redrawFrom(
	ctx context.Context,
	s *mechanism.Session,
	r mechanism.Records,
	ranges []scaling.Range,
	pair [2]int,
	x *direction.Pair,
) error {
	if !s.Planted(mechanism.RedrawsFromExact) {
		return nil
	}
	v, err := r.View(ctx)
	if err != nil {
		return err
	}
	exact := direction.Histogram{
		B:      x.B,
		Counts: make([]float64, len(x.Counts)),
	}
	b := v.Block(0, v.Len())
	bins := [2][]uint16{make([]uint16, b.Len()), make([]uint16, b.Len())}
	for i, j := range pair {
		binsOf(bins[i], b.Float(j, nil), ranges[j], x.B)
	}
	for k, i := range bins[0] {
		if j := bins[1][k]; i != noCell && j != noCell {
			exact.Counts[int(i)*x.B+int(j)]++
		}
	}
	x.Stability = direction.Stability(
		exact,
		x.Noise,
		x.Signed,
		s.PublicSeed("fault").Stream(),
	)
	x.Dependence = direction.Dependence(exact, x.Noise, s.PublicSeed("fault").Stream())
	return nil
}
