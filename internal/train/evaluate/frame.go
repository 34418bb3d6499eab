package evaluate

import (
	"math"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/rescale"
)

// Pairs are the held-out records with the predictions of a model.
type Pairs struct {
	Records mechanism.Records
	Target  int       // the target's column in Records; a cell that is NaN or infinite is missing
	Model   Predictor // nil predicts 0
	Lower   float64   // the target's public range: that of the model
	Upper   float64
	// Center is a public guess of the target's mean, such as the training
	// part's released mean. It is moved into [Lower, Upper]. The closer it is,
	// the less the noise of the mean matters.
	Center float64
	// From is the transform of the targets of Records. It is inverted first, record by record. Lower, Upper,
	// Center and the predictions of Model are in units of the target.
	From rescale.Transform
	// Groups divide the records; only if [Regression.ByGroup] was planned.
	Groups Groups
}

// A Predictor is a released model. Its fields are exported, so that it can be sent to where
// the records are.
type Predictor interface {
	// Predict returns one number per record of a block, which depends on that record only, in room if its
	// capacity suffices.
	Predict(b dataset.Block, room []float64) []float64
}

// leastHalf is the smallest half width of a frame, far above the smallest numbers there are,
// so that limits within a frame are not rounded to its middle.
const leastHalf = 0x1p-900

// targetFrame returns the public center c and half width h > 0 by which targets are scaled: both ends of the range
// are within one half width of the center.
func (p Pairs) targetFrame() (center, half float64) {
	center = min(max(p.Center, p.Lower), p.Upper)
	half = max(p.Upper-center, center-p.Lower)
	if !(half > 0) {
		half = 1
	}
	return center, min(max(half, leastHalf), math.MaxFloat64)
}

// A scaler returns the scaled values of a block of records, in the frame (c, h) of its pairs.
type scaler struct {
	Target       int
	Lower, Upper float64
	Center       float64
	Half         float64
	From         rescale.Transform
	Predictions  *predictions
	target       []float64
	prediction   []float64
}

func newScaler(p Pairs) scaler {
	center, half := p.targetFrame()
	return scaler{
		Target:      p.Target,
		Lower:       p.Lower,
		Upper:       p.Upper,
		Center:      center,
		Half:        half,
		From:        p.From,
		Predictions: &predictions{p.Model},
	}
}

// predictions are kept between the two passes.
type predictions struct{ Model Predictor }

// Steps implements [mechanism.State]: predictions never change.
func (*predictions) Steps() int {
	return 0
}

// Begin implements [mechanism.State].
func (p *predictions) Begin(b dataset.Block) mechanism.Kept {
	return p.BeginStorable(b)
}

// BeginStorable implements [mechanism.StorableState].
func (p *predictions) BeginStorable(b dataset.Block) mechanism.StorableBlock {
	room := predictionRooms.Get().(*[]float64)
	*room = withLength(*room, b.Len())
	if p.Model == nil {
		clear(*room)
		return predicted{*room, room}
	}
	return predicted{p.Model.Predict(b, *room), room}
}

// Open implements [mechanism.StorableState].
func (*predictions) Open(
	_, _ int,
	from mechanism.ColumnStore,
) mechanism.StorableBlock {
	return predicted{from.Floats(0), nil}
}

// predicted has one prediction per record of a block.
type predicted struct {
	values []float64
	room   *[]float64 // of rows that are not in a column store yet; nil for others
}

var predictionRooms = sync.Pool{New: func() any {
	return new([]float64)
}}

// Take implements [mechanism.Kept]; there is no step to take.
func (predicted) Take(int, dataset.Block) {}

// Store implements [mechanism.StorableBlock].
func (p predicted) Store(to mechanism.ColumnStore) {
	if p.room != nil {
		to.PutFloats(0, p.values)
	}
}

// Leave implements [mechanism.Leaver].
func (p predicted) Leave() {
	if p.room != nil {
		predictionRooms.Put(p.room)
	}
}

// scaleBlock returns t = (y-c)/h of the records of a block, NaN for a missing target, and
// p = (clamp(prediction, Lower, Upper)-c)/h, in [-1, 1]; a prediction of NaN counts as c.
// Both slices are valid until the next call.
func (s *scaler) scaleBlock(b mechanism.Block) (t, p []float64) {
	n := b.Len()
	s.target, s.prediction = withLength(s.target, n), withLength(s.prediction, n)
	prediction := b.Kept.(predicted).values
	for i, y := range b.Float(s.Target, s.target) {
		y = s.From.Inverse(y)
		s.target[i] = math.NaN()
		if y-y == 0 { // neither missing nor infinite
			s.target[i] = (y - s.Center) / s.Half // an end of the range is exactly 1 or -1, or less
		}
		s.prediction[i] = 0
		if f := prediction[i]; f == f {
			f = min(max(f, s.Lower), s.Upper)
			s.prediction[i] = min(max((f-s.Center)/s.Half, -1), 1)
		}
	}
	return s.target, s.prediction
}

