package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
)

func names(l int) []string {
	out := make([]string, l)
	for k := range out {
		out[k] = string(rune('a' + k))
	}
	return out
}

func labels(t testing.TB, l int, truth []int32, prediction []float64) Labels {
	t.Helper()
	tab, err := dataset.NewTable(dataset.Schema{Columns: []dataset.Column{{Name: "y", Kind: dataset.Category, Categories: names(l)}}},
		[]dataset.ColumnData{{Codes: truth}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Labels{View: tab.All(), Prediction: prediction}
}

func priceClasses(t testing.TB, l int, epsilon float64, rel budget.Relation) *budget.Priced {
	t.Helper()
	node, err := Classification{names(l)}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	priced, err := budget.Calibrate(budget.Seq("holdout", node), budget.Target{Epsilon: epsilon, Delta: 1e-5, Relation: rel})
	if err != nil {
		t.Fatal(err)
	}
	return priced
}

func releaseClasses(t testing.TB, priced *budget.Priced, l int, x Labels) *Confusion {
	t.Helper()
	s, err := mechanism.NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Classification{names(l)}.Run(context.Background(), s, x)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sample gives n records: class k has the share k+1 of them, of which right[k]
// are predicted rightly and the others as the next class; some are in no class.
func sample(n int, right []float64) (truth []int32, prediction []float64, accuracy, balanced float64) {
	l := len(right)
	hits, count := make([]float64, l), make([]float64, l)
	for i := range n {
		k := 0
		for at := (i * 7919) % (l * (l + 1) / 2); at > k; k++ {
			at -= k + 1
		}
		truth = append(truth, int32(k))
		guess := (k + 1) % l
		if math.Mod(count[k]*.6180339887, 1) < right[k] {
			guess = k
			hits[k]++
		}
		count[k]++
		prediction = append(prediction, float64(guess))
	}
	all := 0.
	for k := range right {
		accuracy += hits[k]
		all += count[k]
		balanced += hits[k] / count[k] / float64(l)
	}
	for i := range n / 20 {
		truth, prediction = append(truth, int32(l)), append(prediction, float64(i%l))
	}
	return truth, prediction, accuracy / all, balanced
}

// TestClassesCoverage: the intervals cover the exact shares as often as they
// say. Of 400 intervals that each cover with probability .95, fewer than 356
// cover with probability below 1e-6.
func TestClassesCoverage(t *testing.T) {
	for name, c := range map[string]struct {
		n     int
		right []float64
	}{
		"two": {600, []float64{.7, .9}}, "few records": {120, []float64{.6, .8}},
		"perfect": {600, []float64{1, 1}}, "three": {900, []float64{.5, .9, .7}}, "five": {3000, []float64{.2, .5, .7, .9, 1}},
	} {
		l := len(c.right)
		truth, prediction, accuracy, balanced := sample(c.n, c.right)
		x := labels(t, l, truth, prediction)
		for _, epsilon := range []float64{.5, 1, 50} {
			priced := priceClasses(t, l, epsilon, budget.AddRemove)
			covered, coveredBalanced := 0, 0
			for range 400 {
				r := releaseClasses(t, priced, l, x)
				if accuracy >= r.Accuracy.Lower && accuracy <= r.Accuracy.Upper {
					covered++
				}
				if balanced >= r.Balanced.Lower && balanced <= r.Balanced.Upper {
					coveredBalanced++
				}
				checkShare(t, r.Accuracy)
				checkShare(t, r.Balanced)
			}
			if covered < 356 || coveredBalanced < 356 {
				t.Errorf("%s, epsilon %v: %d intervals of the accuracy and %d of the balanced one cover, of 400", name, epsilon, covered, coveredBalanced)
			}
		}
	}
}

// TestBalancedCoverage: the interval of the balanced accuracy covers also where noise
// hides some classes or all of them, and near the border between the two ways to make
// it. Of 2000 intervals that each cover with probability .95, fewer than 1845 cover with
// probability below 1e-6.
func TestBalancedCoverage(t *testing.T) {
	const sigma, runs = 10, 2000
	r := rand.New(rand.NewPCG(1, 2))
	try := func(rows, hits []float64) {
		l, want := len(rows), 0.
		cells := make([]float64, (l+1)*l)
		for k := range l {
			want += hits[k] / rows[k] / float64(l)
			cells[k*l+k] = hits[k]
			cells[k*l+(k+1)%l] = rows[k] - hits[k]
		}
		covered, noisy := 0, make([]float64, len(cells))
		for range runs {
			for i, x := range cells {
				noisy[i] = x + sigma*r.NormFloat64()
			}
			s := readConfusion(names(l), noisy, sigma).Balanced
			checkShare(t, s)
			if want >= s.Lower-1e-12 && want <= s.Upper+1e-12 {
				covered++
			}
		}
		if covered < 1845 {
			t.Errorf("rows %v, hits %v: %d of %d cover", rows, hits, covered, runs)
		}
	}
	for _, l := range []int{2, 3, 6, 12} {
		for _, small := range []float64{1, 10, 30, 60, 100, 200, 400} {
			for _, c := range []struct{ first, recall float64 }{{2000, 0}, {2000, 1}, {small, 0}, {small, 1}, {small, .5}} {
				rows, hits := make([]float64, l), make([]float64, l)
				for k := range rows {
					rows[k], hits[k] = small, math.Round(c.recall*small)
				}
				rows[0] = c.first // a plain class, of which all records are predicted rightly, or one like the others
				if c.first > small {
					hits[0] = c.first
				}
				try(rows, hits)
			}
		}
	}
}

func checkShare(t testing.TB, s Share) {
	t.Helper()
	if !(0 <= s.Lower && s.Lower <= s.Value && s.Value <= s.Upper && s.Upper <= 1) || s.Level != Level {
		t.Errorf("%+v", s)
	}
}

// TestClassesLargeBudget: with a large budget the matrix is the exact one.
func TestClassesLargeBudget(t *testing.T) {
	truth, prediction, accuracy, balanced := sample(900, []float64{.5, .9, .7})
	exact := make([][]int, 4)
	for k := range exact {
		exact[k] = make([]int, 3)
	}
	for i, k := range truth {
		exact[k][int(prediction[i])]++
	}
	r := releaseClasses(t, priceClasses(t, 3, 400, budget.AddRemove), 3, labels(t, 3, truth, prediction))
	for k, row := range r.Counts {
		for j, n := range row {
			if n != exact[k][j] {
				t.Errorf("cell %d, %d is %d, want %d", k, j, n, exact[k][j])
			}
		}
	}
	if math.Abs(r.Accuracy.Value-accuracy) > 1e-12 || math.Abs(r.Balanced.Value-balanced) > 1e-12 || r.Accuracy.Upper-r.Accuracy.Lower > .01 {
		t.Errorf("%+v and %+v, want %v and %v", r.Accuracy, r.Balanced, accuracy, balanced)
	}
}

// TestClassesTotal: whatever the held-out part, the shares are ordered numbers
// in [0, 1], and with no record nothing is claimed.
func TestClassesTotal(t *testing.T) {
	for name, c := range map[string]struct {
		truth      []int32
		prediction []float64
	}{
		"nothing": {nil, nil}, "one": {[]int32{1}, []float64{0}}, "no class": {[]int32{2, 2, 7, -1}, []float64{0, 1, 1, 0}},
		"one class only": {make([]int32, 300), make([]float64, 300)}, "strange predictions": {[]int32{0, 1, 0}, []float64{math.NaN(), -3, 1e9}},
	} {
		x := labels(t, 2, c.truth, c.prediction)
		for _, epsilon := range []float64{.05, 1, 20} {
			priced := priceClasses(t, 2, epsilon, budget.Substitute)
			unknown := 0
			for range 40 {
				r := releaseClasses(t, priced, 2, x)
				checkShare(t, r.Accuracy)
				checkShare(t, r.Balanced)
				if r.Accuracy.Lower == 0 && r.Accuracy.Upper == 1 {
					unknown++
				}
			}
			if name == "nothing" && unknown == 0 {
				t.Errorf("epsilon %v: an accuracy of no record is claimed every time", epsilon)
			}
		}
	}
}

// TestConfusionSensitivity searches the change of the cells over all tables of
// three records and all their neighbours. The cells are read from releases with
// hardly any noise, which rounding removes.
func TestConfusionSensitivity(t *testing.T) {
	const l = 2
	var records [][2]int
	for truth := range l + 1 {
		for guess := range l {
			records = append(records, [2]int{truth, guess})
		}
	}
	for rel, want := range map[budget.Relation]float64{budget.AddRemove: 1, budget.Substitute: math.Sqrt2} {
		s, err := mechanism.NewSession(priceClasses(t, l, 1, rel))
		if err != nil {
			t.Fatal(err)
		}
		declared := newConfusionPass(s, l, Labels{}).cells.Bound().Sensitivity()
		if declared < want || declared > want*(1+1e-9) {
			t.Errorf("%v: declared %v, want %v", rel, declared, want)
		}
		exact := priceClasses(t, l, 1000, rel)
		cells := func(rows ...[2]int) []int {
			truth, prediction := make([]int32, len(rows)), make([]float64, len(rows))
			for i, r := range rows {
				truth[i], prediction[i] = int32(r[0]), float64(r[1])
			}
			return slices.Concat(releaseClasses(t, exact, l, labels(t, l, truth, prediction)).Counts...)
		}
		worst := 0.
		for _, a := range records {
			for _, b := range records {
				base := cells(a, b)
				for _, c := range records {
					other := cells(a, c)
					if rel == budget.AddRemove {
						other = cells(a, c, b)
					}
					sum := 0
					for i := range base {
						sum += (base[i] - other[i]) * (base[i] - other[i])
					}
					worst = max(worst, math.Sqrt(float64(sum)))
				}
			}
		}
		if worst > declared || worst < .999*declared {
			t.Errorf("%v: largest change %v, declared %v", rel, worst, declared)
		}
	}
}

func TestClassesPlan(t *testing.T) {
	for _, l := range []int{0, 1, MaxClasses + 1} {
		if _, err := (Classification{make([]string, l)}).Plan(); !errors.Is(err, ErrClasses) {
			t.Errorf("%d classes: %v", l, err)
		}
	}
	if _, err := (Classification{make([]string, MaxClasses)}).Plan(); err != nil {
		t.Error(err)
	}
}

// TestRatio compares the interval with its definition on a grid of ratios.
func TestRatio(t *testing.T) {
	for _, c := range [][5]float64{{80, 100, 8, 16, 8}, {3, 100, 8, 16, 8}, {99, 100, 8, 16, 8}, {10, 20, 4, 12, 4}, {-4, 50, 4, 8, 4}} {
		s := ratio(c[0], c[1], c[2], c[3], c[4], .95)
		for rho := -1.0; rho <= 2; rho += .0005 {
			inside := math.Abs(c[0]-rho*c[1]) <= 1.959964*math.Sqrt(c[2]-2*rho*c[4]+rho*rho*c[3])
			if near := math.Abs(rho-s.Lower) < .001 || math.Abs(rho-s.Upper) < .001; !near && inside != (rho > s.Lower && rho < s.Upper) {
				t.Errorf("%v: rho %.4f inside=%v, %+v", c, rho, inside, s)
				break
			}
		}
	}
}

func ExampleClassification() {
	classes := []string{"no", "yes"}
	tab, err := dataset.NewTable(dataset.Schema{Columns: []dataset.Column{{Name: "y", Kind: dataset.Category, Categories: classes}}},
		[]dataset.ColumnData{{Codes: make([]int32, 5000)}}, nil) // 5000 times "no"
	if err != nil {
		fmt.Println(err)
		return
	}
	metric := Classification{Classes: classes}
	node, err := metric.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	priced, err := budget.Calibrate(budget.Seq("holdout", node), budget.Target{Epsilon: 1, Delta: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := metric.Run(context.Background(), s, Labels{View: tab.All(), Prediction: make([]float64, 5000)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("accuracy above .98: %v, cells: %d by %d\n", c.Accuracy.Lower > .98, len(c.Counts), len(c.Counts[0]))
	// Output: accuracy above .98: true, cells: 3 by 2
}
