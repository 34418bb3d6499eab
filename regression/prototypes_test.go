package regression

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// prototypesSample returns sampleModel with three prototypes: two with all kinds of columns, the second against the
// class, and a third without terms.
func prototypesSample() *Prototypes {
	return &Prototypes{Linear: *sampleModel(), Prototypes: []Prototype{
		{
			Intercept: -4,
			Centers:   []float64{30, .75, 0},
			Terms: []Term{
				{Column: 0, Coefficient: .1},
				{
					Column:      1,
					Category:    "inland",
					Coefficient: -7,
				},
				{Column: 1, Other: true, Coefficient: 7},
			},
		},
		{
			Against:   true,
			Intercept: .5,
			Terms: []Term{
				{
					Column:      3,
					Category:    "a",
					Coefficient: -1,
				},
				{Column: 2, Coefficient: 1e-6},
			},
			Centers: []float64{1, 1e7},
		},
		{Intercept: -1},
	}}
}

func TestPrototypesPredictByDefinition(t *testing.T) {
	m := prototypesSample()
	rows := strangeRows(rand.New(rand.NewPCG(5, 5)), 3000)
	got, err := m.predictWith(nil, rows, 3)
	if err != nil {
		t.Fatal(err)
	}
	free := sampleModel()
	free.Lower = -Unbounded
	free.Upper = Unbounded
	want, err := free.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	scores := make([][]float64, 3)
	for i, p := range m.Prototypes {
		scores[i], err = (&Linear{
			Columns:   m.Columns,
			Terms:     p.Terms,
			Intercept: p.Intercept,
			Lower:     m.Lower,
			Upper:     m.Upper,
		}).Predict(nil, rows)
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range got {
		high := max(scores[0][i], scores[2][i])
		low := min(scores[0][i], scores[2][i])
		w := want[i] + high + math.Log1p(math.Exp(low-high)) - scores[1][i]
		w = min(max(w, m.Lower), m.Upper)
		if math.Abs(got[i]-w) > 1e-9*(1+math.Abs(w)) {
			t.Fatalf(
				"row %d: %v, want %v",
				i, got[i], w,
			)
		}
	}
}

// TestPrototypesPredictIsTotal checks that predictions are finite and within the clamps for any cells and for
// weights of any size.
func TestPrototypesPredictIsTotal(t *testing.T) {
	m := prototypesSample()
	m.Prototypes[0].Terms[0].Coefficient = math.MaxFloat64
	m.Prototypes[1].Terms[0].Coefficient = -math.MaxFloat64
	m.Prototypes[2].Intercept = math.MaxFloat64
	for _, n := range []int{0, 1, 1000} {
		got, err := m.Predict(
			nil,
			strangeRows(rand.New(rand.NewPCG(6, 6)), n),
		)
		if err != nil {
			t.Fatal(err)
		}
		checkWithin(t, m, got, n)
	}
}

func TestPrototypesPredictConformance(t *testing.T) {
	checkConformance(t, func(*rapid.T) blockwise {
		return prototypesSample()
	})
}

func TestPrototypesContradictions(t *testing.T) {
	checkContradictions(
		t,
		prototypesSample,
		strangeRows(rand.New(rand.NewPCG(1, 1)), 3),
		append(
			[]contradiction[*Prototypes]{
				{"prototypes[2].intercept", func(m *Prototypes) {
					m.Prototypes[2].Intercept = math.Inf(1)
				}},
				{"prototypes[0].terms[1].category", func(m *Prototypes) {
					m.Prototypes[0].Terms[1].Category = "sea"
				}},
				{"prototypes[0].terms[0].column", func(m *Prototypes) {
					m.Prototypes[0].Terms[0].Column = 8
				}},
				{"prototypes[0].terms[2]", func(m *Prototypes) {
					m.Prototypes[0].Terms[2] = m.Prototypes[0].Terms[1]
				}},
				{"prototypes[1].terms[0].std_error", func(m *Prototypes) {
					m.Prototypes[1].Terms[0].StdError = 1
				}},
				{"prototypes[1].terms[0].coefficient", func(m *Prototypes) {
					m.Prototypes[1].Terms[0].Coefficient = math.Inf(-1)
				}},
				{"prototypes[1].terms: there is not one center per term", func(m *Prototypes) {
					m.Prototypes[1].Centers = m.Prototypes[1].Centers[:1]
				}},
				{"prototypes[0].terms[0].center: must be between 0 and 120", func(m *Prototypes) {
					m.Prototypes[0].Centers[0] = 121
				}},
				{
					"prototypes[0].terms[1].center",
					func(m *Prototypes) {
						m.Prototypes[0].Centers[1] = 1.5
					},
				},
				{"prototypes[0].terms[1].center", func(m *Prototypes) {
					m.Prototypes[0].Centers[1] = math.NaN()
				}},
			},
			embeddedContradictions[*Prototypes]()...,
		),
	)
}

func TestPrototypesGolden(t *testing.T) {
	m := withVersion2(prototypesSample())
	m.Prototypes[2].Terms = []Term{{Column: 2, Missing: true, Coefficient: 3}}
	m.Prototypes[2].Centers = []float64{.5}
	checkGolden(t, "testdata/model-2-prototypes.json", m)
}

func TestPrototypesDecodeRefuses(t *testing.T) {
	checkDecodeRefuses(t, prototypesSample(), []refusal{
		{
			`"center":30,`,
			``,
			`model file 21:30: prototypes[0].terms[0]: key "center" is absent`,
		},
		{
			`"center":30`,
			`"center":"big"`,
			`model file 21:55: prototypes[0].terms[0].center: must be a number`,
		},
		{
			`"center":30`,
			`"center":300`,
			`model file 21:55: prototypes[0].terms[0].center: must be between 0 and 120`,
		},
		{
			`"center":30`,
			`"center":30,"x":1`,
			`model file 21:58: prototypes[0].terms[0]: unknown key "x"`,
		},
		{
			`"against":true`,
			`"against":1`,
			`model file 22:16: prototypes[1].against: must be true or false`,
		},
		{
			`"kind": "prototypes"`,
			`"kind": "linear"`,
			`model file 20:3: unknown key "prototypes"`,
		},
	})
}

func TestPrototypesFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &Prototypes{Linear: *drawLinear(t)}
		number := rapid.Float64Range(-1e9, 1e9)
		for range rapid.IntRange(0, 4).Draw(t, "prototypes") {
			p := Prototype{
				Intercept: number.Draw(t, "intercept"),
				Against:   rapid.Bool().Draw(t, "against"),
			}
			for _, term := range m.Terms {
				if rapid.Bool().Draw(t, "in") {
					term.StdError = 0
					term.Coefficient = number.Draw(t, "coefficient")
					center := rapid.Float64Range(0, 1).Draw(t, "center")
					c := &m.Columns[term.Column]
					if c.Type == Numeric && !term.Missing {
						center = min(max(number.Draw(t, "center"), c.Lower), c.Upper)
					}
					p.Terms = append(p.Terms, term)
					p.Centers = append(p.Centers, center)
				}
			}
			m.Prototypes = append(m.Prototypes, p)
		}
		checkRoundTrip(t, m)
	})
}

