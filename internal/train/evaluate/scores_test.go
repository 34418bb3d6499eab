package evaluate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/internal/testkit"
)

func isNear(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf(
			"%s is %.9f, want %.9f",
			what, got, want,
		)
	}
}

// The counts of the specification: 20 records of the second class, 20 of the first.
func twentyEach() (p, q []float64) {
	return []float64{1, 2, 5, 12}, []float64{10, 6, 3, 1}
}

// TestAreaReproduces the numbers of the specification.
func TestAreaReproduces(t *testing.T) {
	p, q := twentyEach()
	area, noise, luck := aucVariance(p, q, .25)
	isNear(t, "area", area, .881250, 5e-7)
	isNear(t, "noise", math.Sqrt(noise), .022806, 5e-7)
	isNear(t, "luck", math.Sqrt(luck), .052730, 5e-7)
	s := areaUnderCurve(p, q, .25)
	isNear(t, "lower end", s.Lower, .768647, 2e-6) // with 1.96 in place of 1.959964
	isNear(t, "upper end", s.Upper, .993853, 2e-6)
}

// TestAccuracyReproduces the number of the specification: two classes, sigma 4.
func TestAccuracyReproduces(t *testing.T) {
	right := noisy{value: 812, variance: 2 * 16}
	wrong := noisy{value: 190, variance: 2 * 16}
	isNear(t, "accuracy", portionOf(right, wrong, Level).Value, .810379, 5e-7)
	isNear(t, "variance", shareVariance(right, wrong), 1.75435e-4, 5e-10)
	// Far from 0 and 1 the interval is that of the variance.
	sd := math.Sqrt(shareVariance(right, wrong))
	s := portionOf(right, wrong, Level)
	isNear(t, "lower end", s.Lower, .810379-1.96*sd, .002)
	isNear(t, "upper end", s.Upper, .810379+1.96*sd, .002)
}

// TestLogLossReproduces the numbers of the specification.
func TestLogLossReproduces(t *testing.T) {
	p, q := twentyEach()
	var chance []float64
	for _, s := range []float64{-.75, -.25, .25, .75} {
		chance = append(chance, 1/(1+math.Exp(.159679-3.219319*s)))
	}
	l := logLoss(p, q, chance, .25)
	isNear(t, "log loss", l.Value, .418884, 5e-6)
	isNear(t, "noise", l.Sigma, .039763, 5e-6)
}

// TestReliabilityReproduces the formula of the specification by hand: 12 of 13 records in
// the last bin, sigma .5.
func TestReliabilityReproduces(t *testing.T) {
	s := readScores(
		2,
		Bins{Edges: []float64{-.5, 0, .5}},
		[]int{10, 6, 3, 1},
		[]int{1, 2, 5, 12},
		.25,
	)
	f := 12. / 13
	isNear(t, "share", s.Reliability[3].Value, f, 1e-12)
	isNear(
		t,
		"deviation",
		s.Reliability[3].StdError,
		math.Sqrt(.25*((1-f)*(1-f)+f*f)/169+f*(1-f)/13),
		1e-12,
	)
	hidden := readScores(
		2,
		Bins{Edges: []float64{-.5, 0, .5}},
		[]int{10, 6, 3, 1},
		[]int{1, 2, 5, 12},
		9,
	)
	if hidden.Reliability[2] != nil || hidden.Reliability[3] == nil {
		t.Errorf(
			"%+v: 8 records are hidden by a noise of 3, 13 are not",
			hidden.Reliability,
		)
	}
	// Above the middle edge: 17 of 20, and 4 of the first class.
	th := s.Thresholds[1]
	isNear(t, "recall", th.Recall.Value, 17./20, 1e-12)
	isNear(t, "recall of the first", th.FirstRecall.Value, 16./20, 1e-12)
	isNear(t, "precision", th.Precision.Value, 17./21, 1e-12)
}

// TestPortionMatchesDefinition compares the interval with its definition on a grid of shares.
func TestPortionMatchesDefinition(t *testing.T) {
	for _, c := range [][4]float64{
		{80, 20, 8, 16},
		{3, 97, 8, 16},
		{99, 1, 8, 16},
		{20, 20, 4, 12},
		{-4, 54, 4, 8},
		{53, -3, 4, 8},
		{50, 0, .1, .1},
	} {
		part := noisy{value: c[0], variance: c[2]}
		rest := noisy{value: c[1], variance: c[3]}
		s := unlimitedPortion(part, rest, .95)
		n := c[0] + c[1]
		for rho := -.5; rho <= 1.5; rho += .0005 {
			spread := square(1-rho)*c[2] + square(rho)*c[3] + n*max(rho*(1-rho), 0)
			inside := math.Abs(c[0]-rho*n) <= 1.959964*math.Sqrt(spread)
			near := math.Abs(rho-s.Lower) < .001 || math.Abs(rho-s.Upper) < .001
			if !near && inside != (rho > s.Lower && rho < s.Upper) {
				t.Errorf(
					"%v: rho %.4f inside=%v, %+v",
					c, rho, inside, s,
				)
				break
			}
		}
	}
	s := portionOf(
		noisy{value: 5, variance: 16},
		noisy{value: 5, variance: 16}, .95,
	)
	if s.Known() {
		t.Errorf("%+v of a whole within its noise", s)
	}
}

