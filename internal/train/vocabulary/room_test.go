package vocabulary

import (
	"testing"

	"github.com/dptrain/dptrain/dataset"
)

// TestLimitWords checks the rule on text categories when only a few fit.
func TestLimitWords(t *testing.T) {
	column := func(words ...string) *dataset.Column {
		return &dataset.Column{Categories: words}
	}
	counts := [][]float64{
		{50, 40, 30},
		{90, 10}, nil, {45},
	}
	for room, want := range [][4]int{
		{},
		{0, 1},
		{1, 1},
		{1, 1, 0, 1},
		{2, 1, 0, 1},
		{2, 2, 0, 1},
		{3, 2, 0, 1},
		{3, 2, 0, 1},
	} {
		columns := []*dataset.Column{
			column("a", "b", "c"),
			column("d", "e"),
			column(), column("f"),
		}
		held := func() (n int) {
			for _, c := range columns {
				n += len(c.Categories)
			}
			return n
		}
		limitWords(columns, counts, func() bool {
			return held() <= room
		})
		for i, c := range columns {
			if len(c.Categories) != want[i] {
				t.Errorf(
					"room for %d: column %d keeps %q, want %d",
					room,
					i,
					c.Categories,
					want[i],
				)
			}
		}
	}
}
