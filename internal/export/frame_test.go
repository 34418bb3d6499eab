package export

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/regression"
)

// frameHarness predicts with the estimators of the Python package. Its arguments are the folder of the package and a
// folder with one folder per table, which holds a model and records. Every table is passed as a data frame of objects
// and as one with float64 columns if all cells of the column are numbers or missing; if this holds for all columns,
// also as arrays in both memory orders.
const frameHarness = `
import json, os, sys
sys.path.insert(0, sys.argv[1])
try:
    import numpy, pandas
    from dptrain import load
except ImportError as e:
    sys.exit("No module named: %s" % e)
for name in sorted(os.listdir(sys.argv[2])):
    folder = os.path.join(sys.argv[2], name)
    os.environ["DPTRAIN"] = sys.argv[3]
    model = load(os.path.join(folder, "release"))
    records = [json.loads(line) for line in open(os.path.join(folder, "records"), encoding="utf-8")]
    names = list(records[0])
    frame = pandas.DataFrame({k: pandas.Series([r[k] for r in records], dtype=object) for k in names})
    numbers = [k for k in names if all(type(r[k]) in (int, float, type(None)) for r in records)]
    typed = frame.astype({k: numpy.float64 for k in numbers})
    frames = [frame, typed]
    if numbers == names:
        inputs = typed[list(model.feature_names_in_)].to_numpy()
        frames += [numpy.asfortranarray(inputs), numpy.ascontiguousarray(inputs)]
    model.predict(frame[:1])  # the program is not needed from here on
    os.environ["DPTRAIN"] = os.path.join(folder, "absent")
    answers = []
    for frame in frames:
        predictions = model.predict(frame).tolist()
        rows = model.predict_proba(frame).tolist() if hasattr(model, "predict_proba") else [None] * len(frame)
        answers.append([{"Prediction": p, "Probabilities": r} for p, r in zip(predictions, rows)])
    print(json.dumps(answers))
`

// TestPythonPackage checks that the estimators of the Python package predict in process, without the program, and
// agree with the model for every kind of model and cell. A table has the dates of a model or their parts, and hostile
// cells or numbers alone.
func TestPythonPackage(t *testing.T) {
	folder, err := filepath.Abs("../../python")
	if err != nil {
		t.Fatal(err)
	}
	type table struct {
		name    string
		model   regression.Model
		records []map[string]any
	}
	var tables []table
	all := modelKinds(t)
	all["numbers"] = &regression.Linear{
		Target:    "y",
		Lower:     -300,
		Upper:     300,
		Intercept: 2,
		Columns: []regression.Column{
			{
				Name:  "a",
				Lower: -1,
				Upper: 1,
			},
			{
				Name:    "b",
				Lower:   0,
				Upper:   100,
				Missing: 40,
			},
			{
				Name:    "c",
				Lower:   5,
				Upper:   6,
				Missing: 5.5,
			},
		},
		Terms: []regression.Term{
			{Coefficient: 3},
			{Column: 1, Coefficient: -1.25},
			{Column: 1, Missing: true, Coefficient: 7},
			{Column: 2, Coefficient: .1},
		},
	}
	for i, name := range slices.Sorted(maps.Keys(all)) {
		m := all[name]
		r := rand.New(rand.NewPCG(2, uint64(i)))
		for _, form := range []string{"parts", "dates", "numbers"} {
			if form == "dates" &&
				!slices.ContainsFunc(m.Inputs(), func(c regression.Column) bool {
					return c.Reading.Source != ""
				}) {
				continue
			}
			// By default a model has one of these forms, in turn.
			if !testkit.Full() && name != "numbers" && form == [2]string{"parts", "numbers"}[i%2] {
				continue
			}
			records := make([]map[string]any, 200)
			if name == "numbers" {
				records = make([]map[string]any, 9000) // several blocks of an array
			}
			for k := range records {
				records[k] = frameRecord(r, m.Inputs(), form)
			}
			tables = append(tables, table{name + "-" + form, m, records})
		}
	}
	dir := t.TempDir()
	for k, table := range tables {
		release := filepath.Join(dir, fmt.Sprintf("%03d", k), "release")
		if err := os.MkdirAll(release, 0o700); err != nil {
			t.Fatal(err)
		}
		var model, lines bytes.Buffer
		if err := regression.EncodeModel(&model, table.model); err != nil {
			t.Fatal(err)
		}
		encoder := json.NewEncoder(&lines)
		for _, record := range table.records {
			if err := encoder.Encode(record); err != nil {
				t.Fatal(err)
			}
		}
		for path, content := range map[string][]byte{
			filepath.Join(release, "model.json"):    model.Bytes(),
			filepath.Join(release, "..", "records"): lines.Bytes(),
		} {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := exec.CommandContext(
		context.Background(),
		pythonInterpreter(t),
		"-c",
		frameHarness,
		folder,
		dir,
		builtProgram(t),
	) //nolint:gosec // ours
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	decoder := json.NewDecoder(bytes.NewReader(harnessOutput(t, cmd)))
	arrays := 0
	for _, table := range tables {
		var answers [][]answer
		if err := decoder.Decode(&answers); err != nil {
			t.Fatal(err)
		}
		want := expectedAnswers(t, table.model, table.records)
		for _, got := range answers {
			compareAnswers(t, table.name, table.records, want, got)
		}
		arrays += len(answers) - 2
	}
	if arrays < 2 {
		t.Error("no table was passed as an array")
	}
}

// frameRecord returns a record with the same columns for all records of a form: for "dates" with dates instead of
// their parts, for "numbers" with only numeric and missing cells in numeric columns.
func frameRecord(r *rand.Rand, columns []regression.Column, form string) map[string]any {
	found := randomRecord(r, columns)
	out := map[string]any{}
	for _, c := range columns {
		source := c.Reading.Source
		switch {
		case form == "dates" && source != "":
			if _, ok := out[source]; !ok {
				out[source] = dated[r.IntN(len(dated))]
			}
		case form == "numbers" && !c.Text():
			out[c.Name] = c.Lower + (c.Upper-c.Lower)*(r.Float64()*1.4-.2)
			if r.IntN(8) == 0 {
				out[c.Name] = nil
			}
		case found[c.Name] == nil && source != "":
			out[c.Name] = hostile[r.IntN(len(hostile))]
		default:
			out[c.Name] = found[c.Name]
		}
		if text, ok := out[c.Name].(string); ok {
			out[c.Name] = strings.ReplaceAll(text, "\x00", "")
		}
	}
	return out
}
