package suite

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/direction"
)

// causalScores are the scores that the thesis' methods read.
func causalScores() map[string]string {
	return map[string]string{
		causalSpearman: direction.Spearman,
		causalKendall:  direction.Kendall,
		causalHSIC:     direction.HSIC,
		causalAll:      direction.HSIC,
	}
}

// scored returns the thesis' score of every pair and its number of test records, computed once per trial, penalty and
// score.
func (x *causalSet) scored(k Key) (scores []direction.Score, tested []int, err error) {
	score, ok := causalScores()[strings.TrimSuffix(k.Method, causalPublished)]
	if !ok {
		return nil, nil, fmt.Errorf("%w: method %q", ErrUnknown, k.Method)
	}
	ridge := direction.Ridge{Penalty: .002, Width: .25} // protects test records only
	if k.Method == causalAll {
		ridge = direction.Ridge{
			Penalty: k.Setting.Noise,
			Width:   .5,
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	fits := x.fitted(k.Trial, ridge)
	name := fmt.Sprint(k.Trial, " ", ridge, " ", score)
	for _, f := range fits {
		if len(x.scores[name]) < len(fits) {
			x.scores[name] = append(x.scores[name], f.Score(score))
		}
		tested = append(tested, len(f.X))
	}
	return x.scores[name], tested, nil
}

// fitted fits the thesis' regressions to the pairs of the set, once per trial and penalty. The caller holds the lock.
func (x *causalSet) fitted(trial int, ridge direction.Ridge) []direction.Fit {
	name := fmt.Sprint(trial, " ", ridge)
	if fits, ok := x.fits[name]; ok {
		return fits
	}
	var fits []direction.Fit
	for i, p := range x.pairs {
		g := newGenerator(seed002+" "+x.name, x.seed, uint64(1000*trial+i))
		order := g.permutation(len(p.x))
		order = order[:min(len(order)/2*2, 2*causalRecords)]
		train := make([]bool, len(order))
		a := make([]float64, len(order))
		b := make([]float64, len(order))
		scaled := [2][]float64{scaledTo(p.x), scaledTo(p.y)}
		for j, row := range order {
			train[j], a[j], b[j] = j < len(order)/2, scaled[0][row], scaled[1][row]
		}
		fits = append(fits, direction.FitRecords(a, b, train, ridge))
	}
	x.fits[name] = fits
	return fits
}

// scaledTo maps a column from its declared range to [-1, 1].
func scaledTo(column []float64) []float64 {
	lower := outerQuantile(column, causalOuter)
	upper := outerQuantile(column, 1-causalOuter)
	out := make([]float64, len(column))
	for i, x := range column {
		out[i] = 2*(x-lower)/(upper-lower) - 1
	}
	return out
}

// causalChance returns the probability that a method of the thesis decides a pair correctly, given the distribution
// of its noise. The score s is noise-free, and m is the number of test records.
func causalChance(k Key, s direction.Score, m int, p causalPair) float64 {
	n := float64(m)
	bound := direction.TestBound(s.Name, m)
	published := strings.HasSuffix(k.Method, causalPublished)
	switch {
	case k.Method == causalAll:
		bound = direction.HSICBound(
			direction.Ridge{
				Penalty: k.Setting.Noise,
				Width:   .5,
			},
			m,
			m,
		)
	case published && s.Name == direction.Spearman:
		bound = 30 / n
	case published && s.Name == direction.HSIC:
		bound = (12*n - 11) / ((n - 1) * (n - 1))
	}
	gap := s.Backward - s.Forward
	if !p.forward {
		gap = -gap
	}
	// The difference has sensitivity 2 bounds. As published, both scores get noise of bound/epsilon, which costs 2
	// epsilon (theorem 4 is the probability).
	kept := func(g float64) float64 {
		return 1 - .5*math.Exp(-g*k.Setting.Epsilon/(2*bound))
	}
	if published {
		sigma := bound / k.Setting.Epsilon
		kept = func(g float64) float64 {
			return 1 - (g+2*sigma)/(4*sigma)*math.Exp(-g/sigma)
		}
	}
	if gap < 0 {
		return 1 - kept(-gap)
	}
	return kept(gap)
}

// quartileDraws is the number of noise draws of iqr that a trial averages over.
const quartileDraws = 50

// quartiles evaluates the thesis' iqr on all pairs: eight quartiles by the exponential mechanism with an eighth of
// epsilon each, as `causal` releases them.
func (x *causalSet) quartiles(k Key) map[string]float64 {
	x.mu.Lock()
	fits := x.fitted(k.Trial, direction.Ridge{
		Penalty: .002,
		Width:   .25,
	})
	x.mu.Unlock()
	g := newGenerator(seed002+" "+x.name+" "+k.Method, x.seed, uint64(k.Trial))
	sum := 0.
	noiseless := 0.
	n := float64(len(fits))
	for i, f := range fits {
		forward := x.pairs[i].forward
		noiseless += directionScore(f.Score(direction.IQR).Prefers(), forward)
		var laws [8][]float64
		for j := range laws {
			laws[j] = quartileLaw(f, j, k.Setting.Epsilon/8)
		}
		for range quartileDraws {
			b := direction.Baseline{
				Score:    direction.IQR,
				TestOnly: true,
			}
			for j, law := range laws {
				b.Quartiles = append(b.Quartiles,
					mechanism.QuartileAt(quantileIndex(law, g.uniform()), quartileReach(j)))
			}
			sum += directionScore(b.Read().Preferred, forward)
		}
	}
	return map[string]float64{
		metricDirection: sum / (n * quartileDraws),
		metricNoiseless: noiseless / n,
	}
}

// quartileReach returns the largest possible magnitude of quartile j. A residual is a difference of two values in
// [-1, 1].
func quartileReach(j int) float64 {
	if j/2%2 == 1 {
		return 2
	}
	return 1
}

// quartileLaw returns the probability that quartile j is each point of the grid, from the scores of
// [mechanism.Session.Quartile], of width 2.
func quartileLaw(f direction.Fit, j int, epsilon float64) []float64 {
	values := slices.Sorted(slices.Values([][]float64{f.X, f.ResidualY, f.Y, f.ResidualX}[j/2]))
	target := float64(len(values)) * []float64{.25, .75}[j%2]
	reach := quartileReach(j)
	law := make([]float64, mechanism.QuartilePoints)
	for i := range law {
		below, _ := slices.BinarySearch(values, mechanism.QuartileAt(i, reach))
		law[i] = -epsilon / 2 * math.Abs(float64(below)-target)
	}
	most := slices.Max(law)
	sum := 0.
	for i, x := range law {
		law[i] = math.Exp(x - most)
		sum += law[i]
	}
	for i := range law {
		law[i] /= sum
	}
	return law
}

// quantileIndex returns the index at which the cumulative probability exceeds u.
func quantileIndex(law []float64, u float64) int {
	for i, p := range law {
		if u -= p; u < 0 {
			return i
		}
	}
	return len(law) - 1
}
