package kendall

import (
	"cmp"
	"slices"

	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// Keys appends an order-preserving key for each value of a column: of floats, or if that is nil, of codes. [External]
// compares these keys. Zeros have one key, and missing numbers the lowest.
func Keys(keys []uint64, floats []float64, codes []int32) []uint64 {
	for _, v := range floats {
		keys = append(keys, floatKey(v))
	}
	if floats == nil {
		for _, c := range codes {
			keys = append(keys, codeKey(c))
		}
	}
	return keys
}

// External counts [S] of two columns that are only partly in memory: a limited number of rows, and a block of each
// sorted run. The other rows are in a scratch file.
//
// Rows are sorted by (x, y): first in runs in order of arrival, which are then merged. Their y, in that order, are cut
// into pieces. The inversions within a piece are counted while it is sorted, and those between pieces while they are
// merged (Knight 1966, with runs outside of memory). An inversion is a discordant pair.
type External struct {
	file  *scratch.File
	most  int
	pairs []pair
	runs  []*run
	n     int64
}

// pair is a row.
type pair struct{ x, y uint64 }

// NewExternal returns an External without rows that holds at most most rows in memory, at least 1.
func NewExternal(file *scratch.File, most int) *External {
	return &External{file: file, most: max(most, 1)}
}

// Add adds rows by their [Keys]. Errors are those of the file.
func (e *External) Add(x, y []uint64) error {
	for i := range x {
		if len(e.pairs) == e.most {
			if err := e.flush(); err != nil {
				return err
			}
		}
		e.pairs = append(e.pairs, pair{x[i], y[i]})
	}
	e.n += int64(len(x))
	return nil
}

// flush sorts the rows in memory and writes them as a run.
func (e *External) flush() error {
	slices.SortFunc(e.pairs, func(a, b pair) int {
		if c := cmp.Compare(a.x, b.x); c != 0 {
			return c
		}
		return cmp.Compare(a.y, b.y)
	})
	r := newRun(e.file, 2, e.most)
	for _, p := range e.pairs {
		if err := r.writePair(p); err != nil {
			return err
		}
	}
	e.pairs = e.pairs[:0]
	e.runs = append(e.runs, r)
	return r.end()
}

// S returns S of the rows that were added, and gives their places in the file back. Errors are those of the file.
func (e *External) S() (int64, error) {
	if err := e.flush(); err != nil {
		return 0, err
	}
	e.pairs = nil
	var byX, byXY ties
	var inversions int64
	var pieces []*run
	ys := make([]uint64, 0, min(int64(e.most), e.n))
	var work []uint64
	cut := func() error {
		work = slices.Grow(work[:0], len(ys))[:len(ys)]
		inversions += sortCounting(ys, work)
		r := newRun(e.file, 1, e.most)
		for _, y := range ys {
			if err := r.writePair(pair{x: y}); err != nil {
				return err
			}
		}
		ys = ys[:0]
		pieces = append(pieces, r)
		return r.end()
	}
	err := mergeRuns(e.runs, func(p pair, _ int) error {
		byX.addPair(pair{x: p.x})
		byXY.addPair(p)
		if len(ys) == e.most {
			if err := cut(); err != nil {
				return err
			}
		}
		ys = append(ys, p.y)
		return nil
	})
	if err != nil {
		return 0, err
	}
	if err := cut(); err != nil {
		return 0, err
	}
	var byY ties
	before := newCounters(pieces)
	err = mergeRuns(pieces, func(p pair, piece int) error {
		byY.addPair(p)
		inversions += before.removeRow(piece)
		return nil
	})
	all := e.n * (e.n - 1) / 2
	return all - byX.tiedPairs() - byY.tiedPairs() + byXY.tiedPairs() - 2*inversions, err
}

// ties counts pairs of equal rows among sorted ones.
type ties struct {
	last  pair
	equal int64 // rows like the last one, itself among them
	sum   int64
}

func (t *ties) addPair(p pair) {
	if t.equal > 0 && p == t.last {
		t.sum += t.equal
		t.equal++
		return
	}
	t.last = p
	t.equal = 1
}

func (t *ties) tiedPairs() int64 {
	return t.sum
}

// sortCounting sorts and returns how many pairs were in falling order. work has the same length.
func sortCounting(x, work []uint64) (inversions int64) {
	for width := 1; width < len(x); width *= 2 {
		for lo := 0; lo < len(x); lo += 2 * width {
			mid := min(lo+width, len(x))
			hi := min(lo+2*width, len(x))
			a := lo
			b := mid
			for k := lo; k < hi; k++ {
				if b == hi || a < mid && x[a] <= x[b] {
					work[k] = x[a]
					a++
				} else {
					work[k] = x[b]
					inversions += int64(mid - a)
					b++
				}
			}
		}
		copy(x, work)
	}
	return inversions
}

// counters holds how many rows of each piece are left (Fenwick 1994).
type counters []int64

func newCounters(pieces []*run) counters {
	c := make(counters, len(pieces)+1)
	for i, r := range pieces {
		c.add(i, r.rows)
	}
	return c
}

func (c counters) add(i int, by int64) {
	for i++; i < len(c); i += i & -i {
		c[i] += by
	}
}

// removeRow removes a row of a piece and returns the number of remaining earlier rows, all of which are larger.
func (c counters) removeRow(i int) (left int64) {
	for k := i; k > 0; k -= k & -k {
		left += c[k]
	}
	c.add(i, -1)
	return left
}
