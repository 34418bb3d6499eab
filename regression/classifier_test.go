package regression

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
)

// linearScore returns the linear score a + b x, or x where the row is in category c.
func linearScore(a, b float64) *Linear {
	return &Linear{
		Target: "income",
		Columns: []Column{
			{
				Name:  "x",
				Lower: -10,
				Upper: 10,
			},
			{
				Name:       "kind",
				Type:       Category,
				Categories: []string{"c", "d"},
			},
		},
		Terms: []Term{
			{Column: 0, Coefficient: b, StdError: .5},
			{
				Column:      1,
				Category:    "c",
				Coefficient: 4,
			},
		},
		Lower:     -16,
		Upper:     16,
		Intercept: a,
	}
}

func classifierSample() *Classifier {
	additive := &Additive{
		Linear: *linearScore(.25, 0),
		Shapes: []Shape{{
			Column: 0,
			Step:   Step{Edges: []float64{0}, Values: []float64{-1, 1}},
		}},
	}
	return &Classifier{
		Target: "income",
		Classes: []string{
			"under 50 K",
			`50 "K", or <so>`,
			"",
		},
		Scores: []Model{
			linearScore(1, -1),
			&ClippedLinear{
				Linear:   *linearScore(1.5, 0),
				Constant: .5,
				Norm:     2,
			},
			additive,
		},
		Guarantee: &Guarantee{
			Epsilon:  1,
			Delta:    1e-5,
			Mu:       .25,
			Relation: "substitute",
		},
	}
}

// twoClasses returns a classifier with probabilities and a missing-cell term.
func twoClasses() *Classifier {
	s := linearScore(1, -1)
	s.Terms = append(s.Terms, Term{Column: 0, Missing: true, Coefficient: .5})
	return &Classifier{
		Target:      "income",
		Classes:     []string{"low", "high"},
		Cutoff:      -.5,
		Scores:      []Model{s},
		Probability: &Probability{Intercept: -.25, Slope: 3},
		Guarantee: &Guarantee{
			Epsilon:  1,
			Delta:    1e-5,
			Mu:       .25,
			Relation: "substitute",
		},
	}
}

func TestClassifierGolden(t *testing.T) {
	checkReads(t, "testdata/model-1-classifier.json", classifierSample())
	checkGolden(t, "testdata/model-2-classifier.json", classifierSample())
	checkGolden(t, "testdata/model-2-probability.json", twoClasses())
}

func classifierRows() Rows {
	return Rows{
		N:       5,
		Numeric: map[string][]float64{"x": {-5, 5, .9, 0, 1e9}},
		Labels:  map[string][]string{"kind": {"d", "d", "c", "z", "d"}},
	}
}

// TestClassifierPredicts checks that the largest score wins, and the first of equal ones; with two classes the
// sign decides.
func TestClassifierPredicts(t *testing.T) {
	m := &Classifier{
		Target:  "income",
		Classes: []string{"a", "b", "c"},
		Scores: []Model{
			linearScore(1, -1),
			linearScore(1, 0),
			linearScore(1, 1),
		},
	}
	got, err := m.Predict(make([]float64, 0, 9), classifierRows())
	want := []float64{0, 2, 2, 0, 2}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf(
			"%v, want %v, %v",
			got, want, err,
		)
	}
	m = &Classifier{
		Target:  "income",
		Classes: []string{"a", "b"},
		Scores:  []Model{linearScore(0, 1)},
	}
	got, err = m.Predict(got, classifierRows())
	want = []float64{0, 1, 1, 0, 1}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf(
			"%v, want %v, %v",
			got, want, err,
		)
	}
	m.Cutoff = 5
	got, err = m.Predict(got, classifierRows())
	want = []float64{0, 0, 0, 0, 1}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf(
			"%v, want %v, %v",
			got, want, err,
		)
	}
	back, err := DecodeModel(bytes.NewReader(encodeModel(t, m)))
	if err != nil || back.(*Classifier).Cutoff != 5 {
		t.Errorf(
			"the cutoff is lost: %+v, %v",
			back, err,
		)
	}
	other := linearScore(0, 0)
	other.Columns = append([]Column{{Name: "y"}}, other.Columns[:1]...)
	other.Terms = nil
	m = &Classifier{
		Target:  "income",
		Classes: []string{"a", "b", "c"},
		Scores:  []Model{linearScore(0, 0), other, linearScore(0, 0)},
	}
	var names []string
	for _, c := range m.Inputs() {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, []string{"x", "kind", "y"}) {
		t.Errorf("inputs %v", names)
	}
}

