package mechanism_test

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/kendall"
)

// A single draw selects the two of four columns that are related to the target.
func ExampleTopK() {
	top := mechanism.TopK{Form: mechanism.Lipschitz, K: 2}
	priced, err := budget.Calibrate(
		budget.Sequence("run", top.Plan("columns", 1)),
		budget.Target{Epsilon: 2, Delta: 1e-6},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		fmt.Println(err)
		return
	}
	const n = 2003
	columns := make([][]float64, 4)
	target := make([]float64, n)
	for i := range target {
		for j, step := range []int{757, 331, 1201, 89} {
			columns[j] = append(columns[j], float64(i*step%n))
		}
		target[i] = columns[1][i] + columns[3][i]
	}
	scores, err := s.NewKendall(
		context.Background(),
		len(columns),
		func(j int, c *kendall.Scratch) *kendall.Ranks {
			return kendall.Rank(columns[j], c)
		},
		kendall.Rank(target, nil).Kept,
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	chosen, err := top.Release(s, "columns", scores.Scores([]int{0, 1, 2, 3}))
	fmt.Println(chosen.Value(), err)
	// Output: [1 3] <nil>
}
