package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
	"github.com/dptrain/dptrain/scaling"
)

// classTable builds a table of numeric columns with one range, category columns
// of the codes given, and a target of so many classes.
func classTable(t testing.TB, half float64, columns [][]float64, categories [][]int32, levels, classes int, y []int32) (dataset.View, Facts) {
	t.Helper()
	var f Facts
	var data []dataset.ColumnData
	for j, c := range columns {
		f.Columns = append(f.Columns, dataset.Column{Name: fmt.Sprint("x", j)})
		data = append(data, dataset.ColumnData{Floats: c})
		f.Ranges = append(f.Ranges, scaling.Range{Lower: -half, Upper: half})
	}
	list := func(n int) (out []string) {
		for k := range n {
			out = append(out, fmt.Sprint("v", k))
		}
		return out
	}
	for j, c := range categories {
		f.Columns = append(f.Columns, dataset.Column{Name: fmt.Sprint("g", j), Kind: dataset.Category, Categories: list(levels)})
		data = append(data, dataset.ColumnData{Codes: c})
		f.Ranges = append(f.Ranges, scaling.Range{})
	}
	f.Target = dataset.Column{Name: "y", Kind: dataset.Category, Categories: list(classes)}
	f.Ranges = append(f.Ranges, scaling.Range{})
	schema := dataset.Schema{Columns: append(slices.Clone(f.Columns), f.Target)}
	tab, err := dataset.NewTable(schema, append(data, dataset.ColumnData{Codes: y}), nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab.All(), f
}

// classSession prices a selector's plan.
func classSession(t testing.TB, x Selector, epsilon float64, f Facts) *mechanism.Session {
	t.Helper()
	s, err := mechanism.NewSession(classPriced(t, x, epsilon, f))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func classPriced(t testing.TB, x Selector, epsilon float64, f Facts) *budget.Priced {
	t.Helper()
	node, private, err := x.Plan(f)
	if err != nil || !private {
		t.Fatalf("plan: private %v, %v", private, err)
	}
	priced, err := budget.Calibrate(budget.Seq("selection", node), budget.Target{Epsilon: epsilon, Delta: 1e-6, Relation: f.Relation})
	if err != nil {
		t.Fatal(err)
	}
	return priced
}

func classPick(t testing.TB, x Selector, epsilon float64, f Facts, v dataset.View) []int {
	t.Helper()
	out, err := x.Select(context.Background(), classSession(t, x, epsilon, f), f, v)
	if err != nil {
		t.Fatal(err)
	}
	checkPicked(t, out, len(f.Columns))
	return out
}

func checkPicked(t testing.TB, picked []int, p int) {
	t.Helper()
	if len(picked) == 0 || !slices.IsSorted(picked) || len(slices.Compact(slices.Clone(picked))) != len(picked) || picked[0] < 0 || picked[len(picked)-1] >= p {
		t.Fatalf("picked %v: not different ones of %d, increasing", picked, p)
	}
}

// separated draws records of two classes whose means are 2 shift[j] apart in
// column j, as many copies of those columns with a little noise, and others
// columns that say nothing.
func separated(rng *rand.Rand, n int, shift []float64, others int) (columns [][]float64, y []int32) {
	k := len(shift)
	columns = make([][]float64, 2*k+others)
	for range n {
		class := rng.Int32N(2)
		y = append(y, class)
		for j := range columns {
			v := rng.NormFloat64()
			switch {
			case j < k:
				v += float64(2*class-1) * shift[j]
			case j < 2*k:
				v = columns[j-k][len(y)-1] + v/5
			}
			columns[j] = append(columns[j], v)
		}
	}
	return columns, y
}

// TestDPFSDRFindsWhatSeparates: of four columns that separate the classes, a
// near copy of each and twenty that say nothing, 1e5 records and epsilon 1 give
// one of each pair and nothing else, under both relations. CR-FS does too; DPFS,
// which knows no correlation, keeps the columns that say nothing out.
//
// The noise in the difference of two means is .002 standard deviations of a
// column; to be worth its penalty a column that says nothing needs over a
// hundred times that, and to change the order of the pairs over fifty times.
func TestDPFSDRFindsWhatSeparates(t *testing.T) {
	columns, y := separated(rand.New(rand.NewPCG(5, 6)), 1e5, []float64{.8, .6, .5, .4}, 20)
	v, f := classTable(t, 4, columns, nil, 0, 2, y)
	for _, f.Relation = range []budget.Relation{budget.AddRemove, budget.Substitute} {
		for _, x := range []Selector{DPFSDR{}, CRFS{}, DPFSDR{K: 4, Exact: true}, CRFS{K: 4, Exact: true}} {
			got := classPick(t, x, 1, f, v)
			var pairs []int
			for _, j := range got {
				pairs = append(pairs, j%4)
			}
			slices.Sort(pairs)
			if !slices.Equal(pairs, []int{0, 1, 2, 3}) || got[3] >= 8 {
				t.Errorf("%v, %s: picked %v, want one of each pair j, j+4", f.Relation, x.Name(), got)
			}
		}
		if got := classPick(t, DPFS{}, 1, f, v); got[0] > 4 || got[len(got)-1] >= 8 {
			t.Errorf("%v, dpfs: picked %v", f.Relation, got)
		}
		if got := classPick(t, DPFS{K: 2, Exact: true}, 1, f, v); !slices.Equal(got, []int{0, 4}) {
			t.Errorf("%v, dpfs, two: picked %v, want the best and its copy", f.Relation, got)
		}
	}
	if got, err := DFS(context.Background(), DPFSDR{}, f, v); err != nil || !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Errorf("exact: picked %v, %v", got, err)
	}
	if got, err := DFS(context.Background(), DPFSDR{K: 2}, f, v); err != nil || len(got) != 2 {
		t.Errorf("at most two: picked %v, %v", got, err)
	}
}

// TestClassesAndCategories: three classes, of which one column separates the
// first and a category column the others; copies of both are left out.
func TestClassesAndCategories(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	columns, groups := make([][]float64, 5), make([][]int32, 3)
	var y []int32
	for i := range 30000 {
		class := rng.Int32N(3)
		if y = append(y, class); i%50 == 0 {
			y[i] = 3 // in no class
		}
		for j := range columns {
			columns[j] = append(columns[j], rng.NormFloat64())
		}
		if class == 0 {
			columns[2][i] += 2
		}
		columns[4][i] = -columns[2][i]
		for j := range groups {
			groups[j] = append(groups[j], rng.Int32N(4))
		}
		if groups[1][i] = class; rng.IntN(4) == 0 {
			groups[1][i] = 3
		}
		groups[2][i] = 3 - groups[1][i] // the same under other names
	}
	v, f := classTable(t, 4, columns, groups, 4, 3, y)
	for _, f.Relation = range []budget.Relation{budget.AddRemove, budget.Substitute} {
		got := classPick(t, DPFSDR{}, 2, f, v)
		if len(got) != 2 || got[0] != 2 && got[0] != 4 || got[1] != 6 && got[1] != 7 {
			t.Errorf("%v: picked %v, want 2 or 4, and 6 or 7", f.Relation, got)
		}
	}
}

// TestFScores compares the exact scores with the paper's equations 8 and 9
// worked directly on the columns, for numbers and for a category column as the
// sum over its 0/1 entries.
func TestFScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	columns, groups, y := make([][]float64, 2), make([][]int32, 1), []int32(nil)
	for i := range 400 {
		class := rng.Int32N(3)
		y = append(y, class)
		columns[0] = append(columns[0], .3*float64(class)+.2*rng.NormFloat64())
		columns[1] = append(columns[1], .5*columns[0][i]+.1*rng.NormFloat64())
		groups[0] = append(groups[0], (class+rng.Int32N(2))%3)
	}
	v, f := classTable(t, 2, columns, groups, 3, 3, y)
	got, err := ExactScores(context.Background(), f, v)
	if err != nil {
		t.Fatal(err)
	}
	vectors := [][][]float64{{columns[0]}, {columns[1]}, nil}
	for level := range int32(3) {
		entry := make([]float64, len(y))
		for i, g := range groups[0] {
			if g == level {
				entry[i] = 2 // on the range of the others
			}
		}
		vectors[2] = append(vectors[2], entry)
	}
	total, want := 0.0, make([]float64, 3)
	for j, entries := range vectors {
		between, within := 0.0, 0.0
		for _, e := range entries {
			b, w := scatter(e, y, 3)
			between, within = between+b, within+w
		}
		want[j] = between / within
		total += want[j]
	}
	for j, w := range want {
		if math.Abs(got.F[j]/w-1) > .01 || math.Abs(got.Importance[j]-w/total) > .01 {
			t.Errorf("column %d: F %v, importance %v, want %v and %v", j, got.F[j], got.Importance[j], w, w/total)
		}
	}
	d, err := exactDiscriminant(context.Background(), f, v)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.theta(0, 1), math.Abs(pearson(columns[0], columns[1])); math.Abs(got-want) > .01 {
		t.Errorf("theta %v, want %v", got, want)
	}
	most := 0.0
	for _, e := range vectors[2] {
		most = max(most, math.Abs(pearson(columns[0], e)))
	}
	if got := d.theta(2, 0); math.Abs(got-most) > .01 {
		t.Errorf("theta of the category column %v, want %v", got, most)
	}
}

