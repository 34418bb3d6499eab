package regression

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// clippedSample is sample with a norm that some of its rows exceed.
func clippedSample() *ClippedLinear {
	return &ClippedLinear{
		Linear:   *sampleModel(),
		Constant: .5,
		Norm:     1.25,
	}
}

// byHand predicts one row of clippedSample from the definition: scaled row,
// norm, shortened row, coefficients in scaled units.
func byHand(
	m *ClippedLinear,
	numeric map[string]float64,
	labels map[string]string,
) float64 {
	center := m.Lower/2 + m.Upper/2
	halfY := m.Upper/2 - m.Lower/2
	if m.Center != nil {
		center = *m.Center
	}
	constant := m.Intercept - center // theta of the constant, times it and half the target's width
	norm2 := m.Constant * m.Constant
	sum := 0.0
	for i, c := range m.Columns {
		if c.Type == Numeric {
			x := numeric[c.Name]
			if math.IsNaN(x) || math.IsInf(x, 0) {
				x = c.Missing
			}
			z := min(
				max(
					(x-(c.Lower+c.Upper)/2)/((c.Upper-c.Lower)/2),
					-1,
				),
				1,
			)
			norm2 += z * z
			for k, t := range m.Terms {
				if t.Column == i {
					sum += halfY * m.Scaled()[k].Coefficient * z
					constant += t.Coefficient * (c.Lower + c.Upper) / 2
				}
			}
			continue
		}
		known := slices.Contains(c.Categories, labels[c.Name])
		if known || c.Other {
			norm2++
		}
		for k, t := range m.Terms {
			if t.Column == i &&
				(t.Other && !known || !t.Other && t.Category == labels[c.Name]) {
				sum += halfY * m.Scaled()[k].Coefficient
			}
		}
	}
	shorter := min(1, m.Norm/math.Sqrt(norm2))
	return min(max(center+shorter*(sum+constant), m.Lower), m.Upper)
}

func TestClippedPredictsByDefinition(t *testing.T) {
	nan := math.NaN()
	m := clippedSample()
	ages := []float64{
		60, 10, nan, 1e9, -5,
		60, math.Inf(1),
	}
	incomes := []float64{5e6, 1e7, nan, 0, 4e6, 5e6, 3}
	oceans := []string{
		"inland", "near <bay>", "mars",
		"", "inland", "mars", "inland",
	}
	kinds := []string{
		"nowhere", "", "a", "c",
		"", "nowhere", "b",
	}
	rows := Rows{
		N:       len(ages),
		Numeric: map[string][]float64{"age": ages, "income": incomes},
		Labels:  map[string][]string{"ocean": oceans, "kind": kinds},
	}
	got, err := m.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	unclipped, err := m.Linear.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	shortened := 0
	for i, v := range got {
		want := byHand(
			m,
			map[string]float64{"age": ages[i], "income": incomes[i]},
			map[string]string{"ocean": oceans[i], "kind": kinds[i]},
		)
		if math.Abs(v-want) > 1e-9*math.Abs(want) {
			t.Errorf(
				"row %d: %v, want %v",
				i, v, want,
			)
		}
		if v != unclipped[i] {
			shortened++
		}
	}
	if shortened == 0 || shortened == len(got) {
		t.Errorf(
			"%d of %d rows were shortened; the test means to see both",
			shortened,
			len(got),
		)
	}
	// Codes are treated as labels are.
	index := map[string]int32{
		"":  0,
		"c": 1,
		"a": 2,
	}
	codes := make([]int32, len(kinds))
	for i, k := range kinds {
		var known bool
		if codes[i], known = index[k]; !known {
			codes[i] = -1
		}
	}
	delete(rows.Labels, "kind")
	rows.Codes = map[string]Codes{"kind": {codes, []string{"", "c", "a"}}}
	again, err := m.Predict(nil, rows)
	if err != nil || !slices.Equal(got, again) {
		t.Errorf(
			"codes give %v, labels %v (%v)",
			again, got, err,
		)
	}
}

// TestClippedWithoutClipping checks that, with a norm that no row exceeds, the model predicts as the linear
// model it embeds.
func TestClippedWithoutClipping(t *testing.T) {
	m := clippedSample()
	m.Norm = 10
	rows := strangeRows(rand.New(rand.NewPCG(4, 4)), 500)
	got, err1 := m.Predict(nil, rows)
	want, err2 := m.Linear.Predict(nil, rows)
	if err1 != nil || err2 != nil || !slices.Equal(got, want) {
		t.Error("predictions differ", err1, err2)
	}
}

func TestClippedPredictConformance(t *testing.T) {
	checkConformance(t, func(t *rapid.T) blockwise {
		m := clippedSample()
		m.Norm = rapid.Float64Range(1e-300, 3).Draw(t, "norm")
		return m
	})
}

