package neighbour

import (
	"math"
)

// A Column says how the cells of a column become coordinates. A numeric column is one: a cell that
// is NaN or infinite takes Missing, and every cell is cut to [Lower, Upper]. A column with Levels
// is that many, 1 for the cell's own level and 0 elsewhere; a code outside the levels is 0 in all.
type Column struct {
	Levels                int // 0: numeric
	Lower, Upper, Missing float64
}

// Cells are the cells of a column, of which one of the two is used.
type Cells struct {
	Numbers []float64
	Codes   []int32
}

// Width returns how many coordinates a record has.
func Width(columns []Column) int {
	sum := 0
	for _, c := range columns {
		sum += max(1, c.Levels)
	}
	return sum
}

// Encode returns the coordinates of n records, of which the first has the row first of the cells,
// without classes.
func Encode(columns []Column, cells []Cells, first, n int) Points {
	p := Points{Dim: Width(columns), Class: make([]int32, n)}
	p.X = make([]float64, n*p.Dim)
	at := 0
	for j, c := range columns {
		if c.Levels == 0 {
			missing := min(max(c.Missing, c.Lower), c.Upper)
			for i, v := range cells[j].Numbers[first : first+n] {
				if math.IsNaN(v - v) {
					v = missing
				}
				p.X[i*p.Dim+at] = min(max(v, c.Lower), c.Upper)
			}
			at++
			continue
		}
		for i, k := range cells[j].Codes[first : first+n] {
			if k >= 0 && int(k) < c.Levels {
				p.X[i*p.Dim+at+int(k)] = 1
			}
		}
		at += c.Levels
	}
	return p
}
