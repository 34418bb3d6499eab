package budget

import (
	"encoding/binary"
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

const (
	// tailMass bounds the loss mass above the FFT window; it is added to delta.
	tailMass = 1e-14
	// maxCells bounds the number of grid cells of a composition.
	maxCells = 1 << 18
	// fftSlack and drawSlack are added to every delta that went through an FFT:
	// the measured error stays below 1e-14 up to lengths of 1e5 and grows with
	// the powers taken in Fourier space.
	fftSlack  = 1e-12
	drawSlack = 2e-15
)

// curve is an upper bound on delta at epsilon >= 0.
type curve interface{ deltaAt(epsilon float64) float64 }

// lossMass is a discrete loss distribution under P: mass[i] at loss (lo+i)*h and
// inf at infinity.
type lossMass struct {
	h    float64
	lo   int
	mass []float64
	inf  float64
}

// sampleCurve samples the curve of one draw at 0, h, 2h, ... up to where it has fallen
// to its mass at infinity; that mass is the last dot.
func (l Law) sampleCurve(h float64) []float64 {
	top := l.Epsilon
	if l.Kind == Gaussian {
		top = GaussianEpsilon(l.Mu, tailMass/10)
	}
	n := max(1, int(math.Ceil(top/h)))
	d := make([]float64, n+1)
	for i := range d {
		d[i] = l.DeltaAt(float64(i) * h)
	}
	return d
}

// connectDots returns the loss distribution whose hockey-stick curve runs through the dots and is linear in
// e^x between them (Doroshenko et al. 2022): it is above every convex curve through the dots. The pair is
// symmetric, so the mass at -x is that at x times e^-x. Rounding below zero is cut, which adds mass.
func connectDots(d []float64, h float64) lossMass {
	n := len(d) - 1
	m := lossMass{
		h:    h,
		lo:   -n,
		mass: make([]float64, 2*n+1),
		inf:  d[n],
	}
	w := 1 / math.Expm1(h)
	drop := func(i int) float64 {
		if i == n {
			return 0
		}
		return d[i] - d[i+1]
	}
	for i := 1; i <= n; i++ {
		p := math.Max(0, w*(drop(i-1)-drop(i))+drop(i-1))
		m.mass[n+i] = p
		m.mass[n-i] = p * math.Exp(-float64(i)*h)
	}
	m.mass[n] = math.Max(0, 1-d[0]-2*w*drop(0))
	return m
}

// logMoment returns ln of the sum of mass times exp(t loss). The sum is scaled by
// the largest loss that has mass, so that it cannot vanish.
func (m lossMass) logMoment(t float64) float64 {
	last := len(m.mass) - 1
	for last > 0 && m.mass[last] == 0 {
		last--
	}
	decay := math.Exp(-t * m.h)
	sum := 0.0
	for _, p := range m.mass[:last+1] {
		sum = sum*decay + p
	}
	return math.Log(sum) + t*m.h*float64(m.lo+last)
}

// pldCurve evaluates the hockey-stick curve of a lossMass. With x_j = j h,
// delta[j] is the curve at x_j and tail[j] the sum over i > j of
// mass_i exp(x_j - x_i); both recursions add positive terms only.
type pldCurve struct {
	h     float64
	delta []float64
	tail  []float64
}

func newPLDCurve(m lossMass) pldCurve {
	top := max(0, m.lo+len(m.mass)-1)
	c := pldCurve{
		h:     m.h,
		delta: make([]float64, top+1),
		tail:  make([]float64, top+1),
	}
	keep := math.Exp(-m.h)
	lose := -math.Expm1(-m.h)
	c.delta[top] = m.inf
	for j := top - 1; j >= 0; j-- {
		s := m.mass[j+1-m.lo] + c.tail[j+1]
		c.tail[j] = keep * s
		c.delta[j] = c.delta[j+1] + lose*s
	}
	return c
}

func (c pldCurve) deltaAt(epsilon float64) float64 {
	j := math.Floor(epsilon / c.h)
	if j >= float64(len(c.delta)-1) {
		return c.delta[len(c.delta)-1]
	}
	k := int(j)
	return math.Max(c.delta[len(c.delta)-1], c.delta[k]-math.Expm1(epsilon-j*c.h)*c.tail[k])
}

// composer holds the transforms of one calibration. It is not safe for
// concurrent use.
type composer struct {
	step    float64 // grid step for every product; 0 lets each product choose
	coarsen float64 // factor on the step that a product chooses
	earlier bool    // see Target.Earlier
	ffts    map[int]*fourier.FFT
	cache   map[string]curve // by product and step; searches return to points that they evaluated before
}

func newComposer() *composer {
	return &composer{
		coarsen: 1,
		ffts:    map[int]*fourier.FFT{},
		cache:   map[string]curve{},
	}
}

// buildCurves returns the curves of products.
func (w *composer) buildCurves(ps []product) []curve {
	out := make([]curve, len(ps))
	for i, p := range ps {
		out[i] = w.buildCurve(p)
	}
	return out
}

// buildCurve returns the curve of p: closed form if there is one.
func (w *composer) buildCurve(p product) curve {
	if s, ok := p.asSingleDraw(); ok {
		return s
	}
	h := w.step
	if h == 0 {
		h = p.gridStep() * w.coarsen
	}
	key := string(p.appendKey(binary.LittleEndian.AppendUint64(nil, math.Float64bits(h))))
	known, ok := w.cache[key]
	if ok {
		return known
	}
	if s, ok := p.asSelection(); ok {
		known = newPLDCurve(connectDots(w.sampleSelection(s, h), h))
	} else {
		known = newPLDCurve(w.composeLosses(p, h))
	}
	if len(w.cache) == maxCachedCurves {
		clear(w.cache)
	}
	w.cache[key] = known
	return known
}

// maxCachedCurves is the number of curves that a composer caches. Repeated requests follow each other closely.
const maxCachedCurves = 16

// sampleCurve samples the curve of p on the grid.
func (w *composer) sampleCurve(p product, h float64) []float64 {
	if s, ok := p.asSingleDraw(); ok {
		return s.sampleCurve(h)
	}
	if s, ok := p.asSelection(); ok {
		return w.sampleSelection(s, h)
	}
	d := newPLDCurve(w.composeLosses(p, h)).delta
	if len(d) == 1 {
		d = append(d, d[0])
	}
	return d
}

// factor is a loss distribution with the number of times it is drawn.
type factor struct {
	lossMass
	draws int
}

// composeLosses returns the loss distribution of p on the grid of step h.
func (w *composer) composeLosses(p product, h float64) lossMass {
	var fs []factor
	if p.mu2 > 0 {
		law := Law{Kind: Gaussian, Mu: math.Sqrt(p.mu2)}
		fs = append(fs, factor{connectDots(law.sampleCurve(h), h), 1})
	}
	for _, law := range p.laws {
		fs = append(fs, factor{connectDots(law.sampleCurve(h), h), law.Draws})
	}
	for _, alts := range p.alternatives {
		var worst []float64
		for _, a := range alts {
			worst = pointwiseMax(worst, w.sampleCurve(a, h))
		}
		fs = append(fs, factor{connectDots(worst, h), 1})
	}
	for _, s := range p.selections {
		fs = append(fs, factor{connectDots(w.sampleSelection(s, h), h), 1})
	}
	// For bounded losses the exponent tends to infinity; beyond 1/h it no longer improves the bound on this grid.
	_, exponent := p.lossWindow()
	return w.convolveFactors(fs, h, math.Min(exponent, 1/h))
}

// pointwiseMax returns the pointwise maximum of two sampled curves. Beyond its end, a curve keeps its last value.
func pointwiseMax(a, b []float64) []float64 {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i]
		if len(b) > 0 {
			out[i] = math.Max(a[i], b[min(i, len(b)-1)])
		}
	}
	return out
}

