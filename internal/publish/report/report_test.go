package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

var update = flag.Bool(
	"update",
	false,
	"write the golden files of texts (never those of frozen formats)",
)

// frozenReport returns the report of testdata/report-1.json, which was written when the format was frozen and is never written
// again.
func frozenReport() *Report {
	mu := 0.25
	return &Report{
		Format: "dptrain.report/1",
		Guarantee: Guarantee{
			Epsilon:     1,
			Delta:       1e-6,
			Relation:    "add-remove",
			Mu:          &mu,
			Composition: "tight",
			Spent:       0.999,
			Profile: []Point{
				{0, 0.1},
				{1, 1e-6},
				{10, 0},
			},
		},
		Events: []Event{
			{
				ID:          "fit/train/model/gram",
				Stage:       "model",
				Law:         "gaussian",
				Draws:       1,
				Sensitivity: 2.25,
				Scale:       9,
				Part:        "train",
				Mu:          .25,
				Released:    1,
			},
			{
				ID:          "fit/train/votes/vote",
				Stage:       "votes",
				Law:         "approximate",
				Draws:       3,
				Sensitivity: 1,
				Part:        "train",
				Epsilon:     .5,
				Delta:       1e-7,
				Released:    2,
			},
			{
				ID:          "fit/holdout/r2/residual-scale",
				Stage:       "r2",
				Law:         "exponential",
				Draws:       1,
				Sensitivity: 1,
				Part:        "holdout",
				Epsilon:     .125,
				Released:    1,
			},
		},
		Training: &Training{
			Task:   "regression",
			Target: "price <€>",
			Features: Features{
				Considered: []string{"age", "near \"bay\""},
				Selected:   []string{"age"},
			},
			Model: Model{Method: "joint-gram", Kind: "linear"},
			Metrics: Metrics{R2: &R2{
				Value:        .7,
				Lower:        .6,
				Upper:        .75,
				Level:        .95,
				Private:      true,
				Part:         "holdout",
				ResidualClip: 1000,
				TargetLower:  -5,
				TargetUpper:  1e6,
			}},
		},
		Unprotected: []pipeline.Fact{
			{Name: "target", Value: "price <€>"},
			{Name: "holdout", Value: .1},
			{Name: "range of age", Value: []any{0., 120.}},
			{
				Name:  "columns",
				Value: []any{"age", "near \"bay\""},
			},
		},
		Warnings: []pipeline.Warning{{
			Code:     "no-ledger",
			Severity: pipeline.Theoretical,
			Text:     "Not in a ledger.",
		}},
	}
}

func TestFrozenFormat(t *testing.T) {
	file, err := os.ReadFile("testdata/report-1.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff(frozenReport(), got)
	if diff != "" {
		t.Errorf(
			"decoded differs (-want +got):\n%s",
			diff,
		)
	}
	var b bytes.Buffer
	if err := Encode(&b, frozenReport()); err != nil {
		t.Fatal(err)
	}
	diff = cmp.Diff(string(file), b.String())
	if diff != "" {
		t.Errorf(
			"encoded differs (-want +got):\n%s",
			diff,
		)
	}
}

func TestEmptyReportRoundTrip(t *testing.T) {
	want := &Report{
		Format:    Format,
		Guarantee: Guarantee{Profile: []Point{}},
		Events:    []Event{},
		Training: &Training{Features: Features{
			Considered: []string{},
			Selected:   []string{},
		}},
		Unprotected: []pipeline.Fact{},
		Warnings:    []pipeline.Warning{},
	}
	var b bytes.Buffer
	if err := Encode(&b, want); err != nil {
		t.Fatal(err)
	}
	if strings.Count(b.String(), "null") != 1 { // mu
		t.Errorf(
			"want null for mu only:\n%s",
			b.String(),
		)
	}
	got, err := Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	want.Checksum = got.Checksum // Encode fills it in
	diff := cmp.Diff(want, got)
	if diff != "" {
		t.Error(diff)
	}
}

func TestEncodeRefusesNonFinite(t *testing.T) {
	r := frozenReport()
	r.Guarantee.Spent = math.Inf(1)
	var b bytes.Buffer
	err := Encode(&b, r)
	if err == nil || b.Len() > 0 {
		t.Errorf(
			"error %v after %d bytes; want an error and nothing written",
			err, b.Len(),
		)
	}
}

func TestDecodeIsStrict(t *testing.T) {
	file, err := os.ReadFile("testdata/report-1.json")
	if err != nil {
		t.Fatal(err)
	}
	good := string(file)
	tests := []struct {
		name, old, new string
		want           error
		says           string
	}{
		{"not JSON", good, "guarantee", ErrFormat, "1:1: is not JSON"},
		{
			"a list", good, "[]", ErrFormat,
			"1:1: must be an object",
		},
		{
			"no format",
			`"format": "dptrain.report/1",`,
			``,
			ErrFormat,
			`key "format" is absent`,
		},
		{
			"later version", `report/1`,
			`report/5`, ErrFormat,
			`"dptrain.report/4"`,
		},
		{
			"metrics of version 2",
			`report/1`,
			`report/2`,
			ErrContent,
			`metrics: unknown key "r2"`,
		},
		{
			"task of version 2",
			`"task": "regression"`,
			`"task": "classification"`,
			ErrContent,
			"its task and its format contradict each other",
		},
		{
			"unknown key",
			`"task":`,
			`"tusk": 1, "task":`,
			ErrContent,
			`: unknown key "tusk"`,
		},
		{
			"unknown key inside",
			`{"epsilon":0,`,
			`{"eps":1,"epsilon":0,`,
			ErrContent,
			`guarantee.profile[0]: unknown key "eps"`,
		},
		{
			"absent key",
			`"task": "regression",`,
			``,
			ErrContent,
			`1:1: key "task" is absent`,
		},
		{
			"absent key inside",
			`"spent": 0.999,`,
			``,
			ErrContent,
			`guarantee: key "spent" is absent`,
		},
		{
			"repeated key",
			`"task":`,
			`"task": "x", "task":`,
			ErrContent,
			`: key "task" is repeated`,
		},
		{
			"repeated key inside",
			`{"epsilon":0,`,
			`{"epsilon":1,"epsilon":0,`,
			ErrContent,
			`guarantee.profile[0]: key "epsilon" is repeated`,
		},
		{
			"null number",
			`"spent": 0.999`,
			`"spent": null`,
			ErrContent,
			"guarantee.spent: must be a number",
		},
		{
			"null list",
			`"selected": ["age"]`,
			`"selected": null`,
			ErrContent,
			"features.selected: must be a list",
		},
		{
			"text for a number",
			`"spent": 0.999`,
			`"spent": "0.999"`,
			ErrContent,
			"guarantee.spent: must be a number",
		},
		{
			"number for an object",
			`{"method":"joint-gram","kind":"linear"}`,
			`1`,
			ErrContent,
			"model: must be an object",
		},
		{"more after the end", good, good + "{}", ErrFormat, "is not JSON"},
		{
			"too large", good,
			strings.Repeat(" ", MaxBytes) + good,
			ErrFormat, "larger",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(good, tt.old, tt.new, 1)
			if text == good {
				t.Fatal("the test changes nothing")
			}
			_, err := Decode(strings.NewReader(text))
			if !errors.Is(err, tt.want) ||
				!strings.Contains(err.Error(), tt.says) {
				t.Errorf(
					"error %v, want %v that says %q",
					err, tt.want, tt.says,
				)
			}
		})
	}
}

