package published

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// Witnesses for the check and the draw move one of several models. A record in a batch of its own is a model: with no
// column but the intercept, the model is the value of the target.

// twoHeaps returns m models of one coefficient, the given number of zeros and the others at 1. They are spread as in the
// script, but evenly.
func twoHeaps(m, zeros int) [][]float64 {
	return heapModels(map[float64]int{0: zeros, 1: m - zeros})
}

func heapModels(counts map[float64]int) [][]float64 {
	var models [][]float64
	for at, n := range counts {
		for i := range n {
			models = append(
				models,
				[]float64{at + perturbation*(float64(i)+.5)/float64(n)},
			)
		}
	}
	return models
}

// deltaOfEvent returns the smallest delta for which an event with these log-probabilities is within epsilon.
func deltaOfEvent(a, b, epsilon float64) float64 {
	return math.Exp(a) - math.Exp(epsilon+b)
}

// soundCheck is the check of this project (the specification, step 6) at weight e: the number of k = 0, 1, ... with
// V_(t-k-2) exp(e (t+k+2)) / w(depth >= t+k+1) <= delta. One model moves it by at most 1.
func soundCheck(s *Depths, e, delta float64) float64 {
	for k := 0; ; k++ {
		outer := s.t - k - 2
		inner := s.t + k + 1
		if outer < 1 || inner > s.m/2 {
			return float64(k)
		}
		var terms []float64
		for q := inner; q <= s.m/2; q++ {
			terms = append(
				terms,
				e*float64(q)+logLess(
					s.volume[q-1],
					append(s.volume, math.Inf(-1))[q],
				),
			)
		}
		if !(s.volume[outer-1]+e*float64(s.t+k+2)-logSum(terms) <= math.Log(delta)) {
			return float64(k)
		}
	}
}

// soundPass returns the log-probability that the check of this project passes: a share e1 = .4 epsilon, noise of
// scale 1/e1, weights of e' = .3 epsilon.
func soundPass(s *Depths, epsilon, delta float64) float64 {
	e1 := .4 * epsilon
	return logPass(
		soundCheck(s, .3*epsilon, delta),
		math.Log(1/(2*delta))/e1,
		1/e1,
	)
}

// TestTukeyWitnessPass shows that the bit "passed" has a log ratio of 2/epsilon if one model moves the distance by 1,
// and that an event of that size occurs near the threshold.
func TestTukeyWitnessPass(t *testing.T) {
	const (
		epsilon = 1.0
		delta   = 1e-5
		m       = 200
	)
	a := must(NewDepths(twoHeaps(m, 100), epsilon, delta))
	b := must(NewDepths(twoHeaps(m, 99), epsilon, delta))
	if a.Distance() != 21 || b.Distance() != 20 {
		t.Fatalf(
			"distances %d and %d, want 21 and 20",
			a.Distance(), b.Distance(),
		)
	}
	checkNear(
		t, "log ratio",
		a.LogPass()-b.LogPass(),
		2/epsilon, 1e-9,
	)
	got := a.LogPass() - b.LogPass()
	if got <= epsilon/2 {
		t.Errorf("log ratio %v within the check's share", got)
	}
	// The delta does not cover the event, whose log ratio is above epsilon.
	got = deltaOfEvent(a.LogPass(), b.LogPass(), epsilon)
	if got < .08 {
		t.Errorf(
			"delta %v suffices at epsilon %v, the claim is %v",
			got, epsilon, delta,
		)
	}
	for _, zeros := range []int{100, 99, 98, 90} {
		a := must(NewDepths(twoHeaps(m, zeros), epsilon, delta))
		b := must(NewDepths(twoHeaps(m, zeros-1), epsilon, delta))
		got := math.Abs(soundPass(a, epsilon, delta) -
			soundPass(b, epsilon, delta))
		if got > .4*epsilon+1e-9 {
			t.Errorf(
				"%d models at 0: this project's check has a log ratio of %v above its share",
				zeros,
				got,
			)
		}
	}
}

// TestTukeyWitnessPassRecords shows the same for an added record, as in the claim. One of 397 records is left out at
// random: with 198 zeros and 199 ones the models are those of (198, 198) or of (197, 199).
func TestTukeyWitnessPassRecords(t *testing.T) {
	const (
		epsilon = .5
		delta   = 1e-5
		m       = 396
	)
	pass := func(zeros int) float64 {
		return must(NewDepths(twoHeaps(m, zeros), epsilon, delta)).LogPass()
	}
	before := pass(198)
	p := 198.0 / 397
	after := logSum([]float64{
		math.Log(p) + pass(197),
		math.Log(1-p) + pass(198),
	})
	checkNear(t, "log ratio", before-after, .676, .005)
	if got := before - after; got <= epsilon {
		t.Errorf("log ratio %v within %v", got, epsilon)
	}
	got := deltaOfEvent(before, after, epsilon)
	if got < .02 {
		t.Errorf(
			"delta %v suffices, the claim is %v",
			got, delta,
		)
	}
}

