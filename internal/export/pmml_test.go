package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dptrain/dptrain/regression"
)

// TestPMML: documents are valid by the schema of PMML 4.4, and the reference implementation of PMML agrees with the
// model on 10,000 records of each kind, hostile ones among them: cells that are missing, no number, infinite and out of range, and texts
// that are no category or have blanks around them.
func TestPMML(t *testing.T) {
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip(err)
	}
	models := kinds(t)
	dir := t.TempDir()
	inputs, all := map[string]any{}, map[string][]map[string]any{}
	for name, m := range models {
		var file bytes.Buffer
		if err := PMML(&file, m); errors.Is(err, ErrKind) && name == "model-2-kernel" {
			delete(models, name)
			continue
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".pmml"), file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(5, uint64(len(name))))
		columns := map[string][]any{}
		for range 10000 {
			record := map[string]any{}
			for _, c := range m.Inputs() {
				x, cell := pmmlCell(r, c)
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
	cmd := exec.CommandContext(context.Background(), python(t), "-c", pmmlHarness, dir) //nolint:gosec // ours
	cmd.Stdin = bytes.NewReader(text)
	var got map[string][]answer
	if err := json.Unmarshal(printed(t, cmd), &got); err != nil {
		t.Fatal(err)
	}
	for name, m := range models {
		compare(t, "PMML "+name, all[name], expected(t, m, all[name]), got[name])
	}
}

// pmmlCell returns a cell and what a runtime of PMML is given for it. Numbers that JSON has not are texts in a list.
func pmmlCell(r *rand.Rand, c regression.Column) (cell, given any) {
	switch x, given := typed(r, c); {
	case r.IntN(8) == 0:
		return nil, nil
	case c.Type == regression.Category:
		return x, given.(string) + []string{"", " "}[r.IntN(2)]
	case r.IntN(20) == 0:
		return "abc", "abc"
	default:
		if text, ok := given.(string); ok {
			return x, []string{text}
		}
		return x, given
	}
}

const pmmlHarness = `
import json, sys
try:
    import jpype, pandas
    from jpmml_evaluator import _classpath, make_evaluator
    from jpmml_evaluator.jpype import JPypeBackend
except ImportError as e:
    sys.exit("No module named: %s" % e)
backend = JPypeBackend()
from java.io import File
from javax.xml import XMLConstants
from javax.xml.transform.stream import StreamSource
from javax.xml.validation import SchemaFactory
xsd = jpype.JClass("org.dmg.pmml.PMML").class_.getResource("/pmml.xsd")
schema = SchemaFactory.newInstance(XMLConstants.W3C_XML_SCHEMA_NS_URI).newSchema(xsd)
answers = {}
for name, columns in json.load(sys.stdin).items():
    path = "%s/%s.pmml" % (sys.argv[1], name)
    schema.newValidator().validate(StreamSource(File(path)))
    evaluator = make_evaluator(path, backend=backend).verify()
    number = lambda x: float(x[0]) if isinstance(x, list) else x
    frame = pandas.DataFrame({k: pandas.Series([number(x) for x in v], dtype=object) for k, v in columns.items()})
    out = evaluator.evaluateAll(frame, nan_as_missing=False)
    if "errors" in out: sys.exit("%s: %s" % (name, out["errors"].dropna().unique()[:5]))
    names = [f.getName() for f in evaluator.getOutputFields()]
    main = [n for n in names if n.rstrip("_") in ("class", "prediction")][0]
    p = [n for n in names if n.startswith("probability(")]
    answers[name] = [{"Prediction": r[main], "Probabilities": [r[n] for n in p] or None} for r in out.to_dict("records")]
json.dump(answers, sys.stdout)
`
