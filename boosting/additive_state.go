package boosting

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"

	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/carry"
	"github.com/dptrain/dptrain/mechanism"
)

// state is what the booster keeps of every record: the scaled target, the
// prediction so far and the bins it falls into. All of it is computed from
// that record and from released values.
type state struct {
	y, f []float64
	bins [][]uint8 // a numeric feature or the score: fine bins, then steps

	view  dataset.View
	frame *adassp.Frame
	x     [][]int16 // every row, where that takes little memory; else nil
}

// keptCells is the number of entries of x up to which all rows are kept: they
// are then encoded once and not in every pass.
const keptCells = 1 << 26

// blockRows is the number of records of a block of a pass.
const blockRows = 4096

// newState encodes every record, predicts it with the linear start and finds
// its fine bins: those of the given entries of x and of the prediction.
func newState(ctx context.Context, v dataset.View, f *adassp.Frame, start []float64, slots []int) (*state, error) {
	n := v.Len()
	s := &state{y: make([]float64, n), f: make([]float64, n), bins: make([][]uint8, len(slots)+1), view: v, frame: f}
	if n <= keptCells/f.Slots() {
		s.x = make([][]int16, f.Slots())
		for k := range s.x {
			s.x[k] = make([]int16, n)
		}
	}
	for i := range s.bins {
		s.bins[i] = make([]uint8, n)
	}
	_, err := reduceInto(ctx, n, f.NewRows, func(rows *adassp.Rows, lo, hi int) {
		rows.Encode(v.Block(lo, hi))
		copy(s.y[lo:hi], rows.Y)
		for k := range s.x {
			copy(s.x[k][lo:hi], rows.X[k])
		}
		addProducts(s.f[lo:hi], rows.X, start)
		for i, k := range slots {
			bins := s.bins[i][lo:hi]
			for r, x := range rows.X[k] {
				bins[r] = fineBin(x)
			}
		}
		bins := s.bins[len(slots)][lo:hi]
		for r, p := range s.f[lo:hi] {
			bins[r] = fineBin(int16(min(max(p, -1), 1) * mechanism.FixedOne))
		}
	}, func(_, _ *adassp.Rows) {})
	return s, err
}

// fineBin returns the bin of a fixed-point number among fineBins equal ones of
// [-1, 1].
func fineBin(x int16) uint8 {
	const width = 2 * mechanism.FixedOne / fineBins
	return uint8(min((int(x)+mechanism.FixedOne)/width, fineBins-1))
}

// addProducts adds x theta to f for the rows of a block, entry by entry.
func addProducts(f []float64, x [][]int16, theta []float64) {
	for k, column := range x {
		w := theta[k] / mechanism.FixedOne
		if w == 0 {
			continue
		}
		for r, v := range column {
			f[r] += float64(w * float64(v)) // the conversion forbids fusing
		}
	}
}

func (s *state) len() int { return len(s.y) }

// count adds the fine bins of the records in [lo, hi) to a histogram.
func (s *state) count(h *mechanism.Histogram, lo, hi int) {
	block := make([][]uint16, len(s.bins))
	for i, bins := range s.bins {
		block[i] = make([]uint16, hi-lo)
		for r, k := range bins[lo:hi] {
			block[i][r] = uint16(k)
		}
	}
	h.Add(block)
}

// regroup replaces the fine bins of a feature by the steps they belong to.
func (s *state) regroup(feature int, of [fineBins]uint8) {
	bins := s.bins[feature]
	for r, k := range bins {
		bins[r] = of[k]
	}
}

// residuals returns the residuals of the records in [lo, hi), in buf if it has
// room. Predictions are clamped as the model clamps them.
func (s *state) residuals(buf []float64, lo, hi int) []float64 {
	if cap(buf) < hi-lo {
		buf = make([]float64, blockRows)
	}
	buf = buf[:hi-lo]
	y, f := s.y[lo:hi], s.f[lo:hi]
	for i := range buf {
		buf[i] = y[i] - min(max(f[i], -1), 1)
	}
	return buf
}

