package regression

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func sampleModel() *Linear {
	return &Linear{
		Target: "price",
		Columns: []Column{
			{
				Name:    "age",
				Lower:   0,
				Upper:   120,
				Missing: 40,
			},
			{
				Name:       "ocean",
				Type:       Category,
				Categories: []string{"inland", "near <bay>"},
				Other:      true,
			},
			{
				Name:    "income",
				Lower:   -1,
				Upper:   1e7,
				Missing: -0.1,
			},
			{
				Name:       "kind",
				Type:       Category,
				Categories: []string{"a", "", "c"},
			},
		},
		Terms: []Term{
			{
				Column:      0,
				Coefficient: 1.5,
				StdError:    0.25,
			},
			{
				Column:      1,
				Category:    "near <bay>",
				Coefficient: 1e-7,
				StdError:    1,
			},
			{
				Column:      3,
				Category:    "",
				Coefficient: 2,
				StdError:    1,
			},
			{Column: 1, Other: true, Coefficient: -3},
			{
				Column:      2,
				Coefficient: 1. / 3,
				StdError:    1e300,
			},
		},
		Intercept:         10,
		InterceptStdError: 0.5,
		Lower:             -1000,
		Upper:             5e6,
		Guarantee: &Guarantee{
			Epsilon:  math.Log(3),
			Delta:    1e-6,
			Mu:       0.2,
			Relation: "add-remove",
		},
	}
}

func TestPredictTreatsCells(t *testing.T) {
	nan := math.NaN()
	m := sampleModel()
	rows := Rows{
		N: 6,
		Numeric: map[string][]float64{
			"age":    {10, nan, 500, -5, math.Inf(1), 1},
			"income": {3, 3, 3, nan, 3e9, -90},
		},
		Labels: map[string][]string{"ocean": {"inland", "near <bay>", "mars", "", "inland",
			"inland"}},
		Codes: map[string]Codes{"kind": {
			[]int32{0, 1, 2, 3, -7, 0},
			[]string{"", "a", "new"},
		}},
	}
	got, err := m.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	income := func(v float64) float64 {
		return v * (1. / 3)
	}
	want := []float64{
		10 + 15 + 2 + income(3),
		10 + 60 + 1e-7 + income(3),
		10 + 180 - 3 + income(3),
		10 + 0 - 3 + income(-0.1),
		10 + 60 + income(1e7),
		10 + 1.5 + 2 + income(-1),
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-9*math.Abs(want[i]) {
			t.Errorf(
				"row %d: %v, want %v",
				i, got[i], want[i],
			)
		}
	}
	m.Lower = 20
	m.Upper = 100
	got, _ = m.Predict(got, rows)
	for i := range want {
		w := min(max(want[i], 20), 100)
		if math.Abs(got[i]-w) > 1e-9 {
			t.Errorf(
				"row %d: %v, want %v after the clamp",
				i, got[i], w,
			)
		}
	}
}

// strangeRows draws n rows for sampleModel(), from ordinary to hostile.
func strangeRows(rng *rand.Rand, n int) Rows {
	numbers := []float64{0, 1, -1, 40, 1e300, -1e300, math.MaxFloat64, -math.MaxFloat64, 5e-324,
		math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}
	labels := []string{"", "inland", "near <bay>", "a", "c", "other", "\xff\xfe", "never seen",
		strings.Repeat("x", 100)}
	rows := Rows{
		N:       n,
		Numeric: map[string][]float64{},
		Labels:  map[string][]string{},
		Codes:   map[string]Codes{},
	}
	for _, name := range []string{"age", "income"} {
		column := make([]float64, n)
		for i := range column {
			if column[i] = numbers[rng.IntN(len(numbers))]; rng.IntN(2) == 0 {
				column[i] = rng.NormFloat64() * 50
			}
		}
		rows.Numeric[name] = column
	}
	column := make([]string, n)
	codes := make([]int32, n)
	for i := range column {
		column[i] = labels[rng.IntN(len(labels))]
		codes[i] = int32(rng.Uint32())
		if rng.IntN(4) > 0 {
			codes[i] = int32(rng.IntN(5)) - 1
		}
	}
	rows.Labels["ocean"] = column
	rows.Codes["kind"] = Codes{
		codes,
		[]string{"c", "a", ""},
	}
	return rows
}

func (rows Rows) permuteRows(order []int) Rows {
	out := Rows{
		N:       rows.N,
		Numeric: map[string][]float64{},
		Labels:  map[string][]string{},
		Codes:   map[string]Codes{},
	}
	for name, column := range rows.Numeric {
		out.Numeric[name] = pickEntries(column, order)
	}
	for name, column := range rows.Labels {
		out.Labels[name] = pickEntries(column, order)
	}
	for name, column := range rows.Codes {
		out.Codes[name] = Codes{pickEntries(column.Values, order), column.Categories}
	}
	return out
}