// scatter returns the numerator and the denominator of equation 8.
func scatter(x []float64, y []int32, classes int) (between, within float64) {
	sum, n, all := make([]float64, classes), make([]float64, classes), 0.0
	for i, v := range x {
		sum[y[i]] += v
		n[y[i]]++
		all += v / float64(len(x))
	}
	for i, v := range x {
		k := y[i]
		within += (v - sum[k]/n[k]) * (v - sum[k]/n[k]) / (n[k] - 1)
	}
	for k := range classes {
		between += (sum[k]/n[k] - all) * (sum[k]/n[k] - all)
	}
	return between, within
}

func pearson(x, y []float64) float64 {
	var mx, my, xx, yy, xy float64
	for i := range x {
		mx, my = mx+x[i]/float64(len(x)), my+y[i]/float64(len(x))
	}
	for i := range x {
		xx, yy, xy = xx+(x[i]-mx)*(x[i]-mx), yy+(y[i]-my)*(y[i]-my), xy+(x[i]-mx)*(y[i]-my)
	}
	return xy / math.Sqrt(xx*yy)
}

// TestSurrogate: on normal columns of unit variance whose means are 2 s apart
// the accuracy is Phi(|s|) less the penalty; two columns of correlation r
// separate by s^T R^-1 s.
func TestSurrogate(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n, r = 100000, .6
	columns, y := make([][]float64, 2), []int32(nil)
	for range n {
		class := rng.Int32N(2)
		y = append(y, class)
		a, b := rng.NormFloat64(), rng.NormFloat64()
		columns[0] = append(columns[0], a+.7*float64(2*class-1))
		columns[1] = append(columns[1], r*a+math.Sqrt(1-r*r)*b)
	}
	v, f := classTable(t, 6, columns, nil, 0, 2, y)
	d, err := exactDiscriminant(context.Background(), f, v)
	if err != nil {
		t.Fatal(err)
	}
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for _, c := range []struct {
		columns []int
		want    float64
	}{
		{[]int{0}, phi(.7) - columnPenalty},
		{[]int{1}, .5 - columnPenalty},
		{[]int{0, 1}, phi(.7/math.Sqrt(1-r*r)) - 2*columnPenalty},
	} {
		if got := d.accuracy(c.columns); math.Abs(got-c.want) > .005 {
			t.Errorf("columns %v: %v, want %v", c.columns, got, c.want)
		}
	}
}