// The sizes of residuals are counted in bins of a quarter of a power of two
// each, from 2^-9 to 2; smaller and larger ones count in the outermost bins.
const (
	sizeBins    = 40
	leastSize   = -9
	sizeQuarter = 4
)

// sizeBin returns the bin of a residual.
func sizeBin(g float64) uint16 {
	// The exponent and the first two bits of the fraction.
	k := int64(math.Float64bits(math.Abs(g))>>50) - (1023+leastSize)*sizeQuarter
	return uint16(min(max(k, 0), sizeBins-1))
}

// sizeEdge returns the largest size of a bin.
func sizeEdge(bin int) float64 {
	return math.Ldexp(1+float64(bin%sizeQuarter+1)/sizeQuarter, leastSize+bin/sizeQuarter)
}

// countSizes adds the sizes of the residuals in [lo, hi) to a histogram.
func (s *state) countSizes(h *mechanism.Histogram, lo, hi int) {
	bins := make([]uint16, hi-lo)
	for i, g := range s.residuals(nil, lo, hi) {
		bins[i] = sizeBin(g)
	}
	h.Add([][]uint16{bins})
}

// encoded returns the rows x of the records in [lo, hi), to read only, in the
// memory of one goroutine.
func (s *state) encoded(rows *adassp.Rows, lo, hi int) [][]int16 {
	if s.x == nil {
		rows.Encode(s.view.Block(lo, hi))
		return rows.X
	}
	for k := range rows.X {
		rows.X[k] = s.x[k][lo:hi]
	}
	return rows.X
}

// addLinear moves the predictions by x step.
func (s *state) addLinear(ctx context.Context, step []float64) error {
	_, err := reduceInto(ctx, s.len(), s.frame.NewRows, func(rows *adassp.Rows, lo, hi int) {
		addProducts(s.f[lo:hi], s.encoded(rows, lo, hi), step)
	}, func(_, _ *adassp.Rows) {})
	return err
}

// addShape moves the predictions by the step of the record's bin.
func (s *state) addShape(ctx context.Context, bins []uint8, step []float64) error {
	var table [fineBins]float64
	copy(table[:], step)
	_, err := reduceInto(ctx, s.len(), func() struct{} { return struct{}{} }, func(_ struct{}, lo, hi int) {
		f := s.f[lo:hi]
		for r, k := range bins[lo:hi] {
			f[r] += table[k]
		}
	}, func(_, _ struct{}) {})
	return err
}

// reduce is reduceInto for accumulators that merge themselves.
func reduce[A interface{ Merge(A) }](ctx context.Context, n int, newAcc func() A, add func(acc A, lo, hi int)) (A, error) {
	return reduceInto(ctx, n, newAcc, add, func(a, b A) { a.Merge(b) })
}

// reduceInto calls add for every block [lo, hi) of n records from GOMAXPROCS
// workers, each with an accumulator of its own, and returns their merge. Which
// worker sees a block is not determined: accumulators must not depend on it, as
// exact integer sums do not. add may write to the records of its block. The
// context is checked before every block; its error is the only one.
func reduceInto[A any](ctx context.Context, n int, newAcc func() A, add func(acc A, lo, hi int), merge func(into, from A)) (A, error) {
	blocks := (n + blockRows - 1) / blockRows
	workers := max(min(runtime.GOMAXPROCS(0), blocks), 1)
	accs := make([]A, workers)
	var next atomic.Int64
	var group carry.Group
	for w := range workers {
		group.Go(func() {
			accs[w] = newAcc()
			for ctx.Err() == nil {
				lo := (int(next.Add(1)) - 1) * blockRows
				if lo >= n {
					return
				}
				add(accs[w], lo, min(lo+blockRows, n))
			}
		})
	}
	group.Wait()
	for _, acc := range accs[1:] {
		merge(accs[0], acc)
	}
	return accs[0], ctx.Err()
}
