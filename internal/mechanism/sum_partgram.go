package mechanism

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/numeric/gram"
)

// A PartGram accumulates second moments where only the declared private columns
// of a record may change ([budget.SubstitutePrivateColumns]). A row is (u, z):
// u made of public columns, which may include the target and a constant, and z
// of private ones. z is limited to a public norm B *alone*, before it meets u:
// a limit on the whole row would let the private part decide the weight of the
// public one (docs/proofs/brc.md, "joint-gram with private columns").
//
// The sum of u u^T is then a function of public columns and is exact
// ([PartGram.Exact]). Only the sums of u z^T and z z^T are private; they are
// released as one vector ([PartGram.Bound]).
type PartGram struct {
	u, z     *Gram // u without a limit
	weights  []int // of the entries of u in the cross block
	relation budget.Relation

	cross   []int64  // by rows of u
	longest [1]int64 // largest sum of (weight u)^2 of a record, in gramUnit
}

// The weights of the entries of z z^T in the released vector: 99/70 is just
// above sqrt2, so that the Euclidean length of the weighted upper triangle is at
// most squareWeight times the Frobenius length of the matrix, and almost equal.
const (
	diagonalWeight = 70
	offWeight      = 99
	squareWeight   = offWeight / math.Sqrt2
)

// MaxCrossWeight is the largest weight of an entry of u.
const MaxCrossWeight = 1 << 10

// CrossWeight returns the weight that makes entries of the cross block count
// times as much as those of z z^T in the released vector.
func CrossWeight(times float64) int {
	return int(math.Round(min(max(times*diagonalWeight, 1), MaxCrossWeight)))
}

// NewPartGram returns an empty accumulator: one weight in [1, MaxCrossWeight]
// for every entry of u, by which its cross moments are multiplied before noise
// is added, and rows z of p entries and norm at most sqrt(limit2). It panics for
// another weight.
func (m Maker) NewPartGram(weights []int, p int, limit2 float64) *PartGram {
	for _, w := range weights {
		if w < 1 || w > MaxCrossWeight {
			panic("mechanism: the weight of a cross moment is out of range")
		}
	}
	unlimited := &Gram{
		p:        len(weights),
		limit:    math.MaxUint64,
		relation: m.Relation(),
		sums:     make([]int64, gram.Len(len(weights))),
	}
	return &PartGram{
		u:        unlimited,
		z:        m.NewGram(p, limit2),
		weights:  weights,
		relation: m.Relation(),
		cross:    make([]int64, len(weights)*p),
	}
}

// Add limits z in place and adds a block of records. u and z hold one slice per entry
// and one fixed-point number in [-FixedOne, FixedOne] per record. Add panics if the
// slices differ in number or length.
func (g *PartGram) Add(u, z [][]int16) {
	if len(u) != g.u.p || len(z) != g.z.p {
		panic("mechanism: a PartGram block has one slice per entry")
	}
	if len(u) > 0 && len(z) > 0 && len(u[0]) != len(z[0]) {
		panic("mechanism: the parts of a PartGram block differ in length")
	}
	if len(u) > 0 {
		g.u.Add(u)
		g.updateLongest(u)
	}
	if len(z) == 0 {
		return
	}
	g.z.Add(z)
	for i, a := range u {
		row := g.cross[i*len(z):]
		for j, b := range z {
			row[j] += gram.Dot(a, b)
		}
	}
}

// updateLongest updates the longest weighted public part.
func (g *PartGram) updateLongest(u [][]int16) {
	for i := range u[0] {
		sum := int64(0)
		for k, column := range u {
			x := int64(column[i]) * int64(g.weights[k])
			sum += x * x
		}
		g.longest[0] = max(g.longest[0], sum)
	}
}

// Cells are those that [PartGram.Add] adds to.
func (g *PartGram) Cells() Cells {
	return Join(g.u.Cells(), g.z.Cells(), sumCells(g.cross), maxCells(g.longest[:]))
}

// Exact returns the sum of u u^T, packed by rows of the upper triangle, in its
// own measure. It is a function of columns that are public under this relation;
// under any other it returns [ErrRelation].
func (g *PartGram) Exact() (Public[[]float64], error) {
	if err := g.checkRelation(); err != nil {
		return Public[[]float64]{}, err
	}
	return Public[[]float64]{toFloats(g.u.sums, gramUnit)}, nil
}

func (g *PartGram) checkRelation() error {
	if g.relation != budget.SubstitutePrivateColumns {
		return fmt.Errorf("%w: blocks of public columns need %v, the run has %v", ErrRelation,
			budget.SubstitutePrivateColumns, g.relation)
	}
	return nil
}

