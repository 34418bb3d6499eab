package mechanism

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/numeric/kendall"
)

// eachNeighbour calls f with every table over the alphabet of up to n records and
// each of its neighbours: one record appended under add-remove (position does
// not matter to a sum), one replaced under substitution.
func eachNeighbour(n, alphabet int, rel budget.Relation, f func(a, b []int)) {
	var grow func(rows []int)
	grow = func(rows []int) {
		if rel == budget.AddRemove {
			for x := range alphabet {
				f(rows, append(append([]int(nil), rows...), x))
			}
		} else if len(rows) > 0 {
			for x := range alphabet {
				b := append([]int(nil), rows...)
				b[len(b)-1] = x
				f(rows, b)
			}
		}
		if len(rows) < n {
			for x := range alphabet {
				grow(append(append([]int(nil), rows...), x))
			}
		}
	}
	grow(nil)
}

// rememberTables returns f with the results of tables of at most n records kept: [eachNeighbour] comes to a table once for
// every neighbour. f must not change a result that it returned.
func rememberTables[T any](n int, f func(rows []int) T) func(rows []int) T {
	kept := map[string]T{}
	var key []byte
	return func(rows []int) T {
		if len(rows) > n {
			return f(rows)
		}
		key = key[:0]
		for _, x := range rows {
			key = binary.AppendUvarint(key, uint64(x))
		}
		out, ok := kept[string(key)]
		if !ok {
			out = f(rows)
			kept[string(key)] = out
		}
		return out
	}
}

func bothRelations() []budget.Relation {
	return []budget.Relation{budget.AddRemove, budget.Substitute}
}

// changeNorm returns the change between two bounded vectors in their own norm.
func changeNorm(a, b Bounded[Vector]) float64 {
	lo := math.Inf(1)
	hi := math.Inf(-1)
	sum := 0.0
	absolute := 0.0
	for i := range a.value {
		d := float64(b.value[i] - a.value[i])
		lo = math.Min(lo, d)
		hi = math.Max(hi, d)
		sum += d * d
		absolute += math.Abs(d)
	}
	switch a.norm &^ OfUnit {
	case Width:
		return hi - lo
	case L1:
		return absolute
	}
	return math.Sqrt(sum)
}

// searchNeighbours finds the largest change over all neighbours and compares it with
// the declared sensitivity: never above, and reached within the given factor.
func searchNeighbours(
	t *testing.T,
	n, alphabet int,
	reached float64,
	bound func(s *Session, rows []int) Bounded[Vector],
) {
	t.Helper()
	for _, rel := range bothRelations() {
		s := testSession(t, rel, 1)
		worst := 0.0
		sens := 0.0
		boundOf := rememberTables(n, func(rows []int) Bounded[Vector] {
			return bound(s, rows)
		})
		eachNeighbour(n, alphabet, rel, func(a, b []int) {
			x := boundOf(a)
			y := boundOf(b)
			if x.sens != y.sens {
				t.Fatalf("%v: the sensitivity depends on the rows", rel)
			}
			sens = x.sens
			worst = math.Max(worst, changeNorm(x, y))
		})
		if worst > sens {
			t.Errorf(
				"%v: change %v above the declared sensitivity %v",
				rel, worst, sens,
			)
		}
		if worst < reached*sens {
			t.Errorf(
				"%v: largest change found is %.3f of the declared sensitivity, want at least %.3f",
				rel,
				worst/sens,
				reached,
			)
		}
	}
	searchRemovals(t, n, alphabet, bound)
	searchUnits(t, alphabet, bound)
}

// searchRemovals adds and removes a record under substitution. A statistic of the records with a target changes in
// this way if a replaced record loses or gains its target.
func searchRemovals(
	t *testing.T,
	n, alphabet int,
	bound func(s *Session, rows []int) Bounded[Vector],
) {
	t.Helper()
	s := testSession(t, budget.Substitute, 1)
	boundOf := rememberTables(n, func(rows []int) Bounded[Vector] {
		return bound(s, rows)
	})
	eachNeighbour(n, alphabet, budget.AddRemove, func(a, b []int) {
		x := boundOf(a)
		y := boundOf(b)
		c := changeNorm(x, y)
		if c > x.sens || x.sens != y.sens {
			t.Fatalf(
				"a record that loses its target: change %v, declared %v and %v",
				c,
				x.sens,
				y.sens,
			)
		}
	})
}

