// Package compress makes small nearest-neighbour classifiers from public tables, for `dptrain compress
// --public`. Package neighbour implements the algorithms.
//
// The result is not private. The model contains records, or vectors that started as records and may be close to
// them; it states that it has no guarantee. A run is not entered in a ledger. It is for data that are public,
// or for models that are not published.
package compress

import (
	"errors"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/numeric/neighbour"
)

// Errors of tables.
var (
	// ErrRecords is returned for a table without a record that has a class.
	ErrRecords = errors.New("no record has a class")
	// ErrColumns is returned for a table whose only column is the class.
	ErrColumns = errors.New("there is no feature column")
)

// Points returns the coordinates of the records of a table that have a class, and how each of the
// columns before the last became coordinates. The last column holds the classes. A missing number
// takes the mean of the others in its column.
func Points(t *dataset.Table) (neighbour.Points, []neighbour.Column, error) {
	columns := t.Schema().Columns
	last := len(columns) - 1
	if last < 1 {
		return neighbour.Points{}, nil, ErrColumns
	}
	coding := make([]neighbour.Column, last)
	for j, c := range columns[:last] {
		if c.Kind == dataset.Category {
			coding[j] = neighbour.Column{
				Category: true,
				Levels:   len(c.Categories),
			}
		} else {
			coding[j] = numeric(t.Float(j))
		}
	}
	p, _, err := encoded(t, coding)
	return p, coding, err
}

// numeric returns how the cells of a numeric column become coordinates.
func numeric(cells []float64) neighbour.Column {
	sum := 0.
	n := 0.
	for _, v := range cells {
		if v-v == 0 { // neither NaN nor infinite
			sum += min(max(v, -unbounded), unbounded)
			n++
		}
	}
	return neighbour.Column{
		Lower:   -unbounded,
		Upper:   unbounded,
		Missing: sum / max(n, 1),
	}
}

// encoded returns the coordinates of the records that have a class, and their rows.
func encoded(
	t *dataset.Table,
	coding []neighbour.Column,
) (neighbour.Points, []int, error) {
	last := len(coding)
	cells := make([]neighbour.Cells, last)
	for j := range cells {
		cells[j] = neighbour.Cells{
			Numbers: t.Float(j),
			Codes:   t.Codes(j),
		}
	}
	p := neighbour.Encode(coding, cells, 0, t.Len())
	var known []int
	for i, c := range t.Codes(last) {
		if c >= 0 && int(c) < len(t.Schema().Columns[last].Categories) {
			known = append(known, i)
			p.Class[i] = c
		}
	}
	if len(known) == 0 {
		return neighbour.Points{}, nil, ErrRecords
	}
	if len(known) < t.Len() {
		p = p.Subset(known)
	}
	return p, known, nil
}

// unbounded is a limit that every real measurement keeps, small enough for squares to be finite.
const unbounded = 1e100
