package regression

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/internal/numeric/neighbour"
)

// quoteCategories quotes the names of categories, so that no blanks surround them.
func quoteCategories(m *Linear) *Linear {
	for i := range m.Columns {
		for k, name := range m.Columns[i].Categories {
			m.Columns[i].Categories[k] = strconv.Quote(name)
		}
	}
	for i, t := range m.Terms {
		if m.Columns[t.Column].Type == Category && !t.Other {
			m.Terms[i].Category = strconv.Quote(t.Category)
		}
	}
	return m
}

// drawKinds draws a model of every kind that predicts numbers.
func drawKinds(t *rapid.T) []Model {
	linear := quoteCategories(drawLinear(t))
	linear.Intervals = nil
	coefficient := rapid.Float64Range(-100, 100)
	for i := range linear.Terms {
		if rapid.Bool().Draw(t, "usual") {
			linear.Terms[i].Coefficient = coefficient.Draw(t, "w")
		}
	}
	clipped := &ClippedLinear{
		Linear:   *linear,
		Constant: rapid.Float64Range(0, 1).Draw(t, "constant"),
		Norm:     rapid.Float64Range(1e-9, 9).Draw(t, "norm"),
	}
	additive := &Additive{Linear: *linear}
	for j, c := range additive.Columns {
		if c.Type == Numeric && rapid.Bool().Draw(t, "shape") {
			additive.Shapes = append(additive.Shapes, Shape{j, drawStep(t, "shape")})
		}
	}
	if rapid.Bool().Draw(t, "score") {
		additive.Score = &Score{Intercept: 1, Step: drawStep(t, "score")}
		for range additive.Terms {
			additive.Score.Coefficients = append(
				additive.Score.Coefficients,
				coefficient.Draw(t, "w"),
			)
		}
	}
	votes := &Votes{Linear: *linear}
	for range rapid.IntRange(0, 4).Draw(t, "members") {
		v := Member{
			Weight:    coefficient.Draw(t, "weight"),
			Intercept: coefficient.Draw(t, "intercept"),
		}
		for _, term := range linear.Terms {
			if rapid.Bool().Draw(t, "in") {
				term.StdError = 0
				term.Coefficient = coefficient.Draw(t, "w")
				v.Terms = append(v.Terms, term)
			}
		}
		votes.Members = append(votes.Members, v)
	}
	prototypes := &Prototypes{Linear: *linear}
	for i := range rapid.IntRange(0, 4).Draw(t, "prototypes") {
		p := Prototype{
			Against:   i%2 == 1,
			Intercept: coefficient.Draw(t, "intercept"),
		}
		for _, term := range linear.Terms {
			if rapid.Bool().Draw(t, "near") {
				term.StdError = 0
				term.Coefficient = coefficient.Draw(t, "w")
				c := &linear.Columns[term.Column]
				p.Terms = append(p.Terms, term)
				p.Centers = append(
					p.Centers,
					min(max(0, c.Lower), max(0, c.Upper)),
				)
			}
		}
		prototypes.Prototypes = append(prototypes.Prototypes, p)
	}
	out := []Model{linear, additive, drawKernel(t, *additive), votes, prototypes}
	if clipped.Validate() == nil { // its ranges need a width
		out = append(out, clipped)
	}
	return out
}

// drawNeighbours draws a nearest-neighbour model with two classes, as a classifier with one score has.
func drawNeighbours(t *rapid.T, columns []Column, mapped bool) *Neighbours {
	m := &Neighbours{
		Target:  "target",
		Classes: []string{"no", "yes"},
		Columns: columns,
		K:       rapid.IntRange(1, 5).Draw(t, "k"),
		Gamma2:  rapid.Float64Range(0, 2).Draw(t, "gamma2"),
	}
	number := rapid.Float64Range(-50, 50)
	width := neighbour.Width(m.coordinateColumns())
	numbers := func(n int) []float64 {
		return rapid.SliceOfN(number, n, n).Draw(t, "numbers")
	}
	m.Center, m.Scale = numbers(width), numbers(width)
	if mapped {
		m.Map = [][]float64{numbers(width), numbers(width), numbers(width)}
		width = 3
	}
	for range rapid.IntRange(1, 6).Draw(t, "vectors") {
		m.Vectors, m.Labels = append(m.Vectors, numbers(width)),
			append(m.Labels, rapid.IntRange(0, 1).Draw(t, "label"))
	}
	return m
}

