package regression

import (
	"cmp"
	"errors"
	"math"
	"sync"
)

// A Predictor predicts single records without allocations. Predictions equal those of [Model.Predict] bit for
// bit. It may be used from several goroutines at once.
type Predictor struct {
	model      Model
	columns    []cellReader
	newProgram program
	chance     program   // probability of the second of two classes; nil if the model has no probabilities
	records    sync.Pool // of *[]value, one value per column
}

// Compile prepares a model for single records; for many records at once, Predict of the model is faster. m must
// not be changed afterwards. It returns [ErrModelKind] for a kind that is not defined in this package, and a
// [*ModelError] for an invalid model.
func Compile(m Model) (*Predictor, error) {
	k := kindOf(modelKinds(), m)
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
	p.records.New = func() any {
		record := make([]value, len(p.columns))
		return &record
	}
	var err error
	p.newProgram, err = k.compile(m, func(columns []Column) []int {
		places := make([]int, len(columns))
		for i := range columns {
			places[i] = place[columns[i].Name]
		}
		return places
	})
	if c, ok := p.newProgram.(*classProgram); ok && c.model.Probability != nil {
		p.chance = chanceProgram{c}
	}
	return p, err
}

// Model returns the model.
func (p *Predictor) Model() Model {
	return p.model
}

// PredictRow returns the prediction for a record whose cells are in the order of the model's Inputs: the target
// in its own units, or the index of a class for a classifier. It panics unless there is one cell per input.
func (p *Predictor) PredictRow(cells []Cell) float64 {
	return p.predictCells(cells, p.newProgram)
}

// PredictRecord returns the prediction for a record with named cells; columns that the model does not use are
// ignored. Values are converted by [CellOf]. For an input that derives from dates, the record may have the date
// column instead, named by Source of [Reading]. No cell causes an error; the error wraps a [ColumnError] for
// each absent input.
func (p *Predictor) PredictRecord(cells map[string]any) (float64, error) {
	return p.predictNamed(cells, p.newProgram)
}

// ProbabilityRow is like [Predictor.PredictRow] but returns the probability of the second of two classes, in
// [0, 1]. It returns [ErrNoProbability] for a model without probabilities.
func (p *Predictor) ProbabilityRow(cells []Cell) (float64, error) {
	if p.chance == nil {
		return 0, ErrNoProbability
	}
	return p.predictCells(cells, p.chance), nil
}

// ProbabilityRecord is like [Predictor.PredictRecord] but returns the probability of the second of two classes,
// in [0, 1]. It returns [ErrNoProbability] for a model without probabilities.
func (p *Predictor) ProbabilityRecord(cells map[string]any) (float64, error) {
	if p.chance == nil {
		return 0, ErrNoProbability
	}
	return p.predictNamed(cells, p.chance)
}

// ClassProbabilitiesRow is like [Predictor.PredictRow] but returns the probability of every class, in [0, 1]:
// from [Probability] for two classes, as in [Classifier.ClassProbabilities] for more. It returns
// [ErrNoProbability] for a model without probabilities.
func (p *Predictor) ClassProbabilitiesRow(cells []Cell) ([]float64, error) {
	if p.chance != nil {
		second := p.predictCells(cells, p.chance)
		return []float64{1 - second, second}, nil
	}
	c, ok := p.newProgram.(*classProgram)
	if !ok || len(c.scores) < 3 || !c.scoresAreLogarithms() {
		return nil, ErrNoProbability
	}
	record := p.readCells(cells)
	defer p.records.Put(record)
	var all logSum
	out := make([]float64, len(c.scores))
	for i, s := range c.scores {
		out[i] = s.evaluate(*record)
		all.add(out[i])
	}
	for i, score := range out {
		out[i] = math.Exp(score - all.value())
	}
	return out, nil
}

func (p *Predictor) predictCells(cells []Cell, by program) float64 {
	record := p.readCells(cells)
	out := by.evaluate(*record)
	p.records.Put(record)
	return out
}

// readCells converts cells to a record, which the caller returns to the pool.
func (p *Predictor) readCells(cells []Cell) *[]value {
	if len(cells) != len(p.columns) {
		panic("regression: a record needs one cell per input of the model")
	}
	record := p.records.Get().(*[]value)
	for i := range cells {
		(*record)[i] = p.columns[i].readValue(cells[i])
	}
	return record
}

func (p *Predictor) predictNamed(
	cells map[string]any,
	by program,
) (float64, error) {
	record := p.records.Get().(*[]value)
	defer p.records.Put(record)
	for i := range p.columns {
		c := &p.columns[i]
		x, ok := cells[c.name]
		if ok {
			(*record)[i] = c.readValue(CellOf(x))
			continue
		}
		if x, ok = cells[c.source]; !ok || c.source == "" {
			return 0, p.absentError(cells)
		}
		(*record)[i] = c.dateValue(CellOf(x))
	}
	return by.evaluate(*record), nil
}

// absentError returns an error that wraps a [ColumnError] for each input that the record lacks.
func (p *Predictor) absentError(cells map[string]any) error {
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
