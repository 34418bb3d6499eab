package regression

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// kindAdditive is the kind of an [Additive] model.
const kindAdditive = "additive"

// Additive is a linear model plus a step function for each of some of its columns:
//
//	clamp(Intercept + sum of Coefficient x
//	      + sum over Shapes of value(x) + value of Score, Lower, Upper).
//
// The step function of a numeric column takes value i for a treated cell x if exactly i of its edges are at
// most x. Values are in units of the target. The embedded Linear holds the coefficients, columns and clamps;
// used alone, it predicts without the step functions.
//
// An Additive must not be changed while it is in use.
type Additive struct {
	Linear

	Shapes []Shape
	Score  *Score // optional
}

// A Step is a step function: value i applies from edge i-1, inclusive, to edge i, exclusive.
type Step struct {
	Edges  []float64 `json:"edges"`  // increasing, finite
	Values []float64 `json:"values"` // finite, one more than edges
}

// A Shape is the curve of a numeric column.
type Shape struct {
	Column int // index into Columns
	Step
}

// A Score adds a step function of a linear score of the columns. The score has its own coefficients for the
// terms of the model. It corrects errors common to all columns that a straight line cannot express, such as a
// target that saturates.
type Score struct {
	Intercept    float64   `json:"intercept"`
	Coefficients []float64 `json:"coefficients"` // one per term
	Step
}

var _ Model = (*Additive)(nil)

// Kind returns "additive".
func (m *Additive) Kind() string {
	return kindAdditive
}

// Sums returns m.
func (m *Additive) Sums() []*Additive {
	return []*Additive{m}
}

// Validate reports the first inconsistency in the model as a [*ModelError]: those of [Linear.Validate], a shape
// that refers to no numeric column or to a column that has a shape already, edges that do not increase, a wrong
// number of values or coefficients, and numbers that are not finite.
func (m *Additive) Validate() error {
	if err := m.Linear.Validate(); err != nil {
		return err
	}
	seen := make([]bool, len(m.Columns))
	for i, s := range m.Shapes {
		path := fmt.Sprintf("shapes[%d]", i)
		switch {
		case s.Column < 0 || s.Column >= len(m.Columns):
			return &ModelError{path + ".column", "no column has this name"}
		case m.Columns[s.Column].Type != Numeric:
			return &ModelError{path + ".column", "is a category column, whose curve is its terms"}
		case seen[s.Column]:
			return &ModelError{path + ".column", "another shape has this column"}
		}
		seen[s.Column] = true
		if err := s.validate(path); err != nil {
			return err
		}
	}
	if m.Score == nil {
		return nil
	}
	if !isFinite(m.Score.Intercept) {
		return &ModelError{"score.intercept", "is not finite"}
	}
	if len(m.Score.Coefficients) != len(m.Terms) {
		return &ModelError{"score.coefficients", "is not one coefficient a term"}
	}
	if !allFinite(m.Score.Coefficients) {
		return &ModelError{"score.coefficients", "holds a number that is not finite"}
	}
	return m.Score.validate("score")
}

func (s Step) validate(path string) error {
	if !allFinite(s.Edges) {
		return &ModelError{path + ".edges", "holds a number that is not finite"}
	}
	for i := 1; i < len(s.Edges); i++ {
		if s.Edges[i-1] >= s.Edges[i] {
			return &ModelError{path + ".edges", "do not increase"}
		}
	}
	switch {
	case len(s.Values) != len(s.Edges)+1:
		return &ModelError{path + ".values", "is not one value more than edges"}
	case !allFinite(s.Values):
		return &ModelError{path + ".values", "holds a number that is not finite"}
	}
	return nil
}

func allFinite(list []float64) bool {
	return !slices.ContainsFunc(list, func(v float64) bool {
		return !isFinite(v)
	})
}

