package regression

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMissingTerms checks that the indicator of a missing number adds its coefficient, in addition to the
// substitute, if the cell is missing or not finite, in models of every kind and in the scores inside them.
func TestMissingTerms(t *testing.T) {
	const extra = 1000
	rows := strangeRows(rand.New(rand.NewPCG(3, 3)), 500)
	for name, sample := range map[string]func() Model{
		"linear": func() Model {
			return sampleModel()
		},
		"additive": func() Model {
			m := additiveSample()
			m.Score = nil
			return m
		},
		"votes": func() Model {
			return votesSample()
		},
		"tree": func() Model {
			return treeSample()
		},
		"prototypes": func() Model {
			return prototypesSample()
		},
	} {
		plain := sample()
		with := sample()
		for _, m := range []Model{plain, with} {
			LinearPart(m).Lower = -1e30
			LinearPart(m).Upper = 1e30
		}
		l := LinearPart(with)
		l.Terms = append(l.Terms, Term{
			Column:      0,
			Missing:     true,
			Coefficient: extra,
		})
		before, err1 := plain.Predict(nil, rows)
		after, err2 := with.Predict(nil, rows)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		seen := 0
		for i, age := range rows.Numeric["age"] {
			want := before[i]
			if math.IsNaN(age) || math.IsInf(age, 0) {
				want += extra
				seen++
			}
			if math.Abs(after[i]-want) > 1e-9*math.Abs(want) {
				t.Fatalf(
					"%s: age %v predicts %v, want %v",
					name, age, after[i], want,
				)
			}
		}
		if seen == 0 || seen == rows.N {
			t.Errorf("%s: %d cells are missing", name, seen)
		}
	}
}

// TestMissingTermsOfParts checks that members of votes and scores of an additive model have the indicator too.
func TestMissingTermsOfParts(t *testing.T) {
	columns := []Column{{Name: "a", Upper: 1}}
	vote := &Votes{
		Linear: Linear{
			Target:  "y",
			Columns: columns,
			Lower:   -9,
			Upper:   9,
		},
		Members: []Member{{
			Weight:    2,
			Intercept: -1,
			Terms:     []Term{{Missing: true, Coefficient: 1.5}},
		}},
	}
	curve := &Additive{
		Linear: Linear{
			Target:  "y",
			Columns: columns,
			Terms:   []Term{{Missing: true}},
			Lower:   -9,
			Upper:   9,
		},
		Score: &Score{
			Intercept:    -1,
			Coefficients: []float64{1.5},
			Step:         Step{Edges: []float64{0}, Values: []float64{-2, 2}},
		},
	}
	for _, m := range []Model{vote, curve} {
		got, err := m.Predict(
			nil,
			Rows{
				N:       3,
				Numeric: map[string][]float64{"a": {1, math.NaN(), math.Inf(-1)}},
			},
		)
		want := []float64{-2, 2, 2}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf(
				"%s: %v, want %v, %v",
				m.Kind(), got, want, err,
			)
		}
	}
}

// TestMissingTermLengthensClippedRows checks that the indicator is an entry of the scaled row in a clipped
// model, and that the square of this entry is [MissingSquare].
func TestMissingTermLengthensClippedRows(t *testing.T) {
	m := &ClippedLinear{
		Linear: Linear{
			Target: "y",
			Columns: []Column{{
				Name:    "a",
				Lower:   -1,
				Upper:   1,
				Missing: .5,
			}},
			Terms: []Term{{Coefficient: 2}, {Missing: true, Coefficient: 3}},
			Lower: -100,
			Upper: 100,
		},
		Constant: .5,
		Norm:     .6,
	}
	rows := Rows{
		N:       2,
		Numeric: map[string][]float64{"a": {.5, math.NaN()}},
	}
	got, err := m.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{
		.6 / math.Sqrt(.25+.25),
		.6 / math.Sqrt(.25+.25+MissingSquare) * 4,
	} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf(
				"row %d: %v, want %v",
				i, got[i], want,
			)
		}
	}
	scaled := m.Scaled()
	if scaled[0].Coefficient != .02 || scaled[1].Coefficient != .03 {
		t.Errorf("scaled %+v", scaled)
	}
}

