package regression

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// neighboursSample has columns of all forms, with eight coordinates in total.
func neighboursSample() *Neighbours {
	return &Neighbours{
		Target:  "price",
		Classes: []string{"cheap", "", `"dear"`},
		Columns: sampleModel().Columns,
		Center:  []float64{40, 0, 0, 0, 1000, 0, 0, 0},
		Scale: []float64{
			.05, 1, 1, 1, .001, .5,
			.5, 1e-3,
		},
		Vectors: [][]float64{
			{20, 1, 0, 0, 500, 1, 0, 0},
			{60, 0, 1, 0, 500, 0, 1, 0},
			{60.5, 0, 0, 1, 3000, 0, 0, 1},
			{0, .5, .5, 0, 1000, 0, 0, 1e-7},
		},
		Labels: []int{0, 2, 1, 2},
		K:      1,
	}
}

// mappedSample measures distances along two directions, by three neighbours.
func mappedSample() *Neighbours {
	m := neighboursSample()
	m.Map = [][]float64{
		{1, 0, 0, 0, 1, 0, 0, 0},
		{-.5, 1, 2, 0, 0, 0, 1. / 3, 0},
	}
	m.Vectors = [][]float64{
		{-1, 0},
		{1, 1},
		{0, -2},
		{.5, .5},
		{2, 2},
	}
	m.Labels = []int{0, 1, 2, 1, 0}
	m.K = 3
	m.Gamma2 = .25
	return m
}

func TestNeighboursGolden(t *testing.T) {
	checkGolden(t, "testdata/model-2-neighbours.json", neighboursSample())
	checkGolden(t, "testdata/model-2-neighbours-map.json", mappedSample())
}

// TestNeighboursPredicts compares predictions with explicitly computed distances, with cells treated as models
// treat them.
func TestNeighboursPredicts(t *testing.T) {
	rows := strangeRows(rand.New(rand.NewPCG(8, 1)), 3000)
	for _, m := range []*Neighbours{neighboursSample(), mappedSample()} {
		got, err := m.Predict(make([]float64, 0, 5), rows)
		if err != nil || len(got) != rows.N {
			t.Fatal(len(got), err)
		}
		seen := make([]int, 3)
		for i, class := range got {
			want := m.predictByDefinition(rows, i)
			if class != want {
				t.Fatalf(
					"row %d: class %v, want %v",
					i, class, want,
				)
			}
			seen[int(class)]++
		}
		if slices.Min(seen) == 0 {
			t.Errorf("classes predicted %v times", seen)
		}
	}
}

// predictByDefinition predicts row i directly from the definition.
func (m *Neighbours) predictByDefinition(rows Rows, i int) float64 {
	var x []float64
	for _, c := range m.Columns {
		if c.Type == Numeric {
			v := rows.Numeric[c.Name][i]
			if math.IsNaN(v) || math.IsInf(v, 0) {
				v = c.Missing
			}
			x = append(x, math.Max(c.Lower, math.Min(c.Upper, v)))
			continue
		}
		label := "not listed"
		if labels, ok := rows.Labels[c.Name]; ok {
			label = labels[i]
		} else if codes := rows.Codes[c.Name]; codes.Values[i] >= 0 &&
			int(codes.Values[i]) < len(codes.Categories) {
			label = codes.Categories[codes.Values[i]]
		}
		one := slices.Index(c.Categories, label)
		if one < 0 {
			one = len(c.Categories)
		}
		for k := range c.Categories {
			x = append(x, indicatorOf(k == one))
		}
		if c.Other {
			x = append(x, indicatorOf(one == len(c.Categories)))
		}
	}
	place := func(x []float64) []float64 {
		out := make([]float64, len(x))
		for k := range x {
			out[k] = (x[k] - m.Center[k]) * m.Scale[k]
		}
		return out
	}
	x = place(x)
	if m.Map != nil {
		var y []float64
		for _, row := range m.Map {
			sum := 0.
			for k := range row {
				sum += row[k] * x[k]
			}
			y = append(y, sum)
		}
		x = y
		place = slices.Clone[[]float64]
	}
	order := make([]int, len(m.Vectors))
	distance := make([]float64, len(m.Vectors))
	for j, v := range m.Vectors {
		order[j] = j
		for k, at := range place(v) {
			distance[j] += (at - x[k]) * (at - x[k])
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if distance[a] < distance[b] {
			return -1
		}
		return 1
	})
	votes := make([]float64, len(m.Classes))
	for _, j := range order[:min(m.K, len(order))] {
		votes[m.Labels[j]] += math.Exp(-m.Gamma2 * (distance[j] - distance[order[0]]))
	}
	for _, j := range order {
		if votes[m.Labels[j]] == slices.Max(votes) {
			return float64(m.Labels[j])
		}
	}
	panic("no vector")
}

