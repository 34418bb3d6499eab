package published

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/dataset"
)

// SIS is DP-SIS as in its paper: a private top-k of [SISScores], which are claimed to have sensitivity 1. The
// paper uses the canonical Lipschitz mechanism with exponential noise and gamma = 1/2 ([TopK], with the
// published class sizes).
type SIS struct {
	K int // at least 1, below the number of candidates
	// Peeling takes K rounds of the exponential mechanism instead, epsilon/K each,
	// with noise of scale 2/(epsilon/K).
	Peeling bool
}

// Name returns "as-published-sis".
func (SIS) Name() string {
	return NameSIS
}

// Fit picks K columns.
func (m SIS) Fit(
	ctx context.Context,
	src Source,
	v dataset.View,
	target int,
	epsilon, _ float64,
) (Fitted, error) {
	t, err := newTable(v, target)
	if err != nil {
		return Fitted{}, err
	}
	if err := checkSelection(m.K, len(t.x), epsilon); err != nil {
		return Fitted{}, err
	}
	scores := SISScores(t.x, t.y)
	if err := ctx.Err(); err != nil {
		return Fitted{}, err
	}
	if m.Peeling {
		return t.fittedOf(m.newRounds(scores, epsilon).drawRounds(dice{src})), nil
	}
	picks, err := m.topK(epsilon).Draw(src, scores)
	return t.fittedOf(picks), err
}

// Law returns the exact distribution of the picks from columns x, each as long as y. Errors: [ErrCount],
// [ErrBudget], [ErrLarge].
func (m SIS) Law(x [][]float64, y []float64, epsilon float64) (Law, error) {
	if err := checkSelection(m.K, len(x), epsilon); err != nil {
		return nil, err
	}
	scores := SISScores(x, y)
	if m.Peeling {
		return m.newRounds(scores, epsilon).listOutcomes()
	}
	return m.topK(epsilon).Law(scores)
}

func (m SIS) topK(epsilon float64) TopK {
	return TopK{
		K:       m.K,
		Epsilon: epsilon,
		Gamma:   publishedGamma,
	}
}

func (m SIS) newRounds(scores []float64, epsilon float64) peel {
	return peelOnce(scores, m.K, 2/(epsilon/float64(m.K)))
}

// peelOnce picks k columns one after another by scores that do not change.
func peelOnce(scores []float64, k int, scale float64) peel {
	return peel{
		k: k,
		d: len(scores),
		round: func(picked []int) ([]float64, float64) {
			left := append([]float64(nil), scores...)
			for _, j := range picked {
				left[j] = math.Inf(-1)
			}
			return left, scale
		},
	}
}

// SISScores returns |sum x y| for every column x, after x and y have been centred by their means and divided by
// their largest absolute values. A constant column, which the paper does not cover, has score 0.
func SISScores(x [][]float64, y []float64) []float64 {
	scores := make([]float64, len(x))
	y = standardise(y)
	for j, column := range x {
		sum := 0.0
		for i, v := range standardise(column) {
			sum += v * y[i]
		}
		scores[j] = math.Abs(sum)
	}
	return scores
}

// standardise centres a column and divides it by its largest absolute value. It
// is divided first as well, so that no square overflows.
func standardise(column []float64) []float64 {
	out := make([]float64, len(column))
	rescale := func(in []float64, centre float64) float64 {
		largest := 0.0
		for _, v := range in {
			largest = max(largest, math.Abs(v-centre))
		}
		if largest == 0 {
			largest = 1
		}
		sum := 0.0
		for i, v := range in {
			out[i] = (v - centre) / largest
			sum += out[i]
		}
		return sum / float64(len(in))
	}
	rescale(out, rescale(column, 0))
	return out
}