// TestAreaCoverage checks that the interval of the area covers that of the scores themselves, of two normal
// laws, with balanced and unequal classes and with noise. Of 600 intervals that each cover with
// probability .92 (the promise for unequal ones), fewer than 515 cover with
// probability below 1e-6, and so do fewer than 1324 of 1500.
func TestAreaCoverage(t *testing.T) {
	runs := testkit.Size(600, 1500)
	least := testkit.Size(515, 1324)
	r := rand.New(rand.NewPCG(7, 8))
	edges := sixteenBins()
	draw := func(n int, minority, gap float64) (p, q []float64) {
		p = make([]float64, 16)
		q = make([]float64, 16)
		for range n {
			s := r.NormFloat64()
			if r.Float64() < minority {
				p[edges.binOf((s+gap/2)/4)]++
			} else {
				q[edges.binOf((s-gap/2)/4)]++
			}
		}
		return p, q
	}
	for _, c := range []struct {
		n                    int
		minority, gap, sigma float64
	}{
		{600, .5, 1, 6},
		{2000, .2, 1, 6},
		{2000, .2, 2, 6},
		{5000, .1, 1, 2},
		{600, .5, 2, .5},
		{100, .5, 5, .3},
		{300, .2, 6, 1},
		{20000, .1, 2, .5},
	} {
		truth := .5 * math.Erfc(-c.gap/2) // the normal distribution function at gap/sqrt 2
		covered := 0
		for range runs {
			p, q := draw(c.n, c.minority, c.gap)
			for b := range p {
				p[b] += c.sigma * r.NormFloat64()
				q[b] += c.sigma * r.NormFloat64()
			}
			s := orderedWithin(areaUnderCurve(p, q, c.sigma*c.sigma), p, q)
			checkShare(t, s)
			if s.Lower <= truth && truth <= s.Upper {
				covered++
			}
		}
		if covered < least {
			t.Errorf(
				"%+v: %d of %d cover %.4f",
				c, covered, runs, truth,
			)
		}
	}
}

// TestLargestGain: the interval of the gain over the most frequent class covers the
// difference of the population. Of 1000 that each cover with probability .95 fewer than
// 915 do with probability below 1e-6.
func TestLargestGain(t *testing.T) {
	const runs = 1000
	r := rand.New(rand.NewPCG(9, 9))
	for _, pop := range []population{
		{
			[]float64{.8, .2},
			[]float64{.95, .2},
			0, 0,
		},
		{
			[]float64{.8, .2},
			[]float64{.97, .7},
			0, 0,
		},
		{
			[]float64{.5, .3, .2},
			[]float64{.8, .5, .6},
			0, .3,
		},
	} {
		l := len(pop.shares)
		covered := 0
		for range runs {
			truth, prediction, _ := pop.drawRecords(r, 1000)
			cells := make([]float64, (l+1)*l)
			for i := range truth {
				cells[int(truth[i])*l+int(prediction[i])]++
			}
			hits := make([]noisy, l)
			misses := make([]noisy, l)
			other := noisy{}
			for i, n := range cells {
				n += 6 * r.NormFloat64()
				if k := i / l; k == l {
					other = other.addNoisy(noisy{value: n, variance: 36})
				} else if i%l == k {
					hits[k] = noisy{value: n, variance: 36}
				} else {
					misses[k] = misses[k].addNoisy(noisy{value: n, variance: 36})
				}
			}
			x := compareLargest(hits, misses, other)
			gain := pop.accuracy() - (1-pop.other)*pop.shares[0]
			if x.Class == 0 && x.GainLower <= gain && gain <= x.GainUpper {
				covered++
			}
		}
		if covered < 915 {
			t.Errorf(
				"%+v: %d of %d cover",
				pop, covered, runs,
			)
		}
	}
}

// TestWithinBins checks, with exact counts of two normal distributions in few bins at the quantiles of the
// scores, that the area with half weight on equal bins differs by at most half of the contribution of the order
// within bins.
func TestWithinBins(t *testing.T) {
	cdf := func(x float64) float64 {
		return .5 * math.Erfc(-x/math.Sqrt2)
	}
	for _, c := range []struct{ share, gap float64 }{
		{.5, 1},
		{.5, 2.5},
		{.1, 1},
		{.1, 1.8},
		{.1, 2.5},
		{.03, 1.8},
	} {
		const bins = 16
		p := make([]float64, bins)
		q := make([]float64, bins)
		before := 0.
		beforeP := 0.
		beforeQ := 0.
		for b := range bins {
			at := math.Inf(1)
			if b < bins-1 {
				low := -10.
				high := 10.
				for range 80 {
					at = (low + high) / 2
					if c.share*cdf(at-c.gap)+(1-c.share)*cdf(at) < before+1./bins {
						low = at
					} else {
						high = at
					}
				}
			}
			before += 1. / bins
			p[b], q[b] = 1e6*c.share*(cdf(at-c.gap)-beforeP), 1e6*(1-c.share)*(cdf(at)-beforeQ)
			beforeP = cdf(at - c.gap)
			beforeQ = cdf(at)
		}
		truth := cdf(c.gap / math.Sqrt2)
		area, _, _ := aucVariance(p, q, 0)
		missing := truth - area
		more := withinBins(p, q)
		if !(missing > .0005 && math.Abs(missing-more) <= missing/2+1e-4) {
			t.Errorf(
				"%+v: equal bins take off %.4f, their order adds %.4f",
				c, missing, more,
			)
		}
	}
}
