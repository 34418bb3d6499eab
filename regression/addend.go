package regression

import (
	"math"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// An addend is the contribution of one column to the prediction of a record. For single records and for blocks
// of rows it computes the same number, bit for bit.
type addend interface {
	evaluate(record []value) float64
	blockAdder(rows Rows) blockAdder
}

// A value is a cell of a record in the form that a model reads.
type value struct {
	number float64 // NaN or infinite: missing
	code   int     // category: index in the column's list, or the length of the list for any other value
}

// A blockAdder adds the contribution of a column to the sums of the rows from first on.
type blockAdder func(sums []float64, first int)

// addAll sets every sum to start and adds the columns' contributions.
func addAll(sums []float64, start float64, adders []blockAdder, first int) {
	for i := range sums {
		sums[i] = start
	}
	for _, add := range adders {
		add(sums, first)
	}
}

func blockAdders(list []addend, rows Rows) []blockAdder {
	out := make([]blockAdder, len(list))
	for i, a := range list {
		out[i] = a.blockAdder(rows)
	}
	return out
}

// A recordSum is a constant plus the contributions of columns.
type recordSum struct {
	start   float64
	addends []addend
}

func (s *recordSum) evaluate(record []value) float64 {
	sum := s.start
	for _, a := range s.addends {
		sum += a.evaluate(record)
	}
	return sum
}

// An inputRef locates a column: its position in a record and its name in [Rows].
type inputRef struct {
	place int
	name  string
}

// inputRef returns the reference to column i of m. places holds the position of each column in a record; nil
// means the column's own index.
func (m *Linear) inputRef(i int, places []int) inputRef {
	if places == nil {
		return inputRef{i, m.Columns[i].Name}
	}
	return inputRef{places[i], m.Columns[i].Name}
}

// compileAddends returns one addend for each column that has terms and one for each missing-cell term, ordered by the
// columns' first terms. The order is part of the definition of the sum: addition of floats is not associative.
func (m *Linear) compileAddends(places []int) []addend {
	var list []addend
	weights := make(map[int]*categoryWeights)
	for _, t := range m.Terms {
		c := &m.Columns[t.Column]
		at := m.inputRef(t.Column, places)
		switch {
		case t.Missing:
			list = append(list, missingWeight{at, t.Coefficient})
		case c.Type == Numeric:
			list = append(list, numericTerm{at, t.Coefficient, c.cellTreatment()})
		default:
			w, known := weights[t.Column]
			if !known {
				w = newCategoryWeights(c, at)
				weights[t.Column] = w
				list = append(list, w)
			}
			w.setWeight(t)
		}
	}
	return list
}

// A treatment holds the substitute for missing cells and the clamp of a numeric column.
type treatment struct{ lower, upper, missing float64 }

func (c *Column) cellTreatment() treatment {
	return treatment{c.Lower, c.Upper, min(max(c.Missing, c.Lower), c.Upper)}
}

func (t treatment) apply(v float64) float64 {
	if v-v != 0 { // NaN or infinite
		return t.missing
	}
	return min(max(v, t.lower), t.upper)
}

// A numericTerm adds a multiple of the treated cell.
type numericTerm struct {
	inputRef
	coefficient float64
	treatment   treatment
}

func (t numericTerm) evaluate(record []value) float64 {
	return float64(t.coefficient * t.treatment.apply(record[t.place].number)) // the conversion forbids fusing
}

func (t numericTerm) blockAdder(rows Rows) blockAdder {
	column := rows.Numeric[t.name]
	coefficient := t.coefficient
	treat := t.treatment
	return func(sums []float64, first int) {
		for i, v := range column[first : first+len(sums)] {
			sums[i] += float64(coefficient * treat.apply(v)) // the conversion forbids fusing
		}
	}
}

// A missingWeight adds a weight if the cell is missing, unparseable or not finite.
type missingWeight struct {
	inputRef
	weight float64
}

func (w missingWeight) evaluate(record []value) float64 {
	if v := record[w.place].number; v-v == 0 {
		return math.Copysign(0, -1) // leaves every sum unchanged, including -0
	}
	return w.weight
}

func (w missingWeight) blockAdder(rows Rows) blockAdder {
	column := rows.Numeric[w.name]
	return func(sums []float64, first int) {
		for i, v := range column[first : first+len(sums)] {
			if v-v != 0 { // NaN or infinite
				sums[i] += w.weight
			}
		}
	}
}

// categoryWeights adds the weight of the row's category.
type categoryWeights struct {
	inputRef
	names   *cell.Names
	places  map[string]int // index of each declared category
	weights []float64      // by code; the last applies to all other values
}

// newCategoryWeights returns weights of 0. A declared category without a term does not count as other.
func newCategoryWeights(c *Column, at inputRef) *categoryWeights {
	w := &categoryWeights{at, c.nameFinder(), make(map[string]int, len(c.Categories)),
		make([]float64, len(c.Categories)+1)}
	for k, name := range c.Categories {
		w.places[name] = k
	}
	return w
}

func (w *categoryWeights) setWeight(t Term) {
	k := len(w.places)
	if !t.Other {
		k = w.places[t.Category]
	}
	w.weights[k] = t.Coefficient
}

func (w *categoryWeights) weightOf(name string) float64 {
	k, _ := w.names.Find(name)
	return w.weights[k]
}

func (w *categoryWeights) evaluate(record []value) float64 {
	return w.weights[record[w.place].code]
}

func (w *categoryWeights) blockAdder(rows Rows) blockAdder {
	if labels, ok := rows.Labels[w.name]; ok {
		return func(sums []float64, first int) {
			for i, label := range labels[first : first+len(sums)] {
				sums[i] += w.weightOf(label)
			}
		}
	}
	codes := rows.Codes[w.name]
	other := uint32(len(codes.Categories))
	table := make([]float64, other+1) // by the rows' own codes
	for i, name := range codes.Categories {
		table[i] = w.weights[w.names.FindValue(name)]
	}
	table[other] = w.weights[len(w.places)]
	return func(sums []float64, first int) {
		for i, code := range codes.Values[first : first+len(sums)] {
			sums[i] += table[min(uint32(code), other)] // negative codes wrap above other
		}
	}
}

// clamp limits a prediction to the range. A sum that is NaN, because terms overflowed in opposite directions,
// gives the midpoint.
func (l limits) clamp(v float64) float64 {
	switch {
	case math.IsNaN(v):
		return l.Lower/2 + l.Upper/2
	case v < l.Lower:
		return l.Lower
	case v > l.Upper:
		return l.Upper
	}
	return v
}
