package regression

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// kindClippedLinear is the kind of a [ClippedLinear] model.
const kindClippedLinear = "clipped-linear"

// MissingSquare is the square of the entry of a scaled row that tells a missing
// cell of a numeric column, where the column has a [Term] for it.
const MissingSquare = .2

// ClippedLinear is a linear model of rows whose norm training limited: a row
// that is too long is shortened as a whole, here as it was there. With
//
//	z = (Constant, one entry a numeric column, one block a category column)
//
// the scaled row, where a numeric cell x of a column with middle c and half
// width h of [Lower, Upper] has the entry (x-c)/h, clamped to [-1, 1], and a
// category block is 1 at the row's category, and one entry the root of
// [MissingSquare] for every missing cell whose column has a term for it, w = min(1, Norm/|z|), and c_y the
// middle of the prediction's range, or Center, it predicts
//
//	clamp(c_y + w (Intercept + sum of Coefficient x - c_y), Lower, Upper),
//
// which in scaled units is c_y + h_y theta . clip(z). With a Center, the prediction of the row of
// zeros, the constant was not shortened with the rest. The embedded Linear holds
// what is written in original units and predicts, used alone, as if no row
// needed to be shortened; coefficients and standard errors mean the same in
// both (and see [ClippedLinear.Scaled]). Every column counts in |z|, whether it
// has a term or not.
//
// A ClippedLinear must not be changed while it is in use.
type ClippedLinear struct {
	Linear

	Constant float64 // the constant entry of every scaled row, in [0, 1]
	Norm     float64 // the longest that a scaled row may be, > 0

	// Center is the prediction of the row of zeros, toward which that of a row is shortened, in
	// the units of the target. Nil stands for the middle of the prediction's range.
	Center *float64
}

var _ Model = (*ClippedLinear)(nil)

// Kind returns "clipped-linear".
func (m *ClippedLinear) Kind() string { return kindClippedLinear }

// Validate reports the first contradiction in the model as a [*ModelError]:
// those of [Linear.Validate], a numeric column or a prediction whose range has
// no width to scale by, a constant or norm out of range.
func (m *ClippedLinear) Validate() error {
	if err := m.Linear.Validate(); err != nil {
		return err
	}
	for i := range m.Columns {
		if c := &m.Columns[i]; c.Type == Numeric && !(half(c.Lower, c.Upper) > 0) {
			return &ModelError{fmt.Sprintf("columns[%d].lower", i), "is not below upper"}
		}
	}
	switch {
	case !(half(m.Lower, m.Upper) > 0):
		return &ModelError{"prediction.lower", "is not below upper"}
	case !(m.Constant >= 0 && m.Constant <= 1):
		return &ModelError{"clip.constant", "must be in [0, 1]"}
	case !finite(m.Norm) || m.Norm <= 0:
		return &ModelError{"clip.norm", "must be finite and above 0"}
	case m.Center != nil && !finite(*m.Center):
		return &ModelError{"clip.center", "must be finite"}
	}
	return nil
}

// Scaled returns the terms in scaled units: coefficients and standard errors
// for one half width of the target by one half width of the column (by the
// indicator of a category or of a missing cell).
func (m *ClippedLinear) Scaled() []Term {
	out := append([]Term(nil), m.Terms...)
	for i := range out {
		unit := 1 / half(m.Lower, m.Upper)
		if c := &m.Columns[out[i].Column]; c.Type == Numeric && !out[i].Missing {
			unit *= half(c.Lower, c.Upper)
		}
		out[i].Coefficient *= unit
		out[i].StdError *= unit
	}
	return out
}

// Predict implements [Model]; see [Linear.Predict].
func (m *ClippedLinear) Predict(dst []float64, rows Rows) ([]float64, error) {
	return m.predict(dst, rows, parallel.Workers(rows.N*(len(m.Terms)+len(m.Columns)+1)))
}

