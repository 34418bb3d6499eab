package published

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// TestTrueEpsilon checks that one release with mu as the standard deviation has the parameter 1/mu, and 102 releases
// sqrt(102)/mu. The values were computed beforehand.
func TestTrueEpsilon(t *testing.T) {
	mu := budget.GaussianMu(1, 1e-6)
	if math.Abs(1/mu-4.225) > 1e-3 {
		t.Errorf("one release has mu %v", 1/mu)
	}
	if got := (BoostedAdaSSP{}).TrueEpsilon(1, 1e-6); math.Abs(got-1112) > 2 {
		t.Errorf("epsilon %v, want about 1112", got)
	}
	got := (BoostedAdaSSP{Calibrated: true}).TrueEpsilon(1, 1e-6)
	if math.Abs(got-1) > 1e-6 {
		t.Errorf("calibrated noise has epsilon %v", got)
	}
	if one, ten := (BoostedAdaSSP{Rounds: 1}).TrueEpsilon(1, 1e-6),
		(BoostedAdaSSP{Rounds: 10}).TrueEpsilon(1, 1e-6); !(28 < one &&
		one < ten &&
		ten < 1112) {
		t.Errorf("epsilons %v and %v", one, ten)
	}
}

// TestBoostedAdaSSP checks that on rows that clipping scales equally the coefficients match those of the table up to
// a little noise, and that predictions clip rows in the same way.
func TestBoostedAdaSSP(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([][]float64, 2)
	var y []float64
	for range 20_000 {
		a := rng.Float64() - .5
		b := rng.Float64() - .5
		x[0] = append(x[0], a)
		x[1] = append(x[1], b)
		y = append(
			y,
			(.5*a-.25*b+.1)/math.Sqrt(1+a*a+b*b),
		)
	}
	theta, err := BoostedAdaSSP{}.Fit(rng, x, y, 1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{.5, -.25, .1} {
		if math.Abs(theta[j]-want) > .02 {
			t.Errorf(
				"coefficient %d is %v, want %v",
				j, theta[j], want,
			)
		}
	}
	for i, p := range PredictClipped(theta, x, 10) {
		if math.Abs(p-y[i]) > .02 {
			t.Errorf(
				"row %d: %v, want %v",
				i, p, y[i],
			)
		}
	}
}

// TestSmallestPositive checks that negative eigenvalues are skipped, as in the public code.
func TestSmallestPositive(t *testing.T) {
	got := smallestPositive([]float64{-3, -1, .25, 2})
	if got != .25 {
		t.Errorf("%v", got)
	}
	got = smallestPositive([]float64{-1})
	if got != 0 {
		t.Errorf("%v", got)
	}
}

// TestSubLassoEqualParts shows that one record can change all votes. With 3m - 1 records every part has two, in which
// all columns fit the target equally well, so all parts vote for the first column. One record more makes parts of
// three, which vote for the second column, which equals the target. All m votes then change, and the log-ratio of the
// outcome is m epsilon/2, while epsilon is claimed.
func TestSubLassoEqualParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const parts, epsilon = 60, 1.
	table := func(n int) (x [][]float64, y []float64) {
		x = make([][]float64, 2)
		for i := range n {
			v := float64(i) + rng.Float64()/2
			x[0] = append(x[0], v*v*v)
			x[1] = append(x[1], v)
			y = append(y, v)
		}
		return x, y
	}
	votes := func(n int) []float64 {
		x, y := table(n)
		out, err := SubLasso{K: 1, Parts: parts}.Votes(t.Context(), rng, x, y)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	before := votes(3*parts - 1)
	after := votes(3 * parts)
	if before[0] != parts ||
		before[1] != 0 ||
		after[1] < .9*parts {
		t.Fatalf(
			"votes %v, and with one record more %v",
			before, after,
		)
	}
	law := func(counts []float64) float64 { // ln P(the first column)
		return -math.Log1p(math.Exp((counts[1] - counts[0]) * epsilon / 2))
	}
	loss := law(before) - law(after)
	if loss < 20*epsilon {
		t.Errorf("the log-ratio is %v", loss)
	}
}

// TestSubLassoChooses checks that with many parts and a large budget the relevant columns are chosen.
func TestSubLassoChooses(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	x := make([][]float64, 6)
	var y []float64
	for range 2000 {
		for j := range x {
			x[j] = append(x[j], rng.NormFloat64())
		}
		last := len(y)
		y = append(
			y,
			x[1][last]+.8*x[4][last]+.3*rng.NormFloat64(),
		)
	}
	got, err := SubLasso{K: 2, Parts: 40}.Choose(t.Context(), rng, x, y, 20)
	if err != nil || !slices.Equal(got, []int{1, 4}) {
		t.Errorf("chose %v, %v", got, err)
	}
}

// TestTukeyChecks checks that the distance of lemma 8.5 is at least that of lemma 8.4 for every set of models and
// larger for some, so that fewer models are enough.
func TestTukeyChecks(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	further := 0
	for range 200 {
		m := 60 + rng.IntN(300)
		d := 1 + rng.IntN(3)
		models := make([][]float64, m)
		for i := range models {
			for range d {
				models[i] = append(models[i], rng.NormFloat64())
			}
		}
		c := NewTukeyCheck(models, .2+rng.Float64(), 1e-3)
		a := c.Distance84()
		b := c.Distance85()
		if b < a {
			t.Fatalf(
				"%d models of %d: %d by lemma 8.4 and %d by lemma 8.5",
				m, d, a, b,
			)
		}
		if b > a {
			further++
		}
	}
	if further < 20 {
		t.Errorf("lemma 8.5 counts further %d times", further)
	}
	old := LeastModels(2, .5, 1e-5, TukeyCheck.Distance84)
	tight := LeastModels(2, .5, 1e-5, TukeyCheck.Distance85)
	if !(tight < old) {
		t.Errorf(
			"%d models by lemma 8.4, %d by lemma 8.5",
			old, tight,
		)
	}
}

// TestTukeyWeights checks the volumes and the weight of models at 1 to 12 in one dimension and their cubes in
// another. The values were computed beforehand: V = 3660.25, 1640.25, 600.25, 156.25, 20.25, .25 and a weight of
// 3243.4528401 from depth 3 on.
func TestTukeyWeights(t *testing.T) {
	var models [][]float64
	for i := 1; i <= 12; i++ {
		v := float64(i) - 6.5
		models = append(models, []float64{float64(i), v * v * v})
	}
	c := NewTukeyCheck(models, .5, .1)
	for q, want := range []float64{
		3660.25, 1640.25, 600.25, 156.25,
		20.25, .25,
	} {
		got := math.Exp(c.volume[q])
		if math.Abs(got-want) > 1e-9*want {
			t.Errorf(
				"depth %d: volume %v, want %v",
				q+1, got, want,
			)
		}
	}
	got := math.Exp(c.weight[2])
	if math.Abs(got-3243.4528401) > 1e-6 {
		t.Errorf("weight %v", got)
	}
}

// separableClasses draws two classes that are separated by two of six columns. One of the two is repeated.
func separableClasses(rng *rand.Rand, n int) (x [][]float64, classes []int) {
	x = make([][]float64, 6)
	for range n {
		class := rng.IntN(2)
		label := float64(2*class - 1)
		classes = append(classes, class)
		for j := range x {
			v := rng.NormFloat64()
			switch j {
			case 0, 3:
				v += label
			case 1:
				v = x[0][len(classes)-1] + .01*v
			}
			x[j] = append(x[j], v)
		}
	}
	return x, classes
}

// TestDPFSDR checks that the separating columns are found, with at most one of two copies, and that the classifier is
// about as accurate as the two columns allow, Phi(sqrt 2) = .921.
func TestDPFSDR(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	x, labels := separableClasses(rng, 400)
	m := DPFSDR{Epsilon1: 1, Epsilon2: 1}.Fit(rng, x, labels)
	if !slices.Contains(m.Columns, 3) ||
		slices.Contains(m.Columns, 0) && slices.Contains(m.Columns, 1) {
		t.Errorf("columns %v", m.Columns)
	}
	tests, truth := separableClasses(rng, 4000)
	right := 0.
	for i, label := range truth {
		if m.Class(tests, i) == label {
			right++
		}
	}
	if accuracy := right / 4000; accuracy < .88 {
		t.Errorf("accuracy %v", accuracy)
	}
}

// TestDPFSDRGraphIsExact shows that one record determines with certainty whether a copy is kept, so the graph
// satisfies no epsilon.
func TestDPFSDRGraphIsExact(t *testing.T) {
	a := []float64{
		0, 1, 2, 3, 4, 5, 6, 7,
		8, 9,
	}
	b := slices.Clone(a)
	kept := func(a, b []float64) int {
		z, _, _ := standardised([][]float64{a, b})
		return len(DPFSDR{}.uncorrelated(z, []int{0, 1}))
	}
	got := kept(a, b)
	if got != 1 {
		t.Errorf("%d of two equal columns are kept", got)
	}
	got = kept(append(a, 0), append(b, 100))
	if got != 2 {
		t.Errorf("%d are kept with one record more", got)
	}
}

// TestCorrelatedSensitivity checks that without correlated records the sensitivity is the largest change by one
// record, and that a smaller budget has larger noise.
func TestCorrelatedSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	x, classes := separableClasses(rng, 200)
	labels := machineLabels(classes)
	z, _, _ := standardised(x)
	records := recordCorrelations(z)
	if len(records) != 200 || records[7][0].degree <= 0 {
		t.Fatalf("records %v", records[7])
	}
	spread := func(epsilon float64) float64 {
		first, _ := DPFSDR{Epsilon2: 1e12}.train(
			rng, z, classes, labels,
			[]int{0, 3}, records,
		)
		sum := 0.
		for range 50 {
			w, accuracy := DPFSDR{Epsilon2: epsilon}.train(
				rng,
				z,
				classes,
				labels,
				[]int{0, 3},
				records,
			)
			if !(accuracy >= 0 && accuracy <= 1) {
				t.Fatalf("accuracy %v", accuracy)
			}
			sum += math.Abs(w[0][0] - first[0][0])
		}
		return sum / 50
	}
	a := spread(1)
	b := spread(.01)
	if !(b > 20*a && a > 0) {
		t.Errorf("noise %v and %v", a, b)
	}
}