// TestSubstitutionCoversRemoval checks for every statistic that the bound for a replaced record is at least the bound
// for one added or removed. If a table is narrowed to the records with a target, replacing a record may remove one
// from the narrowed table. ([Agreement.Ratio] is the only bound about a public number of records; it is never given a
// narrowed table.)
func TestSubstitutionCoversRemoval(t *testing.T) {
	ranks := func(x ...float64) *kendall.Ranks {
		return kendall.Rank(x, nil)
	}
	for name, bound := range map[string]func(s *Session) float64{
		"count": func(s *Session) float64 {
			return s.Count(3).sens
		},
		"histogram": func(s *Session) float64 {
			return s.NewHistogram([]int{1, 4}, 3).Bound().sens
		},
		"sums": func(s *Session) float64 {
			return s.NewSums(
				[]float64{0, -1, 2},
				[]float64{1, 1, 3},
			).Bound().sens
		},
		"bin sums": func(s *Session) float64 {
			return s.NewBinSums(3, .5).Bound().sens
		},
		"value sums": func(s *Session) float64 {
			return s.NewValueSums([]int{3, 2}).Bound().sens
		},
		"tree counts": func(s *Session) float64 {
			return s.NewTreeCounts(2, []int{3}).Bound().sens
		},
		"moments": func(s *Session) float64 {
			return s.NewMoments(1).Bound().sens
		},
		"group sums": func(s *Session) float64 {
			return s.NewGroupSums(2, []bool{false}).Bound().sens
		},
		"cross": func(s *Session) float64 {
			return s.NewCross(2, 3, .5).Bound().sens
		},
		"gram": func(s *Session) float64 {
			return s.NewGram(2, 3).Bound().sens
		},
		"node grams": func(s *Session) float64 {
			return s.NewNodeGrams(2, 2, 3).Bound().sens
		},
		"medians": func(s *Session) float64 {
			return s.NewMedians(2, []float64{0, 1}).Bound().sens
		},
		"eigenvalue": func(s *Session) float64 {
			g := s.NewGram(2, 3)
			return g.SmallestEigenvalue().sens
		},
		"products": func(s *Session) float64 {
			return s.NewProducts([]int{0, 2}).Scores([]int{0, 1}).sens
		},
		"sizes": func(s *Session) float64 {
			return s.NewSizeCounts(4).boundCounts().sens
		},
		"squares": func(s *Session) float64 {
			return s.NewSquareSums(Nodes{}, CellGroups{}, 1).boundSums().sens
		},
		"grouped squares": func(s *Session) float64 {
			return s.NewGroupedSquareSums(Nodes{}, CellGroups{}, 1, 2, true).boundSums().sens
		},
		"votes": func(s *Session) float64 {
			return s.NewVotes(5, 2).Scores([]int{0, 1}).sens
		},
		"ballots": func(s *Session) float64 {
			return s.NewVotes(5, 2).Counts().sens
		},
		"classes": func(s *Session) float64 {
			return s.NewClassStats(2, 3, 1.5, ClassWeights{}).Bound().sens
		},
		"weighed classes": func(s *Session) float64 {
			return s.NewClassStats(
				2, 3, 1.5,
				ClassWeights{3, .1, .2, 1},
			).Bound().sens
		},
		"agreement": func(s *Session) float64 {
			return s.NewAgreement(.5, 2).Sum().sens
		},
		"points": func(s *Session) float64 {
			return s.NewPoints(LeastPoints, 2).Bound().sens
		},
		"minimizer": func(s *Session) float64 {
			x, err := s.NewMinimizer(2, 1, .5, 1, 3).Bound(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			return x.Sensitivity()
		},
		"kendall": func(s *Session) float64 {
			k, err := s.NewKendall(
				context.Background(),
				2,
				func(int, *kendall.Scratch) *kendall.Ranks {
					return ranks(1, 2, 3)
				},
				ranks(3, 1, 2).Kept,
			)
			if err != nil {
				t.Fatal(err)
			}
			return k.Scores([]int{0, 1}).sens
		},
		"kendall, later": func(s *Session) float64 {
			k, err := s.NewKendall(
				context.Background(),
				2,
				func(int, *kendall.Scratch) *kendall.Ranks {
					return ranks(1, 2, 3)
				},
				ranks(3, 1, 2).Kept,
			)
			if err == nil {
				err = k.Pick(context.Background(), 0)
			}
			if err != nil {
				t.Fatal(err)
			}
			return k.Scores([]int{1}).sens
		},
	} {
		removed := bound(testSession(t, budget.AddRemove, 1))
		replaced := bound(testSession(t, budget.Substitute, 1))
		if !(removed > 0 && replaced >= removed) {
			t.Errorf(
				"%s: %v for a replaced record, %v for a removed one",
				name,
				replaced,
				removed,
			)
		}
	}
}

func TestHistogramSensitivity(t *testing.T) {
	const columns, bins = 2, 3
	weights := []int{1, 4}
	searchNeighbours(t, 3, 16, .999999, func(s *Session, rows []int) Bounded[Vector] {
		h := s.NewHistogram(weights, bins)
		block := make([][]uint16, columns)
		for _, r := range rows { // bin 3 does not exist
			block[0] = append(block[0], uint16(r%4))
			block[1] = append(block[1], uint16(r/4))
		}
		h.Add(block)
		return h.Bound()
	})
}

// TestUnevenHistogramSensitivity searches columns with different numbers of bins. The bound is that
// of equal columns, and each column has its own cells.
func TestUnevenHistogramSensitivity(t *testing.T) {
	weights := []int{1, 4, 1}
	for _, numbers := range [][]int{
		{2, 5, 3},
		{5, 2, 2},
		{2, 2, 5},
	} {
		searchNeighbours(t, 2, 27, .999999, func(s *Session, rows []int) Bounded[Vector] {
			h := s.NewUnevenHistogram(weights, numbers)
			h.AddColumns(len(rows), func(c int, bins []uint16) {
				for i, r := range rows {
					choice := []int{r % 3, r / 3 % 3, r / 9}[c]
					bins[i] = []uint16{0, uint16(numbers[c] - 1), uint16(numbers[c])}[choice] // the last does not exist
				}
			})
			return h.Bound()
		})
	}
	s := testSession(t, budget.AddRemove, 1)
	uneven := s.NewUnevenHistogram(weights, []int{2, 5, 1})
	uneven.Add([][]uint16{
		{1, 1, 2},
		{4, 0, 5},
		{0, 1, 0},
	})
	want := []int64{0, 2, 4, 0, 0, 0, 4, 2}
	if !slices.EqualFunc(uneven.Bound().value, want,
		func(got, want int64) bool {
			return got == want<<20
		}) {
		t.Errorf(
			"counts %v, want %v in units of 2^20",
			uneven.Bound().value, want,
		)
	}
	even := s.NewHistogram(weights, 3).Bound().Sensitivity()
	if uneven.Bound().Sensitivity() != even {
		t.Errorf(
			"sensitivity %v, that of equal columns is %v",
			uneven.Bound().Sensitivity(),
			even,
		)
	}
	sum := s.NewHistogram(weights, 3).CellBound().Sensitivity()
	if uneven.CellBound().Sensitivity() != sum {
		t.Errorf(
			"L1 sensitivity %v, that of equal columns is %v",
			uneven.CellBound().Sensitivity(),
			sum,
		)
	}
}

func TestSumsSensitivity(t *testing.T) {
	values := []float64{
		-9, -.5, 0, .25,
		9, math.NaN(),
		math.Inf(1),
	}
	// Under substitution no pair of records attains the bound in the third statistic together with the others.
	searchNeighbours(t, 2, len(values)*len(values), .996, func(s *Session, rows []int) Bounded[Vector] {
		b := s.NewSums(
			[]float64{-1, 0, .2},
			[]float64{.5, 2, .2},
		)
		var x, y, z []float64
		for _, r := range rows {
			x = append(x, values[r%7])
			y = append(y, values[r/7])
			z = append(z, .2)
		}
		b.Add([][]float64{x, y, z})
		return b.Bound()
	})
}

// TestGramSensitivity searches rows of every direction and of lengths below,
// at and above the limit.
func TestGramSensitivity(t *testing.T) {
	rows := [][]int16{}
	for _, x := range []int16{-FixedOne, -9000, 0, 3, FixedOne} {
		for _, y := range []int16{-FixedOne, 0, 11585, FixedOne} {
			rows = append(rows, []int16{x, y, FixedOne / 2})
		}
	}
	for _, limit := range []float64{.3, 1, 1.9, 3} {
		for _, rel := range bothRelations() {
			s := testSession(t, rel, 1)
			worst := 0.0
			sens := 0.0
			gram := rememberTables(2, func(table []int) Bounded[Symmetric] {
				return gramOf(s, limit, rows, table)
			})
			eachNeighbour(2, len(rows), rel, func(a, b []int) {
				x := gram(a)
				y := gram(b)
				sens = x.sens
				worst = math.Max(worst, frobeniusDistance(x.value, y.value))
			})
			if worst > sens {
				t.Errorf(
					"%v, limit %v: change %v above the declared %v",
					rel,
					limit,
					worst,
					sens,
				)
			}
			if limit <= 1.9 && worst < .7*sens { // a constant entry keeps rows from being orthogonal
				t.Errorf(
					"%v, limit %v: largest change found is %.3f of the declared sensitivity",
					rel,
					limit,
					worst/sens,
				)
			}
		}
	}
}

func gramOf(s *Session, limit float64, rows [][]int16, pick []int) Bounded[Symmetric] {
	g := s.NewGram(3, limit)
	block := make([][]int16, 3)
	for _, i := range pick {
		for k := range block {
			block[k] = append(block[k], rows[i][k])
		}
	}
	g.Add(block)
	return g.Bound()
}

func frobeniusDistance(a, b Symmetric) float64 {
	sum := 0.0
	k := 0
	for i := range a.P {
		for j := i; j < a.P; j++ {
			d := float64(b.Packed[k] - a.Packed[k])
			sum += d * d
			if i != j {
				sum += d * d
			}
			k++
		}
	}
	return math.Sqrt(sum)
}

// TestClip checks that clipping leaves no row longer than the limit, enlarges no entry, changes no sign, and does not
// touch rows within the limit.
func TestClip(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.IntRange(1, 9).Draw(t, "p")
		n := rapid.IntRange(1, 5).Draw(t, "n")
		limit := rapid.Float64Range(1e-3, 9).Draw(t, "limit")
		g := s.NewGram(p, limit)
		before := make([][]int16, p)
		after := make([][]int16, p)
		for k := range before {
			before[k] = rapid.SliceOfN(rapid.Int16(), n, n).Draw(
				t,
				fmt.Sprint("column", k),
			)
			after[k] = append([]int16(nil), before[k]...)
		}
		g.clipRows(after)
		for i := range n {
			var was, is uint64
			for k := range before {
				b := int64(min(max(before[k][i], -FixedOne), FixedOne))
				a := int64(after[k][i])
				was += uint64(b * b)
				is += uint64(a * a)
				if a*b < 0 || a*a > b*b {
					t.Fatalf("entry %d became %d", b, a)
				}
			}
			if is > g.limit {
				t.Fatalf(
					"norm² %d above the limit %d",
					is, g.limit,
				)
			}
			if was <= g.limit && is != was {
				t.Fatalf(
					"a row of norm² %d within %d was changed",
					was, g.limit,
				)
			}
			if was > g.limit &&
				math.Sqrt(float64(g.limit))-math.Sqrt(float64(is)) > float64(2*p)+
					math.Sqrt(float64(g.limit))/(1<<14) {
				t.Fatalf(
					"norm² %d cut to %d with limit %d",
					was, is, g.limit,
				)
			}
		}
	})
}