// TestBlurred: the accuracy that the surrogate reckons with falls as the model
// gets noisier, to 1/2, and rises with the number of records.
func TestBlurred(t *testing.T) {
	d := &discriminant{counts: []float64{500, 500}, total: 1000}
	last := d.blurred(2, 0, 1, .1, .4)
	if last != 2 {
		t.Errorf("without noise M is %v, want 2", last)
	}
	for _, d.model = range []float64{10, 1, .1, .01, 1e-6} {
		got := d.blurred(2, 0, 1, .1, .4)
		if !(got >= 0 && got < last) {
			t.Errorf("mu %v: M is %v, before %v", d.model, got, last)
		}
		last = got
	}
	// a = b = 1/2, M = 2: c = .5/1.5; t^2 = 1.25/.4/(20*.5)^2.
	d.model = .5
	if got, want := d.blurred(2, 0, 1, .1, .4), 4/(2+.03125*9*.1); math.Abs(got-want) > 1e-12 {
		t.Errorf("M is %v, want %v", got, want)
	}
}

// TestDistanceIsUnbiased: between classes with the same mean, noise of the size
// that the discriminant was told leaves about nothing of M on average: less than
// half of what it would be without the correction. 400 draws; the mean of 400
// chi-squares of 5 degrees of freedom is within a third of 5 with probability
// above 1-1e-6.
func TestDistanceIsUnbiased(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	const p, n, noise, draws = 5, 1000.0, 30.0, 400
	f := Facts{Columns: make([]dataset.Column, p), Ranges: make([]scaling.Range, p)}
	e := scaling.NewEncoder(f.Columns, f.Ranges)
	raw, left := 0.0, 0.0
	for range draws {
		m := mechanism.ClassMoments{Counts: []float64{n, n}, SumNoise: noise, Products: make([]float64, p*(p+1)/2)}
		for k := range 2 {
			m.Sums, m.Squares = append(m.Sums, make([]float64, p)), append(m.Squares, make([]float64, p))
			for i := range p {
				m.Sums[k][i], m.Squares[k][i] = noise*rng.NormFloat64(), .1*n
			}
		}
		for i, at := 0, 0; i < p; i, at = i+1, at+p-i {
			m.Products[at] = .2 * n
		}
		d := newDiscriminant(e, p, m, 1, 0)
		b := d.block([]int{0, 1, 2, 3, 4})
		d.noise.SumNoise = 0
		raw += d.distance(b, 0, 1) / draws
		d.noise.SumNoise = noise
		left += d.distance(b, 0, 1) / draws
	}
	// Without: 5 columns, variance 2 noise^2/n^2 over .1.
	if want := p * 2 * noise * noise / (n * n) / .1; math.Abs(raw/want-1) > .35 || left > raw/2 {
		t.Errorf("M is %v uncorrected, want %v; %v corrected", raw, want, left)
	}
}