// TestDPFSDRSeveralClasses checks that with three classes the right columns are chosen, that there is a machine for
// each class, and that the F-scores are those of three classes.
func TestDPFSDRSeveralClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	draw := func(n int) (x [][]float64, classes []int) {
		x = make([][]float64, 5)
		for range n {
			class := rng.IntN(3)
			classes = append(classes, class)
			for j := range x {
				v := rng.NormFloat64()
				if j == 1 && class == 1 || j == 4 && class == 2 {
					v += 4
				}
				x[j] = append(x[j], v)
			}
		}
		return x, classes
	}
	x, classes := draw(600)
	m := DPFSDR{Epsilon1: 10, Epsilon2: 10}.Fit(rng, x, classes)
	if !slices.Contains(m.Columns, 1) || !slices.Contains(m.Columns, 4) || len(m.Weights) != 3 {
		t.Errorf("columns %v, %d machines", m.Columns, len(m.Weights))
	}
	tests, truth := draw(3000)
	right := 0.
	for i, class := range truth {
		if m.Class(tests, i) == class {
			right++
		}
	}
	if accuracy := right / 3000; accuracy < .88 {
		t.Errorf("accuracy %v", accuracy)
	}
	z := [][]float64{
		{1, 3, 0, 2, -1, -5}, // means 2, 1, -3 and variances 2, 2, 8: 14/12
		{1, -1, 1, 0, -1, 0}, // means 0, .5, -.5 and variances 2, .5, .5: .5/3
	}
	shares := fScoreShares(z, []int{0, 0, 1, 1, 2, 2})
	if math.Abs(shares[0]-7./8) > 1e-12 || math.Abs(shares[1]-1./8) > 1e-12 {
		t.Errorf("shares %v", shares)
	}
}
