package selection

import (
	"context"
	"slices"
)

// defaultCorrelated is the correlated degree from which two columns count as
// equivalent.
const defaultCorrelated = .95

// leastRedundancy bounds the redundancy from below, so that a column without
// redundancy does not come first regardless of its importance.
const leastRedundancy = .05

// byImportance returns the columns by falling importance. Ties keep their order.
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

// dropCorrelated returns the columns of an order whose correlated degree with every
// earlier kept column is below a threshold. A column is dropped only for a kept one,
// so both ends of a chain of three may stay.
func (d *discriminant) dropCorrelated(order []int, threshold float64) []int {
	var kept []int
	for _, j := range order {
		if !slices.ContainsFunc(kept, func(i int) bool {
			return d.correlatedDegree(i, j) >= threshold
		}) {
			kept = append(kept, j)
		}
	}
	return kept
}

// dynamicRelevance returns the dynamic relevance of a column given the selected ones,
// the paper's equation 15: importance over mean redundancy.
func (d *discriminant) dynamicRelevance(j int, selected []int) float64 {
	sum := 0.0
	for _, i := range selected {
		sum += d.correlatedDegree(i, j)
	}
	return d.importance[j] / max(sum/float64(max(len(selected), 1)), leastRedundancy)
}

// searchOrder returns the candidates in the order in which a search tries them.
func (d *discriminant) searchOrder(
	candidates, selected []int,
	dynamic bool,
) []int {
	if !dynamic || len(selected) == 0 {
		return candidates
	}
	relevance := make([]float64, len(d.importance))
	for _, j := range candidates {
		relevance[j] = d.dynamicRelevance(j, selected)
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

// floatingSearch is the floating search of the paper's algorithms 3 and 4 on the
// surrogate accuracy. It starts with the most important column. Each step adds the
// next column in the order that improves the accuracy, and then drops other columns,
// the one whose absence improves it most first, as long as that improves it. The
// search ends at most columns or when no column improves the accuracy. The accuracy
// increases in every step, so no set occurs twice. The error is the context's.
func (d *discriminant) floatingSearch(
	ctx context.Context,
	candidates []int,
	most int,
	dynamic bool,
) ([]int, error) {
	selected := []int{candidates[0]}
	best := d.surrogateAccuracy(selected)
	for len(selected) < most {
		var left []int
		for _, j := range candidates {
			if !slices.Contains(selected, j) {
				left = append(left, j)
			}
		}
		grown := selected
		for _, j := range d.searchOrder(left, selected, dynamic) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			with := append(slices.Clone(selected), j)
			if a := d.surrogateAccuracy(with); a > best {
				best = a
				grown = with
				break
			}
		}
		if len(grown) == len(selected) {
			break
		}
		selected, best = d.dropColumns(grown, best)
	}
	return selected, nil
}

// dropColumns drops columns other than the last one as long as that improves the
// accuracy.
func (d *discriminant) dropColumns(
	selected []int,
	best float64,
) ([]int, float64) {
	for len(selected) > 2 {
		var better []int
		for at := range len(selected) - 1 {
			without := slices.Delete(slices.Clone(selected), at, at+1)
			if a := d.surrogateAccuracy(without); a > best {
				best = a
				better = without
			}
		}
		if better == nil {
			break
		}
		selected = better
	}
	return selected, best
}

// firstColumns returns the first k columns of the order, followed by the most important
// other columns if there are fewer candidates.
func (d *discriminant) firstColumns(
	candidates []int,
	k int,
	dynamic bool,
) []int {
	var selected []int
	left := slices.Clone(candidates)
	for len(selected) < k && len(left) > 0 {
		j := d.searchOrder(left, selected, dynamic)[0]
		selected = append(selected, j)
		left = slices.DeleteFunc(left, func(i int) bool {
			return i == j
		})
	}
	if len(selected) == k {
		return selected
	}
	for _, j := range d.byImportance() {
		if len(selected) < k && !slices.Contains(selected, j) {
			selected = append(selected, j)
		}
	}
	return selected
}
