package targetencoding

import (
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
)

// encodingStatistic adds up the target by the values of some columns. With u = (y - Center)/Half clamped to
// [-1, 1], or -1 and +1 for two classes, a record adds 1/2 to the count and u to the sum of its value in every
// column; see [mechanism.ValueSums] for the sensitivity. A record without a target adds 0.
type encodingStatistic struct {
	Columns, Levels []int // columns, and their numbers of values including the one for other cells
	Target          int
	Classes         bool
	Center, Half    float64 // of a numeric target
}

// New implements [mechanism.Statistic].
func (x encodingStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return &encodingPass{
		of:     x,
		sums:   m.NewValueSums(x.Levels),
		values: make([][]int32, len(x.Columns)),
	}
}

type encodingPass struct {
	of     encodingStatistic
	sums   *mechanism.ValueSums
	values [][]int32
	target []float64
	codes  []int32
}

func (p *encodingPass) Add(b mechanism.Block) {
	n := b.Len()
	p.codes = slices.Grow(p.codes[:0], n)[:n]
	p.target = slices.Grow(p.target[:0], n)[:n]
	for i, j := range p.of.Columns {
		p.values[i] = p.values[i][:0]
		last := int32(p.of.Levels[i] - 1)
		for _, code := range b.Codes(j, p.codes) {
			if code < 0 || code > last {
				code = last
			}
			p.values[i] = append(p.values[i], code)
		}
	}
	if p.of.Classes {
		signs := [...]float64{-1, 1}
		for i, class := range b.Codes(p.of.Target, p.codes) {
			p.target[i] = math.NaN()
			if class >= 0 && int(class) < len(signs) {
				p.target[i] = signs[class]
			}
		}
	} else {
		for i, y := range b.Float(p.of.Target, p.target) {
			p.target[i] = (y - p.of.Center) / p.of.Half
		}
	}
	p.sums.Add(p.values, p.target)
}

func (p *encodingPass) Cells() mechanism.Cells {
	return p.sums.Cells()
}

// releaseEncoding releases the sums by value of the given columns and reads a number for each value.
func releaseEncoding(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
	coded []int,
) ([]encodedNumbers, error) {
	last := len(d.Columns) - 1
	x := encodingStatistic{
		Columns: coded,
		Target:  last,
		Classes: d.Columns[last].Kind == dataset.Category,
		Half:    1,
	}
	if !x.Classes {
		x.Center, x.Half = d.Ranges[last].Center(), d.Ranges[last].Half()
	}
	for _, j := range coded {
		x.Levels = append(x.Levels, len(d.Columns[j].Categories)+1)
	}
	pass, err := mechanism.Sum[*encodingPass](ctx, s, d.Records, x)
	if err != nil {
		return nil, err
	}
	released, err := mechanism.Gaussian(s, valuesLeaf, pass.sums.Bound())
	if err != nil {
		return nil, err
	}
	out := make([]encodedNumbers, len(coded))
	for i := range coded {
		counts, sums := pass.sums.Read(i, released.Value())
		out[i] = encodeColumn(counts, sums, s.Scale(valuesLeaf), x.Center, x.Half)
	}
	return out, nil
}
