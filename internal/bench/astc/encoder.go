package astc

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/dataset"
)

// leastLevel is the minimum number of records of a category with an entry of its own.
const leastLevel = 30

// An Encoder turns records into rows of entries: numbers on a scale of their training records, and a 0/1
// entry for every category that is frequent among those.
type Encoder struct {
	columns []int
	center  []float64 // of a number
	half    []float64 // of a number, the unit of its entry
	reach   float64   // entries of numbers are cut to plus and minus that
	levels  [][]int32 // of a category
}

// Scaled returns an encoder of some columns with clamped numbers: [-1, 1] is 1.6 times as wide as the interval
// between the quantiles .04 and .96 of the training records.
func Scaled(train *dataset.Table, columns []int) Encoder {
	return newEncoder(train, columns, 1, func(values []float64) (center, half float64) {
		slices.Sort(values)
		low := values[len(values)*4/100]
		high := values[len(values)*96/100]
		if !(high > low) {
			high = values[len(values)-1]
		}
		return (low + high) / 2, .8 * (high - low)
	})
}

// Standardised returns an encoder of some columns whose numbers have the mean 0 and the variance 1 over the training
// records.
func Standardised(train *dataset.Table, columns []int) Encoder {
	return newEncoder(train, columns, math.Inf(1), func(values []float64) (mean, sd float64) {
		n := float64(len(values))
		square := 0.
		for _, v := range values {
			mean += v / n
		}
		for _, v := range values {
			square += (v - mean) * (v - mean) / n
		}
		return mean, math.Sqrt(square)
	})
}

func newEncoder(
	train *dataset.Table,
	columns []int,
	reach float64,
	scale func(values []float64) (center, half float64),
) Encoder {
	n := len(columns)
	e := Encoder{columns, make([]float64, n), make([]float64, n), reach, make([][]int32, n)}
	for k, j := range columns {
		c := train.Schema().Columns[j]
		if c.Kind == dataset.Category {
			counts := make([]int, len(c.Categories)+1)
			for _, code := range train.Codes(j) {
				counts[code]++
			}
			for code, n := range counts {
				if n >= leastLevel {
					e.levels[k] = append(e.levels[k], int32(code))
				}
			}
			continue
		}
		known := slices.DeleteFunc(slices.Clone(train.Float(j)), math.IsNaN)
		if len(known) > 0 {
			e.center[k], e.half[k] = scale(known)
		}
		e.half[k] = max(e.half[k], leastHalf)
	}
	return e
}

// leastHalf is the unit of a number that is the same in all records.
const leastHalf = 1e-12

// Table encodes records, without a target. Every column is a feature that costs 1, and a number that is missing is
// where the encoder has its center.
func (e Encoder) Table(t *dataset.Table) Table {
	out := Table{Rows: make([][]float64, t.Len())}
	for k, j := range e.columns {
		out.Cost = append(out.Cost, 1)
		if t.Schema().Columns[j].Kind != dataset.Category {
			out.Group = append(out.Group, k)
			for i, v := range t.Float(j) {
				if math.IsNaN(v) {
					v = e.center[k]
				}
				out.Rows[i] = append(out.Rows[i],
					min(max((v-e.center[k])/e.half[k], -e.reach), e.reach))
			}
			continue
		}
		for _, level := range e.levels[k] {
			out.Group = append(out.Group, k)
			for i, code := range t.Codes(j) {
				v := 0.
				if code == level {
					v = 1
				}
				out.Rows[i] = append(out.Rows[i], v)
			}
		}
	}
	return out
}
