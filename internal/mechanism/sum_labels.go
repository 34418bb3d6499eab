package mechanism

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/numeric/gram"
)

// The accumulators of runs that protect the target only: the features of every record are public, its label is not
// ([budget.SubstitutePrivateColumns] with a private target). That the rows are made of public columns is the caller's
// part. The proof is in docs/proofs/private-target.md, "One vector of the labels is enough".

// A PublicGram accumulates the second moments of rows of public columns, without a limit on their norm. They are the
// same on all neighbouring tables, so they are exact.
type PublicGram struct {
	rows    *Gram
	longest [1]int64 // largest squared norm of a row, in gramUnit
	norms   []uint64
}

// NewPublicGram returns an empty accumulator for rows of p entries.
func (m Maker) NewPublicGram(p int) *PublicGram {
	return &PublicGram{rows: &Gram{
		p:        p,
		limit:    math.MaxUint64,
		relation: m.Relation(),
		sums:     make([]int64, gram.Len(p)),
	}}
}

// Add adds a block of records. columns holds one slice per entry and one fixed-point number in [-FixedOne, FixedOne]
// per record.
func (g *PublicGram) Add(columns [][]int16) {
	g.rows.Add(columns)
	g.longest[0] = max(g.longest[0], longestRow(columns, &g.norms))
}

// longestRow returns the largest squared norm of a row. norms is memory that calls share.
func longestRow(columns [][]int16, norms *[]uint64) int64 {
	n := len(columns[0])
	if cap(*norms) < n {
		*norms = make([]uint64, n)
	}
	squares := (*norms)[:n]
	clear(squares)
	for _, column := range columns {
		for i, v := range column {
			squares[i] += uint64(int64(v) * int64(v))
		}
	}
	longest := uint64(0)
	for _, s := range squares {
		longest = max(longest, s)
	}
	return int64(longest)
}

// Cells are those that [PublicGram.Add] adds to.
func (g *PublicGram) Cells() Cells {
	return Join(g.rows.Cells(), maxCells(g.longest[:]))
}

// Exact returns the sum of z z^T, packed by rows of the upper triangle, and the largest norm of a row, in the measure of
// the rows. It returns [ErrRelation] unless only private columns may change.
func (g *PublicGram) Exact() (moments Public[[]float64], longest Public[float64], err error) {
	if err := publicRows(g.rows.relation); err != nil {
		return Public[[]float64]{}, Public[float64]{}, err
	}
	return Public[[]float64]{toFloats(g.rows.sums, gramUnit)},
		Public[float64]{math.Sqrt(float64(g.longest[0])) / FixedOne}, nil
}

// publicRows returns [ErrRelation] for a relation without public columns.
func publicRows(r budget.Relation) error {
	if r != budget.SubstitutePrivateColumns {
		return fmt.Errorf("%w: rows of public columns need %v, the run has %v", ErrRelation,
			budget.SubstitutePrivateColumns, r)
	}
	return nil
}

// A PublicCross accumulates the sum of x g over records: x a row of public columns and g a number that public columns
// and released values decide. It is the same on all neighbouring tables, so it is exact.
type PublicCross struct {
	relation budget.Relation
	g        []int16
	sums     []int64
}

// NewPublicCross returns an empty accumulator for rows of p entries.
func (m Maker) NewPublicCross(p int) *PublicCross {
	return &PublicCross{
		relation: m.Relation(),
		sums:     make([]int64, p),
	}
}

// Add adds a block of records. columns holds one slice per entry and one fixed-point number in [-FixedOne, FixedOne]
// per record, g one number in [-1, 1] per record, which is rounded to the grid of the rows.
func (c *PublicCross) Add(columns [][]int16, g []float64) {
	if cap(c.g) < len(g) {
		c.g = make([]int16, len(g))
	}
	grid := c.g[:len(g)]
	for i, v := range g {
		grid[i] = int16(math.Round(min(max(v, -1), 1) * FixedOne))
	}
	for j, column := range columns {
		c.sums[j] += gram.Dot(column, grid)
	}
}

// Cells are those that [PublicCross.Add] adds to.
func (c *PublicCross) Cells() Cells {
	return sumCells(c.sums)
}