// TestRowOrder: the sums that are released are the same, bit for bit, for any
// order of the records.
func TestRowOrder(t *testing.T) {
	columns, y := separated(rand.New(rand.NewPCG(2, 2)), 5000, []float64{.5, 1}, 3)
	v, f := classTable(t, 2, columns, nil, 0, 2, y)
	order := rand.New(rand.NewPCG(3, 3)).Perm(len(y))
	other, shuffled := make([][]float64, len(columns)), []int32(nil)
	for _, i := range order {
		shuffled = append(shuffled, y[i])
		for j, c := range columns {
			other[j] = append(other[j], c[i])
		}
	}
	w, _ := classTable(t, 2, other, nil, 0, 2, shuffled)
	e, err := classEncoder(f)
	if err != nil {
		t.Fatal(err)
	}
	s := classSession(t, DPFSDR{}, 1, f)
	sums := func(v dataset.View) mechanism.Bounded[mechanism.Weighted] {
		got, err := sumClasses(context.Background(), e, v, len(f.Columns), func() *mechanism.ClassStats {
			return s.NewClassStats(len(e.Slots()), 2, e.NormLimit(0), mechanism.ClassWeights{})
		})
		if err != nil {
			t.Fatal(err)
		}
		return got.Bound()
	}
	if !reflect.DeepEqual(sums(v), sums(w)) {
		t.Error("the sums depend on the order of the records")
	}
}