// convolveFactors composes the factors by FFT. Mass above the window would wrap to low
// losses, so its Chernoff bound joins the mass at infinity; mass below the window
// wraps to high losses, which only raises the curve.
func (w *composer) convolveFactors(fs []factor, h, exponent float64) lossMass {
	moment := 0.0
	reach := 0.0
	draws := 0.0
	logFinite := 0.0
	for _, f := range fs {
		n := float64(f.draws)
		moment += n * f.logMoment(exponent)
		reach += n * float64(-f.lo)
		logFinite += n * math.Log1p(-math.Min(f.inf, 1))
		draws += n
	}
	out := lossMass{
		h:   h,
		inf: -math.Expm1(logFinite) + fftSlack + drawSlack*draws,
	}
	nats := moment - math.Log(tailMass)
	hi := math.Ceil(nats / (exponent * h))
	lo := math.Ceil(nats / ((exponent + 1) * h))
	switch {
	case math.IsNaN(nats) || math.IsInf(nats, 0): // no bound: take the whole support
		hi = reach
		lo = reach
	case hi < reach:
		out.inf += tailMass
	}
	hi = math.Max(1, math.Min(hi, reach))
	lo = math.Max(1, math.Min(lo, reach))
	out.lo = -int(lo)
	size := int(hi+lo) + 1
	out.mass = w.convolveCyclically(fs, out.lo, fftLength(size))[:size]
	return out
}

// convolveCyclically convolves the factors cyclically over n cells. The first cell is the loss lo*h.
func (w *composer) convolveCyclically(fs []factor, lo, n int) []float64 {
	fft := w.ffts[n]
	if fft == nil {
		fft = fourier.NewFFT(n)
		w.ffts[n] = fft
	}
	buf := make([]float64, n)
	freq := make([]complex128, n/2+1)
	var total []complex128
	for _, f := range fs {
		clear(buf)
		for i, p := range f.mass {
			buf[cyclicIndex(f.lo+i, n)] += p
		}
		freq = fft.Coefficients(freq, buf)
		if total == nil {
			total = make([]complex128, len(freq))
			for i := range total {
				total[i] = complex(1/float64(n), 0)
			}
		}
		for i, z := range freq {
			total[i] *= powInt(z, f.draws)
		}
	}
	buf = fft.Sequence(buf, total)
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Max(0, buf[cyclicIndex(lo+i, n)])
	}
	return out
}

func cyclicIndex(i, n int) int {
	return ((i % n) + n) % n
}

// powInt returns z^n by squaring.
func powInt(z complex128, n int) complex128 {
	out := complex(1, 0)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			out *= z
		}
		z *= z
	}
	return out
}

// fftLength returns the smallest 2^k or 3*2^k that is at least n.
func fftLength(n int) int {
	two := 2
	for two < n {
		two *= 2
	}
	if three := two / 4 * 3; three >= n && two >= 8 {
		return three
	}
	return two
}
