package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/regression"
)

// modelKinds lists model files of every kind that can be exported.
func modelKinds(t *testing.T) map[string]regression.Model {
	t.Helper()
	out := map[string]regression.Model{}
	paths, err := filepath.Glob("../../regression/testdata/model-2*.json")
	if err != nil || len(paths) < 9 {
		t.Fatal(paths, err)
	}
	for _, path := range append(paths, "testdata/three.json", "testdata/awkward.json",
		"testdata/folded.json", "testdata/encoded.json", "testdata/hashed.json") {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := regression.DecodeModel(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if m.Kind() != "neighbours" {
			out[strings.TrimSuffix(filepath.Base(path), ".json")] = m
		}
	}
	for name, m := range readingModels() {
		out[name] = m
	}
	curve := *out["model-2-probability"].(*regression.Classifier)
	curve.Probability = &regression.Probability{
		Slope:  1,
		Scores: []float64{-1, -.25, .5, 2},
		Values: []float64{.1, .1, .4, .9},
	}
	out["probability-curve"] = &curve
	logarithm := regression.BackTransform{
		Transform: "log",
		Intercept: .1,
		Slope:     .9,
		Variance:  .3,
		Lower:     .2,
		Upper:     300,
	}
	root := regression.BackTransform{
		Transform: "sqrt",
		Intercept: -1,
		Slope:     1.1,
		Variance:  2.5,
		Upper:     1500,
	}
	// By default a model is transformed in one of the two ways, in turn.
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(out)), func(name string) bool {
		return len(out[name].Output().Classes) > 0
	})
	for i, name := range names {
		if testkit.Full() || i%2 == 0 {
			out[name+"-log"] = withTransform(t, out[name], logarithm, -2, 6)
		}
		if testkit.Full() || i%2 == 1 {
			out[name+"-sqrt"] = withTransform(t, out[name], root, -1, 40)
		}
	}
	return out
}

// readingModels are models with settings for the notation of the cells of their table.
func readingModels() map[string]regression.Model {
	out := map[string]regression.Model{}
	for name, reading := range map[string]regression.Reading{
		"auto": {Date: "auto"},
		"german": {
			Decimal:   ',',
			Thousands: '.',
			Missing:   []float64{-999, 7},
			Date:      "02.01.2006 15:04",
		},
		"strict": {
			Strict:    true,
			Thousands: ' ',
			Date:      "Jan _2, 06",
		},
		"compact": {Thousands: ',', Date: "20060102"},
	} {
		m := &regression.Linear{
			Target:    "y",
			Lower:     -1e9,
			Upper:     1e9,
			Intercept: 1,
		}
		add := func(c regression.Column, coefficient float64) {
			at := len(m.Columns)
			m.Columns = append(m.Columns, c)
			if !c.Text() {
				m.Terms = append(
					m.Terms,
					regression.Term{Column: at, Coefficient: coefficient},
					regression.Term{
						Column:      at,
						Missing:     true,
						Coefficient: coefficient / 3,
					},
				)
				return
			}
			for k, category := range c.Categories {
				m.Terms = append(
					m.Terms,
					regression.Term{
						Column:      at,
						Category:    category,
						Coefficient: coefficient * float64(k+1),
					},
				)
			}
			m.Terms = append(
				m.Terms,
				regression.Term{
					Column:      at,
					Other:       true,
					Coefficient: -coefficient,
				},
			)
		}
		add(
			regression.Column{
				Name:    "x",
				Lower:   -100,
				Upper:   2000,
				Missing: 3,
			},
			1,
		)
		for _, part := range []string{
			"days", "month", "weekday",
			"hour",
		} {
			add(
				regression.Column{
					Name:    "seen." + part,
					Lower:   -1e6,
					Upper:   1e6,
					Missing: 2,
				},
				.001,
			)
		}
		for name, list := range map[string][]string{
			"code":   {"0", "1"},
			"word":   {"true", "False", "unknown"},
			"letter": {"f", "t"},
			"three":  {"1", "1.0", "1.10"},
			"name": {
				"Zoë", "A\u030ank A",
				"e\u0323\u0302", "가",
			},
			"empty": {"", "red", "1.0", "NA"},
		} {
			add(
				regression.Column{
					Name:       name,
					Type:       regression.Category,
					Categories: list,
					Other:      true,
				},
				10,
			)
		}
		regression.SetReading(m, func(column string, r *regression.Reading) {
			layout := reading.Date
			*r = reading
			if r.Date = ""; strings.HasPrefix(column, "seen.") {
				r.Source = "seen"
				r.Part = strings.TrimPrefix(column, "seen.")
				r.Date = layout
			}
		})
		out["reading-"+name] = m
	}
	return out
}

