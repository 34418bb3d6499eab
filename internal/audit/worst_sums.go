package audit

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// Shorter names for the types of private sums in the pairs of this file.
type (
	boundedNumber = mechanism.Bounded[int64]
	boundedVector = mechanism.Bounded[mechanism.Vector]
)

// countRecords counts one more record on side 1.
func countRecords(s *mechanism.Session, side int) (boundedNumber, error) {
	return s.Count(10 + side), nil
}

func countPair() WorstPair {
	return numberPair(mechanism.StatCount, recordRelations(), countRecords)
}

func loneCountPair() WorstPair {
	return lonePair(mechanism.StatCount, recordRelations(), countRecords)
}

// sumAgreement has a record of the largest weight alone.
func sumAgreement(s *mechanism.Session, side int) (boundedNumber, error) {
	a := s.NewAgreement(.5, 2)
	if record := RecordOn(s.Relation(), side); record != 0 {
		a.Add([]float64{2}, []int8{int8(record)})
	}
	return a.Sum(), nil
}

func agreementPair() WorstPair {
	return numberPair(mechanism.StatAgreement, recordRelations(), sumAgreement)
}

func loneAgreementPair() WorstPair {
	return lonePair(mechanism.StatAgreement, recordRelations(), sumAgreement)
}

// agreementRatioPair has a record of the largest weight besides records of the least weight that all agree.
func agreementRatioPair() WorstPair {
	relations := []budget.Relation{budget.Substitute}
	return numberPair(mechanism.StatAgreementRatio, relations,
		func(s *mechanism.Session, side int) (boundedNumber, error) {
			a := s.NewAgreement(.5, 2)
			a.Add([]float64{.5, .5, .5}, []int8{1, 1, 1})
			a.Add([]float64{2}, []int8{int8(RecordOn(s.Relation(), side))})
			return a.Ratio()
		})
}

func histogramPair() WorstPair {
	return vectorPair(mechanism.StatHistogram, recordRelations(),
		func(s *mechanism.Session, side int) (boundedVector, error) {
			h := s.NewHistogram([]int{1, 2}, 3)
			record := RecordOn(s.Relation(), side)
			h.Add(byRecord(record, [][]uint16{{0}, {2}}, [][]uint16{{}, {}}, [][]uint16{{1}, {0}}))
			return h.Bound(), nil
		})
}

func cellsPair() WorstPair {
	return cellPair(mechanism.StatCells,
		func(s *mechanism.Session, side int) (boundedVector, error) {
			h := s.NewHistogram([]int{1}, 3)
			h.Add(byRecord(RecordOn(s.Relation(), side), [][]uint16{{0}}, [][]uint16{{}},
				[][]uint16{{1}}))
			return h.CellBound(), nil
		})
}

func binSumsPair() WorstPair {
	return vectorPair(mechanism.StatBinSums, recordRelations(),
		func(s *mechanism.Session, side int) (boundedVector, error) {
			b := s.NewBinSums(3, 2)
			if record := RecordOn(s.Relation(), side); record != 0 {
				b.Add([]uint8{1}, []float64{2 * float64(record)})
			}
			return b.Bound(), nil
		})
}

func valueSumsPair() WorstPair {
	return vectorPair(mechanism.StatValueSums, recordRelations(),
		func(s *mechanism.Session, side int) (boundedVector, error) {
			v := s.NewValueSums([]int{3, 2})
			if record := RecordOn(s.Relation(), side); record != 0 {
				v.Add([][]int32{{1}, {0}}, []float64{float64(record)})
			}
			return v.Bound(), nil
		})
}

func clampedSumsPair() WorstPair {
	return vectorPair(mechanism.StatSums, recordRelations(),
		func(s *mechanism.Session, side int) (boundedVector, error) {
			b := s.NewSums([]float64{-1, 0}, []float64{1, 2})
			record := RecordOn(s.Relation(), side)
			b.Add(byRecord(record, [][]float64{{-1}, {0}}, [][]float64{{}, {}}, [][]float64{{1}, {2}}))
			return b.Bound(), nil
		})
}