// TestScoresMeanError: the mean error of the released scores falls with epsilon
// and is small with 1e5 records.
func TestScoresMeanError(t *testing.T) {
	columns, y := separated(rand.New(rand.NewPCG(2, 5)), 1e5, []float64{.8, .4}, 6)
	v, f := classTable(t, 4, columns, nil, 0, 2, y)
	exact, err := ExactScores(context.Background(), f, v)
	if err != nil {
		t.Fatal(err)
	}
	at := func(epsilon float64) float64 {
		sum := 0.0
		for range 10 {
			got, err := DPFSDR{}.Scores(context.Background(), classSession(t, DPFSDR{}, epsilon, f), f, v)
			if err != nil {
				t.Fatal(err)
			}
			f, importance := got.MeanError(exact)
			if importance > f/exact.F[0] {
				t.Errorf("epsilon %v: error %v of the importances, %v of F", epsilon, importance, f)
			}
			sum += f / 10
		}
		return sum
	}
	low, high := at(.02), at(1)
	if !(high < low/5) || high > .01*exact.F[0]+.01 {
		t.Errorf("mean error %v at epsilon .02, %v at 1; the best score is %v", low, high, exact.F[0])
	}
	if f, importance := exact.MeanError(exact); f != 0 || importance != 0 {
		t.Errorf("distance to itself %v, %v", f, importance)
	}
}

// TestClassSelectorsAreTotal: missing, infinite, constant and repeated columns,
// one class only, classes that are not declared, no record at all: some columns
// come out, whatever epsilon is.
func TestClassSelectorsAreTotal(t *testing.T) {
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1e300, -3}
	for _, n := range []int{0, 1, 2, 60} {
		columns, groups, y := make([][]float64, 4), make([][]int32, 2), make([]int32, n)
		for i := range n {
			columns[0] = append(columns[0], odd[i%len(odd)])
			columns[1] = append(columns[1], 7)
			columns[2] = append(columns[2], float64(i))
			columns[3] = append(columns[3], float64(i))
			groups[0], groups[1] = append(groups[0], int32(i%5)), append(groups[1], 0)
		}
		for name, class := range map[string]func(int) int32{
			"mixed": func(i int) int32 { return int32(i % 4) }, "one": func(int) int32 { return 1 }, "none": func(int) int32 { return 3 },
		} {
			for i := range y {
				y[i] = class(i)
			}
			v, f := classTable(t, 2, columns, groups, 2, 3, y)
			f.Columns = append(slices.Clone(f.Columns), dataset.Column{Name: "void", Kind: dataset.Category})
			f.Ranges = append(slices.Clone(f.Ranges), scaling.Range{})
			v = v.Columns([]int{0, 1, 2, 3, 4, 5, 5, 6})
			for _, epsilon := range []float64{.001, 1, 1e6} {
				for _, x := range []Selector{DPFSDR{}, DPFSDR{K: 3, Exact: true}, DPFS{}, CRFS{}, CRFS{K: 6, Exact: true, Correlated: .01}} {
					if got := classPick(t, x, epsilon, f, v); len(got) > DefaultMost {
						t.Errorf("%s, %d records: picked %v", name, n, got)
					}
				}
			}
			if _, err := DFS(context.Background(), DPFSDR{}, f, v); err != nil {
				t.Errorf("exact, %s, %d records: %v", name, n, err)
			}
		}
	}
}