// drawAll adds classifiers of two and of more classes, whose scores have the columns in another order.
func drawAll(t *rapid.T) []Model {
	out := drawKinds(t)
	scores := len(out)
	if columns := out[0].(*Linear).Columns; neighbour.Width(
		(&Neighbours{Columns: columns}).coordinateColumns()) > 0 {
		out = append(
			out,
			drawNeighbours(t, columns, false),
			drawNeighbours(t, columns, true),
		)
	}
	for _, score := range out[:scores] {
		out = append(
			out,
			&Classifier{
				Target:  "target",
				Classes: []string{"no", "yes"},
				Scores:  []Model{score},
				Cutoff:  rapid.Float64Range(-9, 9).Draw(t, "cutoff"),
				Probability: &Probability{
					Intercept: .25,
					Slope:     rapid.Float64Range(0, 3).Draw(t, "slope"),
				},
			},
		)
	}
	turned := *out[0].(*Linear)
	n := len(turned.Columns)
	columns := make([]Column, n)
	terms := append([]Term(nil), turned.Terms...)
	for i, c := range turned.Columns {
		columns[n-1-i] = c
	}
	for i := range terms {
		terms[i].Column = n - 1 - terms[i].Column
		terms[i].Coefficient /= 2
	}
	turned.Columns = columns
	turned.Terms = terms
	return append(
		out,
		&Classifier{
			Target: "target",
			Classes: []string{
				"a", "b", "c", "d",
				"e", "f",
			}[:scores],
			Scores: out[:scores],
		},
		&Classifier{
			Target:  "target",
			Classes: []string{"a", "b", "c"},
			Scores:  []Model{&turned, out[0], out[1]},
		},
	)
}

// drawRows draws rows for a model, and the same as records.
func drawRows(m Model, rng *rand.Rand, n int) (Rows, [][]Cell, []map[string]any) {
	numbers := []float64{0, math.Copysign(0, -1), 1, -1, 1e300, -1e300, 5e-324, math.NaN(),
		math.Inf(1), math.Inf(-1)}
	rows := Rows{
		N:       n,
		Numeric: map[string][]float64{},
		Labels:  map[string][]string{},
	}
	cells := make([][]Cell, n)
	records := make([]map[string]any, n)
	for i := range n {
		records[i] = map[string]any{}
	}
	for _, c := range m.Inputs() {
		for i := range n {
			if c.Type == Category {
				label := append(
					[]string{"", "never seen", "\xff", "1"},
					c.Categories...,
				)[rng.IntN(4+len(c.Categories))]
				rows.Labels[c.Name] = append(rows.Labels[c.Name], label)
				cells[i] = append(cells[i], TextCell("\t "+label+" "))
				records[i][c.Name] = label
				continue
			}
			v := rng.NormFloat64() * 50
			if rng.IntN(2) == 0 {
				v = numbers[rng.IntN(len(numbers))]
			}
			rows.Numeric[c.Name] = append(rows.Numeric[c.Name], v)
			cells[i] = append(
				cells[i],
				[]Cell{
					NumberCell(v),
					TextCell(strconv.FormatFloat(v, 'g', -1, 64)),
				}[rng.IntN(2)],
			)
			records[i][c.Name] = []any{
				v,
				&v,
				json.Number(strconv.FormatFloat(v, 'e', -1, 64)),
			}[rng.IntN(3)]
		}
	}
	return rows, cells, records
}

// TestPredictorIsPredict checks that predicting record by record gives the same bits as a batch, for every kind
// of model and any cells.
func TestPredictorIsPredict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(
			rapid.Uint64().Draw(t, "seed"),
			3,
		))
		for _, m := range drawAll(t) {
			p, err := Compile(m)
			if err != nil {
				t.Fatal(err)
			}
			rows, cells, records := drawRows(m, rng, 20)
			want, err := m.Predict(nil, rows)
			if err != nil {
				t.Fatal(err)
			}
			checkRecords(
				t,
				m,
				want,
				cells,
				records,
				func(c []Cell) (float64, error) {
					return p.PredictRow(c), nil
				},
				p.PredictRecord,
			)
			c, ok := m.(*Classifier)
			if ok && c.Probability != nil {
				if want, err = c.Probabilities(nil, rows); err != nil {
					t.Fatal(err)
				}
				checkRecords(
					t,
					m,
					want,
					cells,
					records,
					p.ProbabilityRow,
					p.ProbabilityRecord,
				)
			} else if _, err := p.ProbabilityRow(cells[0]); !errors.Is(err, ErrNoProbability) {
				t.Fatal(err)
			}
		}
	})
}

