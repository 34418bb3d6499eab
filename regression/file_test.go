package regression

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestGolden(t *testing.T) {
	checkReads(t, "testdata/model-1.json", sampleModel())
	checkGolden(t, "testdata/model-2.json", withVersion2(sampleModel()))
}

// TestVersion1HasNoNewKeys checks that keys added in version 2 are unknown in a file of version 1, wherever
// they occur.
func TestVersion1HasNoNewKeys(t *testing.T) {
	for key, m := range map[string]Model{
		`"missing"`: &Linear{
			Target:  "y",
			Columns: []Column{{Name: "a"}},
			Terms:   []Term{{Missing: true}},
		},
		`"interval"`: &Linear{
			Target:    "y",
			Intervals: []Interval{{.9, 2}},
		},
		`"probability"`: twoClasses(),
	} {
		file := string(encodeModel(t, m))
		if _, err := DecodeModel(strings.NewReader(file)); err != nil {
			t.Errorf("%s in version 2: %v", key, err)
		}
		_, err := DecodeModel(strings.NewReader(strings.Replace(
			file,
			"model/2",
			"model/1",
			1,
		)))
		var problem *DecodeError
		if !errors.As(err, &problem) ||
			!strings.Contains(problem.Problem, "unknown key ") {
			t.Errorf("%s in version 1: %v", key, err)
		}
	}
}

func TestModelFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawLinear(t)
		got := checkRoundTrip(t, m)
		rows := Rows{
			N:       1,
			Numeric: map[string][]float64{},
			Labels:  map[string][]string{},
		}
		for _, c := range m.Columns {
			rows.Numeric[c.Name] = []float64{3}
			rows.Labels[c.Name] = []string{strings.Join(c.Categories, "")}
			if c.Type == Numeric {
				delete(rows.Labels, c.Name)
			} else {
				delete(rows.Numeric, c.Name)
			}
		}
		before, err1 := m.Predict(nil, rows)
		after, err2 := got.Predict(nil, rows)
		if err1 != nil ||
			err2 != nil ||
			math.Float64bits(before[0]) != math.Float64bits(after[0]) {
			t.Fatal(err1, err2, before, after)
		}
	})
}

func drawLinear(t *rapid.T) *Linear {
	number := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64)
	size := rapid.Float64Range(0, math.MaxFloat64)
	m := &Linear{
		Target:            "target",
		Intercept:         number.Draw(t, "b"),
		InterceptStdError: size.Draw(t, "s"),
		Lower:             -size.Draw(t, "lower"),
		Upper:             size.Draw(t, "upper"),
	}
	names := rapid.SliceOfNDistinct(
		rapid.StringN(0, 8, 30), 0,
		6, rapid.ID,
	).Draw(
		t,
		"names",
	)
	for i, name := range names {
		if name == m.Target {
			continue
		}
		c := Column{Name: name}
		if i%2 == 0 {
			c.Lower = -size.Draw(t, "lower")
			c.Upper = size.Draw(t, "upper")
			c.Missing = number.Draw(t, "missing")
			m.Terms = append(
				m.Terms,
				Term{Column: len(m.Columns), Coefficient: number.Draw(t, "w")},
			)
			if rapid.Bool().Draw(t, "indicator") {
				m.Terms = append(
					m.Terms,
					Term{
						Column:      len(m.Columns),
						Missing:     true,
						Coefficient: number.Draw(t, "w"),
					},
				)
			}
		} else {
			c.Type = Category
			c.Other = rapid.Bool().Draw(t, "other")
			c.Categories = rapid.SliceOfNDistinct(rapid.String(), 0, 3, rapid.ID).Draw(
				t,
				"categories",
			)
			for _, category := range c.Categories {
				m.Terms = append(
					m.Terms,
					Term{
						Column:      len(m.Columns),
						Category:    category,
						Coefficient: number.Draw(t, "w"),
					},
				)
			}
			if c.Other {
				m.Terms = append(
					m.Terms,
					Term{
						Column:   len(m.Columns),
						Other:    true,
						StdError: size.Draw(t, "s"),
					},
				)
			}
		}
		m.Columns = append(m.Columns, c)
	}
	if rapid.Bool().Draw(t, "interval") {
		m.Intervals = []Interval{
			{
				rapid.Float64Range(1e-9, .5).Draw(t, "level"),
				rapid.Float64Range(1e-9, 1).Draw(t, "half"),
			},
			{.9, 1e3},
		}
	}
	if rapid.Bool().Draw(t, "private") {
		m.Guarantee = &Guarantee{
			Epsilon:  size.Draw(t, "eps"),
			Delta:    rapid.Float64Range(0, .5).Draw(t, "delta"),
			Relation: "substitute",
		}
		if rapid.Bool().Draw(t, "persons") {
			m.Guarantee.Unit = &Unit{
				rapid.StringN(1, 5, -1).Draw(t, "unit"),
				rapid.IntRange(1, 1000).Draw(t, "rows"),
			}
		}
	}
	return m
}

