package regression

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/internal/carry"
)

// predictBlock is the number of rows whose sums are kept in cache while the
// columns are added to them one after the other.
const predictBlock = 2048

// Predict implements [Model]. Rows are processed in blocks, large batches on
// every available processor; the result is the same bit for bit.
//
// If terms overflow in opposite directions, so that the sum is no number, the
// prediction is the middle of [Lower, Upper].
func (m *Linear) Predict(dst []float64, rows Rows) ([]float64, error) {
	return m.predict(dst, rows, carry.Workers(rows.N*(len(m.Terms)+1)))
}

func (m *Linear) predict(dst []float64, rows Rows, workers int) ([]float64, error) {
	return m.predictBlocks(m, dst, rows, workers, func() blockFiller {
		adders := m.adders(rows)
		return func(sums []float64, first int) { addAll(sums, m.Intercept, adders, first) }
	})
}

// blockFiller sets the sums of the rows that start at first to their
// predictions, not yet clamped.
type blockFiller func(sums []float64, first int)

// predictBlocks is Predict for whole, the model that m is or is embedded in. It
// checks whole and rows, and only then prepares what fills a block; the blocks
// are clamped to the range of m.
func (m *Linear) predictBlocks(whole interface{ Validate() error }, dst []float64, rows Rows, workers int, prepare func() blockFiller) ([]float64, error) {
	if err := whole.Validate(); err != nil {
		return nil, err
	}
	if rows.N < 0 {
		return nil, &ModelError{"rows", "N is negative"}
	}
	if err := rows.check(m.Columns); err != nil {
		return nil, err
	}
	fill := prepare()
	if cap(dst) < rows.N {
		dst = make([]float64, rows.N)
	}
	dst = dst[:rows.N]
	blocks := (rows.N + predictBlock - 1) / predictBlock
	err := carry.ForEach(context.Background(), blocks, workers, func(b int) {
		first := b * predictBlock
		sums := dst[first:min(first+predictBlock, rows.N)]
		fill(sums, first)
		m.clamp(sums)
	})
	return dst, err
}

// addAll sets every sum to start and adds the columns' contributions.
func addAll(sums []float64, start float64, adders []adder, first int) {
	for i := range sums {
		sums[i] = start
	}
	for _, add := range adders {
		add(sums, first)
	}
}

// adder adds the contribution of one column to the sums of the rows that start
// at first.
type adder func(sums []float64, first int)

// adders returns one adder for each column that has terms, in the order of the
// columns' first terms: part of the definition of the sum, not of its speed.
func (m *Linear) adders(rows Rows) []adder {
	var list []adder
	weights := make(map[int]*categoryWeights)
	for _, t := range m.Terms {
		c := &m.Columns[t.Column]
		if t.Missing {
			list = append(list, missingAdder(t.Coefficient, rows.Numeric[c.Name]))
			continue
		}
		if c.Type == Numeric {
			list = append(list, numericAdder(c, t.Coefficient, rows.Numeric[c.Name]))
			continue
		}
		w, known := weights[t.Column]
		if !known {
			w = newCategoryWeights(c)
			weights[t.Column] = w
			list = append(list, w.adder(c.Name, rows))
		}
		if t.Other {
			w.other = t.Coefficient
		} else {
			w.named[t.Category] = t.Coefficient
		}
	}
	for _, w := range weights {
		w.fillTable()
	}
	return list
}

func numericAdder(c *Column, coefficient float64, column []float64) adder {
	lower, upper := c.Lower, c.Upper
	missing := min(max(c.Missing, lower), upper)
	return func(sums []float64, first int) {
		x := column[first : first+len(sums)]
		for i, v := range x {
			if v-v != 0 { // NaN or infinite
				v = missing
			}
			v = min(max(v, lower), upper)
			sums[i] += float64(coefficient * v) // the conversion forbids fusing
		}
	}
}

// missingAdder adds weight where the cell is missing, unparseable or not finite.
func missingAdder(weight float64, column []float64) adder {
	return func(sums []float64, first int) {
		for i, v := range column[first : first+len(sums)] {
			if v-v != 0 { // NaN or infinite
				sums[i] += weight
			}
		}
	}
}

// categoryWeights is the coefficient of every category of one column.
type categoryWeights struct {
	named map[string]float64
	other float64

	categories []string  // the rows' own list, when they come as codes
	table      []float64 // coefficient by code; the last entry is other
}

func newCategoryWeights(c *Column) *categoryWeights {
	w := &categoryWeights{named: make(map[string]float64, len(c.Categories))}
	for _, name := range c.Categories {
		w.named[name] = 0 // a declared category without a term is not "other"
	}
	return w
}

func (w *categoryWeights) weight(name string) float64 {
	if v, ok := w.named[name]; ok {
		return v
	}
	return w.other
}

func (w *categoryWeights) fillTable() {
	for i, name := range w.categories {
		w.table[i] = w.weight(name)
	}
	if len(w.table) > 0 {
		w.table[len(w.table)-1] = w.other
	}
}

func (w *categoryWeights) adder(name string, rows Rows) adder {
	if labels, ok := rows.Labels[name]; ok {
		return func(sums []float64, first int) {
			for i, label := range labels[first : first+len(sums)] {
				sums[i] += w.weight(label)
			}
		}
	}
	codes := rows.Codes[name]
	w.categories = codes.Categories
	w.table = make([]float64, len(codes.Categories)+1)
	other := uint32(len(codes.Categories))
	return func(sums []float64, first int) {
		for i, code := range codes.Values[first : first+len(sums)] {
			sums[i] += w.table[min(uint32(code), other)] // negative codes wrap above other
		}
	}
}

func (m *Linear) clamp(sums []float64) {
	for i, v := range sums {
		switch {
		case math.IsNaN(v):
			sums[i] = m.Lower/2 + m.Upper/2
		case v < m.Lower:
			sums[i] = m.Lower
		case v > m.Upper:
			sums[i] = m.Upper
		}
	}
}
