package published

import (
	"math"
	"slices"
)

// A Draw is one possible outcome of a selection.
type Draw struct {
	// Columns are the selected columns: in the order of the rounds if there are rounds, otherwise increasing.
	Columns []int
	// LogP is the natural logarithm of the outcome's probability.
	LogP float64
}

// Law is the exact distribution of a selection: every outcome with positive probability, once. The
// probabilities sum to 1 up to rounding.
type Law []Draw

// maxDraws is the maximum number of outcomes of a distribution.
const maxDraws = 200_000

// LogP returns the logarithm of the probability of an outcome, -Inf for one that
// cannot occur.
func (l Law) LogP(columns ...int) float64 {
	for _, d := range l {
		if slices.Equal(d.Columns, columns) {
			return d.LogP
		}
	}
	return math.Inf(-1)
}

// Loss returns the largest absolute log ratio of the probabilities of one outcome under two distributions: the
// epsilon that this pair requires. It is +Inf if an outcome is possible under only one distribution.
func Loss(a, b Law) float64 {
	worst := 0.0
	for _, side := range [][2]Law{{a, b}, {b, a}} {
		other := make(map[string]float64, len(side[1]))
		for _, d := range side[1] {
			other[columnsKey(d.Columns)] = d.LogP
		}
		for _, d := range side[0] {
			if math.IsInf(d.LogP, -1) {
				continue
			}
			log, possible := other[columnsKey(d.Columns)]
			if !possible {
				return math.Inf(1)
			}
			worst = max(worst, math.Abs(d.LogP-log))
		}
	}
	return worst
}

func columnsKey(columns []int) string {
	runes := make([]rune, len(columns))
	for i, j := range columns {
		runes[i] = rune(j)
	}
	return string(runes)
}

// peel is k rounds of the exponential mechanism: round returns the scores after
// some picks and the scale s of their noise, column j then being picked with
// probability proportional to exp(score_j/s).
type peel struct {
	k     int
	d     int
	round func(picked []int) (scores []float64, scale float64)
}

// drawRounds runs the rounds.
func (p peel) drawRounds(d dice) []int {
	var picked []int
	for range p.k {
		scores, scale := p.round(picked)
		noisy := make([]float64, len(scores))
		for j, s := range scores {
			noisy[j] = s + d.gumbel(scale)
		}
		picked = append(picked, largestIndex(noisy))
	}
	return picked
}

// listOutcomes lists the outcomes of the rounds with their probabilities.
func (p peel) listOutcomes() (Law, error) {
	total := 1
	for i := range p.k {
		if total *= p.d - i; total > maxDraws {
			return nil, ErrLarge
		}
	}
	return p.extendOutcomes(nil, nil, 0), nil
}

func (p peel) extendOutcomes(l Law, picked []int, logP float64) Law {
	if len(picked) == p.k {
		return append(l, Draw{
			Columns: slices.Clone(picked),
			LogP:    logP,
		})
	}
	scores, scale := p.round(picked)
	for j, log := range exponentialLogs(scores, scale) {
		if !math.IsInf(log, -1) {
			l = p.extendOutcomes(l, append(slices.Clone(picked), j), logP+log)
		}
	}
	return l
}

// largestIndex returns the index of the largest value: the end of an increasing stable sort in which NaN comes after
// every number. The scripts take that element; their library does not specify the order of equal values.
func largestIndex(values []float64) int {
	best := 0
	for j, v := range values {
		if below := v < values[best] || (math.IsNaN(values[best]) && !math.IsNaN(v)); !below {
			best = j
		}
	}
	return best
}

// exponentialLogs returns the logarithms of the probabilities of the exponential
// mechanism. A score that is not a number is taken with certainty; see last.
func exponentialLogs(scores []float64, scale float64) []float64 {
	logs := make([]float64, len(scores))
	if j := largestIndex(scores); math.IsNaN(scores[j]) {
		for i := range logs {
			logs[i] = math.Inf(-1)
		}
		logs[j] = 0
		return logs
	}
	for j, s := range scores {
		logs[j] = s / scale
	}
	total := logSum(logs)
	for j := range logs {
		logs[j] -= total
	}
	return logs
}

// logSum returns the logarithm of the sum of exp(logs).
func logSum(logs []float64) float64 {
	top := math.Inf(-1)
	for _, l := range logs {
		top = max(top, l)
	}
	if math.IsInf(top, 0) {
		return top
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - top)
	}
	return top + math.Log(sum)
}

// logLess returns the logarithm of exp(a) - exp(b), a >= b; -Inf when both are
// empty.
func logLess(a, b float64) float64 {
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log(-math.Expm1(b-a))
}
