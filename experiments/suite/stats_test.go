package suite

import (
	"errors"
	"math"
	"testing"
)

func almostEqual(a, b float64) bool {
	return math.Abs(a-b) < 1e-12 || math.IsNaN(a) && math.IsNaN(b)
}

func TestDescribeByHand(t *testing.T) {
	d := Describe([]float64{4, 1, 2, 9})
	// Sorted: 1 2 4 9, at positions .75, 1.5 and 2.25. The mean is 4, the squares are 9+4+0+25 = 38, s² = 38/3, and
	// the standard error is sqrt(38/12).
	half := 1.959963984540054 * math.Sqrt(38./12)
	for name, pair := range map[string][2]float64{
		"min":    {d.Min, 1},
		"q25":    {d.Q25, 1.75},
		"median": {d.Median, 3},
		"q75":    {d.Q75, 5.25},
		"max":    {d.Max, 9},
		"mean":   {d.Mean, 4},
		"low":    {d.Low, 4 - half},
		"high":   {d.High, 4 + half},
	} {
		if !almostEqual(pair[0], pair[1]) {
			t.Errorf(
				"%s is %v, want %v",
				name, pair[0], pair[1],
			)
		}
	}
	one := Describe([]float64{3})
	if one.Mean != 3 ||
		one.Q75 != 3 ||
		!math.IsNaN(one.Low) {
		t.Errorf("one value: %+v", one)
	}
	none := Describe(nil)
	if none.Count != 0 ||
		!math.IsNaN(none.Median) ||
		!math.IsNaN(none.High) {
		t.Errorf("no value: %+v", none)
	}
}

// TestWilson compares the interval of 1 of 10 with the formula of Brown, Cai and DasGupta ("Interval Estimation for a
// Binomial Proportion", 2001): centre (.1 + 3.8415/20)/(1 + .38415), half-width as below.
func TestWilson(t *testing.T) {
	low, high := wilson(.1, 10)
	if math.Abs(low-.0178762) > 1e-6 ||
		math.Abs(high-.4041500) > 1e-6 {
		t.Errorf(
			"1 of 10: %v to %v",
			low, high,
		)
	}
	low, high = wilson(0, 100)
	if low != 0 || math.Abs(high-.0369935) > 1e-6 {
		t.Errorf(
			"0 of 100: %v to %v",
			low, high,
		)
	}
	if low, high = wilson(1, 100); high != 1 || math.Abs(low-(1-.0369935)) > 1e-6 {
		t.Errorf(
			"100 of 100: %v to %v",
			low, high,
		)
	}
}

func TestIntervalsSuitTheMetric(t *testing.T) {
	d := describeMetric(metricRight, []float64{1, 1, 1})
	if d.High != 1 ||
		!(d.Low > .4 && d.Low < .5) {
		t.Errorf("an indicator: %+v", d)
	}
	d = describeMetric(metricOverlap, []float64{1, 1, .8})
	if d.High != 1 ||
		!(d.Low > .7 && d.Low < .9) {
		t.Errorf("a share: %+v", d)
	}
	if d := describeMetric("r2", []float64{1, 1, .8}); !(d.High > 1) {
		t.Errorf("R²: %+v", d)
	}
}

func TestRanks(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct{ values, want []float64 }{
		{
			[]float64{.5, .9, -3},
			[]float64{2, 1, 3},
		},
		{
			[]float64{.5, .9, .5, .1},
			[]float64{2.5, 1, 2.5, 4},
		},
		{
			[]float64{nan, -1e9, nan, 2},
			[]float64{3.5, 2, 3.5, 1},
		},
		{nil, nil},
	} {
		got := ranks(c.values)
		for i := range c.want {
			if got[i] != c.want[i] {
				t.Errorf(
					"ranks of %v: %v, want %v",
					c.values, got, c.want,
				)
				break
			}
		}
	}
}

func TestSummarise(t *testing.T) {
	failed := trialRecord("a", "m", 3, 0)
	failed.Outcome = failure(Failed, errors.New("first"))
	abstained := trialRecord("a", "m", 4, 0)
	abstained.Outcome = failure(Abstained, errors.New("second"))
	silent := trialRecord("b", "m", 1, 0)
	silent.Outcome = failure(Unavailable, errors.New("absent"))
	got := Summarise(
		[]Record{
			trialRecord("a", "m", 1, .2),
			failed, silent,
			trialRecord("a", "m", 2, .4),
			abstained,
		})
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	a := got[0]
	b := got[1]
	if a.Metric != "r2" ||
		a.Count != 2 ||
		!almostEqual(a.Median, .3) ||
		a.Failed != 1 ||
		a.Abstained != 1 ||
		a.Reason != "first" {
		t.Errorf("first cell: %+v", a)
	}
	if b.Data != "b" ||
		b.Metric != "" ||
		b.Count != 0 ||
		b.Unavailable != 1 ||
		b.Reason != "absent" {
		t.Errorf("second cell: %+v", b)
	}
	x := newIndex([]Record{silent})
	s := x.summary(silent.Cell, "r2")
	if s.Unavailable != 1 ||
		s.Metric != "r2" ||
		!math.IsNaN(s.Mean) {
		t.Errorf("a metric that no trial gave: %+v", s)
	}
	s = x.summary(Cell{Data: "c"}, "r2")
	if s.Data != "c" ||
		s.Count != 0 ||
		!math.IsNaN(s.Mean) {
		t.Errorf("a cell without trials: %+v", s)
	}
}
