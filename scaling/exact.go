package scaling

import (
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/dataset"
)

// Exact returns the smallest and largest finite values of numeric column j of a
// view as a range. A column of one value gets a range of width 2 around it, one of
// none is [Range.Unread]. It may be published only where the column is public; see
// [Private]. The error is that of the context.
func Exact(ctx context.Context, v dataset.View, j int) (Range, error) {
	out := make([]Range, j+1)
	err := exactRanges(ctx, v, []int{j}, out)
	return out[j], err
}

// exactRanges writes the exact ranges of the given columns.
func exactRanges(ctx context.Context, v dataset.View, columns []int, out []Range) error {
	if len(columns) == 0 {
		return nil
	}
	acc, err := dataset.Reduce(ctx, v, 0, func() *extremes { return newExtremes(columns) })
	if err != nil {
		return err
	}
	for i, j := range columns {
		out[j] = acc.rangeOf(i)
		if out[j].Unread {
			continue
		}
		all, err := dataset.Reduce(ctx, v, 0, func() *gathered { return &gathered{column: j} })
		if err != nil {
			return err
		}
		slices.Sort(all.values)
		out[j].Median, out[j].HasMedian = min(max(all.values[(len(all.values)-1)/2], -widest), widest), true
		out[j].Numbers.Value = float64(len(all.values))
	}
	return nil
}

// gathered holds the finite values of a column.
type gathered struct {
	column      int
	values, buf []float64
}

func (g *gathered) Add(b dataset.Block) {
	g.buf = grow(g.buf, b.Len())
	for _, x := range b.Float(g.column, g.buf) {
		if x-x == 0 { // neither NaN nor infinite
			g.values = append(g.values, x)
		}
	}
}

func (g *gathered) Merge(o *gathered) { g.values = append(g.values, o.values...) }

// extremes holds the smallest and largest finite value of some columns.
type extremes struct {
	columns []int
	seen    []interval // lower > upper: no value
	buf     []float64
}

func newExtremes(columns []int) *extremes {
	e := &extremes{columns: columns, seen: make([]interval, len(columns))}
	for i := range e.seen {
		e.seen[i] = interval{math.Inf(1), math.Inf(-1)}
	}
	return e
}

func (e *extremes) Add(b dataset.Block) {
	for i, j := range e.columns {
		e.buf = grow(e.buf, b.Len())
		in := e.seen[i]
		for _, x := range b.Float(j, e.buf) {
			if x-x != 0 { // NaN or infinite
				continue
			}
			in = interval{min(in.lower, x), max(in.upper, x)}
		}
		e.seen[i] = in
	}
}

func (e *extremes) Merge(o *extremes) {
	for i, in := range o.seen {
		e.seen[i] = interval{min(e.seen[i].lower, in.lower), max(e.seen[i].upper, in.upper)}
	}
}

// widest is the largest magnitude of an exact range: the width of a range is
// within float64.
const widest = math.MaxFloat64 / 4

func (e *extremes) rangeOf(i int) Range {
	in := e.seen[i]
	if in.lower > in.upper {
		return Range{Lower: -1, Upper: 1, Exact: true, Unread: true}
	}
	in = interval{max(in.lower, -widest), min(in.upper, widest)}
	if !(in.upper/2-in.lower/2 >= 1e-12*max(math.Abs(in.lower), math.Abs(in.upper), 1e-280)) {
		margin := max(1, math.Abs(in.lower)*1e-9)
		in = interval{min(in.lower, widest) - margin, max(in.upper, -widest) + margin}
	}
	return Range{Lower: in.lower, Upper: in.upper, Exact: true}
}
