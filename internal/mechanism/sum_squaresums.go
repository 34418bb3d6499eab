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
	squareResidualWeight = 1
	squareContrastWeight = .25
	squareMissingWeight  = .4
)

// squareWeights are the weights of the statistics of [SquareSums], which depend on the neighbouring relation and on the kind
// of noise.
type squareWeights struct {
	count, sum, contrast, missing float64
	// tilt is subtracted from the square of the residual, times the square of the target, and target is the weight
	// of the latter.
	tilt, target float64
	node         float64 // of nodes and of the first cell
	far          float64 // of the first cell
	cell         float64 // of the other cells and of groups
}

// weightsOf returns the weights of a neighbouring relation.
//
// Let e and q be the squares of the residual and of the target, in [0, 1]. The numbers e - q/2 and sqrt(3/4) q have
// the sum of squares e^2 - e q + q^2. Under add-remove it is at most 1: it is convex, and at the corners of the square
// of e and q it is 0, 1, 1 and 1. Released by themselves, e and q can attain 2. Noise of variance s^2 in these two numbers is noise of
// variance 4/3 s^2 in e and in q, with the covariance 2/3 s^2, so a difference of both has 4/3 s^2, where noise of variance 2 s^2 in e and
// in q would give 4 s^2. A record in a node, in the first cell or in a part and its group adds at most nodeWeight^2
// to the square of the norm: .9^2 (u^2 + (1-u)^2) or 2 (.9/sqrt 2)^2.
//
// Under the other relations e and q may change in opposite directions, for which the tilt makes it worse, and records may change
// places, for which all cells have small weights.
func weightsOf(relation budget.Relation) squareWeights {
	if relation != budget.AddRemove {
		return squareWeights{
			count:    squareCountWeight,
			sum:      squareSumWeight,
			contrast: squareContrastWeight,
			missing:  squareMissingWeight,
			tilt:     0,
			target:   1,
			node:     .6,
			far:      .25,
			cell:     .25,
		}
	}
	const node = .9
	return squareWeights{
		count:    squareCountWeight,
		sum:      squareSumWeight,
		contrast: squareContrastWeight,
		missing:  squareMissingWeight,
		tilt:     .5,
		target:   math.Sqrt(.75),
		node:     node,
		far:      node,
		cell:     math.Sqrt(node * node / 2),
	}
}

// entryWeightsOf returns the weights for Laplace noise. Sums cost their weights there, not the squares of them, so there is no
// contrast, and the count and the sum of t have a smaller part.
//
// Under add-remove the numbers are e - q/2 and q/2, with |e - q/2| + q/2 = max(e, q - e) <= 1, where e and q by themselves can
// attain 2. With noise of variance s^2 in both, e has 2 s^2, q has 4 s^2, and their covariance is 2 s^2. Under the other relations
// e and q may change in opposite directions, so they are released by themselves.
func entryWeightsOf(relation budget.Relation) squareWeights {
	w := squareWeights{
		count:   .1,
		sum:     .1,
		node:    .4,
		missing: 1.6,
		tilt:    .5,
		target:  .5,
	}
	if relation != budget.AddRemove {
		w.missing = .3
		w.tilt = 0
		w.target = 1
	}
	return w
}

// CellGroups describes the cells that a [SquareSums] has in addition to its sums: one
// for records that are far out, and a number of groups of parts.
type CellGroups struct{ Groups, Parts int }

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

