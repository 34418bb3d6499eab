package prototypes

import (
	"math"
	"sync"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// A frame describes the encoding of a record. It holds public facts only.
type frame struct {
	columns []dataset.Column // features
	target  dataset.Column
	enc     *scaling.Encoder // of the features
}

func frameOf(columns []dataset.Column, ranges []scaling.Range) *frame {
	last := len(columns) - 1
	if ranges != nil {
		ranges = ranges[:last]
	}
	return &frame{columns[:last], columns[last], scaling.NewEncoder(columns[:last], ranges)}
}

// slotCount returns the number of entries of an encoded row, without the constant.
func (f *frame) slotCount() int {
	return len(f.enc.Slots())
}

func (f *frame) classCount() int {
	return len(f.target.Categories)
}

// squaredReach returns the squared norm limit of a row relative to its constant 1: [numberReach] for a number and 1
// for a category.
func (f *frame) squaredReach() float64 {
	sum := 0.
	for _, c := range f.columns {
		if c.Kind == dataset.Numeric {
			sum += numberReach
		} else {
			sum++
		}
	}
	return sum
}

// encoded is a buffer in which one goroutine encodes blocks.
type encoded struct {
	frame   *frame
	x       [][]int16 // one slice per slot and one for the constant
	codes   []int32   // of the classes
	scratch scaling.Scratch
}

func newEncoded(f *frame) *encoded {
	return &encoded{
		frame: f,
		x:     make([][]int16, f.slotCount()+1),
	}
}

// encodeBlock writes the fixed-point rows of a block, the constant last, and the codes of the
// classes. A record in no class has a row of zeros.
func (e *encoded) encodeBlock(b dataset.Block, constant int16) {
	n := b.Len()
	slots := e.frame.slotCount()
	for k := range e.x {
		e.x[k] = resizeBuffer(e.x[k], n)
	}
	e.frame.enc.Encode(b, e.x[:slots], &e.scratch)
	e.codes = b.Codes(len(e.frame.columns), resizeBuffer(e.codes, n))
	for i, code := range e.codes {
		e.x[slots][i] = constant
		if uint32(code) >= uint32(e.frame.classCount()) {
			for _, column := range e.x {
				column[i] = 0
			}
		}
	}
}

// resizeBuffer returns a slice of length n, reusing buf where it has room.
func resizeBuffer[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}

// whitened describes the state kept for every record between passes: its row W x with a constant entry,
// shortened to norm 1 as a whole, on the grid of rows. It is a function of the record and of the released
// values stored here.
type whitened struct {
	Columns  []dataset.Column
	Ranges   []scaling.Range
	Map      []float64 // W by rows
	Constant int16     // the constant entry, on the grid
	Keep     bool      // rows are kept, not recomputed in every pass

	once  sync.Once
	frame *frame
	free  sync.Pool // of *whitener
}

// keptCells is the maximum number of cells of rows that are kept.
const keptCells = 1 << 26

// rowsOf holds the rows of a block. Entries are by slot, the constant last.
type rowsOf struct {
	of    *whitened
	rows  [][]int16
	codes []int32
}

// Steps implements [mechanism.State]: rows never change.
func (w *whitened) Steps() int {
	return 0
}

// Begin implements [mechanism.State].
func (w *whitened) Begin(b dataset.Block) mechanism.Kept {
	k := &rowsOf{of: w}
	if w.Keep {
		m := w.takeWhitener()
		m.whitenBlock(b)
		for _, column := range m.rows {
			k.rows = append(k.rows, append([]int16(nil), column...))
		}
		k.codes = append(k.codes, m.encoded.codes...)
		w.free.Put(m)
	}
	return k
}

// Take implements [mechanism.Kept].
func (*rowsOf) Take(int, dataset.Block) {}

// eachRow calls f with the rows of a block and the codes of their classes, read only.
func (k *rowsOf) eachRow(
	b dataset.Block,
	f func(rows [][]int16, codes []int32),
) {
	if k.of.Keep {
		f(k.rows, k.codes)
		return
	}
	m := k.of.takeWhitener()
	m.whitenBlock(b)
	f(m.rows, m.encoded.codes)
	k.of.free.Put(m)
}

// takeWhitener returns a buffer that the caller returns to w.free.
func (w *whitened) takeWhitener() *whitener {
	w.once.Do(func() {
		w.frame = frameOf(w.Columns, w.Ranges)
	})
	if m, ok := w.free.Get().(*whitener); ok {
		return m
	}
	return &whitener{
		of:      w,
		encoded: newEncoded(w.frame),
		y:       make([][]float64, w.frame.slotCount()),
		rows:    make([][]int16, w.frame.slotCount()+1),
	}
}

// A whitener computes the rows of blocks.
type whitener struct {
	of      *whitened
	encoded *encoded
	y       [][]float64
	norms   []float64
	rows    [][]int16
}

// whitenBlock computes the rows of a block: W x, then the factor min(1, 1/|(W x, constant)|), then rounding to the
// grid. Sums are added up by slot and without fusing, so they are the same on every processor and in every
// block.
func (m *whitener) whitenBlock(b dataset.Block) {
	n := b.Len()
	slots := len(m.y)
	constant := m.of.Constant
	m.encoded.encodeBlock(b, constant)
	m.norms = resizeBuffer(m.norms, n)
	for i, v := range m.encoded.x[slots] {
		m.norms[i] = square(float64(v) / mechanism.FixedOne)
	}
	for k := range m.y {
		m.y[k] = resizeBuffer(m.y[k], n)
		addProducts(m.y[k], m.encoded.x[:slots], m.of.Map[k*slots:(k+1)*slots])
		for i, v := range m.y[k] {
			m.norms[i] += float64(v * v)
		}
	}
	for i, n2 := range m.norms {
		m.norms[i] = mechanism.FixedOne
		if n2 > 1 {
			m.norms[i] = mechanism.FixedOne / math.Sqrt(n2)
		}
	}
	for k := range m.rows {
		m.rows[k] = resizeBuffer(m.rows[k], n)
		for i, f := range m.norms {
			if k == slots {
				m.rows[k][i] = int16(
					math.Round(float64(m.encoded.x[k][i]) / mechanism.FixedOne * f))
			} else {
				m.rows[k][i] = int16(math.Round(float64(m.y[k][i] * f)))
			}
		}
	}
}

// addProducts sets dst to the products of fixed-point rows with weights.
func addProducts(dst []float64, x [][]int16, weights []float64) {
	clear(dst)
	for k, column := range x {
		w := weights[k] / mechanism.FixedOne
		if w == 0 {
			continue
		}
		for i, v := range column {
			dst[i] += float64(w * float64(v)) // the conversion forbids fusing
		}
	}
}

func square(x float64) float64 {
	return x * x
}