func TestWithIntervals(t *testing.T) {
	list := []Interval{{.9, 3}}
	for _, m := range []Model{sampleModel(), additiveSample(), votesSample(), clippedSample(),
		treeSample(), prototypesSample()} {
		if !WithIntervals(m, list) || !slices.Equal(IntervalsOf(m), list) {
			t.Errorf(
				"%s: %v",
				m.Kind(), IntervalsOf(m),
			)
		}
		back, err := DecodeModel(bytes.NewReader(encodeModel(t, m)))
		if err != nil || !slices.Equal(IntervalsOf(back), list) {
			t.Errorf(
				"%s: %v from its file, %v",
				m.Kind(), back, err,
			)
		}
	}
	m := classifierSample()
	if WithIntervals(m, list) || IntervalsOf(m) != nil {
		t.Error("a classifier has intervals")
	}
}

func TestProbability(t *testing.T) {
	p := Probability{Intercept: -1, Slope: 2}
	for score, want := range map[float64]float64{
		.5:     .5,
		1e300:  1,
		-1e300: 0,
		1:      1 / (1 + math.Exp(-1)),
	} {
		got := p.Evaluate(score)
		if math.Abs(got-want) > 1e-15 {
			t.Errorf(
				"at %v: %v, want %v",
				score, got, want,
			)
		}
	}
}

// TestProbabilityCurve checks that the curve is linear between its points and constant beyond them, and that
// points that are not an increasing curve within [0, 1] are rejected.
func TestProbabilityCurve(t *testing.T) {
	p := &Probability{
		Slope:  9,
		Scores: []float64{-1, 0, .5},
		Values: []float64{.1, .3, .3},
	}
	for score, want := range map[float64]float64{
		-2:  .1,
		-1:  .1,
		-.5: .2,
		0:   .3,
		.25: .3,
		7:   .3,
	} {
		got := p.Evaluate(score)
		if math.Abs(got-want) > 1e-15 {
			t.Errorf(
				"at %v: %v, want %v",
				score, got, want,
			)
		}
	}
	if err := p.validate(2); err != nil {
		t.Error(err)
	}
	for _, bad := range []Probability{
		{Scores: []float64{0}},
		{Values: []float64{.1}},
		{Scores: []float64{0, 0}, Values: []float64{.1, .2}},
		{Scores: []float64{0, 1}, Values: []float64{.2, .1}},
		{Scores: []float64{0}, Values: []float64{1.1}},
		{Scores: []float64{math.Inf(1)}, Values: []float64{.1}},
		{Scores: []float64{0}, Values: []float64{math.NaN()}},
	} {
		if bad.validate(2) == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

func TestIntervalDecodeRefuses(t *testing.T) {
	checkDecodeRefuses(t, withVersion2(sampleModel()), []refusal{
		{
			`{"level":0.9,`,
			`{`,
			`model file 24:5: interval[0]: key "level" is absent`,
		},
		{
			`"half_width":17`,
			`"half_width":17,"x":1`,
			`model file 25:35: interval[1]: unknown key "x"`,
		},
		{
			`"level":0.9,`,
			`"level":1.9,`,
			`model file 24:14: interval[0].level: must be above 0 and below 1`,
		},
		{
			`"missing":true`,
			`"missing":1`,
			`model file 18:31: terms[5].missing: must be true or false`,
		},
		{
			`"column":"age","missing":true`,
			`"column":"ocean","category":"inland","missing":true`,
			`model file 18:53: terms[5].missing: is for terms of numeric columns`,
		},
	})
	checkDecodeRefuses(t, twoClasses(), []refusal{
		{
			`"slope":3`,
			`"slope":-3`,
			`model file 24:45: probability.slope: must be finite and at least 0`,
		},
		{
			`"intercept":-0.25,`,
			``,
			`model file 24:18: probability: key "intercept" is absent`,
		},
	})
}
