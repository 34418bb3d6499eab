package mechanism

import (
	"fmt"

	"github.com/dptrain/dptrain/budget"
)

// PublicCounts counts the cells of public columns: those that are not declared private if only private columns may change
// ([budget.SubstitutePrivateColumns]). The caller must ensure that the columns are public. The counts are equal on all
// neighbouring tables, so they are exact.
type PublicCounts struct {
	bins     int
	relation budget.Relation
	counts   []int64
}

// NewPublicCounts returns empty counts of the given numbers of lists and bins.
func (m Maker) NewPublicCounts(lists, bins int) *PublicCounts {
	return &PublicCounts{bins, m.Relation(), make([]int64, lists*bins)}
}

// Add counts a record in a bin of a list. It ignores bins outside [0, bins).
func (c *PublicCounts) Add(list, bin int) {
	if bin >= 0 && bin < c.bins {
		c.counts[list*c.bins+bin]++
	}
}

// Cells are those that [PublicCounts.Add] adds to.
func (c *PublicCounts) Cells() Cells {
	return sumCells(c.counts)
}

// Exact returns the counts, list by list. Under any other relation it returns [ErrRelation].
func (c *PublicCounts) Exact() (Public[[]int64], error) {
	if c.relation != budget.SubstitutePrivateColumns {
		return Public[[]int64]{},
			fmt.Errorf("%w: counts of public columns need %v, the run has %v", ErrRelation,
				budget.SubstitutePrivateColumns, c.relation)
	}
	return Public[[]int64]{append([]int64(nil), c.counts...)}, nil
}
