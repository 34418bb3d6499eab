package regression

import (
	"math"

	"github.com/dptrain/dptrain/internal/numeric/columns"
)

// The metrics compare predictions with the truth exactly, without privacy, so they are for public data. They
// panic if the slices differ in length. A NaN or an infinity in the input makes the result NaN or infinite.

const lengthsDiffer = "regression: predictions and truth differ in length"

// R2 returns the coefficient of determination, 1 - SSE/SST: 1 for perfect predictions, 0 for predictions no
// better than the mean of y, negative for worse ones. For a constant y (including a single row) it is 1 if the
// predictions are perfect and 0 otherwise; for no rows it is NaN.
func R2(pred, y []float64) float64 {
	if len(y) == 0 && len(pred) == 0 {
		return math.NaN()
	}
	sse := sumSquaredErrors(pred, y)
	constant := true
	for _, v := range y {
		constant = constant && v == y[0]
	}
	if constant {
		switch {
		case sse == 0:
			return 1
		case math.IsNaN(sse):
			return sse
		}
		return 0
	}
	centre := columns.Mean(y)
	sst := 0.0
	for _, v := range y {
		sst += (v - centre) * (v - centre)
	}
	return 1 - sse/sst
}

// RMSE returns the root mean squared error in units of y, or NaN for no rows.
func RMSE(pred, y []float64) float64 {
	return math.Sqrt(sumSquaredErrors(pred, y) / float64(len(y)))
}

// MAE returns the mean absolute error in units of y, or NaN for no rows.
func MAE(pred, y []float64) float64 {
	if len(pred) != len(y) {
		panic(lengthsDiffer)
	}
	sum := 0.0
	for i, v := range y {
		sum += math.Abs(v - pred[i])
	}
	return sum / float64(len(y))
}

func sumSquaredErrors(pred, y []float64) float64 {
	if len(pred) != len(y) {
		panic(lengthsDiffer)
	}
	sum := 0.0
	for i, v := range y {
		sum += (v - pred[i]) * (v - pred[i])
	}
	return sum
}
