package mechanism

import (
	"math"

	"github.com/dptrain/dptrain/budget"
)

// squareHalf is the factor of the weights of either half of [GroupedSquareSums]: each has half of the square of the
// sensitivity.
const squareHalf = math.Sqrt2 / 2

// The weights of the numbers of a group in [GroupedSquareSums], before squareHalf.
const (
	groupCountWeight    = .5
	groupSumWeight      = .25
	groupTargetWeight   = 1
	groupResidualWeight = 1
	groupSignedWeight   = .25
	groupAbsoluteWeight = .25
	groupMissingWeight  = .4
)

// groupNumbers is the number of numbers of a group.
const groupNumbers = 7

// GroupedSquareSums accumulates the sums of [SquareSums] over all records and, for each of several groups, over the
// records of the group,
//
//	.5, .25 t, t^2, min(|r|, 1)^2, .25 r, .25 |r|, 0     and     0, 0, 0, 0, 0, 0, .4
//
// for a record without a target; r is clamped to [-1, 1]. All weights, of both halves, are times the root of 1/2. Every
// record is in one group. Numbers are rounded toward zero as those of SquareSums.
type GroupedSquareSums struct {
	all    *SquareSums
	change bool    // whether a record that is replaced may be in another group
	counts []int64 // groupNumbers for each group, in grid units
}

// NewGroupedSquareSums returns an empty accumulator for at least one group. change is false only if the group of a
// record is public under the relation of the run. It panics for the cells and the ratio that [Maker.NewSquareSums]
// panics for.
func (m Maker) NewGroupedSquareSums(
	n Nodes,
	g CellGroups,
	ratio float64,
	groups int,
	change bool,
) *GroupedSquareSums {
	if groups < 1 {
		panic("mechanism: grouped sums of squares need a group")
	}
	return &GroupedSquareSums{
		all:    m.scaledSquareSums(n, g, ratio, squareHalf),
		change: change,
		counts: make([]int64, groups*groupNumbers),
	}
}

// Add adds a block of records: t, r and the cell of each as in [SquareSums.Add], and its group. It panics if the slices
// differ in length or there is no such cell or group.
func (q *GroupedSquareSums) Add(t, r []float64, cell []uint16, group []int32) {
	if len(group) != len(t) {
		panic("mechanism: a block of grouped sums of squares has a group a record")
	}
	q.all.Add(t, r, cell)
	for i, x := range t {
		to := q.counts[int(group[i])*groupNumbers:][:groupNumbers]
		if x != x {
			to[6] += q.all.toGrains(groupMissingWeight)
			continue
		}
		x = min(max(x, -1), 1)
		to[0] += q.all.toGrains(groupCountWeight)
		to[1] += q.all.toGrains(groupSumWeight * x)
		to[2] += q.all.toGrains(groupTargetWeight * (x * x))
		if e := min(max(r[i], -1), 1); e == e {
			to[3] += q.all.toGrains(groupResidualWeight * (e * e))
			to[4] += q.all.toGrains(groupSignedWeight * e)
			to[5] += q.all.toGrains(groupAbsoluteWeight * math.Abs(e))
		}
	}
}

// Cells are those that [GroupedSquareSums.Add] adds to.
func (q *GroupedSquareSums) Cells() Cells {
	return Join(q.all.Cells(), sumCells(q.counts))
}

