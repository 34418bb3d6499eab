package published_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench/published"
)

func ExampleNew() {
	var columns []dataset.ColumnData
	for _, step := range []int{1, 7, 11, 1} {
		c := make([]float64, 1000)
		for i := range c {
			c[i] = float64(i * step % 1000)
		}
		columns = append(columns, dataset.ColumnData{Floats: c})
	}
	table, err := dataset.NewTable(
		dataset.Schema{Columns: []dataset.Column{
			{Name: "a"},
			{Name: "b"},
			{Name: "c"},
			{Name: "y"},
		}},
		columns,
		nil,
	)
	if err != nil {
		panic(err)
	}
	method, err := published.New("as-published-kendall", published.Options{K: 1})
	if err != nil {
		panic(err)
	}
	fitted, err := method.Fit(
		context.Background(),
		rand.NewPCG(1, 2),
		table.View(),
		3,
		1,
		0,
	)
	fmt.Println(fitted.Columns, err)
	// Output: [0] <nil>
}

func ExampleMethods() {
	for _, name := range published.Methods() {
		fmt.Println(name)
	}
	// Output:
	// as-published-tukey
	// as-published-sis
	// as-published-lipschitz
	// as-published-kendall
}

// A constant column is chosen with certainty. A record that varies it makes another choice possible, which no epsilon
// covers.
func ExampleKendall_Law() {
	y := []float64{1, 2, 3, 4}
	before, err := published.Kendall{K: 1}.Law([][]float64{{5, 5, 5, 5}, y}, y, 1)
	if err != nil {
		panic(err)
	}
	after, err := published.Kendall{K: 1}.Law(
		[][]float64{{5, 5, 5, 5, 6}, {1, 2, 3, 4, 5}},
		[]float64{1, 2, 3, 4, 5},
		1,
	)
	if err != nil {
		panic(err)
	}
	fmt.Printf(
		"%.2f %.2f %v\n",
		math.Exp(before.LogP(0)),
		math.Exp(after.LogP(0)),
		published.Loss(before, after),
	)
	// Output: 1.00 0.42 +Inf
}

// The first column is the target in other units, the second is unrelated to it.
func ExampleSISScores() {
	y := []float64{-1, 1, -1, 1}
	fmt.Println(published.SISScores([][]float64{{10, 20, 10, 20}, {1, 1, 2, 2}}, y))
	// Output: [4 0]
}

// The scores are nearly equal, in opposite order. The log ratio is ln 2 at an epsilon of .01.
func ExampleTopK_Law() {
	m := published.TopK{
		K:       2,
		Epsilon: .01,
		Gamma:   .5,
	}
	a, err := m.Law([]float64{3e-9, 2e-9, 1e-9, 0})
	if err != nil {
		panic(err)
	}
	b, err := m.Law([]float64{0, 1e-9, 2e-9, 3e-9})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.3f\n", published.Loss(a, b))
	// Output: 0.693
}

// There are two clusters of 100 models, and one model moves from one to the other.
func ExampleDepths() {
	heaps := func(zeros int) *published.Depths {
		var models [][]float64
		for i := range 200 {
			at := 0.0
			if i >= zeros {
				at = 1
			}
			models = append(models, []float64{at + 1e-12*float64(i)})
		}
		d, err := published.NewDepths(models, 1, 1e-5)
		if err != nil {
			panic(err)
		}
		return d
	}
	a := heaps(100)
	b := heaps(99)
	fmt.Printf("%d %d, log ratio %.1f\n", a.Distance(), b.Distance(), a.LogPass()-b.LogPass())
	// Output: 21 20, log ratio 2.0
}
