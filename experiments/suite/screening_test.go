package suite

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/bench/published"
)

func TestScreeningKs(t *testing.T) {
	for _, c := range []struct {
		data string
		d    int
		want []int
	}{
		{"alon", 2000, []int{5, 7}},
		{"sorlie", 456, []int{5, 6}},
		{"yeoh", 12625, []int{5, 9}},
		{"wide", 150, []int{5}},
		{"small", 20, []int{5, 2}},
		{"tiny", 5, []int{1}},
		{syntheticSet, 2000, []int{5, 8}},
	} {
		got := screeningKs(c.data, c.d)
		if !slices.Equal(got, c.want) {
			t.Errorf(
				"%s, %d columns: %v, want %v",
				c.data, c.d, got, c.want,
			)
		}
	}
}

// TestScreeningTable runs all methods on one table and renders its page.
func TestScreeningTable(t *testing.T) {
	dir := t.TempDir()
	smallTable(t, dir, "small.csv", 300, 12)
	s := &screening{
		data: "small",
		path: filepath.Join(dir, "small.csv"),
	}
	p := &Plan{Header: testHeader, Tasks: s.tasks(12, Options{Trials: 2})}
	store := openStore(t, t.TempDir())
	defer store.Close()
	err := p.Run(t.Context(), store, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, r := range store.Records() {
		if r.Status != OK {
			t.Fatalf("%+v", r)
		}
		if len(r.Picked) != r.Setting.K ||
			!slices.IsSorted(r.Picked) ||
			r.Picked[0] < 1 ||
			r.Picked[r.Setting.K-1] > 12 {
			t.Errorf(
				"picked %v for k = %d",
				r.Picked, r.Setting.K,
			)
		}
		seen[r.Method]++
		if r.Method == plainTau &&
			r.Setting.K == 2 &&
			(r.Values[metricOverlap] != 1 ||
				r.Values[metricRows] != 300 ||
				r.Values[metricR2] < .9) {
			t.Errorf("the two columns that matter: %+v", r)
		}
		if r.Method == methodSIS &&
			r.Setting.K == 2 &&
			r.Setting.Epsilon == 20 &&
			(r.Values[metricOverlap] != 1 || r.Values[metricTop] != 1) {
			t.Errorf("with much budget: %+v", r)
		}
	}
	// Numbers of cells: trials x budgets x (k = 5, k = 2, and k = 10 if quality is measured); three budgets and one k
	// if ranges are released.
	want := map[string]int{
		plainTau:          2,
		plainSIS:          2,
		methodSIS:         42,
		"sis-tau-peeling": 42,
		methodTwoStage:    28,
		"sis-product":     6,
		"sis-correlation": 6,
		published.NameSIS: 28,
	}
	for m, n := range want {
		if seen[m] != n {
			t.Errorf(
				"%d trials of %s, want %d",
				seen[m], m, n,
			)
		}
	}
	text := checkPage(t, screeningPage(store.Records()))
	for _, part := range []string{"small, k = 2", "small, k = 5", "± ", "TOP", "ε = 0.1",
		"w1-w2, nonprivate-sis"} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
}

// TestSyntheticSet checks that every method chooses from the synthetic set and that with a large budget most find
// more correct columns than chance would.
func TestSyntheticSet(t *testing.T) {
	x, y, truth := newSyntheticSet(newGenerator(syntheticSet, 0, 1))
	if len(x) != syntheticColumns ||
		len(y) != syntheticRows ||
		len(truth) != syntheticNonZero {
		t.Fatalf(
			"%d columns, %d rows, %d right",
			len(x), len(y),
			len(truth),
		)
	}
	// The right columns explain y up to the noise: the R² of least squares on them is at least 1 - (1.5 * 4) / (8 *
	// 1.84²).
	residual := slices.Clone(y)
	for range 200 { // coordinate descent
		for _, j := range truth {
			a := 0.
			b := 0.
			for i, v := range x[j] {
				a += v * residual[i]
				b += v * v
			}
			for i, v := range x[j] {
				residual[i] -= a / b * v
			}
		}
	}
	ratio := deviation(residual) / deviation(y)
	if ratio*ratio > .22 {
		t.Errorf(
			"the right columns leave %.2f of the variance",
			ratio*ratio,
		)
	}
	s := &screening{data: syntheticSet}
	on, err := s.draw(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range screeningMethods() {
		if m.ranged {
			continue // slow; TestScreeningTable runs them
		}
		k := Key{screeningCell(syntheticSet, m, syntheticNonZero, 1000), 1}
		o := on.trial(t.Context(), k, newGenerator("test", 0, 1))
		if o.Status != OK ||
			len(o.Picked) != syntheticNonZero ||
			m.name != methodTwoStage && o.Values[metricOverlap] < .25 {
			t.Errorf("%s: %+v", m.name, o)
		}
	}
	o := on.trial(
		t.Context(),
		Key{Cell{syntheticSet, "magic", Setting{K: 5, Epsilon: 1}}, 1},
		nil,
	)
	if o.Status != Unavailable {
		t.Errorf("an unknown method: %+v", o)
	}
	o = on.trial(
		t.Context(),
		Key{screeningCell(syntheticSet, screeningMethods()[0], 2000, 1), 1},
		nil,
	)
	if o.Status != Failed {
		t.Errorf("all columns of 2000: %+v", o)
	}
}

func TestReferenceOrder(t *testing.T) {
	got := byMagnitude([]float64{0, -3, 2, 3, 0, -2.5})
	if !slices.Equal(got, []int{1, 3, 5, 2}) {
		t.Errorf("order %v", got)
	}
	got = (reference{order: []int{4, 2}}).firstColumns(5)
	if !slices.Equal(got, []int{4, 2}) {
		t.Errorf("top %v", got)
	}
	if got := overlap([]int{1, 2, 3, 4, 5}, []int{5, 9, 1}, 5); got != .4 {
		t.Errorf("overlap %v", got)
	}
	// |tau|: 1, 2, 3, 4 against 2, 1, 3, 4 has one discordant pair, so S = 4.
	scores, err := tauScores(
		t.Context(),
		[][]float64{
			{1, 2, 3, 4},
			{4, 4, 4, 4},
		},
		[]float64{2, 1, 3, 4},
	)
	if err != nil ||
		!almostEqual(scores[0], 4./3) ||
		scores[1] != 0 {
		t.Errorf("scores %v, %v", scores, err)
	}
	c := correlationScores(
		[][]float64{{-1, -2, -3}, {5, 5, 5}},
		[]float64{2, 4, 6},
	)
	if !almostEqual(c[0], 1) || c[1] != 0 {
		t.Errorf("correlations %v", c)
	}
	// In y = 10 a + b, a has the smaller unit, so b matters more.
	g := newGenerator("test", 0, 0)
	a := g.normals(500)
	b := g.normals(500)
	y := make([]float64, 500)
	for i := range a {
		a[i] *= .1
		b[i] *= 2
		y[i] = 10*a[i] + b[i]
	}
	r, err := newReference(t.Context(), [][]float64{a, b}, y)
	if err != nil ||
		!slices.Equal(r.order, []int{1, 0}) ||
		r.r2 < .95 {
		t.Errorf("reference %+v, %v", r, err)
	}
}

func TestFilled(t *testing.T) {
	whole := []float64{1, 2}
	if got := filled(whole); &got[0] != &whole[0] {
		t.Error("a column without gaps was copied")
	}
	got := filled([]float64{
		1, math.NaN(), 3,
		math.Inf(1),
	})
	if !slices.Equal(got, []float64{1, 2, 3, 2}) {
		t.Errorf("%v", got)
	}
	if got := filled([]float64{math.NaN()}); got[0] != 0 {
		t.Errorf("%v", got)
	}
}

func TestDifferenceEntry(t *testing.T) {
	a := Summary{Distribution: Distribution{
		Count: 10,
		Mean:  .75,
		Low:   .72,
		High:  .78,
	}}
	b := Summary{Distribution: Distribution{
		Count: 10,
		Mean:  .5,
		Low:   .46,
		High:  .54,
	}}
	e := differenceEntry(a, b)
	if e.Text != "0.25" ||
		e.Note != "± 0.05" ||
		!e.Strong ||
		e.Heat != .25 {
		t.Errorf("%+v", e)
	}
	b.Low = .1
	b.High = .9
	if e := differenceEntry(a, b); e.Strong {
		t.Errorf("an interval with 0 in it: %+v", e)
	}
	if e := differenceEntry(a, Summary{}); e.Text != "–" {
		t.Errorf("%+v", e)
	}
}

func TestStability(t *testing.T) {
	for _, data := range []string{stableW1, stableW1W2} {
		x, y := stabilityTable(data, newGenerator(data, 0, 1))
		for i := range y {
			from := 0
			if data == stableW1W2 && i%10 == 9 {
				from = 95
			}
			noise := y[i]
			for j := from; j < from+5; j++ {
				noise -= x[j][i]
			}
			if math.Abs(noise) > 6*math.Sqrt(stabilityVariance) {
				t.Errorf(
					"%s: row %d is %v off",
					data, i, noise,
				)
			}
		}
	}
	// Without outliers and with noise of .3 against a signal of 2.2, screening finds most of the five right columns.
	o := runOne(t, Key{stabilityCell(stableW1, plainSIS), 1})
	if o.Status != OK || o.Values[metricOverlap] < .6 {
		t.Errorf("%+v", o)
	}
	o = runOne(t, Key{stabilityCell(stableW1W2, plainTwoStage), 1})
	if o.Status != OK || len(o.Picked) != 5 {
		t.Errorf("%+v", o)
	}
	o = runOne(t, Key{stabilityCell(stableW1, "magic"), 1})
	if o.Status != Failed || !strings.Contains(o.Reason, "magic") {
		t.Errorf("%+v", o)
	}
}

func runOne(t *testing.T, k Key) (out Outcome) {
	t.Helper()
	err := stabilityRun(0)(t.Context(), []Key{k}, func(_ Key, o Outcome) {
		out = o
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLargestBreaksTiesAtRandom checks that equal scores are ordered at random, without favouring a position.
func TestLargestBreaksTiesAtRandom(t *testing.T) {
	times := make([]int, 10)
	g := newGenerator("ties", 0, 0)
	for range 2000 {
		for _, j := range largest(
			[]float64{9, 1, 1, 1, 1, 1, 1, 1, 1, 0},
			3, g,
		) {
			times[j]++
		}
	}
	// Column 0 is always chosen, 9 never, the others 500 times: five standard deviations of a binomial of 2000 and
	// 1/4 are 97 (the seed is fixed, so there is no false alarm).
	for j, n := range times {
		if j == 0 && n != 2000 ||
			j == 9 && n != 0 ||
			j > 0 && j < 9 && (n < 403 || n > 597) {
			t.Errorf("column %d was chosen %d times", j, n)
		}
	}
}

func TestPlanMistakes(t *testing.T) {
	empty := t.TempDir()
	for name, c := range map[string]struct {
		suite string
		o     Options
		want  error
	}{
		"unknown":      {"seed-009", Options{Public: true}, ErrUnknown},
		"no folder":    {Seed000, Options{Public: true}, ErrData},
		"empty folder": {Seed001, Options{Public: true, Data: empty}, ErrData},
		"no such": {
			Seed001,
			Options{Public: true, Data: filepath.Join(empty, "x")},
			ErrData,
		},
		"needless": {Copies, Options{Public: true, Data: empty}, ErrData},
	} {
		_, err := NewPlan(c.suite, c.o)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
