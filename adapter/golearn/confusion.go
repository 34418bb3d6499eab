package golearn

import (
	"cmp"
	"math"
	"slices"

	"github.com/sjwhitworth/golearn/base"
	"github.com/sjwhitworth/golearn/evaluation"
)

// OutsideClass is the name under which [Confusion] counts cells that are not among their attribute's values.
const OutsideClass = "(outside the list)"

// Confusion counts how often each class of truth (the first key) was predicted
// as each class (the second key), for use with golearn's evaluation package or
// [Scores]. Both grids need exactly one class attribute, categorical or binary.
// It is exact and therefore for public data.
//
// Errors: [ErrClass], [ErrRowCount], [*AttributeError] for a float class, which
// golearn would compare as text rounded to two decimals.
func Confusion(truth, pred base.FixedDataGrid) (evaluation.ConfusionMatrix, error) {
	want, err := classes(truth)
	if err != nil {
		return nil, err
	}
	got, err := classes(pred)
	if err != nil {
		return nil, err
	}
	if len(want.codes) != len(got.codes) {
		return nil, ErrRowCount
	}
	type pair struct{ want, got int32 }
	counts := make(map[pair]int)
	for i := range want.codes {
		counts[pair{want.codes[i], got.codes[i]}]++
	}
	matrix := make(evaluation.ConfusionMatrix)
	for p, count := range counts {
		row := want.name(p.want)
		if matrix[row] == nil {
			matrix[row] = make(map[string]int)
		}
		matrix[row][got.name(p.got)] += count
	}
	return matrix, nil
}

func classes(grid base.FixedDataGrid) (cells, error) {
	class, err := classOf(grid)
	if err != nil {
		return cells{}, err
	}
	list, err := read(grid, []request{{class, true}})
	if err != nil {
		return cells{}, err
	}
	return list[0], nil
}

func (c cells) name(code int32) string {
	if int(code) < len(c.categories) {
		return c.categories[code]
	}
	return OutsideClass
}

// ClassScore holds the scores of the predictions of one class.
type ClassScore struct {
	Class     string
	Support   int     // rows of this class in the truth
	Precision float64 // share of the rows predicted as this class that are of it
	Recall    float64 // share of the rows of this class that are predicted as it
	F1        float64 // harmonic mean of the two
}

// Scores returns one score for each class that occurs in the truth or in the predictions, in the order of their
// names. A ratio with denominator 0 is NaN: the precision of a class never predicted, the recall of a class
// without rows, and the F1 of either or of a class never predicted correctly.
func Scores(matrix evaluation.ConfusionMatrix) []ClassScore {
	names := make(map[string]bool)
	for row, columns := range matrix {
		names[row] = true
		for column := range columns {
			names[column] = true
		}
	}
	scores := make([]ClassScore, 0, len(names))
	for name := range names {
		score := ClassScore{
			Class:     name,
			Precision: evaluation.GetPrecision(name, matrix),
			Recall:    evaluation.GetRecall(name, matrix),
			F1:        evaluation.GetF1Score(name, matrix),
		}
		for _, count := range matrix[name] {
			score.Support += count
		}
		scores = append(scores, score)
	}
	slices.SortFunc(scores, func(a, b ClassScore) int {
		return cmp.Compare(a.Class, b.Class)
	})
	return scores
}

// Macro averages the scores of the classes that have rows, with equal weight and with 0 in place of NaN, so
// that a class that is never predicted lowers the average. (golearn's own GetMacroPrecision is NaN then.)
// Support is the number of all rows; without rows the averages are NaN.
func Macro(scores []ClassScore) ClassScore {
	total := ClassScore{Class: "macro average"}
	count := 0.0
	for _, s := range scores {
		if s.Support == 0 {
			continue
		}
		count++
		total.Support += s.Support
		total.Precision += zeroIfNaN(s.Precision)
		total.Recall += zeroIfNaN(s.Recall)
		total.F1 += zeroIfNaN(s.F1)
	}
	total.Precision /= count
	total.Recall /= count
	total.F1 /= count
	return total
}

func zeroIfNaN(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}
