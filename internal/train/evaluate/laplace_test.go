package evaluate

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// TestDeviationsWithin compares the level of an interval with the true one, for sums of Laplace noises of different sizes and of
// a normal error. The true one is from the inversion of their characteristic function.
func TestDeviationsWithin(t *testing.T) {
	within := func(x, normal float64, scales ...float64) float64 { // of a sum with the deviations of its parts
		const step = 1e-2
		sum := 0.
		for k := range 40000 {
			at := (float64(k) + .5) * step
			f := math.Exp(-square(normal*at) / 2)
			for _, s := range scales {
				f /= 1 + square(s*at)/2
			}
			sum += math.Sin(x*at) * f / at
		}
		return 2 / math.Pi * step * sum
	}
	worst := 0.
	for _, level := range []float64{.9, .95, .97, .99, .999} {
		for _, c := range []struct {
			normal float64
			scales []float64
		}{
			{0, []float64{1}},
			{0, []float64{1, 1}},
			{0, []float64{1, 1, 1, 1}},
			{0, []float64{2, 1}},
			{0, []float64{5, 1, 1, 1, 1, 1}},
			{1, []float64{1}},
			{2, []float64{1}},
			{.5, []float64{1}},
			{1, []float64{2, 1}},
			{1, []float64{.5, .5, .5}},
			{3, []float64{1, 1, 1}},
		} {
			variance, fourth := square(c.normal), 0.
			for _, s := range c.scales {
				variance += square(s)
				fourth += laplaceExcess * square(square(s))
			}
			z := deviationsWithin(level, fourth/square(variance))
			got := within(z*math.Sqrt(variance), c.normal, c.scales...)
			worst = max(worst, math.Abs(got-level))
		}
	}
	t.Logf("largest difference of the level: %.5f", worst)
	if worst > .0035 {
		t.Errorf("a level is off by %v", worst)
	}
	got := deviationsWithin(.95, 0)
	if got != normalDeviations(.95) {
		t.Errorf("without Laplace noise %v", got)
	}
	for _, z := range []float64{0, 1, 2, 5} { // 1 - Φ(z) = exp(-√2 x)/2
		x := laplaceBound(z)
		got := math.Exp(-math.Sqrt2*x) / 2
		if math.Abs(got/(math.Erfc(z/math.Sqrt2)/2)-1) > 1e-9 {
			t.Errorf("%v deviations become %v", z, x)
		}
	}
}

func pricePure(t testing.TB, epsilon float64, rel budget.Relation) *budget.Priced {
	t.Helper()
	priced, err := budget.Calibrate(Regression{Pure: true}.Plan(),
		budget.Target{Epsilon: epsilon, Relation: rel})
	if err != nil {
		t.Fatal(err)
	}
	return priced
}

