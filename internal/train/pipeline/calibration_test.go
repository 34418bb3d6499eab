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
	if math.Abs(c.mass[0]-59.766797) > 1e-6 || math.Abs(c.mass[20]-365.746637) > 1e-6 {
		t.Errorf("masses %v and %v", c.mass[0], c.mass[20])
	}
	line, all := c.coefficients()
	check := func(name string, got, want []float64) {
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-7 {
				t.Errorf("%s: %v, want %v", name, got, want)
				return
			}
		}
	}
	check("line", line, []float64{-.6554089, 2.3469198})
	check("curve", all, []float64{-.4634514, 2.0607148, .1296629, -.0167140, -1.4641457, -.0407439, -.2318842})
	p := c.fittedCurve()
	for score, want := range map[float64]float64{-.8: .05347577, -.4: .15464716, 0: .37689780, .4: .52541826, .8: .65648195} {
		if got := p.At(score); math.Abs(got-want) > curveTolerance {
			t.Errorf("at %v the probability is %v, want %v", score, got, want)
		}
	}
	if len(p.Scores) > 80 {
		t.Errorf("the curve has %d points", len(p.Scores))
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
				if !(v >= 0 && v <= 1) || k > 0 && (v < p.Values[k-1] || p.Scores[k] <= p.Scores[k-1]) {
					t.Fatalf("%v: %v at %v", size, p.Values, p.Scores)
				}
			}
		}
	}
}
