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
)

// SquareSums accumulates, over records with two numbers t and r, each clamped to
// [-1, 1], such as a target and a residual in units of public limits,
//
//	.15, .25 t, .7 t^2, r^2, 0     and     0, 0, 0, 0, .4
//
// for a record that has none, because its target cannot be read. Every number is
// rounded toward zero to the grid of sums, so the sums are exact integers.
type SquareSums struct {
	relation budget.Relation
	sums     [5]int64 // count, sum of t, of t^2, of r^2, missing
}

// NewSquareSums returns an empty accumulator.
func (m Maker) NewSquareSums() *SquareSums { return &SquareSums{relation: m.Relation()} }

// grains returns a number of at most 1 in magnitude in grid units, toward zero.
func grains(x float64) int64 { return int64(x / sumUnit) }

// Add adds a block of records: t and r of each. A record whose t is NaN has none;
// an r of NaN counts as 0. Add panics when the slices differ in length.
func (q *SquareSums) Add(t, r []float64) {
	if len(t) != len(r) {
		panic("mechanism: a block of sums of squares has two numbers a record")
	}
	for i, x := range t {
		if x != x {
			q.sums[4] += grains(squareMissingWeight)
			continue
		}
		x = min(max(x, -1), 1)
		y := min(max(r[i], -1), 1)
		if y != y {
			y = 0
		}
		q.sums[0] += grains(squareCountWeight)
		q.sums[1] += grains(squareSumWeight * x)
		q.sums[2] += grains(squareTargetWeight * (x * x))
		q.sums[3] += grains(squareResidualWeight * (y * y))
	}
}

// Cells are those that [SquareSums.Add] adds to.
func (q *SquareSums) Cells() Cells { return sums(q.sums[:]) }

// bound returns the sums with their L2 sensitivity.
//
// Add or remove one record: it brings at most .15, .25, .7 and 1 in magnitude, or .4
// alone, so the change is at most sqrt(.0225 + .0625 + .49 + 1) = 1.254990, attained
// by |t| = |r| = 1. Substitution of records with numbers: the count stays, t moves by
// at most 2, and t^2 and r^2, which lie in [0, 1], by at most 1:
// sqrt(4 .0625 + .49 + 1) = 1.319091. Of a record with numbers by one without, or the
// other way round: sqrt(.0225 + .0625 + .49 + 1 + .16) = 1.3172, which is less.
// Substituted private columns are a case of substitution. Rounding toward zero
// keeps every number within its interval, whose ends are on the grid once they are
// rounded so.
func (q *SquareSums) bound() Bounded[Vector] {
	square := func(x float64) float64 { return x * x }
	squares := square(squareTargetWeight) + square(squareResidualWeight)
	if q.relation == budget.AddRemove {
		squares += square(squareCountWeight) + square(squareSumWeight)
	} else {
		squares += square(2 * squareSumWeight)
	}
	return Bounded[Vector]{append(Vector(nil), q.sums[:]...), L2, up(math.Sqrt(squares)) / sumUnit, sumUnit, StatSquareSums}
}

// Squares are released [SquareSums], each divided by its weight, and the standard
// deviations of the noise in each of them.
type Squares struct {
	Count    float64 // records with numbers
	Sum      float64 // of t
	Target   float64 // of t^2
	Residual float64 // of r^2
	Missing  float64 // records without numbers

	CountNoise, SumNoise, TargetNoise, ResidualNoise, MissingNoise float64
}

// Release releases the sums by [Gaussian] as draw 0 of the leaf name.
func (q *SquareSums) Release(s *Session, name string) (Public[Squares], error) {
	noisy, err := Gaussian(s, name, q.bound())
	if err != nil {
		return Public[Squares]{}, err
	}
	v, sigma := noisy.Value(), s.Scale(name)
	return Public[Squares]{Squares{
		Count: v[0] / squareCountWeight, Sum: v[1] / squareSumWeight, Target: v[2] / squareTargetWeight,
		Residual: v[3] / squareResidualWeight, Missing: v[4] / squareMissingWeight,
		CountNoise: sigma / squareCountWeight, SumNoise: sigma / squareSumWeight, TargetNoise: sigma / squareTargetWeight,
		ResidualNoise: sigma / squareResidualWeight, MissingNoise: sigma / squareMissingWeight,
	}}, nil
}

// StatSquareSums is the statistic of [SquareSums.Release].
const StatSquareSums budget.Statistic = "square sums"

func worstSquareSums() WorstPair {
	return WorstPair{
		Statistic: StatSquareSums, Kind: budget.Gaussian, Single: true, Relations: anyRecord(),
		Prepare: func(_ context.Context, s *Session, _ budget.Law, side int) (WorstRelease, error) {
			q, v := s.NewSquareSums(), RecordOn(s.Relation(), side)
			q.Add(pick(v, []float64{math.NaN()}, nil, []float64{1}), pick(v, []float64{0}, nil, []float64{1}))
			return func(s *Session, name string, _ int) ([]float64, error) {
				out, err := q.Release(s, name)
				m := out.Value()
				return []float64{m.Count, m.Sum, m.Target, m.Residual, m.Missing}, err
			}, nil
		},
	}
}