func TestDecodeAcceptsAnyOrderOfKeys(t *testing.T) {
	golden := string(encodeModel(t, sampleModel()))
	kind := "  \"kind\": \"linear\",\n"
	moved := strings.Replace(golden, kind, "", 1)
	moved = strings.Replace(
		moved, "\n}\n",
		",\n"+strings.TrimSuffix(kind, ",\n")+"}",
		1,
	)
	m, err := DecodeModel(strings.NewReader(moved))
	if err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff(sampleModel(), m)
	if diff != "" {
		t.Error(diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	golden := string(encodeModel(t, sampleModel()))
	checkDecodeRefuses(t, sampleModel(), []refusal{
		{golden, "", `model file 1:1: is not JSON: unexpected end of JSON input`},
		{golden, "[1]", `model file 1:1: must be an object`},
		{golden, "{}", `model file 1:1: key "format" is absent`},
		{
			golden,
			`{"format": "dptrain.model/2"}`,
			`model file 1:1: key "kind" is absent`,
		},
		{
			`"dptrain.model/2"`,
			`"dptrain.model/4", "later": {"a": [1, {}]}`,
			`model file 2:13: format: is "dptrain.model/4", but this version reads "dptrain.model/1" or "dptrain.model/2" or "dptrain.model/3"`,
		},
		{
			`"kind": "linear"`,
			`"kind": "shapes"`,
			`model file 3:11: kind: is "shapes", but this version reads "linear" or "clipped-linear" or "additive" or "kernel" or "votes" or "tree" or "prototypes" or "classifier" or "neighbours"`,
		},
		{
			`"kind": "linear"`,
			`"kind": 3`,
			`model file 3:11: kind: must be a string`,
		},
		{
			`"task": "regression"`,
			`"task": "magic"`,
			`model file 4:11: task: is "magic", must be regression`,
		},
		{
			`"target": "price"`,
			`"Target": "price"`,
			`model file 5:3: unknown key "Target"`,
		},
		{
			`"target": "price"`,
			`"target": "price", "target": "x"`,
			`model file 5:22: key "target" is repeated`,
		},
		{
			`  "target": "price",` + "\n",
			"",
			`model file 1:1: key "target" is absent`,
		},
		{
			`"name":"age",`,
			"",
			`model file 7:5: columns[0]: key "name" is absent`,
		},
		{
			`"lower":0,`,
			"",
			`model file 7:5: columns[0]: a numeric column has the keys name, type, lower, upper, missing`,
		},
		{
			`"lower":0,`,
			`"lower":0,"other":false,`,
			`model file 7:5: columns[0]: a numeric column has the keys name, type, lower, upper, missing`,
		},
		{
			`"categories":["inland","near <bay>"],`,
			``,
			`model file 8:5: columns[1]: a category column has the keys name, type, categories, other`,
		},
		{
			`"lower":0`,
			`"lower":"0"`,
			`model file 7:44: columns[0].lower: must be a number`,
		},
		{
			`"lower":0`,
			`"lower":1e999`,
			`model file 7:44: columns[0].lower: must be a number within the range of float64`,
		},
		{
			`"lower":0`,
			`"lower":NaN`,
			`model file 7:44: is not JSON: invalid character 'N' looking for beginning of value`,
		},
		{
			`"lower":0`,
			`"lower":121`,
			`model file 7:44: columns[0].lower: is above upper`,
		},
		{
			`"type":"numeric"`,
			`"type":"number"`,
			`model file 7:26: columns[0].type: is "number", must be numeric or category`,
		},
		{
			`"name":"ocean"`,
			`"name":"age"`,
			`model file 8:13: columns[1].name: another column has this name`,
		},
		{
			`"inland","near <bay>"`,
			`"near <bay>","near <bay>"`,
			`model file 8:66: columns[1].categories[1]: the category is listed twice`,
		},
		{
			`"column":"age"`,
			`"column":"Age"`,
			`model file 13:15: terms[0].column: no column has this name`,
		},
		{
			`"other":true,"coefficient"`,
			`"other":1,"coefficient"`,
			`model file 16:31: terms[3].other: must be true or false`,
		},
		{
			`"coefficient":1.5,`,
			`"coefficient":1.5,"p_value":0,`,
			`model file 13:39: terms[0]: unknown key "p_value"`,
		},
		{
			`"prediction": {"lower":-1000,`,
			`"prediction": {`,
			`model file 20:17: prediction: key "lower" is absent`,
		},
		{
			`"relation":"add-remove"`,
			`"relation":""`,
			`model file 21:83: guarantee.relation: must name the neighbouring relation`,
		},
		{
			`"relation":"add-remove"`,
			`"relation":"add-remove","unit":{"column":"","max_rows":1}`,
			`model file 21:113: guarantee.unit.column: must name a column`,
		},
		{
			`"relation":"add-remove"`,
			`"relation":"add-remove","unit":{"column":"id","max_rows":1.5}`,
			`model file 21:129: guarantee.unit.max_rows: must be a whole number`,
		},
		{
			`"relation":"add-remove"`,
			`"relation":"add-remove","unit":{"column":"id"}`,
			`model file 21:103: guarantee.unit: key "max_rows" is absent`,
		},
		{
			"\n}\n",
			"\n} {}",
			`model file 22:3: is not JSON: invalid character '{' after top-level value`,
		},
		{
			`"price"`,
			"\"pri\xffce\"",
			`model file 5:17: is not valid UTF-8`,
		},
		{
			`"target"`,
			`"` + strings.Repeat("t", 1000) + `"`,
			`model file 5:3: unknown key "` + strings.Repeat("t", 40) + `"...`,
		},
	})
}

func TestModelFileLimits(t *testing.T) {
	long := strings.NewReader(strings.Repeat(" ", MaxModelBytes+1))
	if _, err := DecodeModel(long); !errors.Is(err, ErrModelSize) {
		t.Errorf("a long file: %v", err)
	}
	broken := errors.New("disk")
	if _, err := DecodeModel(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("a broken reader: %v", err)
	}
	m := &Linear{Target: strings.Repeat("t", MaxModelBytes)}
	var buf bytes.Buffer
	if err := EncodeModel(&buf, m); !errors.Is(err, ErrModelSize) || buf.Len() > 0 {
		t.Errorf(
			"a long model: %v, %d bytes",
			err, buf.Len(),
		)
	}
	err := EncodeModel(&buf, otherModel{sampleModel()})
	if !errors.Is(err, ErrModelKind) || buf.Len() > 0 {
		t.Errorf(
			"a model of another kind: %v, %d bytes",
			err, buf.Len(),
		)
	}
}

type otherModel struct{ *Linear }

// TestDecodeDeepNesting checks that deep nesting is rejected where it starts or by its depth, without recursion
// into it.
func TestDecodeDeepNesting(t *testing.T) {
	for _, file := range []string{
		strings.Repeat("[", 1<<20),
		`{"x":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + "}",
		`{"format":"dptrain.model/1","kind":"linear","x":` + strings.Repeat("[", 5000) +
			strings.Repeat("]", 5000) + "}",
	} {
		var problem *DecodeError
		_, err := DecodeModel(strings.NewReader(file))
		if !errors.As(err, &problem) {
			t.Errorf("%v", err)
		}
	}
}

func FuzzDecodeModel(f *testing.F) {
	f.Add(encodeModel(f, sampleModel()))
	f.Add(encodeModel(f, &Linear{Target: "y"}))
	f.Add(encodeModel(f, clippedSample()))
	f.Add(encodeModel(f, additiveSample()))
	f.Add(encodeModel(f, votesSample()))
	f.Add(encodeModel(f, prototypesSample()))
	f.Add(encodeModel(f, treeSample()))
	files, err := filepath.Glob("testdata/model-*.json")
	if err != nil || len(files) < 11 {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"format":"dptrain.model/1","kind":"linear"}`))
	f.Add([]byte(`{"format":"dptrain.model/2","kind":"linear"}`))
	f.Add([]byte(`{"a":[{}],"format":null}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := DecodeModel(bytes.NewReader(file))
		if err != nil {
			var problem *DecodeError
			if !errors.As(err, &problem) ||
				problem.Line < 1 ||
				problem.Column < 1 {
				t.Fatalf("refused without a position: %v", err)
			}
			return
		}
		checkRoundTrip(t, m)
		rows := rowsFor(
			m,
			rand.New(rand.NewPCG(1, uint64(len(file)))),
		)
		pred, err := m.Predict(nil, rows)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range pred {
			if !isFinite(v) {
				t.Fatalf("predicts %v", v)
			}
		}
	})
}

func rowsFor(m Model, rng *rand.Rand) Rows {
	rows := Rows{
		N:       3,
		Numeric: map[string][]float64{},
		Labels:  map[string][]string{},
	}
	for _, c := range m.Inputs() {
		if c.Type == Numeric {
			rows.Numeric[c.Name] = []float64{math.NaN(), 1e308, rng.NormFloat64()}
			continue
		}
		labels := []string{"", "never seen", ""}
		if len(c.Categories) > 0 {
			labels[2] = c.Categories[rng.IntN(len(c.Categories))]
		}
		rows.Labels[c.Name] = labels
	}
	return rows
}
