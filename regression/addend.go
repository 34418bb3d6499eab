package regression

import (
	"math"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// An addend is what one column adds to a sum of one record, and to the sums of many rows: the
// same for both, bit for bit.
type addend interface {
	of(record []value) float64
	adder(rows Rows) adder
}

// A value is a cell of a record as a model reads it.
type value struct {
	number float64 // NaN or infinite: missing
	code   int     // of a category: its index in the list of the column, the length of the list for every other
}

// An adder adds what a column adds to the sums of the rows that start at first.
type adder func(sums []float64, first int)

// addAll sets every sum to start and adds the columns' contributions.
func addAll(sums []float64, start float64, adders []adder, first int) {
	for i := range sums {
		sums[i] = start
	}
	for _, add := range adders {
		add(sums, first)
	}
}

func adders(list []addend, rows Rows) []adder {
	out := make([]adder, len(list))
	for i, a := range list {
		out[i] = a.adder(rows)
	}
	return out
}

// A total is a sum of a record.
type total struct {
	start   float64
	addends []addend
}

func (s *total) of(record []value) float64 {
	sum := s.start
	for _, a := range s.addends {
		sum += a.of(record)
	}
	return sum
}

// A placed column knows where it stands in records and what it is called in rows.
type placed struct {
	place int
	name  string
}

// placed returns column i of m. places has the place of each column in a record; nil: its own
// index.
func (m *Linear) placed(i int, places []int) placed {
	if places == nil {
		return placed{i, m.Columns[i].Name}
	}
	return placed{places[i], m.Columns[i].Name}
}

// addends returns one addend for each column that has terms, and for each term of missing cells, in the
// order of the columns' first terms: part of the definition of the sum, not of its speed.
func (m *Linear) addends(places []int) []addend {
	var list []addend
	weights := make(map[int]*categoryWeights)
	for _, t := range m.Terms {
		c, at := &m.Columns[t.Column], m.placed(t.Column, places)
		switch {
		case t.Missing:
			list = append(list, missingWeight{at, t.Coefficient})
		case c.Type == Numeric:
			list = append(list, numericTerm{at, t.Coefficient, c.treatment()})
		default:
			w, known := weights[t.Column]
			if !known {
				w = newCategoryWeights(c, at)
				weights[t.Column] = w
				list = append(list, w)
			}
			w.set(t)
		}
	}
	return list
}

// A treatment is what becomes of the cells of a numeric column.
type treatment struct{ lower, upper, missing float64 }

func (c *Column) treatment() treatment {
	return treatment{c.Lower, c.Upper, min(max(c.Missing, c.Lower), c.Upper)}
}

func (t treatment) of(v float64) float64 {
	if v-v != 0 { // NaN or infinite
		return t.missing
	}
	return min(max(v, t.lower), t.upper)
}

// A numericTerm adds a multiple of the treated cell.
type numericTerm struct {
	placed
	coefficient float64
	treatment   treatment
}

func (t numericTerm) of(record []value) float64 {
	return float64(t.coefficient * t.treatment.of(record[t.place].number)) // the conversion forbids fusing
}

func (t numericTerm) adder(rows Rows) adder {
	column, coefficient, treat := rows.Numeric[t.name], t.coefficient, t.treatment
	return func(sums []float64, first int) {
		for i, v := range column[first : first+len(sums)] {
			sums[i] += float64(coefficient * treat.of(v)) // the conversion forbids fusing
		}
	}
}

// A missingWeight adds a weight if the cell is missing, unparseable or not finite.
type missingWeight struct {
	placed
	weight float64
}

func (w missingWeight) of(record []value) float64 {
	if v := record[w.place].number; v-v == 0 {
		return math.Copysign(0, -1) // leaves every sum as it is, one of -0 too
	}
	return w.weight
}

func (w missingWeight) adder(rows Rows) adder {
	column := rows.Numeric[w.name]
	return func(sums []float64, first int) {
		for i, v := range column[first : first+len(sums)] {
			if v-v != 0 { // NaN or infinite
				sums[i] += w.weight
			}
		}
	}
}

// categoryWeights adds the weight of a category of one column.
type categoryWeights struct {
	placed
	names   *cell.Names
	places  map[string]int // of the declared categories
	weights []float64      // by code; the last is that of every other
}

// newCategoryWeights returns weights of 0. A declared category without a term is not "other".
func newCategoryWeights(c *Column, at placed) *categoryWeights {
	w := &categoryWeights{at, c.names(), make(map[string]int, len(c.Categories)), make([]float64, len(c.Categories)+1)}
	for k, name := range c.Categories {
		w.places[name] = k
	}
	return w
}

func (w *categoryWeights) set(t Term) {
	k := len(w.places)
	if !t.Other {
		k = w.places[t.Category]
	}
	w.weights[k] = t.Coefficient
}

func (w *categoryWeights) weight(name string) float64 {
	k, _ := w.names.Find(name)
	return w.weights[k]
}

func (w *categoryWeights) of(record []value) float64 { return w.weights[record[w.place].code] }

func (w *categoryWeights) adder(rows Rows) adder {
	if labels, ok := rows.Labels[w.name]; ok {
		return func(sums []float64, first int) {
			for i, label := range labels[first : first+len(sums)] {
				sums[i] += w.weight(label)
			}
		}
	}
	codes := rows.Codes[w.name]
	other := uint32(len(codes.Categories))
	table := make([]float64, other+1) // by the rows' own codes
	for i, name := range codes.Categories {
		table[i] = w.weight(name)
	}
	table[other] = w.weights[len(w.places)]
	return func(sums []float64, first int) {
		for i, code := range codes.Values[first : first+len(sums)] {
			sums[i] += table[min(uint32(code), other)] // negative codes wrap above other
		}
	}
}

// clamp cuts a prediction to the limits. If terms overflowed in opposite directions, so that the
// sum is no number, it is the middle.
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
