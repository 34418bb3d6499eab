package report

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/evaluate"
	"github.com/dptrain/dptrain/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// writeFrozen wrote testdata/report-2.json once.
var writeFrozen = flag.Bool("write-report-2", false, "write testdata/report-2.json anew; never after version 2 was published")

// frozenClasses is the report of testdata/report-2.json.
func frozenClasses() *Report {
	r := frozen()
	r.Format, r.Task, r.Target = format2, "classification", "income"
	r.Model.Kind = "classifier"
	r.Metrics = Metrics{
		Accuracy:         &Share{.8, .75, .85, .95, true, "holdout"},
		BalancedAccuracy: &Share{.7, .6, .75, .95, true, "holdout"},
		Confusion: &Confusion{
			Classes: []string{"under 50 K", "50 K <or> more"}, Counts: [][]int{{70, 10}, {10, 10}, {-1, 2}}, Scale: 3.75, Private: true, Part: "holdout",
		},
	}
	return r
}

func TestFrozenFormatOfClasses(t *testing.T) {
	var b bytes.Buffer
	if err := Encode(&b, frozenClasses()); err != nil {
		t.Fatal(err)
	}
	const path = "testdata/report-2.json"
	if *writeFrozen {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(frozenClasses(), got); diff != "" {
		t.Errorf("decoded differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(string(file), b.String()); diff != "" {
		t.Errorf("encoded differs (-want +got):\n%s", diff)
	}
	for old, says := range map[string]string{
		`"accuracy": {`:            `unknown key`,
		`"counts": `:               `metrics.confusion has`,
		`[70,10]`:                  `metrics.confusion.counts[0] must be a list`,
		`"task": "classification"`: "task and format do not fit",
	} {
		bad := strings.NewReplacer(old, map[string]string{
			`"accuracy": {`: `"r2": null, "accuracy": {`, `"counts": `: `"count": `, `[70,10]`: `"70"`, `"task": "classification"`: `"task": "regression"`,
		}[old]).Replace(string(file))
		if _, err := Decode(strings.NewReader(bad)); !errors.Is(err, ErrContent) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want one that says %q", old, err, says)
		}
	}
}

// TestReportOfClasses: a result becomes a report that reads back the same, with
// null metrics where nothing was held out.
func TestReportOfClasses(t *testing.T) {
	share := evaluate.Share{Value: .8, Lower: .7, Upper: .9, Level: .95}
	res := &pipeline.Result{
		Task: regression.TaskClassification, Target: "income", Method: "joint-gram",
		Confusion: &evaluate.Confusion{Classes: []string{"a", "b"}, Counts: [][]int{{1, 2}, {3, 4}, {5, 6}}, Sigma: 2, Accuracy: share, Balanced: share},
	}
	for range 2 {
		r := New(res)
		var b bytes.Buffer
		if err := Encode(&b, r); err != nil {
			t.Fatal(err)
		}
		got, err := Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		r.Checksum = got.Checksum // Encode fills it in
		if diff := cmp.Diff(r, got); diff != "" || got.Format != Format || (got.Metrics.Confusion == nil) != (res.Confusion == nil) || got.Metrics.R2 != nil {
			t.Errorf("%+v\n%s", got.Metrics, diff)
		}
		res.Confusion = nil
	}
}

func TestTextOfClasses(t *testing.T) {
	var b bytes.Buffer
	if err := Text(&b, frozenClasses()); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/text-classes.golden", b.Bytes())
	r := frozenClasses()
	r.Metrics = Metrics{}
	b.Reset()
	if err := Text(&b, r); err != nil || !strings.Contains(b.String(), "Accuracy   not measured: no records were held out") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
