package vocabulary

import (
	"context"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// kindStatistic counts which cells of columns are numbers, text, or missing.
type kindStatistic struct{ Columns []int }

// kindCells are the cells of a column: numbers, text, missing.
const kindCells = 3

// New implements [mechanism.Statistic].
func (x kindStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return &kindPass{x, m.NewHistogram(slices.Repeat([]int{1}, len(x.Columns)), kindCells),
		make([][]uint16, len(x.Columns)), nil}
}

type kindPass struct {
	kindStatistic
	hist *mechanism.Histogram
	bins [][]uint16
	buf  []float64
}

func (p *kindPass) Add(b mechanism.Block) {
	if cap(p.buf) < b.Len() {
		p.buf = make([]float64, b.Len())
	}
	for i, j := range p.Columns {
		column := b.Float(j, p.buf)
		p.bins[i] = p.bins[i][:0]
		for _, x := range column {
			kind := uint16(0)
			if x != x {
				kind = 2
				if dataset.IsText(x) {
					kind = 1
				}
			}
			p.bins[i] = append(p.bins[i], kind)
		}
	}
	p.hist.Add(p.bins)
}

func (p *kindPass) Cells() mechanism.Cells {
	return p.hist.Cells()
}

// releaseKinds releases the kinds of cells of columns without declarations, and which of the columns contain text.
func releaseKinds(
	ctx context.Context,
	s *mechanism.Session,
	v mechanism.Records,
	columns []int,
) (kinds []stage.KindCount, words []int, err error) {
	acc, err := mechanism.Sum[*kindPass](ctx, s, v, kindStatistic{columns})
	if err != nil {
		return nil, nil, err
	}
	released, err := mechanism.Gaussian(s, kindsLeaf, acc.hist.Bound())
	if err != nil {
		return nil, nil, err
	}
	counts := released.Value()
	sigma := s.Scale(kindsLeaf)
	all := v.Schema().Columns
	for i, j := range columns {
		numbers := counts[i*kindCells]
		text := counts[i*kindCells+1]
		kinds = append(kinds, stage.KindCount{
			Column:  all[j].Name,
			Numbers: numbers,
			Text:    text,
			Absent:  counts[i*kindCells+2],
			Sigma:   sigma,
		})
		if text > numbers && text > kindDoubt*sigma {
			words = append(words, j)
		}
	}
	return kinds, words, nil
}
