package suite

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/internal/numeric/kendall"
	"github.com/dptrain/dptrain/regression"
)

// referenceLambda is the penalty of the lasso that defines the right columns.
const referenceLambda = .1

// A reference is the non-private answer for a table: the columns with nonzero coefficients in a lasso on standardised
// columns, by decreasing |coefficient|.
type reference struct {
	order []int
	r2    float64 // of the lasso on the table itself
}

// newReference fits the lasso. The target keeps its units, which nearly reproduces the R² of the paper's table 1.
func newReference(
	ctx context.Context,
	x [][]float64,
	y []float64,
) (reference, error) {
	s, err := nonprivate.NewLassoSolver(
		ctx,
		x,
		y,
		nonprivate.LassoOptions{Standardize: true},
	)
	if err != nil {
		return reference{}, err
	}
	found, err := s.Solve(ctx, referenceLambda)
	if err != nil {
		return reference{}, err
	}
	scaled := make([]float64, len(x))
	prediction := make([]float64, len(y))
	for i := range prediction {
		prediction[i] = found.Intercept
	}
	for j, w := range found.Coefficients {
		if w == 0 {
			continue
		}
		scaled[j] = w * deviation(x[j])
		for i, v := range x[j] {
			prediction[i] += w * v
		}
	}
	return reference{byMagnitude(scaled), regression.R2(prediction, y)}, nil
}

// firstColumns returns the first k columns, or all if there are fewer.
func (r reference) firstColumns(k int) []int {
	return r.order[:min(k, len(r.order))]
}

// byMagnitude lists the columns with nonzero values by decreasing |value|, equal ones by position.
func byMagnitude(values []float64) []int {
	var order []int
	for j, v := range values {
		if v != 0 {
			order = append(order, j)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(math.Abs(values[b]), math.Abs(values[a]))
	})
	return order
}

// filled returns the column with its mean in place of non-finite values, which the non-private methods cannot use.
func filled(x []float64) []float64 {
	odd := func(v float64) bool {
		return math.IsNaN(v) || math.IsInf(v, 0)
	}
	if !slices.ContainsFunc(x, odd) {
		return x
	}
	mean := average(slices.DeleteFunc(slices.Clone(x), odd))
	if odd(mean) { // no finite number, or a sum that overflows
		mean = 0
	}
	out := slices.Clone(x)
	for i, v := range out {
		if odd(v) {
			out[i] = mean
		}
	}
	return out
}

// deviation returns the standard deviation of finite values.
func deviation(x []float64) float64 {
	mean := average(x)
	sum := 0.
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(x)))
}

func average(x []float64) float64 {
	sum := 0.
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// tauScores returns n/2 |tau-a| of every column with y, the exact scores of DP-SIS with rank correlations.
func tauScores(
	ctx context.Context,
	x [][]float64,
	y []float64,
) ([]float64, error) {
	sums, err := kendall.AgainstTarget(ctx, len(x),
		func(j int, scratch *kendall.Scratch) *kendall.Ranks {
			return kendall.Rank(x[j], scratch)
		}, func(scratch *kendall.Scratch) *kendall.Ranks {
			return kendall.Rank(y, scratch)
		}, 0)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(x))
	for j, s := range sums {
		scores[j] = math.Abs(float64(s)) / float64(max(1, len(y)-1))
	}
	return scores, nil
}

// correlationScores returns the absolute correlation of every column with y, and 0 for a constant column.
func correlationScores(x [][]float64, y []float64) []float64 {
	scores := make([]float64, len(x))
	my := average(y)
	sy := deviation(y)
	for j, column := range x {
		mx := average(column)
		sx := deviation(column)
		sum := 0.
		for i, v := range column {
			sum += (v - mx) * (y[i] - my)
		}
		if sx > 0 && sy > 0 {
			scores[j] = math.Abs(sum) / (sx * sy * float64(len(y)))
		}
	}
	return scores
}

// overlap returns the share of the k right columns that were picked.
func overlap(picked, right []int, k int) float64 {
	common := 0
	for _, j := range picked {
		if slices.Contains(right, j) {
			common++
		}
	}
	return float64(common) / float64(k)
}
