package mechanism

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/budget"
)

// The weights of the statistics of [SquareSums]. Where t is centred near its mean,
// its sum and the count hardly matter for sums of squares around the mean, so they
// get little of the budget.
const (
	squareCountWeight    = .15
	squareSumWeight      = .25
	squareTargetWeight   = .7
	squareResidualWeight = 1
	squareMissingWeight  = .4
	// A record with |r| above 1 adds less than 1 to the sum of r^2. What that leaves counts such
	// records: .6^2 + .8^2 = 1.
	squareBeyondWeight = .6
	beyondWeight       = .8
)

// The weights of the cells of [SquareSums]: of the first one under add-remove, and of
// all under the other relations.
const (
	farCellWeight = .35
	anyCellWeight = .25
)

// CellGroups say which cells a [SquareSums] has beside its sums: one for records that are far out, and
// a number of groups of parts. A record in a part has |r| <= Reach, in [0, 1].
type CellGroups struct {
	Groups, Parts int
	Reach         float64
}

// Len returns the number of cells, 0 if there are no groups; cell 0 is that of far records.
func (g CellGroups) Len() int {
	if g.Groups == 0 {
		return 0
	}
	return 1 + g.Groups*g.Parts
}

// SquareSums accumulates, over records with two numbers t and r, each clamped to
// [-1, 1], such as a target and a residual in units of public limits,
//
//	.15, .25 t, .7 t^2, r^2, 0, 0     and     0, 0, 0, 0, .4, 0
//
// for a record that has none, because its target cannot be read. A record with |r| above 1 before it is clamped adds
// .6 in place of r^2, and .8 or more to a count of such records. Any other may also lie
// in a cell, to which it adds a weight, as it does to the whole group of the cell; r is clamped to
// [-reach, reach] in every cell but the first. Every number is rounded toward zero to the grid
// of sums, so the sums are exact integers.
type SquareSums struct {
	relation budget.Relation
	groups   CellGroups
	sums     [6]int64 // count, sum of t, of t^2, of r^2, missing, and the records with |r| above 1
	cells    []int64  // records; weighted when they are released
}

// NewSquareSums returns an empty accumulator.
func (m Maker) NewSquareSums(g CellGroups) *SquareSums {
	if g.Len() < 0 || g.Len() >= NoSize || !(0 <= g.Reach && g.Reach <= 1) {
		panic("mechanism: the cells of sums of squares are too many, or reach beyond 1")
	}
	return &SquareSums{relation: m.Relation(), groups: g, cells: make([]int64, g.Len())}
}

// weights returns the weights of the first cell and of the others, which are those of groups too, and of a record with |r|
// above 1, in grid units. Under add-remove a record in the first cell adds r^2 <= 1 and v, one in any other
// r^2 <= reach^2 and w twice, one with |r| above 1 a = .6 and b, with
// reach^4 + 2 w^2 = a^2 + b^2 = 1 + v^2: large weights, which cost nothing. Under the other relations
// records may change places, and all are small.
func (q *SquareSums) weights() (far, other, beyond int64) {
	if q.relation != budget.AddRemove {
		return grains(anyCellWeight), grains(anyCellWeight), grains(beyondWeight)
	}
	beyond = grains(beyondWeight)
	most := 1 + farCellWeight*farCellWeight
	if len(q.cells) > 0 {
		beyond = grains(math.Sqrt(most - squareBeyondWeight*squareBeyondWeight))
	}
	reach2 := q.groups.Reach * q.groups.Reach
	return grains(farCellWeight), grains(math.Sqrt((most - reach2*reach2) / 2)), beyond
}

// grains returns a number of at most 1 in magnitude in grid units, toward zero.
func grains(x float64) int64 { return int64(x / sumUnit) }

// Add adds a block of records: t and r of each, and the cell it lies in, [NoSize] for
// none. A record whose t is NaN has no numbers and no cell; an r of NaN counts as 0. Add
// panics when the slices differ in length or there is no such cell.
func (q *SquareSums) Add(t, r []float64, cell []uint16) {
	if len(t) != len(r) || len(t) != len(cell) {
		panic("mechanism: a block of sums of squares has two numbers and a cell a record")
	}
	for i, x := range t {
		if x != x {
			q.sums[4] += grains(squareMissingWeight)
			continue
		}
		x = min(max(x, -1), 1)
		q.sums[0] += grains(squareCountWeight)
		q.sums[1] += grains(squareSumWeight * x)
		q.sums[2] += grains(squareTargetWeight * (x * x))
		q.addResidual(r[i], cell[i])
	}
}

// addResidual adds r, and a record to its cell or to those with |r| above 1.
func (q *SquareSums) addResidual(r float64, cell uint16) {
	within := cell != NoSize && cell > 0
	if (r > 1 || r < -1) && !within {
		q.sums[3] += grains(squareBeyondWeight)
		q.sums[5]++
		return
	}
	limit := 1.
	if within {
		limit = q.groups.Reach
	}
	if cell != NoSize {
		q.cells[cell]++
	}
	if r = min(max(r, -limit), limit); r == r {
		q.sums[3] += grains(squareResidualWeight * (r * r))
	}
}

// Cells are those that [SquareSums.Add] adds to.
func (q *SquareSums) Cells() Cells { return Join(sums(q.sums[:]), sums(q.cells)) }

