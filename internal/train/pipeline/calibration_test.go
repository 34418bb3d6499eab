package pipeline

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCalibrationOfSpecification reproduces a fit that was computed beforehand.
func TestCalibrationOfSpecification(t *testing.T) {
	first := make([]float64, cutoffBins)
	second := make([]float64, cutoffBins)
	for b := range first {
		i := float64(b)
		m := (float64(b)+.5)/32 - 1
		mass := 400 * math.Exp(-.5*math.Pow((m+.2)/.4, 2))
		pi := sigmoid(-.5 + 3*m - 1.5*max(m, 0))
		second[b] = mass*pi + 10*math.Sin(1.7*i+.3)
		first[b] = mass*(1-pi) + 10*math.Cos(2.3*i)
	}
	c := newCalibration(first, second, 10)
	if math.Abs(c.mass[0]-59.766797) > 1e-6 ||
		math.Abs(c.mass[20]-365.746637) > 1e-6 {
		t.Errorf(
			"masses %v and %v",
			c.mass[0], c.mass[20],
		)
	}
	check := func(name string, got, want []float64) {
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-7 {
				t.Errorf(
					"%s: %v, want %v",
					name, got, want,
				)
				return
			}
		}
	}
	intercept, slope := c.line()
	check(
		"line", []float64{intercept, slope},
		[]float64{-.6554089, 2.3469198},
	)
	loose := calibrationPrior{precision: []float64{
		1e-6, 1e-4, .05, .05,
		.05, .05, .05,
	}}
	all, _ := c.fitCoefficients(
		loose,
		[]float64{intercept, slope, 0, 0, 0, 0, 0},
	)
	check(
		"curve",
		all,
		[]float64{
			-.4634514, 2.0607148, .1296629, -.0167140,
			-1.4641457, -.0407439, -.2318842,
		},
	)
	for score, want := range map[float64]float64{
		-.8: .05347577,
		-.4: .15464716,
		0:   .37689780,
		.4:  .52541826,
		.8:  .65648195,
	} {
		got := sigmoid(weighted(all, calibrationBasis(score)))
		if math.Abs(got-
			want) > curveTolerance {
			t.Errorf(
				"at %v the probability is %v, want %v",
				score, got, want,
			)
		}
	}
	p := c.fittedCurve()
	if len(p.Scores) > 128 {
		t.Errorf(
			"the curve has %d points",
			len(p.Scores),
		)
	}
}

// TestCalibrationFollowsCounts: where noise hides the counts the curve is near (1 + score)/2, and where it does not, near
// the probability that they were drawn with, whether that is (1 + score)/2 or another. Over these draws, which are always the same, the
// mean distances are .094 with hidden counts, .007 with few records and .003 at most with many.
func TestCalibrationFollowsCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	distance := func(
		records, sigma float64, probability func(score float64) float64, from func(score float64) float64,
	) float64 {
		sum := 0.
		const draws = 30
		for range draws {
			first := make([]float64, cutoffBins)
			second := make([]float64, cutoffBins)
			for b := range first {
				pi := probability(gridEdge(float64(b) + .5))
				second[b] = records/cutoffBins*pi + sigma*r.NormFloat64()
				first[b] = records/cutoffBins*(1-pi) + sigma*r.NormFloat64()
			}
			p := newCalibration(first, second, sigma).fittedCurve()
			for b := range first {
				score := gridEdge(float64(b) + .5)
				sum += math.Abs(p.Evaluate(score)-from(score)) / cutoffBins / draws
			}
		}
		return sum
	}
	even := func(score float64) float64 {
		return (1 + score) / 2
	}
	low := func(score float64) float64 {
		return .05 + .2*(1+score)
	}
	hidden := distance(2000, 400, even, even)
	if hidden > .15 {
		t.Errorf(
			"with hidden counts: %.4f from (1 + score)/2",
			hidden,
		)
	}
	for name, probability := range map[string]func(
		float64,
	) float64{
		"(1 + score)/2": even,
		"a low line":    low,
	} {
		few := distance(20_000, 12, probability, probability)
		many := distance(2_000_000, 12, probability, probability)
		if few > .03 || many > .01 {
			t.Errorf(
				"%s: %.4f and %.4f away",
				name, few, many,
			)
		}
	}
}

// TestCalibrationIsTotal: whatever noise makes of the counts, the curve increases within [0, 1].
func TestCalibrationIsTotal(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, size := range []float64{0, 1, 30, 1e6} {
		for range 20 {
			first := make([]float64, cutoffBins)
			second := make([]float64, cutoffBins)
			for b := range first {
				first[b] = size*r.Float64() + 40*r.NormFloat64()
				second[b] = size*r.Float64()*float64(b)/64 + 40*r.NormFloat64()
			}
			p := newCalibration(first, second, 40).fittedCurve()
			for k, v := range p.Values {
				if !(v >= 0 && v <= 1) ||
					k > 0 && (v < p.Values[k-1] || p.Scores[k] <= p.Scores[k-1]) {
					t.Fatalf(
						"%v: %v at %v",
						size, p.Values, p.Scores,
					)
				}
			}
		}
	}
}