// TestReadingModels checks that the models by which exports are compared with the product use every setting of a
// reading, so that a new setting cannot be forgotten in a form.
func TestReadingModels(t *testing.T) {
	used := map[string]bool{}
	for _, m := range readingModels() {
		for _, c := range m.Inputs() {
			reading := reflect.ValueOf(c.Reading)
			for i := range reading.NumField() {
				if !reading.Field(i).IsZero() {
					used[reading.Type().Field(i).Name] = true
				}
			}
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[regression.Reading]()) {
		if !used[f.Name] {
			t.Errorf("no model has the setting %s", f.Name)
		}
	}
}

// withTransform returns a copy of a model whose predictions are clamped to a range and transformed back.
func withTransform(
	t *testing.T,
	m regression.Model,
	b regression.BackTransform,
	lower, upper float64,
) regression.Model {
	t.Helper()
	var file bytes.Buffer
	if err := regression.EncodeModel(&file, m); err != nil {
		t.Fatal(err)
	}
	out, err := regression.DecodeModel(&file)
	if err != nil {
		t.Fatal(err)
	}
	l := regression.LinearPart(out)
	shift := (l.Lower/2 + l.Upper/2) - (lower/2 + upper/2)
	l.Intercept -= shift
	l.Lower = lower
	l.Upper = upper
	l.Back = &b
	return out
}

// hostile are unusual cells for a numeric column, as texts or as values.
var hostile = []any{
	nil, "", " ", "NA", "?", "abc", "1e400", "-inf", "NaN", "nan", "0x10", "1_000", "1,5", " 2.5\t",
	"+7", ".5", "5.", "1e-3", "1e", ".", "-", true, false,
	1e300, -1e300, 5e-324, 1e21, 1e-7, "Infinity", "\u0661", "12\n", "𝟏",
	"45 yrs", "80kg", "27.1 %", "€12", "EUR\u00a012", "-$3.50", "$-3", "<5", ">= 1,5", "≥100",
	"~ 3 µg", "85+", "1,234.50", "1.234,50", "1,234,567", "1'234", "1\u202f234", "1 234", "1234,5",
	"\u22125", "--5",
	"5k", "3/4", "E11.9", "1.234", "12,34.5", "1,23", ",234", "-999", -999, "7", 7, "t", "F",
	"TRUE", "False", "yes", "1.0", "0.0", "01", "1,0", "-0", 1.0, 0, "\ufeff1\u200b", "\u00a02 ",
	"1e2 kg", "1.5e3€",
}

// dated are cells of a column of dates.
var dated = []any{
	nil, "", "NA", "2024-01-15", "20240115", 20240115, 20240115.0, "20240115.0", "20240115,0",
	"2024-01-15 23:30:00-05", "2024-01-15T23:30:00.25+0530", "2024-01-15 23:30 UTC",
	"15.01.2024 08:15", "15.1.2024", "Jan 15, 24", "jan  5, 68",
	"2024-02-30", "29.02.2023 00:00", "15.01.2024 24:00", "yesterday", true, 1e300,
	"\u00a02024-01-15\u202f08:15", "0001-01-01", "1969-12-31 23:59:59", "9999-12-31",
}

// foldable are texts that include several spellings of the same value by the rules of a column.
var foldable = []string{
	"Grün Tee", "GRÜN \t TEE", "grün tee", "NEW  York", "New York", "new york ", "A b", "A  b",
	"A\tB", "a b", "A01", "A01.3", " a01", "B2", "B2 ", "B2 x", "B2\t9",
	"yes\u00a0", "New\u00a0York", "Gru\u0308n Tee", "GRU\u0308N\u2003TEE", "E\u0301", "a\u200b01",
	"Ж", "ж", "ΑΣΩ", "ασ", "É", "é", "None", "none", "NA", "na", "no", "Nope", "?", "", "A 07",
	"#3", "𝟏2345", "É  x", "İ", "×",
}

func ruleOf(c regression.Column) bool {
	return c.Values != nil || c.TextRule != regression.TextRule{}
}

// randomRecord returns a record of all inputs, with cells of the right or of a wrong type.
func randomRecord(r *rand.Rand, columns []regression.Column) map[string]any {
	out := map[string]any{}
	for _, c := range columns {
		source := c.Reading.Source
		if source != "" &&
			out[source] == nil &&
			r.IntN(2) == 0 {
			out[source] = dated[r.IntN(len(dated))]
		}
		switch {
		case c.Reading.Source != "" && r.IntN(3) > 0:
			if out[c.Reading.Source] == nil {
				out[c.Reading.Source] = dated[r.IntN(len(dated))]
			}
		case r.IntN(5) == 0:
			out[c.Name] = hostile[r.IntN(len(hostile))]
		case !c.Text():
			out[c.Name] = c.Lower + (c.Upper-c.Lower)*(r.Float64()*1.4-.2)
			if r.IntN(4) == 0 {
				out[c.Name] = strconv.FormatFloat(
					out[c.Name].(float64),
					'g', -1, 64,
				)
			}
		case ruleOf(c) && r.IntN(3) > 0:
			out[c.Name] = foldable[r.IntN(len(foldable))]
		case len(c.Categories) > 0 && !c.Reading.IsZero() && r.IntN(3) == 0:
			out[c.Name] = []any{"Zoe\u0308", "Zoë\u200b", "Ånk\u00a0A", "\u212bnk A", "\u1ec7",
				"e\u0302\u0323", "\u1100\u1161", "\u00a0red", "1.00", "t", "T", "true", "FALSE", 1,
				0, true, false, "None"}[r.IntN(18)]
		case len(c.Categories) > 0:
			out[c.Name] = strings.Repeat(" ", r.IntN(2)) + c.Categories[r.IntN(len(c.Categories))]
		default:
			out[c.Name] = float64(r.IntN(4))
		}
	}
	return out
}

// answer is the output of a model for a record: the number, or the index of a class, and probabilities, if any.
type answer struct {
	Prediction    any
	Probabilities []float64
}

func expectedAnswers(t *testing.T, m regression.Model, records []map[string]any) []answer {
	t.Helper()
	p, err := regression.Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	c, classes := m.(*regression.Classifier)
	out := make([]answer, len(records))
	for i, record := range records {
		y, err := p.PredictRecord(record)
		if err != nil {
			t.Fatal(err)
		}
		out[i].Prediction = y
		if classes {
			out[i].Prediction = c.Classes[int(y)]
			cells := make([]regression.Cell, 0, len(record))
			for _, input := range m.Inputs() {
				cells = append(cells, regression.CellOf(record[input.Name]))
			}
			out[i].Probabilities, _ = p.ClassProbabilitiesRow(cells) // nil for models without probabilities
		}
	}
	return out
}

func almostEqual(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*max(
		1, math.Abs(a),
		math.Abs(b),
	)
}

// compareAnswers reports the differences above 1e-9 between two lists of answers.
func compareAnswers(
	t *testing.T,
	name string,
	records []map[string]any,
	want, got []answer,
) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf(
			"%s: %d answers to %d records",
			name, len(got), len(want),
		)
	}
	bad := 0
	for i := range want {
		same := want[i].Prediction == got[i].Prediction
		if x, ok := want[i].Prediction.(float64); ok {
			y, number := got[i].Prediction.(float64)
			same = number && almostEqual(x, y)
		}
		if want[i].Probabilities != nil {
			same = same &&
				slices.EqualFunc(want[i].Probabilities, got[i].Probabilities, almostEqual)
		}
		if !same {
			if bad++; bad < 4 {
				t.Errorf(
					"%s: record %v: %+v, the model says %+v",
					name,
					records[i],
					got[i],
					want[i],
				)
			}
		}
	}
	if bad > 0 {
		t.Errorf(
			"%s: %d of %d records differ",
			name, bad, len(want),
		)
	}
}