// topSlack keeps a Top that exceeds a power of two by a rounding error only from
// having a level of its own.
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
//	.15, .25 t, b q, e - a q, .25 d^2, 0, w u     and     0, 0, 0, 0, 0, .4, 0
//
// for a record that has none, because its target cannot be read, where q = t^2, e = min(|r|, 1)^2 and
// d = (e - g q)/max(1, g) with a public ratio g. The weights a, b and w are those of weightsOf. The vector u divides
// a record with |r| > 1 between the two levels of [Nodes] around it, L_(j-1) < |r| <= L_j:
//
//	u_j = (r^2 - L_(j-1)^2)/(L_j^2 - L_(j-1)^2),     u_(j-1) = 1 - u_j,
//
// and level 0 is left out. So the sum of (L_j^2 - 1) u_j over all levels is r^2 - 1
// exactly, for every |r| in (1, Top]: the sums of squares of residuals that are cut at
// any level are linear in what is released. With a ratio near that of the sums of e and q, the sum of d^2 is
// the variance of the sampling error of their difference.
//
// A record may also be in a cell, to which it adds a weight, as it does to the whole
// group of the cell; a record with |r| > 1 in another cell than the first counts as |r| = 1. A record
// with |r| > 1 adds the part 1 - u_1 that level 0 leaves out to the first cell, if there are
// cells. Every number is rounded toward zero to the grid of sums, so the sums are exact
// integers.
type SquareSums struct {
	weights  squareWeights
	relation budget.Relation
	entries  bool    // for Laplace noise
	part     float64 // factor of every weight; 1, but for the sums beside those of groups
	groups   CellGroups
	nodes    Nodes
	ratio    float64
	squares  []float64 // of the levels of nodes, level 0 included
	sums     [6]int64  // count, sum of t, of b q, of e - a q, of d^2, and missing; in grid units
	beyond   []int64   // by node, from level 1 on; in grid units
	far      [1]int64  // the first cell; in grid units
	cells    []int64   // records in the other cells; weighted when they are released
}

// NewSquareSums returns an empty accumulator; ratio is g, at least 0. It panics if g has more cells than an
// uint16 can number, or if the ratio is negative or not a number.
func (m Maker) NewSquareSums(n Nodes, g CellGroups, ratio float64) *SquareSums {
	return m.scaledSquareSums(n, g, ratio, 1)
}

// scaledSquareSums is NewSquareSums with a factor of every weight.
func (m Maker) scaledSquareSums(
	n Nodes,
	g CellGroups,
	ratio, part float64,
) *SquareSums {
	if g.Len() < 0 || g.Len() >= NoSize || !(ratio >= 0 && ratio <= math.MaxFloat64) {
		panic("mechanism: the cells of sums of squares are too many, or the ratio is not at least 0")
	}
	q := m.newSquareSums(n, weightsOf(m.Relation()), part)
	q.groups = g
	q.ratio = ratio
	if cells := g.Len(); cells > 0 {
		q.cells = make([]int64, cells-1)
	}
	return q
}

// NewSquareEntries returns an empty accumulator for [SquareSums.ReleaseEntries]: without cells and without a contrast.
func (m Maker) NewSquareEntries(n Nodes) *SquareSums {
	q := m.newSquareSums(n, entryWeightsOf(m.Relation()), 1)
	q.entries = true
	return q
}

func (m Maker) newSquareSums(n Nodes, weights squareWeights, part float64) *SquareSums {
	q := &SquareSums{
		weights:  weights,
		relation: m.Relation(),
		part:     part,
		nodes:    n,
		beyond:   make([]int64, n.Len()),
	}
	for j := range n.Len() + 1 {
		q.squares = append(q.squares, n.Level(j)*n.Level(j))
	}
	return q
}

// toGrains returns a number of at most 2 in magnitude in grid units, toward zero.
func toGrains(x float64) int64 {
	return int64(x / sumUnit)
}

// toGrains returns a number of at most 2 in magnitude times the factor of the weights, in grid units, toward zero.
func (q *SquareSums) toGrains(x float64) int64 {
	return toGrains(q.part * x)
}

// Add adds a block of records: t and r of each, and its cell, [NoSize] for
// none. A record whose t is NaN has no numbers and no cell; an r of NaN counts as 0, and
// one beyond the last level as that level. Add panics if the slices differ in length or
// there is no such cell.
func (q *SquareSums) Add(t, r []float64, cell []uint16) {
	if len(t) != len(r) || len(t) != len(cell) {
		panic("mechanism: a block of sums of squares has two numbers and a cell a record")
	}
	for i, x := range t {
		if x != x {
			q.sums[5] += q.toGrains(q.weights.missing)
			continue
		}
		x = min(max(x, -1), 1)
		q.sums[0] += q.toGrains(q.weights.count)
		q.sums[1] += q.toGrains(q.weights.sum * x)
		q.addSquares(x*x, q.addPlace(math.Abs(r[i]), cell[i]))
	}
}