// groupedSquaresSensitivity returns the L2 sensitivity of [GroupedSquareSums] with or without cells. The half of all records has
// the numbers of [SquareSums], so before its factor it changes by at most S = squareSumsSensitivity of the relation; both halves
// have the factor root 1/2, so that each square below counts half.
//
// Add or remove one record: at most S^2 = 1.9575 in all records, or .16 without a target, and in its group
// .25 + .0625 + 1 + 1 + .0625 + .0625 = 2.4375, or .16: however many groups there are, only the numbers of one change. So the
// change is at most sqrt((1.9575 + 2.4375)/2) = 1.482396, attained with the ratio 0 by |t| = 1 and an r on a level.
//
// Substitution of records with targets in one group: in all records S^2, which is 2.6725, or 2.7975 with cells. In the group the
// count stays, the sum of t moves by at most 2, those of t^2 and r^2 by at most 1, and with e, f the clamped r of both,
// (e-f)^2 + (|e|-|f|)^2 is at most 2 (e^2+f^2) <= 4: .25 + 1 + 1 + .25 = 2.5, together 5.1725 or 5.2975.
//
// Of a record with a target by one without, in any group: in all records the count, t, t^2, d^2 and r^2 with nodes, which
// are .0225 + .0625 + 1 + .0625 + 1.36 = 2.5075 (cells add at most 2 v^2 = .125 in place of the .36), and .16, and in the groups
// 2.4375 + .16: together 5.265. A record that only leaves or enters the held-out part moves 2.5075 + 2.4375 = 4.945, or less
// without a target. So the change within a group is at most sqrt(5.265/2) = 1.622498, attained with the ratio 0, or
// sqrt(5.2975/2) = 1.627498 with cells.
//
// Substitution of records with targets in different groups, in which all of either record is lost or gained, the halves taken
// together:
//
//	count   .25 + .25                                                              = .5
//	t       .0625 ((t-u)^2 + t^2 + u^2)                                           <= .375, at t = 1, u = -1
//	t^2     (a-b)^2 + a^2 + b^2 with a, b in [0, 1]                               <= 2
//	d^2     in all records only                                                   <= .0625
//	r^2     likewise 2, or 1 + 1 if both are beyond 1, when nodes add .36 2       <= 2.72
//	        with one beyond 1, nodes and cells add .36 + 2 v^2, with none 4 v^2, v = .25, which is less
//	r, |r|  .0625 (1 + 1 + 1 + 1)                                                 <= .25
//
// 5.9075 in all, so the change is at most sqrt(5.9075/2) = 1.718648. It is less than sqrt((S^2 + 2 2.4375)/2), which bounds the
// halves one by one. Attained is sqrt(5.845/2), with d^2 as it was. Substituted private columns are a case of substitution: of
// one group if the groups are public, of any two if they are private.
func groupedSquaresSensitivity(
	relation budget.Relation,
	cells, change bool,
) float64 {
	square := func(x float64) float64 { return x * x }
	w := weightsOf(relation)
	all := square(squareSumsSensitivity(relation, cells))
	errors := square(groupSignedWeight) + square(groupAbsoluteWeight)
	group := square(groupCountWeight) + square(groupSumWeight) + square(groupTargetWeight) +
		square(groupResidualWeight) + errors
	if relation == budget.AddRemove {
		return roundUp(math.Sqrt((all + group) / 2))
	}
	within := all + square(2*groupSumWeight) + square(groupTargetWeight) +
		square(groupResidualWeight) + square(2*max(groupSignedWeight, groupAbsoluteWeight))
	record := square(squareCountWeight) + square(squareSumWeight) + square(w.target) +
		square(squareContrastWeight) +
		square(squareResidualWeight) + max(square(w.node), 2*square(w.cell))
	within = max(within, record+square(squareMissingWeight)+group+square(groupMissingWeight))
	if !change {
		return roundUp(math.Sqrt(within / 2))
	}
	between := 2*square(groupCountWeight) + square(2*squareSumWeight) + 2*square(groupSumWeight) +
		2*square(groupTargetWeight) + square(squareContrastWeight) + 2*square(groupResidualWeight) +
		2*square(w.node) + 2*errors
	return roundUp(math.Sqrt(max(within, between) / 2))
}

// GroupedSquaresNoise is [SquareSumsNoise] for the sums over all records of [GroupedSquareSums]: it returns the
// standard deviation of the noise of the sums of squares from both halves, see [GroupedSquares.Join].
func GroupedSquaresNoise(
	s *Session,
	name string,
	groups int,
	change bool,
) float64 {
	w := weightsOf(s.Relation())
	unit := groupedSquaresSensitivity(s.Relation(), true, change) / s.Mu(name) / squareHalf
	noise := unit / w.target
	own := Squares{
		TargetNoise:   noise,
		ResidualNoise: math.Hypot(unit, w.tilt*noise),
		SharedNoise:   w.tilt * noise * noise,
	}
	return GroupedSquares{
		All:    own,
		Groups: make([]GroupSquares, groups),
		Unit:   unit,
	}.Join().ResidualNoise
}

// boundSums returns the sums with their L2 sensitivity.
func (q *GroupedSquareSums) boundSums() Bounded[Vector] {
	value := append(q.all.vector(), q.counts...)
	return Bounded[Vector]{value, L2,
		groupedSquaresSensitivity(q.all.relation, q.all.groups.Len() > 0, q.change) / sumUnit,
		sumUnit, StatGroupedSquares}
}

// GroupSquares are the released numbers of a group, each divided by its weight.
type GroupSquares struct {
	Count    float64 // records with targets
	Sum      float64 // of t
	Target   float64 // of t^2
	Residual float64 // of r^2
	Signed   float64 // of r
	Absolute float64 // of |r|
	Missing  float64 // records without targets
}

