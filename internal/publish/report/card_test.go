package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
)

// TestCardCovers checks the intervals of the mean, the standard deviation and the quartiles over 400 noisy histograms
// of each of three tables: at least 92% must contain the value for the data clamped to the histogram. The intervals
// have confidence 95%, at which fewer than 368 of 400 succeed with probability .004. The seed is fixed.
func TestCardCovers(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	for name, law := range map[string]func() float64{
		"normal": draw.NormFloat64,
		"skewed": func() float64 {
			return math.Exp(.7 * draw.NormFloat64())
		},
		"steps": func() float64 {
			return float64(draw.IntN(5))
		},
	} {
		const bins, lower, upper = 32, -1.7, 4.3
		values := make([]float64, 6000)
		exact := make([]float64, bins)
		for i := range values {
			values[i] = min(max(law(), lower), upper)
			exact[min(
				int((values[i]-lower)/(upper-lower)*bins),
				bins-1,
			)]++
		}
		sort.Float64s(values)
		mean := 0.
		square := 0.
		for _, x := range values {
			mean += x / float64(len(values))
			square += x * x / float64(len(values))
		}
		truth := map[string]float64{
			"mean":      mean,
			"deviation": math.Sqrt(square - mean*mean),
			"lower":     values[1500],
			"median":    values[3000],
			"upper":     values[4500],
			"records":   6000,
		}
		held := map[string]int{}
		const runs = 400
		for range runs {
			c := CardColumn{
				Column: "x",
				Lower:  lower,
				Upper:  upper,
				Counts: slices.Clone(exact),
				Scale:  40,
			}
			for k := range c.Counts {
				c.Counts[k] += c.Scale * draw.NormFloat64()
			}
			for what, e := range map[string]estimate{
				"mean":      c.mean(),
				"deviation": c.deviation(),
				"lower":     c.quantile(.25),
				"median":    c.quantile(.5),
				"upper":     c.quantile(.75),
				"records":   c.records(),
			} {
				if e.lower > e.value || e.value > e.upper {
					t.Fatalf(
						"%s, %s: %+v",
						name, what, e,
					)
				}
				if e.lower <= truth[what] && truth[what] <= e.upper {
					held[what]++
				}
			}
		}
		for what := range truth {
			if held[what] < 368 {
				t.Errorf(
					"%s: the interval of %s held in %d of %d",
					name,
					what,
					held[what],
					runs,
				)
			}
		}
	}
}

// TestCardWithoutNoise checks that exact counts give exact numbers, and open ends for a quantile in an outermost bin.
func TestCardWithoutNoise(t *testing.T) {
	c := CardColumn{
		Column: "x",
		Lower:  0,
		Upper:  4,
		Counts: []float64{0, 100, 100, 0},
	}
	m := c.mean()
	if m.value != 2 ||
		m.lower != 1.5 ||
		m.upper != 2.5 {
		t.Errorf("%+v", m)
	}
	d := c.deviation()
	if d.value != .5 || d.lower != 0 || d.upper != 1 {
		t.Errorf("%+v", d)
	}
	q := c.quantile(.25)
	if q.value != 1.5 ||
		q.lower != 1 ||
		q.upper != 2 {
		t.Errorf("%+v", q)
	}
	end := CardColumn{
		Column: "x",
		Lower:  0,
		Upper:  4,
		Counts: []float64{100, 0, 0, 20},
	}
	q = end.quantile(.5)
	if !math.IsInf(q.lower, -1) || q.upper != 1 {
		t.Errorf(
			"%+v: %s",
			q, q.text(),
		)
	}
	none := CardColumn{
		Column: "x",
		Lower:  0,
		Upper:  4,
		Counts: []float64{3, -2, 1, 0},
		Scale:  5,
	}
	got := none.mean().text() + none.deviation().text() +
		none.quantile(.5).text()
	if got != "unknownunknownunknown" {
		t.Error(got)
	}
}

// TestCardOnThePage checks that the histograms are drawn with their numbers, and that a report with a malformed
// histogram has no histograms on its page.
func TestCardOnThePage(t *testing.T) {
	s := evilSource(7)
	s.Report.Card = []CardColumn{{
		Column: "<b>age",
		Lower:  0,
		Upper:  32,
		Counts: slices.Repeat([]float64{100}, 32),
		Scale:  9,
	}}
	html, markdown := pageOn(t, s)
	for _, want := range []string{
		"The training data",
		"&lt;b&gt;age",
		"above 30",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if !strings.Contains(markdown, "3,200") {
		t.Error("the number of records is missing")
	}
	for _, c := range []CardColumn{
		{Column: "x"},
		{
			Column: "x",
			Lower:  1,
			Upper:  1,
			Counts: []float64{1},
		},
		{
			Column: "x",
			Lower:  -math.MaxFloat64,
			Upper:  math.MaxFloat64,
			Counts: []float64{1},
		},
	} {
		s.Report.Card = []CardColumn{c}
		html, _ := pageOn(t, s)
		if strings.Contains(html, "The training data") {
			t.Errorf("%+v is drawn", c)
		}
	}
}
