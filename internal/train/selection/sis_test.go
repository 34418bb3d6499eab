package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

func sisForms() []mechanism.TopKForm {
	return []mechanism.TopKForm{mechanism.OneShot, mechanism.Peeling, mechanism.Lipschitz,
		mechanism.LipschitzExponential}
}

func sisScores() []SISScore {
	return []SISScore{ScoreAuto, ScoreTau, ScoreCorrelation, ScoreProduct}
}

// sisTable builds a table of numeric columns c0, c1, ... and its facts, with
// the same range for all.
func sisTable(t testing.TB, r scaling.Range, columns ...[]float64) (dataset.View, Facts) {
	t.Helper()
	var schema dataset.Schema
	var data []dataset.ColumnData
	for j, c := range columns {
		schema.Columns = append(
			schema.Columns,
			dataset.Column{Name: fmt.Sprint("c", j)},
		)
		data = append(data, dataset.ColumnData{Floats: c})
	}
	return sisView(t, r, schema, data)
}

func sisView(
	t testing.TB,
	r scaling.Range,
	schema dataset.Schema,
	data []dataset.ColumnData,
) (dataset.View, Facts) {
	t.Helper()
	tab, err := dataset.NewTable(schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	last := len(data) - 1
	f := Facts{Columns: schema.Columns[:last], Target: schema.Columns[last]}
	for range data {
		f.Ranges = append(f.Ranges, r)
	}
	return tab.View(), f
}

// priceSIS plans a SIS and prices it for a budget with delta 0.
func priceSIS(t testing.TB, x SIS, epsilon float64, f Facts) *budget.Priced {
	t.Helper()
	node, private, err := x.Plan(f)
	if err != nil || !private {
		t.Fatalf("plan: private %v, %v", private, err)
	}
	priced, err := budget.Calibrate(
		budget.Sequence("selection", node),
		budget.Target{Epsilon: epsilon, Relation: f.Relation},
	)
	if err != nil {
		t.Fatal(err)
	}
	return priced
}

// runSIS runs a SIS once at an epsilon, with delta 0.
func runSIS(t testing.TB, x SIS, epsilon float64, v dataset.View, f Facts) []int {
	t.Helper()
	return pickPriced(t, x, priceSIS(t, x, epsilon, f), v, f)
}

func pickPriced(
	t testing.TB,
	x SIS,
	priced *budget.Priced,
	v dataset.View,
	f Facts,
) []int {
	t.Helper()
	s, err := mechanism.NewSession(priced.Again())
	if err != nil {
		t.Fatal(err)
	}
	out, err := x.Select(context.Background(), s, f, memory.NewRecords(v))
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != x.K ||
		!slices.IsSorted(out) ||
		len(slices.Compact(slices.Clone(out))) != x.K ||
		out[0] < 0 ||
		out[x.K-1] >= len(f.Columns) {
		t.Fatalf(
			"chose %v: not %d different ones of %d, increasing",
			out, x.K, len(f.Columns),
		)
	}
	return out
}

// TestSISFindsWhatMatters checks that with an ample budget every score, form and relation picks the three columns
// that determine the target, including one with a decreasing effect.
func TestSISFindsWhatMatters(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	columns := make([][]float64, 13)
	for range 1500 {
		y := rng.NormFloat64()
		for j := range 12 {
			v := rng.NormFloat64()
			switch j {
			case 0, 7:
				y += 2 * v
			case 4:
				y -= 2 * v
			}
			columns[j] = append(columns[j], v)
		}
		columns[12] = append(columns[12], y)
	}
	v, f := sisTable(t, scaling.Range{Lower: -6, Upper: 6}, columns...)
	for _, f.Relation = range []budget.Relation{budget.AddRemove, budget.Substitute} {
		for _, score := range sisScores() {
			for _, form := range sisForms() {
				got := runSIS(
					t,
					SIS{
						K:     3,
						Score: score,
						TopK:  form,
					},
					30,
					v,
					f,
				)
				if !slices.Equal(got, []int{0, 4, 7}) {
					t.Errorf(
						"%v, %s, %v: chose %v, want [0 4 7]",
						f.Relation,
						score,
						form,
						got,
					)
				}
			}
		}
	}
}

// TestSISCentresTheTarget checks a column and a target that both stay near an end of their ranges: they have a large
// product and no correlation.
func TestSISCentresTheTarget(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var constant, signal, y []float64
	for range 2000 {
		v := rng.Float64()
		signal = append(signal, v)
		y = append(y, .7+.3*v)
		constant = append(constant, .95+.05*rng.Float64())
	}
	v, f := sisTable(
		t,
		scaling.Range{Lower: -1, Upper: 1},
		constant, signal, y,
	)
	x := SIS{
		K:     1,
		TopK:  mechanism.OneShot,
		Score: ScoreProduct,
	}
	got := runSIS(t, x, 100, v, f)
	if got[0] != 0 {
		t.Errorf(
			"product chose column %d, the product of the means is in column 0",
			got[0],
		)
	}
	for _, x.Score = range []SISScore{ScoreCorrelation, ScoreTau} {
		got := runSIS(t, x, 100, v, f)
		if got[0] != 1 {
			t.Errorf(
				"%s chose column %d, want 1",
				x.Score, got[0],
			)
		}
	}
}

// TestSISCategories checks that a category column is found by the value that matters, even if it is the entry for
// unlisted values, and that a tau follows the listed order.
func TestSISCategories(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "noise"},
		{
			Name:       "site",
			Kind:       dataset.Category,
			Categories: []string{"a", "b"},
			Other:      true,
		},
		{
			Name:       "plain",
			Kind:       dataset.Category,
			Categories: []string{"a", "b"},
		},
		{Name: "y"},
	}}
	data := make([]dataset.ColumnData, 4)
	for range 3000 {
		c := rng.Int32N(3)
		data[0].Floats = append(data[0].Floats, rng.NormFloat64())
		data[1].Codes, data[2].Codes = append(data[1].Codes, c),
			append(data[2].Codes, rng.Int32N(3))
		data[3].Floats = append(
			data[3].Floats,
			float64(c/2)+rng.NormFloat64()/4,
		)
	}
	v, f := sisView(
		t,
		scaling.Range{Lower: -3, Upper: 3},
		schema, data,
	)
	for _, score := range []SISScore{ScoreTau, ScoreCorrelation} {
		got := runSIS(
			t,
			SIS{
				K:     1,
				Score: score,
				TopK:  mechanism.OneShot,
			},
			100,
			v,
			f,
		)
		if got[0] != 1 {
			t.Errorf(
				"%s chose column %d, want 1",
				score, got[0],
			)
		}
	}
}

