package regression

import (
	"context"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// predictBlock is the number of rows per block. The sums of a block stay in the cache while the columns are
// added one after the other.
const predictBlock = 2048

// Predict implements [Model]. Rows are processed in blocks, large batches on all available processors; the
// result is the same bit for bit.
//
// If terms overflow in opposite directions, so that the sum is NaN, the prediction is the midpoint of [Lower,
// Upper].
func (m *Linear) Predict(dst []float64, rows Rows) ([]float64, error) {
	return m.predictWith(dst, rows, parallel.Workers(rows.N*(len(m.Terms)+1)))
}

func (m *Linear) predictWith(
	dst []float64,
	rows Rows,
	workers int,
) ([]float64, error) {
	return m.predictBlocks(m, dst, rows, workers, func(rows Rows) blockFiller {
		return m.sumFiller(m.compileAddends(nil), rows)
	})
}

// sumFiller returns a function that adds up the addends of m.
func (m *Linear) sumFiller(addends []addend, rows Rows) blockFiller {
	terms := blockAdders(addends, rows)
	return func(sums []float64, first int) {
		addAll(sums, m.Intercept, terms, first)
	}
}

// A Ready model is prepared for predicting many small batches. It may be used by several goroutines at once.
type Ready struct {
	model   Model
	linear  *Linear  // the model, if it is a valid [Linear]; otherwise nil
	addends []addend // of linear
}

// Prepare returns m prepared for many batches. A [Linear] is validated once, here; other kinds are validated
// with every batch. m must not be changed afterwards.
func Prepare(m Model) *Ready {
	if l, ok := m.(*Linear); ok && l.Validate() == nil {
		return &Ready{m, l, l.compileAddends(nil)}
	}
	return &Ready{model: m}
}

// Predict returns the same predictions and errors as [Model.Predict] of the model.
func (r *Ready) Predict(dst []float64, rows Rows) ([]float64, error) {
	if r.linear == nil {
		return r.model.Predict(dst, rows)
	}
	workers := parallel.Workers(rows.N * (len(r.linear.Terms) + 1))
	return r.linear.predictBlocks(nil, dst, rows, workers, func(rows Rows) blockFiller {
		return r.linear.sumFiller(r.addends, rows)
	})
}

// blockFiller sets sums to the predictions, before clamping, of the rows from first on.
type blockFiller func(sums []float64, first int)

// predictBlocks implements Predict. whole is the model that m is or is embedded in; unless it is nil, it is
// validated first, then rows, and only then prepare is called. The blocks are clamped to the range of m and
// converted back if the target is transformed.
func (m *Linear) predictBlocks(
	whole interface{ Validate() error },
	dst []float64,
	rows Rows,
	workers int,
	prepare func(Rows) blockFiller,
) ([]float64, error) {
	if whole != nil {
		if err := whole.Validate(); err != nil {
			return nil, err
		}
	}
	if rows.N < 0 {
		return nil, &ModelError{"rows", "N is negative"}
	}
	if err := rows.checkInputs(m.Columns); err != nil {
		return nil, err
	}
	fill := prepare(rows.resolveNumbers(m.Columns))
	limits := m.outputLimits()
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
			sums[i] = m.Back.Mean(limits.clamp(v), m.Lower, m.Upper)
		}
	})
	return dst, err
}

// A backProgram converts the predictions of another program back from a transformed target.
type backProgram struct {
	program
	*Linear
}

func (p backProgram) evaluate(record []value) float64 {
	return p.Back.Mean(p.program.evaluate(record), p.Lower, p.Upper)
}

// A program predicts single records.
type program interface {
	evaluate(record []value) float64
}

// newProgram returns the program for records in which column i is at position places[i].
func (m *Linear) newProgram(places []int) program {
	return &linearProgram{recordSum{m.Intercept, m.compileAddends(places)}, m.outputLimits()}
}

type linearProgram struct {
	total  recordSum
	limits limits
}

func (p *linearProgram) evaluate(record []value) float64 {
	return p.limits.clamp(p.total.evaluate(record))
}