func TestClassifierDecodeRefuses(t *testing.T) {
	checkDecodeRefuses(t, classifierSample(), []refusal{
		{
			`"classes": [`,
			`"classes": 3, "x": [`,
			`model file 6:14: classes: must be a list`,
		},
		{
			`"under 50 K",`,
			`"",`,
			`model file 6:38: classes[2]: the class is listed twice`,
		},
		{
			`,""]`, `]`,
			`model file 8:13: scores: 2 classes take 1 scores, not 3`,
		},
		{
			`"under 50 K","50 \"K\", or <so>",""`,
			`"a"`,
			`model file 6:14: classes: are fewer than two`,
		},
		{
			`  "target": "income",` + "\n",
			"",
			`model file 1:1: key "target" is absent`,
		},
		{
			`"kind": "additive"`,
			`"kind": "votes-9"`,
			`model file 37:15: scores[2].kind: is "votes-9", but this version reads "linear" or "clipped-linear" or "additive" or "kernel" or "votes" or "tree" or "prototypes"`,
		},
		{
			`"kind": "additive"`,
			`"kind": "classifier"`,
			`model file 37:15: scores[2].kind: is "classifier", but this version reads "linear" or "clipped-linear" or "additive" or "kernel" or "votes" or "tree" or "prototypes"`,
		},
		{
			`"kind": "additive",`,
			``,
			`model file 36:5: scores[2]: key "kind" is absent`,
		},
		{
			`"kind": "additive"`,
			`"kind": "linear"`,
			`model file 47:7: scores[2]: unknown key "shapes"`,
		},
		{
			`"edges":[0]`,
			`"edges":[0,"a"]`,
			`model file 48:34: scores[2].shapes[0].edges[1]: must be a number`,
		},
		{
			`"edges":[0],"values":[-1,1]`,
			`"edges":[0,0],"values":[-1,1,2]`,
			`model file 48:31: scores[2].shapes[0].edges: do not increase`,
		},
		{
			`"column":"x","coefficient":-1`,
			`"column":"w","coefficient":-1`,
			`model file 16:19: scores[0].terms[0].column: no column has this name`,
		},
		{
			`"lower":-10,"upper":10`,
			`"lower":10,"upper":-10`,
			`model file 12:46: scores[0].columns[0].lower: is above upper`,
		},
		{
			`"categories":["c","d"]`,
			`"categories":["c","e"]`,
			`model file 26:9: scores[1].columns[1]: another score has this column with another type or other categories`,
		},
		{
			`"delta":0.00001`,
			`"delta":7`,
			`model file 54:37: guarantee.delta: must be in [0, 1)`,
		},
		{
			`"kind": "linear",`,
			`"kind": "linear", "guarantee": null,`,
			`model file 10:25: scores[0]: unknown key "guarantee"`,
		},
		{
			`"task": "classification"`,
			`"task": "regression"`,
			`model file 4:11: task: is "regression", must be classification`,
		},
	})
}

func TestClassifierContradictions(t *testing.T) {
	checkContradictions(t, classifierSample, classifierRows(), []contradiction[*Classifier]{
		{"target: is not valid UTF-8", func(m *Classifier) {
			m.Target = "\xff"
		}},
		{"cutoff: must be finite, and 0 for more than two classes", func(m *Classifier) {
			m.Cutoff = .5
		}},
		{"classes[0]: is not valid UTF-8", func(m *Classifier) {
			m.Classes[0] = "\xff"
		}},
		{"scores[0]: is not a number for the target", func(m *Classifier) {
			m.Scores[0] = &Linear{Target: "x"}
		}},
		{"scores[1]: is not a number for the target", func(m *Classifier) {
			m.Scores[1] = classifierSample()
		}},
		{"scores[0].prediction.lower: is above upper", func(m *Classifier) {
			m.Scores[0].(*Linear).Lower = 99
		}},
		{"guarantee.relation: must name the neighbouring relation", func(m *Classifier) {
			m.Guarantee.Relation = ""
		}},
		{
			"probability: is for two classes",
			func(m *Classifier) {
				m.Probability = &Probability{}
			},
		},
		{"scores: 4 classes take 4 scores, not 3", func(m *Classifier) {
			m.Classes = append(m.Classes, "fourth")
		}},
		{"scores[2].shapes[0].values: is not one value more than edges", func(m *Classifier) {
			m.Scores[2].(*Additive).Shapes[0].Values = nil
		}},
	})
	checkContradictions(t, twoClasses, classifierRows(), []contradiction[*Classifier]{
		{"probability.intercept: is not finite", func(m *Classifier) {
			m.Probability.Intercept = math.NaN()
		}},
		{"probability.slope: must be finite and at least 0", func(m *Classifier) {
			m.Probability.Slope = -1
		}},
		{"probability.slope: must be finite and at least 0", func(m *Classifier) {
			m.Probability.Slope = math.Inf(1)
		}},
		{"scores[0].interval: is not for the scores of a classifier", func(m *Classifier) {
			m.Scores[0].(*Linear).Intervals = []Interval{{.9, 1}}
		}},
	})
	m := classifierSample()
	m.Scores[0] = otherModel{linearScore(0, 0)}
	err := EncodeModel(&bytes.Buffer{}, m)
	if !errors.Is(err, ErrModelKind) {
		t.Errorf("a score of another kind: %v", err)
	}
}