func indicatorOf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// TestNeighboursDecodeRefuses checks that a file with a guarantee, or without the statement how it was trained,
// is rejected.
func TestNeighboursDecodeRefuses(t *testing.T) {
	checkDecodeRefuses(t, neighboursSample(), []refusal{
		{`"guarantee": null`,
			`"guarantee": {"epsilon":1,"delta":0.00001,"mu":0.2,"relation":"add-remove"}`,
			`model file 24:16: guarantee: must be null: models of this kind are trained without privacy`},
		{
			`"training": "without`,
			`"training": "with`,
			`model file 5:15: training: must be "` + withoutPrivacy + `"`,
		},
		{
			`  "training": "` + withoutPrivacy + `",` + "\n",
			"",
			`model file 1:1: key "training" is absent`,
		},
		{`"task": "classification"`, `"task": "regression"`,
			`model file 4:11: task: is "regression", must be classification`},
		{`{"class":"cheap"`, `{"class":"free"`,
			`model file 19:14: vectors[0].class: is not one of the classes`},
		{`"neighbours": 1`, `"neighbours": 0`,
			`model file 16:17: neighbours: must be between 1 and 1000`},
		{
			`"at":[20,1,`,
			`"at":[20,`,
			`model file 19:27: vectors[0].at: has 7 numbers, not 8`,
		},
		{
			`"center": [40,`,
			`"center": [`,
			`model file 14:13: center: has 7 numbers, not 8`,
		},
	})
}

func TestNeighboursContradictions(t *testing.T) {
	rows := strangeRows(rand.New(rand.NewPCG(1, 1)), 3)
	checkContradictions(t, neighboursSample, rows, []contradiction[*Neighbours]{
		{"target: is not valid UTF-8", func(m *Neighbours) {
			m.Target = "\xff"
		}},
		{"classes: are fewer than two", func(m *Neighbours) {
			m.Classes = m.Classes[:1]
		}},
		{
			"classes[1]: the class is listed twice",
			func(m *Neighbours) {
				m.Classes[1] = "cheap"
			},
		},
		{"columns[1].name: another column has this name", func(m *Neighbours) {
			m.Columns[1].Name = "age"
		}},
		{"columns[0].name: the target cannot be an input", func(m *Neighbours) {
			m.Columns[0].Name = "price"
		}},
		{"center[3]: is not finite", func(m *Neighbours) {
			m.Center[3] = math.NaN()
		}},
		{"scale[0]: is not finite", func(m *Neighbours) {
			m.Scale[0] = math.Inf(1)
		}},
		{"vectors: are none", func(m *Neighbours) {
			m.Vectors = nil
			m.Labels = nil
		}},
		{
			"vectors: have not one class each",
			func(m *Neighbours) {
				m.Labels = m.Labels[1:]
			},
		},
		{
			"vectors[2].class: is not one of the classes",
			func(m *Neighbours) {
				m.Labels[2] = 3
			},
		},
		{
			"vectors[3].at[7]: is not finite",
			func(m *Neighbours) {
				m.Vectors[3][7] = math.NaN()
			},
		},
		{"neighbours: must be between 1 and 1000", func(m *Neighbours) {
			m.K = 1001
		}},
		{"gamma2: must be finite and at least 0", func(m *Neighbours) {
			m.Gamma2 = -1
		}},
	})
	checkContradictions(t, mappedSample, rows, []contradiction[*Neighbours]{
		{"map[1]: has 7 numbers, not 8", func(m *Neighbours) {
			m.Map[1] = m.Map[1][:7]
		}},
		{"map[0][0]: is not finite", func(m *Neighbours) {
			m.Map[0][0] = math.NaN()
		}},
		{"map: has no row", func(m *Neighbours) {
			m.Map = [][]float64{}
		}},
		{"vectors[0].at: has 2 numbers, not 1", func(m *Neighbours) {
			m.Map = m.Map[:1]
		}},
	})
}

// TestNeighboursFileDeclaresNotPrivate checks that the file itself declares that the model is not private.
func TestNeighboursFileDeclaresNotPrivate(t *testing.T) {
	file := string(encodeModel(t, neighboursSample()))
	if !strings.Contains(file, "without privacy") ||
		!strings.Contains(file, `"guarantee": null`) {
		t.Error(file)
	}
}