// A runtime runs several programs in one process, each on records in a file of JSON lines. file returns the name of
// the program of model k, whose records are in the file records<k>; the process prints the answers of all programs in
// order.
type runtime struct {
	name    string
	file    func(k int) string
	write   func(io.Writer, regression.Model) error
	harness func(programs int) map[string]string
	command []string
}

var runtimes = []runtime{
	{
		"python3",
		func(k int) string {
			return fmt.Sprintf("model%d.py", k)
		},
		Python,
		func(programs int) map[string]string {
			return map[string]string{"run.py": fmt.Sprintf(`
import importlib, json
for k in range(%d):
    model = importlib.import_module("model%%d" %% k)
    for line in open("records%%d" %% k):
        r = json.loads(line)
        p = model.probabilities(r)
        print(json.dumps({"Prediction": model.predict(r), "Probabilities": p and list(p.values())}))
`, programs)}
		},
		[]string{"python3", "run.py"},
	},
	{
		"node",
		func(k int) string {
			return fmt.Sprintf("model%d.mjs", k)
		},
		JavaScript,
		func(programs int) map[string]string {
			return map[string]string{"run.mjs": fmt.Sprintf(`
import { readFileSync } from "node:fs";
for (let k = 0; k < %d; k++) {
  const { predict, probabilities } = await import("./model" + k + ".mjs");
  for (const line of readFileSync("records" + k, "utf8").trimEnd().split("\n")) {
    const r = JSON.parse(line);
    const p = probabilities(r);
    console.log(JSON.stringify({ Prediction: predict(r), Probabilities: p && Object.values(p) }));
  }
}
`, programs)}
		},
		[]string{"node", "run.mjs"},
	},
	{
		"go",
		func(k int) string {
			return fmt.Sprintf("model%d/model.go", k)
		},
		Go,
		goHarness,
		[]string{"go", "run", "."},
	},
}

