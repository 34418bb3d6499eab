package mechanism

import (
	"errors"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// TestPublicCounts checks that counts are exact where columns are public, and withheld under any other relation.
func TestPublicCounts(t *testing.T) {
	for rel := budget.AddRemove; rel <= budget.SubstitutePrivateColumns; rel++ {
		c := NewMaker(rel).NewPublicCounts(2, 3)
		for _, x := range [][2]int{
			{0, 2}, {1, 0},
			{1, 0}, {1, 3},
			{0, -1},
		} {
			c.Add(x[0], x[1])
		}
		got, err := c.Exact()
		if rel != budget.SubstitutePrivateColumns {
			if !errors.Is(err, ErrRelation) || got.Value() != nil {
				t.Errorf(
					"%v: %v, %v",
					rel, got, err,
				)
			}
			continue
		}
		if err != nil ||
			!slices.Equal(
				got.Value(),
				[]int64{0, 0, 1, 2, 0, 0},
			) {
			t.Errorf("%v, %v", got, err)
		}
	}
}