// TestSISReadsTheView checks that scores use the rows of the view only: there columns 2 and 3 determine the target,
// and in the other rows columns 0 and 1.
func TestSISReadsTheView(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	columns := make([][]float64, 5)
	var rows []int32
	for i := range 4000 {
		y := rng.NormFloat64()
		first := 0
		if i%3 == 0 {
			first = 2
			rows = append(rows, int32(i))
		}
		for j := range 4 {
			x := rng.NormFloat64()
			if j/2 == first/2 {
				y += 2 * x
			}
			columns[j] = append(columns[j], x)
		}
		columns[4] = append(columns[4], y)
	}
	v, f := sisTable(t, scaling.Range{Lower: -5, Upper: 5}, columns...)
	for _, score := range sisScores() {
		x := SIS{
			K:     2,
			Score: score,
			TopK:  mechanism.OneShot,
		}
		got := runSIS(t, x, 200, v.Select(rows), f)
		if !slices.Equal(got, []int{2, 3}) {
			t.Errorf(
				"%s: chose %v, want [2 3]",
				score, got,
			)
		}
	}
}

// badColumns are lists of three candidates and a target.
func badColumns() map[string][][]float64 {
	nan := math.NaN()
	inf := math.Inf(1)
	big := math.MaxFloat64
	return map[string][][]float64{
		"no rows": {{}, {}, {}, {}},
		"one row": {{1}, {2}, {3}, {4}},
		"two rows": {
			{1, 2}, {2, 2},
			{3, 1}, {4, 9},
		},
		"constant": {
			{1, 1, 1},
			{2, 2, 2},
			{0, 0, 0},
			{5, 5, 5},
		},
		"equal": {
			{3, 3, 3},
			{3, 3, 3},
			{3, 3, 3},
			{3, 3, 3},
		},
		"constant target": {
			{1, 2, 3},
			{2, 7, 2},
			{0, 0, 0},
			{5, 5, 5},
		},
		"missing": {
			{nan, nan, nan},
			{1, nan, 2},
			{nan, nan, 1},
			{nan, 1, 2},
		},
		"all missing": {
			{nan, nan}, {nan, nan},
			{nan, nan}, {nan, nan},
		},
		"infinite": {
			{inf, -inf, inf},
			{1, 2, 3},
			{inf, 1, 2},
			{-inf, inf, 0},
		},
		"huge": {
			{big, -big, 0},
			{1, 2, 3},
			{big, big, 5e-324},
			{-big, big, 0},
		},
		"duplicates": {
			{1, 2, 3},
			{1, 2, 3},
			{1, 2, 3},
			{1, 2, 3},
		},
	}
}

