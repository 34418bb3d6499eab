package scaling

import (
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// Exact returns the smallest and largest finite values of numeric column j of
// records as a range. A column of one value gets a range of width 2 around it, one of
// none is [Range.Unread]. It may be published only where the column is public; see
// [Private]. The error is that of the context.
func Exact(ctx context.Context, r mechanism.Records, j int) (Range, error) {
	out := make([]Range, j+1)
	err := exactRanges(ctx, r, []int{j}, out)
	return out[j], err
}

// exactRanges writes the exact ranges of the given columns, which it looks at in one place.
func exactRanges(ctx context.Context, r mechanism.Records, columns []int, out []Range) error {
	if len(columns) == 0 {
		return nil
	}
	v, err := r.View(ctx)
	if err != nil {
		return err
	}
	for _, j := range columns {
		var values []float64
		for _, x := range v.Block(0, v.Len()).Float(j, nil) {
			if x-x == 0 { // neither NaN nor infinite
				values = append(values, x)
			}
		}
		slices.Sort(values)
		if out[j] = exactRange(values); out[j].Unread {
			continue
		}
		out[j].Median, out[j].HasMedian = min(max(values[(len(values)-1)/2], -widest), widest), true
		out[j].Numbers.Value = float64(len(values))
	}
	return ctx.Err()
}

// widest is the largest magnitude of an exact range: the width of a range is
// within float64.
const widest = math.MaxFloat64 / 4

// exactRange returns the range of sorted values.
func exactRange(values []float64) Range {
	if len(values) == 0 {
		return Range{Lower: -1, Upper: 1, Exact: true, Unread: true}
	}
	in := interval{max(values[0], -widest), min(values[len(values)-1], widest)}
	if !(in.Upper/2-in.Lower/2 >= 1e-12*max(math.Abs(in.Lower), math.Abs(in.Upper), 1e-280)) {
		margin := max(1, math.Abs(in.Lower)*1e-9)
		in = interval{min(in.Lower, widest) - margin, max(in.Upper, -widest) + margin}
	}
	return Range{Lower: in.Lower, Upper: in.Upper, Exact: true}
}
