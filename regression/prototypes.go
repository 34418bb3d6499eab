package regression

import (
	"errors"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// kindPrototypes is the kind of a [Prototypes] model.
const kindPrototypes = "prototypes"

// Prototypes is a score computed from distances to reference points, added to a linear model:
//
//	clamp(Intercept + sum of Coefficient x
//	      + log sum over Prototypes of exp(score) - log sum over those Against of exp(score), Lower, Upper).
//
// The score of a prototype is linear in the cells of a row, Intercept + sum of Coefficient x, clamped to
// [Lower, Upper] too. It is the squared distance of the row from the prototype's center, in the metric of
// training, times a negative factor, less a part common to all prototypes of a classifier. A sum over no
// prototypes counts as 0. The embedded Linear holds the columns, the clamps and a linear part, which is often
// empty; used alone, it predicts without the prototypes.
//
// Such scores of a [Classifier] are log probabilities up to a constant; see [Classifier.ClassProbabilities].
//
// A Prototypes must not be changed while it is in use.
type Prototypes struct {
	Linear

	Prototypes []Prototype
}

// A Prototype is one reference point of a [Prototypes] model.
type Prototype struct {
	Against   bool // counts against the score
	Intercept float64
	Terms     []Term // with StdError 0: their noise is not known
	// Centers describe a record at the prototype, one number per term: the cell of a numeric column, in its
	// range, or the share of an indicator, in [0, 1].
	Centers []float64
}

var _ Model = (*Prototypes)(nil)

// Kind returns [kindPrototypes].
func (m *Prototypes) Kind() string {
	return kindPrototypes
}

// Validate reports the first inconsistency in the model as a [*ModelError]: those of [Linear.Validate], for the
// linear part and for every prototype, and centers that are out of range or not one per term.
func (m *Prototypes) Validate() error {
	if err := m.Linear.Validate(); err != nil {
		return err
	}
	for i := range m.Prototypes {
		if err := m.validatePrototype(&m.Prototypes[i]); err != nil {
			var problem *ModelError
			if errors.As(err, &problem) {
				return &ModelError{fmt.Sprintf("prototypes[%d].%s", i, problem.Path),
					problem.Problem}
			}
			return err
		}
	}
	return nil
}

func (m *Prototypes) validatePrototype(p *Prototype) error {
	if !isFinite(p.Intercept) {
		return &ModelError{"intercept", "is not finite"}
	}
	if err := m.scoreModel(p).validateTerms(); err != nil {
		return err
	}
	if len(p.Centers) != len(p.Terms) {
		return &ModelError{"terms", "there is not one center per term"}
	}
	for k, t := range p.Terms {
		path := fmt.Sprintf("terms[%d].", k)
		lower := 0.
		upper := 1.
		if c := &m.Columns[t.Column]; c.Type == Numeric && !t.Missing {
			lower = c.Lower
			upper = c.Upper
		}
		switch {
		case t.StdError != 0:
			return &ModelError{path + "std_error", "must be 0"}
		case !(p.Centers[k] >= lower && p.Centers[k] <= upper):
			return &ModelError{path + "center",
				fmt.Sprintf("must be between %v and %v", lower, upper)}
		}
	}
	return nil
}

// scoreModel returns a linear model with the terms of a prototype.
func (m *Prototypes) scoreModel(p *Prototype) *Linear {
	return &Linear{Columns: m.Columns, Terms: p.Terms}
}

// Predict implements [Model]; see [Linear.Predict].
func (m *Prototypes) Predict(dst []float64, rows Rows) ([]float64, error) {
	work := len(m.Terms) + 1
	for i := range m.Prototypes {
		work += len(m.Prototypes[i].Terms) + 20
	}
	return m.predictWith(dst, rows, parallel.Workers(rows.N*work))
}

func (m *Prototypes) predictWith(
	dst []float64,
	rows Rows,
	workers int,
) ([]float64, error) {
	return m.predictBlocks(m, dst, rows, workers, func(rows Rows) blockFiller {
		terms := blockAdders(m.compileAddends(nil), rows)
		scores := make([][]blockAdder, len(m.Prototypes))
		limits := m.outputLimits()
		for i := range scores {
			scores[i] = blockAdders(m.scoreModel(&m.Prototypes[i]).compileAddends(nil), rows)
		}
		return func(sums []float64, first int) {
			addAll(sums, m.Intercept, terms, first)
			score := make([]float64, len(sums))
			joined := make([]logSums, len(sums))
			for i := range scores {
				addAll(score, m.Prototypes[i].Intercept, scores[i], first)
				for k, x := range score {
					joined[k].add(limits.clamp(x), m.Prototypes[i].Against)
				}
			}
			for k := range joined {
				sums[k] += joined[k].value()
			}
		}
	})
}

// logSums holds the logarithms of the two sums of a record.
type logSums struct{ pro, against logSum }

func (s *logSums) add(x float64, against bool) {
	if against {
		s.against.add(x)
	} else {
		s.pro.add(x)
	}
}

func (s *logSums) value() float64 {
	return s.pro.value() - s.against.value()
}

// A logSum is the logarithm of the sum of e^x over the values added, 0 if there are none. It stores the largest
// x and the sum of e^(x - largest).
type logSum struct{ largest, sum float64 }

func (s *logSum) add(x float64) {
	switch {
	case s.sum == 0:
		s.largest = x
		s.sum = 1
	case x > s.largest:
		s.sum = float64(s.sum*math.Exp(s.largest-x)) + 1 // the conversion forbids fusing
		s.largest = x
	default:
		s.sum += math.Exp(x - s.largest)
	}
}

func (s *logSum) value() float64 {
	if s.sum == 0 {
		return 0
	}
	return s.largest + math.Log(s.sum)
}

func (m *Prototypes) newProgram(places []int) program {
	p := &prototypeProgram{
		total:  recordSum{m.Intercept, m.compileAddends(places)},
		model:  m,
		limits: m.outputLimits(),
	}
	for i := range m.Prototypes {
		p.scores = append(p.scores,
			recordSum{m.Prototypes[i].Intercept,
				m.scoreModel(&m.Prototypes[i]).compileAddends(places)})
	}
	return p
}

type prototypeProgram struct {
	total  recordSum
	scores []recordSum // one per prototype
	model  *Prototypes
	limits limits
}

func (p *prototypeProgram) evaluate(record []value) float64 {
	var joined logSums
	for i := range p.scores {
		joined.add(p.limits.clamp(p.scores[i].evaluate(record)), p.model.Prototypes[i].Against)
	}
	return p.limits.clamp(p.total.evaluate(record) + joined.value())
}

func prototypesKind() scoreKind {
	return numberKind[*Prototypes, prototypesFile]{
		kindPrototypes,
		func(m *Prototypes) prototypesFile {
			f := prototypesFile{
				base:       m.baseFile(),
				Prediction: m.outputLimits(),
			}
			for _, p := range m.Prototypes {
				x := prototypeFile{
					Against:   p.Against,
					Intercept: p.Intercept,
					Terms:     []centerFile{},
				}
				for k, t := range m.termFiles(p.Terms) {
					x.Terms = append(x.Terms,
						centerFile{t.Column, t.Category, t.Other, t.Missing, p.Centers[k],
							t.Coefficient})
				}
				f.Prototypes = append(f.Prototypes, x)
			}
			return f
		},
		func(f prototypesFile) (*Prototypes, error) {
			l, err := f.toLinear(f.Prediction)
			m := &Prototypes{Linear: l}
			index := m.columnIndex()
			for _, x := range f.Prototypes {
				p := Prototype{
					Against:   x.Against,
					Intercept: x.Intercept,
				}
				var terms []termFile
				for _, t := range x.Terms {
					terms = append(terms,
						termFile{
							Column:      t.Column,
							Category:    t.Category,
							Other:       t.Other,
							Missing:     t.Missing,
							Coefficient: t.Coefficient,
						})
					p.Centers = append(p.Centers, t.Center)
				}
				p.Terms = termsOf(terms, index)
				m.Prototypes = append(m.Prototypes, p)
			}
			return m, err
		},
	}
}

type prototypesFile struct {
	base
	Prototypes []prototypeFile `json:"prototypes"`
	Prediction limits          `json:"prediction"`
}

type prototypeFile struct {
	Against   bool         `json:"against,omitempty"`
	Intercept float64      `json:"intercept"`
	Terms     []centerFile `json:"terms"`
}

// A centerFile is a term of a prototype with its center.
type centerFile struct {
	Column      string  `json:"column"`
	Category    *string `json:"category,omitempty"`
	Other       bool    `json:"other,omitempty"`
	Missing     bool    `json:"missing,omitempty"`
	Center      float64 `json:"center"`
	Coefficient float64 `json:"coefficient"`
}
