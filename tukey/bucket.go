package tukey

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/parallel"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// ridgePenalty times the number of rows of a bucket is the penalty on its standardised
// slopes: enough to settle collinear columns, whose slopes would be drawn apart.
const ridgePenalty = 1e-2

// constantSpread: a column whose values all lie within so many times the largest
// from their mean is constant up to rounding.
const constantSpread = 8 * 0x1p-52

// models deals the records to m buckets, each by its own coin, and fits them. A model depends on the records
// of its bucket alone.
func (f *frame) models(ctx context.Context, s *mechanism.Session, r mechanism.Records, m int) ([][]float64, error) {
	models := make([][]float64, 0, m)
	shifts := s.Coins("jitter")
	err := r.Buckets(ctx, s.Coins("buckets"), m, func(first int, buckets []dataset.View) error {
		models = append(models, f.fitAll(ctx, buckets)...)
		for i, model := range models[first:] {
			for j := range model {
				model[j] += f.jitter[j] * shift(shifts, (first+i)*len(model)+j)
			}
		}
		return ctx.Err()
	})
	return models, err
}

// fitAll fits buckets in parallel. Where the context has ended some have no model.
func (f *frame) fitAll(ctx context.Context, buckets []dataset.View) [][]float64 {
	models := make([][]float64, len(buckets))
	var next atomic.Int64
	var wg parallel.Group
	for range min(runtime.GOMAXPROCS(0), len(buckets)) {
		wg.Go(func() {
			fit := newBucketFit(f)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(buckets) {
					return
				}
				models[i] = slices.Clone(fit.model(buckets[i]))
			}
		})
	}
	wg.Wait()
	return models
}

// shift returns the coin of a coordinate, uniform in [-1, 1).
func shift(c mechanism.Coins, coordinate int) float64 {
	const steps = 1 << 30
	return 2*float64(c.Below(uint64(coordinate), steps))/steps - 1
}

// bucketFit is the memory in which one goroutine fits buckets.
type bucketFit struct {
	frame  *frame
	x      [][]float64 // one a slot, centred
	y      []float64
	mean   []float64 // of the slots, from their anchors
	scale  []float64 // 1/standard deviation; 0 for a constant slot
	gram   []float64 // row by row; the lower triangle is used
	slopes []float64
	out    []float64
	floats []float64
	codes  []int32
}

func newBucketFit(f *frame) *bucketFit {
	p := len(f.slots)
	return &bucketFit{
		frame: f, x: make([][]float64, p), mean: make([]float64, p), scale: make([]float64, p),
		gram: make([]float64, p*p), slopes: make([]float64, p), out: make([]float64, p+1),
	}
}

// model fits a bucket by least squares with the penalty [ridgePenalty], columns
// standardised within the bucket, and returns slopes in raw units and the
// prediction at the anchor. A constant column has slope 0, and a bucket without
// rows zeros only; a model that is not finite becomes the origin in Points.Set.
// The result is valid until the next call.
func (b *bucketFit) model(v dataset.View) []float64 {
	clear(b.out)
	n := v.Len()
	if n == 0 {
		return b.out
	}
	b.gather(v)
	total := mean(b.y)
	for i := range b.y {
		b.y[i] -= total
	}
	for i := range b.x {
		b.standardise(i)
	}
	b.solve(float64(n))
	p := len(b.x)
	at := total
	for i, w := range b.slopes {
		w *= b.scale[i]
		b.out[i] = w
		at -= w * b.mean[i]
	}
	b.out[p] = at
	return b.out
}

// gather reads the rows of a bucket: slots less their anchors, and the target.
func (b *bucketFit) gather(v dataset.View) {
	f := b.frame
	rows := v.Block(0, v.Len())
	last := len(f.columns) - 1
	b.y = b.numeric(b.y, rows, last, 0)
	column := -1
	for i, slot := range f.slots {
		switch slot.Category {
		case scaling.NumberSlot:
			b.x[i] = b.numeric(b.x[i], rows, slot.Column, f.anchors[i])
			continue
		case scaling.MissingSlot:
			b.x[i] = b.absent(b.x[i], rows, slot.Column)
			continue
		}
		if slot.Column != column {
			column = slot.Column
			b.codes = grow(b.codes, rows.Len())
			copy(b.codes, rows.Codes(column, b.codes))
		}
		b.x[i] = grow(b.x[i], rows.Len())
		for k, c := range b.codes {
			b.x[i][k] = -f.anchors[i]
			if int(c) == slot.Category {
				b.x[i][k] = 1 - f.anchors[i]
			}
		}
	}
}

// numeric reads a numeric column less its anchor into dst.
func (b *bucketFit) numeric(dst []float64, rows dataset.Block, column int, anchor float64) []float64 {
	dst, b.floats = grow(dst, rows.Len()), grow(b.floats, rows.Len())
	c := b.frame.cells[column]
	for k, x := range rows.Float(column, b.floats) {
		dst[k] = c.treat(x) - anchor
	}
	return dst
}

// absent writes 1 for a missing cell of a numeric column and 0 for any other.
func (b *bucketFit) absent(dst []float64, rows dataset.Block, column int) []float64 {
	dst, b.floats = grow(dst, rows.Len()), grow(b.floats, rows.Len())
	for k, x := range rows.Float(column, b.floats) {
		dst[k] = 0
		if x != x {
			dst[k] = 1
		}
	}
	return dst
}

// standardise centres slot i and finds its scale.
func (b *bucketFit) standardise(i int) {
	x := b.x[i]
	centre := mean(x)
	largest := 0.
	spread := 0.
	squares := 0.
	for k, v := range x {
		largest = max(largest, math.Abs(v))
		v -= centre
		spread = max(spread, math.Abs(v))
		squares += v * v
		x[k] = v
	}
	b.mean[i], b.scale[i] = centre, 0
	if spread > constantSpread*largest && spread > 1/regression.Unbounded {
		b.scale[i] = 1 / math.Sqrt(squares/float64(len(x)))
	}
}

// solve finds the slopes of the standardised columns by a Cholesky
// factorisation. The penalty keeps every pivot above ridgePenalty n less rounding.
func (b *bucketFit) solve(n float64) {
	p := len(b.x)
	for i := range p {
		for j := range i {
			b.gram[i*p+j] = b.scale[i] * b.scale[j] * dot(b.x[i], b.x[j])
		}
		b.gram[i*p+i] = n * (1 + ridgePenalty)
		b.slopes[i] = b.scale[i] * dot(b.x[i], b.y)
	}
	for i := range p { // b.gram = L L'
		row := b.gram[i*p : i*p+i+1]
		for j := range i {
			other := b.gram[j*p : j*p+j+1]
			row[j] = (row[j] - dot(row[:j], other[:j])) / other[j]
		}
		row[i] = math.Sqrt(row[i] - dot(row[:i], row[:i]))
		b.slopes[i] = (b.slopes[i] - dot(row[:i], b.slopes[:i])) / row[i] // L z = X'y
	}
	for i := p - 1; i >= 0; i-- { // L' w = z
		for k := i + 1; k < p; k++ {
			b.slopes[i] -= b.gram[k*p+i] * b.slopes[k]
		}
		b.slopes[i] /= b.gram[i*p+i]
	}
}

// dot returns the sum of products, in order, so that it is the same everywhere.
func dot(x, y []float64) float64 {
	sum := 0.
	y = y[:len(x)]
	for i, v := range x {
		sum += float64(v * y[i]) // the conversion forbids a fused multiply-add
	}
	return sum
}

func mean(x []float64) float64 {
	sum := 0.
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// grow returns a slice of length n, reusing buf where it has room.
func grow[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}
