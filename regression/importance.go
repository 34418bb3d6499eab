package regression

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// An Importance is the standard deviation, over the records, of the contribution of a column to the predictions
// of a model, in units of the target (of the score, for a classifier). If the interval starts at 0, the column
// may have no effect.
type Importance struct {
	Column              string
	Value, Lower, Upper float64 // the interval has confidence Level and covers privacy noise
	Level               float64
}

// Importances returns one importance per column, the largest first. spreads has one list for each score of a
// model, with one entry per column. Several scores are combined by the root mean square; their intervals are
// widened so that all of them hold jointly with confidence level. It returns nil if a score has no entries.
func Importances(
	columns []Column,
	spreads [][]Spread,
	level float64,
) []Importance {
	scores := float64(len(spreads))
	z := mathext.NormalQuantile(1 - (1-level)/(2*scores))
	var out []Importance
	for j, c := range columns {
		var value, lower, upper []float64
		for _, list := range spreads {
			if len(list) != len(columns) {
				return nil
			}
			v, lo, hi := list[j].Root(z)
			value = append(value, v)
			lower = append(lower, lo)
			upper = append(upper, hi)
		}
		out = append(out,
			Importance{c.Name, meanRoot(value), meanRoot(lower), meanRoot(upper), level})
	}
	slices.SortStableFunc(out, func(a, b Importance) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(b.Upper, a.Upper))
	})
	return out
}

// meanRoot returns the root of the mean of numbers that are at least 0.
func meanRoot(list []float64) float64 {
	if len(list) == 1 {
		return list[0]
	}
	root := 0.
	for _, x := range list {
		root = math.Hypot(root, x)
	}
	return root / math.Sqrt(float64(len(list)))
}
