package regression

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// additiveSample is sample with two curves and a score.
func additiveSample() *Additive {
	m := &Additive{Linear: *sampleModel()}
	m.Shapes = []Shape{
		{
			Column: 2,
			Step: Step{
				Edges:  []float64{0, 5e6},
				Values: []float64{-2.5, 0, 1e-3},
			},
		},
		{
			Column: 0,
			Step:   Step{Edges: []float64{18}, Values: []float64{7, -7}},
		},
	}
	m.Score = &Score{
		Intercept:    4,
		Coefficients: []float64{2, 1, 0, 1, .5},
		Step: Step{
			Edges:  []float64{-3, 100},
			Values: []float64{1, 2, 30},
		},
	}
	return m
}

func TestAdditivePredictsByDefinition(t *testing.T) {
	m := additiveSample()
	rows := strangeRows(rand.New(rand.NewPCG(5, 5)), 300)
	got, err := m.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	free := additiveSample().Linear
	free.Lower = -Unbounded
	free.Upper = Unbounded
	line, err := free.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Score.Coefficients {
		free.Terms[i].Coefficient = m.Score.Coefficients[i]
	}
	free.Intercept = m.Score.Intercept
	score, err := free.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[float64]bool{}
	for i := range got {
		want := line[i]
		for _, s := range m.Shapes {
			c := m.Columns[s.Column]
			x := rows.Numeric[c.Name][i]
			if math.IsNaN(x) || math.IsInf(x, 0) {
				x = c.Missing
			}
			want += byEdges(s.Step, min(max(x, c.Lower), c.Upper))
		}
		value := byEdges(m.Score.Step, score[i])
		seen[value] = true
		want = min(max(want+value, m.Lower), m.Upper)
		if math.Abs(got[i]-want) > 1e-9*(1+math.Abs(want)) {
			t.Fatalf(
				"row %d: %v, want %v",
				i, got[i], want,
			)
		}
	}
	if len(seen) < 2 {
		t.Error("the rows do not tell the score's values apart")
	}
}

// byEdges counts the edges at most x one by one.
func byEdges(s Step, x float64) float64 {
	k := 0
	for _, e := range s.Edges {
		if e <= x {
			k++
		}
	}
	return s.Values[k]
}

func TestStepAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		edges := rapid.SliceOfDistinct(rapid.Float64Range(-9, 9), rapid.ID).Draw(
			t,
			"edges",
		)
		slices.Sort(edges)
		s := Step{Edges: edges}
		for k := range len(edges) + 1 {
			s.Values = append(s.Values, float64(k))
		}
		x := rapid.OneOf(
			rapid.Float64(),
			rapid.SampledFrom(append(edges, 0)),
		).Draw(t, "x")
		got := s.Evaluate(x)
		want := byEdges(s, x)
		if got != want {
			t.Fatalf(
				"%v at %v, want %v",
				got, x, want,
			)
		}
	})
}

// TestAdditiveWithoutCurves checks that a model without curves predicts as the linear model that it embeds.
func TestAdditiveWithoutCurves(t *testing.T) {
	m := &Additive{Linear: *sampleModel()}
	rows := strangeRows(rand.New(rand.NewPCG(4, 4)), 5000)
	got, err1 := m.predictWith(nil, rows, 3)
	want, err2 := m.Linear.Predict(nil, rows)
	if err1 != nil || err2 != nil || !slices.Equal(got, want) {
		t.Error("predictions differ", err1, err2)
	}
}

