package selection

import (
	"context"
	"slices"
)

// defaultCorrelated is the correlated degree from which two columns count as
// saying the same.
const defaultCorrelated = .95

// leastRedundancy bounds the redundancy from below, so that a column without
// any does not come first whatever it is worth.
const leastRedundancy = .05

// byImportance returns the columns by falling importance, the first of equals
// first.
func (d *discriminant) byImportance() []int {
	order := make([]int, len(d.importance))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case d.importance[a] > d.importance[b]:
			return -1
		case d.importance[a] < d.importance[b]:
			return 1
		}
		return 0
	})
	return order
}

// uncorrelated keeps of an order the columns whose correlated degree with every
// column kept before is below a threshold. A column is dropped only for one that
// is kept, so of a chain of three the ends may both stay.
func (d *discriminant) uncorrelated(order []int, threshold float64) []int {
	var kept []int
	for _, j := range order {
		if !slices.ContainsFunc(kept, func(i int) bool { return d.theta(i, j) >= threshold }) {
			kept = append(kept, j)
		}
	}
	return kept
}

// relevance is the dynamic relevance of a column beside those already selected,
// the paper's equation 15: importance over mean redundancy.
func (d *discriminant) relevance(j int, selected []int) float64 {
	sum := 0.0
	for _, i := range selected {
		sum += d.theta(i, j)
	}
	return d.importance[j] / max(sum/float64(max(len(selected), 1)), leastRedundancy)
}

// next returns the candidates in the order in which a search tries them.
func (d *discriminant) next(candidates, selected []int, dynamic bool) []int {
	if !dynamic || len(selected) == 0 {
		return candidates
	}
	relevance := make([]float64, len(d.importance))
	for _, j := range candidates {
		relevance[j] = d.relevance(j, selected)
	}
	order := slices.Clone(candidates)
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case relevance[a] > relevance[b]:
			return -1
		case relevance[a] < relevance[b]:
			return 1
		}
		return 0
	})
	return order
}

// search is the floating search of the paper's algorithms 3 and 4 on the
// surrogate accuracy: from the most important column on, the next column in the
// order that improves it is added; then, as long as leaving out one of the
// others improves it too, the one whose absence improves it most is. It ends at
// most columns or when none improves it. Every step makes the accuracy larger,
// so no set comes twice. The error is the context's.
func (d *discriminant) search(ctx context.Context, candidates []int, most int, dynamic bool) ([]int, error) {
	selected := []int{candidates[0]}
	best := d.accuracy(selected)
	for len(selected) < most {
		var left []int
		for _, j := range candidates {
			if !slices.Contains(selected, j) {
				left = append(left, j)
			}
		}
		grown := selected
		for _, j := range d.next(left, selected, dynamic) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			with := append(slices.Clone(selected), j)
			if a := d.accuracy(with); a > best {
				best, grown = a, with
				break
			}
		}
		if len(grown) == len(selected) {
			break
		}
		selected, best = d.shrink(grown, best)
	}
	return selected, nil
}

// shrink leaves out columns before the last one as long as that improves the
// accuracy.
func (d *discriminant) shrink(selected []int, best float64) ([]int, float64) {
	for len(selected) > 2 {
		var better []int
		for at := range len(selected) - 1 {
			without := slices.Delete(slices.Clone(selected), at, at+1)
			if a := d.accuracy(without); a > best {
				best, better = a, without
			}
		}
		if better == nil {
			break
		}
		selected = better
	}
	return selected, best
}

// first returns the first k columns of the order, followed by the most important
// of the others where the candidates are fewer.
func (d *discriminant) first(candidates []int, k int, dynamic bool) []int {
	var selected []int
	left := slices.Clone(candidates)
	for len(selected) < k && len(left) > 0 {
		j := d.next(left, selected, dynamic)[0]
		selected = append(selected, j)
		left = slices.DeleteFunc(left, func(i int) bool { return i == j })
	}
	for _, j := range d.byImportance() {
		if len(selected) < k && !slices.Contains(selected, j) {
			selected = append(selected, j)
		}
	}
	return selected
}
