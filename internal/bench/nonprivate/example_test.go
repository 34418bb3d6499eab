package nonprivate_test

import (
	"context"
	"fmt"
	"log"

	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/regression"
)

// The example fits public data without privacy, for comparison.
func ExampleOLS() {
	d := regression.Design{
		Names:  []string{"x"},
		X:      [][]float64{{1, 2, 3, 4}},
		Target: "y",
		Y:      []float64{3, 5, 7, 9},
	}
	m, err := nonprivate.OLS(context.Background(), d)
	if err != nil {
		log.Fatal(err)
	}
	pred, err := m.Predict(
		nil,
		regression.Rows{N: 4, Numeric: map[string][]float64{"x": d.X[0]}},
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf(
		"y = %.3f + %.3f x, R2 %.3f\n",
		m.Intercept,
		m.Terms[0].Coefficient,
		regression.R2(pred, d.Y),
	)
	// Output: y = 1.000 + 2.000 x, R2 1.000
}

// The penalty shrinks coefficients; small ones become exactly 0 and have no term.
func ExampleLasso() {
	d := regression.Design{
		Names: []string{"signal", "chatter"},
		X: [][]float64{
			{-2, -1, 0, 1, 2},
			{1, -1, 0.5, -1, 1},
		},
		Target: "y",
		Y:      []float64{-4, -2.1, 0.2, 1.9, 4},
	}
	m, err := nonprivate.Lasso(context.Background(), d, 0.2, nonprivate.LassoOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range m.Terms {
		fmt.Printf("%s %.2f\n", m.Columns[t.Column].Name, t.Coefficient)
	}
	// Output: signal 1.90
}

// One solver follows a path of penalties. Gram columns are computed once, and each solution starts from the last.
func ExampleLassoSolver() {
	x := [][]float64{{-2, -1, 0, 1, 2}, {1, -1, 0, -1, 1}}
	y := []float64{-3, -3, 0, 1, 5}
	s, err := nonprivate.NewLassoSolver(
		context.Background(),
		x,
		y,
		nonprivate.LassoOptions{Standardize: true},
	)
	if err != nil {
		log.Fatal(err)
	}
	for _, fraction := range []float64{1, 0.5, 0.1} {
		solution, err := s.Solve(context.Background(), fraction*s.LambdaMax())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.2f converged %v\n", solution.Coefficients, solution.Converged)
	}
	// Output:
	// [0.00 0.00] converged true
	// [1.00 0.00] converged true
	// [1.80 0.68] converged true
}

func ExampleBaseline() {
	trainer, err := nonprivate.Baseline(nonprivate.NonprivateRidge)
	if err != nil {
		log.Fatal(err)
	}
	m, err := trainer.Fit(context.Background(), regression.Design{
		Names:  []string{"x"},
		X:      [][]float64{{-1, 0, 1}},
		Target: "y",
		Y:      []float64{-3, 0, 3},
	})
	if err != nil {
		log.Fatal(err)
	}
	pred, err := m.Predict(
		nil,
		regression.Rows{N: 1, Numeric: map[string][]float64{"x": {2}}},
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %.3f\n", trainer.Name(), pred[0])
	// Output: nonprivate-ridge: 4.000
}
