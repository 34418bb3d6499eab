package selection

import (
	"context"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// The settings of [ScoreCorrelation], public constants. On the data sets
// of the table of [SIS], with exact ranges, gains of 2 and 3 were better than 1 and
// 1.5 at small budgets, and 3 was worse than 2 at large ones; shares from .05 to .2
// made no difference.
const (
	centerShare = .1  // of the selection's budget, for the centre of the target
	rangeGain   = 2   // a range is narrowed to 1/rangeGain of its width
	centers     = 129 // points among which the centre is chosen
)

// targetProducts sums the products of the candidates with the target.
func (x SIS) targetProducts(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (*mechanism.Products, error) {
	last := len(f.Columns)
	columns := slices.Concat(f.Columns, []dataset.Column{f.Target})
	ranges := f.Ranges
	if x.Score == ScoreCorrelation {
		ranges = make([]scaling.Range, last+1)
		for j, r := range f.Ranges[:last] {
			ranges[j] = halfRange(r, r.Center())
		}
		var err error
		if ranges[last], err = releaseCentre(ctx, s, f.Target, f.Ranges[last],
			records.Columns([]int{last})); err != nil {
			return nil, err
		}
	}
	return sumProducts(ctx, s, columns, ranges, records, last)
}

// halfRange returns the part of a range that is mapped to [-1, 1], around a centre.
func halfRange(r scaling.Range, center float64) scaling.Range {
	return scaling.Range{
		Lower: center - r.Half()/rangeGain,
		Upper: center + r.Half()/rangeGain,
	}
}

// releaseCentre releases the range of the target around the centre at which its clamped
// values balance. The score of a centre is the negative absolute value of their sum, and
// a record moves the sum by at most 1.
func releaseCentre(
	ctx context.Context,
	s *mechanism.Session,
	target dataset.Column,
	r scaling.Range,
	records mechanism.Records,
) (scaling.Range, error) {
	columns := make([]dataset.Column, centers)
	ranges := make([]scaling.Range, centers)
	same := make([]int, centers)
	all := make([]int, centers)
	for i := range centers {
		at := 2*float64(i)/(centers-1) - 1 // from -1 to 1
		columns[i], ranges[i], all[i] = target, halfRange(r, r.Center()+at*r.Half()), i
	}
	sums, err := sumProducts(ctx, s, columns, ranges, records.Columns(same), centers)
	if err != nil {
		return scaling.Range{}, err
	}
	choice, err := mechanism.Choose(s, "center", 0, sums.Balance(all))
	if err != nil {
		return scaling.Range{}, err
	}
	return ranges[choice.Value()], nil
}

// maxBlockCells bounds the cells of a block of many columns, which take 2 MiB encoded.
const maxBlockCells = 1 << 20

// mostBlockRows bounds the records of a block.
const mostBlockRows = 1024

// sumProducts sums, over records, the products of each of the first candidates
// columns with the numeric column after them, or with 1 if there is no such column.
func sumProducts(
	ctx context.Context,
	s *mechanism.Session,
	columns []dataset.Column,
	ranges []scaling.Range,
	records mechanism.Records,
	candidates int,
) (*mechanism.Products, error) {
	pass, err := mechanism.Sum[*productPass](
		ctx,
		s,
		records,
		productStatistic{columns, ranges, candidates},
	)
	if err != nil {
		return nil, err
	}
	return pass.products, nil
}

// productStatistic is the statistic of sumProducts.
type productStatistic struct {
	Columns    []dataset.Column
	Ranges     []scaling.Range
	Candidates int
}

// BlockRows is the number of records of a block.
func (x productStatistic) BlockRows() int {
	return rowsOfBlocks(len(x.Columns))
}

// New implements [mechanism.Statistic].
func (x productStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	p := &productPass{
		levels:   make([]int, x.Candidates),
		columns:  make([][]int16, x.Candidates),
		codes:    make([][]int32, x.Candidates),
		gathered: make([][]int32, x.Candidates),
	}
	var columns []dataset.Column
	var ranges []scaling.Range
	for j, c := range x.Columns {
		if c.Kind == dataset.Category {
			p.levels[j] = levelsOf(c)
			continue
		}
		r := x.Ranges[j]
		c.Indicator, r.HasMedian = false, false // a missing value counts for nothing
		p.numeric = append(p.numeric, j)
		columns = append(columns, c)
		ranges = append(ranges, r)
	}
	p.encoder = scaling.NewEncoder(columns, ranges)
	p.encoded = make([][]int16, len(columns))
	p.products = m.NewProducts(p.levels)
	return p
}

// levelsOf returns the number of values of a category column, at least 1. Unlisted
// values count as one more value if the column keeps them, and are ignored otherwise.
func levelsOf(c dataset.Column) int {
	if c.Other {
		return len(c.Categories) + 1
	}
	return max(len(c.Categories), 1)
}

type productPass struct {
	products *mechanism.Products
	levels   []int // of each candidate; 0 for a numeric one
	numeric  []int // the numeric columns
	encoder  *scaling.Encoder
	scratch  scaling.Scratch
	encoded  [][]int16 // of the numeric columns
	columns  [][]int16 // the same, by candidate
	codes    [][]int32 // by candidate
	gathered [][]int32 // room for codes that are not consecutive
	ones     []int16
}

func (p *productPass) Add(b mechanism.Block) {
	n := b.Len()
	for i := range p.encoded {
		p.encoded[i] = withLength(p.encoded[i], n)
	}
	p.encoder.Encode(b.Columns(p.numeric), p.encoded, &p.scratch)
	next := 0
	for j, levels := range p.levels {
		if levels > 0 {
			p.gathered[j] = withLength(p.gathered[j], n)
			p.codes[j] = b.Codes(j, p.gathered[j])
			continue
		}
		p.columns[j] = p.encoded[next]
		next++
	}
	if next < len(p.encoded) {
		p.products.Add(p.columns, p.codes, p.encoded[next])
		return
	}
	for len(p.ones) < n {
		p.ones = append(p.ones, mechanism.FixedOne)
	}
	p.products.Add(p.columns, p.codes, p.ones[:n])
}

func (p *productPass) Cells() mechanism.Cells {
	return p.products.Cells()
}