// lineTable is a table of y = 2x + 1.
func lineTable(t testing.TB, rows int) (*pipeline.Pipeline, *dataset.Table) {
	t.Helper()
	x := make([]float64, rows)
	y := make([]float64, rows)
	for i := range x {
		x[i] = float64(i % 10)
		y[i] = 2*x[i] + 1
	}
	schema := dataset.Schema{Columns: []dataset.Column{
		{
			Name:   "x",
			Ranged: true,
			Upper:  9,
		},
		{Name: "y"},
	}}
	table, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{{Floats: x}, {Floats: y}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return &pipeline.Pipeline{
		Schema:  schema,
		Target:  "y",
		Holdout: pipeline.DefaultHoldout,
		Budget: budget.Target{
			Epsilon:  1,
			Delta:    1e-6,
			Relation: budget.AddRemove,
		},
	}, table
}

func lineResult(t testing.TB, rows int) *pipeline.Result {
	t.Helper()
	p, table := lineTable(t, rows)
	res, err := p.Fit(context.Background(), table, pipeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestNew(t *testing.T) {
	p, table := lineTable(t, 500)
	for _, holdout := range []float64{0, .1} {
		p.Holdout = holdout
		res, err := p.Fit(context.Background(), table, pipeline.Options{})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := p.Plan()
		if err != nil {
			t.Fatal(err)
		}
		r := New(res)
		if (r.Metrics.R2 != nil) != (holdout > 0) {
			t.Errorf(
				"holdout %v: R2 is %v",
				holdout, r.Metrics.R2,
			)
		}
		leaves := plan.Leaves()
		if len(leaves) != len(r.Events) {
			t.Fatalf(
				"%d events for %d leaves",
				len(r.Events), len(leaves),
			)
		}
		for i, e := range r.Events {
			l := leaves[i]
			if e.ID != l.Path ||
				e.Part != l.Place.Part ||
				e.Draws != l.Law.Draws ||
				e.Law != l.Law.Kind.String() ||
				e.Mu != l.Law.Mu ||
				e.Epsilon != l.Law.Epsilon {
				t.Errorf(
					"event %+v of leaf %+v",
					e, l,
				)
			}
			stage := strings.Split(e.ID, "/")[2]
			if e.Stage != stage ||
				e.Released != e.Draws ||
				e.Sensitivity <= 0 {
				t.Errorf("event %+v", e)
			}
		}
		var b bytes.Buffer
		if err := Encode(&b, r); err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(&b); err != nil {
			t.Errorf("cannot read its own report: %v", err)
		}
	}
}

func TestGuaranteeWithoutGaussian(t *testing.T) {
	g := GuaranteeOf(budget.Guarantee{Epsilon: 1, Mu: math.Inf(1)})
	if g.Mu != nil {
		t.Errorf(
			"mu is %v, want nil for an infinite one",
			*g.Mu,
		)
	}
}

func TestText(t *testing.T) {
	many := frozenReport()
	many.Guarantee.Relation = "substitute"
	many.Guarantee.Mu = nil
	many.Metrics.R2 = nil
	for i := range 30 {
		many.Features.Considered = append(
			many.Features.Considered,
			"column with a name "+string(rune('a'+i%26))+"\x1b[31m",
		)
	}
	many.Features.Selected = many.Features.Considered
	for i, name := range many.Features.Selected[:10] {
		many.Importances = append(
			many.Importances,
			Importance{name, 123456 / float64(i+1), 100000 / float64(i+1), 123456.7 / float64(i+1),
				.95},
		)
	}
	many.Importances[7].Lower = 0
	none := frozenReport()
	none.Guarantee.Relation = "substitute-private-columns"
	none.Features.Selected = nil
	none.Warnings = nil
	var b bytes.Buffer
	for _, r := range []*Report{frozenReport(), many, none} {
		if err := Text(&b, r); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n")
	}
	for _, line := range strings.Split(b.String(), "\n") {
		n := len([]rune(line))
		if n > textWidth {
			t.Errorf(
				"a line of %d characters: %s",
				n, line,
			)
		}
	}
	compareGolden(t, "testdata/text.golden", b.Bytes())
}

func compareGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff(string(want), string(got))
	if diff != "" {
		t.Errorf(
			"differs from %s (-want +got):\n%s",
			path, diff,
		)
	}
}

func TestRunJSON(t *testing.T) {
	res := lineResult(t, 300)
	run := NewRun(
		New(res),
		res.Curator,
		&dataset.Stats{
			Rows:    300,
			Short:   1,
			Columns: []dataset.ColumnStats{{Name: "x", Missing: 2}},
		},
	)
	var b bytes.Buffer
	if err := run.encode(&b); err != nil {
		t.Fatal(err)
	}
	var got Run
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff(run, &got)
	if diff != "" {
		t.Error(diff)
	}
	if got.Rows != 300 ||
		got.TrainRows+got.HoldoutRows != 300 ||
		got.Format != RunFormat ||
		got.Notice == "" {
		t.Errorf("%+v", got)
	}
	for _, stage := range []string{"scaling", "model"} {
		if _, ok := got.Seconds[stage]; !ok {
			t.Errorf("no seconds of stage %s", stage)
		}
	}
}

func TestParagraph(t *testing.T) {
	got := Paragraph(
		"A long label",
		strings.Repeat("word ", 14)+"\n\tend",
	)
	want := "A long label word word word word word word word word word word word word word\n           word end\n"
	if got != want {
		t.Errorf(
			"got\n%q, want\n%q",
			got, want,
		)
	}
	if got := Paragraph("Label", ""); strings.TrimSpace(got) != "Label" {
		t.Errorf("got %q", got)
	}
}

// TestUnitRoundTrip checks that the privacy unit of a guarantee is written, read back and stated, and that a file
// without a unit is about records.
func TestUnitRoundTrip(t *testing.T) {
	want := frozenReport()
	want.Guarantee.Unit = &Unit{Column: "patient_id", MaxRows: 4}
	var b, text bytes.Buffer
	if err := Encode(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff(want, got)
	if diff != "" {
		t.Errorf(
			"decoded differs (-want +got):\n%s",
			diff,
		)
	}
	err = Text(&text, got)
	if err != nil ||
		!strings.Contains(strings.Join(strings.Fields(text.String()), " "),
			"Each value of the column patient_id, with at most 4 records, is protected by (epsilon 1, delta 1e-6)-differential privacy") {
		t.Errorf(
			"%v: %s",
			err, text.String(),
		)
	}
	for _, g := range []budget.Guarantee{
		{Unit: budget.Unit{Column: "who", MaxRows: 1}},
		{},
	} {
		unit := GuaranteeOf(g).Unit
		if (unit != nil) != (g.Unit.MaxRows > 0) ||
			unit != nil && *unit != (Unit{"who", 1}) {
			t.Errorf(
				"%+v became %+v",
				g.Unit, unit,
			)
		}
	}
}

// TestRegistryRanges checks that exact ranges of public columns are not called private.
func TestRegistryRanges(t *testing.T) {
	for relation, want := range map[string]bool{
		"add-remove":                 false,
		"substitute":                 false,
		"substitute-private-columns": true,
	} {
		scaled := []Event{{
			ID:    "fit/train/scaling/bins",
			Part:  "train",
			Law:   "gaussian",
			Draws: 1,
			Mu:    1,
		}}
		got := Registry(
			&Report{
				Guarantee: Guarantee{Relation: relation},
				Events:    scaled,
				Training:  new(Training),
			}).Deployment.Implementation.Preprocessing
		if strings.Contains(got, "those of public columns are exact") != want ||
			!strings.Contains(got, "within the budget") {
			t.Errorf("%s: %s", relation, got)
		}
	}
}
