package mechanism

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/noise"
)

// summed describes a statistic for the test of widths: an accumulator with the record that moves it most, and a
// function that releases its totals.
type summed struct {
	of    Accumulator
	value func() []int64
}

// largestSums returns an accumulator of each listed statistic with one record whose numbers have the given sign and the
// largest possible size.
func largestSums(m Maker, sign int16) map[budget.Statistic]summed {
	one := [][]int16{{sign * FixedOne}, {FixedOne}}
	row := func() [][]int16 {
		return [][]int16{
			slices.Clone(one[0]),
			slices.Clone(one[1]),
		}
	}
	g := m.NewGram(2, 2)
	g.Add(row())
	g2 := m.NewGram(2, 2)
	g2.Add(row())
	c := m.NewCross(2, 2, 1)
	c.Add(row(), []float64{1})
	o := m.NewOuter(2, 2, 2, 2)
	o.Add(row(), [][]float64{{1}, {1}})
	n := m.NewNodeGrams(1, 2, 2)
	n.Add(row(), [][]float64{{1}})
	s := m.NewClassStats(2, 1, 2, ClassWeights{})
	s.Add(row(), []int32{0})
	b := m.NewBinSums(1, 1)
	b.Add([]uint8{0}, []float64{float64(sign)})
	v := m.NewValueSums([]int{1})
	v.Add([][]int32{{0}}, []float64{float64(sign)})
	h := m.NewHistogram([]int{maxCountWeight}, 1)
	h.Add([][]uint16{{0}})
	h2 := m.NewHistogram([]int{maxCountWeight}, 1)
	h2.Add([][]uint16{{0}})
	t := m.NewTally([]JointTable{{1, 1}}, 0)
	t.Add([][]uint16{{0}}, []uint16{math.MaxUint16})
	te := m.NewTally([]JointTable{{1, 1}}, 1)
	te.Add([][]uint16{{0}}, []uint16{0})
	ze := m.NewSizeCounts(1)
	ze.Add([]uint16{NoSize}, []uint16{0})
	qe := m.NewSquareEntries(Nodes{4})
	qe.Add(
		[]float64{float64(sign)},
		[]float64{4}, []uint16{NoSize},
	)
	z := m.NewSizeCounts(1)
	z.Add([]uint16{NoSize}, []uint16{0})
	q := m.NewSquareSums(Nodes{4}, CellGroups{Groups: 1, Parts: 1}, 1)
	q.Add(
		[]float64{float64(sign)},
		[]float64{1}, []uint16{1},
	)
	qg := m.NewGroupedSquareSums(
		Nodes{4},
		CellGroups{Groups: 1, Parts: 1}, 1,
		1, true,
	)
	qg.Add(
		[]float64{float64(sign)},
		[]float64{1}, []uint16{1},
		[]int32{0},
	)
	d := m.NewSums([]float64{-maxSum}, []float64{maxSum})
	d.Add([][]float64{{float64(sign) * 100}})
	return map[budget.Statistic]summed{
		StatGram: {
			accumulator{g.Cells},
			func() []int64 {
				return g.Bound().value.Packed
			},
		},
		StatCross: {accumulator{c.Cells}, func() []int64 {
			return c.Bound().value
		}},
		StatGramEntries: {
			accumulator{g2.Cells},
			func() []int64 {
				return g2.EntryBound().value
			},
		},
		StatOuter: {accumulator{o.Cells}, func() []int64 {
			return o.Bound().value
		}},
		StatNodeGrams: {
			accumulator{n.Cells},
			func() []int64 {
				return n.Bound().value.Packed
			},
		},
		StatClassStatistics: {accumulator{s.Cells}, func() []int64 {
			return s.Bound().value.Values
		}},
		StatBinSums: {accumulator{b.Cells}, func() []int64 {
			return b.Bound().value
		}},
		StatValueSums: {accumulator{v.Cells}, func() []int64 {
			return v.Bound().value
		}},
		StatHistogram: {
			accumulator{h.Cells},
			func() []int64 {
				return h.Bound().value
			},
		},
		StatCells: {
			accumulator{h2.Cells},
			func() []int64 {
				return h2.CellBound().value
			},
		},
		StatTally: {
			accumulator{t.Cells},
			func() []int64 {
				return t.Bound().value.Values
			},
		},
		StatTallyEntries: {
			accumulator{te.Cells},
			func() []int64 {
				return te.EntryBound().value
			},
		},
		StatSizeEntries: {
			accumulator{ze.Cells},
			func() []int64 {
				return ze.entryBound().value
			},
		},
		StatSquareEntries: {
			accumulator{qe.Cells},
			func() []int64 {
				return qe.entryBound().value
			},
		},
		StatSizeCounts: {
			accumulator{z.Cells},
			func() []int64 {
				return z.boundCounts().value
			},
		},
		StatSquareSums: {
			accumulator{q.Cells},
			func() []int64 {
				return q.boundSums().value
			},
		},
		StatGroupedSquares: {
			accumulator{qg.Cells},
			func() []int64 {
				return qg.boundSums().value
			},
		},
		StatSums: {
			accumulator{d.Cells},
			func() []int64 {
				return d.Bound().value
			},
		},
	}
}

