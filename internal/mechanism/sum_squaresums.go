package mechanism

import (
	"math"
	"sort"

	"github.com/dptrain/dptrain/budget"
)

// The weights of the statistics of [SquareSums]. If t is centred near its mean, the
// sum and the count of t hardly matter for sums of squares around the mean, so they
// get little of the budget.
const (
	squareCountWeight    = .15
	squareSumWeight      = .25
	squareTargetWeight   = 1
	squareResidualWeight = 1
	squareNodeWeight     = .6
	squareMissingWeight  = .4
)

// The weights of the cells of [SquareSums]: of the cell of far records under
// add-remove, and of every cell under the other relations.
const (
	farCellWeight = .6
	anyCellWeight = .25
)

// CellGroups describes the cells that a [SquareSums] has in addition to its sums: one
// for records that are far out, and a number of groups of parts. A record in a part
// has |r| <= Reach, in [0, 1].
type CellGroups struct {
	Groups, Parts int
	Reach         float64
}

// Len returns the number of cells, 0 if there are no groups. Cell 0 is that of far
// records.
func (g CellGroups) Len() int {
	if g.Groups == 0 {
		return 0
	}
	return 1 + g.Groups*g.Parts
}

// Nodes are the levels at which a [SquareSums] counts residuals beyond their limit,
// in units of that limit: level 0 is 1, level j is 2^j, and the last one is Top, which
// no residual exceeds. Top below 1 counts as 1, for which there is level 0 only.
type Nodes struct{ Top float64 }

// topSlack prevents an extra level for a Top that exceeds a power of two only by a
// rounding error.
const topSlack = 1e-9

// Len returns the number of levels beyond level 0.
func (n Nodes) Len() int {
	if !(n.Top > 1) {
		return 0
	}
	return max(int(math.Ceil(math.Log2(n.Top)-topSlack)), 0)
}

// Level returns level j, 0 <= j <= Len, in units of the limit of residuals.
func (n Nodes) Level(j int) float64 {
	if j == 0 {
		return 1
	}
	return min(math.Ldexp(1, j), n.Top)
}

// SquareSums accumulates, over records with two numbers, such as a target t in units
// of its limit, clamped to [-1, 1], and a residual r in units of its own,
//
//	.15, .25 t, t^2, min(|r|, 1)^2, 0, .6 u     and     0, 0, 0, 0, .4, 0
//
// for a record without numbers, whose target cannot be read. The vector u divides
// a record with |r| > 1 between the two levels of [Nodes] around it, L_(j-1) < |r| <= L_j:
//
//	u_j = (r^2 - L_(j-1)^2)/(L_j^2 - L_(j-1)^2),     u_(j-1) = 1 - u_j,
//
// and level 0 is left out. So the sum of (L_j^2 - 1) u_j over all levels is r^2 - 1
// exactly, for every |r| in (1, Top]: the sums of squares of residuals that are clamped at
// any level are linear in the released numbers.
//
// A record may also be in a cell, to which it adds a weight, as it does to the whole
// group of the cell; r is clamped to [-reach, reach] in every cell but the first. A record
// with |r| > 1 adds the part 1 - u_1 that level 0 leaves out to the first cell, if there are
// cells. Every number is rounded toward zero to the grid of sums, so the sums are exact
// integers.
type SquareSums struct {
	relation budget.Relation
	groups   CellGroups
	nodes    Nodes
	squares  []float64 // of the levels of nodes, level 0 included
	sums     [5]int64  // count, sum of t, of t^2, of min(|r|, 1)^2, and missing; in grid units
	beyond   []int64   // by node, from level 1 on; in grid units
	far      [1]int64  // the first cell; in grid units
	cells    []int64   // records in the other cells; weighted when they are released
}

// NewSquareSums returns an empty accumulator. It panics if g has more cells than an
// uint16 can number or reaches beyond 1.
func (m Maker) NewSquareSums(n Nodes, g CellGroups) *SquareSums {
	if g.Len() < 0 || g.Len() >= NoSize || !(0 <= g.Reach && g.Reach <= 1) {
		panic("mechanism: the cells of sums of squares are too many, or reach beyond 1")
	}
	q := &SquareSums{
		relation: m.Relation(),
		groups:   g,
		nodes:    n,
		beyond:   make([]int64, n.Len()),
	}
	for j := range n.Len() + 1 {
		q.squares = append(q.squares, n.Level(j)*n.Level(j))
	}
	if cells := g.Len(); cells > 0 {
		q.cells = make([]int64, cells-1)
	}
	return q
}

