package kendall

import "slices"

// manyTies is the number of ties a row has on average from which on fine sorts
// all rows by (x, y) rather than each group of ties.
const manyTies = 4

// rowsOfWorker is how many rows another goroutine is worth while.
const rowsOfWorker = 1 << 14

// S returns the sum over all pairs of rows of sgn(x_i-x_j) sgn(y_i-y_j): the
// number of concordant pairs minus that of discordant ones. Pairs tied in x or
// in y count 0. It is in [-n(n-1)/2, n(n-1)/2] and S(x, y) = S(y, x); for
// fewer than two rows it is 0. Dividing by n-1 gives the score of Kendall
// selection, by n(n-1)/2 Kendall's tau-a.
//
// Many calls may share x and y; each needs a scratch of its own. It panics if
// x and y have different lengths.
func S(x, y *Ranks, scratch *Scratch) int64 {
	if scratch == nil {
		scratch = new(Scratch)
	}
	return scratch.sumSigns(x, y, 1)
}

// sumSigns computes [S] with up to workers goroutines, if there are enough rows.
func (s *Scratch) sumSigns(x, y *Ranks, workers int) int64 {
	if x.Len() != y.Len() {
		panic("kendall: x and y have different numbers of rows")
	}
	if x.distinct < y.distinct {
		x, y = y, x
	}
	switch {
	case y.distinct < 2:
		return 0
	case int64(x.distinct)*int64(y.distinct) <= cellsPerRow*int64(x.Len()):
		return s.sumCoarse(x, y)
	}
	return s.sumFine(x, y, max(1, min(workers, x.Len()/rowsOfWorker)))
}

// sumFine is [S] for any columns, x with at least as many distinct values as y.
//
// Rows are brought in the order of (x, y) and given their places in the order
// of (y, x). Pairs tied in either column are ascents of that permutation, so
// disc = n0 - ascents and
// S = n0 - n1 - n2 + n3 - 2 disc = 2 ascents - n0 - n1 - n2 + n3.
func (s *Scratch) sumFine(x, y *Ranks, workers int) int64 {
	n := x.Len()
	perm, work := s.sorter.bufferHalves(n) // a permutation of the rows, and room to split it
	n3 := int64(0)
	if x.tied > manyTies*int64(n) {
		s.arrangeRows(work, y.order, x)
		lookUp(perm, work, y.rowRanks(workers), workers)
		n3 = bothTied(work, x.rowRanks(workers), perm)
	} else {
		if x.distinct == y.distinct && y.byRows.Load() == nil {
			x, y = y, x // S is symmetric: take the ranks that are there
		}
		lookUp(perm, x.order, y.rowRanks(workers), workers)
		if x.distinct < n {
			n3 = sortGroups(perm, x.order)
		}
	}
	if y.distinct < n {
		s.next = y.groupStarts(s.next)
		ranksToPlaces(perm, s.next)
	}
	return 2*ascentsWith(workers, perm, work) - pairCount(n) - x.tied - y.tied + n3
}

// lookUp sets perm[i] to the rank of row order[i], with the given number of goroutines.
func lookUp(perm, order, ranks []uint32, workers int) {
	if workers == 1 {
		lookUpPart(perm, order, ranks)
		return
	}
	runParallel(workers, func(k int) {
		lookUpPart(chunkOf(perm, k, workers), chunkOf(order, k, workers), ranks)
	})
}

func lookUpPart(perm, order, ranks []uint32) {
	perm = perm[:len(order)]
	for i, v := range order {
		perm[i] = ranks[v&rowMask]
	}
}

// ranksToPlaces gives rows of equal rank, which are free from next[rank],
// places in the order in which they come.
func ranksToPlaces(perm, next []uint32) {
	for i, rank := range perm {
		e := &next[rank]
		perm[i] = *e
		*e++
	}
}

// sortGroups sorts the ranks of y within each group of ties of x and returns
// the number of pairs tied in both.
func sortGroups(ranks, order []uint32) int64 {
	n3 := int64(0)
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && order[to]&opens == 0 {
			to++
		}
		if to-from > 1 {
			group := ranks[from:to]
			slices.Sort(group)
			run := int64(0)
			for i, rank := range group[1:] {
				run++
				if rank != group[i] {
					run = 0
				}
				n3 += run
			}
		}
		from = to
	}
	return n3
}

// arrangeRows sets rows to the rows in the order of x, tied ones in the given
// order.
func (s *Scratch) arrangeRows(rows, order []uint32, x *Ranks) {
	s.next = x.groupStarts(s.next)
	next := s.next
	ranks := x.rowRanks(1)
	for _, v := range order {
		row := v & rowMask
		e := &next[ranks[row]]
		rows[*e] = row
		*e++
	}
}

// bothTied counts the pairs tied in x and in y, given the rows in the order of
// (x, y), the ranks of x by row and those of y in that order.
func bothTied(rows, x, y []uint32) int64 {
	total, run := int64(0), int64(0) // run rows before this one are tied with it
	for i, row := range rows[1:] {
		run++
		if y[i+1] != y[i] || x[row] != x[rows[i]] {
			run = 0
		}
		total += run
	}
	return total
}
