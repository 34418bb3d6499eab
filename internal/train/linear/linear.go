package linear

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// Model converts a fit of the scaled target by scaled features to original units, from released values only:
//
//	y = c_y + h_y (kappa theta_0 + sum_j theta_j (x_j - c_j)/h_j),
//
// with c the middles and h the half widths of the ranges; the indicator of a category is its own scaled value,
// and that of a missing cell is multiplied by [scaling.MissingEntry]. The effects of a category are those of
// [effects], relative to their mean over the counts in d. extend permits a term for values that a column does
// not list, if there are many, even if training had no entry for them.
func Model(
	columns []dataset.Column,
	enc *scaling.Encoder,
	fit Solution,
	d Distribution,
	extend bool,
) *regression.Linear {
	last := len(columns) - 1
	y := enc.Range(last)
	w := &termWriter{
		Linear: &regression.Linear{
			Target:  columns[last].Name,
			Columns: Inputs(columns[:last], enc),
			Lower:   y.Lower,
			Upper:   y.Upper,
		},
		fit:          fit,
		distribution: d,
		half:         y.Half(),
		extend:       extend,
		constant:     mat.NewVecDense(len(fit.Theta), nil),
	}
	slots := enc.Slots()
	for lo := 0; slots[lo].Column < last; {
		hi := lo + 1
		for slots[hi].Column == slots[lo].Column {
			hi++
		}
		if c := columns[slots[lo].Column]; c.Kind == dataset.Category {
			w.writeCategory(slots[lo].Column, c, lo, hi)
		} else {
			w.writeNumber(slots[lo].Column, enc.Range(slots[lo].Column), lo)
			if hi > lo+1 {
				w.writeMissing(slots[lo].Column, lo+1)
			}
		}
		lo = hi
	}
	// The intercept is g.theta + c_y, so its noise has variance g'Cov g.
	g := w.constant
	g.SetVec(len(fit.Theta)-1, w.half*Kappa)
	w.Intercept = y.Center() + mat.Dot(g, mat.NewVecDense(len(fit.Theta), fit.Theta))
	w.InterceptStdError = math.Sqrt(max(0, mat.Inner(g, fit.Cov, g)+w.shares))
	return w.Linear
}

// termWriter writes the terms of a model in original units.
type termWriter struct {
	*regression.Linear
	fit          Solution
	distribution Distribution
	half         float64 // of the target's range
	extend       bool
	constant     *mat.VecDense // the intercept as a function of theta
	shares       float64       // the variance of the intercept from the noise of counts
}

// writeNumber writes the term of a numeric column, entry i.
func (w *termWriter) writeNumber(column int, r scaling.Range, i int) {
	unit := w.half / r.Half()
	w.constant.SetVec(i, -unit*r.Center())
	w.Terms = append(w.Terms, regression.Term{
		Column:      column,
		Coefficient: unit * w.fit.Theta[i],
		StdError:    math.Abs(unit) * math.Sqrt(w.fit.Cov.At(i, i)),
	})
}

// writeMissing writes the term of the missing cells of a numeric column, entry i.
func (w *termWriter) writeMissing(column, i int) {
	unit := w.half * scaling.MissingEntry
	w.Terms = append(w.Terms, regression.Term{
		Column:      column,
		Missing:     true,
		Coefficient: unit * w.fit.Theta[i],
		StdError:    math.Abs(unit) * math.Sqrt(w.fit.Cov.At(i, i)),
	})
}

// writeCategory writes the terms of a category column, entries [lo, hi).
func (w *termWriter) writeCategory(column int, c dataset.Column, lo, hi int) {
	e := effectsOf(w.fit, w.distribution, lo, hi, c.Other)
	if !e.listed && !w.extend {
		e = e.asTrained(w.fit, lo)
	}
	w.shares += square(w.half) * e.shares
	add := func(term regression.Term, x effect) {
		term.Column = column
		term.Coefficient = w.half * x.value
		term.StdError = math.Abs(w.half) * x.deviation
		w.Terms = append(w.Terms, term)
	}
	for v, x := range e.levels {
		w.constant.SetVec(lo+v, w.half*e.share[v])
		if v == len(c.Categories) {
			add(regression.Term{Other: true}, x)
		} else {
			add(regression.Term{Category: c.Categories[v]}, x)
		}
	}
	if !e.listed {
		w.Columns[column].Other = true
		add(regression.Term{Other: true}, e.unlisted)
	}
}

// Inputs returns the model's input columns: the clamps are the ranges of
// training.
func Inputs(
	columns []dataset.Column,
	enc *scaling.Encoder,
) []regression.Column {
	out := make([]regression.Column, len(columns))
	for j, c := range columns {
		out[j].Name = c.Name
		if c.Kind == dataset.Category {
			out[j].Type = regression.Category
			out[j].Categories = c.Categories
			out[j].Other = c.Other
			out[j].TextRule = regression.TextRule(c.TextRule)
			continue
		}
		r := enc.Range(j)
		out[j].Lower, out[j].Upper, out[j].Missing = r.Lower, r.Upper, enc.Missing(j)
	}
	return out
}
