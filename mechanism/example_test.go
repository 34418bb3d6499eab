package mechanism_test

import (
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/mechanism"
)

// A sum of clamped values and a median are priced together and then released,
// each once.
func Example() {
	priced, err := budget.Calibrate(budget.Seq("survey",
		budget.GaussianLeaf("total", .5, 1),
		budget.ExponentialLeaf("median", .5, 1),
	), budget.Target{Epsilon: 20, Delta: 1e-6})
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
		ages[i] = float64(i%61) + 20
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
	ranks := s.NewRanks([]float64{0, 10, 20, 30, 40, 50, 60, 70, 80}, 1, 2)
	ranks.Add(ages)
	median, err := mechanism.Choose(s, "median", 0, ranks.Scores())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("mean about %.0f, median candidate number %d\n", 100*total.Value()[0]/9001, median.Value())

	_, err = mechanism.Gaussian(s, "total", sums.Bound())
	fmt.Println(err)
	// Output:
	// mean about 50, median candidate number 5
	// mechanism: the leaf's draw is already spent: draw 0 of "survey/total" (1 priced)
}