func checkRecords(
	t *rapid.T,
	m Model,
	want []float64,
	cells [][]Cell,
	records []map[string]any,
	row func([]Cell) (float64, error),
	record func(map[string]any) (float64, error),
) {
	for i, w := range want {
		a, errA := row(cells[i])
		b, errB := record(records[i])
		if errA != nil ||
			errB != nil ||
			math.Float64bits(a) != math.Float64bits(w) ||
			math.Float64bits(b) != math.Float64bits(w) {
			t.Fatalf(
				"%s, row %v: %v and %v, want %v (%v, %v)",
				m.Kind(),
				cells[i],
				a,
				b,
				w,
				errA,
				errB,
			)
		}
	}
}

// TestPredictorReadsCells checks the meaning of a cell of each type.
func TestPredictorReadsCells(t *testing.T) {
	type grade string
	type size int16
	m := &Linear{
		Target: "y",
		Lower:  -1e9,
		Upper:  1e9,
		Columns: []Column{
			{
				Name:    "x",
				Lower:   -1000,
				Upper:   1000,
				Missing: 7,
			},
			{
				Name: "c",
				Type: Category,
				Categories: []string{
					"3", "true", "b", "NA",
					"0.5",
				},
				Other: true,
			},
		},
		Terms: []Term{
			{Column: 0, Coefficient: 1},
			{
				Column:      1,
				Category:    "3",
				Coefficient: 30000,
			},
			{
				Column:      1,
				Category:    "true",
				Coefficient: 40000,
			},
			{
				Column:      1,
				Category:    "b",
				Coefficient: 50000,
			},
			{
				Column:      1,
				Category:    "NA",
				Coefficient: 60000,
			},
			{
				Column:      1,
				Category:    "0.5",
				Coefficient: 70000,
			},
			{Column: 1, Other: true, Coefficient: 90000},
		},
	}
	p, err := Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	text := "b"
	none := (*float64)(nil)
	q, err := Compile(
		&Linear{
			Target: "y",
			Upper:  2,
			Columns: []Column{{
				Name:       "c",
				Type:       Category,
				Categories: []string{""},
				Other:      true,
			}},
			Terms: []Term{
				{Category: "", Coefficient: 1},
				{Other: true, Coefficient: 2},
			},
		})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []any{
		nil, "", " ",
		math.NaN(), none,
	} {
		got, err := q.PredictRecord(map[string]any{"c": x})
		if err != nil || got != 1 {
			t.Errorf(
				"%v is not the empty category: %v, %v",
				x, got, err,
			)
		}
	}
	for _, c := range []struct {
		cell         any
		number, code float64
	}{
		{nil, 7, 9},
		{none, 7, 9},
		{math.NaN(), 7, 9},
		{math.Inf(-1), 7, 9},
		{float32(.5), .5, 7},
		{3, 3, 3},
		{uint8(3), 3, 3},
		{int64(-4), -4, 9},
		{size(3), 3, 3},
		{5000, 1000, 9},
		{" 3\t", 3, 3},
		{"3.0", 3, 3},
		{"45 yrs", 45, 9},
		{"<5", 5, 9},
		{"1,234.5", 1000, 9},
		{"t", 1, 4},
		{"f", 0, 9},
		{"TRUE", 1, 4},
		{"\u00a0b\u200b", 7, 5},
		{json.Number("1e999"), 7, 9},
		{json.Number("3.0"), 3, 3},
		{"b", 7, 5},
		{"", 7, 9},
		{"NA", 7, 6},
		{"inf", 7, 9},
		{"0x3", 7, 9},
		{"1e999", 7, 9},
		{[]byte("3"), 3, 3},
		{json.Number("3"), 3, 3},
		{true, 1, 4},
		{false, 0, 9},
		{time.Time{}, 7, 9},
		{uint64(math.MaxUint64), 1000, 9},
		{grade("b"), 7, 5},
		{&text, 7, 5},
		{TextCell("3"), 3, 3},
		{Cell{}, 7, 9},
		{[]int{3}, 7, 9},
		{struct{}{}, 7, 9},
		{m, 7, 9},
	} {
		got, err := p.PredictRecord(map[string]any{
			"x":     c.cell,
			"c":     c.cell,
			"other": 1,
		})
		want := c.number + 10000*c.code
		if err != nil || got != want {
			t.Errorf(
				"%T %v: %v, %v; want %v",
				c.cell, c.cell, got, err, want,
			)
		}
	}
}