// TestTukeyWitnessJump shows a jump of the distance. The search returns k+1 for the largest k that satisfies the
// inequality, but -1 if no k does, so one model moves it by 2.
func TestTukeyWitnessJump(t *testing.T) {
	const (
		epsilon = 1.0
		delta   = 1e-5
		m       = 120
	)
	a := must(NewDepths(twoHeaps(m, 60), epsilon, delta))
	b := must(NewDepths(twoHeaps(m, 59), epsilon, delta))
	if a.LargestK() != 0 ||
		b.LargestK() != -1 ||
		a.Distance() != 1 ||
		b.Distance() != -1 {
		t.Errorf(
			"largest k %d and %d, distances %d and %d; want 0, -1, 1, -1",
			a.LargestK(),
			b.LargestK(),
			a.Distance(),
			b.Distance(),
		)
	}
	checkNear(
		t, "log ratio",
		a.LogPass()-b.LogPass(),
		4/epsilon, 1e-9,
	)
	got := math.Abs(soundPass(a, epsilon, delta) -
		soundPass(b, epsilon, delta))
	if got > .4*epsilon+1e-9 {
		t.Errorf("this project's check: log ratio %v", got)
	}
	seen := map[int]bool{}
	for m := 60; m <= 300; m += 2 {
		for _, epsilon := range []float64{.5, 1, 4} {
			s := must(NewDepths(twoHeaps(m, m/2), epsilon, delta))
			want := s.LargestK()
			seen[min(want, 60)] = true
			if want >= 0 {
				want++
			}
			if got := s.Distance(); got != want {
				t.Errorf(
					"m = %d, epsilon %v: distance %d, largest k %d",
					m,
					epsilon,
					got,
					s.LargestK(),
				)
			}
		}
	}
	if len(seen) < 50 {
		t.Errorf(
			"only %d different values of k were tried",
			len(seen),
		)
	}
}

// stairModels returns models at 0, 1, 2, ... with one wider gap.
func stairModels(m, place int, width float64) (models [][]float64) {
	for i := range m {
		v := float64(i)
		if i >= place {
			v += width - 1
		}
		models = append(models, []float64{v})
	}
	return models
}

// TestTukeyWitnessModel moves one model from the right end to the left one. This lowers the depth of a point on the
// right and raises that of nearly all the rest, so that weights exp(e T) need 2e, not e: -0.778 for e = 0.4.
func TestTukeyWitnessModel(t *testing.T) {
	const (
		e = .4
		m = 24
	)
	ratio := func(width float64, right int) (intended, drawn float64) {
		place := 11
		if right == 10 { // for the draw as published, below
			place = 7
		}
		before := stairModels(m, place, width)
		after := append([][]float64{{-1}}, before[:m-1]...)
		a := must(NewDepths(before, 2*e, 1e-5))
		b := must(NewDepths(after, 2*e, 1e-5))
		y := []float64{before[m-1-right][0] + .5}
		if a.t != 6 ||
			a.depthOf(0, y[0]) != right ||
			b.depthOf(0, y[0]) != right-1 {
			t.Fatalf(
				"t = %d, depths %d and %d",
				a.t,
				a.depthOf(0, y[0]),
				b.depthOf(0, y[0]),
			)
		}
		return b.LogIntended(y) - a.LogIntended(y), b.LogDensity(y) - a.LogDensity(y)
	}
	intended, _ := ratio(100, 8)
	checkNear(t, "log density ratio", intended, -.778, .0005)
	for _, width := range []float64{1e3, 1e6, 1e9} {
		intended, _ := ratio(width, 8)
		got := math.Abs(intended)
		if got <= e || got > 2*e+1e-12 {
			t.Errorf(
				"width %v: log density ratio %v, want above e = %v and within the 2e that this project charges",
				width,
				got,
				e,
			)
		}
	}
	checkNear(
		t, "log density ratio, limit",
		must2(ratio(1e9, 8)),
		-2*e, 1e-6,
	)

	// The draw as published weights one depth and draws from the next, so a wide gap moves its density without bound.
	for width, least := range map[float64]float64{100: 3, 1e4: 7, 1e8: 16} {
		_, drawn := ratio(width, 10)
		if math.Abs(drawn) < least {
			t.Errorf(
				"width %v: log density ratio %v of the draw as published, want at least %v",
				width,
				drawn,
				least,
			)
		}
	}
}

