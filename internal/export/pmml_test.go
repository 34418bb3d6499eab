package export

import (
	"math/rand/v2"
	"os/exec"
	"testing"

	"github.com/dptrain/dptrain/regression"
)

// TestPMML checks that documents are valid by the schema of PMML 4.4, and that the reference implementation of PMML
// agrees with the model on thousands of records of each kind, including hostile ones: cells that are missing, not numeric,
// infinite or out of range, and texts that are not categories or have blanks around them.
func TestPMML(t *testing.T) {
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip(err)
	}
	runFiles(t, "pmml", PMML, pmmlHarness, pmmlCell)
}

// pmmlCell returns a cell and the corresponding input of a PMML runtime. Numbers without a JSON form are texts in a
// list.
func pmmlCell(r *rand.Rand, c regression.Column) (cell, given any) {
	switch x, given := typedCell(r, c); {
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
