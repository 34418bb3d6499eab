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

// state says what the booster keeps of every record: the scaled target, the prediction so
// far and the bins it falls into. All of it is computed from that record and from the
// released values that are here.
type state struct {
	Columns []dataset.Column
	Ranges  []scaling.Range
	Start   []float64   // coefficients of the start, by entry of x
	Slots   []int       // entries of x with bins; the last bins are those of the start's prediction
	Values  []valueList // columns of many values; their bins come after all others
	Inputs  []input     // of feature maps, if there may be any
	Moves   []move

	// These say what is made anew in every pass because all of it would take too much room in memory or in a column store: encoded rows,
	// and the features of held records, about, if they have more than mostCells. Workers, to which they are not
	// sent, keep all of a block for as long as they have it.
	rowless, rowlessStore bool
	held, mostCells       float64

	once  sync.Once
	frame *linear.Frame
	rows  sync.Pool // of *linear.TargetRows
	parts sync.Pool // of *featurePart
}

// A move is one step of the state: predictions move by x Linear, or, of one list of bins, the fine
// bins are joined as Of says, or predictions move by the value of Table for the record's bin. Or
// the features of a Map take the place of those before, or predictions move by features times Theta.
type move struct {
	Linear []float64
	Bins   int
	Of     []uint8
	Table  []float64 // fineBins of them
	Map    *kernelmap.Map
	Theta  []float64
}

// keptRows is the number of cells of encoded rows up to which all are kept in memory, and keptValues where columns have many values:
// their entries are most of a row, and made anew in little time.
const (
	keptRows   = 1 << 28
	keptValues = 1 << 23
)

// blockRows is the number of records of a block of a pass.
const blockRows = 4096

// kept is the state of a block. A list that is nil is in the store.
type kept struct {
	*state
	n    int
	y    []int16 // in units of 2^-14
	f    []float64
	bins [][]uint8 // of each list: fine bins, then steps
	x    [][]int16 // the rows, if they are kept

	inputs   [][]uint8 // the bins of each input
	features *kernelmap.Map
	entered  int       // the step that brought the map
	phi      [][]int16 // the features, if they are kept
	cells    []int16   // the memory of features

	store  mechanism.ColumnStore // nil for a block that was begun
	moved  bool                  // f differs from that in the store
	joined []bool                // by list: whether the bins do
}

// lists is the number of lists of bins: of numbers, of the score, of values.
func (s *state) lists() int { return len(s.Slots) + 1 + len(s.Values) }

// Steps implements [mechanism.State].
func (s *state) Steps() int { return len(s.Moves) }

// Begin implements [mechanism.State]: it encodes the records, predicts them with the start
// and finds their fine bins.
func (s *state) Begin(b dataset.Block) mechanism.Kept { return s.begin(b, !s.rowless) }

// begin is Begin that keeps the rows or does not.
func (s *state) begin(b dataset.Block, keepRows bool) *kept {
	n := b.Len()
	k := &kept{state: s, n: n, joined: make([]bool, s.lists()), y: make([]int16, n), f: make([]float64, n), bins: make([][]uint8, s.lists())}
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

// encode returns the rows of a block in memory that goes back to s.rows.
func (s *state) encode(b dataset.Block) *linear.TargetRows {
	s.once.Do(func() { s.frame = linear.FrameOf(s.Columns, s.Ranges) })
	rows, ok := s.rows.Get().(*linear.TargetRows)
	if !ok {
		rows = s.frame.NewRows()
	}
	rows.Encode(b)
	return rows
}

// each calls f with the rows of the block, to read only.
func (k *kept) each(b dataset.Block, f func(x [][]int16)) {
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
		k.each(b, func(x [][]int16) { gram.AddProducts(k.moving(), x, m.Linear) })
	case m.Of != nil:
		bins := k.list(m.Bins)
		k.joined[m.Bins] = true
		for r, fine := range bins {
			bins[r] = m.Of[fine]
		}
	case m.Map != nil:
		k.enter(m.Map, step)
	case m.Theta != nil:
		f := k.moving()
		k.eachFeature(func(phi [][]int16, from int) { gram.AddProducts(f[from:][:len(phi[0])], phi, m.Theta) })
	default:
		table, bins := (*[fineBins]float64)(m.Table), k.list(m.Bins)
		f := k.moving()[:len(bins)]
		for r, bin := range bins {
			f[r] += table[bin]
		}
	}
}

// residuals returns the residuals of the block, in buf if it has room. Predictions are
// clamped as the model clamps them.
func (k *kept) residuals(buf []float64) []float64 {
	if cap(buf) < k.n {
		buf = make([]float64, max(blockRows, k.n))
	}
	buf = buf[:k.n]
	y, f := k.targets()[:len(buf)], k.predictions()[:len(buf)]
	for i := range buf {
		buf[i] = float64(y[i])/mechanism.FixedOne - min(max(f[i], -1), 1)
	}
	return buf
}

// fineBin returns the bin of a fixed-point number among fineBins equal ones of
// [-1, 1].
func fineBin(x int16) uint8 {
	const width = 2 * mechanism.FixedOne / fineBins
	return uint8(min((int(x)+mechanism.FixedOne)/width, fineBins-1))
}