// TestDiscriminantIsTotal: any numbers that a release may give lead to finite
// scores, correlations within [-1, 1], accuracies up to 1 and a choice.
func TestDiscriminantIsTotal(t *testing.T) {
	f := Facts{Columns: []dataset.Column{{Name: "a"}, {Name: "b"}, {Name: "c", Kind: dataset.Category, Categories: []string{"u", "v"}}}, Ranges: make([]scaling.Range, 4)}
	e, err := classEncoder(f)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		big := rapid.SampledFrom([]float64{0, 1, 1e3, 1e9, 1e16}).Draw(t, "size")
		number := rapid.Float64Range(-big, big)
		list := func(n int) []float64 { return rapid.SliceOfN(number, n, n).Draw(t, "list") }
		noise := func() float64 { return math.Abs(number.Draw(t, "noise")) }
		m := mechanism.ClassMoments{
			Counts: list(3), Products: list(10), CountNoise: noise(), SumNoise: noise(), SquareNoise: noise(), ProductNoise: noise(),
		}
		for range 3 {
			m.Sums, m.Squares = append(m.Sums, list(4)), append(m.Squares, list(4))
		}
		d := newDiscriminant(e, 3, m, 1, rapid.Float64Range(1e-9, 10).Draw(t, "model"))
		sum := 0.0
		for j := range 3 {
			sum += d.importance[j]
			for i := range 3 {
				if th := d.theta(i, j); !(th >= 0 && th <= 1) || math.IsInf(d.f[j], 0) {
					t.Fatalf("theta %v, F %v", th, d.f[j])
				}
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("importances add up to %v", sum)
		}
		if a := d.accuracy([]int{0, 1, 2}); !(a >= .5-3*columnPenalty && a <= 1) {
			t.Fatalf("accuracy %v", a)
		}
		for _, x := range []classSetting{DPFSDR{}.setting(), DPFS{}.setting(), CRFS{K: 2, Exact: true}.setting()} {
			picked, err := x.pick(context.Background(), d)
			if err != nil || len(picked) == 0 || x.exact && len(picked) != 2 {
				t.Fatalf("%s: picked %v, %v", x.name, picked, err)
			}
		}
	})
}

// TestGraph: of a chain in which neighbours are correlated the ends stay; the
// dynamic relevance prefers what is not correlated with what is selected.
func TestGraph(t *testing.T) {
	e := scaling.NewEncoder(make([]dataset.Column, 3), make([]scaling.Range, 3))
	m := mechanism.ClassMoments{
		Counts: []float64{1000, 1000}, Squares: [][]float64{{300, 300, 300}, {300, 300, 300}},
		Sums:     [][]float64{{-300, -290, -280}, {300, 290, 280}},
		Products: []float64{600, 450, 100, 600, 450, 600},
	}
	d := newDiscriminant(e, 3, m, 1, 0)
	if got := d.uncorrelated(d.byImportance(), .7); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("kept %v, want [0 2]", got)
	}
	if got := d.next([]int{1, 2}, []int{0}, true); !slices.Equal(got, []int{2, 1}) {
		t.Errorf("order after 0: %v, want [2 1]", got)
	}
	if got, want := d.relevance(2, []int{0}), d.importance[2]/d.theta(0, 2); math.Abs(got-want) > 1e-12 {
		t.Errorf("relevance %v, want %v", got, want)
	}
	if got, want := d.relevance(2, nil), d.importance[2]/leastRedundancy; got != want {
		t.Errorf("relevance of the first %v, want %v", got, want)
	}
	if got := d.first([]int{0, 2}, 3, true); !slices.Equal(got, []int{0, 2, 1}) {
		t.Errorf("three of two left: %v, want [0 2 1]", got)
	}
}

