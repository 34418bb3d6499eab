package mechanism_test

import (
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// A sum of clamped values and the most frequent decade are priced together and then
// released, each once.
func Example() {
	priced, err := budget.Calibrate(
		budget.Sequence("survey",
			budget.GaussianLeaf("total", .5, 1),
			budget.ExponentialLeaf("decade", .5, 1),
		),
		budget.Target{Epsilon: 20, Delta: 1e-6},
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
	ages := make([]float64, 9001)
	for i := range ages {
		ages[i] = 20 + float64(i%61*(i%61))/60
	}

	centuries := make([]float64, len(ages))
	for i, a := range ages {
		centuries[i] = a / 100
	}
	sums := s.NewSums([]float64{0}, []float64{1.2})
	sums.Add([][]float64{centuries})
	total, err := mechanism.Gaussian(s, "total", sums.Bound())
	if err != nil {
		fmt.Println(err)
		return
	}
	decades := s.NewVotes(10, 1)
	for _, a := range ages {
		decades.Add([]int{int(a / 10)})
	}
	decade, err := mechanism.Choose(
		s,
		"decade",
		0,
		decades.Scores([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf(
		"mean about %.0f, most are in their %d0s\n",
		100*total.Value()[0]/9001,
		decade.Value(),
	)

	_, err = mechanism.Gaussian(s, "total", sums.Bound())
	fmt.Println(err)
	// Output:
	// mean about 40, most are in their 20s
	// the leaf's draw is already spent: draw 0 of "survey/total" (1 priced)
}