// TestClassProbabilities checks that the probabilities are the softmax of the scores, for two classes that of 0
// and the score; that they add up to 1 for all cells; and that other kinds of scores have no probabilities.
func TestClassProbabilities(t *testing.T) {
	of := func(intercept, slope float64) *Prototypes {
		s := linearScore(0, 0)
		s.Terms = nil
		s.Lower = -Unbounded
		s.Upper = Unbounded
		return &Prototypes{
			Linear: *s,
			Prototypes: []Prototype{{
				Intercept: intercept,
				Terms:     []Term{{Column: 0, Coefficient: slope}},
				Centers:   []float64{0},
			}},
		}
	}
	for _, m := range []*Classifier{
		{
			Target:  "income",
			Classes: []string{"a", "b"},
			Scores:  []Model{of(.5, 2)},
		},
		{
			Target:  "income",
			Classes: []string{"a", "b", "c"},
			Scores: []Model{
				of(0, 0),
				of(.5, 2),
				of(0, 1e300),
			},
		},
	} {
		got, err := m.ClassProbabilities(classifierRows())
		if err != nil || len(got) != len(m.Classes) {
			t.Fatal(got, err)
		}
		classes, err := m.Predict(nil, classifierRows())
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range classes {
			sum := 0.
			best := 0
			for k := range got {
				sum += got[k][i]
				if got[k][i] > got[best][i] {
					best = k
				}
			}
			if math.Abs(sum-1) > 1e-12 || best != int(c) {
				t.Errorf(
					"row %d: %v and class %v",
					i, got, c,
				)
			}
		}
		want := math.Exp(2.3)
		if len(got) == 2 &&
			math.Abs(got[1][2]-want/(1+want)) > 1e-12 {
			t.Errorf("%v", got)
		}
	}
	_, err := classifierSample().ClassProbabilities(classifierRows())
	if !errors.Is(err, ErrNoProbability) {
		t.Error(err)
	}
	m := &Classifier{
		Target:  "income",
		Classes: []string{"a", "b"},
		Scores:  []Model{of(.5, 2)},
	}
	if _, err := m.ClassProbabilities(Rows{N: 1}); !errors.Is(err, ErrColumnAbsent) {
		t.Error(err)
	}
	m.Classes = m.Classes[:1]
	if _, err := m.ClassProbabilities(classifierRows()); err == nil {
		t.Error("a model that contradicts itself has probabilities")
	}
}

// TestLogSum checks the sum of any numbers in any order, up to rounding; without numbers it is 0.
func TestLogSum(t *testing.T) {
	list := []float64{-3, 1000, 999.5, -1e100, 1000}
	var up, down logSum
	for _, x := range list {
		up.add(x)
	}
	slices.Reverse(list)
	for _, x := range list {
		down.add(x)
	}
	want := 1000 + math.Log(2+math.Exp(-.5))
	if math.Abs(up.value()-want) > 1e-9 ||
		math.Abs(down.value()-want) > 1e-9 ||
		(&logSum{}).value() != 0 {
		t.Errorf(
			"%v and %v, want %v",
			up.value(), down.value(), want,
		)
	}
}

func BenchmarkPrototypesPredict(b *testing.B) {
	linear, rows := benchmarkLinear()
	terms := linear.Terms
	linear.Terms = nil
	m := &Prototypes{Linear: linear}
	for range 10 {
		m.Prototypes = append(
			m.Prototypes,
			Prototype{Terms: terms, Centers: make([]float64, len(terms))},
		)
	}
	benchmarkPredict(b, m, rows)
}
