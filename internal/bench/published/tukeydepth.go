package published

import (
	"math"
	"slices"
)

// Depths are m models of d coefficients, sorted for depth computations: the depth of a point is the minimum,
// over the coefficients and both sides, of the number of models on that side of the point or equal to it.
//
// The models are used unchanged. [Tukey.Fit] first perturbs them by up to 1e-10, as the script does, so that
// few are equal.
type Depths struct {
	epsilon, delta float64 // shares of the check and of the draw; delta of the check
	m              int
	t              int
	x              [][]float64 // per coefficient, increasing
	volume         []float64   // logarithm of the volume of depth at least q, at q-1
	exact          []float64   // and of depth q exactly
}

// NewDepths prepares the check and the draw for models, each of the same length,
// at a total of (epsilon, delta), half of epsilon for either. Errors:
// [ErrTooFew] for fewer than 8 models, [ErrBudget].
func NewDepths(models [][]float64, epsilon, delta float64) (*Depths, error) {
	if err := checkTarget(epsilon, delta); err != nil {
		return nil, err
	}
	m := len(models)
	if m < leastModels {
		return nil, ErrTooFew
	}
	s := &Depths{
		epsilon: epsilon / 2,
		delta:   delta,
		m:       m,
		t:       m / 2 / 2,
	}
	for j := range models[0] {
		column := make([]float64, m)
		for i, model := range models {
			column[i] = model[j]
		}
		slices.Sort(column)
		s.x = append(s.x, column)
	}
	for q := 1; q <= (m+1)/2; q++ {
		log := 0.0
		for j := range s.x {
			log += math.Log(s.regionLength(j, q))
		}
		s.volume = append(s.volume, log)
	}
	s.exact = slices.Clone(s.volume)
	for i := range len(s.exact) - 1 {
		s.exact[i] = logLess(s.volume[i], s.volume[i+1])
	}
	return s, nil
}

// coefficientAt returns the i-th smallest coefficient j, from 1.
func (s *Depths) coefficientAt(j, i int) float64 {
	return s.x[j][i-1]
}

// regionLength returns the length of the region of depth at least q in coefficient j; negative past the middle.
func (s *Depths) regionLength(j, q int) float64 {
	return s.coefficientAt(j, s.m-q+1) - s.coefficientAt(j, q)
}

// lemmaHolds reports whether k satisfies the inequality of lemma 8.5,
//
//	V_(t-k-1) exp(e (t+k+1)) / (integral of exp(e T) over depth >= t+k-1) <= delta/(8 exp(e)).
func (s *Depths) lemmaHolds(k int) bool {
	from := s.t + k - 1
	var terms []float64
	for q := from; q <= len(s.exact); q++ {
		terms = append(terms, s.epsilon*float64(q)+s.exact[q-1])
	}
	log := s.volume[s.t-k-2] + s.epsilon*float64(s.t+k+1) - logSum(terms)
	return log <= math.Log(s.delta/8)-s.epsilon
}

// LargestK returns the largest k >= 0 that satisfies the inequality of the lemma, or -1.
func (s *Depths) LargestK() int {
	for k := s.t - 2; k >= 0; k-- {
		if s.lemmaHolds(k) {
			return k
		}
	}
	return -1
}

// Distance returns the result of the script's binary search for it: k+1, and -1 for -1.
func (s *Depths) Distance() int {
	low, high := -1, s.t-1
	for {
		switch half := (high - low) / 2; {
		case s.lemmaHolds((low + high) / 2):
			if low >= high-1 {
				return high
			}
			low += half
		case high <= low+1:
			return low
		default:
			high -= half
		}
	}
}

// LogPass returns the logarithm of the probability that the check passes: that
// the distance exceeds ln(1/(2 delta))/e after Laplace noise, of scale e as
// published instead of 1/e.
func (s *Depths) LogPass() float64 {
	return logPass(float64(s.Distance()), s.checkThreshold(), s.epsilon)
}

func (s *Depths) checkThreshold() float64 {
	return math.Log(1/(2*s.delta)) / s.epsilon
}

// logPass is the logarithm of the probability that distance + Laplace(scale)
// exceeds a threshold.
func logPass(distance, threshold, scale float64) float64 {
	z := (threshold - distance) / scale
	if z > 0 {
		return -math.Ln2 - z
	}
	return math.Log1p(-math.Exp(z) / 2)
}

// Draw runs the check and, if it passes, draws a point.
func (s *Depths) Draw(src Source) (point []float64, passed bool) {
	d := dice{src}
	if !(float64(s.Distance())+d.laplace(s.epsilon) > s.checkThreshold()) {
		return nil, false
	}
	return s.drawPoint(d), true
}
