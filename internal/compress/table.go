// Package compress makes small classifiers by nearest neighbours from public tables: what `dptrain
// compress --public` does. The mathematics is that of package neighbour.
//
// Nothing here is private. The model holds records, or vectors that started as records and stay
// near them; it has no guarantee, and says so. A run enters no ledger. It is for data that are
// public, or that never leave with the model.
package compress

import (
	"errors"
	"math"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/neighbour"
)

// Errors of tables.
var (
	// ErrRecords is returned for a table without a record that has a class.
	ErrRecords = errors.New("no record has a class and can be learned from")
	// ErrColumns is returned for a table without a column beside the classes.
	ErrColumns = errors.New("there is no column to learn from")
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
	codes := make([]neighbour.Column, last)
	cells := make([]neighbour.Cells, last)
	for j, c := range columns[:last] {
		if c.Kind == dataset.Category {
			codes[j], cells[j] = neighbour.Column{Levels: max(1, len(c.Categories))}, neighbour.Cells{Codes: t.Codes(j)}
			continue
		}
		codes[j], cells[j] = numeric(t.Float(j)), neighbour.Cells{Numbers: t.Float(j)}
	}
	p := neighbour.Encode(codes, cells, 0, t.Len())
	classes, labels := len(columns[last].Categories), t.Codes(last)
	var known []int
	for i, c := range labels {
		if c >= 0 && int(c) < classes {
			known = append(known, i)
			p.Class[i] = c
		}
	}
	switch {
	case len(known) == 0:
		return neighbour.Points{}, nil, ErrRecords
	case len(known) == t.Len():
		return p, codes, nil
	}
	return p.Subset(known), codes, nil
}

// numeric returns how the cells of a numeric column become coordinates.
func numeric(cells []float64) neighbour.Column {
	sum, n := 0., 0.
	for _, v := range cells {
		if !math.IsNaN(v - v) {
			sum += min(max(v, -unbounded), unbounded)
			n++
		}
	}
	return neighbour.Column{Lower: -unbounded, Upper: unbounded, Missing: sum / max(n, 1)}
}

// unbounded is a limit that every real measurement keeps, small enough for squares to be finite.
const unbounded = 1e100