func must2(a, _ float64) float64 {
	return a
}

// TestTukeyWitnessBatches shows that one more record changes every batch. The targets are 0 and 1, half each, and
// there is no column. With 999 records there are 500 batches of one, whose models are 0 or 1. With 1000 there are 500
// batches of two, half with the mean .5, and only that value is drawn. The distributions are exact, with
// models of a cluster spread evenly; cluster sizes are summed over all orders of the records.
func TestTukeyWitnessBatches(t *testing.T) {
	const (
		epsilon = 1.0
		delta   = 1e-5
		m       = 500
	)
	// Of three clusters the outer two have `both` models each. From depth both+1 on all gaps are in the middle
	// cluster, and the weight of depth `both` is drawn there.
	inside := func(s *Depths, both int) float64 {
		logs := s.depthLogs()
		return math.Exp(logSum(logs[max(0, both-s.t):]) - logSum(logs))
	}
	in := 0.0
	out := 0.0 // probability to pass and be within 1e-9 of .5, with 999 and with 1000 records
	for zeros := 180; zeros <= 320; zeros++ {
		s := must(NewDepths(twoHeaps(m, zeros), epsilon, delta))
		p := math.Exp(logBinomial(500, zeros) + logBinomial(499, m-zeros) - logBinomial(999, m))
		in += p * math.Exp(s.LogPass()) * 2e-9 * math.Exp(s.LogDensity([]float64{.5}))
	}
	for both := 60; both <= 200; both++ { // number of batches of two zeros, equal to that of two ones
		mixed := 500 - 2*both
		s := must(NewDepths(
			heapModels(map[float64]int{
				0:  both,
				.5: mixed,
				1:  both,
			}),
			epsilon,
			delta,
		))
		p := math.Exp(logBinomial(m, both) + logBinomial(m-both, both) + float64(mixed)*math.Ln2 -
			logBinomial(1000, 500))
		out += p * math.Exp(s.LogPass()) * inside(s, both)
	}
	if in > 1e-15 || out < .999 {
		t.Fatalf(
			"probability of a model at .5: %v with 999 records, %v with 1000",
			in, out,
		)
	}
	got := math.Log(out / in)
	if got < 30*epsilon {
		t.Errorf("log ratio %v", got)
	}
	got = deltaOfEvent(math.Log(out), math.Log(in), epsilon)
	if got < .99 {
		t.Errorf(
			"delta %v suffices at epsilon %v, the claim is %v",
			got, epsilon, delta,
		)
	}

	// The next loop measures the same by running the mechanism.
	for _, n := range []int{999, 1000} {
		near5 := 0
		src := fixedSource(uint64(n))
		for range 20 {
			y := make([]float64, n)
			for i := range y {
				y[i] = float64(i % 2)
			}
			v, target := newView(t, nil, y)
			got, err := Tukey{Models: m}.Fit(
				t.Context(), src, v, target, epsilon,
				delta,
			)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got.Model.Intercept-.5) < 1e-9 {
				near5++
			}
		}
		want := map[int]int{999: 0, 1000: 20}[n]
		if near5 != want {
			t.Errorf(
				"%d records: %d of 20 models are .5, want %d",
				n, near5, want,
			)
		}
	}

	// All batches change, even if the existing records keep their permutation.
	before := must(Batches(fixedSource(1), 999, m, 1))
	after := must(Batches(fixedSource(1), 1000, m, 1))
	for b := range before {
		if len(before[b]) != 1 || len(after[b]) != 2 {
			t.Fatalf(
				"batch %d has %d and %d records",
				b, len(before[b]),
				len(after[b]),
			)
		}
	}
	// With a coin for each record, one bucket changes.
	y := rearrangedColumns(1000, 7)[0]
	coin := func(id uint64) int {
		g := dice{fixedSource(id)}
		return g.uniformBelow(m)
	}
	large, _ := newView(t, nil, y)
	small, _ := newView(t, nil, y[:999])
	changed := 0
	buckets := small.Split(m, coin)
	for b, bucket := range large.Split(m, coin) {
		if !slices.Equal(bucket.Block(0, bucket.Len()).Float(0, nil),
			buckets[b].Block(0, buckets[b].Len()).Float(0, nil)) {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("with coins %d buckets changed, want 1", changed)
	}
}

