package pipeline

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
	"github.com/dptrain/dptrain/regression"
)

// noCell is the cell of a record that is counted nowhere.
const noCell = math.MaxUint16

// releaseCells releases how many records of a view are in each of a number of cells. The
// cell of a record is a function of its class (one past the list where it is in none) and
// of what a released model predicts for it, or noCell. So a record is in one cell at
// most, which depends on that record and on what was released: the L2 sensitivity is that
// of a histogram of one column, 1 for a record added or removed.
func releaseCells(ctx context.Context, s *mechanism.Session, leaf string, v dataset.View, m regression.Model, cells int, cell func(class int, prediction float64) int) ([]float64, error) {
	columns := v.Schema().Columns
	last := len(columns) - 1
	prediction, err := m.Predict(nil, rowsOfColumns(v, columns[:last]))
	if err != nil {
		return nil, err
	}
	pass, err := dataset.Reduce(ctx, v, 0, func() *cellsPass {
		return &cellsPass{target: last, prediction: prediction, cell: cell, cells: s.NewHistogram([]int{1}, cells)}
	})
	if err != nil {
		return nil, err
	}
	counts, err := mechanism.Gaussian(s, leaf, pass.cells.Bound())
	if err != nil {
		return nil, err
	}
	return counts.Value(), nil
}

// cellsPass counts records by cell.
type cellsPass struct {
	target     int
	prediction []float64
	cell       func(class int, prediction float64) int
	cells      *mechanism.Histogram
	codes      []int32
	bins       []uint16
}

func (p *cellsPass) Add(b dataset.Block) {
	n := b.Len()
	if cap(p.bins) < n {
		p.bins, p.codes = make([]uint16, n), make([]int32, n)
	}
	p.bins = p.bins[:n]
	prediction := p.prediction[b.Start():]
	for i, code := range b.Codes(p.target, p.codes[:n]) {
		p.bins[i] = uint16(p.cell(int(code), prediction[i]))
	}
	p.cells.Add([][]uint16{p.bins})
}

func (p *cellsPass) Merge(o *cellsPass) { p.cells.Merge(o.cells) }
