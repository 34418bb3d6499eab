package kendall

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// MaxRows is the greatest number of rows of a column.
const MaxRows = 1 << 31

const (
	opens    = 1 << 31 // flag of the first row of a group of ties
	rowMask  = opens - 1
	shortRun = 32 // keys of one estimate sorted by comparison
)

// Ranks is one column reduced to its order: the order of the rows and their ties. It takes 4 bytes a row and, once it
// has been the side of [S] that is looked up by row, 4 more. It does not change and is safe for concurrent use. It
// reveals as much about the records as the order of the column's values, and needs the same protection.
type Ranks struct {
	order    []uint32 // rows in ascending order; the first of each group of ties carries opens
	distinct int
	tied     int64 // pairs that are tied

	mu     sync.Mutex
	byRows atomic.Pointer[[]uint32]
}

// Scratch is the working memory of one goroutine for [Rank] and [S]: 20 bytes per row of the longest column it has
// seen, more only if many of its values are closer together than 2^-16 of their range. The zero value is ready to use;
// nil selects temporary memory for a single call. A Scratch contains the data of its last call and must be protected
// like them.
type Scratch struct {
	sorter sorter
	next   []uint32 // next free place of each group of ties
	seen   []uint32 // rows by value of y, for coarse
	group  []uint32
}

// Rank ranks a column of any float64 values: equal ones are tied, -0 equals
// +0, and all NaN are one value below -Inf. It does not modify or keep column.
//
// It panics if column has more than [MaxRows] values, and for no other reason.
func Rank(column []float64, scratch *Scratch) *Ranks {
	checkRows(len(column))
	if scratch == nil {
		scratch = new(Scratch)
	}
	scratch.sorter.floats = column
	return scratch.sorter.buildRanks()
}

// RankCodes is [Rank] for a column of category codes, ordered as numbers are.
// Codes need not be contiguous or positive.
func RankCodes(codes []int32, scratch *Scratch) *Ranks {
	checkRows(len(codes))
	if scratch == nil {
		scratch = new(Scratch)
	}
	scratch.sorter.codes = codes
	return scratch.sorter.buildRanks()
}

func checkRows(n int) {
	if int64(n) > MaxRows {
		panic("kendall: a column has more than 2^31 rows")
	}
}

// Len returns the number of rows.
func (r *Ranks) Len() int {
	return len(r.order)
}

// Distinct returns the number of distinct values, from 0 (no rows) to Len.
func (r *Ranks) Distinct() int {
	return r.distinct
}

// buildRanks sorts the keys, and lets the column go.
func (s *sorter) buildRanks() *Ranks {
	n := s.rowCount()
	s.growBuffers(n)
	r := &Ranks{order: make([]uint32, n)}
	if n > 0 {
		s.loadKeys()
		s.sortRows(r)
	}
	s.floats = nil
	s.codes = nil
	s.plain = nil
	return r
}

// fillRanks writes the sorted items first to last-1 to r, with the ties of their keys. No other item has an estimate of theirs.
func (s *sorter) fillRanks(r *Ranks, first, last int) {
	sorted := s.sorted[:last]
	order := r.order[:len(sorted)]
	for from := first; from < len(sorted); {
		item := sorted[from]
		to := from + 1
		for to < len(sorted) && sorted[to]>>rowBits == item>>rowBits {
			to++
		}
		order[from] = uint32(item) | opens
		r.distinct++
		if to-from > 1 {
			s.fillRun(r, from, to)
		}
		from = to
	}
}

// fillRun writes the items from..to, of one estimate, to r.
func (s *sorter) fillRun(r *Ranks, from, to int) {
	run := s.sorted[from:to]
	order := r.order[from:to]
	differ := uint64(0)
	key := s.sortKey(uint32(run[0]))
	for i, item := range run {
		order[i] = uint32(item)
		differ |= s.sortKey(uint32(item)) ^ key
	}
	order[0] |= opens
	if differ == 0 {
		r.tied += pairCount(len(run))
		return
	}
	s.sortRun(run)
	r.distinct-- // the first group is counted once more here
	group := 0
	for i, item := range run {
		order[i] = uint32(item)
		if i == 0 || s.sortKey(uint32(item)) != s.sortKey(uint32(run[i-1])) {
			order[i] |= opens
			r.distinct++
			r.tied += pairCount(i - group)
			group = i
		}
	}
	r.tied += pairCount(len(run) - group)
}

// sortRun sorts items of one estimate, in ascending order of rows, stably by
// their keys.
func (s *sorter) sortRun(run []uint64) {
	if len(run) <= shortRun {
		slices.SortStableFunc(run, func(a, b uint64) int {
			return cmp.Compare(s.sortKey(uint32(a)), s.sortKey(uint32(b)))
		})
		return
	}
	if s.deeper == nil {
		s.deeper = new(sorter)
	}
	d := s.deeper
	d.room = roomFor(d.room, len(run))
	d.plain = d.room
	for i, item := range run {
		d.plain[i] = s.sortKey(uint32(item))
	}
	rows := d.buildRanks().order
	copy(d.items, run)
	for i, at := range rows {
		run[i] = d.items[at&rowMask]
	}
}

// rowRanks returns the dense rank, from 0, of every row. So many goroutines find it.
func (r *Ranks) rowRanks(workers int) []uint32 {
	if p := r.byRows.Load(); p != nil {
		return *p
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.byRows.Load(); p != nil {
		return *p
	}
	byRow := make([]uint32, len(r.order))
	if workers == 1 {
		ranksByRow(byRow, r.order, 0)
	} else {
		groups := make([]uint32, workers) // in each part of the order
		runParallel(workers, func(k int) {
			for _, v := range chunkOf(r.order, k, workers) {
				groups[k] += v >> 31
			}
		})
		countsToStarts(groups)
		runParallel(workers, func(k int) {
			ranksByRow(byRow, chunkOf(r.order, k, workers), groups[k])
		})
	}
	r.byRows.Store(&byRow)
	return byRow
}

// ranksByRow sets the ranks of rows in the given order, following groups earlier groups of ties.
func ranksByRow(byRow, order []uint32, groups uint32) {
	for _, v := range order {
		groups += v >> 31
		byRow[v&rowMask] = groups - 1
	}
}

// groupStarts sets next[g] to the place of the first row of group g.
func (r *Ranks) groupStarts(next []uint32) []uint32 {
	next = growTo(next, r.distinct)
	g := 0
	for i, v := range r.order {
		if v&opens != 0 {
			next[g] = uint32(i)
			g++
		}
	}
	return next
}

func pairCount(n int) int64 {
	return int64(n) * int64(n-1) / 2
}

// growTo returns s with length n, its content unspecified.
func growTo(s []uint32, n int) []uint32 {
	if cap(s) < n {
		return make([]uint32, n)
	}
	return s[:n]
}
