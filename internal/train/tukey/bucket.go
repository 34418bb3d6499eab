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

// ridgePenalty times the number of rows of a bucket is the penalty on its standardised slopes. It stabilises
// the slopes of collinear columns, which would otherwise diverge in opposite directions.
const ridgePenalty = 1e-2

// constantSpread is the maximum deviation from the mean, relative to the largest value, of a column that counts
// as constant: rounding errors may cause that much.
const constantSpread = 8 * 0x1p-52

// fitBuckets assigns the records to m buckets, each by its own coin, and fits a model to each bucket. A model
// depends only on the records of its bucket.
func (f *frame) fitBuckets(
	ctx context.Context,
	s *mechanism.Session,
	r mechanism.Records,
	m int,
) ([][]float64, error) {
	models := make([][]float64, 0, m)
	shifts := s.Coins("jitter")
	err := r.Buckets(ctx, s.Coins("buckets"), m, func(first int, buckets []dataset.View) error {
		models = append(models, f.fitAll(ctx, buckets)...)
		for i, model := range models[first:] {
			for j := range model {
				model[j] += f.jitter[j] * coordinateShift(shifts, (first+i)*len(model)+j)
			}
		}
		return ctx.Err()
	})
	return models, err
}

// fitAll fits buckets in parallel. If the context has ended, some models are nil.
func (f *frame) fitAll(
	ctx context.Context,
	buckets []dataset.View,
) [][]float64 {
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
				models[i] = slices.Clone(fit.fitBucket(buckets[i]))
			}
		})
	}
	wg.Wait()
	return models
}

// coordinateShift returns the coin of a coordinate, uniform in [-1, 1).
func coordinateShift(c mechanism.Coins, coordinate int) float64 {
	const steps = 1 << 30
	return 2*float64(c.Uniform(uint64(coordinate), steps))/steps - 1
}

// bucketFit is the buffer in which one goroutine fits buckets.
type bucketFit struct {
	frame  *frame
	x      [][]float64 // one per slot, centred
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
		frame:  f,
		x:      make([][]float64, p),
		mean:   make([]float64, p),
		scale:  make([]float64, p),
		gram:   make([]float64, p*p),
		slopes: make([]float64, p),
		out:    make([]float64, p+1),
	}
}

// fitBucket fits a bucket by least squares with the penalty [ridgePenalty], columns standardised within the bucket.
// It returns the slopes in raw units and the prediction at the anchor. A constant column has slope 0, and all
// parameters of a bucket without rows are 0; Points.Set replaces a model that is not finite by the origin. The
// result is valid until the next call.
func (b *bucketFit) fitBucket(v dataset.View) []float64 {
	clear(b.out)
	n := v.Len()
	if n == 0 {
		return b.out
	}
	b.gatherRows(v)
	total := meanOf(b.y)
	for i := range b.y {
		b.y[i] -= total
	}
	for i := range b.x {
		b.standardiseSlot(i)
	}
	b.solveSlopes(float64(n))
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

// gatherRows reads the rows of a bucket: slots minus their anchors, and the target.
func (b *bucketFit) gatherRows(v dataset.View) {
	f := b.frame
	rows := v.Block(0, v.Len())
	last := len(f.columns) - 1
	b.y = b.readNumeric(b.y, rows, last, 0)
	column := -1
	for i, slot := range f.slots {
		switch slot.Category {
		case scaling.NumberSlot:
			b.x[i] = b.readNumeric(b.x[i], rows, slot.Column, f.anchors[i])
			continue
		case scaling.MissingSlot:
			b.x[i] = b.readMissing(b.x[i], rows, slot.Column)
			continue
		}
		if slot.Column != column {
			column = slot.Column
			b.codes = resizeBuffer(b.codes, rows.Len())
			copy(b.codes, rows.Codes(column, b.codes))
		}
		b.x[i] = resizeBuffer(b.x[i], rows.Len())
		for k, c := range b.codes {
			b.x[i][k] = -f.anchors[i]
			if int(c) == slot.Category {
				b.x[i][k] = 1 - f.anchors[i]
			}
		}
	}
}

// readNumeric writes a numeric column minus its anchor to dst.
func (b *bucketFit) readNumeric(
	dst []float64,
	rows dataset.Block,
	column int,
	anchor float64,
) []float64 {
	dst, b.floats = resizeBuffer(dst, rows.Len()), resizeBuffer(b.floats, rows.Len())
	c := b.frame.cells[column]
	for k, x := range rows.Float(column, b.floats) {
		dst[k] = c.prepareValue(x) - anchor
	}
	return dst
}

// readMissing writes 1 for a missing cell of a numeric column and 0 otherwise.
func (b *bucketFit) readMissing(
	dst []float64,
	rows dataset.Block,
	column int,
) []float64 {
	dst, b.floats = resizeBuffer(dst, rows.Len()), resizeBuffer(b.floats, rows.Len())
	for k, x := range rows.Float(column, b.floats) {
		dst[k] = 0
		if x != x {
			dst[k] = 1
		}
	}
	return dst
}

// standardiseSlot centres slot i and computes its scale.
func (b *bucketFit) standardiseSlot(i int) {
	x := b.x[i]
	centre := meanOf(x)
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

// solveSlopes computes the slopes of the standardised columns by a Cholesky factorisation. The penalty keeps every
// pivot above ridgePenalty n, up to rounding.
func (b *bucketFit) solveSlopes(n float64) {
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

// dot returns the sum of products, added in order, so that it is the same on all machines.
func dot(x, y []float64) float64 {
	sum := 0.
	y = y[:len(x)]
	for i, v := range x {
		sum += float64(v * y[i]) // the conversion forbids a fused multiply-add
	}
	return sum
}

func meanOf(x []float64) float64 {
	sum := 0.
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// resizeBuffer returns a slice of length n, reusing buf where it has room.
func resizeBuffer[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}
