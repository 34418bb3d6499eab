package boosting

import (
	"context"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// feature is one column of all records: numbers in fixed point, or category codes. Only the codes below levels
// count.
type feature struct {
	numbers []int16
	codes   []int32
	levels  int // 0: numbers
}

// encodeFeatures encodes every column of a view by itself.
func encodeFeatures(
	ctx context.Context,
	v dataset.View,
	columns []dataset.Column,
	ranges []scaling.Range,
) ([]feature, error) {
	out := make([]feature, len(columns))
	for j, c := range columns {
		if c.Kind == dataset.Category {
			out[j].codes = make([]int32, v.Len())
			out[j].levels = len(c.Categories)
			if c.Other {
				out[j].levels++
			}
		} else {
			out[j].numbers = make([]int16, v.Len())
		}
	}
	err := dataset.ForEach(ctx, v, 0, func(b dataset.Block, start int) {
		for j := range out {
			if codes := out[j].codes; codes != nil {
				copy(codes[start:], b.Codes(j, make([]int32, b.Len())))
				continue
			}
			one := scaling.NewEncoder(columns[j:j+1], ranges[j:j+1])
			one.Encode(
				v.Columns([]int{j}).Block(start, start+b.Len()),
				[][]int16{out[j].numbers[start : start+b.Len()]},
				&scaling.Scratch{},
			)
		}
	})
	return out, err
}

// levelAndValue returns the level and the value of a record in a linear score of this column: level 0 and the number, or
// the level of its code and 1, or 0 for a value without a level.
func (f *feature) levelAndValue(i int) (level int, value float64) {
	if f.levels == 0 && f.codes == nil {
		return 0, float64(f.numbers[i]) / mechanism.FixedOne
	}
	if c := int(f.codes[i]); c < f.levels {
		return c, 1
	}
	return 0, 0
}

// width returns the number of coefficients of the column.
func (f *feature) width() int {
	if f.codes != nil {
		return f.levels
	}
	return 1
}

// addScores adds the contribution of the column to scores.
func (f *feature) addScores(scores, coefficients []float64) {
	if f.codes == nil {
		w := coefficients[0] / mechanism.FixedOne
		for i, x := range f.numbers {
			scores[i] += float64(w * float64(x)) // the conversion forbids fusing
		}
		return
	}
	for i, c := range f.codes {
		if int(c) < len(coefficients) {
			scores[i] += coefficients[c]
		}
	}
}
