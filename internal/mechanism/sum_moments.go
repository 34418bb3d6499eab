package mechanism

import (
	"math"

	"github.com/dptrain/dptrain/budget"
)

// momentSquareWeight is the weight of a square in [Moments], where a value has the weight 1.
const momentSquareWeight = .6

// momentMissingWeight is the weight of a missing value, equal to the norm of the weights of a value of 1 and its square.
var momentMissingWeight = math.Sqrt(1 + momentSquareWeight*momentSquareWeight)

// Moments accumulates the number of records and, for each of several columns with values in [-1, 1], the sums
//
//	x, .6 x^2, 0     and     0, 0, sqrt(1.36)
//
// of a record with a value and of one without. All are rounded toward zero to the grid of sums, x before it is squared, so the
// sums are exact integers.
type Moments struct {
	relation budget.Relation
	records  [1]int64
	sums     []int64 // by column: values, squares, missing values
}

// NewMoments returns an empty accumulator for a number of columns.
func (m Maker) NewMoments(columns int) *Moments {
	return &Moments{
		relation: m.Relation(),
		sums:     make([]int64, 3*columns),
	}
}

// Add adds a block of n records: columns has one slice per column with one value per record, which is clamped to [-1, 1]; NaN is
// a missing value. Add panics if the slices differ in number or length.
func (q *Moments) Add(n int, columns [][]float64) {
	if 3*len(columns) != len(q.sums) {
		panic("mechanism: a block of Moments has one slice per column")
	}
	q.records[0] += int64(n) * toGrains(1)
	missing := toGrains(momentMissingWeight)
	for j, column := range columns {
		if len(column) != n {
			panic("mechanism: the columns of a block of Moments differ in length")
		}
		sums := q.sums[3*j : 3*j+3]
		for _, x := range column {
			if x != x {
				sums[2] += missing
				continue
			}
			value := toGrains(min(max(x, -1), 1))
			rounded := float64(value) * sumUnit
			sums[0] += value
			sums[1] += toGrains(momentSquareWeight * (rounded * rounded))
		}
	}
}

// Cells are those that [Moments.Add] adds to.
func (q *Moments) Cells() Cells {
	return Join(sumCells(q.records[:]), sumCells(q.sums))
}

// Bound returns the sums with their L2 sensitivity. The number of records comes first under add-remove; under the other
// relations it is public and no part of the vector.
//
// Add or remove one record: it adds 1 to the number of records and in each column either x and .6 x², whose squares add up to
// at most 1.36, or sqrt(1.36), rounded toward zero. So with d columns the change is at most sqrt(1 + 1.36 d), attained by
// |x| = 1.
//
// Substitution: the number of records stays. In a column with two values x and y, let u = |x-y| and v = |x+y|, where
// u + v <= 2. The squared change is u² + .36 u² v² <= f(u) = u² (1 + .36 (2-u)²). Its derivative is
// 2u (1 + .72 (2-u)(1-u)), and (2-u)(1-u) >= -1/4, so f rises on [0, 2] up to f(2) = 4. Rounding keeps this bound: x and y are
// on the grid, and for u = 2 both squares are equal. If u = 2-t with t > 0, then t is at least one grid unit e, and
// f(2-t) = 4 - 4t + t² + .36 t² (2-t)² <= 4 - 1.56t; a rounded square moves the change by less than e in .6 u v <= 1.2t, which
// adds less than 2.4te + e² < 1.56t. If one of the two values is missing, the squared change is at most 1.36 + 1.36. So with d
// columns the change is at most 2 sqrt(d), attained by x = 1 and y = -1.
func (q *Moments) Bound() Bounded[Vector] {
	d := float64(len(q.sums) / 3)
	square := 4 * d
	var out Vector
	if q.relation == budget.AddRemove {
		square = 1 + d*(1+momentSquareWeight*momentSquareWeight)
		out = append(out, q.records[0])
	}
	return Bounded[Vector]{append(out, q.sums...), L2, roundUp(math.Sqrt(square)) / sumUnit,
		sumUnit, StatMoments}
}

// ColumnMoments are the released sums of one column: of its values, of their squares, and of its missing values.
type ColumnMoments struct{ Sum, Square, Missing float64 }

// Read splits released numbers and divides them by their weights. records is 0 where the number of records is public.
func (q *Moments) Read(released []float64) (records float64, columns []ColumnMoments) {
	if q.relation == budget.AddRemove {
		records = released[0]
		released = released[1:]
	}
	for j := range len(released) / 3 {
		x := released[3*j : 3*j+3]
		columns = append(columns,
			ColumnMoments{x[0], x[1] / momentSquareWeight, x[2] / momentMissingWeight})
	}
	return records, columns
}

// MomentNoise returns the standard deviations of the noise in [ColumnMoments] for the scale of a release.
func MomentNoise(scale float64) ColumnMoments {
	return ColumnMoments{scale, scale / momentSquareWeight, scale / momentMissingWeight}
}

// StatMoments is the statistic of [Moments.Bound].
const StatMoments budget.Statistic = "moments"