// TestSISIsTotal checks that K different columns are chosen for every score, form and relation, whatever the columns
// and the ranges contain.
func TestSISIsTotal(t *testing.T) {
	const big = math.MaxFloat64
	ranges := []scaling.Range{
		{Lower: -1, Upper: 1},
		{Lower: -big, Upper: big},
		{Lower: 1, Upper: 1 + 0x1p-52},
		{Lower: 0, Upper: 5e-324},
	}
	facts := numericFacts("c0", "c1", "c2")
	for _, facts.Relation = range []budget.Relation{budget.AddRemove, budget.Substitute} {
		for i, score := range sisScores() {
			x := SIS{
				K:     2,
				Score: score,
				TopK:  sisForms()[i],
			}
			little := priceSIS(t, x, .1, facts)
			ample := priceSIS(t, x, 30, facts)
			for name, columns := range badColumns() {
				for _, r := range ranges {
					v, f := sisTable(t, r, columns...)
					f.Relation = facts.Relation
					t.Run(fmt.Sprint(name, r, f.Relation, score), func(t *testing.T) {
						pickPriced(t, x, little, v, f)
						pickPriced(t, x, ample, v, f)
					})
				}
			}
		}
	}
}

// TestSISOddCategories checks that a category column without values, and one with codes outside the list, are handled
// like others.
func TestSISOddCategories(t *testing.T) {
	v, f := sisView(
		t,
		scaling.Range{Lower: -1, Upper: 1},
		dataset.Schema{Columns: []dataset.Column{
			{Name: "none", Kind: dataset.Category},
			{
				Name:       "two",
				Kind:       dataset.Category,
				Categories: []string{"a", "b"},
			},
			{Name: "y"},
		}},
		[]dataset.ColumnData{
			{Codes: []int32{0, -5, 9}},
			{Codes: []int32{1, 7, 0}},
			{Floats: []float64{1, math.NaN(), 0}},
		},
	)
	for _, score := range sisScores() {
		runSIS(t, SIS{K: 1, Score: score}, 1, v, f)
	}
}

// TestSISAnyTable checks that the chosen columns are K different candidates for any values.
func TestSISAnyTable(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(r, "n")
		d := rapid.IntRange(2, 6).Draw(r, "d")
		columns := make([][]float64, d+1)
		for j := range columns {
			columns[j] = rapid.SliceOfN(rapid.Float64(), n, n).Draw(r, "column")
		}
		v, f := sisTable(t, scaling.Range{Lower: -2, Upper: 3}, columns...)
		x := SIS{
			K:     rapid.IntRange(1, d-1).Draw(r, "k"),
			TopK:  rapid.SampledFrom(sisForms()).Draw(r, "form"),
			Score: rapid.SampledFrom(sisScores()).Draw(r, "score"),
		}
		runSIS(
			t, x,
			rapid.Float64Range(.01, 40).Draw(r, "epsilon"),
			v, f,
		)
	})
}

// TestSISLaw checks that of two candidates the better one is chosen with the odds exp(epsilon (t_0-t_1)/width) by
// one-shot and peeling, and with their square root by Lipschitz, whose loss is half the difference: the width of tau
// is 2.5 when a record is added, 4 when one is replaced. 4000 runs each, within six standard deviations (false alarm
// below 1e-8).
func TestSISLaw(t *testing.T) {
	up := []float64{1, 2, 3, 4, 5}
	v, f := sisTable(t, scaling.Range{}, up, []float64{2, 2, 2, 2, 2}, up) // t = 10/4 and 0
	for rel, width := range map[budget.Relation]float64{
		budget.AddRemove:  2.5,
		budget.Substitute: 4,
	} {
		f.Relation = rel
		for form, share := range map[mechanism.TopKForm]float64{
			mechanism.OneShot:   1,
			mechanism.Peeling:   1,
			mechanism.Lipschitz: .5,
		} {
			const runs, epsilon = 4000, 1.5
			p := 1 / (1 + math.Exp(-share*epsilon*2.5/width))
			first := 0.0
			x := SIS{
				K:     1,
				Score: ScoreTau,
				TopK:  form,
			}
			priced := priceSIS(t, x, epsilon, f)
			for range runs {
				if pickPriced(t, x, priced, v, f)[0] == 0 {
					first++
				}
			}
			if math.Abs(first-runs*p) > 6*math.Sqrt(runs*p*(1-p)) {
				t.Errorf(
					"%v, %v: %v of %d first choices, expected %.0f",
					rel,
					form,
					first,
					runs,
					runs*p,
				)
			}
		}
	}
}

