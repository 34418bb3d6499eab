package kendall

// cellsPerRow bounds the work of coarse: it is used while the table of the
// distinct values of x by those of y has at most this many cells a row.
const cellsPerRow = 16

// sumCoarse is [S] for columns with many ties in at least one. It goes through
// the table of the values of x by those of y, one value of x at a time: with
// conc concordant pairs, S = conc - disc = 2 conc - (n0 - n1 - n2 + n3).
func (s *Scratch) sumCoarse(x, y *Ranks) int64 {
	ranks := y.rowRanks(1)
	order := x.order
	s.seen, s.group = growTo(s.seen, y.distinct), growTo(s.group, y.distinct)
	seen, group := s.seen, s.group // rows by value of y, below and at this value of x
	clear(seen)
	clear(group)
	concordant := int64(0)
	n3 := int64(0)
	for from := 0; from < len(order); {
		rank := ranks[order[from]&rowMask]
		to := from + 1
		for ; to < len(order) && order[to]&opens == 0; to++ {
			group[ranks[order[to]&rowMask]]++
		}
		if to-from == 1 {
			for v, count := range seen {
				below := (int64(v) - int64(rank)) >> 63 // all ones or zero: no branch to mispredict
				concordant += int64(count) & below
			}
			seen[rank]++
		} else {
			group[rank]++
			c, t := mergeGroup(seen, group)
			concordant += c
			n3 += t
		}
		from = to
	}
	return 2*concordant - (pairCount(len(order)) - x.tied - y.tied + n3)
}

// mergeGroup returns how many pairs of a row of group and one of seen have the
// lower value in seen, and how many pairs within group are tied; it adds group
// to seen and clears it.
func mergeGroup(seen, group []uint32) (concordant, tied int64) {
	below := int64(0)
	group = group[:len(seen)]
	for v, here := range group {
		concordant += below * int64(here)
		tied += pairCount(int(here))
		below += int64(seen[v])
		seen[v] += here
		group[v] = 0
	}
	return concordant, tied
}
