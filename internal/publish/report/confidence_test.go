package report

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// TestConfidenceText checks that the report lists columns by decreasing probability and marks the chosen ones, and
// that a selector without scores is described as such, with its gap. Both must survive a round trip and appear on the
// terminal and on the page.
func TestConfidenceText(t *testing.T) {
	res := &pipeline.Result{
		Task:       "regression",
		Target:     "y",
		Method:     "joint-gram",
		Selected:   []string{"b"},
		Considered: []string{"a", "b", "c"},
		Guarantee: budget.Guarantee{
			Epsilon: 1,
			Spent:   1,
			Delta:   1e-6,
			Mu:      .2,
		},
	}
	gap := &method.Gap{
		Score:  61.25,
		Level:  .95,
		Scores: "rank correlation",
		Reach:  "half the number of records",
	}
	for _, tt := range []struct {
		name string
		c    *pipeline.Confidence
		want []string
		not  string
	}{
		{
			"scores",
			&pipeline.Confidence{
				Selector: "greedy-gram",
				Columns: []pipeline.ColumnConfidence{
					{Column: "a", Probability: .25},
					{Column: "b", Probability: .75},
					{Column: "c"},
				},
			},
			[]string{"column without noise: b 0.75. Most probable among the rejected columns: a 0.25, c 0.00"},
			"no scores",
		},
		{
			"gap",
			&pipeline.Confidence{Selector: "sis", Gap: gap},
			[]string{"sis releases only the selected columns, not their scores",
				"With 95% probability, no rejected column scores more than 61.2",
				"rank correlation; the largest possible one is half the number of records"},
			"round",
		},
		{
			"rounds",
			&pipeline.Confidence{
				Selector: "kendall",
				Gap: &method.Gap{
					Score:  61.25,
					Level:  .95,
					Scores: "s",
					Reach:  "r",
					Rounds: true,
				},
			},
			[]string{"no round picked a column that scores more than 61.2"},
			"rejected column scores",
		},
		{
			"nothing",
			&pipeline.Confidence{
				Selector: "sis",
				Gap:      &method.Gap{Score: math.Inf(1), Level: .95},
			},
			[]string{"sis releases only the selected columns, not their scores"},
			"95% probability",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res.Confidence = tt.c
			r := New(res)
			var b, text bytes.Buffer
			if err := Encode(&b, r); err != nil {
				t.Fatal(err)
			}
			back, err := Decode(&b)
			if err != nil {
				t.Fatal(err)
			}
			if err := Text(&text, back); err != nil {
				t.Fatal(err)
			}
			got := strings.Join(strings.Fields(text.String()), " ")
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf(
						"the text lacks %q:\n%s",
						want, text.String(),
					)
				}
			}
			if strings.Contains(got, tt.not) {
				t.Errorf(
					"the text has %q:\n%s",
					tt.not, text.String(),
				)
			}
			ids := []string{}
			for _, section := range pageOf(Source{Report: back}).Sections {
				ids = append(ids, section.ID)
			}
			if !slices.Contains(ids, "choice") {
				t.Errorf("the page has %q only", ids)
			}
		})
	}
	res.Confidence = &pipeline.Confidence{
		Selector: "dpfs",
		Columns: []pipeline.ColumnConfidence{
			{Column: "a", Probability: .25},
			{Column: "b", Probability: .75},
		},
	}
	got := New(res).Confidence.Columns
	if len(got) != 2 ||
		got[0] != (ChoiceProbability{"b", true, .75}) ||
		got[1] != (ChoiceProbability{"a", false, .25}) {
		t.Errorf("columns %+v", got)
	}
}

// TestConfidenceProblems checks that verify notices probabilities of columns that are not consistent with the
// features.
func TestConfidenceProblems(t *testing.T) {
	c := &Confidence{Columns: []ChoiceProbability{
		{"a", true, .5},
		{"x", false, 1.5},
		{"b", true, .5},
	}}
	p := &pipeline.Pipeline{Target: "y"}
	base := len(featureProblems(
		Features{[]string{"a", "b"}, []string{"a"}},
		nil, p,
	))
	got := featureProblems(
		Features{[]string{"a", "b"}, []string{"a"}},
		c, p,
	)
	if len(got) != base+
		3 {
		t.Errorf("problems %q", got)
	}
}
