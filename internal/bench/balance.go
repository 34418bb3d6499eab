package bench

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/dataset"
)

// balanceRound is the round of the seed's permutations that balances classes;
// splits use the first ones.
const balanceRound = math.MaxUint64

// splitRows returns the rows that trial t trains and tests on.
func (x *experiment) splitRows(seed uint64, t int) (train, test []int32) {
	train, test = splitTrial(seed, t, x.rows, x.limit)
	if x.kept != nil {
		for _, part := range [][]int32{train, test} {
			for i, k := range part {
				part[i] = x.kept[k]
			}
		}
	}
	return train, test
}

// keepBalanced leaves out rows where the experiment asks for it. All methods see the
// same rows, those of the first one's classes. A recipe for a number has no classes
// to balance and does not run.
func (x *experiment) keepBalanced(seed uint64) {
	if !x.balance {
		return
	}
	for _, m := range x.methods {
		switch {
		case m.classes == nil:
			m.err = ErrTask
		case m.table != nil && x.kept == nil:
			x.kept = balancedRows(m.table, m.target, len(m.classes), seed)
			x.rows = len(x.kept)
		}
	}
}

// balancedRows returns as many rows of each class of a column, increasing and chosen at
// random, as the smallest has.
func balancedRows(t *dataset.Table, target, classes int, seed uint64) []int32 {
	by := make([][]int32, classes)
	for i, c := range t.Codes(target) {
		if int(c) < classes {
			by[c] = append(by[c], int32(i))
		}
	}
	least := len(by[0])
	for _, rows := range by {
		least = min(least, len(rows))
	}
	g := newGenerator(seed, balanceRound)
	kept := make([]int32, 0, least*classes)
	for _, rows := range by {
		for i := len(rows) - 1; i > 0; i-- {
			j := g.uniformBelow(uint64(i) + 1)
			rows[i], rows[j] = rows[j], rows[i]
		}
		kept = append(kept, rows[:least]...)
	}
	slices.Sort(kept)
	return kept
}