func goHarness(programs int) map[string]string {
	var imports, calls strings.Builder
	for k := range programs {
		fmt.Fprintf(
			&imports,
			"\tmodel%d \"example.org/m/model%d\"\n",
			k, k,
		)
		fmt.Fprintf(
			&calls,
			"\trun(\"records%d\", model%d.Predict, model%d.Probabilities, model%d.Classes)\n",
			k,
			k,
			k,
			k,
		)
	}
	return map[string]string{"go.mod": "module example.org/m\n\ngo 1.21\n", "main.go": `package main

import (
	"bufio"
	"encoding/json"
	"os"

` + imports.String() + `)

func main() {
` + calls.String() + `}

func run(name string, predict func(map[string]any) (float64, error), probabilities func(map[string]any) ([]float64, error), classes []string) {
	in, err := os.Open(name)
	if err != nil {
		panic(err)
	}
	lines, out := bufio.NewScanner(in), json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var record map[string]any
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			panic(err)
		}
		y, err := predict(record)
		if err != nil {
			panic(err)
		}
		p, _ := probabilities(record)
		answer := map[string]any{"Prediction": y, "Probabilities": p}
		if classes != nil {
			answer["Prediction"] = classes[int(y)]
		}
		_ = out.Encode(answer)
	}
}
`}
}

// TestExportedProgramsAgreeWithModel checks that programs in every language agree with the model on many
// records, including hostile ones. Programs read cells themselves, and TestCells gives them each kind of cell, so each
// model has an eighth of the records of other runtimes, or a quarter with [testkit.FullEnv].
func TestExportedProgramsAgreeWithModel(t *testing.T) {
	for _, rt := range runtimes {
		t.Run(rt.name, func(t *testing.T) {
			t.Parallel()
			all := modelKinds(t)
			names := slices.Sorted(maps.Keys(all))
			var models []regression.Model
			var records [][]map[string]any
			for _, name := range names {
				m := all[name]
				r := rand.New(rand.NewPCG(1, uint64(len(name))))
				list := make([]map[string]any, *recordsPerKind/testkit.Size(8, 4))
				for i := range list {
					list[i] = randomRecord(r, m.Inputs())
				}
				models = append(models, m)
				records = append(records, list)
			}
			for k, got := range rt.runModels(t, models, records) {
				compareAnswers(
					t,
					rt.name+" "+names[k],
					records[k],
					expectedAnswers(t, models[k], records[k]),
					got,
				)
			}
		})
	}
}

