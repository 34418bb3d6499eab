package gram_test

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/numeric/gram"
)

func ExampleAccumulate() {
	cols := [][]int16{
		{16384, -8192, 0},   //  1, -1/2, 0
		{8192, 8192, 16384}, // 1/2, 1/2, 1
	}
	p := len(cols)
	dst := make([]int64, gram.Len(p))
	gram.Accumulate(dst, cols)
	const unit = gram.MaxAbs * gram.MaxAbs
	for i := range p {
		for j := range p {
			fmt.Printf("%6.2f", float64(dst[gram.Index(p, i, j)])/unit)
		}
		fmt.Println()
	}
	// Output:
	//   1.25  0.25
	//   0.25  1.50
}

func ExampleScratch() {
	column := []int16{3, 4, 5}
	dst := make([]int64, gram.Len(1))
	var s gram.Scratch // one for each goroutine
	for r := range column {
		s.Accumulate(dst, [][]int16{column[r : r+1]})
	}
	fmt.Println(dst[0])
	// Output: 50
}

func ExampleIndex() {
	fmt.Println(gram.Len(4), gram.Index(4, 1, 3), gram.Index(4, 3, 1))
	// Output: 10 6 6
}

func ExampleLen() {
	fmt.Println(gram.Len(90))
	// Output: 4095
}

func ExampleDot() {
	fmt.Println(gram.Dot([]int16{1, 2, 3}, []int16{4, 5, -6}))
	// Output: -4
}