// TestSumsIgnoreOrderAndCuts checks that every sum is bit-identical if the rows are permuted or added in other
// blocks.
func TestSumsIgnoreOrderAndCuts(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		x := rapid.SliceOfN(rapid.Float64(), n, n).Draw(t, "x")
		order := rapid.Permutation(x).Draw(t, "order")
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		whole := s.NewSums([]float64{-1}, []float64{1})
		whole.Add([][]float64{x})
		a := s.NewSums([]float64{-1}, []float64{1})
		b := s.NewSums([]float64{-1}, []float64{1})
		a.Add([][]float64{order[:cut]})
		b.Add([][]float64{order[cut:]})
		a.Cells().mergeValues(b.Cells().copyValues())
		if a.sums[0] != whole.sums[0] {
			t.Fatalf(
				"%d and %d",
				a.sums[0], whole.sums[0],
			)
		}
	})
}

func TestMisshapenBlocksPanic(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	for name, f := range map[string]func(){
		"histogram columns": func() {
			s.NewHistogram([]int{1, 1}, 3).Add([][]uint16{{1}})
		},
		"histogram lengths": func() {
			s.NewHistogram([]int{1, 1}, 3).Add([][]uint16{{1}, {1, 2}})
		},
		"histogram numbers": func() {
			s.NewUnevenHistogram([]int{1, 1}, []int{3})
		},
		"gram columns": func() {
			s.NewGram(2, 1).Add([][]int16{{1}})
		},
		"gram lengths": func() {
			s.NewGram(2, 1).Add([][]int16{{1}, {1, 2}})
		},
		"sums columns": func() {
			s.NewSums([]float64{0}, []float64{1}).Add(nil)
		},
		"sums lengths": func() {
			s.NewSums([]float64{0, 0}, []float64{1, 1}).Add([][]float64{{1}, {1, 2}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("a block in which a record might count twice was accepted")
				}
			}()
			f()
		})
	}
}
