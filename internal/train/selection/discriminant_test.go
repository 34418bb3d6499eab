package selection

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// TestFScores compares the exact scores with the paper's equations 8 and 9
// worked directly on the columns, for numbers and for a category column as the
// sum over its 0/1 entries.
func TestFScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	columns := make([][]float64, 2)
	groups := make([][]int32, 1)
	y := []int32(nil)
	for i := range 400 {
		class := rng.Int32N(3)
		y = append(y, class)
		columns[0] = append(
			columns[0],
			.3*float64(class)+.2*rng.NormFloat64(),
		)
		columns[1] = append(
			columns[1],
			.5*columns[0][i]+.1*rng.NormFloat64(),
		)
		groups[0] = append(groups[0], (class+rng.Int32N(2))%3)
	}
	v, f := classTable(t, 2, columns, groups, 3, 3, y)
	got, err := ExactScores(context.Background(), f, v)
	if err != nil {
		t.Fatal(err)
	}
	vectors := [][][]float64{
		{columns[0]},
		{columns[1]}, nil,
	}
	for level := range int32(3) {
		entry := make([]float64, len(y))
		for i, g := range groups[0] {
			if g == level {
				entry[i] = 2 // on the range of the others
			}
		}
		vectors[2] = append(vectors[2], entry)
	}
	total := 0.0
	want := make([]float64, 3)
	for j, entries := range vectors {
		between := 0.0
		within := 0.0
		for _, e := range entries {
			b, w := classScatter(e, y, 3)
			between += b
			within += w
		}
		want[j] = between / within
		total += want[j]
	}
	for j, w := range want {
		if math.Abs(got.F[j]/w-1) > .01 ||
			math.Abs(got.Importance[j]-w/total) > .01 {
			t.Errorf(
				"column %d: F %v, importance %v, want %v and %v",
				j,
				got.F[j],
				got.Importance[j],
				w,
				w/total,
			)
		}
	}
	d, err := exactDiscriminant(context.Background(), f, v)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.correlatedDegree(0, 1),
		math.Abs(pearsonCorrelation(columns[0], columns[1])); math.Abs(got-want) > .01 {
		t.Errorf("theta %v, want %v", got, want)
	}
	most := 0.0
	for _, e := range vectors[2] {
		most = max(most, math.Abs(pearsonCorrelation(columns[0], e)))
	}
	if got := d.correlatedDegree(2, 0); math.Abs(got-most) > .01 {
		t.Errorf(
			"theta of the category column %v, want %v",
			got, most,
		)
	}
}