func withLength(buf []float64, n int) []float64 {
	if cap(buf) < n {
		return make([]float64, n)
	}
	return buf[:n]
}

// sizeStatistic counts the bins of |t-p| and |t|, t not clamped.
type sizeStatistic struct{ Scaler scaler }

// State implements [mechanism.Stateful].
func (x sizeStatistic) State() mechanism.State {
	return x.Scaler.Predictions
}

// New implements [mechanism.Statistic].
func (x sizeStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return &sizePass{
		scaler: x.Scaler,
		counts: m.NewSizeCounts(sizeBins),
	}
}

type sizePass struct {
	scaler
	counts   *mechanism.SizeCounts
	residual []uint16
	target   []uint16
}

func (a *sizePass) Add(b mechanism.Block) {
	n := b.Len()
	if cap(a.residual) < n {
		a.residual = make([]uint16, n)
		a.target = make([]uint16, n)
	}
	a.residual = a.residual[:n]
	a.target = a.target[:n]
	t, p := a.scaleBlock(b)
	for i, x := range t {
		a.residual[i], a.target[i] = mechanism.NoSize, 0
		if x == x {
			a.residual[i], a.target[i] = sizeBin(math.Abs(x-p[i])), sizeBin(math.Abs(x))
		}
	}
	a.counts.Add(a.residual, a.target)
}

func (a *sizePass) Cells() mechanism.Cells {
	return a.counts.Cells()
}

// sumStatistic adds up t'/Ct and (t'-p')/C and their squares, where t' and p' are the target and the
// prediction, clamped to [-Ct, Ct]; Ct and C are the limits of targets and of residuals. It counts |t-p|, both
// unclamped, in the parts of some bins.
type sumStatistic struct {
	Scaler        scaler
	TargetLimit   float64
	ResidualLimit float64
	Ratio         float64
	Octaves       octaves
	Groups        Groups
	Pure          bool // for Laplace noise: without a ratio, octaves and groups
}

// State implements [mechanism.Stateful].
func (x sumStatistic) State() mechanism.State {
	return x.Scaler.Predictions
}

// New implements [mechanism.Statistic].
func (x sumStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	l := limits{
		target:   x.TargetLimit,
		residual: x.ResidualLimit,
	}
	p := &sumPass{scaler: x.Scaler, x: x}
	if x.Pure {
		p.sums = m.NewSquareEntries(l.residualNodes())
		return p
	}
	if groups := x.Groups.count(); groups > 0 {
		p.grouped = m.NewGroupedSquareSums(
			l.residualNodes(),
			x.Octaves.cellGroups(),
			x.Ratio,
			groups,
			x.Groups.Change,
		)
		return p
	}
	p.sums = m.NewSquareSums(l.residualNodes(), x.Octaves.cellGroups(), x.Ratio)
	return p
}

// sumPass adds to sums or, if the records are divided, to grouped; the other one is nil.
type sumPass struct {
	scaler
	x       sumStatistic
	cell    []uint16
	sums    *mechanism.SquareSums
	grouped *mechanism.GroupedSquareSums
	codes   []int32
	group   []int32
}

func (a *sumPass) Add(b mechanism.Block) {
	limit := a.x.TargetLimit
	t, p := a.scaleBlock(b)
	a.cell = slices.Grow(a.cell[:0], len(t))[:len(t)]
	for i, x := range t {
		a.cell[i] = a.x.Octaves.cellOf(math.Abs(x - p[i])) // without a target, any
		target := min(max(x, -limit), limit)               // NaN stays NaN
		prediction := min(max(p[i], -limit), limit)
		t[i] = target / limit
		p[i] = (target - prediction) / a.x.ResidualLimit
	}
	if a.grouped == nil {
		a.sums.Add(t, p, a.cell)
		return
	}
	a.group, a.codes = a.x.Groups.readGroups(b, a.group, a.codes)
	a.grouped.Add(t, p, a.cell, a.group)
}

func (a *sumPass) Cells() mechanism.Cells {
	if a.grouped != nil {
		return a.grouped.Cells()
	}
	return a.sums.Cells()
}

// Statistics lists the statistics of this package, for workers.
func Statistics() []mechanism.Statistic {
	return []mechanism.Statistic{sizeStatistic{}, sumStatistic{}, confusionStatistic{}}
}