func (m *ClippedLinear) predict(dst []float64, rows Rows, workers int) ([]float64, error) {
	return m.predictBlocks(m, dst, rows, workers, func(rows Rows) blockFiller {
		terms, squares := adders(m.addends(nil), rows), adders(m.squares(nil), rows)
		return func(sums []float64, first int) {
			norms := make([]float64, len(sums))
			addAll(sums, m.Intercept, terms, first)
			addAll(norms, m.Constant*m.Constant, squares, first)
			for i, n2 := range norms {
				sums[i] = m.shortened(sums[i], n2)
			}
		}
	})
}

func (m *ClippedLinear) program(places []int) program {
	return &clippedProgram{total{m.Intercept, m.addends(places)}, total{m.Constant * m.Constant, m.squares(places)}, m, m.limits()}
}

type clippedProgram struct {
	total, norm total
	model       *ClippedLinear
	limits      limits
}

func (p *clippedProgram) of(record []value) float64 {
	return p.limits.clamp(p.model.shortened(p.total.of(record), p.norm.of(record)))
}

// squares returns one addend per column, its part of the squared norm of the
// scaled row: the square of a numeric entry, and 1 for a category block unless
// the row's category has no indicator; and one per term of missing cells.
func (m *ClippedLinear) squares(places []int) []addend {
	list := make([]addend, len(m.Columns))
	for i := range m.Columns {
		c, at := &m.Columns[i], m.placed(i, places)
		if c.Type == Numeric {
			list[i] = square{at, c.Lower/2 + c.Upper/2, half(c.Lower, c.Upper), c.Missing}
			continue
		}
		w := newCategoryWeights(c, at)
		for k := range w.weights {
			if k < len(c.Categories) || c.Other {
				w.weights[k] = 1
			}
		}
		list[i] = w
	}
	for _, t := range m.Terms {
		if t.Missing {
			list = append(list, missingWeight{m.placed(t.Column, places), MissingSquare})
		}
	}
	return list
}

// A square adds the square of the scaled cell.
type square struct {
	placed
	middle, half, missing float64
}

func (s square) cell(v float64) float64 {
	if v-v != 0 { // NaN or infinite
		v = s.missing
	}
	z := min(max((v-s.middle)/s.half, -1), 1)
	return float64(z * z) // the conversion forbids fusing
}

func (s square) of(record []value) float64 { return s.cell(record[s.place].number) }

func (s square) adder(rows Rows) adder {
	column := rows.Numeric[s.name]
	return func(norms []float64, first int) {
		for i, v := range column[first : first+len(norms)] {
			norms[i] += s.cell(v)
		}
	}
}

// shortened moves the sum of a row with the squared norm n2 toward the center if the row is
// too long.
func (m *ClippedLinear) shortened(sum, n2 float64) float64 {
	if n2 > m.Norm*m.Norm {
		middle := m.Lower/2 + m.Upper/2
		if m.Center != nil {
			middle = *m.Center
		}
		return middle + float64(m.Norm/math.Sqrt(n2)*(sum-middle))
	}
	return sum
}

// half returns half the width of a range.
func half(lower, upper float64) float64 { return upper/2 - lower/2 }

func clippedKind() scoreKind {
	return numberKind[*ClippedLinear, clippedFile]{
		kindClippedLinear,
		func(m *ClippedLinear) clippedFile {
			return clippedFile{m.baseFile(), clipFile{m.Constant, m.Norm, m.Center}, m.limits()}
		},
		func(f clippedFile) (*ClippedLinear, error) {
			l, err := f.model(f.Prediction)
			return &ClippedLinear{l, f.Clip.Constant, f.Clip.Norm, f.Clip.Center}, err
		},
	}
}

type clippedFile struct {
	base
	Clip       clipFile `json:"clip" layout:"line"`
	Prediction limits   `json:"prediction"`
}

type clipFile struct {
	Constant float64  `json:"constant"`
	Norm     float64  `json:"norm"`
	Center   *float64 `json:"center,omitempty" format:"2?,3?"`
}
