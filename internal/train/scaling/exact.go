package scaling

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// Exact returns the smallest and largest finite values of numeric column j of records as a range. A column with
// a single value gets a range of width 2 around it, one without values is [Range.Unread]. The column must be
// public; see [Private]. It returns [mechanism.ErrRelation] under a relation without public columns, or an
// error of the engine or the context.
func Exact(
	ctx context.Context,
	m mechanism.Maker,
	r mechanism.Records,
	j int,
) (Range, error) {
	out := make([]Range, j+1)
	err := exactRanges(ctx, m, r, []int{j}, []float64{0}, out)
	return out[j], err
}

// trimmedTails are the shares of a column beyond each outer quantile from which its exact range is read if the range is to
// hold what most records have, as private ranges of features do: the first with which the quantiles differ.
var trimmedTails = []float64{featureReading.outer, .01, .002, 0}

// exactRanges writes the exact ranges of the given columns. The tails, the last of them 0, are tried in order until the
// outer quantiles of a column differ. A range between quantiles is widened as that of a feature is.
func exactRanges(
	ctx context.Context,
	m mechanism.Maker,
	r mechanism.Records,
	columns []int,
	tails []float64,
	out []Range,
) error {
	for _, tail := range tails {
		places, numbers, err := orderOf(ctx, m, r, columns, tail)
		if err != nil {
			return err
		}
		var left []int
		for i, j := range columns {
			low := places[i].valueOf(0)
			high := places[i].valueOf(2)
			switch {
			case numbers[i] == 0:
				out[j] = Range{
					Lower:  -1,
					Upper:  1,
					Exact:  true,
					Unread: true,
				}
				continue
			case tail > 0 && !(low < high):
				left = append(left, j)
				continue
			}
			out[j] = exactRange(low, high)
			if tail > 0 {
				wide := widenInterval(interval{out[j].Lower, out[j].Upper}, featureReading.widen)
				out[j].Lower = max(wide.Lower, -widest)
				out[j].Upper = min(wide.Upper, widest)
			}
			out[j].Median = min(max(places[i].valueOf(1), -widest), widest)
			out[j].HasMedian = true
			out[j].Numbers.Value = float64(numbers[i])
		}
		if columns = left; len(columns) == 0 {
			break
		}
	}
	return nil
}

// widest is the largest magnitude of an exact range: the width of a range is
// within float64.
const widest = math.MaxFloat64 / 4

// exactRange returns the range of numbers with these ends.
func exactRange(least, most float64) Range {
	in := interval{max(least, -widest), min(most, widest)}
	if !(in.Upper/2-in.Lower/2 >= 1e-12*max(math.Abs(in.Lower), math.Abs(in.Upper), 1e-280)) {
		margin := max(1, math.Abs(in.Lower)*1e-9)
		in = interval{min(in.Lower, widest) - margin, max(in.Upper, -widest) + margin}
	}
	return Range{
		Lower: in.Lower,
		Upper: in.Upper,
		Exact: true,
	}
}
