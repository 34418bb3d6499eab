package budget

import "math"

// gaussianSeries evaluates the curve of one Gaussian at many points k = e^epsilon, as the power series of
//
//	f(k) = E (L - k)+ = Phi(-a) - k Phi(-b),   a = ln k/mu - mu/2, b = ln k/mu + mu/2
//
// about the middle c of the cell that contains k, which takes a tenth of the time of [gaussianDelta]. The
// cells of an octave have the same width. The coefficients of a cell are computed at its first use.
//
// With phi the normal density, f'(k) = -Phi(-b) and the second derivative is g(k) = phi(b)/(mu k). Since
//
//	k g'(k) = -g(k) (b/mu + 1)
//
// the coefficients G of g in tau = k/c - 1, and those B of b/mu + 1, which are those of a logarithm, obey
//
//	(n+1) G[n+1] + n G[n] = -(B[0] G[n] + ... + B[n] G[0]).
//
// A cell is so narrow that |tau| (b/mu + 1) is at most 1/8 for |b| <= 12, and |tau|/mu at most 1/96. The terms
// fall at least as fast as those of e^(1/8); the truncation error is below 1e-14 of f. Where b is below -12, g
// is negligible compared with f.
type gaussianSeries struct {
	mu     float64
	shift  int                                       // right shift of the bits of k that gives the number of its cell
	blocks [seriesOctaves << seriesBits][]seriesCell // 2^seriesBits blocks per octave
}

// seriesCell holds the coefficients of a cell in powers of k - c. The first coefficient is 0 until they are
// computed.
type seriesCell [seriesTerms]float64

const (
	seriesTerms = 10
	seriesBits  = 5
	// The series cover k from 2^-2 to 2^6; few points are elsewhere.
	seriesMinExponent = -2
	seriesOctaves     = 8
	// seriesMaxB is the largest b that the series cover: f is below 1e-31 beyond.
	seriesMaxB = 12
	// For a mu outside this range a cell would be too narrow, or f would be almost 1 throughout a cell.
	seriesMinMu = .05
	seriesMaxMu = 8
)

// resetMu clears the cells of s and prepares it for mu.
func (s *gaussianSeries) resetMu(mu float64) {
	_, bits := math.Frexp(4 * (seriesMaxB/mu + 1)) // 2^bits cells make half of one at most 1/8 of b/mu + 1
	shift := 52 - max(bits, seriesBits)
	for i := range s.blocks {
		if shift != s.shift {
			s.blocks[i] = nil
		}
		clear(s.blocks[i])
	}
	s.mu = mu
	s.shift = shift
}

// valueAt returns f(k) for k > 0 with the accuracy of [gaussianDelta] at epsilon = ln k: never below the exact
// value, and above it by less than 1e-12 of it.
func (s *gaussianSeries) valueAt(k float64) float64 {
	bits := math.Float64bits(k)
	octave := int(bits>>(52-seriesBits)) - (1023+seriesMinExponent)<<seriesBits
	if octave < 0 || octave >= len(s.blocks) || !(s.mu >= seriesMinMu && s.mu <= seriesMaxMu) {
		return gaussianDelta(s.mu, math.Log(k))
	}
	block := s.blocks[octave]
	if block == nil {
		block = make([]seriesCell, 1<<(52-seriesBits-s.shift))
		s.blocks[octave] = block
	}
	c := math.Float64frombits(bits>>s.shift<<s.shift | 1<<(s.shift-1))
	cell := &block[bits>>s.shift&uint64(len(block)-1)]
	if cell[0] == 0 && !s.expandCell(cell, c) {
		return gaussianDelta(s.mu, math.Log(k))
	}
	u := k - c
	f := cell[seriesTerms-1]
	for n := seriesTerms - 2; n >= 0; n-- {
		f = f*u + cell[n]
	}
	return math.Min(1, f)
}

// expandCell computes the coefficients about c. It reports false if the series does not cover c.
func (s *gaussianSeries) expandCell(cell *seriesCell, c float64) bool {
	epsilon := math.Log(c)
	b := epsilon/s.mu + s.mu/2
	if b > seriesMaxB {
		return false
	}
	var g, steps [seriesTerms - 2]float64
	g[0] = math.Exp(-b*b/2) / math.Sqrt(2*math.Pi) / s.mu * c // in tau, as f'' is to be multiplied by c^2
	steps[0] = b/s.mu + 1
	for n, sign := 1, 1/(s.mu*s.mu); n < len(steps); n, sign = n+1, -sign {
		steps[n] = sign / float64(n)
	}
	for n := range len(g) - 1 {
		sum := float64(n) * g[n]
		for j := range n + 1 {
			sum += steps[j] * g[n-j]
		}
		g[n+1] = -sum / float64(n+1)
	}
	cell[0] = gaussianDelta(s.mu, epsilon)
	cell[1] = -math.Erfc(b/math.Sqrt2) / 2
	power := c
	for n, v := range g {
		power *= c
		cell[n+2] = v / float64((n+1)*(n+2)) / power
	}
	return cell[0] > 0
}