func crossPair() WorstPair {
	return vectorPair(mechanism.StatCross, recordRelations(),
		func(s *mechanism.Session, side int) (boundedVector, error) {
			c := s.NewCross(2, 1, 3)
			if record := RecordOn(s.Relation(), side); record != 0 {
				c.Add([][]int16{{mechanism.FixedOne}, {0}}, []float64{3 * float64(record)})
			}
			return c.Bound(), nil
		})
}

// outerPair has 16 weights that are together as long as a single weight.
func outerPair() WorstPair {
	return vectorPair(mechanism.StatOuter, recordRelations(),
		func(s *mechanism.Session, side int) (boundedVector, error) {
			o := s.NewOuter(16, 1, .5, 1)
			if record := RecordOn(s.Relation(), side); record != 0 {
				weights := make([][]float64, 16)
				for j := range weights {
					weights[j] = []float64{float64(record)}
				}
				o.Add([][]int16{{mechanism.FixedOne}}, weights)
			}
			return o.Bound(), nil
		})
}

func eigenvaluePair() WorstPair {
	return vectorPair(mechanism.StatEigenvalue, recordRelations(),
		func(s *mechanism.Session, side int) (boundedVector, error) {
			g := s.NewGram(1, 1)
			g.Add([][]int16{byRecord(RecordOn(s.Relation(), side), []int16{0}, nil,
				[]int16{mechanism.FixedOne})})
			return g.SmallestEigenvalue(), nil
		})
}

func gramEntriesPair() WorstPair {
	return cellPair(mechanism.StatGramEntries,
		func(s *mechanism.Session, side int) (boundedVector, error) {
			g := s.NewGram(1, 1)
			record := RecordOn(s.Relation(), side)
			g.Add(byRecord(record, [][]int16{{0}}, [][]int16{{}}, [][]int16{{mechanism.FixedOne}}))
			return g.EntryBound(), nil
		})
}

func gramPair() WorstPair {
	const one = mechanism.FixedOne
	return jointPair(mechanism.StatGram,
		func(s *mechanism.Session, record int) func(*mechanism.Session, string) ([]float64, error) {
			g := s.NewGram(2, 1)
			g.Add(byRecord(record, [][]int16{{0}, {one}}, [][]int16{{}, {}}, [][]int16{{one}, {0}}))
			x := g.Bound()
			return func(s *mechanism.Session, name string) ([]float64, error) {
				out, err := mechanism.SymmetricGaussian(s, name, x)
				return out.Value(), err
			}
		})
}

// nodeGramsPair has a row of full length in the first node, and on the other side of a substitution in the second.
func nodeGramsPair() WorstPair {
	return WorstPair{
		Statistic: mechanism.StatNodeGrams,
		Kind:      budget.Gaussian,
		Relations: recordRelations(),
		Prepare: func(
			_ context.Context, s *mechanism.Session, _ budget.Law, side int,
		) (WorstRelease, error) {
			g := s.NewNodeGrams(2, 1, 1)
			row := [][]int16{{mechanism.FixedOne}}
			switch RecordOn(s.Relation(), side) {
			case 1:
				g.Add(row, [][]float64{{1}, {0}})
			case -1:
				g.Add(row, [][]float64{{0}, {1}})
			}
			x := g.Bound()
			return func(s *mechanism.Session, name string, draw int) ([]float64, error) {
				out, err := mechanism.SymmetricGaussianDraw(s, name, draw, x)
				return out.Value(), err
			}, nil
		},
	}
}

// privateBlocksPair has z and -z where the public part is long.
func privateBlocksPair() WorstPair {
	const one = mechanism.FixedOne
	relations := []budget.Relation{budget.SubstitutePrivateColumns}
	return vectorPair(mechanism.StatPrivateBlocks, relations,
		func(s *mechanism.Session, side int) (boundedVector, error) {
			g := s.NewPartGram([]int{mechanism.CrossWeight(2)}, 1, 1)
			g.Add([][]int16{{one}},
				[][]int16{{byRecord[int16](RecordOn(s.Relation(), side), -one, 0, one)}})
			return g.Bound()
		})
}