// runModels returns the answers of models for their records.
func (rt *runtime) runModels(
	t *testing.T,
	models []regression.Model,
	records [][]map[string]any,
) [][]answer {
	t.Helper()
	if _, err := exec.LookPath(rt.command[0]); err != nil {
		t.Skip(err)
	}
	files := rt.harness(len(models))
	for k, m := range models {
		var program, lines bytes.Buffer
		if err := rt.write(&program, m); err != nil {
			t.Fatal(err)
		}
		for encoder, i := json.NewEncoder(&lines), 0; i < len(records[k]); i++ {
			if err := encoder.Encode(records[k][i]); err != nil {
				t.Fatal(err)
			}
		}
		files[rt.file(k)] = program.String()
		files[fmt.Sprintf("records%d", k)] = lines.String()
	}
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(path, []byte(text), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(context.Background(), rt.command[0], rt.command[1:]...) //nolint:gosec // ours
	cmd.Dir = dir
	var out, stderr bytes.Buffer
	cmd.Stdout = &out
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf(
			"%v\n%s",
			err, stderr.String(),
		)
	}
	answers := make([][]answer, len(models))
	dec := json.NewDecoder(&out)
	for k := range models {
		for range records[k] {
			var a answer
			if err := dec.Decode(&a); err != nil {
				t.Fatal(err)
			}
			answers[k] = append(answers[k], a)
		}
	}
	if dec.More() {
		t.Fatal("more answers than records")
	}
	return answers
}

// recordsPerKind is the number of records on which a runtime is compared with a model of each kind. With 400, a column
// has each of the unusual cells that its runtime takes at least five times, and each of the few values of a category.
// scripts/long.sh exports has 10,000.
var recordsPerKind = flag.Int(
	"records",
	400,
	"how many records a runtime predicts for each kind of model",
)

// TestONNX checks that onnxruntime agrees with the model on thousands of records, including hostile ones: missing, infinite
// and out-of-range numbers, and texts that are not categories.
func TestONNX(t *testing.T) {
	runFiles(t, "onnx", ONNX, onnxHarness, typedCell)
}