// cellWeights returns the weights of the first cell and of the other cells, which are those of
// groups too, in grid units. Under add-remove a record in the first cell adds
// r^2 <= 1 and .6, one in any other r^2 <= reach^2 and w twice, with
// reach^4 + 2 w^2 = 1 + .6^2: the largest w that does not raise the sensitivity. Under the
// other relations a record may move between cells, and all weights are small.
func (q *SquareSums) cellWeights() (far, other int64) {
	if q.relation != budget.AddRemove {
		return toGrains(anyCellWeight), toGrains(anyCellWeight)
	}
	most := 1 + squareNodeWeight*squareNodeWeight
	reach2 := q.groups.Reach * q.groups.Reach
	return toGrains(farCellWeight), toGrains(math.Sqrt((most - reach2*reach2) / 2))
}

// toGrains returns a number of at most 1 in magnitude in grid units, toward zero.
func toGrains(x float64) int64 { return int64(x / sumUnit) }

// Add adds a block of records: t and r of each, and its cell, or [NoSize] for a record
// without a cell. A record whose t is NaN has no numbers and no cell; an r of NaN counts
// as 0, and one beyond the last level as that level. Add panics if the slices differ in
// length or a cell does not exist.
func (q *SquareSums) Add(t, r []float64, cell []uint16) {
	if len(t) != len(r) || len(t) != len(cell) {
		panic("mechanism: a block of sums of squares has two numbers and a cell per record")
	}
	for i, x := range t {
		if x != x {
			q.sums[4] += toGrains(squareMissingWeight)
			continue
		}
		x = min(max(x, -1), 1)
		q.sums[0] += toGrains(squareCountWeight)
		q.sums[1] += toGrains(squareSumWeight * x)
		q.sums[2] += toGrains(squareTargetWeight * (x * x))
		q.addResidual(math.Abs(r[i]), cell[i])
	}
}

// addResidual adds a residual of magnitude r and its record's cell.
func (q *SquareSums) addResidual(r float64, cell uint16) {
	switch {
	case cell != NoSize && cell > 0:
		q.cells[cell-1]++
		r = min(r, q.groups.Reach)
	case r > 1 && len(q.beyond) > 0:
		q.addBeyond(r)
		r = 1
	case cell == 0 && q.groups.Len() > 0:
		far, _ := q.cellWeights()
		q.far[0] += far
	}
	if r == r {
		r = min(r, 1)
		q.sums[3] += toGrains(squareResidualWeight * (r * r))
	}
}

// addBeyond divides a record with a residual of magnitude r > 1 between the two levels
// around it.
func (q *SquareSums) addBeyond(r float64) {
	last := len(q.beyond)
	square := min(r*r, q.squares[last])
	j := max(sort.SearchFloat64s(q.squares, square), 1)
	share := (square - q.squares[j-1]) / (q.squares[j] - q.squares[j-1])
	upper := toGrains(squareNodeWeight * min(share, 1))
	q.beyond[j-1] += upper
	switch {
	case j > 1:
		// The rest of the rounded weight, so that the squares of both still add up to at most the square of the weight.
		q.beyond[j-2] += toGrains(squareNodeWeight) - upper
	case q.groups.Len() > 0:
		far, _ := q.cellWeights()
		q.far[0] += far - min(toGrains(float64(far)*sumUnit*min(share, 1)), far)
	}
}

// Cells are those that [SquareSums.Add] adds to.
func (q *SquareSums) Cells() Cells {
	return Join(sumCells(q.sums[:]), sumCells(q.beyond), sumCells(q.far[:]), sumCells(q.cells))
}

// squareSumsSensitivity returns the L2 sensitivity of [SquareSums], with or without cells.
//
// Add or remove one record without a target: .4. With one it brings at most .15, .25 and 1 in
// magnitude, and with w the weight of a part and of its group
//
//	r in a part:              reach^4 + 2 w^2            = 1 + .6^2
//	r <= 1, in the far cell:  r^4 + .6^2                <= 1 + .6^2
//	r > 1:                    1 + .6^2 (u^2 + (1-u)^2)  <= 1 + .6^2,
//
// where 1 - u may be in the far cell, whose weight is the same. So the change is at most
// sqrt(.0225 + .0625 + 1 + 1.36) = 1.563650, attained by |t| = 1 and an r on a level.
//
// Substitution of records with numbers: the count stays, t moves by at most 2, and t^2, which
// is in [0, 1], by at most 1. All cells have the weight v = .25. If both r are beyond 1, the sum of
// r^2 stays and the nodes move by at most .6^2 2. If one is, the sum of r^2 moves by at most 1, the
// nodes and the far cell by .6^2 u^2 + v^2 (1-u)^2 <= .6^2, and the cells of the other record by 2 v^2. If
// neither is, r^2 and the cells move by max(1 + 3 v^2, reach^4 + 4 v^2). So the largest of the three is 1.36 without
// cells and 1.36 + 2 v^2 with them, and the change at most sqrt(4 .0625 + 1 + 1.36) = 1.615549, or 1.653784.
// Of a record with numbers by one without, or the other way round:
// .0225 + .0625 + 1 + 1.36 + .16, or with a part 1 + 2 v^2 in place of 1.36, which is less.
// Substituted private columns are a case of substitution. Rounding toward zero keeps
// every number within its interval, whose ends are on the grid once they are rounded so.
func squareSumsSensitivity(relation budget.Relation, cells bool) float64 {
	square := func(x float64) float64 { return x * x }
	change := square(squareTargetWeight) + square(squareResidualWeight) + square(squareNodeWeight)
	if relation == budget.AddRemove {
		return roundUp(math.Sqrt(change + square(squareCountWeight) + square(squareSumWeight)))
	}
	change += square(2 * squareSumWeight)
	if cells {
		change += 2 * square(anyCellWeight)
	}
	return roundUp(math.Sqrt(change))
}

