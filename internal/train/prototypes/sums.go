package prototypes

import (
	"math"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// momentStatistic is the sum of z z^T over the records in a class, z their encoded rows with the
// constant entry 1.
type momentStatistic struct {
	Columns []dataset.Column
	Ranges  []scaling.Range
}

// New implements [mechanism.Statistic].
func (x momentStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	f := frameOf(x.Columns, x.Ranges)
	return &momentPass{newEncoded(f), m.NewGram(f.slotCount()+1, f.enc.NormLimit(1))}
}

type momentPass struct {
	rows *encoded
	gram *mechanism.Gram
}

func (p *momentPass) Add(b mechanism.Block) {
	p.rows.encodeBlock(b.Block, mechanism.FixedOne)
	p.gram.Add(p.rows.x)
}

func (p *momentPass) Cells() mechanism.Cells {
	return p.gram.Cells()
}

// blockRows is the number of records per block.
const blockRows = 1024

// spreadStatistic is the sum of the squared norms of whitened rows, without their constant, and half the sum of
// their squared shortening factors: f^2 |W x|^2 and f^2/2. The quotient of the two gives a mean of |W x|^2; the
// second one, about half the number of records, is the reference for other sums of shortened rows.
type spreadStatistic struct {
	Of  *whitened
	One float64
}

// State implements [mechanism.Stateful].
func (x spreadStatistic) State() mechanism.State {
	return x.Of
}

// BlockRows is the number of records of a block.
func (spreadStatistic) BlockRows() int {
	return blockRows
}

// New implements [mechanism.Statistic].
func (x spreadStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return &spreadPass{
		spreadStatistic: x,
		sums:            m.NewSums([]float64{0, 0}, []float64{1, .5}),
	}
}

type spreadPass struct {
	spreadStatistic
	sums   *mechanism.Sums
	values [2][]float64
}

// Add adds squares of integers in grid units, which floats hold exactly.
func (p *spreadPass) Add(b mechanism.Block) {
	b.Kept.(*rowsOf).eachRow(b.Block, func(rows [][]int16, codes []int32) {
		d := len(rows) - 1
		for k := range p.values {
			p.values[k] = resizeBuffer(p.values[k], len(codes))
			clear(p.values[k])
		}
		norms := p.values[0]
		factors := p.values[1]
		for _, column := range rows[:d] {
			for i, v := range column {
				norms[i] += float64(int64(v) * int64(v))
			}
		}
		for i, v := range rows[d] {
			norms[i] /= mechanism.FixedOne * mechanism.FixedOne
			factors[i] = square(float64(v)/mechanism.FixedOne/p.One) / 2
		}
		p.sums.Add(p.values[:])
	})
}

func (p *spreadPass) Cells() mechanism.Cells {
	return p.sums.Cells()
}

// cellStatistic is the sum of the whitened rows in every cell: a record belongs to the cell of the nearest
// prototype of its class. Its weights are 1 there and 0 elsewhere, so their norm is 1.
type cellStatistic struct {
	Of *whitened
	At mixture
}

// State implements [mechanism.Stateful].
func (x cellStatistic) State() mechanism.State {
	return x.Of
}

// BlockRows is the number of records of a block.
func (cellStatistic) BlockRows() int {
	return blockRows
}

// New implements [mechanism.Statistic].
func (x cellStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return newOuterPass(m, x.At, len(x.At.Class), 1, nearestWeights)
}

// stepStatistic is the gradient of the sum of log probabilities of the records' classes with respect to the
// prototypes, up to the factor 2 gamma^2 and the terms in the prototypes themselves: the sum of w (x, 1).
type stepStatistic struct {
	Of   *whitened
	At   mixture
	Clip float64 // bound on the norm of a record's weights
}

// State implements [mechanism.Stateful].
func (x stepStatistic) State() mechanism.State {
	return x.Of
}

// BlockRows is the number of records of a block.
func (stepStatistic) BlockRows() int {
	return blockRows
}

// New implements [mechanism.Statistic].
func (x stepStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return newOuterPass(m, x.At, len(x.At.Class), x.Clip, recordWeights)
}

// A mixture holds the prototypes of a step. All of it is released.
type mixture struct {
	Centers [][]float64 // in the space of whitened rows
	Class   []int32     // of each prototype
	Gamma   float64     // gamma^2, the inverse width
	One     float64     // constant entry of an unshortened row
	Prior   []float64   // added to the logits; nil means 0
}

// fillLogits writes the logits of the rows of a block: the prior minus gamma^2 |x - z_j|^2, up to a term common to
// all prototypes. A row shortened by a factor f has logits f times as large: it is weighted as a whole,
// including its constant (docs/proofs/joint-gram.md, "Algorithm").
func (m mixture) fillLogits(out [][]float64, rows [][]int16) {
	d := len(rows) - 1
	weights := make([]float64, d+1)
	for j, z := range m.Centers {
		for k, v := range z {
			weights[k] = 2 * m.Gamma * v
		}
		weights[d] = m.logitAtOrigin(j) / m.One
		addProducts(out[j], rows, weights)
	}
}

// logitAtOrigin returns the logit of prototype j at the origin.
func (m mixture) logitAtOrigin(j int) float64 {
	at := -m.Gamma * dot(m.Centers[j], m.Centers[j])
	if m.Prior != nil {
		at += m.Prior[j]
	}
	return at
}

func dot(a, b []float64) float64 {
	sum := 0.
	for k, v := range a {
		sum += float64(v * b[k]) // the conversion forbids fusing
	}
	return sum
}

// nearestWeights replaces the logits of a record by 1 at the largest one of its class (ties go to the first)
// and 0 elsewhere.
func nearestWeights(logits []float64, class []int32, own int32) {
	best := -1
	for j, x := range logits {
		if class[j] == own && (best < 0 || x > logits[best]) {
			best = j
		}
	}
	clear(logits)
	if best >= 0 {
		logits[best] = 1
	}
}

// outerPass adds up the products of whitened rows with weights computed from logits.
type outerPass struct {
	outer  *mechanism.Outer
	at     mixture
	weigh  func(logits []float64, class []int32, own int32)
	rows   [][]int16
	logits [][]float64
	record []float64
}

func newOuterPass(
	m mechanism.Maker,
	at mixture,
	prototypes int,
	bound float64,
	weigh func([]float64, []int32, int32),
) *outerPass {
	slots := len(at.Centers[0])
	return &outerPass{
		outer:  m.NewOuter(prototypes, slots+1, bound, 1),
		at:     at,
		weigh:  weigh,
		rows:   make([][]int16, slots+1),
		logits: make([][]float64, prototypes),
		record: make([]float64, prototypes),
	}
}

func (p *outerPass) Add(b mechanism.Block) {
	b.Kept.(*rowsOf).eachRow(b.Block, func(rows [][]int16, codes []int32) {
		for k, column := range rows {
			p.rows[k] = append(p.rows[k][:0], column...)
		}
		p.outer.Clip(p.rows)
		for j := range p.logits {
			p.logits[j] = resizeBuffer(p.logits[j], len(codes))
		}
		p.at.fillLogits(p.logits, p.rows)
		for i, own := range codes {
			for j := range p.record {
				p.record[j] = p.logits[j][i]
			}
			p.weigh(p.record, p.at.Class, own)
			for j, w := range p.record {
				p.logits[j][i] = w
			}
		}
		p.outer.Add(p.rows, p.logits)
	})
}

func (p *outerPass) Cells() mechanism.Cells {
	return p.outer.Cells()
}

// splitSums splits a released sum of w (x, 1) into the sum of w x and the sum of w for every prototype.
func splitSums(
	values []float64,
	slots int,
	one float64,
) (sums [][]float64, weights []float64) {
	for ; len(values) > 0; values = values[slots+1:] {
		sums = append(sums, values[:slots:slots])
		weights = append(weights, values[slots]/one)
	}
	return sums, weights
}

// shortenTo limits the norm of z.
func shortenTo(z []float64, limit float64) {
	if n := math.Sqrt(dot(z, z)); n > limit {
		for k := range z {
			z[k] *= limit / n
		}
	}
}
