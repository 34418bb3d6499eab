package pipeline

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// noCell is the cell of a record that is counted nowhere.
const noCell = math.MaxUint16

// A cellOf assigns a cell to a record, given its class (one past the list for records in no class) and the
// prediction of a released model, or noCell.
type cellOf interface {
	cell(class int, prediction float64) int
}

// cellStatistic counts records by cell. A record is in at most one cell, which depends only on that record and
// on releases: the L2 sensitivity is that of a histogram of one column, 1 for a record added or removed.
type cellStatistic struct {
	Model method.Predictor
	Cells int
	Of    cellOf
}

// New implements [mechanism.Statistic].
func (x cellStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return &cellsPass{
		x:     x,
		cells: m.NewHistogram([]int{1}, x.Cells),
	}
}

// releaseCells releases the number of records of a view in each cell.
func releaseCells(
	ctx context.Context,
	s *mechanism.Session,
	leaf string,
	v mechanism.Records,
	m regression.Model,
	cells int,
	of cellOf,
) ([]float64, error) {
	columns := v.Schema().Columns
	x := cellStatistic{method.NewPredictor(m, columns[:len(columns)-1]), cells, of}
	pass, err := mechanism.Sum[*cellsPass](ctx, s, v, x)
	if err != nil {
		return nil, err
	}
	counts, err := mechanism.Gaussian(s, leaf, pass.cells.Bound())
	if err != nil {
		return nil, err
	}
	return counts.Value(), nil
}

type cellsPass struct {
	x     cellStatistic
	cells *mechanism.Histogram
	codes []int32
	bins  []uint16

	prediction []float64
}

func (p *cellsPass) Add(b mechanism.Block) {
	n := b.Len()
	if cap(p.bins) < n {
		p.bins = make([]uint16, n)
		p.codes = make([]int32, n)
	}
	p.bins = p.bins[:n]
	p.prediction = p.x.Model.Predict(b.Block, p.prediction)
	for i, code := range b.Codes(len(p.x.Model.Features), p.codes[:n]) {
		p.bins[i] = uint16(p.x.Of.cell(int(code), p.prediction[i]))
	}
	p.cells.Add([][]uint16{p.bins})
}

func (p *cellsPass) Cells() mechanism.Cells {
	return p.cells.Cells()
}