func TestPredictorErrors(t *testing.T) {
	p, err := Compile(sampleModel())
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.PredictRecord(map[string]any{"age": 3, "kind": "a"})
	if !errors.Is(err, ErrColumnAbsent) ||
		!strings.Contains(err.Error(), `"ocean"`) ||
		!strings.Contains(err.Error(), `"income"`) ||
		strings.Contains(err.Error(), `"age"`) {
		t.Errorf("%v", err)
	}
	if _, err := Compile(otherModel{sampleModel()}); !errors.Is(err, ErrModelKind) {
		t.Errorf("%v", err)
	}
	_, err = Compile(
		&Classifier{
			Target:  "price",
			Classes: []string{"a", "b"},
			Scores:  []Model{otherModel{sampleModel()}},
		})
	if !errors.Is(err, ErrModelKind) {
		t.Errorf("%v", err)
	}
	m := sampleModel()
	m.Lower = math.NaN()
	var problem *ModelError
	if _, err := Compile(m); !errors.As(err, &problem) {
		t.Errorf("%v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a record of another length is predicted")
		}
	}()
	p.PredictRow(make([]Cell, 3))
}

// benchmarkRecord is a record for benchmarkLinear.
func benchmarkRecord(m *Linear) ([]Cell, map[string]any) {
	cells := make([]Cell, len(m.Columns))
	record := map[string]any{}
	for i, c := range m.Columns {
		cells[i] = NumberCell(float64(i) / 7)
		record[c.Name] = float64(i) / 7
	}
	return cells, record
}

// TestPredictorAllocatesNothing checks numbers, texts and categories, by row and by name.
func TestPredictorAllocatesNothing(t *testing.T) {
	three := classifierSample()
	for _, m := range []Model{sampleModel(), clippedSample(), additiveSample(), kernelSample(),
		votesSample(), treeSample(), prototypesSample(), three, twoClasses()} {
		p, err := Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		cells := []Cell{}
		record := map[string]any{}
		for i, c := range m.Inputs() {
			x := []Cell{
				NumberCell(1.5),
				TextCell(" -12.25e-3 "),
				{},
			}[i%3]
			if c.Type == Category {
				x = TextCell(c.Categories[0])
			}
			cells = append(cells, x)
			record[c.Name] = x
		}
		if n := testing.AllocsPerRun(1000, func() { p.PredictRow(cells) }); n != 0 {
			t.Errorf(
				"%s: %v allocations per row",
				m.Kind(), n,
			)
		}
		n := testing.AllocsPerRun(1000, func() {
			if _, err := p.PredictRecord(record); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf(
				"%s: %v allocations per record",
				m.Kind(), n,
			)
		}
	}
}

func BenchmarkPredictorRow(b *testing.B) {
	m, _ := benchmarkLinear()
	cells, _ := benchmarkRecord(&m)
	p, err := Compile(&m)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		p.PredictRow(cells)
	}
}

func BenchmarkPredictorRecord(b *testing.B) {
	m, _ := benchmarkLinear()
	_, record := benchmarkRecord(&m)
	p, err := Compile(&m)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.PredictRecord(record); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPredictOne predicts one record with Predict, for comparison.
func BenchmarkPredictOne(b *testing.B) {
	m, rows := benchmarkLinear()
	rows.N = 1
	for name, column := range rows.Numeric {
		rows.Numeric[name] = column[:1]
	}
	b.ReportAllocs()
	benchmarkPredict(b, &m, rows)
}