func pickEntries[T any](column []T, order []int) []T {
	out := make([]T, len(order))
	for to, from := range order {
		out[to] = column[from]
	}
	return out
}

func TestPredictConformance(t *testing.T) {
	checkConformance(t, func(*rapid.T) blockwise {
		return sampleModel()
	})
}

// TestPredictOverflow checks that terms that overflow in both directions still give a number.
func TestPredictOverflow(t *testing.T) {
	m := &Linear{
		Columns: []Column{
			{
				Name:  "a",
				Lower: -math.MaxFloat64,
				Upper: math.MaxFloat64,
			},
			{
				Name:  "b",
				Lower: -math.MaxFloat64,
				Upper: math.MaxFloat64,
			},
		},
		Terms: []Term{
			{Column: 0, Coefficient: 1e10},
			{Column: 1, Coefficient: -1e10},
		},
		Lower:  -math.MaxFloat64,
		Upper:  math.MaxFloat64,
		Target: "y",
	}
	rows := Rows{
		N: 3,
		Numeric: map[string][]float64{
			"a": {1e308, 1e308, 0},
			"b": {1e308, 0, 1e308},
		},
	}
	got, err := m.Predict(nil, rows)
	if err != nil ||
		!slices.Equal(got, []float64{0, math.MaxFloat64, -math.MaxFloat64}) {
		t.Error(got, err)
	}
}

func TestPredictReportsEveryColumn(t *testing.T) {
	rows := Rows{
		N: 2,
		Numeric: map[string][]float64{
			"age":    {1, 2, 3},
			"kind":   {1, 2},
			"unused": {},
		},
		Labels: map[string][]string{"income": {"1", "2"}},
	}
	_, err := sampleModel().Predict(nil, rows)
	for _, want := range []error{ErrColumnAbsent, ErrColumnType, ErrColumnLength} {
		if !errors.Is(err, want) {
			t.Errorf(
				"%v is not reported in: %v",
				want, err,
			)
		}
	}
	var column *ColumnError
	if !errors.As(err, &column) || column.Column != "age" {
		t.Errorf("first column error: %v", err)
	}
	for _, name := range []string{
		`"age"`, `"ocean"`,
		`"income"`, `"kind"`,
	} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf(
				"%s is not named in: %v",
				name, err,
			)
		}
	}
}

// contradictions are changes that make sampleModel() invalid, with the path that
// must be reported.
var contradictions = []contradiction[*Linear]{
	{"target", func(m *Linear) {
		m.Target = "\xff"
	}},
	{"columns[1].name", func(m *Linear) {
		m.Columns[1].Name = "age"
	}},
	{"columns[1].name", func(m *Linear) {
		m.Columns[1].Name = "price"
	}},
	{"columns[0].name", func(m *Linear) {
		m.Columns[0].Name = "\xff"
	}},
	{
		"columns[0].lower",
		func(m *Linear) {
			m.Columns[0].Lower = 121
		},
	},
	{"columns[0].lower", func(m *Linear) {
		m.Columns[0].Lower = math.NaN()
	}},
	{"columns[0].upper", func(m *Linear) {
		m.Columns[0].Upper = math.Inf(1)
	}},
	{"columns[0].missing", func(m *Linear) {
		m.Columns[0].Missing = math.NaN()
	}},
	{"columns[0]", func(m *Linear) {
		m.Columns[0].Other = true
	}},
	{"columns[1]", func(m *Linear) {
		m.Columns[1].Upper = 1
	}},
	{"columns[1].type", func(m *Linear) {
		m.Columns[1].Type = 7
	}},
	{
		"columns[1].categories[1]",
		func(m *Linear) {
			m.Columns[1].Categories[1] = "inland"
		},
	},
	{"columns[1].categories[0]", func(m *Linear) {
		m.Columns[1].Categories[0] = "\xff"
	}},
	{"terms[0].column", func(m *Linear) {
		m.Terms[0].Column = 4
	}},
	{"terms[0].column", func(m *Linear) {
		m.Terms[0].Column = -1
	}},
	{"terms[0]", func(m *Linear) {
		m.Terms[0].Category = "x"
	}},
	{"terms[1].category", func(m *Linear) {
		m.Terms[1].Category = "x"
	}},
	{"terms[1]", func(m *Linear) {
		m.Terms[1].Other = true
	}},
	{
		"terms[2].other",
		func(m *Linear) {
			m.Terms[2].Other = true
		},
	},
	{"terms[4]", func(m *Linear) {
		m.Terms[4] = m.Terms[0]
	}},
	{"terms[0].coefficient", func(m *Linear) {
		m.Terms[0].Coefficient = math.NaN()
	}},
	{"terms[0].std_error", func(m *Linear) {
		m.Terms[0].StdError = -1
	}},
	{"terms[1].missing", func(m *Linear) {
		m.Terms[1].Missing = true
	}},
	{"terms[0]", func(m *Linear) {
		m.Terms[0].Missing = true
		m.Terms[0].Other = true
	}},
	{"terms[5]", func(m *Linear) {
		m.Terms = append(m.Terms, m.Terms[0])
	}},
	{"terms[6]", func(m *Linear) {
		m.Terms = append(m.Terms, Term{Missing: true}, Term{Missing: true})
	}},
	{"interval[0].level", func(m *Linear) {
		m.Intervals = []Interval{{0, 1}}
	}},
	{"interval[0].level", func(m *Linear) {
		m.Intervals = []Interval{{1, 1}}
	}},
	{"interval[0].level", func(m *Linear) {
		m.Intervals = []Interval{{math.NaN(), 1}}
	}},
	{"interval[0].half_width", func(m *Linear) {
		m.Intervals = []Interval{{.9, 0}}
	}},
	{
		"interval[0].half_width",
		func(m *Linear) {
			m.Intervals = []Interval{{.9, math.Inf(1)}}
		},
	},
	{"interval[1].level", func(m *Linear) {
		m.Intervals = []Interval{{.9, 1}, {.9, 2}}
	}},
	{
		"interval[1].half_width",
		func(m *Linear) {
			m.Intervals = []Interval{{.9, 2}, {.95, 1}}
		},
	},
	{"intercept.coefficient", func(m *Linear) {
		m.Intercept = math.Inf(1)
	}},
	{"intercept.std_error", func(m *Linear) {
		m.InterceptStdError = math.NaN()
	}},
	{"prediction.lower", func(m *Linear) {
		m.Upper = -1001
	}},
	{"guarantee.epsilon", func(m *Linear) {
		m.Guarantee.Epsilon = -1
	}},
	{"guarantee.delta", func(m *Linear) {
		m.Guarantee.Delta = 1
	}},
	{"guarantee.mu", func(m *Linear) {
		m.Guarantee.Mu = math.NaN()
	}},
	{"guarantee.relation", func(m *Linear) {
		m.Guarantee.Relation = ""
	}},
}

