package evaluate

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
)

func newPairs(t testing.TB, y, prediction []float64, lower, upper, center float64) Pairs {
	t.Helper()
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: []dataset.Column{{Name: "y"}}},
		[]dataset.ColumnData{{Floats: y}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return Pairs{
		Records: memory.NewRecords(tab.View()),
		Model:   fixed{prediction: prediction},
		Lower:   lower,
		Upper:   upper,
		Center:  center,
	}
}

// fixed predicts by the place of a record, which a model cannot.
type fixed struct{ prediction, score []float64 }

func (f fixed) Predict(b dataset.Block, _ []float64) []float64 {
	return f.prediction[b.Start() : b.Start()+b.Len()]
}

func (f fixed) Classify(b dataset.Block) (prediction, score []float64) {
	prediction = f.Predict(b, nil)
	if f.score == nil {
		return prediction, make([]float64, b.Len())
	}
	return prediction, f.score[b.Start() : b.Start()+b.Len()]
}

// exactR2 returns the R² of pairs without noise, cut at the limits of a release. Predictions are clamped as by the model.
func exactR2(t testing.TB, p Pairs, r R2) float64 {
	t.Helper()
	v, err := p.Records.View(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	prediction := slices.Clone(p.Model.(fixed).prediction)
	for i, x := range prediction {
		prediction[i] = min(max(x, p.Lower), p.Upper)
	}
	return Exact(
		v.Block(0, v.Len()).Float(p.Target, nil),
		prediction,
		r.TargetLower,
		r.TargetUpper,
		r.ErrorLimit,
	)
}

func pricedPlan(t testing.TB, epsilon float64) *budget.Priced {
	t.Helper()
	priced, err := budget.Calibrate(
		Regression{}.Plan(),
		budget.Target{Epsilon: epsilon, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	return priced
}

func releaseR2(t testing.TB, priced *budget.Priced, p Pairs) R2 {
	t.Helper()
	s, err := mechanism.NewSession(priced.Again())
	if err != nil {
		t.Fatal(err)
	}
	r, err := Regression{}.Run(context.Background(), s, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// drawTargets returns n targets, signal plus noise of standard deviation scale, and the signal as
// their predictions, in units of ten around 50.
func drawTargets(rng *rand.Rand, n int, scale float64) (y, prediction []float64) {
	y = make([]float64, n)
	prediction = make([]float64, n)
	for i := range y {
		prediction[i] = 50 + 10*rng.NormFloat64()
		y[i] = prediction[i] + 10*scale*rng.NormFloat64()
	}
	return y, prediction
}

// freshRecords are records without noise from the distribution that a test draws its tables from.
type freshRecords struct{ y, prediction []float64 }

// exactMeasures are the values that a release estimates. allErrors is the R² without a limit of errors.
type exactMeasures struct{ r2, rmse, mae, allErrors float64 }

// drawFresh returns n records; see drawTargets.
func drawFresh(rng *rand.Rand, n int, scale float64) freshRecords {
	y, prediction := drawTargets(rng, n, scale)
	return freshRecords{y, prediction}
}

// measure returns the values that a release estimates, in one pass; [Exact] computes each R² in one of its own.
func (f freshRecords) measure(r R2) exactMeasures {
	const center = 50 // near the mean of the targets
	var sum, total, absolute, squares, allSquares float64
	for i, v := range f.y {
		v = min(max(v, r.TargetLower), r.TargetUpper)
		sum += v - center
		total += (v - center) * (v - center)
		error := math.Abs(v - min(max(f.prediction[i], r.TargetLower), r.TargetUpper))
		allSquares += error * error
		error = min(error, r.ErrorLimit)
		absolute += error
		squares += error * error
	}
	n := float64(len(f.y))
	total -= sum * sum / n
	return exactMeasures{
		r2:        max(1-squares/total, floor),
		rmse:      math.Sqrt(squares / n),
		mae:       absolute / n,
		allErrors: max(1-allSquares/total, floor),
	}
}

// TestMeasure compares the R² of measure with [Exact].
func TestMeasure(t *testing.T) {
	fresh := drawFresh(rand.New(rand.NewPCG(4, 1)), 3000, .8)
	r := R2{
		TargetLower: 35,
		TargetUpper: 70,
		ErrorLimit:  9,
	}
	got := fresh.measure(r)
	for limit, x := range map[float64]float64{
		r.ErrorLimit: got.r2,
		math.Inf(1):  got.allErrors,
	} {
		want := Exact(fresh.y, fresh.prediction, r.TargetLower, r.TargetUpper, limit)
		if math.Abs(x-want) > 1e-9 {
			t.Errorf(
				"limit %v: %v, want %v",
				limit, x, want,
			)
		}
	}
}

// TestCoverage checks that the interval covers the R² of the distribution of the records, cut at the limits of the
// release, at least at its stated rate. 400 releases that each cover with probability .95: fewer than 350 (.875)
// happens with probability below 1e-7.
func TestCoverage(t *testing.T) {
	const (
		n        = 2000
		releases = 400
	)
	one := pricedPlan(t, 1)
	for name, scale := range map[string]float64{
		"good":     .3,
		"middling": .8,
		"poor":     3,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(11, uint64(10*scale)))
			fresh := drawFresh(rng, 200_000, scale)
			reach := 40 * math.Hypot(1, scale)
			covered := 0
			errors := 0
			mean := 0
			all := 0
			for range releases {
				y, prediction := drawTargets(rng, n, scale)
				r := releaseR2(
					t, one,
					newPairs(t, y, prediction, 50-reach, 50+reach, 48),
				)
				exact := fresh.measure(r)
				covered += countHit(r.Quality, exact.r2)
				errors += countHit(r.RMSE, exact.rmse)
				mean += countHit(r.MAE, exact.mae)
				all += countHit(Quality{Lower: r.AllErrorsLower, Upper: 1}, exact.allErrors)
				for _, q := range []Quality{r.Quality, r.RMSE, r.MAE} {
					if q.Value < q.Lower ||
						q.Value > q.Upper ||
						q.Level != Level {
						t.Fatalf("%s: %+v", name, q)
					}
				}
			}
			t.Logf(
				"R² %d, RMSE %d, MAE %d, all errors %d of %d",
				covered,
				errors,
				mean,
				all,
				releases,
			)
			if covered < 350 || errors < 350 || mean < 350 || all < 370 {
				t.Errorf(
					"%d, %d, %d and %d of %d intervals cover",
					covered,
					errors,
					mean,
					all,
					releases,
				)
			}
		})
	}
}

func countHit(q Quality, truth float64) int {
	if truth >= q.Lower && truth <= q.Upper {
		return 1
	}
	return 0
}

// TestLargeBudget checks that the numbers are the exact ones with a large budget, for any frame, and that a record without a target counts as missing and nowhere else.
func TestLargeBudget(t *testing.T) {
	const n = 3000
	y, prediction := drawTargets(rand.New(rand.NewPCG(1, 2)), n, .5)
	for i := range 300 {
		y[i*7] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[i%3]
		prediction[i*7] = 1e9
	}
	large := pricedPlan(t, 1e6)
	for _, center := range []float64{50, 30, 1e9} {
		p := newPairs(t, y, prediction, 10, 90, center)
		r := releaseR2(t, large, p)
		exact := exactR2(t, p, r)
		if math.Abs(r.Value-exact) > .002 {
			t.Errorf(
				"center %v: released %+v, exact %v",
				center, r.Quality, exact,
			)
		}
		if math.Abs(r.Records.Value-n+300) > 2 ||
			math.Abs(r.Missing.Value-300) > 2 ||
			r.NoiseShare > .01 {
			t.Errorf(
				"center %v: %+v records, %+v without a target, noise share %v",
				center,
				r.Records,
				r.Missing,
				r.NoiseShare,
			)
		}
		if math.Abs(r.RMSE.Value-5) > .3 ||
			math.Abs(r.MAE.Value-4) > .3 {
			t.Errorf(
				"center %v: RMSE %+v, MAE %+v",
				center, r.RMSE, r.MAE,
			)
		}
		if len(r.Intervals) != 2 ||
			!within1(r.Intervals[0].HalfWidth, 8, 8.6) ||
			!within1(r.Intervals[1].HalfWidth, 9.6, 10.4) {
			t.Errorf(
				"center %v: intervals %+v",
				center, r.Intervals,
			)
		}
	}
}

func within1(x, low, high float64) bool {
	return x >= low && x <= high
}

// TestExtremeTargetLimits checks targets beyond the range: the limits move out to them and the
// released R² is that of targets cut there, not at the range. Past a gap the limits do not
// move, R² is still that of targets cut at the limits, and the release states that targets
// are beyond. The noise of R² is below 4e-4, so a difference of .005 has odds below 1e-30.
func TestExtremeTargetLimits(t *testing.T) {
	const (
		n   = 3000
		far = 60
	)
	large := pricedPlan(t, 1e6)
	table := func(from, to float64) Pairs {
		y, prediction := drawTargets(rand.New(rand.NewPCG(3, 4)), n, .5)
		for i := range far {
			y[i*50] = 50 + 25*from*math.Pow(to/from, float64(i+1)/far)
		}
		return newPairs(t, y, prediction, 25, 75, 50)
	}
	for name, c := range map[string]struct {
		p     Pairs
		limit float64 // at least, in half widths
		far   bool
	}{
		"seen":  {table(1, 20), upperEdge(binAt(9)), false},
		"a gap": {table(46, 60), .9, true},
	} {
		r := releaseR2(t, large, c.p)
		if r.TargetUpper < 50+25*c.limit-1e-9 ||
			c.far && (!r.Far || r.TargetUpper > 50+25*40) {
			t.Errorf(
				"%s: limits %v to %v, far %v; want at least %v half widths",
				name,
				r.TargetLower,
				r.TargetUpper,
				r.Far,
				c.limit,
			)
		}
		exact := exactR2(t, c.p, r)
		if math.Abs(r.Value-exact) > .005 {
			t.Errorf(
				"%s: R² %v, exact %v",
				name, r.Value, exact,
			)
		}
	}
}

// TestWideRange checks that a target whose range is thirty times its scale is cut within its range, as are its
// predictions, and that the release states this. Its R² is that of the cut values.
func TestWideRange(t *testing.T) {
	y, prediction := drawTargets(rand.New(rand.NewPCG(8, 8)), 1500, .5)
	p := newPairs(t, y, prediction, -250, 350, 50)
	covered := 0
	wide := 0
	const releases = 100
	for range releases {
		r := releaseR2(t, pricedPlan(t, 1), p)
		if !r.PredictionsCut || r.TargetUpper >= 350 {
			wide++
		}
		if r.TargetUpper < 70 {
			t.Fatalf(
				"limits %v to %v",
				r.TargetLower, r.TargetUpper,
			)
		}
		covered += countHit(r.Quality, exactR2(t, p, r))
	}
	// Each covers with .95 or more, for the sampling error is not in it: below 80 has odds of 1e-8.
	if covered < 80 {
		t.Errorf("%d of %d intervals cover", covered, releases)
	}
	// Noise alone moves a limit outward if it exceeds three standard deviations in one of three windows, which has odds
	// of at most .0041. More than 8 of 100 have odds below 1e-9.
	if wide > 8 {
		t.Errorf(
			"%d of %d limits are as wide as the range",
			wide, releases,
		)
	}
}

// TestShareOfTargetsBeyondLimits: the share of targets beyond the limits. Here 28 of 750 are beyond a gap, and no
// window of bins is seen.
func TestShareOfTargetsBeyondLimits(t *testing.T) {
	sizes, l, a := specifiedRelease(0, 0)
	o := readOctaves(sizes, l)
	a.Cells = make([]float64, o.cellGroups().Len())
	a.Groups = make([]float64, len(o))
	a.CellNoise = 2
	a.FarNoise = 5
	noise := sizes.SecondNoise * math.Sqrt(13)
	for _, c := range []struct {
		count float64
		far   bool
	}{
		{28, false},
		{2*noise - .1, false},
		{2*noise + .1, true},
	} {
		sizes.Second[rangeBin+1] = 0
		sizes.Second[rangeBin+8] = c.count
		r := readR2(Pairs{Lower: -1, Upper: 1}, sizes, l, o, a)
		reach := twoSided * math.Sqrt(square(noise)+c.count) / 750
		want := limitShare(
			Share{
				Value: c.count / 750,
				Lower: c.count/750 - reach,
				Upper: c.count/750 + reach,
				Level: Level,
			})
		diff := math.Abs(r.Beyond.Upper-want.Upper) +
			math.Abs(r.Beyond.Value-want.Value)
		if diff > 1e-12 || r.Far != c.far {
			t.Errorf(
				"%v targets: %+v, far %v; want %+v",
				c.count, r.Beyond, r.Far, want,
			)
		}
	}
}

// TestRulesOfPublication: prediction intervals are released from n mu = 200 and 450 on.
func TestRulesOfPublication(t *testing.T) {
	sizes, _, a := specifiedRelease() // mu = 1
	for n, want := range map[float64]int{199: 0, 201: 1, 449: 1, 451: 2} {
		a.Count = n
		for b := range sizes.First {
			sizes.First[b] = 0
		}
		sizes.First[binAt(-6)] = n
		l := readLimits(sizes, 1.7)
		o := readOctaves(sizes, l)
		a.Nodes = make([]float64, l.residualNodes().Len())
		a.Cells = make([]float64, o.cellGroups().Len())
		a.Groups = make([]float64, len(o))
		a.CellNoise = 2
		a.FarNoise = 2
		r := readR2(Pairs{Lower: -2, Upper: 2}, sizes, l, o, a)
		if len(r.Intervals) != want {
			t.Errorf(
				"n mu = %v: intervals %+v",
				n, r.Intervals,
			)
		}
	}
}

// TestMetricsOfAnyTableAreFinite: whatever the held-out part and the range, the result is finite and ordered.
func TestMetricsOfAnyTableAreFinite(t *testing.T) {
	nan := math.NaN()
	big := math.MaxFloat64
	budgets := []*budget.Priced{
		pricedPlan(t, .05),
		pricedPlan(t, 1),
		pricedPlan(t, 20),
	}
	for name, c := range map[string]struct {
		y, prediction        []float64
		lower, upper, center float64
	}{
		"nothing": {nil, nil, -1, 2, .3},
		"one": {
			[]float64{1},
			[]float64{2}, -1, 2,
			.3,
		},
		"missing": {
			[]float64{nan, nan},
			[]float64{0, nan}, -1,
			2, .3,
		},
		"constant": {
			make([]float64, 300),
			make([]float64, 300), -1,
			2, .3,
		},
		"far": {
			[]float64{1e300, -1e300, math.Inf(1)},
			[]float64{0, nan, nan},
			-1,
			2,
			.3,
		},
		"no width": {
			[]float64{1, 2},
			[]float64{1, 1}, 1,
			1, 1,
		},
		"all widths": {
			[]float64{big, -big},
			[]float64{big, 0}, -big,
			big, 0,
		},
		"one end": {
			[]float64{big, -big},
			[]float64{big, 0}, -big,
			big, big,
		},
		"least": {
			[]float64{0, 5e-324},
			[]float64{0, 0}, 0,
			5e-324, 0,
		},
	} {
		for _, priced := range budgets {
			for range 5 {
				r := releaseR2(
					t,
					priced,
					newPairs(t, c.y, c.prediction, c.lower, c.upper, c.center),
				)
				if !(floor <= r.AllErrorsLower &&
					r.AllErrorsLower <= r.Lower &&
					r.Lower <= r.Value &&
					r.Value <= r.Upper &&
					r.Upper <= 1) {
					t.Errorf(
						"%s: R² %+v",
						name, r.Quality,
					)
				}
				for _, q := range []Quality{r.RMSE, r.MAE} {
					if !(0 <= q.Lower &&
						q.Lower <= q.Value &&
						q.Value <= q.Upper &&
						q.Upper <= big) {
						t.Errorf("%s: %+v", name, q)
					}
				}
				if !(r.TargetLower >= -big &&
					r.TargetLower < r.TargetUpper &&
					r.TargetUpper <= big) {
					t.Errorf(
						"%s: limits %v to %v",
						name, r.TargetLower, r.TargetUpper,
					)
				}
				if !(r.ErrorLimit > 0 &&
					r.ErrorLimit <= big &&
					0 <= r.NoiseShare &&
					r.NoiseShare <= 1) {
					t.Errorf(
						"%s: error limit %v, noise share %v",
						name,
						r.ErrorLimit,
						r.NoiseShare,
					)
				}
				b := r.Beyond
				if !(0 <= b.Lower &&
					b.Lower <= b.Value &&
					b.Value <= b.Upper &&
					b.Upper <= 1) {
					t.Errorf("%s: beyond %+v", name, b)
				}
			}
		}
	}
}

// TestConformal checks that fresh records are in the interval at least at its stated rate, on distributions
// with and without heavy tails. At 2,000 records the mean coverage of 150 intervals at .9
// is about .93, with a standard deviation below .003: below .9 and above .97 happen with odds below 1e-12.
func TestConformal(t *testing.T) {
	one := pricedPlan(t, 1)
	rng := rand.New(rand.NewPCG(7, 7))
	for name, noise := range map[string]func() float64{
		"normal": rng.NormFloat64,
		"uniform": func() float64 {
			return 2*rng.Float64() - 1
		},
		"mixed": func() float64 {
			if rng.Float64() < .05 {
				return 10 * rng.NormFloat64()
			}
			return rng.NormFloat64()
		},
	} {
		fill := func(n int) (y, p []float64) {
			y = make([]float64, n)
			p = make([]float64, n)
			for i := range y {
				y[i] = noise()
			}
			return y, p
		}
		fresh, _ := fill(50_000)
		mean := 0.0
		const runs = 150
		for range runs {
			y, p := fill(2000)
			r := releaseR2(t, one, newPairs(t, y, p, -3, 3, 0))
			inside := 0
			for _, v := range fresh {
				if len(r.Intervals) > 0 &&
					math.Abs(v) <= r.Intervals[0].HalfWidth {
					inside++
				}
			}
			mean += float64(inside) / float64(len(fresh)) / runs
		}
		t.Logf("%s: %.3f", name, mean)
		if mean < .9 || mean > .97 {
			t.Errorf(
				"%s: intervals at .9 hold %.3f",
				name, mean,
			)
		}
	}
}
