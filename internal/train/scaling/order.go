package scaling

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// Two outer quantiles, or the smallest and the largest number, and the median of a public column are found digit by digit, by counts: a float64 is
// an integer of 64 bits in the same order.
const (
	orderBits = 12 // of a digit
	keyBits   = 64
)

// rankSearch is the state of the search for three numbers of a column: the digits of their keys so far, and the
// number of values with the same digits below each.
type rankSearch struct {
	prefix [3]uint64
	rank   [3]int64
}

// valueOf returns a number whose digits are known.
func (p rankSearch) valueOf(i int) float64 {
	k := p.prefix[i]
	if k>>(keyBits-1) == 1 {
		return math.Float64frombits(k &^ (1 << (keyBits - 1)))
	}
	return math.Float64frombits(^k)
}

// orderKey returns the key of a number: keys are in the order of numbers, and -0 is 0.
func orderKey(x float64) uint64 {
	b := math.Float64bits(x + 0)
	if b>>(keyBits-1) == 1 {
		return ^b
	}
	return b | 1<<(keyBits-1)
}

// orderStatistic counts, for each of some columns, the finite numbers whose keys start with the digits of a
// place, by their next digit.
type orderStatistic struct {
	Columns  []int
	Prefixes [][3]uint64
	Known    int // bits of the prefixes
}

// digitBits returns the bits of the next digit.
func (x orderStatistic) digitBits() int {
	return min(orderBits, keyBits-x.Known)
}

// New implements [mechanism.Statistic].
func (x orderStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return &orderPass{
		x:      x,
		counts: m.NewPublicCounts(3*len(x.Columns), 1<<x.digitBits()),
	}
}

type orderPass struct {
	x      orderStatistic
	counts *mechanism.PublicCounts
	floats []float64
}

func (p *orderPass) Add(b mechanism.Block) {
	p.floats = resizeBuffer(p.floats, b.Len())
	rest := uint(keyBits - p.x.Known)
	next := rest - uint(p.x.digitBits())
	for i, j := range p.x.Columns {
		for _, v := range b.Float(j, p.floats) {
			if v-v != 0 { // NaN or infinite
				continue
			}
			key := orderKey(v)
			for k, prefix := range p.x.Prefixes[i] {
				if key>>rest == prefix { // a shift by 64 is 0
					p.counts.Add(3*i+k, int(key>>next&(1<<p.x.digitBits()-1)))
				}
			}
		}
	}
}

func (p *orderPass) Cells() mechanism.Cells {
	return p.counts.Cells()
}

// orderOf finds three finite numbers of each column, and the number of finite numbers: the one that a share of tail is below,
// the lower median and the one that a share of tail is above. With a tail of 0 the outer ones are the smallest and the largest.
func orderOf(
	ctx context.Context,
	m mechanism.Maker,
	r mechanism.Records,
	columns []int,
	tail float64,
) ([]rankSearch, []int64, error) {
	places := make([]rankSearch, len(columns))
	numbers := make([]int64, len(columns))
	for known := 0; known < keyBits; {
		x := orderStatistic{Columns: columns, Known: known}
		for _, p := range places {
			x.Prefixes = append(x.Prefixes, p.prefix)
		}
		pass, err := mechanism.SumFor[*orderPass](ctx, m, r, x)
		if err != nil {
			return nil, nil, err
		}
		counts, err := pass.counts.Exact()
		if err != nil {
			return nil, nil, err
		}
		bins := 1 << x.digitBits()
		for i := range places {
			p := &places[i]
			if known == 0 {
				for _, c := range counts.Value()[3*i*bins : (3*i+1)*bins] {
					numbers[i] += c
				}
				outer := int64(tail * float64(numbers[i]))
				p.rank = [3]int64{outer, (numbers[i] - 1) / 2, numbers[i] - 1 - outer}
			}
			for k := range p.prefix {
				p.takeDigit(
					k,
					counts.Value()[(3*i+k)*bins:(3*i+k+1)*bins],
					x.digitBits(),
				)
			}
		}
		known += x.digitBits()
	}
	return places, numbers, nil
}

// takeDigit takes the digit in which the number of a rank is.
func (p *rankSearch) takeDigit(k int, counts []int64, bits int) {
	digit := 0
	for digit < len(counts)-1 && p.rank[k] >= counts[digit] {
		p.rank[k] -= counts[digit]
		digit++
	}
	p.prefix[k] = p.prefix[k]<<bits | uint64(digit)
}
