package regression_test

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/regression"
)

// The scaled row of the second house, (1, 1) in addition to the constant .5, has norm 1.5 and is shortened to
// .75: its prediction is half as far from 50, the middle of the range, as without the limit. The first row is
// short enough.
func ExampleClippedLinear() {
	m := &regression.ClippedLinear{
		Linear: regression.Linear{
			Target: "price",
			Columns: []regression.Column{
				{Name: "rooms", Lower: 0, Upper: 10, Missing: 5},
				{Name: "bay", Type: regression.Category, Categories: []string{"near"}},
			},
			Terms: []regression.Term{
				{Column: 0, Coefficient: 4},
				{Column: 1, Category: "near", Coefficient: 20},
			},
			Intercept: 20,
			Lower:     0,
			Upper:     100,
		},
		Constant: .5,
		Norm:     .75,
	}
	rows := regression.Rows{
		N:       2,
		Numeric: map[string][]float64{"rooms": {math.NaN(), 10}},
		Labels:  map[string][]string{"bay": {"far", "near"}},
	}
	clipped, err := m.Predict(nil, rows)
	if err != nil {
		panic(err)
	}
	linear, err := m.Linear.Predict(nil, rows)
	if err != nil {
		panic(err)
	}
	fmt.Println(clipped, linear)
	// Output: [40 65] [40 80]
}