// labelSumsPair has a record whose label turns from one end of its range to the other.
func labelSumsPair() WorstPair {
	const one = mechanism.FixedOne
	relations := []budget.Relation{budget.SubstitutePrivateColumns}
	return vectorPair(mechanism.StatLabelSums, relations,
		func(s *mechanism.Session, side int) (boundedVector, error) {
			x := s.NewLabelSums(1, 0)
			x.AddNumbers([][]int16{{one}},
				[]int16{byRecord[int16](RecordOn(s.Relation(), side), -one, 0, one)})
			return x.Bound()
		})
}

// partClassStatisticsPair has a record of full length whose private class changes.
func partClassStatisticsPair() WorstPair {
	const one = mechanism.FixedOne
	x := jointPair(mechanism.StatPartClassStatistics,
		func(s *mechanism.Session, record int) func(*mechanism.Session, string) ([]float64, error) {
			c := s.NewPartClassStats([]bool{true}, 2, 1, true, mechanism.ClassWeights{})
			c.Add([][]int16{{one}}, []int32{byRecord[int32](record, 0, 0, 1)})
			return func(s *mechanism.Session, name string) ([]float64, error) {
				released, err := c.Release(s, name)
				m := released.Value()
				out := append([]float64(nil), m.Counts...)
				for k := range m.Sums {
					out = append(out, m.Sums[k]...)
					out = append(out, m.Squares[k]...)
				}
				return out, err
			}
		})
	x.Relations = []budget.Relation{budget.SubstitutePrivateColumns}
	return x
}

// addMinimizerRow adds the record with the given code, if there is one.
func addMinimizerRow(m *mechanism.Minimizer, record int) {
	row := []int16{mechanism.FixedOne}
	m.Add([][]int16{byRecord(record, row, nil, row)}, byRecord(record, []int32{0}, nil, []int32{1}))
}

// minimizerPair has R^2/Lambda = 1/2, where the bound is attained.
func minimizerPair() WorstPair {
	return WorstPair{
		Statistic: mechanism.StatMinimizer,
		Kind:      budget.Gaussian,
		Relations: recordRelations(),
		Prepare: func(
			ctx context.Context, s *mechanism.Session, _ budget.Law, side int,
		) (WorstRelease, error) {
			m := s.NewMinimizer(1, 1, 0, 2, 2)
			addMinimizerRow(m, RecordOn(s.Relation(), side))
			x, err := m.Bound(ctx)
			return releaseVector(x), err
		},
	}
}

// minimizerCoordinatesPair has a record whose entry is as large as the constant, and R^2/Lambda = 1/2.
func minimizerCoordinatesPair() WorstPair {
	return WorstPair{
		Statistic: mechanism.StatMinimizerCoordinates,
		Kind:      budget.Pure,
		Single:    true,
		Relations: recordRelations(),
		Prepare: func(
			ctx context.Context, s *mechanism.Session, _ budget.Law, side int,
		) (WorstRelease, error) {
			m := s.NewMinimizer(1, 1, 1, 4, 2)
			addMinimizerRow(m, RecordOn(s.Relation(), side))
			x, err := m.CoordinateBound(ctx)
			return releaseCells(x), err
		},
	}
}

func classStatisticsPair() WorstPair {
	const one = mechanism.FixedOne
	return jointPair(mechanism.StatClassStatistics,
		func(s *mechanism.Session, record int) func(*mechanism.Session, string) ([]float64, error) {
			c := s.NewClassStats(2, 2, 1, mechanism.ClassWeights{})
			rows := byRecord(
				record,
				[][]int16{{0}, {one}},
				[][]int16{{}, {}},
				[][]int16{{one}, {0}},
			)
			c.Add(rows, byRecord(record, []int32{1}, nil, []int32{0}))
			return func(s *mechanism.Session, name string) ([]float64, error) {
				released, err := c.Release(s, name)
				m := released.Value()
				out := append([]float64(nil), m.Counts...)
				for k := range m.Sums {
					out = append(out, m.Sums[k]...)
					out = append(out, m.Squares[k]...)
				}
				return append(out, m.Products...), err
			}
		})
}