func TestSISPlan(t *testing.T) {
	f := numericFacts("a", "b", "c")
	gamma := SIS{
		K:        1,
		TopK:     mechanism.Lipschitz,
		Gamma:    .25,
		HasGamma: true,
	}
	_, private, err := gamma.Plan(f)
	if err != nil || !private {
		t.Errorf(
			"gamma 1/4: private %v, %v",
			private, err,
		)
	}
	gamma.Gamma = 1
	for _, c := range []struct {
		x    SIS
		want error
	}{
		{SIS{K: 0}, ErrCount},
		{SIS{K: -1}, ErrCount},
		{SIS{K: 3}, ErrCount},
		{SIS{K: 4}, ErrCount},
		{SIS{K: 1, Score: "spearman"}, ErrScore},
		{gamma, mechanism.ErrTopK},
		{SIS{K: 1, TopK: 9}, mechanism.ErrTopK},
	} {
		_, private, err := c.x.Plan(f)
		if !errors.Is(err, c.want) || private {
			t.Errorf(
				"%+v: private %v, %v; want %v",
				c.x, private, err, c.want,
			)
		}
	}
	for _, score := range []SISScore{ScoreTau, ScoreProduct, ScoreCorrelation} {
		x := SIS{K: 1, Score: score}
		if x.NeedsRanges(f) != (score != ScoreTau) ||
			x.resolveScore(f) != x ||
			x.Name() != "sis" {
			t.Errorf(
				"%s: needs ranges %v, resolves to %+v",
				score,
				x.NeedsRanges(f),
				x.resolveScore(f),
			)
		}
	}
	for _, x := range []SIS{
		{K: 5},
		{K: 5, Score: ScoreAuto},
	} {
		numbers := Facts{Columns: make([]dataset.Column, wideColumns)}
		mixed := Facts{Columns: make([]dataset.Column, wideColumns)}
		mixed.Columns[7].Kind = dataset.Category
		wide := Facts{Columns: append(mixed.Columns, dataset.Column{})}
		for name, c := range map[string]struct {
			f    Facts
			want SISScore
		}{
			"numbers":      {numbers, ScoreTau},
			"a category":   {mixed, ScoreCorrelation},
			"a wide table": {wide, ScoreTau},
		} {
			got := x.resolveScore(c.f).Score
			if got != c.want ||
				x.NeedsRanges(c.f) != (c.want != ScoreTau) {
				t.Errorf(
					"auto on %s is %s, want %s",
					name, got, c.want,
				)
			}
		}
	}
	f.Columns[1].Kind = dataset.Category
	f.Columns[1].Categories = []string{"x", "y"}
	most := (SIS{K: 2}).Widest(f)
	if len(most) != 2 || most[0].Name != "b" {
		t.Errorf("widest choice %v", most)
	}
}

// TestSISWithoutRanges checks that a score on scaled columns reports missing ranges, and that auto needs no ranges on
// a wide table.
func TestSISWithoutRanges(t *testing.T) {
	v, f := sisTable(t, scaling.Range{}, rearrangedColumns(7, 1, 2, 3, 4)...)
	f.Ranges = f.Ranges[:2]
	for _, x := range []SIS{
		{K: 1, Score: ScoreCorrelation},
		{K: 1, Score: ScoreProduct},
	} {
		_, err := x.Select(
			context.Background(),
			sisSession(t, x, f),
			f,
			memory.NewRecords(v),
		)
		if !errors.Is(err, ErrRanges) {
			t.Errorf("%q: %v", x.Score, err)
		}
	}
	steps := make([]int, wideColumns+2)
	for j := range steps {
		steps[j] = j + 1
	}
	v, f = sisTable(t, scaling.Range{}, rearrangedColumns(7, steps...)...)
	f.Ranges = nil
	runSIS(t, SIS{K: 3}, 1, v, f)
}

func TestSISCancelled(t *testing.T) {
	v, f := sisTable(
		t,
		scaling.Range{Lower: 0, Upper: 9},
		rearrangedColumns(9, 1, 2, 3, 4)...,
	)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, score := range sisScores() {
		x := SIS{K: 1, Score: score}
		_, err := x.Select(
			ctx, sisSession(t, x, f), f,
			memory.NewRecords(v),
		)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", score, err)
		}
	}
}

func sisSession(t testing.TB, x SIS, f Facts) *mechanism.Session {
	t.Helper()
	s, err := mechanism.NewSession(priceSIS(t, x, 1, f))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ExampleSIS() {
	f := Facts{Columns: []dataset.Column{
		{Name: "age"},
		{Name: "dose"},
		{
			Name:       "site",
			Kind:       dataset.Category,
			Categories: []string{"north", "south"},
		},
	}}
	x := SIS{K: 2}
	node, private, err := x.Plan(f)
	fmt.Println(x.TopK, x.NeedsRanges(f))
	fmt.Println(node.Kids[0].Name, node.Kids[1].Name, private, err)
	// Output:
	// one-shot true
	// center choice true <nil>
}
