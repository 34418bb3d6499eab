package serve

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// metricValue returns the value of a metric with the given labels, or NaN.
func metricValue(t *testing.T, metrics, name, labels string) float64 {
	t.Helper()
	match := regexp.MustCompile(
		`(?m)^` + regexp.QuoteMeta(name+"{"+labels+"}") + ` (\S+)$`).FindStringSubmatch(metrics)
	if match == nil {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(match[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestDrift sends a table that is shifted from the released histogram. It checks that the buckets have the counts of
// the table, that the drift is the distance of both distributions, and that it starts anew with another model.
func TestDrift(t *testing.T) {
	histogram := Histogram{
		Column: "x",
		Lower:  0,
		Upper:  100,
		Scale:  3,
		Counts: []float64{100, 400, 250, -2, 152},
	}
	release := releaseOf(lineModel(0, 1), "a")
	release.Histograms = []Histogram{
		{
			Column: "other",
			Upper:  1,
			Counts: []float64{5, 5},
		},
		histogram,
	}
	s, err := New(release, Limits{}, Options{Inputs: true})
	if err != nil {
		t.Fatal(err)
	}
	_, web := serveHandler(t, s)
	rng := rand.New(rand.NewPCG(5, 6))
	var body strings.Builder
	body.WriteString("x,unused\n")
	const records = 4000
	exact := make([]float64, 5)
	for i := range records {
		x := -30 + 160*rng.Float64()
		cell := fmt.Sprint(x)
		if i%10 == 0 {
			cell = ""
		} else {
			exact[int(min(max(math.Floor(x/20), 0), 4))]++
		}
		fmt.Fprintf(&body, "%s,1\n", cell)
	}
	got := metricValue(
		t, getText(t, web+"/metrics"),
		"dptrain_input_drift", `column="x"`,
	)
	if !math.IsNaN(got) {
		t.Errorf("a drift of %g without a record", got)
	}
	status, text := postBody(
		t,
		web+"/predict",
		"text/csv",
		strings.NewReader(body.String()),
	)
	if status != http.StatusOK {
		t.Fatal(status, text)
	}
	metrics := getText(t, web+"/metrics")
	total := 0.
	training := 0.
	want := 0.
	for b, n := range exact {
		total += n
		training += max(histogram.Counts[b], 0) / 902
		edge := `column="x",le="` + []string{"20", "40", "60", "80", "+Inf"}[b] + `"`
		got := metricValue(t, metrics, "dptrain_input_values_bucket", edge)
		if got != total {
			t.Errorf(
				"%s: %g numbers, want %g",
				edge, got, total,
			)
		}
		got = metricValue(t, metrics, "dptrain_training_values_share", edge)
		if math.Abs(got-training) > 1e-12 {
			t.Errorf(
				"%s: a share of %g, want %g",
				edge, got, training,
			)
		}
	}
	for b, n := range exact {
		want += math.Abs(n/total-max(histogram.Counts[b], 0)/902) / 2
	}
	got = metricValue(t, metrics, "dptrain_input_drift", `column="x"`)
	if math.Abs(got/want-1) > 1e-4 {
		t.Errorf(
			"a drift of %g, want %g",
			got, want,
		)
	}
	got = metricValue(t, metrics, "dptrain_input_drift_noise", `column="x"`)
	if math.Abs(
		got-5*3*math.Sqrt(2/math.Pi)/2/902) > 1e-6 {
		t.Errorf("a drift of %g by noise", got)
	}
	if err := s.Replace(release); err != nil {
		t.Fatal(err)
	}
	got = metricValue(
		t,
		getText(t, web+"/metrics"),
		"dptrain_input_values_bucket",
		`column="x",le="+Inf"`,
	)
	if got != 0 {
		t.Errorf("%g numbers after a new model", got)
	}
}

// TestHistogramsThatAreNotUsed checks that malformed histograms, and those hidden by their noise, are ignored.
func TestHistogramsThatAreNotUsed(t *testing.T) {
	for name, h := range map[string]Histogram{
		"empty":    {Upper: 1},
		"one bin":  {Upper: 1, Counts: []float64{100}},
		"no range": {Counts: []float64{100, 100}},
		"infinite": {
			Lower:  -math.MaxFloat64,
			Upper:  math.MaxFloat64,
			Counts: []float64{9, 9},
		},
		"noise": {
			Upper:  1,
			Counts: []float64{100, 100},
			Scale:  50,
		},
		"of no number": {
			Upper:  1,
			Counts: []float64{math.NaN(), 1},
		},
		"negative": {Upper: 1, Counts: []float64{-5, -6}},
	} {
		h.Column = "x"
		release := releaseOf(lineModel(0, 1), "a")
		release.Histograms = []Histogram{h}
		s, err := New(release, Limits{}, Options{Inputs: true})
		if err != nil {
			t.Fatal(err)
		}
		values := s.model.Load().values
		if len(values) != 0 {
			t.Errorf("%s: %+v", name, values)
		}
	}
}
