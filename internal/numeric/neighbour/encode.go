package neighbour

// A Column defines the conversion of a column's cells to coordinates. A numeric column is one coordinate: a cell that
// is NaN or infinite becomes Missing, and every cell is clamped to [Lower, Upper]. A category column is Levels
// coordinates, 1 for the cell's own level and 0 elsewhere; a code outside the levels is 0 in all.
type Column struct {
	Category bool
	Levels   int
	Lower    float64
	Upper    float64
	Missing  float64
}

// width returns the number of coordinates.
func (c *Column) width() int {
	if c.Category {
		return c.Levels
	}
	return 1
}

// Cells are the cells of a column, in one of the two fields.
type Cells struct {
	Numbers []float64
	Codes   []int32
}

// Width returns how many coordinates a record has.
func Width(columns []Column) int {
	sum := 0
	for j := range columns {
		sum += columns[j].width()
	}
	return sum
}

// Encode returns the coordinates of n records, starting with row first of the cells, without classes.
func Encode(columns []Column, cells []Cells, first, n int) Points {
	p := Points{
		Dim:   Width(columns),
		Class: make([]int32, n),
	}
	p.X = make([]float64, n*p.Dim)
	for i := range n {
		encodeRow(p.Row(i), columns, cells, first+i)
	}
	return p
}

// encodeRow sets x to the coordinates of a row.
func encodeRow(x []float64, columns []Column, cells []Cells, row int) {
	clear(x)
	at := 0
	for j := range columns {
		switch c := &columns[j]; {
		case !c.Category:
			v := cells[j].Numbers[row]
			if v-v != 0 { // NaN or infinite
				v = c.Missing
			}
			x[at] = min(max(v, c.Lower), c.Upper)
		default:
			if k := cells[j].Codes[row]; k >= 0 && int(k) < c.Levels {
				x[at+int(k)] = 1
			}
		}
		at += columns[j].width()
	}
}
