package selection

import (
	"context"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/gram"
	"github.com/dptrain/dptrain/mechanism"
	"github.com/dptrain/dptrain/scaling"
)

// classSums sums records of a row and a class; S is its own type.
type classSums[S any] interface {
	Add(columns [][]int16, classes []int32)
	Merge(S)
}

// classPass is the accumulator of sumClasses.
type classPass[S classSums[S]] struct {
	sums     S
	features dataset.View // all columns but the target
	encoder  *scaling.Encoder
	scratch  scaling.Scratch
	target   int
	rows     [][]int16
	codes    []int32
}

func (p *classPass[S]) Add(b dataset.Block) {
	n := b.Len()
	for k := range p.rows {
		p.rows[k] = resized(p.rows[k], n)
	}
	p.encoder.Encode(p.features.Block(b.Start(), b.Start()+n), p.rows, &p.scratch)
	p.codes = resized(p.codes, n)
	p.sums.Add(p.rows, b.Codes(p.target, p.codes))
}

func (p *classPass[S]) Merge(o *classPass[S]) { p.sums.Merge(o.sums) }

// sumClasses passes over the records of v, whose columns are those of the
// encoder and then the target.
func sumClasses[S classSums[S]](ctx context.Context, e *scaling.Encoder, v dataset.View, features int, newSums func() S) (S, error) {
	candidates := make([]int, features)
	for j := range candidates {
		candidates[j] = j
	}
	view, entries := v.Columns(candidates), len(e.Slots())
	rows := min(max(blockCells/entries, 1), dataset.DefaultBlockRows)
	pass, err := dataset.Reduce(ctx, v, rows, func() *classPass[S] {
		return &classPass[S]{sums: newSums(), features: view, encoder: e, target: features, rows: make([][]int16, entries)}
	})
	if err != nil {
		var none S
		return none, err
	}
	return pass.sums, nil
}

// exactSums are class statistics without limit on the rows and without noise,
// for experiments on public data.
type exactSums struct {
	counts, products []int64
	sums, squares    [][]int64
}

func newExactSums(entries, classes int) *exactSums {
	e := &exactSums{counts: make([]int64, classes), products: make([]int64, gram.Len(entries))}
	for range classes {
		e.sums, e.squares = append(e.sums, make([]int64, entries)), append(e.squares, make([]int64, entries))
	}
	return e
}

func (e *exactSums) Add(columns [][]int16, classes []int32) {
	for i, k := range classes {
		in := uint(k) < uint(len(e.counts))
		if in {
			e.counts[k]++
		}
		for j, column := range columns {
			if !in {
				column[i] = 0
				continue
			}
			x := int64(column[i])
			e.sums[k][j] += x
			e.squares[k][j] += x * x
		}
	}
	gram.Accumulate(e.products, columns)
}

func (e *exactSums) Merge(o *exactSums) {
	addTo(e.counts, o.counts)
	addTo(e.products, o.products)
	for k := range e.sums {
		addTo(e.sums[k], o.sums[k])
		addTo(e.squares[k], o.squares[k])
	}
}

func addTo(dst, src []int64) {
	for i, v := range src {
		dst[i] += v
	}
}

// moments returns the sums in the measure of the rows, with no noise.
func (e *exactSums) moments() mechanism.ClassMoments {
	const one = 1. / mechanism.FixedOne
	m := mechanism.ClassMoments{Counts: times(e.counts, 1), Products: times(e.products, one*one)}
	for k := range e.sums {
		m.Sums = append(m.Sums, times(e.sums[k], one))
		m.Squares = append(m.Squares, times(e.squares[k], one*one))
	}
	return m
}

func times(values []int64, unit float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v) * unit
	}
	return out
}