// TestClippedPredictIsTotal checks that sums that overflow in both directions, and ranges of the maximum and
// the minimum width of float64, still give numbers.
func TestClippedPredictIsTotal(t *testing.T) {
	const big = math.MaxFloat64
	for _, c := range []struct{ lower, upper, coefficient, norm float64 }{
		{-big, big, 1e10, 1},
		{-big, big, 1e10, big},
		{0, 5e-324, big, 1},
		{1, math.Nextafter(1, 2), big, 5e-324},
		{-1, 1, big, 1e-200},
	} {
		m := &ClippedLinear{
			Linear: Linear{
				Target: "y",
				Columns: []Column{
					{
						Name:  "a",
						Lower: c.lower,
						Upper: c.upper,
					},
					{
						Name:  "b",
						Lower: -big,
						Upper: big,
					},
				},
				Terms: []Term{
					{Column: 0, Coefficient: c.coefficient},
					{Column: 1, Coefficient: -c.coefficient},
				},
				Lower: -big,
				Upper: big,
			},
			Norm: c.norm,
		}
		if c.upper == 5e-324 { // half of it is 0, so there is no scale
			var problem *ModelError
			err := m.Validate()
			if !errors.As(err, &problem) ||
				problem.Path != "columns[0].lower" {
				t.Errorf("a range without width: %v", err)
			}
			continue
		}
		values := []float64{
			big, -big, 0,
			math.NaN(),
			math.Inf(-1), 1,
		}
		got, err := m.Predict(
			nil,
			Rows{
				N:       len(values),
				Numeric: map[string][]float64{"a": values, "b": values},
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if !isFinite(v) {
				t.Errorf(
					"%+v: row %d predicts %v",
					c, i, v,
				)
			}
		}
	}
}

func TestClippedContradictions(t *testing.T) {
	checkContradictions(
		t,
		clippedSample,
		strangeRows(rand.New(rand.NewPCG(1, 1)), 3),
		append(
			[]contradiction[*ClippedLinear]{
				{"clip.norm", func(m *ClippedLinear) {
					m.Norm = 0
				}},
				{"clip.norm", func(m *ClippedLinear) {
					m.Norm = math.NaN()
				}},
				{"clip.norm", func(m *ClippedLinear) {
					m.Norm = math.Inf(1)
				}},
				{"clip.constant", func(m *ClippedLinear) {
					m.Constant = -.1
				}},
				{"clip.constant", func(m *ClippedLinear) {
					m.Constant = 1.1
				}},
				{"clip.constant", func(m *ClippedLinear) {
					m.Constant = math.NaN()
				}},
				{"clip.center", func(m *ClippedLinear) {
					m.Center = new(math.Inf(1))
				}},
				{
					"columns[0].lower",
					func(m *ClippedLinear) {
						m.Columns[0].Lower = m.Columns[0].Upper
					},
				},
				{"prediction.lower", func(m *ClippedLinear) {
					m.Lower = m.Upper
				}},
			},
			embeddedContradictions[*ClippedLinear]()...,
		),
	)
}

func TestClippedGolden(t *testing.T) {
	checkReads(t, "testdata/model-1-clipped.json", clippedSample())
	checkGolden(t, "testdata/model-2-clipped.json", withVersion2(clippedSample()))
}

func TestClippedDecodeRefuses(t *testing.T) {
	clip := `  "clip": {"constant":0.5,"norm":1.25},` + "\n"
	checkDecodeRefuses(t, clippedSample(), []refusal{
		{clip, "", `model file 1:1: key "clip" is absent`},
		{
			`"norm":1.25`,
			`"norm":0`,
			`model file 20:34: clip.norm: must be finite and above 0`,
		},
		{
			`"norm":1.25`,
			`"norm":"x"`,
			`model file 20:34: clip.norm: must be a number`,
		},
		{
			`"norm":1.25`,
			`"norm":1.25,"center":null`,
			`model file 20:48: clip.center: must be a number`,
		},
		{
			`"norm":1.25`,
			`"norm":1.25,"limit":3`,
			`model file 20:39: clip: unknown key "limit"`,
		},
		{
			`"constant":0.5,`,
			``,
			`model file 20:11: clip: key "constant" is absent`,
		},
		{
			`"constant":0.5`,
			`"constant":2`,
			`model file 20:23: clip.constant: must be in [0, 1]`,
		},
		{
			`"kind": "clipped-linear"`,
			`"kind": "linear"`,
			`model file 20:3: unknown key "clip"`,
		},
		{
			`"kind": "clipped-linear"`,
			`"kind": "clipped"`,
			`model file 3:11: kind: is "clipped", but this version reads "linear" or "clipped-linear" or "additive" or "kernel" or "votes" or "tree" or "prototypes" or "classifier" or "neighbours"`,
		},
		{
			`"lower":0,"upper":120`,
			`"lower":0,"upper":0`,
			`model file 7:44: columns[0].lower: is not below upper`,
		},
	})
}

func TestClippedFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &ClippedLinear{
			Linear:   *drawLinear(t),
			Constant: rapid.Float64Range(0, 1).Draw(t, "constant"),
			Norm:     rapid.Float64Range(1e-9, 9).Draw(t, "norm"),
		}
		if rapid.Bool().Draw(t, "centered") {
			m.Center = new(rapid.Float64Range(-9, 9).Draw(t, "center"))
		}
		if m.Validate() != nil {
			t.Skip("a range without width")
		}
		checkRoundTrip(t, m)
	})
}

func TestClippedScaled(t *testing.T) {
	m := clippedSample()
	halfY := (5e6 + 1000) / 2.
	scaled := m.Scaled()
	for i, unit := range []float64{60 / halfY, 1 / halfY, 1 / halfY, 1 / halfY,
		(1e7 + 1) / 2 / halfY} {
		want := m.Terms[i]
		want.Coefficient *= unit
		want.StdError *= unit
		diff := cmp.Diff(want, scaled[i], cmp.Comparer(func(a, b float64) bool {
			return math.Abs(a-b) <= 1e-12*math.Abs(b)
		}))
		if diff != "" {
			t.Errorf("term %d: %s", i, diff)
		}
	}
	if m.Terms[0].Coefficient != 1.5 {
		t.Error("the model itself was changed")
	}
}

func BenchmarkClippedPredict(b *testing.B) {
	linear, rows := benchmarkLinear()
	benchmarkPredict(
		b,
		&ClippedLinear{
			Linear:   linear,
			Constant: .5,
			Norm:     2,
		},
		rows,
	)
}