// TestAdditivePredictIsTotal checks that predictions are finite and within the clamps for any cells and for
// values of any size.
func TestAdditivePredictIsTotal(t *testing.T) {
	m := additiveSample()
	m.Shapes[0].Values = []float64{-1e300, 1e300, math.MaxFloat64}
	m.Shapes[1].Values = []float64{math.MaxFloat64, -math.MaxFloat64}
	m.Score.Values = []float64{-math.MaxFloat64, 0, math.MaxFloat64}
	m.Score.Coefficients[0] = math.MaxFloat64
	m.Score.Coefficients[4] = -math.MaxFloat64
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

func TestAdditivePredictConformance(t *testing.T) {
	checkConformance(t, func(*rapid.T) blockwise {
		return additiveSample()
	})
}

func TestAdditiveContradictions(t *testing.T) {
	checkContradictions(
		t,
		additiveSample,
		strangeRows(rand.New(rand.NewPCG(1, 1)), 3),
		append(
			[]contradiction[*Additive]{
				{"shapes[1].column", func(m *Additive) {
					m.Shapes[1].Column = 9
				}},
				{
					"shapes[0].column",
					func(m *Additive) {
						m.Shapes[0].Column = -1
					},
				},
				{"shapes[0].column", func(m *Additive) {
					m.Shapes[0].Column = 1
				}},
				{"shapes[1].column", func(m *Additive) {
					m.Shapes[1].Column = 2
				}},
				{"shapes[0].edges", func(m *Additive) {
					m.Shapes[0].Edges[1] = 0
				}},
				{
					"shapes[0].edges",
					func(m *Additive) {
						m.Shapes[0].Edges[1] = math.NaN()
					},
				},
				{
					"shapes[1].values",
					func(m *Additive) {
						m.Shapes[1].Values = []float64{1}
					},
				},
				{
					"shapes[1].values",
					func(m *Additive) {
						m.Shapes[1].Values[0] = math.Inf(1)
					},
				},
				{"score.intercept", func(m *Additive) {
					m.Score.Intercept = math.NaN()
				}},
				{"score.coefficients", func(m *Additive) {
					m.Score.Coefficients = nil
				}},
				{
					"score.coefficients",
					func(m *Additive) {
						m.Score.Coefficients[2] = math.Inf(-1)
					},
				},
				{"score.edges", func(m *Additive) {
					m.Score.Edges[0] = 1000
				}},
				{"score.values", func(m *Additive) {
					m.Score.Values = nil
				}},
			},
			embeddedContradictions[*Additive]()...,
		),
	)
}

func TestAdditiveGolden(t *testing.T) {
	checkReads(t, "testdata/model-1-additive.json", additiveSample())
	m := withVersion2(additiveSample())
	m.Score.Coefficients = append(m.Score.Coefficients, -2, 0)
	checkGolden(t, "testdata/model-2-additive.json", m)
}

func TestAdditiveDecodeRefuses(t *testing.T) {
	checkDecodeRefuses(t, additiveSample(), []refusal{
		{
			`"column":"age","edges"`,
			`"column":"ages","edges"`,
			`model file 22:15: shapes[1].column: no column has this name`,
		},
		{
			`"column":"age","edges"`,
			`"column":"ocean","edges"`,
			`model file 22:15: shapes[1].column: is a category column, whose curve is its terms`,
		},
		{
			`"edges":[18]`,
			`"edges":[18,3],"x":0`,
			`model file 22:36: shapes[1]: unknown key "x"`,
		},
		{
			`"edges":[18]`,
			`"edges":[18,3]`,
			`model file 22:29: shapes[1].edges: do not increase`,
		},
		{
			`"edges":[18]`,
			`"edges":["a"]`,
			`model file 22:30: shapes[1].edges[0]: must be a number`,
		},
		{
			`"edges":[18]`,
			`"edges":18`,
			`model file 22:29: shapes[1].edges: must be a list`,
		},
		{
			`"edges":[-3,100],`,
			``,
			`model file 24:12: score: key "edges" is absent`,
		},
		{
			`[2,1,0,1,0.5]`,
			`[2]`,
			`model file 24:42: score.coefficients: is not one coefficient a term`,
		},
		{
			`"score": {`,
			`"score": 3, "y": {`,
			`model file 24:12: score: must be an object`,
		},
		{
			`"kind": "additive"`,
			`"kind": "linear"`,
			`model file 20:3: unknown key "shapes"`,
		},
	})
}

func drawStep(t *rapid.T, name string) Step {
	edges := rapid.SliceOfNDistinct(
		rapid.Float64Range(-1e9, 1e9), 0, 5,
		rapid.ID,
	).Draw(
		t,
		name+" edges",
	)
	slices.Sort(edges)
	return Step{
		edges,
		rapid.SliceOfN(
			rapid.Float64Range(-1e300, 1e300),
			len(edges)+1,
			len(edges)+1,
		).Draw(
			t,
			name+" values",
		),
	}
}

func TestAdditiveFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &Additive{Linear: *drawLinear(t)}
		for j, c := range m.Columns {
			if c.Type == Numeric && rapid.Bool().Draw(t, "shape") {
				m.Shapes = append(m.Shapes, Shape{j, drawStep(t, "shape")})
			}
		}
		if rapid.Bool().Draw(t, "score") {
			m.Score = &Score{Intercept: 1, Step: drawStep(t, "score")}
			for range m.Terms {
				m.Score.Coefficients = append(
					m.Score.Coefficients,
					rapid.Float64Range(-9, 9).Draw(t, "coefficient"),
				)
			}
		}
		checkRoundTrip(t, m)
	})
}

func BenchmarkAdditivePredict(b *testing.B) {
	linear, rows := benchmarkLinear()
	m := &Additive{
		Linear: linear,
		Score:  &Score{Step: Step{Values: []float64{0}}},
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for k := range 31 {
		m.Score.Edges, m.Score.Values = append(
			m.Score.Edges,
			float64(k-15)/8,
		),
			append(m.Score.Values, rng.NormFloat64())
	}
	for j := range m.Columns {
		m.Score.Coefficients = append(m.Score.Coefficients, rng.NormFloat64())
		m.Shapes = append(m.Shapes, Shape{j, m.Score.Step})
	}
	benchmarkPredict(b, m, rows)
}
