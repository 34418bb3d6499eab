package report

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// writeFrozen is the flag with which testdata/report-2.json was written, once.
var writeFrozen = flag.Bool(
	"write-report-2",
	false,
	"write testdata/report-2.json anew; never after version 2 was published",
)

// frozenClasses is the report of testdata/report-2.json.
func frozenClasses() *Report {
	r := frozenReport()
	r.Format = format2
	r.Task = "classification"
	r.Target = "income"
	r.Model.Kind = "classifier"
	r.Metrics = Metrics{
		Accuracy:         &Share{.8, .75, .85, .95, true, "holdout"},
		BalancedAccuracy: &Share{.7, .6, .75, .95, true, "holdout"},
		Confusion: &Confusion{
			Classes: []string{"under 50 K", "50 K <or> more"},
			Counts: [][]int{
				{70, 10}, {10, 10},
				{-1, 2},
			},
			Scale:   3.75,
			Private: true,
			Part:    "holdout",
		},
	}
	return r
}

// withScores adds the keys that version 3 has for a classifier.
func withScores(r *Report) *Report {
	m := &r.Metrics
	share := func(v, lower, upper float64) *Share {
		return &Share{v, lower, upper, .95, true, "holdout"}
	}
	at := func(x float64) *float64 {
		return &x
	}
	m.Confusion.NoneScale = 2.5
	m.Recalls = []Recall{
		{"under 50 K", .875, .8, .95, .95, nil},
		{
			"50 K <or> more", .5,
			0, 1, .95,
			[]int{3, -4},
		},
	}
	m.LargestClass = &LargestClass{
		"under 50 K", .8, .75, .85,
		.95, -.02, .07,
	}
	m.AUC = share(.85, .8, .9)
	m.LogLoss = &Loss{
		.41, .35, .47, .95, .02,
		true, "holdout",
	}
	m.Reliability = []Bin{
		{
			UpTo:        at(-.25),
			Counts:      []int{60, 4},
			Share:       at(.0625),
			StdError:    at(.05),
			Probability: at(.1),
		},
		{
			Above:    at(-.25),
			UpTo:     at(0),
			Counts:   []int{15, 5},
			Share:    at(.25),
			StdError: at(.12),
		},
		{Above: at(0), Counts: []int{-2, 3}},
	}
	m.Thresholds = []Threshold{
		{
			-.25, at(.25),
			[]float64{.66, .5, .8},
			[]float64{.8, .7, .9},
			[]float64{.4, .3, .5},
		},
		{
			0, nil,
			[]float64{.25, .1, .5},
			[]float64{1, .9, 1},
			[]float64{.5, 0, 1},
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
		err := os.WriteFile(path, b.Bytes(), 0o644)
		if err != nil {
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
	diff := cmp.Diff(frozenClasses(), got)
	if diff != "" {
		t.Errorf(
			"decoded differs (-want +got):\n%s",
			diff,
		)
	}
	diff = cmp.Diff(string(file), b.String())
	if diff != "" {
		t.Errorf(
			"encoded differs (-want +got):\n%s",
			diff,
		)
	}
	for old, says := range map[string]string{
		`"accuracy": {`:            `unknown key`,
		`"counts": `:               `metrics.confusion: unknown key "count"`,
		`[70,10]`:                  `metrics.confusion.counts[0]: must be a list`,
		`"task": "classification"`: "its task and its format contradict each other",
	} {
		bad := strings.NewReplacer(old, map[string]string{
			`"accuracy": {`:            `"r2": null, "accuracy": {`,
			`"counts": `:               `"count": `,
			`[70,10]`:                  `"70"`,
			`"task": "classification"`: `"task": "regression"`,
		}[old]).Replace(string(file))
		_, err := Decode(strings.NewReader(bad))
		if !errors.Is(err, ErrContent) ||
			!strings.Contains(err.Error(), says) {
			t.Errorf(
				"%s: %v, want one that says %q",
				old, err, says,
			)
		}
	}
}

// TestReportOfClasses checks that the report of a result can be read back unchanged, and has null metrics if no
// records were held out.
func TestReportOfClasses(t *testing.T) {
	share := evaluate.Share{
		Value: .8,
		Lower: .7,
		Upper: .9,
		Level: .95,
	}
	res := &pipeline.Result{
		Task:   regression.TaskClassification,
		Target: "income",
		Method: "joint-gram",
		Confusion: &evaluate.Confusion{
			Classes: []string{"a", "b"},
			Counts: [][]int{
				{1, 2}, {3, 4},
				{5, 6},
			},
			Sigma:    2,
			Accuracy: share,
			Balanced: share,
		},
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
		diff := cmp.Diff(r, got)
		if diff != "" ||
			got.Format != Format ||
			(got.Metrics.Confusion == nil) != (res.Confusion == nil) ||
			got.Metrics.R2 != nil {
			t.Errorf(
				"%+v\n%s",
				got.Metrics, diff,
			)
		}
		res.Confusion = nil
	}
}

func TestTextOfClasses(t *testing.T) {
	var b bytes.Buffer
	if err := Text(&b, frozenClasses()); err != nil {
		t.Fatal(err)
	}
	compareGolden(t, "testdata/text-classes.golden", b.Bytes())
	r := frozenClasses()
	r.Metrics = Metrics{}
	b.Reset()
	err := Text(&b, r)
	if err != nil ||
		!strings.Contains(b.String(), "Accuracy   not measured: no records were held out") {
		t.Errorf(
			"%v\n%s",
			err, b.String(),
		)
	}
}

// TestTextOfScores checks that the terminal shows the matrix if it fits, otherwise the lowest recalls, and that every
// line has at most 80 columns.
func TestTextOfScores(t *testing.T) {
	wide := func(l int) *Report {
		r := asVersion3(withScores(frozenClasses()))
		r.Metrics.Reliability = r.Metrics.Reliability[:2]
		r.Metrics.Thresholds = nil
		r.Metrics.AUC = nil
		r.Metrics.LogLoss = nil
		c := r.Metrics.Confusion
		c.Classes = nil
		c.Counts = nil
		r.Metrics.Recalls = nil
		for k := range l {
			c.Classes = append(
				c.Classes,
				strings.Repeat(
					string(rune('a'+k)),
					3*k+1,
				)+"\x1b[2J",
			)
			c.Counts = append(c.Counts, make([]int, l))
			r.Metrics.Recalls = append(
				r.Metrics.Recalls,
				Recall{
					c.Classes[k],
					1 - float64(k)/20, .1,
					.9, .95, nil,
				},
			)
		}
		c.Counts = append(c.Counts, make([]int, l))
		return r
	}
	for name, r := range map[string]*Report{
		"two":    asVersion3(withScores(frozenClasses())),
		"three":  wide(3),
		"eight":  wide(8),
		"twelve": wide(12),
	} {
		var b bytes.Buffer
		if err := Text(&b, r); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n")
		if err := ScoreTable(&b, r); err != nil {
			t.Fatal(err)
		}
		compareGolden(t, "testdata/text-scores-"+name+".golden", b.Bytes())
		for line := range strings.Lines(b.String()) {
			if utf8.RuneCountInString(line) > 81 || strings.Contains(line, "\x1b") {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
	var b bytes.Buffer
	err := ScoreTable(&b, frozenClasses())
	if err != nil || !strings.Contains(b.String(), "not available") {
		t.Errorf(
			"%v: %s",
			err, b.String(),
		)
	}
}
