package golearn

import (
	"github.com/sjwhitworth/golearn/evaluation"
)

// ConfusionOfCodes is [Confusion] for predictions that are not in a grid: truth
// and predicted hold the index of a class for every row, and an index outside
// the classes counts as [OutsideClass]. It is exact and therefore for public
// data. Its error is [ErrRowCount].
func ConfusionOfCodes(
	classes []string,
	truth, predicted []int32,
) (evaluation.ConfusionMatrix, error) {
	if len(truth) != len(predicted) {
		return nil, ErrRowCount
	}
	want := cells{categories: classes}
	matrix := make(evaluation.ConfusionMatrix)
	for i, k := range truth {
		row := want.name(listed(k))
		if matrix[row] == nil {
			matrix[row] = make(map[string]int)
		}
		matrix[row][want.name(listed(predicted[i]))]++
	}
	return matrix, nil
}

// listed maps a negative index to one outside every list.
func listed(k int32) int32 {
	if k < 0 {
		return 1<<31 - 1
	}
	return k
}

// Accuracy is the share of the rows on the diagonal: golearn's GetAccuracy, and
// NaN without rows.
func Accuracy(matrix evaluation.ConfusionMatrix) float64 {
	return evaluation.GetAccuracy(matrix)
}

// BalancedAccuracy is the mean recall (golearn's GetRecall) of the classes that have rows; NaN without rows.
func BalancedAccuracy(matrix evaluation.ConfusionMatrix) float64 {
	return Macro(Scores(matrix)).Recall
}