// classScatter returns the numerator and the denominator of equation 8.
func classScatter(x []float64, y []int32, classes int) (between, within float64) {
	sum := make([]float64, classes)
	n := make([]float64, classes)
	all := 0.0
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

func pearsonCorrelation(x, y []float64) float64 {
	var mx, my, xx, yy, xy float64
	for i := range x {
		mx += x[i] / float64(len(x))
		my += y[i] / float64(len(x))
	}
	for i := range x {
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
		xy += (x[i] - mx) * (y[i] - my)
	}
	return xy / math.Sqrt(xx*yy)
}

// TestSurrogate checks that on normal columns of unit variance whose means are 2 s apart the accuracy is Phi(|s|)
// less the penalty, and that two columns of correlation r separate by s^T R^-1 s.
func TestSurrogate(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n, r = 100000, .6
	columns := make([][]float64, 2)
	y := []int32(nil)
	for range n {
		class := rng.Int32N(2)
		y = append(y, class)
		a := rng.NormFloat64()
		b := rng.NormFloat64()
		columns[0] = append(columns[0], a+.7*float64(2*class-1))
		columns[1] = append(
			columns[1],
			r*a+math.Sqrt(1-r*r)*b,
		)
	}
	v, f := classTable(t, 6, columns, nil, 0, 2, y)
	d, err := exactDiscriminant(context.Background(), f, v)
	if err != nil {
		t.Fatal(err)
	}
	phi := func(x float64) float64 {
		return math.Erfc(-x/math.Sqrt2) / 2
	}
	for _, c := range []struct {
		columns []int
		want    float64
	}{
		{[]int{0}, phi(.7) - columnPenalty},
		{[]int{1}, .5 - columnPenalty},
		{
			[]int{0, 1},
			phi(.7/math.Sqrt(1-r*r)) - 2*columnPenalty,
		},
	} {
		got := d.surrogateAccuracy(c.columns)
		if math.Abs(got-c.want) > .005 {
			t.Errorf(
				"columns %v: %v, want %v",
				c.columns, got, c.want,
			)
		}
	}
}

// TestSurrogateAccuracyFallsWithNoise checks that the accuracy assumed by the surrogate falls to 1/2 as the model gets
// noisier, and rises with the number of records.
func TestSurrogateAccuracyFallsWithNoise(t *testing.T) {
	d := &discriminant{counts: []float64{500, 500}, total: 1000}
	last := d.modelDistance(2, 0, 1, .1, .4)
	if last != 2 {
		t.Errorf("without noise M is %v, want 2", last)
	}
	for _, d.model = range []float64{10, 1, .1, .01, 1e-6} {
		got := d.modelDistance(2, 0, 1, .1, .4)
		if !(got >= 0 && got < last) {
			t.Errorf(
				"mu %v: M is %v, before %v",
				d.model, got, last,
			)
		}
		last = got
	}
	// a = b = 1/2, M = 2: c = .5/1.5; t^2 = 1.25/.4/(20*.5)^2.
	d.model = .5
	if got, want := d.modelDistance(2, 0, 1, .1, .4),
		4/(2+.03125*9*.1); math.Abs(got-want) > 1e-12 {
		t.Errorf("M is %v, want %v", got, want)
	}
}

// TestDistanceIsUnbiased checks that, between classes with the same mean, noise of the size known to the discriminant
// leaves almost no distance M on average: less than half of the distance without the correction. 400 draws; the mean
// of 400 chi-squares of 5 degrees of freedom is within a third of 5 with probability above 1-1e-6.
func TestDistanceIsUnbiased(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	const p, n, noise, draws = 5, 1000.0, 30.0, 400
	f := Facts{
		Columns: make([]dataset.Column, p),
		Ranges:  make([]scaling.Range, p),
	}
	e := scaling.NewEncoder(f.Columns, f.Ranges)
	raw := 0.0
	left := 0.0
	for range draws {
		m := mechanism.ClassMoments{
			Counts:   []float64{n, n},
			SumNoise: noise,
			Products: make([]float64, p*(p+1)/2),
		}
		for k := range 2 {
			m.Sums = append(m.Sums, make([]float64, p))
			m.Squares = append(m.Squares, make([]float64, p))
			for i := range p {
				m.Sums[k][i] = noise * rng.NormFloat64()
				m.Squares[k][i] = .1 * n
			}
		}
		for i, at := 0, 0; i < p; i, at = i+1, at+p-i {
			m.Products[at] = .2 * n
		}
		d := newDiscriminant(e, p, m, 1, 0)
		b := d.columnBlock([]int{0, 1, 2, 3, 4})
		d.noise.SumNoise = 0
		raw += d.classDistance(b, 0, 1) / draws
		d.noise.SumNoise = noise
		left += d.classDistance(b, 0, 1) / draws
	}
	// Without the correction: 5 columns, variance 2 noise^2/n^2 over .1.
	want := p * 2 * noise * noise / (n * n) / .1
	if math.Abs(raw/want-1) > .35 || left > raw/2 {
		t.Errorf(
			"M is %v uncorrected, want %v; %v corrected",
			raw, want, left,
		)
	}
}

// TestScoresMeanError checks that the mean error of the released scores falls with epsilon and is small with 1e5
// records.
func TestScoresMeanError(t *testing.T) {
	columns, y := separatedClasses(
		rand.New(rand.NewPCG(2, 5)),
		1e5, []float64{.8, .4},
		6,
	)
	v, f := classTable(t, 4, columns, nil, 0, 2, y)
	exact, err := ExactScores(context.Background(), f, v)
	if err != nil {
		t.Fatal(err)
	}
	at := func(epsilon float64) float64 {
		sum := 0.0
		for range 10 {
			got, err := DPFSDR{}.Scores(
				context.Background(),
				classSession(t, DPFSDR{}, epsilon, f),
				f,
				memory.NewRecords(v),
			)
			if err != nil {
				t.Fatal(err)
			}
			f, importance := got.MeanError(exact)
			if importance > f/exact.F[0] {
				t.Errorf(
					"epsilon %v: error %v of the importances, %v of F",
					epsilon,
					importance,
					f,
				)
			}
			sum += f / 10
		}
		return sum
	}
	low := at(.02)
	high := at(1)
	if !(high < low/5) ||
		high > .01*exact.F[0]+.01 {
		t.Errorf(
			"mean error %v at epsilon .02, %v at 1; the best score is %v",
			low,
			high,
			exact.F[0],
		)
	}
	if f, importance := exact.MeanError(exact); f != 0 || importance != 0 {
		t.Errorf("distance to itself %v, %v", f, importance)
	}
}

// TestDiscriminantIsTotal checks that any released numbers lead to finite scores, correlations within [-1, 1],
// accuracies up to 1 and a choice.
func TestDiscriminantIsTotal(t *testing.T) {
	f := Facts{
		Columns: []dataset.Column{
			{Name: "a"},
			{Name: "b"},
			{
				Name:       "c",
				Kind:       dataset.Category,
				Categories: []string{"u", "v"},
			},
		},
		Ranges: make([]scaling.Range, 4),
	}
	e := classEncoder(f)
	rapid.Check(t, func(t *rapid.T) {
		big := rapid.SampledFrom([]float64{0, 1, 1e3, 1e9, 1e16}).Draw(t, "size")
		number := rapid.Float64Range(-big, big)
		list := func(n int) []float64 {
			return rapid.SliceOfN(number, n, n).Draw(t, "list")
		}
		noise := func() float64 {
			return math.Abs(number.Draw(t, "noise"))
		}
		m := mechanism.ClassMoments{
			Counts:       list(3),
			Products:     list(10),
			CountNoise:   noise(),
			SumNoise:     noise(),
			SquareNoise:  noise(),
			ProductNoise: noise(),
		}
		for range 3 {
			m.Sums, m.Squares = append(m.Sums, list(4)), append(m.Squares, list(4))
		}
		d := newDiscriminant(
			e, 3, m, 1,
			rapid.Float64Range(1e-9, 10).Draw(t, "model"),
		)
		sum := 0.0
		for j := range 3 {
			sum += d.importance[j]
			for i := range 3 {
				th := d.correlatedDegree(i, j)
				if !(th >= 0 && th <= 1) ||
					math.IsInf(d.f[j], 0) {
					t.Fatalf(
						"theta %v, F %v",
						th, d.f[j],
					)
				}
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("importances add up to %v", sum)
		}
		a := d.surrogateAccuracy([]int{0, 1, 2})
		if !(a >= .5-3*columnPenalty && a <= 1) {
			t.Fatalf("accuracy %v", a)
		}
		for _, x := range []classSetting{
			DPFSDR{}.setting(),
			DPFS{}.setting(),
			CRFS{K: 2, Exact: true}.setting(),
		} {
			picked, err := x.pickColumns(context.Background(), d)
			if err != nil ||
				len(picked) == 0 ||
				x.exact && len(picked) != 2 {
				t.Fatalf(
					"%s: picked %v, %v",
					x.name, picked, err,
				)
			}
		}
	})
}

// TestPublishedGraphFails checks that on exact statistics, as published, one record decides with certainty whether a
// column is dropped.
func TestPublishedGraphFails(t *testing.T) {
	kept := func(n int) []int {
		columns := make([][]float64, 2)
		y := []int32(nil)
		for i := range n {
			x := float64(2*(i%2) - 1)
			y = append(y, int32(i/2%2))
			columns[0] = append(columns[0], x)
			columns[1] = append(columns[1], x)
		}
		if n == 20 {
			columns[1][19] = -1 // the last record has the opposite value
		}
		v, f := classTable(t, 1, columns, nil, 0, 2, y)
		d, err := exactDiscriminant(context.Background(), f, v)
		if err != nil {
			t.Fatal(err)
		}
		return d.dropCorrelated(d.byImportance(), defaultCorrelated)
	}
	with := kept(20)
	without := kept(19)
	if len(with) != 2 || len(without) != 1 {
		t.Errorf(
			"kept %v with the record, %v without",
			with, without,
		)
	}
}

// TestGraphKeepsChainEnds checks that the ends of a chain of correlated neighbours are kept, and that the dynamic
// relevance prefers columns uncorrelated with the selected ones.
func TestGraphKeepsChainEnds(t *testing.T) {
	e := scaling.NewEncoder(
		make([]dataset.Column, 3),
		make([]scaling.Range, 3),
	)
	m := mechanism.ClassMoments{
		Counts:  []float64{1000, 1000},
		Squares: [][]float64{{300, 300, 300}, {300, 300, 300}},
		Sums: [][]float64{
			{-300, -290, -280},
			{300, 290, 280},
		},
		Products: []float64{600, 450, 100, 600, 450, 600},
	}
	d := newDiscriminant(e, 3, m, 1, 0)
	if got := d.dropCorrelated(d.byImportance(), .7); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("kept %v, want [0 2]", got)
	}
	got := d.searchOrder([]int{1, 2}, []int{0}, true)
	if !slices.Equal(got, []int{2, 1}) {
		t.Errorf(
			"order after 0: %v, want [2 1]",
			got,
		)
	}
	if got, want := d.dynamicRelevance(2, []int{0}),
		d.importance[2]/d.correlatedDegree(0, 2); math.Abs(got-want) > 1e-12 {
		t.Errorf("relevance %v, want %v", got, want)
	}
	if got, want := d.dynamicRelevance(2, nil), d.importance[2]/leastRedundancy; got != want {
		t.Errorf(
			"relevance of the first %v, want %v",
			got, want,
		)
	}
	if got := d.firstColumns([]int{0, 2}, 3, true); !slices.Equal(got, []int{0, 2, 1}) {
		t.Errorf(
			"three of two left: %v, want [0 2 1]",
			got,
		)
	}
}
