package evaluate

import (
	"math"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
)

// Pairs holds, for the held-out records, the target and the prediction in the
// order of the view.
type Pairs struct {
	View       dataset.View
	Target     int       // the target's column in View; a cell that is NaN or infinite is missing
	Prediction []float64 // one a row of View
	Lower      float64   // the target's public range: that of the model
	Upper      float64
	// Center is a public guess of the target's mean, such as the training
	// part's released mean. It is moved into [Lower, Upper]. The closer it is,
	// the less the noise of the mean matters.
	Center float64
}

// frame returns the public middle c and half width h > 0 on which targets are
// scaled: both ends of the range lie within one half width of the middle.
func (p Pairs) frame() (center, half float64) {
	center = min(max(p.Center, p.Lower), p.Upper)
	half = max(p.Upper-center, center-p.Lower)
	if !(half > 0) {
		half = 1
	}
	return center, min(half, math.MaxFloat64)
}

// A scaler returns what a pass needs of a block of rows, on the frame (c, h).
type scaler struct {
	pairs           Pairs
	center, half    float64
	target, predict []float64
}

func newScaler(p Pairs) scaler {
	center, half := p.frame()
	return scaler{pairs: p, center: center, half: half}
}

// block returns t = (y-c)/h of the rows of a block, NaN for a missing target, and
// p = (clamp(prediction, Lower, Upper)-c)/h, in [-1, 1]; a prediction of NaN counts as c.
// Both slices are valid until the next call.
func (s *scaler) block(b dataset.Block) (t, p []float64) {
	n := b.Len()
	s.target, s.predict = grow(s.target, n), grow(s.predict, n)
	prediction := s.pairs.Prediction[b.Start():]
	for i, y := range b.Float(s.pairs.Target, s.target) {
		s.target[i] = math.NaN()
		if y-y == 0 { // neither missing nor infinite
			s.target[i] = (y - s.center) / s.half // an end of the range is exactly 1 or -1, or less
		}
		s.predict[i] = 0
		if f := prediction[i]; f == f {
			f = min(max(f, s.pairs.Lower), s.pairs.Upper)
			s.predict[i] = min(max((f-s.center)/s.half, -1), 1)
		}
	}
	return s.target, s.predict
}

func grow(buf []float64, n int) []float64 {
	if cap(buf) < n {
		return make([]float64, n)
	}
	return buf[:n]
}

// sizePass counts the bins of |t-p| and |t|, t not clamped.
type sizePass struct {
	scaler
	counts           *mechanism.SizeCounts
	residual, target []uint16
}

func (a *sizePass) Add(b dataset.Block) {
	n := b.Len()
	if cap(a.residual) < n {
		a.residual, a.target = make([]uint16, n), make([]uint16, n)
	}
	a.residual, a.target = a.residual[:n], a.target[:n]
	t, p := a.block(b)
	for i, x := range t {
		a.residual[i], a.target[i] = mechanism.NoSize, 0
		if x == x {
			a.residual[i], a.target[i] = sizeBin(math.Abs(x-p[i])), sizeBin(math.Abs(x))
		}
	}
	a.counts.Add(a.residual, a.target)
}

func (a *sizePass) Merge(o *sizePass) { a.counts.Merge(o.counts) }

// sumPass adds up t_w/Ct and (t_w-p)/C and their squares, t_w = clamp(t, -Ct, Ct).
type sumPass struct {
	scaler
	limits limits
	sums   *mechanism.SquareSums
}

func (a *sumPass) Add(b dataset.Block) {
	t, p := a.block(b)
	for i, x := range t {
		cut := min(max(x, -a.limits.target), a.limits.target) // NaN stays NaN
		t[i], p[i] = cut/a.limits.target, (cut-p[i])/a.limits.residual
	}
	a.sums.Add(t, p)
}

func (a *sumPass) Merge(o *sumPass) { a.sums.Merge(o.sums) }
