package regression

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// kindClippedLinear is the kind of a [ClippedLinear] model.
const kindClippedLinear = "clipped-linear"

// MissingSquare is the square of the entry of a scaled row that marks a missing numeric cell, for columns with
// a missing-cell [Term].
const MissingSquare = .2

// ClippedLinear is a linear model trained on rows of limited norm. Prediction shortens long rows in the same
// way as training did. The scaled row is
//
//	z = (Constant, one entry per numeric column, one block per category column).
//
// A numeric cell x of a column whose range [Lower, Upper] has the midpoint c and the half width h has the entry
// (x-c)/h, clamped to [-1, 1]. A category block is 1 at the row's category. A missing cell of a column with a
// missing-cell term adds an entry of the root of [MissingSquare]. With w = min(1, Norm/|z|), and c_y the
// midpoint of the prediction's range, or Center, the prediction is
//
//	clamp(c_y + w (Intercept + sum of Coefficient x - c_y), Lower, Upper),
//
// which equals c_y + h_y theta . clip(z) in scaled units. A Center is the prediction for the zero row of a
// model whose constant is not shortened with the rest. The embedded Linear holds the coefficients in original
// units; used alone, it predicts as if no row needed shortening. Coefficients and standard errors mean the same
// in both (see also [ClippedLinear.Scaled]). Every column counts towards |z|, with or without a term.
//
// A ClippedLinear must not be changed while it is in use.
type ClippedLinear struct {
	Linear

	Constant float64 // the constant entry of every scaled row, in [0, 1]
	Norm     float64 // maximum norm of a scaled row, > 0

	// Center is the prediction for the zero row, in units of the target. The predictions of long rows move
	// towards it. Nil means the midpoint of the prediction's range.
	Center *float64
}

var _ Model = (*ClippedLinear)(nil)

// Kind returns "clipped-linear".
func (m *ClippedLinear) Kind() string {
	return kindClippedLinear
}

// Validate reports the first inconsistency in the model as a [*ModelError]: those of [Linear.Validate], a
// numeric column or prediction with a range of width zero, and a constant or norm out of range.
func (m *ClippedLinear) Validate() error {
	if err := m.Linear.Validate(); err != nil {
		return err
	}
	for i := range m.Columns {
		if c := &m.Columns[i]; c.Type == Numeric && !(halfWidth(c.Lower, c.Upper) > 0) {
			return &ModelError{fmt.Sprintf("columns[%d].lower", i), "is not below upper"}
		}
	}
	switch {
	case !(halfWidth(m.Lower, m.Upper) > 0):
		return &ModelError{"prediction.lower", "is not below upper"}
	case !(m.Constant >= 0 && m.Constant <= 1):
		return &ModelError{"clip.constant", "must be in [0, 1]"}
	case !isFinite(m.Norm) || m.Norm <= 0:
		return &ModelError{"clip.norm", "must be finite and above 0"}
	case m.Center != nil && !isFinite(*m.Center):
		return &ModelError{"clip.center", "must be finite"}
	}
	return nil
}

// Scaled returns the terms in scaled units: coefficients and standard errors per half width of the column (or
// per indicator of a category or a missing cell), in half widths of the target.
func (m *ClippedLinear) Scaled() []Term {
	out := append([]Term(nil), m.Terms...)
	for i := range out {
		unit := 1 / halfWidth(m.Lower, m.Upper)
		if c := &m.Columns[out[i].Column]; c.Type == Numeric && !out[i].Missing {
			unit *= halfWidth(c.Lower, c.Upper)
		}
		out[i].Coefficient *= unit
		out[i].StdError *= unit
	}
	return out
}

// Predict implements [Model]; see [Linear.Predict].
func (m *ClippedLinear) Predict(dst []float64, rows Rows) ([]float64, error) {
	return m.predictWith(
		dst,
		rows,
		parallel.Workers(rows.N*(len(m.Terms)+len(m.Columns)+1)),
	)
}

func (m *ClippedLinear) predictWith(
	dst []float64,
	rows Rows,
	workers int,
) ([]float64, error) {
	return m.predictBlocks(m, dst, rows, workers, func(rows Rows) blockFiller {
		terms := blockAdders(m.compileAddends(nil), rows)
		squares := blockAdders(m.squaredEntries(nil), rows)
		return func(sums []float64, first int) {
			norms := make([]float64, len(sums))
			addAll(sums, m.Intercept, terms, first)
			addAll(norms, m.Constant*m.Constant, squares, first)
			for i, n2 := range norms {
				sums[i] = m.shrinkSum(sums[i], n2)
			}
		}
	})
}

func (m *ClippedLinear) newProgram(places []int) program {
	return &clippedProgram{recordSum{m.Intercept, m.compileAddends(places)},
		recordSum{m.Constant * m.Constant, m.squaredEntries(places)}, m, m.outputLimits()}
}

type clippedProgram struct {
	total  recordSum
	norm   recordSum
	model  *ClippedLinear
	limits limits
}

func (p *clippedProgram) evaluate(record []value) float64 {
	return p.limits.clamp(p.model.shrinkSum(p.total.evaluate(record), p.norm.evaluate(record)))
}

// squaredEntries returns the contributions of the columns to the squared norm of the scaled row: the square of
// a numeric entry; 1 for a category block, unless the row's category has no indicator; and one for each
// missing-cell term.
func (m *ClippedLinear) squaredEntries(places []int) []addend {
	list := make([]addend, len(m.Columns))
	for i := range m.Columns {
		c := &m.Columns[i]
		at := m.inputRef(i, places)
		if c.Type == Numeric {
			list[i] = squaredEntry{at, c.Lower/2 + c.Upper/2, halfWidth(c.Lower, c.Upper),
				c.Missing}
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
			list = append(list, missingWeight{m.inputRef(t.Column, places), MissingSquare})
		}
	}
	return list
}

// A squaredEntry adds the square of a scaled cell.
type squaredEntry struct {
	inputRef
	middle  float64
	half    float64
	missing float64
}

func (s squaredEntry) squareCell(v float64) float64 {
	if v-v != 0 { // NaN or infinite
		v = s.missing
	}
	z := min(max((v-s.middle)/s.half, -1), 1)
	return float64(z * z) // the conversion forbids fusing
}

func (s squaredEntry) evaluate(record []value) float64 {
	return s.squareCell(record[s.place].number)
}

func (s squaredEntry) blockAdder(rows Rows) blockAdder {
	column := rows.Numeric[s.name]
	return func(norms []float64, first int) {
		for i, v := range column[first : first+len(norms)] {
			norms[i] += s.squareCell(v)
		}
	}
}

// shrinkSum returns the prediction for a row with the given sum and squared norm n2: the sum, moved towards the
// center if the row is longer than Norm.
func (m *ClippedLinear) shrinkSum(sum, n2 float64) float64 {
	if n2 > m.Norm*m.Norm {
		middle := m.Lower/2 + m.Upper/2
		if m.Center != nil {
			middle = *m.Center
		}
		return middle + float64(m.Norm/math.Sqrt(n2)*(sum-middle))
	}
	return sum
}

// halfWidth returns half the width of a range.
func halfWidth(lower, upper float64) float64 {
	return upper/2 - lower/2
}

func clippedKind() scoreKind {
	return numberKind[*ClippedLinear, clippedFile]{
		kindClippedLinear,
		func(m *ClippedLinear) clippedFile {
			return clippedFile{m.baseFile(), clipFile{m.Constant, m.Norm, m.Center},
				m.outputLimits()}
		},
		func(f clippedFile) (*ClippedLinear, error) {
			l, err := f.toLinear(f.Prediction)
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
