package direction

import "math"

// A Score has the value of one measure for "the first column causes the second" (Forward)
// and for the reverse. The smaller one is preferred.
type Score struct {
	Name     string
	Forward  float64
	Backward float64
}

// Prefers returns 1 if forward is preferred, -1 if backward is, and 0 if neither.
func (s Score) Prefers() int {
	switch {
	case s.Forward < s.Backward:
		return 1
	case s.Forward > s.Backward:
		return -1
	}
	return 0
}

// The names of the scores.
const (
	Blend      = "blend"  // anmlik + igci/2 + 5 hsic, which decides
	Likelihood = "anmlik" // entropy of the cause and log residual of the effect
	HSIC       = "hsic"   // dependence of cause and residual
	LOCI       = "loci"   // Likelihood with a variance that depends on the cause
	CDCI       = "cdci"   // how much the shape of the conditional law varies
	RECI       = "reci"   // residual in units of the effect's range
	IGCI       = "igci"   // entropy of the cause alone, with a Gaussian reference
)

// The weights of igci and of hsic in [Blend]: the entropy of the cause, which anmlik holds, counts half. They
// were set on made-up pairs (docs/proofs/causal.md, "Settings").
const (
	entropyWeight = .5
	hsicWeight    = 5
)

// Scores returns all scores of a noisy histogram, in a fixed order. If signed is true the likelihood reads signed
// cells, see [Signed].
func Scores(h Histogram, signed bool) []Score {
	forward, backward := fitBothWays(h)
	out := []Score{blendScores(h, signed, forward, backward), LikelihoodScore(h, signed)}
	for _, s := range []struct {
		name  string
		value func(*fit) float64
	}{
		{HSIC, (*fit).hsic},
		{LOCI, (*fit).loci},
		{CDCI, (*fit).cdci},
		{RECI, (*fit).reci},
		{IGCI, (*fit).igci},
	} {
		out = append(out, Score{s.name, s.value(forward), s.value(backward)})
	}
	return out
}

// BlendScore returns the score that decides alone.
func BlendScore(h Histogram, signed bool) Score {
	forward, backward := fitBothWays(h)
	return blendScores(h, signed, forward, backward)
}

func blendScores(h Histogram, signed bool, forward, backward *fit) Score {
	likelihood := LikelihoodScore(h, signed)
	return Score{
		Blend, likelihood.Forward + entropyWeight*forward.igci() + hsicWeight*forward.hsic(),
		likelihood.Backward + entropyWeight*backward.igci() + hsicWeight*backward.hsic(),
	}
}

// fitBothWays returns those of both directions to the projected cells.
func fitBothWays(h Histogram) (forward, backward *fit) {
	p := h.Projected()
	p.Counts = normalizeAbove(p.Counts, 1e-9)
	return newFit(p), newFit(p.transposed())
}

// LikelihoodScore returns the likelihood of the additive-noise model alone, on the cells as
// they are if signed is set and on projected ones otherwise.
func LikelihoodScore(h Histogram, signed bool) Score {
	if signed {
		return Score{Likelihood, signedLikelihood(h), signedLikelihood(h.transposed())}
	}
	forward, backward := fitBothWays(h)
	return Score{Likelihood, forward.negativeLogLikelihood(), backward.negativeLogLikelihood()}
}

// Vote returns the sign of the sum of what hsic, anmlik and loci prefer.
func Vote(scores []Score) int {
	total := 0
	for _, s := range scores {
		if s.Name == HSIC || s.Name == Likelihood || s.Name == LOCI {
			total += s.Prefers()
		}
	}
	return min(max(total, -1), 1)
}

// fit is the additive-noise model of the second column given the first, read from cells
// that are a probability distribution.
type fit struct {
	Histogram
	px   []float64
	u, v []float64 // centres of the bins, standardised
	f    []float64 // smooth mean of v by bin of u
	r2   []float64 // mean of the squared residual by bin, 0 where px is
	rs   float64   // root of the mean squared residual
}

func newFit(p Histogram) *fit {
	px, py := p.margins()
	x := &fit{
		Histogram: p,
		px:        px,
		u:         standardizeMargin(px),
		v:         standardizeMargin(py),
	}
	x.f = x.smoothedMean(x.v)
	x.r2 = make([]float64, p.B)
	total := 0.
	for i := range p.B {
		row := 0.
		for j := range p.B {
			row += x.countAt(i, j) * (x.v[j] - x.f[i]) * (x.v[j] - x.f[i])
		}
		x.r2[i] = row / math.Max(px[i], 1e-12)
		total += row
	}
	x.rs = math.Sqrt(math.Max(total, 1e-12))
	return x
}

func (x *fit) countAt(i, j int) float64 {
	return x.Counts[i*x.B+j]
}

// weights returns px times the number of bins.
func (x *fit) weights() []float64 {
	w := make([]float64, x.B)
	for i, p := range x.px {
		w[i] = p * float64(x.B)
	}
	return w
}

// smoothedMean returns the smooth mean of values of the second column by bin of the first.
func (x *fit) smoothedMean(v []float64) []float64 {
	m := make([]float64, x.B)
	for i := range m {
		if x.px[i] <= 0 {
			continue
		}
		for j := range v {
			m[i] += x.countAt(i, j) * v[j]
		}
		m[i] /= math.Max(x.px[i], 1e-12)
	}
	return smoothMean(x.weights(), m)
}