func TestContradictionsAreRefusedEverywhere(t *testing.T) {
	checkContradictions(
		t,
		sampleModel,
		strangeRows(rand.New(rand.NewPCG(1, 1)), 3),
		contradictions,
	)
}

func TestMetrics(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		pred, y       []float64
		r2, rmse, mae float64
	}{
		{nil, nil, nan, nan, nan},
		{
			[]float64{1, 2, 3},
			[]float64{1, 2, 3},
			1, 0, 0,
		},
		{
			[]float64{2, 2, 2},
			[]float64{1, 2, 3},
			0, math.Sqrt(2. / 3),
			2. / 3,
		},
		{
			[]float64{3, 2, 1},
			[]float64{1, 2, 3},
			-3,
			math.Sqrt(8. / 3),
			4. / 3,
		},
		{[]float64{5, 5}, []float64{5, 5}, 1, 0, 0},
		{
			[]float64{5, 6},
			[]float64{5, 5}, 0,
			math.Sqrt(0.5),
			0.5,
		},
		{[]float64{4}, []float64{5}, 0, 1, 1},
		{
			[]float64{0.1, 0.1, 0.2},
			[]float64{0.1, 0.1, 0.1},
			0,
			math.Sqrt(0.01 / 3),
			0.1 / 3,
		},
		{
			[]float64{1e9 + 1, 1e9 + 2},
			[]float64{1e9 + 1, 1e9 + 3},
			0.5,
			math.Sqrt(0.5),
			0.5,
		},
		{[]float64{nan, 1}, []float64{2, 1}, nan, nan, nan},
		{[]float64{nan, 1}, []float64{1, 1}, nan, nan, nan},
	} {
		for name, v := range map[string][2]float64{
			"R2":   {R2(c.pred, c.y), c.r2},
			"RMSE": {RMSE(c.pred, c.y), c.rmse},
			"MAE":  {MAE(c.pred, c.y), c.mae},
		} {
			same := math.Abs(v[0]-v[1]) < 1e-12 || math.IsNaN(v[0]) && math.IsNaN(v[1])
			if !same {
				t.Errorf(
					"%s(%v, %v) = %v, want %v",
					name, c.pred, c.y,
					v[0], v[1],
				)
			}
		}
	}
	for name, f := range map[string]func(
		a, b []float64,
	) float64{
		"R2":   R2,
		"RMSE": RMSE,
		"MAE":  MAE,
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s accepts slices of different lengths", name)
				}
			}()
			f([]float64{1}, nil)
		}()
	}
}

func BenchmarkPredict(b *testing.B) {
	m, rows := benchmarkLinear()
	benchmarkPredict(b, &m, rows)
}
