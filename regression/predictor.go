package regression

import (
	"cmp"
	"errors"
	"math"
	"sync"
)

// A Predictor predicts single records, without an allocation and bit for bit as [Model.Predict]
// does. It may be used from several goroutines at once.
type Predictor struct {
	model   Model
	columns []cellReader
	program program
	chance  program   // of the second of two classes; nil: the model has no probabilities
	records sync.Pool // of *[]value, one value per column
}

// Compile prepares a model for single records; for many at once Predict of the model is faster. m must
// not be changed afterwards. Errors are [ErrModelKind] for a kind of model that is not of this
// package, and the [*ModelError] of a model that contradicts itself.
func Compile(m Model) (*Predictor, error) {
	k := kindOf(kinds(), m)
	if k == nil {
		return nil, ErrModelKind
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	p := &Predictor{model: m}
	place := make(map[string]int)
	for i, c := range m.Inputs() {
		p.columns = append(p.columns, newCellReader(&c))
		place[c.Name] = i
	}
	p.records.New = func() any { record := make([]value, len(p.columns)); return &record }
	var err error
	p.program, err = k.compile(m, func(columns []Column) []int {
		places := make([]int, len(columns))
		for i := range columns {
			places[i] = place[columns[i].Name]
		}
		return places
	})
	if c, ok := p.program.(*classProgram); ok && c.model.Probability != nil {
		p.chance = chanceProgram{c}
	}
	return p, err
}

// Model returns the model.
func (p *Predictor) Model() Model { return p.model }

// PredictRow returns the prediction for a record whose cells stand in the order of the
// model's Inputs: the target in its own units, or for a classifier the index of a class. It panics if
// there is not one cell per input.
func (p *Predictor) PredictRow(cells []Cell) float64 { return p.row(cells, p.program) }

// PredictRecord returns the prediction for a record by the names of columns; others are ignored. Cells are
// read as by [CellOf]. For an input that is made of dates the record may have the column of dates in its place, under
// the name that [Reading] calls Source. No cell causes an error: the error wraps a [ColumnError] for each input that the
// record does not have.
func (p *Predictor) PredictRecord(cells map[string]any) (float64, error) {
	return p.record(cells, p.program)
}

// ProbabilityRow is like [Predictor.PredictRow] and returns the probability of the second of two
// classes, in [0, 1]. The error is [ErrNoProbability].
func (p *Predictor) ProbabilityRow(cells []Cell) (float64, error) {
	if p.chance == nil {
		return 0, ErrNoProbability
	}
	return p.row(cells, p.chance), nil
}

// ProbabilityRecord is like [Predictor.PredictRecord] and returns the probability of the second of
// two classes, in [0, 1]. The error may be [ErrNoProbability] too.
func (p *Predictor) ProbabilityRecord(cells map[string]any) (float64, error) {
	if p.chance == nil {
		return 0, ErrNoProbability
	}
	return p.record(cells, p.chance)
}

// ClassProbabilitiesRow is like [Predictor.PredictRow] and returns the probability of every class, in
// [0, 1], in their order: of two classes by the model's [Probability], of more as
// [Classifier.ClassProbabilities] does. The error is [ErrNoProbability].
func (p *Predictor) ClassProbabilitiesRow(cells []Cell) ([]float64, error) {
	if p.chance != nil {
		second := p.row(cells, p.chance)
		return []float64{1 - second, second}, nil
	}
	c, ok := p.program.(*classProgram)
	if !ok || len(c.scores) < 3 || !c.logarithmic() {
		return nil, ErrNoProbability
	}
	record := p.read(cells)
	defer p.records.Put(record)
	var all logSum
	out := make([]float64, len(c.scores))
	for i, s := range c.scores {
		out[i] = s.of(*record)
		all.add(out[i])
	}
	for i, score := range out {
		out[i] = math.Exp(score - all.value())
	}
	return out, nil
}

func (p *Predictor) row(cells []Cell, by program) float64 {
	record := p.read(cells)
	out := by.of(*record)
	p.records.Put(record)
	return out
}

// read returns the record of cells, to be put back.
func (p *Predictor) read(cells []Cell) *[]value {
	if len(cells) != len(p.columns) {
		panic("regression: a record needs one cell per input of the model")
	}
	record := p.records.Get().(*[]value)
	for i := range cells {
		(*record)[i] = p.columns[i].value(cells[i])
	}
	return record
}

func (p *Predictor) record(cells map[string]any, by program) (float64, error) {
	record := p.records.Get().(*[]value)
	defer p.records.Put(record)
	for i := range p.columns {
		c := &p.columns[i]
		x, ok := cells[c.name]
		if ok {
			(*record)[i] = c.value(CellOf(x))
			continue
		}
		if x, ok = cells[c.source]; !ok || c.source == "" {
			return 0, p.absent(cells)
		}
		(*record)[i] = c.date(CellOf(x))
	}
	return by.of(*record), nil
}

// absent returns the error about the inputs that a record does not have.
func (p *Predictor) absent(cells map[string]any) error {
	var problems []error
	for i := range p.columns {
		c := &p.columns[i]
		_, ok := cells[c.name]
		if _, dates := cells[c.source]; dates && c.source != "" {
			ok = true
		}
		if !ok {
			problems = append(problems, &ColumnError{cmp.Or(c.source, c.name), ErrColumnAbsent})
		}
	}
	return errors.Join(problems...)
}
