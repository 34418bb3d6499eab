package selection

import (
	"fmt"
	"slices"
)

// Quality rates a chosen set of k candidates by the true order of the scores. It is
// computed from exact scores, for experiments on public data, and must not be part of
// a private release.
//
// The three levels are those of "Feature Selection from Differentially Private
// Correlations" (2024, section 5), after Shekelyan and Loukides (arXiv
// 2201.13376). Each implies the next. Limits are rounded down: for k = 5
// the top k/10 is empty and the top 11k/10 is the top 5.
type Quality struct {
	Top   bool // the k best
	Great bool // all of the k/10 best, the others from the 11k/10 best
	Good  bool // all of the k/100 best, the others from the 3k/2 best
}

// QualityOf compares the chosen candidates with scores, one per candidate; larger is
// better and NaN is below all numbers. Ties are broken in favour of the choice. It panics if chosen is not a set of indices of
// scores.
func QualityOf(scores []float64, chosen []int) Quality {
	in := make([]bool, len(scores))
	for _, j := range chosen {
		if j < 0 || j >= len(scores) || in[j] {
			panic(fmt.Sprintf("%d is not an index of %d scores, or is listed twice", j,
				len(scores)))
		}
		in[j] = true
	}
	k := len(chosen)
	first, last := levelRanks(scores, in, chosen)
	level := func(all, within int) bool {
		return first >= all && last <= within
	}
	return Quality{
		Top:   level(k, k),
		Great: level(k/10, 11*k/10),
		Good:  level(k/100, 3*k/2),
	}
}

// levelRanks returns the number of best candidates that are chosen before the first one
// that is not, and the rank, from 1, of the last chosen one. Chosen candidates come first
// among equals.
func levelRanks(scores []float64, in []bool, chosen []int) (first, last int) {
	left := 0 // candidates left out that are better than the worst chosen
	if len(chosen) > 0 {
		worst := scores[chosen[0]]
		for _, j := range chosen {
			worst = lowerOf(worst, scores[j])
		}
		for j, s := range scores {
			if !in[j] && isBelow(worst, s) {
				left++
			}
		}
	}
	missed := slices.Index(in, false)
	if missed < 0 {
		return len(chosen), len(chosen)
	}
	best := scores[missed]
	for j, s := range scores {
		if !in[j] && isBelow(best, s) {
			best = s
		}
	}
	for _, j := range chosen {
		if !isBelow(scores[j], best) {
			first++
		}
	}
	return first, len(chosen) + left
}

// isBelow reports whether a < b, where NaN is below all numbers.
func isBelow(a, b float64) bool {
	return a < b || a != a && b == b
}

func lowerOf(a, b float64) float64 {
	if isBelow(b, a) {
		return b
	}
	return a
}