// Exact returns the sums. It returns [ErrRelation] unless only private columns may change.
func (c *PublicCross) Exact() (Public[[]float64], error) {
	if err := publicRows(c.relation); err != nil {
		return Public[[]float64]{}, err
	}
	return Public[[]float64]{toFloats(c.sums, gramUnit)}, nil
}

// A LabelSums accumulates, over records of a row z of public columns and a private label, the sum of z y for labels
// that are numbers y, or for each class the sum of z over its records. Rows have no limit: the largest norm among them
// is public, and the sensitivity follows it.
type LabelSums struct {
	relation budget.Relation
	classes  int // 0: the labels are numbers
	p        int
	sums     []int64  // by class
	longest  [1]int64 // largest squared norm of a row, in gramUnit
	norms    []uint64
	y        []int16
}

// NewLabelSums returns an empty accumulator for rows of p >= 1 entries and labels of that many classes, 0 for numbers.
// It panics for a single class: a record is in a class or not, which numbers express.
func (m Maker) NewLabelSums(p, classes int) *LabelSums {
	if p < 1 || classes < 0 || classes == 1 {
		panic("mechanism: LabelSums need an entry, and numbers or two classes")
	}
	return &LabelSums{
		relation: m.Relation(),
		classes:  classes,
		p:        p,
		sums:     make([]int64, p*max(classes, 1)),
	}
}

// AddNumbers adds a block of records whose labels are numbers. columns holds one slice per entry and one number of the
// grid 2^-14 per record, y one fixed-point number per record, which is clamped to [-FixedOne, FixedOne]. It panics if the
// slices differ in number or length.
func (s *LabelSums) AddNumbers(columns [][]int16, y []int16) {
	s.check(columns, len(y), s.classes == 0)
	s.y = clampFixed(s.y, y)
	for j, column := range columns {
		s.sums[j] += gram.Dot(column, s.y)
	}
}

// AddClasses is AddNumbers for labels that are classes; a code outside [0, classes) is no class.
func (s *LabelSums) AddClasses(columns [][]int16, codes []int32) {
	s.check(columns, len(codes), s.classes > 0)
	for j, column := range columns {
		for i, c := range codes {
			if uint(c) < uint(s.classes) {
				s.sums[int(c)*s.p+j] += int64(column[i])
			}
		}
	}
}

func (s *LabelSums) check(columns [][]int16, labels int, kind bool) {
	if !kind || len(columns) != s.p {
		panic("mechanism: a block of LabelSums has one slice an entry and labels of the planned kind")
	}
	for _, column := range columns {
		if len(column) != labels {
			panic("mechanism: a block of LabelSums has one label a record")
		}
	}
	s.longest[0] = max(s.longest[0], longestRow(columns, &s.norms))
}

// Cells are those that [LabelSums.AddNumbers] and [LabelSums.AddClasses] add to.
func (s *LabelSums) Cells() Cells {
	return Join(sumCells(s.sums), maxCells(s.longest[:]))
}

// Bound returns the sums, class by class, with their L2 sensitivity. It returns [ErrRelation] unless only private
// columns may change.
//
// The label of one record turns from y into y', and its row z stays. With R the largest |z|, a public number:
//
//   - Numbers in [-1, 1]: the sum moves by (y'-y) z, at most 2 R, attained by the longest row with y = -1 and y' = 1.
//   - Classes c and c': the sum of c loses z and that of c' gains it, in length sqrt2 |z| <= sqrt2 R, attained by the
//     longest row. If one of the two is no class, a single sum moves, by |z|.
//
// All other records keep row and label. R is at least one unit of the grid, for tables whose rows are all 0.
func (s *LabelSums) Bound() (Bounded[Vector], error) {
	if err := publicRows(s.relation); err != nil {
		return Bounded[Vector]{}, err
	}
	r := math.Sqrt(float64(max(s.longest[0], 1)))
	values := append(Vector(nil), s.sums...)
	if s.classes == 0 {
		return Bounded[Vector]{values, L2, roundUp(2 * r * FixedOne), gramUnit, StatLabelSums}, nil
	}
	return Bounded[Vector]{values, L2, roundUp(math.Sqrt2 * r), 1. / FixedOne, StatLabelSums}, nil
}

// StatLabelSums is the statistic of [LabelSums.Bound].
const StatLabelSums budget.Statistic = "label sums"