// addSquares adds the numbers of a record that depend on the squares of the target and of the residual, both in [0, 1].
func (q *SquareSums) addSquares(target, residual float64) {
	// The conversions forbid fusing.
	tilted := residual - float64(q.weights.tilt*target)
	contrast := residual - float64(q.ratio*target)
	contrast /= max(q.ratio, 1)
	square := min(contrast*contrast, 1)
	q.sums[2] += q.toGrains(q.weights.target * target)
	q.sums[3] += q.toGrains(squareResidualWeight * tilted)
	q.sums[4] += q.toGrains(q.weights.contrast * square)
}

// addPlace adds a record's part of the nodes and cells. It returns the square of its residual of magnitude r, at most 1.
func (q *SquareSums) addPlace(r float64, cell uint16) float64 {
	switch {
	case cell != NoSize && cell > 0:
		q.cells[cell-1]++
	case r > 1 && len(q.beyond) > 0:
		q.addBeyond(r)
	case cell == 0 && q.groups.Len() > 0:
		q.far[0] += q.toGrains(q.weights.far)
	}
	if r != r {
		return 0
	}
	r = min(r, 1)
	return r * r
}

// addBeyond divides a record with a residual of magnitude r > 1 between the two levels
// around it.
func (q *SquareSums) addBeyond(r float64) {
	last := len(q.beyond)
	square := min(r*r, q.squares[last])
	j := max(sort.SearchFloat64s(q.squares, square), 1)
	share := (square - q.squares[j-1]) / (q.squares[j] - q.squares[j-1])
	upper := q.toGrains(q.weights.node * min(share, 1))
	q.beyond[j-1] += upper
	switch {
	case j > 1:
		// The rest of the rounded weight, so that the squares of both still add up to at most the square of the weight.
		q.beyond[j-2] += q.toGrains(q.weights.node) - upper
	case q.groups.Len() > 0:
		far := q.toGrains(q.weights.far)
		q.far[0] += far - min(toGrains(float64(far)*sumUnit*min(share, 1)), far)
	}
}

// Cells are those that [SquareSums.Add] adds to.
func (q *SquareSums) Cells() Cells {
	return Join(
		sumCells(q.sums[:]),
		sumCells(q.beyond),
		sumCells(q.far[:]),
		sumCells(q.cells),
	)
}

// squareSumsSensitivity returns the L2 sensitivity of [SquareSums], with or without cells.
//
// Add or remove one record without a target: .4. One with a target brings, in squares,
//
//	.15^2 + .25^2 q + (e^2 - e q + q^2) + .25^2 d^4,
//
// and at most w^2 = .9^2 in nodes and cells (see weightsOf). With d = (e - g q)/max(1, g) the sum is convex in (e, q), so it is
// largest at a corner of [0, 1]^2, where it is at most .15^2 + .25^2 + 1 + .25^2, as |d| is at most 1. So the change is at
// most sqrt(1.1475 + .81) = 1.399107, attained with g = 0 by |t| = 1 and an r on a level, and with g of at least 1 by
// |t| = 1, r = 0 and a part.
//
// Substitution of records with numbers: the count stays, t moves by at most 2, q and e, which
// lie in [0, 1], by at most 1, and so does d^2. All cells have the weight v = .25, nodes .6. If both r are beyond 1, e
// stays and the nodes move by at most .6^2 2. If one is, e moves by at most 1, the
// nodes and the far cell by .6^2 u^2 + v^2 (1-u)^2 <= .6^2, and the cells of the other record by 2 v^2. If
// none is, e and the cells move by at most 1 + 4 v^2. So the largest of the three is 1.36 without
// cells and 1.36 + 2 v^2 with them, and the change at most sqrt(4 .0625 + 1 + .0625 + 1.36) = 1.634778, or 1.672573.
// Of a record with numbers by one without, or the other way round:
// .0225 + .0625 + 1 + .0625 + 1.36 + .16, or with a part 1 + 2 v^2 in place of 1.36, which is less.
// Substituted private columns are a case of substitution. Rounding toward zero keeps
// every number within its interval, whose ends are on the grid once they are rounded so, and no number grows in magnitude.
func squareSumsSensitivity(relation budget.Relation, cells bool) float64 {
	square := func(x float64) float64 { return x * x }
	w := weightsOf(relation)
	change := square(squareResidualWeight) + square(w.contrast) + square(w.node)
	if relation == budget.AddRemove {
		return roundUp(math.Sqrt(change + square(w.count) + square(w.sum)))
	}
	change += square(w.target) + square(2*w.sum)
	if cells {
		change += 2 * square(w.cell)
	}
	return roundUp(math.Sqrt(change))
}

