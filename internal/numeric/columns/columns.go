// Package columns prepares dense numeric columns for trainers without privacy: every cell
// becomes a finite number.
package columns

import (
	"errors"
	"math"
)

// Limit is the largest magnitude of a cell that is kept, that of regression.Unbounded.
const Limit = 1e100

// ErrShape is returned for columns that differ in length, or in number from the declared one.
var ErrShape = errors.New("columns, names and target of the design do not fit together: " +
	"every column needs one name and as many rows as the target")

// Check returns [ErrShape] unless every column has n cells.
func Check(x [][]float64, n int) error {
	for _, column := range x {
		if len(column) != n {
			return ErrShape
		}
	}
	return nil
}

// A Column holds finite numbers.
type Column struct {
	Values []float64 // possibly the caller's slice: read only
	Mean   float64
	Spread float64 // largest |value - Mean|; 0 for a constant column
}

// Clean clamps cells to [-Limit, Limit] and gives those that are not finite the mean of
// the others.
func Clean(values []float64) Column {
	c := Column{Values: values}
	usual := true
	for _, v := range values {
		if !(v >= -Limit && v <= Limit) {
			usual = false
			break
		}
	}
	if !usual {
		c.Values = replaceNonfinite(values)
	}
	c.Mean = Mean(c.Values)
	largest := 0.0
	for _, v := range c.Values {
		c.Spread = max(c.Spread, math.Abs(v-c.Mean))
		largest = max(largest, math.Abs(v))
	}
	// A spread of a few units in the last place, or one so small that its
	// square is lost, is rounding.
	if c.Spread <= 8*0x1p-52*largest || c.Spread < 1/Limit {
		c.Spread = 0
	}
	return c
}

// replaceNonfinite returns a copy of values with the mean of the finite ones, after
// clamping, in place of the others.
func replaceNonfinite(values []float64) []float64 {
	kept := make([]float64, 0, len(values))
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			kept = append(kept, min(max(v, -Limit), Limit))
		}
	}
	centre := Mean(kept)
	all := make([]float64, len(values))
	next := 0
	for i, v := range values {
		if all[i] = centre; !math.IsNaN(v) && !math.IsInf(v, 0) {
			all[i] = kept[next]
			next++
		}
	}
	return all
}

// CleanAll calls [Clean] for every column.
func CleanAll(x [][]float64) []Column {
	columns := make([]Column, len(x))
	for j := range x {
		columns[j] = Clean(x[j])
	}
	return columns
}

// Intercept returns the intercept of a linear fit with these weights, through the means.
func Intercept(x []Column, y Column, weights []float64) float64 {
	b := y.Mean
	for j, w := range weights {
		b -= w * x[j].Mean
	}
	return b
}

// Mean returns the mean, computed in two passes so that a common offset does
// not cost digits; 0 for no values.
func Mean(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	n := float64(len(x))
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	first, rest := sum/n, 0.0
	for _, v := range x {
		rest += v - first
	}
	return first + rest/n
}