// GroupNoise returns the standard deviations of the noise in the numbers of a group, of those whose weight
// squareHalf times 1 has the given one.
func GroupNoise(unit float64) GroupSquares {
	return GroupSquares{
		Count:    unit / groupCountWeight,
		Sum:      unit / groupSumWeight,
		Target:   unit / groupTargetWeight,
		Residual: unit / groupResidualWeight,
		Signed:   unit / groupSignedWeight,
		Absolute: unit / groupAbsoluteWeight,
		Missing:  unit / groupMissingWeight,
	}
}

// GroupedSquares are released [GroupedSquareSums].
type GroupedSquares struct {
	All    Squares // of all records, from their half alone
	Groups []GroupSquares
	Unit   float64 // standard deviation of the noise in a number of a group with weight 1; see [GroupNoise]
}

// Join returns the sums over all records from both halves. Each half has a noisy sum of the same records: the results are those
// of the least variance. The noise of Target and Residual is correlated in the half of all records and independent in that of
// groups, so the two are joined as a vector, with weights that are inverse covariance matrices.
func (a GroupedSquares) Join() Squares {
	out := a.All
	total := GroupSquares{}
	for _, g := range a.Groups {
		total.Count += g.Count
		total.Sum += g.Sum
		total.Target += g.Target
		total.Residual += g.Residual
		total.Missing += g.Missing
	}
	noise := GroupNoise(a.Unit * math.Sqrt(float64(len(a.Groups))))
	out.Count, out.CountNoise = joinNoisy(
		out.Count,
		out.CountNoise,
		total.Count,
		noise.Count,
	)
	out.Sum, out.SumNoise = joinNoisy(out.Sum, out.SumNoise, total.Sum, noise.Sum)
	out.Missing, out.MissingNoise = joinNoisy(
		out.Missing,
		out.MissingNoise,
		total.Missing,
		noise.Missing,
	)

	// With the covariance C of the half of all records and the diagonal D of groups the joined value is x + K (y - x) with
	// K = C (C + D)^-1, and its covariance C - K C = K D.
	c := [2][2]float64{{out.TargetNoise * out.TargetNoise, out.SharedNoise},
		{out.SharedNoise, out.ResidualNoise * out.ResidualNoise}}
	d := [2]float64{noise.Target * noise.Target, noise.Residual * noise.Residual}
	p := c[0][0] + d[0]
	q := c[1][1] + d[1]
	off := c[0][1]
	det := p*q - off*off
	var k [2][2]float64
	for i := range k {
		k[i][0] = (c[i][0]*q - c[i][1]*off) / det
		k[i][1] = (c[i][1]*p - c[i][0]*off) / det
	}
	target := total.Target - out.Target
	residual := total.Residual - out.Residual
	out.Target += float64(k[0][0]*target) + float64(k[0][1]*residual)
	out.Residual += float64(k[1][0]*target) + float64(k[1][1]*residual)
	out.TargetNoise = math.Sqrt(k[0][0] * d[0])
	out.ResidualNoise = math.Sqrt(k[1][1] * d[1])
	out.SharedNoise = k[0][1] * d[1]
	return out
}

// joinNoisy returns the mean of two noisy values of one number with weights 1/variance, and its standard deviation.
func joinNoisy(x, sigma, y, other float64) (value, noise float64) {
	share := sigma / math.Hypot(sigma, other)
	return x + float64(share*share*(y-x)), share * other
}

// Release releases the sums by [Gaussian] as draw 0 of the leaf name.
func (q *GroupedSquareSums) Release(
	s *Session,
	name string,
) (Public[GroupedSquares], error) {
	noisy, err := Gaussian(s, name, q.boundSums())
	if err != nil {
		return Public[GroupedSquares]{}, err
	}
	v := noisy.Value()
	sigma := s.Scale(name)
	of := v[len(v)-len(q.counts):]
	out := GroupedSquares{
		All:  q.all.readSquares(v[:len(v)-len(of)], sigma),
		Unit: sigma / squareHalf,
	}
	for g := range len(of) / groupNumbers {
		x := of[g*groupNumbers:][:groupNumbers]
		out.Groups = append(out.Groups, GroupSquares{
			Count:    x[0] / (squareHalf * groupCountWeight),
			Sum:      x[1] / (squareHalf * groupSumWeight),
			Target:   x[2] / (squareHalf * groupTargetWeight),
			Residual: x[3] / (squareHalf * groupResidualWeight),
			Signed:   x[4] / (squareHalf * groupSignedWeight),
			Absolute: x[5] / (squareHalf * groupAbsoluteWeight),
			Missing:  x[6] / (squareHalf * groupMissingWeight),
		})
	}
	return Public[GroupedSquares]{out}, nil
}

// StatGroupedSquares is the statistic of [GroupedSquareSums.Release].
const StatGroupedSquares budget.Statistic = "grouped square sums"
