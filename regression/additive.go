package regression

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// kindAdditive is the kind of an [Additive] model.
const kindAdditive = "additive"

// Additive is a linear model with a curve for each of some of its columns:
//
//	clamp(Intercept + sum of Coefficient x
//	      + sum over Shapes of value(x) + value of Score, Lower, Upper).
//
// A curve is a step function of one numeric column: the treated cell x has the
// value number i where i of the edges are at most x. The embedded Linear holds
// coefficients, columns and clamps, and predicts, used alone, without the
// curves. The values are in units of the target.
//
// An Additive must not be changed while it is in use.
type Additive struct {
	Linear

	Shapes []Shape
	Score  *Score // nil: none
}

// A Step is a step function: value i holds from edge i-1 on and before edge i.
type Step struct {
	Edges  []float64 `json:"edges"`  // increasing, finite
	Values []float64 `json:"values"` // one more than edges, finite
}

// A Shape is the curve of a numeric column.
type Shape struct {
	Column int // index into Columns
	Step
}

// A Score is one more column of an [Additive] model, made of the others: a
// linear prediction with coefficients of its own for the same terms. Its curve
// corrects what a straight line gets wrong about all columns at once, such as
// a target that saturates.
type Score struct {
	Intercept    float64   `json:"intercept"`
	Coefficients []float64 `json:"coefficients"` // one per term
	Step
}

var _ Model = (*Additive)(nil)

// Kind returns "additive".
func (m *Additive) Kind() string { return kindAdditive }

// Sums returns m.
func (m *Additive) Sums() []*Additive { return []*Additive{m} }

// Validate reports the first contradiction in the model as a [*ModelError]:
// those of [Linear.Validate], a shape without a numeric column or of a column
// that has one, edges that do not increase, a number of values or coefficients
// that does not fit, a number that is not finite.
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
	if !finite(m.Score.Intercept) {
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
	return !slices.ContainsFunc(list, func(v float64) bool { return !finite(v) })
}

// At returns the value at x.
func (s Step) At(x float64) float64 {
	lo, hi := 0, len(s.Edges)
	for lo < hi { // edges before lo are at most x, those from hi on are not
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
	return m.predict(dst, rows, parallel.Workers(rows.N*(2*len(m.Terms)+8*len(m.Shapes)+9)))
}

func (m *Additive) predict(dst []float64, rows Rows, workers int) ([]float64, error) {
	return m.predictBlocks(m, dst, rows, workers, func(rows Rows) blockFiller { return m.filler(rows) })
}

// filler sets the sums of rows to those of the terms and curves.
func (m *Additive) filler(rows Rows) blockFiller {
	sum, score := m.totals(nil)
	lines, scoreLines := adders(sum.addends, rows), adders(score.addends, rows)
	return func(sums []float64, first int) {
		addAll(sums, m.Intercept, lines, first)
		if m.Score == nil {
			return
		}
		scores := make([]float64, len(sums))
		addAll(scores, score.start, scoreLines, first)
		for i, x := range scores {
			sums[i] += m.Score.At(x)
		}
	}
}

// totals returns the sum of the terms and curves of columns, and that of the score, which is
// nothing without one.
func (m *Additive) totals(places []int) (sum, score total) {
	sum = total{m.Intercept, m.addends(places)}
	for _, s := range m.Shapes {
		sum.addends = append(sum.addends, curve{m.placed(s.Column, places), m.Columns[s.Column].treatment(), s.Step})
	}
	if m.Score != nil {
		score = total{m.Score.Intercept, m.scored().addends(places)}
	}
	return sum, score
}

func (m *Additive) program(places []int) program {
	sum, score := m.totals(places)
	return &additiveProgram{sum, score, m.Score, m.limits()}
}

type additiveProgram struct {
	sum, score total
	curve      *Score // nil: none
	limits     limits
}

func (p *additiveProgram) of(record []value) float64 { return p.limits.clamp(p.unclamped(record)) }

func (p *additiveProgram) unclamped(record []value) float64 {
	sum := p.sum.of(record)
	if p.curve != nil {
		sum += p.curve.At(p.score.of(record))
	}
	return sum
}

// scored is the linear model whose prediction is the score.
func (m *Additive) scored() *Linear {
	s := &Linear{Columns: m.Columns, Terms: slices.Clone(m.Terms)}
	for i := range s.Terms {
		s.Terms[i].Coefficient = m.Score.Coefficients[i]
	}
	return s
}

// A curve adds the value of a step function at the treated cell.
type curve struct {
	placed
	treatment treatment
	step      Step
}

func (c curve) of(record []value) float64 { return c.step.At(c.treatment.of(record[c.place].number)) }

func (c curve) adder(rows Rows) adder {
	column := rows.Numeric[c.name]
	return func(sums []float64, first int) {
		for i, v := range column[first : first+len(sums)] {
			sums[i] += c.step.At(c.treatment.of(v))
		}
	}
}

func additiveKind() scoreKind {
	return numberKind[*Additive, additiveFile]{
		kindAdditive,
		func(m *Additive) additiveFile { return m.additiveFile() },
		func(f additiveFile) (*Additive, error) { return f.additive() },
	}
}

func (m *Additive) additiveFile() additiveFile {
	f := additiveFile{base: m.baseFile(), Score: m.Score, Prediction: m.limits()}
	for _, s := range m.Shapes {
		f.Shapes = append(f.Shapes, shapeFile{m.Columns[s.Column].Name, s.Step})
	}
	return f
}

func (f *additiveFile) additive() (*Additive, error) {
	l, err := f.model(f.Prediction)
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
