package regression

import (
	"errors"
	"math"
)

// Design is a table to fit a baseline on: dense numeric columns, all of the
// length of Y. Cells are treated as a [Model] treats them: one that is not
// finite takes the mean of the others in its column (or of Y), and every cell
// is clamped to [-Unbounded, Unbounded]. The slices are read only.
type Design struct {
	Names  []string // column names, all different
	X      [][]float64
	Target string
	Y      []float64
}

// ErrShape is returned for a design whose columns differ in length or in number
// from what they are said to be.
var ErrShape = errors.New("columns, names and target of the design do not fit together: " +
	"every column needs one name and as many rows as the target")

func checkShape(x [][]float64, y []float64) error {
	for _, column := range x {
		if len(column) != len(y) {
			return ErrShape
		}
	}
	return nil
}

// cleanColumn is a column of finite numbers. values may be the caller's slice.
type cleanColumn struct {
	values []float64
	mean   float64
	spread float64 // largest |value - mean|; 0 for a constant column
}

func clean(values []float64) cleanColumn {
	c := cleanColumn{values: values}
	usual := true
	for _, v := range values {
		if !(v >= -Unbounded && v <= Unbounded) {
			usual = false
			break
		}
	}
	if !usual {
		c.values = substitute(values)
	}
	c.mean = mean(c.values)
	largest := 0.0
	for _, v := range c.values {
		c.spread = max(c.spread, math.Abs(v-c.mean))
		largest = max(largest, math.Abs(v))
	}
	// A spread of a few units in the last place, or one so small that its
	// square is lost, is rounding.
	if c.spread <= 8*0x1p-52*largest || c.spread < 1/Unbounded {
		c.spread = 0
	}
	return c
}

// substitute returns a copy of values with the mean of the finite ones, after
// clamping, in place of the others.
func substitute(values []float64) []float64 {
	kept := make([]float64, 0, len(values))
	for _, v := range values {
		if finite(v) {
			kept = append(kept, min(max(v, -Unbounded), Unbounded))
		}
	}
	centre := mean(kept)
	all, next := make([]float64, len(values)), 0
	for i, v := range values {
		if all[i] = centre; finite(v) {
			all[i] = kept[next]
			next++
		}
	}
	return all
}

func cleanAll(x [][]float64) []cleanColumn {
	columns := make([]cleanColumn, len(x))
	for j := range x {
		columns[j] = clean(x[j])
	}
	return columns
}

// linear makes the model of a fit: weights in original units, an intercept
// through the means, no clamps short of Unbounded. Zero weights are left out
// when sparse.
func (d Design) linear(x []cleanColumn, y cleanColumn, weights []float64, sparse bool) (*Linear, error) {
	m := &Linear{
		Target:    d.Target,
		Columns:   make([]Column, len(x)),
		Intercept: intercept(x, y, weights),
		Lower:     -Unbounded,
		Upper:     Unbounded,
	}
	for j := range x {
		m.Columns[j] = Column{Name: d.Names[j], Lower: -Unbounded, Upper: Unbounded, Missing: x[j].mean}
		if !sparse || weights[j] != 0 {
			m.Terms = append(m.Terms, Term{Column: j, Coefficient: weights[j]})
		}
	}
	return m, m.Validate()
}

func intercept(x []cleanColumn, y cleanColumn, weights []float64) float64 {
	b := y.mean
	for j, w := range weights {
		b -= w * x[j].mean
	}
	return b
}