// runFiles writes models to files of a form, runs them on records of each kind in a Python harness, and compares. A form may not support kernels. cellOf returns a cell and the corresponding input of the runtime.
func runFiles(t *testing.T, form string, write func(io.Writer, regression.Model) error, harness string,
	cellOf func(*rand.Rand, regression.Column) (cell, given any)) {
	t.Helper()
	models := modelKinds(t)
	dir := t.TempDir()
	inputs := map[string]any{}
	all := map[string][]map[string]any{}
	for name, m := range models {
		var file bytes.Buffer
		err := write(&file, m)
		if errors.Is(err, ErrKind) &&
			(m.Kind() == "kernel" || slices.ContainsFunc(m.Inputs(), ruleOf)) {
			delete(models, name)
			continue
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		err = os.WriteFile(
			filepath.Join(dir, name+"."+form),
			file.Bytes(), 0o600,
		)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(3, uint64(len(name))))
		columns := map[string][]any{}
		for range *recordsPerKind {
			record := map[string]any{}
			for _, c := range m.Inputs() {
				x, cell := cellOf(r, c)
				record[c.Name] = x
				columns[c.Name] = append(columns[c.Name], cell)
			}
			all[name] = append(all[name], record)
		}
		inputs[name] = columns
	}
	text, err := json.Marshal(inputs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(
		context.Background(),
		pythonInterpreter(t),
		"-c",
		harness,
		dir,
	) //nolint:gosec // ours
	cmd.Stdin = bytes.NewReader(text)
	// A Java that runs for seconds takes half the processor time with the simpler compiler and collector.
	cmd.Env = append([]string{"JAVA_TOOL_OPTIONS=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}, os.Environ()...)
	out := harnessOutput(t, cmd)
	var got map[string][]answer
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for name, m := range models {
		compareAnswers(
			t,
			form+" "+name,
			all[name],
			expectedAnswers(t, m, all[name]),
			got[name],
		)
	}
}

const onnxHarness = `
import json, sys
try:
    import numpy as np
    import onnxruntime
except ImportError as e:
    sys.exit("No module named: %s" % e)
answers = {}
for name, columns in json.load(sys.stdin).items():
    session = onnxruntime.InferenceSession("%s/%s.onnx" % (sys.argv[1], name))
    feed = {}
    for i in session.get_inputs():
        kind = object if i.type == "tensor(string)" else np.float64
        feed[i.name] = np.array([x if kind is object else float(x) for x in columns[i.name]], dtype=kind).reshape(-1, 1)
    out = dict(zip([o.name.rstrip("_") for o in session.get_outputs()], session.run(None, feed)))
    main = out["class"] if "class" in out else out["prediction"].ravel()
    p = out["probabilities"].tolist() if "probabilities" in out else [None] * len(main)
    answers[name] = [{"Prediction": a, "Probabilities": b} for a, b in zip(main.tolist(), p)]
json.dump(answers, sys.stdout)
`

// typedCell returns a cell and the corresponding input of a typed runtime: a number, a number written as a text, or a
// text.
func typedCell(r *rand.Rand, c regression.Column) (cell, given any) {
	if c.Text() {
		text := []string{"unknown", "", "it's", "2"}[r.IntN(4)]
		if len(c.Categories) > 0 && r.IntN(3) > 0 {
			text = normalName(c.Categories[r.IntN(len(c.Categories))])
		}
		if ruleOf(c) && r.IntN(3) > 0 {
			text = foldable[r.IntN(len(foldable))]
		}
		return text, text
	}
	if r.IntN(5) == 0 {
		text := []string{
			"nan", "inf", "-inf",
			"1e300", "-1e300", "5e-324",
			"0",
		}[r.IntN(7)]
		x, _ := strconv.ParseFloat(text, 64)
		return x, text
	}
	x := c.Lower + (c.Upper-c.Lower)*(r.Float64()*1.4-.2)
	return x, x
}

// pythonInterpreter returns the interpreter with the runtimes of the tests: DPTRAIN_PYTHON, or python3.
func pythonInterpreter(t *testing.T) string {
	t.Helper()
	if name := os.Getenv("DPTRAIN_PYTHON"); name != "" {
		return name
	}
	name, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	return name
}

// harnessOutput returns the output of a harness, and skips the test if its runtime is not installed.
func harnessOutput(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if strings.Contains(stderr.String(), "No module named") &&
		os.Getenv("DPTRAIN_PYTHON") == "" {
		t.Skip(strings.TrimSpace(stderr.String()))
	}
	if err != nil {
		t.Fatalf(
			"%v\n%.2000s",
			err, stderr.String(),
		)
	}
	return out
}

// A database runs SQL and returns the rows of all its queries, in order.
type database struct {
	dialect string
	special map[string]string // literals of numbers that are not finite
	copies  bool              // fills tables from CSV files, which is faster than parsing rows
	run     func(t *testing.T, sql string) [][]string
}

func sqlCommand(name string, args ...string) func(t *testing.T, sql string) [][]string {
	return func(t *testing.T, sql string) [][]string {
		t.Helper()
		name := name
		if name == "python3" {
			name = pythonInterpreter(t)
		}
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
		cmd := exec.CommandContext(context.Background(), name, args...)
		cmd.Stdin = strings.NewReader(sql)
		reader := csv.NewReader(bytes.NewReader(harnessOutput(t, cmd)))
		reader.FieldsPerRecord = -1
		rows, err := reader.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
}

var databases = []database{
	{
		"sqlite",
		map[string]string{"inf": "9e999", "-inf": "-9e999"},
		false,
		sqlCommand("sqlite3", "-csv", "-batch", ":memory:"),
	},
	{
		"duckdb",
		map[string]string{
			"inf":  "'inf'::DOUBLE",
			"-inf": "'-inf'::DOUBLE",
			"nan":  "'nan'::DOUBLE",
		},
		true,
		sqlCommand("python3", "-c", `
import csv, sys
try:
    import duckdb
except ImportError as e:
    sys.exit("No module named: %s" % e)
c = duckdb.connect()
w = csv.writer(sys.stdout)
for s in sys.stdin.read().split(";\n"):
    if not s.strip(): continue
    result = c.execute(s)
    if s.strip().split()[0] not in ("SELECT", "--"): continue
    for row in result.fetchall():
        w.writerow([repr(x) if isinstance(x, float) else x for x in row])
`),
	},
	{
		"postgres",
		map[string]string{
			"inf":  "'Infinity'",
			"-inf": "'-Infinity'",
			"nan":  "'NaN'",
		},
		false,
		func(t *testing.T, sql string) [][]string {
			t.Helper()
			dsn := os.Getenv("DPTRAIN_POSTGRES")
			if dsn == "" {
				t.Skip("DPTRAIN_POSTGRES does not say where a server is")
			}
			return sqlCommand(
				"psql", "-q", "-X",
				"-v", "ON_ERROR_STOP=1",
				"--csv", "-t", dsn,
			)(
				t,
				"SET client_min_messages = error;\nSET extra_float_digits = 3;\n"+sql,
			)
		},
	},
}

// TestSQL checks that databases agree with the model on thousands of records, including missing and infinite cells and
// unknown categories.
func TestSQL(t *testing.T) {
	for _, db := range databases {
		t.Run(db.dialect, func(t *testing.T) {
			t.Parallel()
			models := modelKinds(t)
			groups := map[string][]string{} // names of models that have the same inputs and share a table
			for _, name := range slices.Sorted(maps.Keys(models)) {
				inputs := fmt.Sprintf("%+v", models[name].Inputs())
				groups[inputs] = append(groups[inputs], name)
			}
			for _, names := range groups {
				db.checkModels(t, models, names)
			}
		})
	}
}

// checkModels compares the answers of queries for models with the same inputs.
func (db *database) checkModels(
	t *testing.T,
	models map[string]regression.Model,
	names []string,
) {
	t.Helper()
	inputs := models[names[0]].Inputs()
	records, sql := db.randomTable(t, inputs)
	var asked []string
	for _, name := range names {
		var query bytes.Buffer
		err := SQL(&query, models[name], db.dialect, `the "rows"`)
		if errors.Is(err, ErrKind) &&
			(strings.HasPrefix(name, "model-2-kernel") ||
				strings.HasPrefix(name, "hashed")) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		sql += strings.TrimSuffix(
			strings.TrimSpace(query.String()),
			";",
		) + ` ORDER BY "dp row"` +
			";\n"
		asked = append(asked, name)
	}
	if asked == nil {
		return
	}
	rows := db.run(t, sql)
	if len(rows) != len(asked)*len(records) {
		t.Fatalf(
			"%s %v: %d rows of %d records",
			db.dialect, asked, len(rows),
			len(records),
		)
	}
	for k, name := range asked {
		want := expectedAnswers(t, models[name], records)
		for i := range want {
			if len(want[i].Probabilities) > 2 {
				want[i].Probabilities = nil // queries have only the probability of the second of two classes
			}
		}
		got := make([]answer, len(records))
		for i, row := range rows[k*len(records) : (k+1)*len(records)] {
			_, number := want[i].Prediction.(float64)
			got[i] = parseAnswer(t, row[1+len(inputs):], number)
		}
		compareAnswers(t, db.dialect+" "+name, records, want, got)
	}
}

// parseAnswer returns the answer in the columns that a query adds to a table.
func parseAnswer(t *testing.T, cells []string, number bool) answer {
	t.Helper()
	parse := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	a := answer{Prediction: any(cells[0])}
	if number {
		a.Prediction = parse(cells[0])
	}
	if len(cells) > 1 {
		p := parse(cells[1])
		a.Probabilities = []float64{1 - p, p}
	}
	return a
}

// randomTable returns records and the SQL statements that create a table from the records.
func (db *database) randomTable(
	t *testing.T, inputs []regression.Column,
) (records []map[string]any, sql string) {
	t.Helper()
	table := quoteIdentifier(`the "rows"`)
	columns := []string{`"dp row" INTEGER`}
	for _, c := range inputs {
		kind := "DOUBLE PRECISION"
		if c.Text() {
			kind = "TEXT"
		}
		columns = append(columns, quoteIdentifier(c.Name)+" "+kind)
	}
	sql = fmt.Sprintf(
		"DROP TABLE IF EXISTS %s;\nCREATE TABLE %s (%s);\n",
		table,
		table,
		strings.Join(columns, ", "),
	)
	r := rand.New(rand.NewPCG(7, uint64(len(inputs))))
	var lists, lines []string
	for i := range *recordsPerKind {
		record := map[string]any{}
		literals := []string{strconv.Itoa(i)}
		cells := []string{strconv.Itoa(i)}
		for _, c := range inputs {
			x, text, null := db.randomCell(r, c)
			record[c.Name] = x
			literals = append(literals, db.sqlLiteral(c, text, null))
			cells = append(cells, quoteCSV(text, null))
		}
		records = append(records, record)
		lists = append(lists, "("+strings.Join(literals, ", ")+")")
		lines = append(lines, strings.Join(cells, ","))
	}
	if !db.copies {
		return records,
			sql + fmt.Sprintf(
				"INSERT INTO %s VALUES\n%s;\n",
				table,
				strings.Join(lists, ",\n"),
			)
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	err := os.WriteFile(
		path,
		[]byte(strings.Join(lines, "\n")+"\n"),
		0o600,
	)
	if err != nil {
		t.Fatal(err)
	}
	return records,
		sql + fmt.Sprintf(
			"COPY %s FROM %s (FORMAT csv, HEADER false, DELIMITER ',', QUOTE '\"', ESCAPE '\"', NULLSTR '%s', AUTO_DETECT false);\n",
			table,
			quoteLiteral(path),
			nullMark,
		)
}

// nullMark is NULL in a CSV file.
const nullMark = `\N`

func quoteCSV(text string, null bool) string {
	if null {
		return nullMark
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// sqlLiteral returns a cell of a column as an SQL literal.
func (db *database) sqlLiteral(c regression.Column, text string, null bool) string {
	switch {
	case null:
		return "NULL"
	case c.Text():
		return quoteLiteral(text)
	case db.special[text] != "":
		return db.special[text]
	}
	return text
}

// randomCell returns a cell, and its text or NULL.
func (db *database) randomCell(
	r *rand.Rand,
	c regression.Column,
) (cell any, text string, null bool) {
	if r.IntN(6) == 0 {
		return nil, "", true
	}
	if c.Text() {
		text := []string{"unknown", "", "it's", "\t x"}[r.IntN(4)]
		if len(c.Categories) > 0 && r.IntN(3) > 0 {
			text = c.Categories[r.IntN(len(c.Categories))] + strings.Repeat(" ", r.IntN(2))
		}
		return text, text, false
	}
	if r.IntN(8) == 0 {
		names := slices.Sorted(maps.Keys(db.special))
		name := names[r.IntN(len(names))]
		x, _ := strconv.ParseFloat(name, 64)
		return x, name, false
	}
	x := c.Lower + (c.Upper-c.Lower)*(r.Float64()*1.4-.2)
	return x, strconv.FormatFloat(x, 'e', -1, 64), false
}

func TestExportRefuses(t *testing.T) {
	data, err := os.ReadFile("../../regression/testdata/model-2-neighbours.json")
	if err != nil {
		t.Fatal(err)
	}
	neighbours, err := regression.DecodeModel(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(io.Writer, regression.Model) error{
		"python": Python,
		"js":     JavaScript,
		"go":     Go,
		"onnx":   ONNX,
		"pmml":   PMML,
		"sql": func(w io.Writer, m regression.Model) error {
			return SQL(w, m, "duckdb", "x")
		},
	} {
		var out bytes.Buffer
		err := write(&out, neighbours)
		if !errors.Is(err, ErrKind) || out.Len() > 0 {
			t.Errorf(
				"%s: %v, and %d bytes",
				name, err, out.Len(),
			)
		}
	}
	err = PMML(io.Discard, modelKinds(t)["model-2-kernel"])
	if !errors.Is(err, ErrKind) ||
		!strings.Contains(err.Error(), "too large") {
		t.Errorf("kernels in PMML: %v", err)
	}
	control := *modelKinds(t)["model-2"].(*regression.Linear)
	control.Target = "a\x01"
	if err := PMML(io.Discard, &control); !errors.Is(err, ErrKind) {
		t.Errorf("a character that XML has not: %v", err)
	}
	err = SQL(
		io.Discard,
		modelKinds(t)["model-2"],
		"oracle", "x",
	)
	if err == nil ||
		!strings.Contains(err.Error(), "duckdb, postgres, sqlite") {
		t.Errorf("an unknown dialect: %v", err)
	}
}