// accumulator wraps the cells of an accumulator of this package.
type accumulator struct{ cells func() Cells }

func (a accumulator) Cells() Cells {
	return a.cells()
}
func (accumulator) Add(Block) {}

// TestWidths checks that the sums of every listed statistic fit into an int64 for the largest number of records of a
// run, even if each record moves them as far as it can. The totals are injected, and the released values must be
// exactly that number times the contribution of one record.
func TestWidths(t *testing.T) {
	for _, relation := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		for _, sign := range []int16{1, -1} {
			all := largestSums(Maker{relation: relation}, sign)
			for x, growth := range growths {
				if slices.Contains(
					[]budget.Statistic{StatCount, StatAlone(StatCount), StatWords, StatNewWords},
					x) {
					continue // below
				}
				a, ok := all[x]
				if !ok {
					t.Errorf("%s is listed, and not tried", x)
					continue
				}
				most := MostOf(x)
				one := slices.Clone(a.value())
				cells := a.of.Cells().copyValues()
				for i, v := range cells {
					if v > 1<<growth || v < -1<<growth {
						t.Errorf(
							"%s: a record adds %d to a cell",
							x, v,
						)
					}
					cells[i] = v * (most - 1) // and the one that is there
				}
				a.of.Cells().mergeValues(cells)
				for i, v := range a.value() {
					want := new(big.Int).Mul(
						big.NewInt(one[i]),
						big.NewInt(most),
					)
					if big.NewInt(v).Cmp(want) != 0 {
						t.Errorf(
							"%s, %v: %d records have %d, want %v",
							x,
							relation,
							most,
							v,
							want,
						)
					}
				}
			}
		}
	}
	// A 32-bit int cannot represent this number of records.
	most := int64(MostRecords)
	v := (&Session{}).Count(int(most)).value
	if strconv.IntSize == 64 && v != most<<20 {
		t.Errorf("a count of %d is %d", most, v)
	}
	words := Lexicon{columns: []WordCounts{{[]string{"a"}, []int64{MostRecords}}}}
	out, err := words.releaseWords(noise.Key{}, "x", 1, 1)
	if err != nil ||
		len(out[0]) != 1 ||
		math.Abs(out[0][0].Count-MostRecords) > 1 {
		t.Errorf(
			"a word of %d records: %v, %v",
			int64(MostRecords), out, err,
		)
	}
	if v := addSaturating(math.MaxInt64-5, 10); v != math.MaxInt64 {
		t.Errorf("noise wraps: %d", v)
	}
}

// TestUnlistedStatisticHasSmallestLimit checks that a statistic that is not listed has the smallest limit, and that the
// page lists the limits given here.
func TestUnlistedStatisticHasSmallestLimit(t *testing.T) {
	for _, x := range []budget.Statistic{StatEigenvalue, StatKendall, StatMinimizer, StatVotes,
		StatAgreement, StatPrivateBlocks, "", "another"} {
		if MostOf(x) != MostNarrow {
			t.Errorf("%q: %d", x, MostOf(x))
		}
	}
	page, err := os.ReadFile("../../docs/proofs/large.md")
	if err != nil {
		t.Fatal(err)
	}
	for x, growth := range growths {
		if x == StatAlone(StatCount) {
			continue
		}
		power := 35
		if 63-growth < power {
			power = 63 - growth
		}
		line := fmt.Sprintf(
			"| %s | 2^%d | 2^%d − 1 |",
			x, growth, power,
		)
		if !strings.Contains(
			string(page), line) {
			t.Errorf(
				"docs/proofs/large.md has no line %q",
				line,
			)
		}
		if MostOf(x) != int64(1)<<power-1 &&
			math.MaxInt > math.MaxInt32 {
			t.Errorf("%s: %d", x, MostOf(x))
		}
	}
}