// sizeCountsPair moves a record from the first bin of both sizes to the second.
func sizeCountsPair() WorstPair {
	return jointPair(mechanism.StatSizeCounts,
		func(s *mechanism.Session, record int) func(*mechanism.Session, string) ([]float64, error) {
			c := s.NewSizeCounts(2)
			if record != 0 {
				bin := byRecord[uint16](record, 0, 0, 1)
				c.Add([]uint16{bin}, []uint16{bin})
			}
			return func(s *mechanism.Session, name string) ([]float64, error) {
				released, err := c.Release(s, name)
				m := released.Value()
				out := append([]float64(nil), m.First...)
				out = append(out, m.Second...)
				return append(out, m.Missing), err
			}
		})
}

// sizeEntriesPair is sizeCountsPair with Laplace noise.
func sizeEntriesPair() WorstPair {
	return jointPair(mechanism.StatSizeEntries,
		func(s *mechanism.Session, record int) func(*mechanism.Session, string) ([]float64, error) {
			c := s.NewSizeCounts(2)
			if record != 0 {
				bin := byRecord[uint16](record, 0, 0, 1)
				c.Add([]uint16{bin}, []uint16{bin})
			}
			return func(s *mechanism.Session, name string) ([]float64, error) {
				released, err := c.ReleaseEntries(s, name)
				m := released.Value()
				out := append([]float64(nil), m.First...)
				out = append(out, m.Second...)
				return append(out, m.Missing), err
			}
		}).pure()
}

// squareEntriesPair attains the bound: one record at the level of a node, with its target at the limit, and under substitution
// one without numbers.
func squareEntriesPair() WorstPair {
	return jointPair(mechanism.StatSquareEntries,
		func(s *mechanism.Session, record int) func(*mechanism.Session, string) ([]float64, error) {
			q := s.NewSquareEntries(mechanism.Nodes{Top: 2})
			switch record {
			case 1:
				q.Add([]float64{1}, []float64{2}, []uint16{mechanism.NoSize})
			case -1:
				q.Add([]float64{math.NaN()}, []float64{0}, []uint16{mechanism.NoSize})
			}
			return func(s *mechanism.Session, name string) ([]float64, error) {
				released, err := q.ReleaseEntries(s, name)
				m := released.Value()
				return append([]float64{m.Count, m.Sum, m.Target, m.Residual, m.Missing},
					m.Nodes...), err
			}
		}).pure()
}

// squareSumsPair attains the bound: one record at the level of a node, with its target at the limit.
func squareSumsPair() WorstPair {
	return jointPair(mechanism.StatSquareSums,
		func(s *mechanism.Session, record int) func(*mechanism.Session, string) ([]float64, error) {
			q := s.NewSquareSums(mechanism.Nodes{Top: 2}, mechanism.CellGroups{}, 0)
			switch record {
			case 1:
				q.Add([]float64{1}, []float64{2}, []uint16{mechanism.NoSize})
			case -1:
				q.Add([]float64{math.NaN()}, []float64{0}, []uint16{mechanism.NoSize})
			}
			return func(s *mechanism.Session, name string) ([]float64, error) {
				released, err := q.Release(s, name)
				m := released.Value()
				return append(
					[]float64{m.Count, m.Sum, m.Target, m.Residual, m.Contrast, m.Missing},
					m.Nodes...), err
			}
		})
}

