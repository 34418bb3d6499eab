package report

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestWithheldMetrics checks which metrics are withheld, by cases that the Python estimators decide alike.
func TestWithheldMetrics(t *testing.T) {
	text, err := os.ReadFile("../../../python/tests/measured.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Metrics  Metrics
		Withheld []string
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		m := c.Metrics.Measured()
		var got []string
		for name, gone := range map[string]bool{
			"r2":                c.Metrics.R2 != nil && m.R2 == nil,
			"mae":               c.Metrics.MAE != nil && m.MAE == nil,
			"rmse":              c.Metrics.RMSE != nil && m.RMSE == nil,
			"accuracy":          c.Metrics.Accuracy != nil && m.Accuracy == nil,
			"balanced_accuracy": c.Metrics.BalancedAccuracy != nil && m.BalancedAccuracy == nil,
			"auc":               c.Metrics.AUC != nil && m.AUC == nil,
		} {
			if gone {
				got = append(got, name)
			}
		}
		if slices.Sort(got); !slices.Equal(got, c.Withheld) {
			t.Errorf("case %d: %v, want %v", i, got, c.Withheld)
		}
	}
}

// TestClassMetricsThatAreNotMeasured checks that no view of a report prints the value of an accuracy, recall, AUC or log loss
// whose interval covers nearly everything, and that the metrics which are measured stay.
func TestClassMetricsThatAreNotMeasured(t *testing.T) {
	wide := func() *Share { return &Share{Value: .512, Lower: 0, Upper: 1, Level: .95} }
	r := &Report{
		Format: Format,
		Training: &Training{
			Task:   "classification",
			Target: "y",
			Model:  Model{Kind: "classifier"},
			Metrics: Metrics{
				Accuracy:         wide(),
				BalancedAccuracy: wide(),
				AUC:              wide(),
				LogLoss:          &Loss{Value: .512, Lower: 0, Upper: 40, Level: .95},
				Recalls:          []Recall{{Class: "a", Value: .512, Lower: 0, Upper: 1}, {Class: "b", Value: .512, Lower: 0, Upper: .97}},
				Records:          &Count{Value: 23, Scale: 1},
				Reliability:      []Bin{{Counts: []int{10, 13}}},
				Thresholds:       []Threshold{{Score: 0, Recall: []float64{.512, 0, 1}, FirstRecall: []float64{.512, 0, 1}, Precision: []float64{.512, 0, 1}}},
				Groups: &Groups{
					Column: "g", Metric: "accuracy", Reference: -1,
					Groups: []Group{{Name: "x", Accuracy: wide()}},
				},
			},
		},
	}
	views := func() map[string]string {
		var b strings.Builder
		table := func(label string, lines []string) { b.WriteString(label + strings.Join(lines, "\n") + "\n") }
		classRows(func(label, text string) { b.WriteString(label + " " + text + "\n") }, table, r.Metrics)
		var scores strings.Builder
		if err := ScoreTable(&scores, r); err != nil {
			t.Fatal(err)
		}
		picture, caption := metricPicture(r)
		facts := r.metricFacts(r.Format)
		return map[string]string{
			"summary": strings.Join(r.summaryMetrics(), "\n"),
			"text":    b.String(),
			"scores":  scores.String(),
			"fact":    facts[0].Value,
			"picture": caption + string(picture),
			"card":    utility(r),
			"groups":  strings.Join(r.Metrics.Groups.lines(), "\n"),
		}
	}
	for name, text := range views() {
		if strings.Contains(text, "0.512") {
			t.Errorf("%s: %s", name, text)
		}
		if want := "not measured"; name != "picture" && !strings.Contains(text, want) {
			t.Errorf("%s lacks %q: %s", name, want, text)
		}
	}
	want := "not measured: the noise hides it with this budget and about 23 test records; use a larger epsilon, or more records"
	if got := accuracy(r.Metrics); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Metrics.Accuracy = &Share{Value: .734, Lower: .5, Upper: 1, Level: .95}
	for name, text := range views() {
		if name != "scores" && name != "picture" && name != "groups" && !strings.Contains(text, "0.734") {
			t.Errorf("%s lacks the accuracy: %s", name, text)
		}
	}
	if got := accuracy(r.Metrics); got != "0.734 (95% interval 0.500 to 1.000); balanced accuracy not measured" {
		t.Errorf("%q", got)
	}
	if math.IsNaN(r.Metrics.Accuracy.Value) {
		t.Error("a view changed the report")
	}
}