// squareEntriesSensitivity returns the L1 sensitivity of [SquareSums] for Laplace noise.
//
// Add or remove one record without a target: 1.6. One with a target brings .1 to the count and at most .1 to the sum of t,
// max(e, q - e) <= 1 to the sums of e - q/2 and q/2, and .4 to nodes: u_j and u_(j-1) add up to 1, and level 0 is left out. In
// all at most 1.6, attained by |t| = 1 and an r on a level.
//
// Substitution of records with numbers: the count stays, the sum of t moves by at most .2, and q by at most 1. If both r are
// beyond 1, e stays and the nodes move by at most .8. If one is, e moves by at most 1 and the nodes by at most .4; otherwise e
// moves by at most 1. So at most .2 + 1 + 1 + .4 = 2.6. Of a record with numbers by one without, or the other way round:
// .1 + .1 + 1 + 1 + .4, and .3 for the missing one, together 2.9, attained. Substituted private columns are a case of
// substitution. Rounding toward zero makes no number larger in magnitude.
func squareEntriesSensitivity(relation budget.Relation) float64 {
	w := entryWeightsOf(relation)
	change := w.count + w.sum + squareResidualWeight + w.node
	if relation != budget.AddRemove {
		change += w.target + w.missing
	}
	return roundUp(change)
}

// entryBound returns the sums with their L1 sensitivity, for Laplace noise.
func (q *SquareSums) entryBound() Bounded[Vector] {
	return Bounded[Vector]{q.vector(), L1, squareEntriesSensitivity(q.relation) / sumUnit, sumUnit,
		StatSquareEntries}
}

// SquareEntriesNoise returns the standard deviation of the noise of the sum of squares of residuals that
// [SquareSums.ReleaseEntries] releases as leaf name of s: a public fact, known before the release.
func SquareEntriesNoise(s *Session, name string) float64 {
	w := entryWeightsOf(s.Relation())
	scale := squareEntriesSensitivity(s.Relation()) / s.Epsilon(name)
	return math.Sqrt2 * scale * math.Hypot(1, w.tilt/w.target)
}

// ReleaseEntries releases the sums by [LaplaceCells] as the leaf name. The accumulator is from [Maker.NewSquareEntries].
func (q *SquareSums) ReleaseEntries(s *Session, name string) (Public[Squares], error) {
	if !q.entries {
		panic("mechanism: sums of squares for Gaussian noise are released with Laplace noise")
	}
	noisy, err := LaplaceCells(s, name, q.entryBound())
	if err != nil {
		return Public[Squares]{}, err
	}
	out := q.readSquares(noisy.Value(), LaplaceDeviation(s, name))
	out.Laplace = true
	out.Contrast = 0
	out.ContrastNoise = math.Inf(1)
	return Public[Squares]{out}, nil
}

// SquareSumsNoise returns the standard deviation of the noise of the sums of squares in [SquareSums]
// with cells that are released as leaf name of s: a public fact, known before the release. It is
// +Inf if there is no such Gaussian leaf.
func SquareSumsNoise(s *Session, name string) float64 {
	w := weightsOf(s.Relation())
	return squareSumsSensitivity(s.Relation(), true) / s.Mu(name) * math.Hypot(1, w.tilt/w.target)
}