// bound returns the sums with their L2 sensitivity.
//
// Add or remove one record: it brings at most .15, .25, .7 and r^2 in magnitude and the weights of its cell and group,
// or .4 alone. With v the weight of the first cell and w that of others, r^4 and the squares of the weights are
// at most 1 + v^2, as reach^4 + 2 w^2 is, and a^2 + b^2 of a record with |r| above 1, so
// the change is at most sqrt(.0225 + .0625 + .49 + 1 + v^2), 1.254990 without cells, where b is .8, and
// 1.302881 with them, attained by |t| = |r| = 1.
//
// Substitution of records with numbers: the count stays, t moves by
// at most 2, and t^2 and r^2, which lie in [0, 1], by at most 1. All weights are w; a record outside
// the groups and one within move r^2 by 1 and three cells at most, two records within move r^2 by reach^2 and
// four: sqrt(4 .0625 + .49 + max(1 + 3 w^2, reach^4 + 4 w^2)), 1.319091 without cells; with them 1.388344, and
// 1.410674 where they reach to 1. One with |r| above 1, in the place of any other, moves r^2 by at most .6, its own count by .8 and
// two cells at most: .36 + .64 + 2 w^2, which is less. Two of these move neither.
// Of a record with numbers by one without, or the
// other way round: .0225 + .0625 + .49 + .16 and max(1 + w^2, reach^4 + 2 w^2, .36 + .64), which is less.
// Substituted private columns are a case of substitution. Rounding toward zero
// keeps every number within its interval, whose ends are on the grid once they are
// rounded so.
func (q *SquareSums) bound() Bounded[Vector] {
	square := func(x float64) float64 { return x * x }
	squares, change := square(squareTargetWeight), square(squareResidualWeight)
	reach, cell := square(square(q.groups.Reach)), square(anyCellWeight)
	switch cells := len(q.cells) > 0; {
	case cells && q.relation == budget.AddRemove:
		change += square(farCellWeight)
	case cells:
		change = max(change+3*cell, reach+4*cell)
	}
	if q.relation == budget.AddRemove {
		squares += square(squareCountWeight) + square(squareSumWeight)
	} else {
		squares += square(2 * squareSumWeight)
	}
	squares += change
	value := append(make(Vector, 0, len(q.sums)+len(q.cells)+q.groups.Groups), q.sums[:]...)
	far, other, beyond := q.weights()
	value[5] *= beyond
	for c, n := range q.cells {
		if c == 0 {
			value = append(value, n*far)
		} else {
			value = append(value, n*other)
		}
	}
	for g := range q.groups.Groups {
		n := int64(0)
		for _, part := range q.cells[1+g*q.groups.Parts:][:q.groups.Parts] {
			n += part
		}
		value = append(value, n*other)
	}
	return Bounded[Vector]{value, L2, up(math.Sqrt(squares)) / sumUnit, sumUnit, StatSquareSums}
}

// Squares are released [SquareSums], each divided by its weight, and the standard
// deviations of the noise in each of them.
type Squares struct {
	Count    float64   // records with numbers
	Sum      float64   // of t
	Target   float64   // of t^2
	Residual float64   // of r^2, 1 where |r| is above 1
	Beyond   float64   // records with |r| above 1
	Missing  float64   // records without numbers
	Cells    []float64 // records in each cell
	Groups   []float64 // and in each group

	CountNoise, SumNoise, TargetNoise, ResidualNoise, BeyondNoise, MissingNoise float64
	FarNoise, CellNoise                                                         float64 // of the first cell; of the others and of groups
}

// Release releases the sums by [Gaussian] as draw 0 of the leaf name.
func (q *SquareSums) Release(s *Session, name string) (Public[Squares], error) {
	noisy, err := Gaussian(s, name, q.bound())
	if err != nil {
		return Public[Squares]{}, err
	}
	v, sigma := noisy.Value(), s.Scale(name)
	far, other, beyond := q.weights()
	farUnit, unit, beyondUnit := float64(far)*sumUnit, float64(other)*sumUnit, float64(beyond)*sumUnit
	cells := v[len(q.sums):]
	for c := range cells {
		cells[c] /= unit
	}
	if len(cells) > 0 {
		cells[0] *= unit / farUnit
	}
	// A record with |r| above 1 has left out lacks of the sum of r^2.
	const lacks = squareResidualWeight - squareBeyondWeight
	out := Squares{
		Count: v[0] / squareCountWeight, Sum: v[1] / squareSumWeight, Target: v[2] / squareTargetWeight,
		Beyond: v[5] / beyondUnit, Missing: v[4] / squareMissingWeight,
		Cells: cells[:len(q.cells):len(q.cells)], Groups: cells[len(q.cells):],
		CountNoise: sigma / squareCountWeight, SumNoise: sigma / squareSumWeight, TargetNoise: sigma / squareTargetWeight,
		BeyondNoise: sigma / beyondUnit, MissingNoise: sigma / squareMissingWeight,
		FarNoise: sigma / farUnit, CellNoise: sigma / unit,
	}
	out.Residual = v[3] + lacks*out.Beyond
	out.ResidualNoise = math.Hypot(sigma, lacks*out.BeyondNoise)
	return Public[Squares]{out}, nil
}

// StatSquareSums is the statistic of [SquareSums.Release].
const StatSquareSums budget.Statistic = "square sums"

func worstSquareSums() WorstPair {
	return WorstPair{
		Statistic: StatSquareSums, Kind: budget.Gaussian, Single: true, Relations: anyRecord(),
		Prepare: func(_ context.Context, s *Session, _ budget.Law, side int) (WorstRelease, error) {
			q, v := s.NewSquareSums(CellGroups{}), RecordOn(s.Relation(), side)
			q.Add(pick(v, []float64{math.NaN()}, nil, []float64{1}), pick(v, []float64{0}, nil, []float64{1}),
				pick(v, []uint16{NoSize}, nil, []uint16{NoSize}))
			return func(s *Session, name string, _ int) ([]float64, error) {
				out, err := q.Release(s, name)
				m := out.Value()
				return []float64{m.Count, m.Sum, m.Target, m.Residual, m.Beyond, m.Missing}, err
			}, nil
		},
	}
}