// Evaluate returns the value at x.
func (s Step) Evaluate(x float64) float64 {
	lo, hi := 0, len(s.Edges)
	for lo < hi { // the edges before lo are at most x, those from hi on are above
		mid := int(uint(lo+hi) / 2)
		if s.Edges[mid] <= x {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return s.Values[lo]
}

// Predict implements [Model]; see [Linear.Predict].
func (m *Additive) Predict(dst []float64, rows Rows) ([]float64, error) {
	return m.predictWith(
		dst,
		rows,
		parallel.Workers(rows.N*(2*len(m.Terms)+8*len(m.Shapes)+9)),
	)
}

func (m *Additive) predictWith(
	dst []float64,
	rows Rows,
	workers int,
) ([]float64, error) {
	return m.predictBlocks(m, dst, rows, workers, func(rows Rows) blockFiller {
		return m.newFiller(rows)
	})
}

// newFiller returns a function that sets sums to the terms and step functions of rows.
func (m *Additive) newFiller(rows Rows) blockFiller {
	sum, score := m.recordSums(nil)
	lines := blockAdders(sum.addends, rows)
	scoreLines := blockAdders(score.addends, rows)
	return func(sums []float64, first int) {
		addAll(sums, m.Intercept, lines, first)
		if m.Score == nil {
			return
		}
		scores := make([]float64, len(sums))
		addAll(scores, score.start, scoreLines, first)
		for i, x := range scores {
			sums[i] += m.Score.Evaluate(x)
		}
	}
}

// recordSums returns the sum over the terms and shapes, and the sum of the score, which is empty if the model
// has no Score.
func (m *Additive) recordSums(places []int) (sum, score recordSum) {
	sum = recordSum{m.Intercept, m.compileAddends(places)}
	for _, s := range m.Shapes {
		sum.addends = append(sum.addends,
			shapeAddend{m.inputRef(s.Column, places), m.Columns[s.Column].cellTreatment(), s.Step})
	}
	if m.Score != nil {
		score = recordSum{m.Score.Intercept, m.scoreModel().compileAddends(places)}
	}
	return sum, score
}

func (m *Additive) newProgram(places []int) program {
	sum, score := m.recordSums(places)
	return &additiveProgram{sum, score, m.Score, m.outputLimits()}
}

type additiveProgram struct {
	sum    recordSum
	score  recordSum
	curve  *Score // optional
	limits limits
}

func (p *additiveProgram) evaluate(record []value) float64 {
	return p.limits.clamp(p.unclamped(record))
}

func (p *additiveProgram) unclamped(record []value) float64 {
	sum := p.sum.evaluate(record)
	if p.curve != nil {
		sum += p.curve.Evaluate(p.score.evaluate(record))
	}
	return sum
}

// scoreModel returns the linear model that predicts the score.
func (m *Additive) scoreModel() *Linear {
	s := &Linear{
		Columns: m.Columns,
		Terms:   slices.Clone(m.Terms),
	}
	for i := range s.Terms {
		s.Terms[i].Coefficient = m.Score.Coefficients[i]
	}
	return s
}

// A shapeAddend adds the step function of a treated cell.
type shapeAddend struct {
	inputRef
	treatment treatment
	step      Step
}

func (c shapeAddend) evaluate(record []value) float64 {
	return c.step.Evaluate(c.treatment.apply(record[c.place].number))
}

func (c shapeAddend) blockAdder(rows Rows) blockAdder {
	column := rows.Numeric[c.name]
	return func(sums []float64, first int) {
		for i, v := range column[first : first+len(sums)] {
			sums[i] += c.step.Evaluate(c.treatment.apply(v))
		}
	}
}

func additiveKind() scoreKind {
	return numberKind[*Additive, additiveFile]{
		kindAdditive,
		func(m *Additive) additiveFile {
			return m.toFile()
		},
		func(f additiveFile) (*Additive, error) {
			return f.toAdditive()
		},
	}
}

func (m *Additive) toFile() additiveFile {
	f := additiveFile{
		base:       m.baseFile(),
		Score:      m.Score,
		Prediction: m.outputLimits(),
	}
	for _, s := range m.Shapes {
		f.Shapes = append(f.Shapes, shapeFile{m.Columns[s.Column].Name, s.Step})
	}
	return f
}

func (f *additiveFile) toAdditive() (*Additive, error) {
	l, err := f.toLinear(f.Prediction)
	m := &Additive{Linear: l, Score: f.Score}
	index := m.columnIndex()
	for _, s := range f.Shapes {
		m.Shapes = append(m.Shapes, Shape{index(s.Column), s.Step})
	}
	return m, err
}

type additiveFile struct {
	base
	Shapes     []shapeFile `json:"shapes"`
	Score      *Score      `json:"score" layout:"line"`
	Prediction limits      `json:"prediction"`
}

type shapeFile struct {
	Column string `json:"column"`
	Step
}
