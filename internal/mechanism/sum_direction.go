package mechanism

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/numeric/direction"
)

// directionUnit is the grid of differences of scores.
const directionUnit = 0x1p-40

// ScoreDifference returns the score of "y causes x" less that of "x causes y", for the
// additive-noise model that is fitted to the training records and evaluated on the others; see
// [direction.FitRecords]. Both numbers of records are public under substitution, where the
// position of a record decides whether it trains. Under add-remove ScoreDifference returns
// [ErrRelation].
//
// If all is set, the bound covers a replaced training record too, for the score hsic; otherwise
// the training records count as public. A replaced record moves each of the two scores by at most
// [direction.TestBound] or [direction.HSICBound], so the difference by twice that, and one unit
// of the grid more for rounding.
func (s *Session) ScoreDifference(
	x, y []float64,
	train []bool,
	score string,
	r direction.Ridge,
	all bool,
) (Bounded[int64], error) {
	if s.Relation() == budget.AddRemove {
		return Bounded[int64]{},
			fmt.Errorf("%w: the scores of the additive-noise model need a public number of records",
				ErrRelation)
	}
	return differenceOf(direction.FitRecords(x, y, train, r), len(x), score, r, all), nil
}

// differenceOf returns the difference of the scores of a fit to n records in total.
func differenceOf(
	f direction.Fit,
	n int,
	score string,
	r direction.Ridge,
	all bool,
) Bounded[int64] {
	m := max(len(f.X), 2)
	bound := direction.TestBound(score, m)
	if all {
		bound = direction.HSICBound(r, max(n-m, 1), m)
	}
	x := f.Score(score)
	return Bounded[int64]{int64(math.Round((x.Backward - x.Forward) / directionUnit)), Absolute,
		math.Ceil(roundUp(2*bound)/directionUnit) + 1,
		directionUnit, StatScoreDifference}
}

// StatScoreDifference is the statistic of [Session.ScoreDifference].
const StatScoreDifference budget.Statistic = "score difference"

// QuartilePoints is the number of points of the grid that a quartile is chosen from.
const QuartilePoints = 257

// QuartileAt returns point i of the grid over [-reach, reach].
func QuartileAt(i int, reach float64) float64 {
	return reach * float64(2*i-(QuartilePoints-1)) / (QuartilePoints - 1)
}

// Quartile scores the points of a grid over [-reach, reach] as the q-quantile of m values: the score
// of a point g is -|#{v < g} - q m|. Under add-remove it returns [ErrRelation].
//
// The number m of values is public. A replaced value moves the count by at most 1, so every score
// by an amount in [-1, 1]: width 2, attained by two points on both sides of the quantile.
func (s *Session) Quartile(
	values []float64,
	reach, q float64,
) (Bounded[Vector], error) {
	if s.Relation() == budget.AddRemove {
		return Bounded[Vector]{},
			fmt.Errorf("%w: these quartiles need a public number of records", ErrRelation)
	}
	return quartileOf(values, reach, q), nil
}

func quartileOf(values []float64, reach, q float64) Bounded[Vector] {
	out := make(Vector, QuartilePoints)
	for i := range out {
		g := QuartileAt(i, reach)
		below := 0.
		for _, v := range values {
			if v < g {
				below++
			}
		}
		out[i] = -int64(math.Round(4 * math.Abs(below-q*float64(len(values)))))
	}
	// At quartiles the scores are multiples of a quarter of a record, so they are exact.
	return Bounded[Vector]{out, Width, 8, .25, StatQuartile}
}

// StatQuartile is the statistic of [Session.Quartile].
const StatQuartile budget.Statistic = "quartile"
