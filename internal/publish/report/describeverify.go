package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/describe"
)

// VerifyDescription is [Verify] for the release of a description. Beside the steps, the guarantee and the ledger it plans the description
// anew from what was stated about the columns, and computes the estimates and the page anew from the released numbers.
func VerifyDescription(ctx context.Context, dir string, o VerifyOptions) (*Verification, error) {
	raw, err := readLimited(filepath.Join(dir, descriptionFile), MaxBytes)
	if err != nil {
		return nil, err
	}
	d, err := DecodeDescription(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	v := &verifier{dir: dir, raw: raw, out: &Verification{}, report: d.asReport()}
	v.signature(descriptionFile, o.Key)
	var again strings.Builder
	if err := EncodeDescription(&again, d); err != nil || again.String() != string(raw) {
		v.add(descriptionFile, "", []string{"the file is not as dptrain wrote it: its checksum does not fit"})
	} else {
		v.add(descriptionFile, "the file is as it was written, by its checksum", nil)
	}
	v.descriptionFiles(d)
	v.steps()
	v.threshold()
	v.guarantee()
	v.descriptionPlan(d)
	v.add("estimates", "every estimate and every interval follows from the released numbers", d.estimateProblems())
	v.add("noise", "the noise of the released numbers is that of their steps", d.noiseProblems())
	v.release = d.Checksum
	return v.out, v.ledger(ctx, o)
}

// descriptionFiles compares the page with its hash and with what it would be if it were made now.
func (v *verifier) descriptionFiles(d *Description) {
	entries, err := os.ReadDir(v.dir)
	for _, e := range entries {
		if !slices.Contains([]string{descriptionFile, pageFile}, e.Name()) && !isSignature(e.Name()) {
			v.add("folder", "", []string{shown(e.Name()) + " is no file of a description"})
		}
	}
	if err != nil {
		v.skip("folder", "it cannot be listed, so other files in it were not looked for")
	}
	data, err := readLimited(filepath.Join(v.dir, pageFile), maxPageBytes)
	switch {
	case err != nil:
		v.add(pageFile, "", []string{"the file cannot be read: " + reasonOf(err)})
		return
	case hashOf(data) != d.Files.Page:
		v.add(pageFile, "", []string{"it is another file than the description names: its SHA-256 is " + hashOf(data)})
		return
	}
	v.add(pageFile, "it is the file that the description names, by its SHA-256", nil)
	// The page was made before its own hash and the checksum were known, and shows neither.
	var page bytes.Buffer
	if err := d.HTML(&page); err != nil || !bytes.Equal(page.Bytes(), data) {
		v.skip("page", "it is not the page that this version of dptrain makes of the description; another version may have written it")
		return
	}
	v.add("page", "it says what the description says, byte for byte", nil)
}

// study returns the study that a description is of, as far as its price depends on it.
func (d *Description) study() (describe.Study, error) {
	target, err := targetOf(d.Guarantee)
	s := describe.Study{Budget: target, Schema: dataset.Schema{Unit: target.Unit.Column}}
	for _, c := range d.Released.Columns {
		x := dataset.Column{Name: c.Name}
		switch {
		case c.Undeclared:
			x.Found = true
		case c.Kind == describe.Category && c.Source == describe.Declared:
			x.Kind, x.Categories = dataset.Category, c.Categories
		case c.Text:
			x.Kind, x.Found = dataset.Category, true
		case c.Kind == describe.Numeric && c.Source == describe.Declared:
			x.Ranged, x.Lower, x.Upper = true, c.Lower, c.Upper
		}
		s.Schema.Columns = append(s.Schema.Columns, x)
	}
	s.By = d.Released.By
	return s, err
}

// descriptionPlan compares the steps with those of a plan that is made anew.
func (v *verifier) descriptionPlan(d *Description) {
	const name = "plan"
	study, err := d.study()
	if err != nil {
		return // guarantee said so
	}
	plan, err := study.Plan()
	if err != nil {
		v.add(name, "", []string{"the description has no price: " + err.Error()})
		return
	}
	out := v.leafProblems(plan.Priced)
	var stated []string
	for _, f := range d.Unprotected {
		if f.Name == "columns" {
			stated = sortedNames(f.Value)
		}
	}
	names := study.Schema.Names()
	slices.Sort(names)
	if !slices.Equal(stated, names) {
		out = append(out, "unprotected does not list the described columns")
	}
	v.add(name, "a description of these columns has these steps, law by law, and this guarantee; no table was read", out)
}

// estimateProblems computes the estimates anew.
func (d *Description) estimateProblems() []string {
	again := *d
	again.setCard(describe.Read(d.Released))
	var out []string
	for _, x := range []struct {
		name      string
		have, now any
	}{{"records", d.Records, again.Records}, {"columns", d.Columns, again.Columns}, {"correlations", d.Correlations, again.Correlations}, {"by", d.By, again.By}} {
		if !nearJSON(x.have, x.now) {
			out = append(out, x.name+" does not follow from the released numbers")
		}
	}
	return out
}

// noiseProblems compares the noise of the released numbers with that of their steps.
func (d *Description) noiseProblems() []string {
	scale := func(stage string) float64 {
		for _, e := range d.Events {
			if placeOf(e.ID).Stage == stage && e.Released > 0 {
				return e.Scale
			}
		}
		return 0
	}
	var out []string
	check := func(what string, have, want float64) {
		if !(math.Abs(have-want) <= computedTolerance*math.Max(math.Abs(have), math.Abs(want))) {
			out = append(out, fmt.Sprintf("the noise of %s is %s, and that of its step %s", what, number(have), number(want)))
		}
	}
	r := d.Released
	check("the histogram", r.HistogramNoise, scale("histogram"))
	check("the moments", r.MomentNoise, scale("moments"))
	check("the matrix", r.MatrixNoise, scale("matrix"))
	records := r.MomentNoise
	if d.Guarantee.Relation != budget.AddRemove.String() {
		records = 0
	}
	check("the number of records", r.RecordNoise, records)
	if g := r.Groups; g != nil {
		relation, err := budget.ParseRelation(d.Guarantee.Relation)
		if err != nil {
			return out
		}
		counts, sums := mechanism.NewMaker(relation).NewGroupSums(1, make([]bool, max(len(g.Counted), 1))).Noise(scale("groups"))
		check("a count of a group", g.CountNoise, counts)
		check("a sum of a group", g.SumNoise, sums)
	} else if scale("groups") != 0 {
		out = append(out, "groups were released, and are not there")
	}
	return out
}

// nearJSON reports whether two values have the same JSON, but for numbers that differ in the last digits, as two processors compute them.
func nearJSON(a, b any) bool {
	var x, y any
	for _, v := range []struct{ from, to any }{{a, &x}, {b, &y}} {
		data, err := json.Marshal(v.from)
		if err != nil || json.Unmarshal(data, v.to) != nil {
			return false
		}
	}
	return nearValues(x, y)
}

// nearValues is [nearJSON] for decoded values.
func nearValues(a, b any) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && math.Abs(x-y) <= 1e-6*math.Max(1, math.Max(math.Abs(x), math.Abs(y)))
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, nearValues)
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && maps.EqualFunc(x, y, nearValues)
	}
	return a == b
}