// SquareSumsNoise returns the standard deviation of the noise of a cell of weight 1 in [SquareSums]
// with cells that are released as leaf name of s: a public fact, known before the release. It is
// +Inf if there is no such Gaussian leaf.
func SquareSumsNoise(s *Session, name string) float64 {
	return squareSumsSensitivity(s.Relation(), true) / s.Mu(name)
}

// boundSums returns the sums with their L2 sensitivity.
func (q *SquareSums) boundSums() Bounded[Vector] {
	value := append(make(Vector, 0, len(q.sums)+len(q.beyond)+q.groups.Len()+q.groups.Groups), q.sums[:]...)
	value = append(value, q.beyond...)
	if q.groups.Len() > 0 {
		value = append(value, q.far[0])
	}
	_, other := q.cellWeights()
	for _, n := range q.cells {
		value = append(value, n*other)
	}
	for g := range q.groups.Groups {
		records := int64(0)
		for _, part := range q.cells[g*q.groups.Parts:][:q.groups.Parts] {
			records += part
		}
		value = append(value, records*other)
	}
	return Bounded[Vector]{value, L2, squareSumsSensitivity(q.relation, q.groups.Len() > 0) / sumUnit, sumUnit, StatSquareSums}
}

// Squares are released [SquareSums], each divided by its weight, and the standard
// deviations of their noise.
type Squares struct {
	Count    float64   // records with numbers
	Sum      float64   // of t
	Target   float64   // of t^2
	Residual float64   // of min(|r|, 1)^2
	Missing  float64   // records without numbers
	Nodes    []float64 // the sums of u, from level 1 on
	// Cells holds the number of records in each cell. The first cell has the part of records
	// with |r| > 1 that Nodes leaves out: with the sum of Nodes it is the number of far records.
	Cells  []float64
	Groups []float64 // records in each group

	CountNoise, SumNoise, TargetNoise, ResidualNoise, NodeNoise, MissingNoise float64
	FarNoise, CellNoise                                                       float64 // of the first cell; of the others and of groups
}

// Release releases the sums by [Gaussian] as draw 0 of the leaf name.
func (q *SquareSums) Release(s *Session, name string) (Public[Squares], error) {
	noisy, err := Gaussian(s, name, q.boundSums())
	if err != nil {
		return Public[Squares]{}, err
	}
	v := noisy.Value()
	sigma := s.Scale(name)
	far, other := q.cellWeights()
	farUnit := float64(far) * sumUnit
	unit := float64(other) * sumUnit
	nodes := v[len(q.sums):][:len(q.beyond):len(q.beyond)]
	for j := range nodes {
		nodes[j] /= squareNodeWeight
	}
	cells := v[len(q.sums)+len(q.beyond):]
	for c := range cells {
		cells[c] /= unit
	}
	if len(cells) > 0 {
		cells[0] *= unit / farUnit
	}
	count := q.groups.Len()
	return Public[Squares]{Squares{
		Count:         v[0] / squareCountWeight,
		Sum:           v[1] / squareSumWeight,
		Target:        v[2] / squareTargetWeight,
		Residual:      v[3] / squareResidualWeight,
		Missing:       v[4] / squareMissingWeight,
		Nodes:         nodes,
		Cells:         cells[:count:count],
		Groups:        cells[count:],
		CountNoise:    sigma / squareCountWeight,
		SumNoise:      sigma / squareSumWeight,
		TargetNoise:   sigma / squareTargetWeight,
		ResidualNoise: sigma / squareResidualWeight,
		NodeNoise:     sigma / squareNodeWeight,
		MissingNoise:  sigma / squareMissingWeight,
		FarNoise:      sigma / farUnit,
		CellNoise:     sigma / unit,
	}}, nil
}

// StatSquareSums is the statistic of [SquareSums.Release].
const StatSquareSums budget.Statistic = "square sums"