func (x *fit) binWidth() float64 {
	return x.u[1] - x.u[0]
}

// negativeLogLikelihood is the negative log likelihood of the Gaussian additive-noise model, up to a
// constant: the entropy of the cause and the log of the residual's standard deviation.
func (x *fit) negativeLogLikelihood() float64 {
	return entropy(x.px, x.binWidth()) + math.Log(x.rs)
}

// loci lets the variance of the residual depend on the cause (A. Immer and others, "On the
// identifiability and estimation of causal location-scale noise models", 2023).
func (x *fit) loci() float64 {
	s := entropy(x.px, x.binWidth())
	for i, v := range smoothMeans(x.weights(), x.r2, 1) {
		s += x.px[i] * math.Log(math.Sqrt(math.Max(v, 1e-4)))
	}
	return s
}

// kernelWidth is the width of the Gaussian kernels of hsic, in standard deviations.
const kernelWidth = .5

// hsic is the Hilbert-Schmidt independence criterion of the cause and the residual (A.
// Gretton and others, "A kernel statistical test of independence", 2008), of the
// distribution over the cells.
func (x *fit) hsic() float64 {
	b := x.B
	n := b * b
	k := make([]float64, n) // of the bins of the cause
	for i := range b {
		for j := range b {
			k[i*b+j] = gaussianKernel(x.u[i] - x.u[j])
		}
	}
	r := make([]float64, n)
	for i := range b {
		for j := range b {
			r[i*b+j] = (x.v[j] - x.f[i]) / x.rs
		}
	}
	joint := 0.
	cross := 0.
	kk := 0.
	ll := 0.
	for a := range n {
		if x.Counts[a] == 0 {
			continue
		}
		kp := 0.
		lp := 0.
		klp := 0.
		for c := range n {
			if x.Counts[c] == 0 {
				continue
			}
			kv := k[a/b*b+c/b]
			lv := gaussianKernel(r[a] - r[c])
			kp += kv * x.Counts[c]
			lp += lv * x.Counts[c]
			klp += kv * lv * x.Counts[c]
		}
		p := x.Counts[a]
		joint += p * klp
		cross += p * kp * lp
		kk += p * kp
		ll += p * lp
	}
	return joint - 2*cross + kk*ll
}

func gaussianKernel(d float64) float64 {
	return math.Exp(-d * d / (2 * kernelWidth * kernelWidth))
}

// cdciPoints is the number of points at which cdci compares conditional laws.
const cdciPoints = 25

// cdci is the variation of the standardised conditional law of the effect (B. Duong and T.
// Nguyen, "Bivariate causal discovery via conditional divergence", 2022).
func (x *fit) cdci() float64 {
	laws := make([][cdciPoints]float64, x.B)
	var mean [cdciPoints]float64
	for i := range laws {
		laws[i] = x.conditionalCDF(i)
		for t, y := range laws[i] {
			mean[t] += x.px[i] * y
		}
	}
	s := 0.
	for i, law := range laws {
		for t, y := range law {
			s += x.px[i] * (y - mean[t]) * (y - mean[t])
		}
	}
	return s
}

// conditionalCDF returns the distribution function of the effect in bin i of the cause, at
// equal steps from -3 to 3 standard deviations around its mean.
func (x *fit) conditionalCDF(i int) [cdciPoints]float64 {
	below := make([]float64, x.B)
	m := 0.
	second := 0.
	total := 0.
	for j, v := range x.v {
		q := x.countAt(i, j) / math.Max(x.px[i], 1e-12)
		m += q * v
		second += q * v * v
		total += q
		below[j] = total
	}
	sd := math.Sqrt(math.Max(second-m*m, 1e-4))
	var out [cdciPoints]float64
	for t := range out {
		out[t] = interpolate(x.v, below, m+sd*(-3+6*float64(t)/(cdciPoints-1)))
	}
	return out
}

// interpolate returns the value at t of the piecewise linear function through the points
// (x, y), x increasing, which is constant beyond them.
func interpolate(x, y []float64, t float64) float64 {
	last := len(x) - 1
	switch {
	case t <= x[0]:
		return y[0]
	case t >= x[last]:
		return y[last]
	}
	k := 0
	for x[k+1] < t {
		k++
	}
	return y[k] + (y[k+1]-y[k])*(t-x[k])/(x[k+1]-x[k])
}

// reci is the mean squared residual with the effect mapped to [0, 1] (P. Blöbaum and
// others, "Cause-effect inference by comparing regression errors", 2018).
func (x *fit) reci() float64 {
	v := make([]float64, x.B)
	for j := range v {
		v[j] = float64(j) / float64(x.B-1)
	}
	f := x.smoothedMean(v)
	s := 0.
	for i := range x.B {
		for j := range v {
			s += x.countAt(i, j) * (v[j] - f[i]) * (v[j] - f[i])
		}
	}
	return s
}

// igci prefers the column of the larger entropy as the cause (D. Janzing and others,
// "Information-geometric approach to inferring causal directions", 2012).
func (x *fit) igci() float64 {
	return -entropy(x.px, x.binWidth())
}
