package published

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/numeric/kendall"
)

// publishedGamma is the weight of the loss in the experiments of the paper.
const publishedGamma = .5

// TopK is the canonical Lipschitz mechanism as "Feature Selection from
// Differentially Private Correlations", algorithm 2, states it, for scores that
// a record moves by at most 1.
//
// With the scores sorted, x_1 >= ... >= x_d, a class (h, t) consists of the sets
// that contain ranks 1..h and t, lack h+1 and contain no rank above t; h = k-1, t =
// k is the true top k, else 0 <= h < k < t <= d. Its utility is -(epsilon/2)
// ((1-gamma) x_(h+1) - gamma x_t), to which the largest of as many noises is
// added as the class has members; the best class gives one of its members at
// random.
//
// As published, the members have k-h-1 ranks out of h+1..t-1, C(t-h-1, k-h-1)
// choices, where rank h+1 should be left out. Equal scores are ranked by
// position.
type TopK struct {
	K       int // at least 1, below the number of scores
	Epsilon float64
	Gamma   float64 // in [0, 1); the paper's experiments use 1/2
	Gumbel  bool    // Gumbel noise instead of standard exponential noise
}

// Draw returns the picked positions, increasing. A score that is not finite
// counts as 0.
func (m TopK) Draw(src Source, scores []float64) ([]int, error) {
	if err := m.checkSettings(len(scores)); err != nil {
		return nil, err
	}
	d := dice{src}
	s := sortScores(scores)
	best := class{}
	top := math.Inf(-1)
	m.visitClasses(s.values, func(c class) {
		if v := c.utility + m.largestNoise(d, c.logSize); v > top {
			best = c
			top = v
		}
	})
	ranks := d.subset(m.K-best.h-1, best.h, best.t-1)
	for r := range best.h {
		ranks = append(ranks, r)
	}
	return s.rankPositions(append(ranks, best.t-1)), nil
}

// class is a class of sets; its ranks count from 1, as in the paper.
type class struct {
	h       int
	t       int
	logSize float64
	utility float64
}

// visitClasses visits the classes of sorted scores.
func (m TopK) visitClasses(x []float64, visit func(class)) {
	utility := func(h, t int) float64 {
		return -m.Epsilon / 2 * ((1-m.Gamma)*x[h] - m.Gamma*x[t-1])
	}
	visit(class{m.K - 1, m.K, 0, utility(m.K-1, m.K)})
	for t := m.K + 1; t <= len(x); t++ {
		logSize := 0.0
		for h := m.K - 1; h >= 0; h-- {
			if h < m.K-1 {
				logSize += math.Log(float64(t-h-1) / float64(m.K-h-1))
			}
			visit(class{h, t, logSize, utility(h, t)})
		}
	}
}

// largestNoise is the largest of exp(logSize) independent noises.
func (m TopK) largestNoise(d dice, logSize float64) float64 {
	const huge = 40 // from here on the two kinds of noise differ by less than rounding
	log := math.Log(d.uniform())
	if m.Gumbel || logSize > huge {
		return logSize - math.Log(-log)
	}
	return -math.Log(-math.Expm1(log / math.Exp(logSize)))
}

func (m TopK) checkSettings(d int) error {
	if !(m.Gamma >= 0 && m.Gamma < 1) {
		return ErrGamma
	}
	return checkSelection(m.K, d, m.Epsilon)
}

// sorted holds scores in decreasing order.
type sorted struct {
	order  []int // position of the score of each rank, from 0
	values []float64
}

func sortScores(scores []float64) sorted {
	scores = replaceMissing(scores)
	s := sorted{
		order:  make([]int, len(scores)),
		values: make([]float64, len(scores)),
	}
	for i := range s.order {
		s.order[i] = i
	}
	slices.SortStableFunc(s.order, func(a, b int) int {
		return cmp.Compare(scores[b], scores[a])
	})
	for r, i := range s.order {
		s.values[r] = scores[i]
	}
	return s
}

// rankPositions returns the positions of ranks, increasing.
func (s sorted) rankPositions(ranks []int) []int {
	out := make([]int, len(ranks))
	for i, r := range ranks {
		out[i] = s.order[r]
	}
	slices.Sort(out)
	return out
}

// Lipschitz selects by [TopK] with gamma = 1/2 and exponential noise from scores
// that are in order: |S|/(n-1) over 3/2, with S the concordant less the
// discordant pairs of a column and the target (tau-a, in which tied pairs count
// 0). A record moves them by at most 1.
type Lipschitz struct {
	K int // at least 1, below the number of candidates
}

// Name returns "as-published-lipschitz".
func (Lipschitz) Name() string {
	return NameLipschitz
}

// Fit picks K columns.
func (m Lipschitz) Fit(
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
	scores, err := tauA(ctx, t.x, t.y)
	if err != nil {
		return Fitted{}, err
	}
	picks, err := m.topK(epsilon).Draw(src, scores)
	if err != nil {
		return Fitted{}, err
	}
	return t.fittedOf(picks), nil
}

// Law returns the exact distribution of the picks from columns x, each as long as y. Errors: [ErrCount],
// [ErrBudget], [ErrLarge].
func (m Lipschitz) Law(
	x [][]float64,
	y []float64,
	epsilon float64,
) (Law, error) {
	scores, err := tauA(context.Background(), x, y)
	if err != nil {
		return nil, err
	}
	return m.topK(epsilon).Law(scores)
}

func (m Lipschitz) topK(epsilon float64) TopK {
	return TopK{
		K:       m.K,
		Epsilon: epsilon,
		Gamma:   publishedGamma,
	}
}

// tauA returns |S(x, y)|/(n-1)/(3/2) for every column x.
func tauA(ctx context.Context, x [][]float64, y []float64) ([]float64, error) {
	counts, err := kendall.AgainstTarget(ctx, len(x),
		func(j int, scratch *kendall.Scratch) *kendall.Ranks {
			return kendall.Rank(x[j], scratch)
		}, func(scratch *kendall.Scratch) *kendall.Ranks {
			return kendall.Rank(y, scratch)
		}, 0)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(x))
	for j, c := range counts {
		if len(y) > 1 {
			scores[j] = math.Abs(float64(c)) / float64(len(y)-1) / kendallFirst
		}
	}
	return scores, nil
}