func releasePure(t testing.TB, priced *budget.Priced, p Pairs) R2 {
	t.Helper()
	s, err := mechanism.NewSession(priced.Again())
	if err != nil {
		t.Fatal(err)
	}
	r, err := Regression{Pure: true}.Run(context.Background(), s, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPureCoverage checks that the intervals of a run without a delta cover the R², the RMSE and the MAE of the distribution of
// the records. Of 80 intervals that each cover with probability .95, fewer than 60 do with probability below 1e-9.
func TestPureCoverage(t *testing.T) {
	const (
		n        = 1500
		releases = 80
	)
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		priced := pricePure(t, 2, rel)
		for name, scale := range map[string]float64{
			"good":     .3,
			"middling": .8,
			"poor":     3,
		} {
			rng := rand.New(rand.NewPCG(12, uint64(10*scale)))
			fresh := drawFresh(rng, 20_000, scale)
			reach := 40 * math.Hypot(1, scale)
			covered, errors, mean, all := 0, 0, 0, 0
			width := 0.
			for range releases {
				y, prediction := drawTargets(rng, n, scale)
				r := releasePure(
					t, priced,
					newPairs(t, y, prediction, 50-reach, 50+reach, 48),
				)
				exact := fresh.measure(r)
				covered += countHit(r.Quality, exact.r2)
				errors += countHit(r.RMSE, exact.rmse)
				mean += countHit(r.MAE, exact.mae)
				all += countHit(Quality{Lower: r.AllErrorsLower, Upper: 1}, exact.allErrors)
				width += (r.Upper - r.Lower) / releases
				if len(r.Intervals) > 0 ||
					r.Value < r.Lower ||
					r.Value > r.Upper {
					t.Fatalf("%+v", r)
				}
			}
			t.Logf("%v, %s: R² %d, RMSE %d, MAE %d, all errors %d of %d; mean width of R² %.3f", rel,
				name, covered, errors, mean, all, releases, width)
			if min(covered, errors, mean, all) < 60 {
				t.Errorf("%v, %s: %d, %d, %d and %d of %d intervals cover", rel, name, covered, errors,
					mean, all, releases)
			}
		}
	}
}

// TestPureLargeBudget checks that with a large budget the numbers are the exact ones.
func TestPureLargeBudget(t *testing.T) {
	const n = 3000
	y, prediction := drawTargets(rand.New(rand.NewPCG(1, 2)), n, .5)
	for i := range 300 {
		y[i*7] = math.NaN()
	}
	p := newPairs(t, y, prediction, 10, 90, 48)
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		r := releasePure(t, pricePure(t, 1e6, rel), p)
		exact := exactR2(t, p, r)
		if math.Abs(r.Value-exact) > .002 {
			t.Errorf(
				"%v: released %+v, exact %v",
				rel, r.Quality, exact,
			)
		}
		if math.Abs(r.Records.Value-n+300) > 2 || math.Abs(r.Missing.Value-300) > 2 ||
			math.Abs(r.RMSE.Value-5) > .3 || math.Abs(r.MAE.Value-4) > .3 {
			t.Errorf("%v: %+v", rel, r)
		}
	}
}

// TestPureClassesCoverage checks the same of the accuracy, the balanced accuracy and the recalls of a classification.
func TestPureClassesCoverage(t *testing.T) {
	const releases = 100
	for _, l := range []int{2, 3} {
		p := population{
			[]float64{.3, .7},
			[]float64{.75, .9},
			.05, .05,
		}
		if l == 3 {
			p = population{
				[]float64{.2, .3, .5},
				[]float64{.9, .7, .8},
				.05, .05,
			}
		}
		rng := rand.New(rand.NewPCG(21, uint64(l)))
		for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
			x := Classification{
				Classes: []string{"a", "b", "c"}[:l],
				Pure:    true,
			}
			node, err := x.Plan()
			if err != nil {
				t.Fatal(err)
			}
			priced, err := budget.Calibrate(budget.Sequence("holdout", node),
				budget.Target{Epsilon: .5, Relation: rel})
			if err != nil {
				t.Fatal(err)
			}
			accuracy, balanced, recall := 0, 0, 0
			for range releases {
				truth, prediction, _ := p.drawRecords(rng, 400)
				s, err := mechanism.NewSession(priced.Again())
				if err != nil {
					t.Fatal(err)
				}
				r, err := x.Run(
					context.Background(), s,
					newLabels(t, l, truth, prediction, nil, sixteenBins()),
				)
				if err != nil {
					t.Fatal(err)
				}
				if r.Scores != nil || math.Abs(r.Sigma/(math.Sqrt2/.5)-1) > .01 &&
					math.Abs(r.Sigma/(2*math.Sqrt2/.5)-1) > .01 {
					t.Fatalf(
						"scores %v, noise %v",
						r.Scores, r.Sigma,
					)
				}
				accuracy += countHit(Quality{Lower: r.Accuracy.Lower, Upper: r.Accuracy.Upper},
					p.accuracy())
				balanced += countHit(Quality{Lower: r.Balanced.Lower, Upper: r.Balanced.Upper},
					p.balancedAccuracy())
				recall += countHit(Quality{
					Lower: r.Recalls[0].Lower,
					Upper: r.Recalls[0].Upper,
				},
					p.recalls[0])
			}
			t.Logf("%d classes, %v: accuracy %d, balanced %d, first recall %d of %d", l, rel, accuracy,
				balanced, recall, releases)
			// Each covers with .95: fewer than 77 of 100 have odds below 1e-9.
			if min(accuracy, balanced, recall) < 77 {
				t.Errorf("%d classes, %v: %d, %d, %d of %d intervals cover", l, rel, accuracy, balanced,
					recall, releases)
			}
		}
	}
}
