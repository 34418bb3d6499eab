package nonprivate

import (
	"github.com/dptrain/dptrain/internal/numeric/columns"
	"github.com/dptrain/dptrain/regression"
)

// ErrShape is returned for a design whose columns differ in length, or in number from the declared one.
var ErrShape = columns.ErrShape

// linearModel makes the model of a fit: weights in original units, an intercept
// through the means, no clamps short of [regression.Unbounded]. Zero weights are left out
// when sparse.
func linearModel(
	d regression.Design,
	x []columns.Column,
	y columns.Column,
	weights []float64,
	sparse bool,
) (*regression.Linear, error) {
	m := &regression.Linear{
		Target:    d.Target,
		Columns:   make([]regression.Column, len(x)),
		Intercept: columns.Intercept(x, y, weights),
		Lower:     -regression.Unbounded,
		Upper:     regression.Unbounded,
	}
	for j := range x {
		m.Columns[j] = regression.Column{
			Name:    d.Names[j],
			Lower:   -regression.Unbounded,
			Upper:   regression.Unbounded,
			Missing: x[j].Mean,
		}
		if !sparse || weights[j] != 0 {
			m.Terms = append(m.Terms, regression.Term{
				Column:      j,
				Coefficient: weights[j],
			})
		}
	}
	return m, m.Validate()
}