// Bound returns the weighted entries of u z^T, by rows, and then those of the
// upper triangle of z z^T, with their L2 sensitivity; [PartGram.Unpack] undoes
// the weights. It returns [ErrRelation] unless only private columns may change.
//
// The private part of one record turns from z into z', its u stays. With M the
// diagonal matrix of the weights, the cross block moves by M u (z-z')^T, of
// squared length |M u|^2 |z-z'|^2, and the private block by z z^T - z' z'^T, of
// squared Frobenius length |z|^4 + |z'|^4 - 2 (z.z')^2, each at most 4 R^2 B^2
// and 2 B^4, R the largest |M u| (a public number). Both at once: with
// A = squareWeight, R^2 = k A^2 B^2 and s = z.z' the sum is at most
//
//	A^2 (|z|^4 + |z'|^4 - 2 s^2 + k B^2 (|z|^2 + |z'|^2 - 2 s)).
//
// In s this is a parabola with its top, k^2 B^4/2, at s = -k B^2/2. So for k <= 2
// it is at most A^2 B^4 (2 + 2k + k^2/2) = A^2 B^4 (k+2)^2/2, attained by
// |z| = |z'| = B at that s. For k > 2 the top is out of reach, s = -|z||z'| is
// best, and with a = |z|, b = |z'| the bracket is (a^2-b^2)^2 + k B^2 (a+b)^2,
// whose derivative in the smaller of a and b has the sign of
// k B^2 - 2 b (a-b) >= k B^2 - B^2/2 > 0 and which also grows with the larger
// one; so it is at most 4 k B^4, attained by z' = -z. The sensitivity is
//
//	A B^2 (k+2)/sqrt2  for k <= 2,   2 R B  for k > 2.
func (g *PartGram) Bound() (Bounded[Vector], error) {
	if err := g.checkRelation(); err != nil {
		return Bounded[Vector]{}, err
	}
	square := squareWeight * float64(g.z.limit) // A B^2
	r2 := float64(g.longest[0])
	k := r2 / squareWeight / square
	sens := square * (k + 2) / math.Sqrt2
	if k > 2 {
		sens = 2 * math.Sqrt(r2*float64(g.z.limit))
	}
	out := make(Vector, 0, len(g.cross)+len(g.z.sums))
	for i, w := range g.weights {
		for _, v := range g.cross[i*g.z.p : (i+1)*g.z.p] {
			out = append(out, clampedProduct(v, w))
		}
	}
	eachPacked(g.z.p, func(k, w int) {
		out = append(out, clampedProduct(g.z.sums[k], w))
	})
	return Bounded[Vector]{out, L2, roundUp(sens), gramUnit, StatPrivateBlocks}, nil
}

// clampedProduct returns v w, v first clamped so that the product cannot wrap. A
// clamp moves no two values apart.
func clampedProduct(v int64, w int) int64 {
	most := int64(1<<62) / int64(w)
	return min(max(v, -most), most) * int64(w)
}

// eachPacked calls f with the position and the weight of every entry of a packed
// symmetric matrix.
func eachPacked(p int, f func(k, w int)) {
	for i, k := 0, 0; i < p; i++ {
		for j := i; j < p; j, k = j+1, k+1 {
			if i == j {
				f(k, diagonalWeight)
			} else {
				f(k, offWeight)
			}
		}
	}
}

// Unpack turns the released vector, and with it the standard deviation sigma of
// its noise, into the noisy sums of u z^T, by rows, and of z z^T, packed, with
// the standard deviations of the noise in a row of the first and in an entry on
// the diagonal of the second (off it 70/99 of that).
func (g *PartGram) Unpack(
	released []float64,
	sigma float64,
) (cross, square, crossSigma []float64, squareSigma float64) {
	n := len(g.cross)
	cross = make([]float64, n)
	square = make([]float64, len(g.z.sums))
	crossSigma = make([]float64, len(g.weights))
	for i, w := range g.weights {
		crossSigma[i] = sigma / float64(w)
		for j := i * g.z.p; j < (i+1)*g.z.p; j++ {
			cross[j] = released[j] / float64(w)
		}
	}
	eachPacked(g.z.p, func(k, w int) {
		square[k] = released[n+k] / float64(w)
	})
	return cross, square, crossSigma, sigma / diagonalWeight
}

// StatPrivateBlocks is the statistic of [PartGram.Bound].
const StatPrivateBlocks budget.Statistic = "private blocks"