// groupedSquaresPair attains the bound: one record at the level of a node, with its target at the limit, and under
// substitution one at another level, with its target at the other limit and in another group.
func groupedSquaresPair() WorstPair {
	return jointPair(mechanism.StatGroupedSquares,
		func(s *mechanism.Session, record int) func(*mechanism.Session, string) ([]float64, error) {
			q := s.NewGroupedSquareSums(
				mechanism.Nodes{Top: 4},
				mechanism.CellGroups{},
				0,
				2,
				true,
			)
			switch record {
			case 1:
				q.Add(
					[]float64{1},
					[]float64{2},
					[]uint16{mechanism.NoSize},
					[]int32{0},
				)
			case -1:
				q.Add(
					[]float64{-1},
					[]float64{4},
					[]uint16{mechanism.NoSize},
					[]int32{1},
				)
			}
			return func(s *mechanism.Session, name string) ([]float64, error) {
				released, err := q.Release(s, name)
				m := released.Value()
				out := append(
					[]float64{m.All.Count, m.All.Sum, m.All.Target, m.All.Residual, m.All.Contrast,
						m.All.Missing}, m.All.Nodes...)
				for _, g := range m.Groups {
					out = append(out, g.Count, g.Sum, g.Target, g.Residual, g.Signed, g.Absolute,
						g.Missing)
				}
				return out, err
			}
		})
}

// tallyPair has a record in both joint tables, and under substitution one in other cells of both.
func tallyPair() WorstPair {
	return jointPair(mechanism.StatTally,
		func(s *mechanism.Session, record int) func(*mechanism.Session, string) ([]float64, error) {
			c := s.NewTally([]mechanism.JointTable{
				{
					Cells: 2,
					Share: .3,
				},
				{
					Cells: 2,
					Share: .7,
				},
			}, 1)
			if record != 0 {
				cell := byRecord[uint16](record, 0, 0, 1)
				c.Add([][]uint16{{cell}, {cell}}, []uint16{math.MaxUint16})
			}
			return func(s *mechanism.Session, name string) ([]float64, error) {
				out, _, err := mechanism.WeightedGaussian(s, name, c.Bound())
				return out.Value(), err
			}
		})
}

// tallyEntriesPair is tallyPair with Laplace noise.
func tallyEntriesPair() WorstPair {
	return jointPair(mechanism.StatTallyEntries,
		func(s *mechanism.Session, record int) func(*mechanism.Session, string) ([]float64, error) {
			c := s.NewTally([]mechanism.JointTable{{Cells: 2, Share: 1}}, 1)
			if record != 0 {
				cell := byRecord[uint16](record, 0, 0, 1)
				c.Add([][]uint16{{cell}}, []uint16{math.MaxUint16})
			}
			return func(s *mechanism.Session, name string) ([]float64, error) {
				out, _, err := c.ReleaseEntries(s, name)
				return out.Value(), err
			}
		}).pure()
}

// treeCountsPair has a record whose two numeric cells are missing on one side and outside the range on the other.
func treeCountsPair() WorstPair {
	return vectorPair(mechanism.StatTreeCounts, recordRelations(),
		func(s *mechanism.Session, side int) (boundedVector, error) {
			t := s.NewTreeCounts(2, []int{2})
			switch RecordOn(s.Relation(), side) {
			case 1:
				t.Add([][]uint16{{mechanism.TreeMissing}, {mechanism.TreeMissing}, {1}})
			case -1:
				t.Add([][]uint16{{mechanism.TreeAbove}, {mechanism.TreeBelow}, {0}})
			}
			return t.Bound(), nil
		})
}

// momentsPair has a record at an end of both columns, and at the opposite ends on the other side.
func momentsPair() WorstPair {
	return vectorPair(mechanism.StatMoments, recordRelations(),
		func(s *mechanism.Session, side int) (boundedVector, error) {
			q := s.NewMoments(2)
			if v := float64(RecordOn(s.Relation(), side)); v != 0 {
				q.Add(1, [][]float64{{v}, {v}})
			}
			return q.Bound(), nil
		})
}

// groupSumsPair has a record that moves to another group.
func groupSumsPair() WorstPair {
	return vectorPair(mechanism.StatGroupSums, recordRelations(),
		func(s *mechanism.Session, side int) (boundedVector, error) {
			g := s.NewGroupSums(2, []bool{true, false})
			switch RecordOn(s.Relation(), side) {
			case 1:
				g.Add([]int32{1}, [][]float64{{1}, {-1}})
			case -1:
				g.Add([]int32{0}, [][]float64{{1}, {1}})
			}
			return g.Bound(), nil
		})
}
