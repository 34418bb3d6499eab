package adassp

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/regression"
	"github.com/dptrain/dptrain/scaling"
)

// linear maps a fit of the scaled target by scaled features back to original
// units, from released ranges only:
//
//	y = c_y + h_y (kappa theta_0 + sum_j theta_j (x_j - c_j)/h_j),
//
// c the middles and h the half widths of the ranges; a category's indicator is
// its own scaled value.
func linear(columns []dataset.Column, enc *scaling.Encoder, fit solution) *regression.Linear {
	last := len(columns) - 1
	y := enc.Range(last)
	m := &regression.Linear{
		Target: columns[last].Name, Columns: Inputs(columns[:last], enc),
		Lower: y.Lower, Upper: y.Upper,
	}
	// The intercept is g.theta + c_y, so its noise has variance g'Cov g.
	g := mat.NewVecDense(len(fit.theta), nil)
	for i, slot := range enc.Slots() {
		if slot.Column == last {
			continue
		}
		term := regression.Term{Column: slot.Column}
		unit := y.Half()
		if c := columns[slot.Column]; slot.Category < 0 {
			r := enc.Range(slot.Column)
			unit /= r.Half()
			g.SetVec(i, -unit*r.Center())
		} else if term.Other = slot.Category == len(c.Categories); !term.Other {
			term.Category = c.Categories[slot.Category]
		}
		term.Coefficient = unit * fit.theta[i]
		term.StdError = math.Abs(unit) * math.Sqrt(fit.cov.At(i, i))
		m.Terms = append(m.Terms, term)
	}
	constant := len(fit.theta) - 1
	g.SetVec(constant, y.Half()*Kappa)
	m.Intercept = y.Center() + mat.Dot(g, mat.NewVecDense(len(fit.theta), fit.theta))
	m.InterceptStdError = math.Sqrt(max(0, mat.Inner(g, fit.cov, g)))
	return m
}

// Inputs returns the model's input columns: the clamps are the ranges of
// training.
func Inputs(columns []dataset.Column, enc *scaling.Encoder) []regression.Column {
	out := make([]regression.Column, len(columns))
	for j, c := range columns {
		out[j].Name = c.Name
		if c.Kind == dataset.Category {
			out[j].Type = regression.Category
			out[j].Categories, out[j].Other = c.Categories, c.Other
			continue
		}
		r := enc.Range(j)
		out[j].Lower, out[j].Upper, out[j].Missing = r.Lower, r.Upper, enc.Missing(j)
	}
	return out
}