// boundSums returns the sums with their L2 sensitivity.
func (q *SquareSums) boundSums() Bounded[Vector] {
	return Bounded[Vector]{q.vector(), L2,
		squareSumsSensitivity(q.relation, q.groups.Len() > 0) / sumUnit, sumUnit, StatSquareSums}
}

// vector returns all sums, in grid units.
func (q *SquareSums) vector() Vector {
	value := append(make(Vector, 0, len(q.sums)+len(q.beyond)+q.groups.Len()+q.groups.Groups),
		q.sums[:]...)
	value = append(value, q.beyond...)
	if q.groups.Len() > 0 {
		value = append(value, q.far[0])
	}
	other := q.toGrains(q.weights.cell)
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
	return value
}

// Squares are released [SquareSums], each divided by its weight, and the standard
// deviations of the noise in each of them.
type Squares struct {
	Count    float64   // records with numbers
	Sum      float64   // of t
	Target   float64   // of t^2
	Residual float64   // of min(|r|, 1)^2
	Contrast float64   // of the square of the contrast of both
	Missing  float64   // records without numbers
	Nodes    []float64 // the sums of u, from level 1 on
	// Cells holds the records in each cell. The first has, of records with |r| > 1, what
	// Nodes leaves out: with the sum of Nodes it is the number of all far records.
	Cells  []float64
	Groups []float64 // records in each group

	CountNoise    float64
	SumNoise      float64
	TargetNoise   float64
	ResidualNoise float64
	ContrastNoise float64
	NodeNoise     float64
	MissingNoise  float64

	FarNoise, CellNoise float64 // of the first cell; of the others and of groups
	SharedNoise         float64 // covariance of the noise of Target and of Residual

	Laplace bool // the noise of each sum is Laplace noise, and otherwise Gaussian; then there is no contrast
}

// Release releases the sums by [Gaussian] as draw 0 of the leaf name.
func (q *SquareSums) Release(s *Session, name string) (Public[Squares], error) {
	if q.entries {
		panic("mechanism: sums of squares for Laplace noise are released with Gaussian noise")
	}
	noisy, err := Gaussian(s, name, q.boundSums())
	if err != nil {
		return Public[Squares]{}, err
	}
	return Public[Squares]{q.readSquares(noisy.Value(), s.Scale(name))}, nil
}

// readSquares divides released numbers by their weights. sigma is the standard deviation of the noise in each.
func (q *SquareSums) readSquares(v []float64, sigma float64) Squares {
	w := q.weights
	for i := range v {
		v[i] /= q.part
	}
	sigma /= q.part
	nodes := v[len(q.sums):][:len(q.beyond):len(q.beyond)]
	for j := range nodes {
		nodes[j] /= w.node
	}
	cells := v[len(q.sums)+len(q.beyond):]
	for c := range cells {
		cells[c] /= w.cell
	}
	if len(cells) > 0 {
		cells[0] *= w.cell / w.far
	}
	count := q.groups.Len()
	target := v[2] / w.target
	noise := sigma / w.target
	return Squares{
		Count:         v[0] / w.count,
		Sum:           v[1] / w.sum,
		Target:        target,
		Residual:      v[3]/squareResidualWeight + float64(w.tilt*target),
		Contrast:      v[4] / w.contrast,
		Missing:       v[5] / w.missing,
		Nodes:         nodes,
		Cells:         cells[:count:count],
		Groups:        cells[count:],
		CountNoise:    sigma / w.count,
		SumNoise:      sigma / w.sum,
		TargetNoise:   noise,
		ResidualNoise: math.Hypot(sigma/squareResidualWeight, w.tilt*noise),
		ContrastNoise: sigma / w.contrast,
		NodeNoise:     sigma / w.node,
		MissingNoise:  sigma / w.missing,
		FarNoise:      sigma / w.far,
		CellNoise:     sigma / w.cell,
		SharedNoise:   w.tilt * noise * noise,
	}
}

// The statistics of [SquareSums.Release] and of [SquareSums.ReleaseEntries].
const (
	StatSquareSums    budget.Statistic = "square sums"
	StatSquareEntries budget.Statistic = "square entries"
)
