package kendall_test

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/internal/numeric/kendall"
)

func ExampleS() {
	x := kendall.Rank([]float64{1, 1, 2, 3}, nil)
	y := kendall.Rank([]float64{1, 2, 2, 3}, nil)
	// Two of the six pairs are tied in one column; the others are concordant.
	fmt.Println(kendall.S(x, y, nil))
	// Output: 4
}

func ExampleRank() {
	ranks := kendall.Rank([]float64{2.5, -1, 2.5}, nil)
	fmt.Println(ranks.Len(), ranks.Distinct())
	// Output: 3 2
}

func ExampleRankCodes() {
	colour := kendall.RankCodes([]int32{0, 2, 1, 2}, nil)
	price := kendall.Rank([]float64{10, 40, 20, 30}, nil)
	fmt.Println(kendall.S(colour, price, nil))
	// Output: 5
}

func ExampleAgainstTarget() {
	columns := [][]float64{{1, 2, 3}, {3, 2, 1}, {5, 5, 5}}
	target := kendall.Rank([]float64{10, 20, 30}, nil)
	rank := func(j int, s *kendall.Scratch) *kendall.Ranks {
		return kendall.Rank(columns[j], s)
	}
	fmt.Println(kendall.AgainstTarget(
		context.Background(),
		len(columns),
		rank,
		target.Kept,
		2,
	))
	// Output: [3 -3 0] <nil>
}
