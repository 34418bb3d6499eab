package regression

import (
	"context"

	"github.com/dptrain/dptrain/internal/sys/parallel"
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
	return m.predict(dst, rows, parallel.Workers(rows.N*(len(m.Terms)+1)))
}

func (m *Linear) predict(dst []float64, rows Rows, workers int) ([]float64, error) {
	return m.predictBlocks(m, dst, rows, workers, func(rows Rows) blockFiller { return m.adding(m.addends(nil), rows) })
}

// adding adds addends up, which are those of m.
func (m *Linear) adding(addends []addend, rows Rows) blockFiller {
	terms := adders(addends, rows)
	return func(sums []float64, first int) { addAll(sums, m.Intercept, terms, first) }
}

// A Ready model is one that many small batches are predicted by. It may be used by several goroutines at once.
type Ready struct {
	model   Model
	linear  *Linear  // model, if it is one that is valid; nil for another
	addends []addend // of linear
}

// Prepare returns m ready for many batches. A [Linear] is checked here, once; others are checked with every batch. m must not be changed
// any more.
func Prepare(m Model) *Ready {
	if l, ok := m.(*Linear); ok && l.Validate() == nil {
		return &Ready{m, l, l.addends(nil)}
	}
	return &Ready{model: m}
}

// Predict is [Model.Predict] of the model, bit for bit and with its errors.
func (r *Ready) Predict(dst []float64, rows Rows) ([]float64, error) {
	if r.linear == nil {
		return r.model.Predict(dst, rows)
	}
	workers := parallel.Workers(rows.N * (len(r.linear.Terms) + 1))
	return r.linear.predictBlocks(nil, dst, rows, workers, func(rows Rows) blockFiller { return r.linear.adding(r.addends, rows) })
}

// blockFiller sets the sums of the rows that start at first to their
// predictions, not yet clamped.
type blockFiller func(sums []float64, first int)

// predictBlocks is Predict for whole, the model that m is or is embedded in. It
// checks whole, unless that is nil, and rows, and only then prepares what fills a block; the blocks
// are clamped to the range of m, and turned back if the target is transformed.
func (m *Linear) predictBlocks(whole interface{ Validate() error }, dst []float64, rows Rows, workers int, prepare func(Rows) blockFiller) ([]float64, error) {
	if whole != nil {
		if err := whole.Validate(); err != nil {
			return nil, err
		}
	}
	if rows.N < 0 {
		return nil, &ModelError{"rows", "N is negative"}
	}
	if err := rows.check(m.Columns); err != nil {
		return nil, err
	}
	fill, limits := prepare(rows.numbered(m.Columns)), m.limits()
	if cap(dst) < rows.N {
		dst = make([]float64, rows.N)
	}
	dst = dst[:rows.N]
	blocks := (rows.N + predictBlock - 1) / predictBlock
	err := parallel.ForEach(context.Background(), blocks, workers, func(b int) {
		first := b * predictBlock
		sums := dst[first:min(first+predictBlock, rows.N)]
		fill(sums, first)
		for i, v := range sums {
			sums[i] = m.Back.Of(limits.clamp(v), m.Lower, m.Upper)
		}
	})
	return dst, err
}

// A backProgram turns predictions back that another program makes.
type backProgram struct {
	program
	*Linear
}

func (p backProgram) of(record []value) float64 {
	return p.Back.Of(p.program.of(record), p.Lower, p.Upper)
}

// A program predicts single records.
type program interface {
	of(record []value) float64
}

// program returns the program of a model whose column i stands in place places[i] of a record.
func (m *Linear) program(places []int) program {
	return &linearProgram{total{m.Intercept, m.addends(places)}, m.limits()}
}

type linearProgram struct {
	total  total
	limits limits
}

func (p *linearProgram) of(record []value) float64 { return p.limits.clamp(p.total.of(record)) }
