package mechanism

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/noise"
)

// wordTable holds two columns whose text categories are to be found: one in memory as codes, and one of cells with
// text among numbers. Record r has the texts r%4 and r/4%4, and the last of the four is a missing value.
func wordTable(t *testing.T, rows []int) dataset.View {
	t.Helper()
	schema := dataset.Schema{Columns: []dataset.Column{
		{
			Name:  "a",
			Kind:  dataset.Category,
			Other: true,
			Found: true,
		},
		{Name: "b", Found: true},
	}}
	columns := []dataset.ColumnData{
		{
			Codes: []int32{},
			Words: []string{"x", "y", "z"},
		},
		{
			Floats: []float64{},
			Codes:  []int32{},
			Words:  []string{"x", "y", "z"},
		},
	}
	code := func(k int) int32 {
		return int32((k%4+1)%4) - 1
	}
	for _, r := range rows {
		columns[0].Codes = append(columns[0].Codes, code(r))
		columns[1].Codes = append(columns[1].Codes, code(r/4))
		columns[1].Floats = append(columns[1].Floats, math.NaN())
	}
	table, err := dataset.NewTable(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table.View()
}

// lexiconChange is the L2 distance of two lexicons, in grid units, over all texts.
func lexiconChange(a, b Lexicon) float64 {
	change := map[string]int64{}
	for sign, x := range map[int64]Lexicon{-1: a, 1: b} {
		for i, c := range x.columns {
			for k, word := range c.Words {
				change[fmt.Sprint(i, word)] += sign * c.Counts[k]
			}
		}
	}
	sum := 0.
	for _, d := range change {
		sum += float64(d * d)
	}
	return math.Sqrt(sum) / countUnit
}

// TestWordsSensitivity searches all tables of two records with every pair of texts, the missing one included, and their
// neighbours. The bound must hold and be attained.
func TestWordsSensitivity(t *testing.T) {
	for rel, want := range map[budget.Relation]float64{
		budget.AddRemove:  math.Sqrt2,
		budget.Substitute: 2,
	} {
		s := testSession(t, rel, 1)
		bound := rememberTables(2, func(rows []int) Bounded[Lexicon] {
			return s.NewLexicon(wordTable(t, rows), []int{0, 1})
		})
		worst := 0.
		eachNeighbour(2, 16, rel, func(a, b []int) {
			worst = max(worst, lexiconChange(bound(a).value, bound(b).value))
		})
		declared := bound(nil)
		got := declared.Sensitivity()
		if got < want || got > want*(1+1e-9) {
			t.Errorf(
				"%v: declared %v, want %v",
				rel, got, want,
			)
		}
		if worst > declared.sens || worst < .999999*declared.sens {
			t.Errorf(
				"%v: largest change %v, declared %v",
				rel, worst, declared.sens,
			)
		}
	}
}

// wordSession returns a session with leaves for the text categories of two columns, for the given mu and delta q.
func wordSession(
	t *testing.T,
	mu, q float64,
	rel budget.Relation,
	unit budget.Unit,
) *Session {
	t.Helper()
	counts := budget.FixedLeaf(
		"counts",
		budget.Law{
			Kind:  budget.Gaussian,
			Mu:    mu,
			Draws: 1,
		},
	).WithStatistic(StatWords)
	words := budget.FixedLeaf(
		"words",
		budget.Law{
			Kind:  budget.Approximate,
			Delta: q,
			Draws: 1,
		},
	).WithStatistic(StatNewWords)
	p, err := budget.Calibrate(
		budget.Sequence("run", counts, words),
		budget.Target{
			Epsilon:  1e6,
			Delta:    .9,
			Relation: rel,
			Unit:     unit,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// passProbability returns the exact probability that a count of c and its noise reach the threshold.
func passProbability(least int64, sigma, c float64) float64 {
	return math.Erfc((float64(least)-c/countUnit-.5)/sigma/math.Sqrt2) / 2
}

// TestWordsThreshold reproduces the specification. It also compares the exact probability that a record, or a unit of
// several, reveals a text that no other record has with the delta charged for it, over all assignments of a unit's
// records to texts.
func TestWordsThreshold(t *testing.T) {
	const mu, q = .0744721, 1e-7
	for _, c := range []struct {
		d                int
		substitute       bool
		sigma, threshold float64
	}{
		{1, false, 13.427848, 70.815913},
		{5, false, 30.025580, 165.866009},
		{20, false, 60.051160, 345.136917},
		{100, false, 134.278477, 806.376388},
		{1, true, 18.9898, 99.7346},
		{5, true, 42.4626, 234.1557},
		{100, true, 189.8984, 1139.9742},
	} {
		rel := budget.AddRemove
		columns := float64(c.d)
		if c.substitute {
			rel = budget.Substitute
			columns = 2 * columns
		}
		s := wordSession(t, mu, q, rel, budget.Unit{})
		sigma := math.Sqrt(columns) / mu
		got := LeastCount(s, "words", sigma, c.d)
		if math.Abs(sigma-c.sigma) > 1e-3*c.sigma ||
			math.Abs(got-c.threshold) > 2e-3*c.threshold ||
			got < c.threshold-1e-2 {
			t.Errorf(
				"d = %d: sigma %v, threshold %v, want %v and %v",
				c.d,
				sigma,
				got,
				c.sigma,
				c.threshold,
			)
		}
	}
	for _, c := range []struct{ d, m int }{{1, 1}, {7, 1}, {1, 2}, {3, 5}} {
		for _, sigma := range []float64{.7, 3, 150} {
			s := wordSession(t, 1, .01, budget.AddRemove, unitOf(c.m))
			grid := sigma / countUnit
			least, err := s.leastCount(.01, uint64(grid), c.d)
			if err != nil {
				t.Fatal(err)
			}
			worst := 0.
			eachPartition(c.m, c.m, nil, func(sizes []int) {
				hidden := 1.
				for _, n := range sizes {
					hidden *= 1 - passProbability(least, grid, float64(n))
				}
				worst = max(worst, 1-math.Pow(hidden, float64(c.d)))
			})
			if worst > .01 {
				t.Errorf(
					"d = %d, m = %d, sigma %v: a new word appears with probability %v",
					c.d,
					c.m,
					sigma,
					worst,
				)
			}
			if c.m == 1 && worst < .0099 {
				t.Errorf(
					"d = %d, sigma %v: %v, hardly anything of what is charged",
					c.d,
					sigma,
					worst,
				)
			}
		}
	}
}

func unitOf(m int) budget.Unit {
	if m == 1 {
		return budget.Unit{}
	}
	return budget.Unit{Column: "u", MaxRows: m}
}

// eachPartition visits all lists of positive numbers up to most that sum to at most n.
func eachPartition(n, most int, sizes []int, visit func([]int)) {
	visit(sizes)
	for k := min(n, most); k >= 1; k-- {
		eachPartition(n-k, k, append(slices.Clip(sizes), k), visit)
	}
}

// TestNewWordAppears checks that in 40,000 runs with a record that alone has a certain text, this text is published
// as often as its exact probability predicts, within five standard deviations (false alarm below 1e-6), and at most
// with the probability charged.
func TestNewWordAppears(t *testing.T) {
	const runs, q = 40_000, .02
	v := wordTable(t, []int{0})
	s := wordSession(t, .5, q, budget.AddRemove, budget.Unit{})
	p := s.core.priced
	appeared := 0
	for range runs {
		s, err := NewSession(p.Again())
		if err != nil {
			t.Fatal(err)
		}
		out, err := Words(
			s, "counts", "words",
			s.NewLexicon(v, []int{0, 1}),
		)
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Value()[0])+len(out.Value()[1]) > 0 {
			appeared++
		}
	}
	if got, tolerance := float64(appeared)/runs,
		5*math.Sqrt(q*(1-q)/runs); math.Abs(got-q) > tolerance {
		t.Errorf(
			"a new word appears in %v of the runs, %v is charged",
			got, q,
		)
	}
}

// TestFrequentWordsArePublished checks that a text of many records is published with about its count, that the list is
// sorted, and that the order of the records does not matter.
func TestFrequentWordsArePublished(t *testing.T) {
	rows := slices.Concat(
		slices.Repeat([]int{0}, 300),
		slices.Repeat([]int{1}, 400),
		slices.Repeat([]int{6}, 3),
		slices.Repeat([]int{3}, 500),
	)
	s := wordSession(t, 1, 1e-7, budget.AddRemove, budget.Unit{})
	out, err := Words(
		s, "counts", "words",
		s.NewLexicon(wordTable(t, rows), []int{0, 1}),
	)
	if err != nil {
		t.Fatal(err)
	}
	first := out.Value()[0]
	second := out.Value()[1]
	if len(first) != 2 ||
		first[0].Text != "y" ||
		first[1].Text != "x" ||
		math.Abs(first[0].Count-400) > 12 ||
		math.Abs(first[1].Count-300) > 12 {
		t.Errorf("first column: %v", first)
	}
	if len(second) != 1 || second[0].Text != "x" {
		t.Errorf("second column: %v", second)
	}
	slices.Reverse(rows)
	a, _ := s.NewLexicon(
		wordTable(t, rows),
		[]int{0, 1},
	).value.releaseWords(
		s.core.key,
		"leaf",
		1<<20,
		10<<20,
	)
	slices.Reverse(rows)
	b, _ := s.NewLexicon(
		wordTable(t, rows),
		[]int{0, 1},
	).value.releaseWords(
		s.core.key,
		"leaf",
		1<<20,
		10<<20,
	)
	if !slices.EqualFunc(a, b, slices.Equal[[]Word]) {
		t.Errorf(
			"another order of the records: %v and %v",
			a, b,
		)
	}
	_, err = Words(
		s,
		"counts",
		"words",
		s.NewLexicon(wordTable(t, rows), []int{0, 1}),
	)
	if err == nil {
		t.Error("the leaf was spent twice")
	}
}

func BenchmarkWords(b *testing.B) {
	x := Lexicon{columns: []WordCounts{{make([]string, 50_000), make([]int64, 50_000)}}}
	for i := range x.columns[0].Words {
		x.columns[0].Words[i] = fmt.Sprint("code ", i)
		x.columns[0].Counts[i] = 1 + int64(100_000/(i+1))
	}
	for b.Loop() {
		x.releaseWords(noise.Key{1}, "leaf", 14<<20, 71<<20)
	}
}