// logBinomial returns the logarithm of a binomial coefficient.
func logBinomial(n, k int) float64 {
	log := func(n int) float64 {
		v, _ := math.Lgamma(float64(n) + 1)
		return v
	}
	return log(n) - log(k) - log(n-k)
}

// TestTukeyDensity checks that the density of the draw integrates to 1 and matches the sampled frequencies, cell by
// cell between the models, with a tolerance of six standard deviations and a fixed seed.
func TestTukeyDensity(t *testing.T) {
	const (
		m    = 12
		runs = 40000
	)
	var models [][]float64
	for i := range m {
		v := float64(i+1) - 6.5
		models = append(models, []float64{float64(i * i), v * v * v})
	}
	s := must(NewDepths(models, 1, 1e-5))
	count := map[[2]int]float64{}
	d := dice{fixedSource(9)}
	cell := func(j int, y float64) int {
		n, _ := slices.BinarySearch(s.x[j], y)
		return n
	}
	for range runs {
		p := s.drawPoint(d)
		count[[2]int{
			cell(0, p[0]),
			cell(1, p[1]),
		}]++
	}
	total := 0.0
	for a := range m + 1 {
		for b := range m + 1 {
			p := 0.0
			if a > 0 && a < m && b > 0 && b < m {
				x := s.x[0]
				y := s.x[1]
				middle := []float64{
					(x[a-1] + x[a]) / 2,
					(y[b-1] + y[b]) / 2,
				}
				p = math.Exp(s.LogDensity(middle)) * (x[a] - x[a-1]) * (y[b] - y[b-1])
			}
			total += p
			got := count[[2]int{a, b}]
			if math.Abs(got-runs*p) > 6*math.Sqrt(runs*p)+1e-9 {
				t.Errorf(
					"cell %d %d: %v points, expected %.1f",
					a, b, got, runs*p,
				)
			}
		}
	}
	checkNear(t, "integral", total, 1, 1e-9)
	// The draw never reaches depth t, which the paper's mechanism includes.
	edge := []float64{
		(s.x[0][2] + s.x[0][3]) / 2,
		(s.x[1][5] + s.x[1][6]) / 2,
	}
	if !math.IsInf(s.LogDensity(edge), -1) ||
		math.IsInf(s.LogIntended(edge), -1) {
		t.Errorf(
			"depth t: density %v, intended %v",
			s.LogDensity(edge), s.LogIntended(edge),
		)
	}
}

// TestTukeyVolumes reproduces volumes and the weight of depth >= t of the specification.
func TestTukeyVolumes(t *testing.T) {
	var models [][]float64
	for i := 1; i <= 12; i++ {
		v := float64(i) - 6.5
		models = append(models, []float64{float64(i), v * v * v})
	}
	s := must(NewDepths(models, 1, 1e-5)) // weight .5
	for i, want := range []float64{
		3660.25, 1640.25, 600.25, 156.25,
		20.25, .25,
	} {
		checkNear(
			t,
			fmt.Sprintf("volume %d", i+1),
			math.Exp(s.volume[i]), want,
			1e-9*want,
		)
	}
	if s.t != 3 {
		t.Errorf("t = %d", s.t)
	}
	checkNear(
		t, "weight",
		math.Exp(logSum(s.depthLogs())),
		3243.4528401, 1e-6,
	)
	// Depth 4 is first in the first coefficient: lengths 5 and 3 there, and then 6.75, that of depth 5, as published
	// (31.25 would be right).
	logs := s.firstLogs(4)
	checkNear(
		t, "first coefficient",
		math.Exp(logs[0]),
		(5-3)*6.75, 1e-9,
	)
	checkNear(
		t, "second coefficient",
		math.Exp(logs[1]),
		(31.25-6.75)*3,
		1e-9,
	)
}

// TestTukeyPasses compares the exact probability to pass with the frequency of runs.
func TestTukeyPasses(t *testing.T) {
	const runs = 20000
	s := must(NewDepths(twoHeaps(200, 100), 1, 1e-5))
	p := math.Exp(s.LogPass())
	passed := 0.0
	src := fixedSource(21)
	for range runs {
		if _, ok := s.Draw(src); ok {
			passed++
		}
	}
	if math.Abs(passed-runs*p) > 6*math.Sqrt(runs*p*(1-p)) {
		t.Errorf(
			"passed %v of %d, expected %.0f",
			passed, runs, runs*p,
		)
	}
}