// TestClassPlan: one Gaussian leaf; what cannot be planned is refused.
func TestClassPlan(t *testing.T) {
	target := dataset.Column{Name: "y", Kind: dataset.Category, Categories: []string{"no", "yes"}}
	good := Facts{Columns: []dataset.Column{{Name: "a"}, {Name: "b"}}, Target: target}
	wide := Facts{Columns: []dataset.Column{{Name: "a", Kind: dataset.Category, Categories: make([]string, MaxEntries), Other: true}}, Target: target}
	for _, c := range []struct {
		x   Selector
		f   Facts
		err error
	}{
		{DPFSDR{}, good, nil}, {DPFS{}, good, nil}, {CRFS{}, good, nil}, {DPFSDR{K: 5}, good, nil}, {CRFS{K: 1, Exact: true}, good, nil},
		{DPFSDR{K: -1}, good, ErrCount}, {DPFS{K: 2, Exact: true}, good, ErrCount}, {DPFSDR{Exact: true}, good, ErrCount},
		{DPFSDR{}, Facts{Target: target}, ErrCount},
		{DPFSDR{}, Facts{Columns: good.Columns, Target: dataset.Column{Name: "y"}}, ErrTarget},
		{DPFS{}, Facts{Columns: good.Columns, Target: dataset.Column{Name: "y", Kind: dataset.Category, Categories: []string{"a"}}}, ErrTarget},
		{DPFSDR{Correlated: 1.1}, good, ErrCorrelated}, {CRFS{Correlated: -1}, good, ErrCorrelated}, {CRFS{Correlated: math.NaN()}, good, ErrCorrelated},
		{DPFSDR{}, wide, ErrEntries},
	} {
		node, private, err := c.x.Plan(c.f)
		if !errors.Is(err, c.err) || (err == nil) != private {
			t.Errorf("%#v: private %v, %v, want %v", c.x, private, err, c.err)
		}
		if err == nil && (node.Name != c.x.Name() || len(node.Kids) != 1 || node.Kids[0].Leaf.Kind != budget.Gaussian || !c.x.(Scaler).NeedsRanges(c.f)) {
			t.Errorf("%s: plan %+v", c.x.Name(), node)
		}
	}
	if got := (DPFSDR{K: 1}).Most(good); len(got) != 1 {
		t.Errorf("most %v", got)
	}
	if got := (CRFS{}).Most(good); len(got) != 2 {
		t.Errorf("most %v", got)
	}
}

// TestClassRanges: ranges are needed; those of the scaling stage do, which has
// none for the target.
func TestClassRanges(t *testing.T) {
	columns, y := separated(rand.New(rand.NewPCG(4, 4)), 20000, []float64{1}, 2)
	v, f := classTable(t, 4, columns, nil, 0, 2, y)
	without := f
	without.Ranges = nil
	if _, err := (DPFSDR{}).Select(context.Background(), classSession(t, DPFSDR{}, 1, f), without, v); !errors.Is(err, ErrRanges) {
		t.Errorf("without ranges: %v", err)
	}
	stage := scaling.Private{Columns: append(slices.Clone(f.Columns), f.Target), Target: len(f.Columns)}
	node, ok := stage.Plan()
	if !ok {
		t.Fatal("nothing to scale")
	}
	priced, err := budget.Calibrate(node, budget.Target{Epsilon: 2, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	if f.Ranges, err = stage.Run(context.Background(), s, v); err != nil {
		t.Fatal(err)
	}
	if got := classPick(t, DPFSDR{K: 1}, 2, f, v); got[0] > 1 {
		t.Errorf("picked %v, want 0 or its copy 1", got)
	}
}

func TestClassCancel(t *testing.T) {
	columns, y := separated(rand.New(rand.NewPCG(4, 4)), 100, []float64{1, 1}, 2)
	v, f := classTable(t, 4, columns, nil, 0, 2, y)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (DPFSDR{}).Select(ctx, classSession(t, DPFSDR{}, 1, f), f, v); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	d, err := exactDiscriminant(context.Background(), f, v)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (DPFSDR{}).setting().pick(ctx, d); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled search: %v", err)
	}
}
