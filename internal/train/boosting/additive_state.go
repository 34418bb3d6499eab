package boosting

import (
	"sync"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/gram"
	"github.com/dptrain/dptrain/internal/numeric/kernelmap"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// state describes the state kept for every record: the scaled target, the current prediction and the bins of
// the record. The state of a record is a function of that record and of the released values stored here.
type state struct {
	Columns []dataset.Column
	Ranges  []scaling.Range
	Start   []float64   // coefficients of the start, by entry of x
	Slots   []int       // entries of x with bins; the last list of bins is that of the initial prediction
	Values  []valueList // columns of many values; their bins come after all others
	Inputs  []input     // of feature maps, empty if there are none
	Moves   []move

	// These fields select what is recomputed in every pass because it would need too much memory or too
	// much space in a column store: encoded rows, and features if about held records would have more than mostCells. They are not sent
	// to workers, which keep everything for a block as long as they have it.
	rowless, rowlessStore bool
	held                  float64
	mostCells             float64

	once  sync.Once
	frame *linear.Frame
	rows  sync.Pool // of *linear.TargetRows
	parts sync.Pool // of *featurePart
}

// A move is one step of the state. Either predictions change by x Linear; or, for one list of bins, the fine
// bins are joined according to Of, or predictions change by the value of Table for the record's bin; or the
// features of a Map replace the former ones, or predictions change by features times Theta.
type move struct {
	Linear []float64
	Bins   int
	Of     []uint8
	Table  []float64 // of fineBins numbers
	Map    *kernelmap.Map
	Theta  []float64
}

// keptRows is the maximum number of cells of encoded rows that are kept in memory. With columns of many values
// the maximum is keptValues: their entries are most of a row and quick to recompute.
const (
	keptRows   = 1 << 28
	keptValues = 1 << 23
)

// blockRows is the number of records per block of a pass.
const blockRows = 4096

// kept is the state of a block. A nil list is in the store.
type kept struct {
	*state
	n    int
	y    []int16 // in units of 2^-14
	f    []float64
	bins [][]uint8 // of each list: fine bins, then steps
	x    [][]int16 // rows, if they are kept

	inputs   [][]uint8 // the bins of each input
	features *kernelmap.Map
	entered  int       // step that introduced the map
	phi      [][]int16 // features, if they are kept
	cells    []int16   // the memory of features

	store  mechanism.ColumnStore // nil for a block that was begun
	moved  bool                  // f differs from the predictions in the store
	joined []bool                // by list: the bins differ from those in the store
}

// lists returns the number of lists of bins: of numbers, of the score, of values.
func (s *state) lists() int {
	return len(s.Slots) + 1 + len(s.Values)
}

// Steps implements [mechanism.State].
func (s *state) Steps() int {
	return len(s.Moves)
}

// Begin implements [mechanism.State]: it encodes the records, predicts them with the initial model and computes
// their fine bins.
func (s *state) Begin(b dataset.Block) mechanism.Kept {
	return s.begin(b, !s.rowless)
}

// begin implements Begin, with or without keeping the rows.
func (s *state) begin(b dataset.Block, keepRows bool) *kept {
	n := b.Len()
	k := &kept{
		state:  s,
		n:      n,
		joined: make([]bool, s.lists()),
		y:      make([]int16, n),
		f:      make([]float64, n),
		bins:   make([][]uint8, s.lists()),
	}
	rows := s.encode(b)
	defer s.rows.Put(rows)
	for i, y := range rows.Y {
		k.y[i] = int16(y * mechanism.FixedOne) // exact: y is on this grid
	}
	gram.AddProducts(k.f, rows.X, s.Start)
	if keepRows {
		for _, column := range rows.X {
			k.x = append(k.x, append([]int16(nil), column...))
		}
	}
	for i, slot := range s.Slots {
		k.bins[i] = make([]uint8, n)
		for r, x := range rows.X[slot] {
			k.bins[i][r] = fineBin(x)
		}
	}
	score := make([]uint8, n)
	for r, p := range k.f {
		score[r] = fineBin(int16(min(max(p, -1), 1) * mechanism.FixedOne))
	}
	k.bins[len(s.Slots)] = score
	for i, v := range s.Values {
		k.bins[len(s.Slots)+1+i] = v.bins(b)
	}
	for _, in := range s.Inputs {
		k.inputs = append(k.inputs, in.bins(rows.X, k.bins))
	}
	return k
}

// encode returns the encoded rows of a block, in a buffer that the caller returns to s.rows.
func (s *state) encode(b dataset.Block) *linear.TargetRows {
	s.once.Do(func() {
		s.frame = linear.FrameOf(s.Columns, s.Ranges)
	})
	rows, ok := s.rows.Get().(*linear.TargetRows)
	if !ok {
		rows = s.frame.NewRows()
	}
	rows.Encode(b)
	return rows
}

// eachRow calls f with the rows of the block, read only.
func (k *kept) eachRow(b dataset.Block, f func(x [][]int16)) {
	if k.x == nil {
		k.x = k.storedRows()
	}
	if k.x != nil {
		f(k.x)
		return
	}
	rows := k.encode(b)
	f(rows.X)
	k.rows.Put(rows)
}

// Take implements [mechanism.Kept].
func (k *kept) Take(step int, b dataset.Block) {
	switch m := &k.Moves[step]; {
	case m.Linear != nil:
		k.eachRow(b, func(x [][]int16) {
			gram.AddProducts(k.mutablePredictions(), x, m.Linear)
		})
	case m.Of != nil:
		bins := k.list(m.Bins)
		k.joined[m.Bins] = true
		for r, fine := range bins {
			bins[r] = m.Of[fine]
		}
	case m.Map != nil:
		k.enter(m.Map, step)
	case m.Theta != nil:
		f := k.mutablePredictions()
		k.eachFeature(func(phi [][]int16, from int) {
			gram.AddProducts(f[from:][:len(phi[0])], phi, m.Theta)
		})
	default:
		table := (*[fineBins]float64)(m.Table)
		bins := k.list(m.Bins)
		f := k.mutablePredictions()[:len(bins)]
		for r, bin := range bins {
			f[r] += table[bin]
		}
	}
}

// residuals returns the residuals of the block, in buf if it has room. Predictions are clamped like those of
// the model.
func (k *kept) residuals(buf []float64) []float64 {
	if cap(buf) < k.n {
		buf = make([]float64, max(blockRows, k.n))
	}
	buf = buf[:k.n]
	y := k.targets()[:len(buf)]
	f := k.predictions()[:len(buf)]
	for i := range buf {
		buf[i] = float64(y[i])/mechanism.FixedOne - min(max(f[i], -1), 1)
	}
	return buf
}

// fineBin returns the index of a fixed-point number among fineBins equal bins of [-1, 1].
func fineBin(x int16) uint8 {
	const width = 2 * mechanism.FixedOne / fineBins
	return uint8(min((int(x)+mechanism.FixedOne)/width, fineBins-1))
}
