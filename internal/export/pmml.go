package export

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/regression"
)

// PMML writes a document of PMML 4.4 in double precision, a table of a regression or a tree of classes, over fields
// that are derived as [regression.Model] treats cells and adds up. Its inputs are the columns: doubles, missing, NaN or
// infinite if a number is missing, or texts. Its outputs are prediction, or of a classifier class and, if the model has
// them, a probability for each class. An output that is named as an input has an underscore more. The error wraps [ErrKind]
// for kernels, for which a document would be too large, for a column without a name, and for a text that XML cannot hold.
func PMML(w io.Writer, m regression.Model) error {
	if err := m.Validate(); err != nil {
		return err
	}
	if err := exactTexts(m, "PMML"); err != nil {
		return err
	}
	p := pmmlModel{used: map[string]bool{}, treated: map[string]string{}}
	dictionary := newTag("DataDictionary")
	schema := newTag("MiningSchema")
	for _, c := range m.Inputs() {
		if c.Name == "" {
			return fmt.Errorf("a model with a column that has no name %w to PMML", ErrKind)
		}
		p.used[c.Name] = true
		optype := pmmlNumber
		kind := "double"
		if c.Type == regression.Category {
			optype = pmmlText
			kind = "string"
		}
		dictionary.add(newTag("DataField", "name", c.Name, "optype", optype, "dataType", kind))
		schema.add(newTag("MiningField", "name", c.Name, "invalidValueTreatment", "asMissing"))
	}
	p.output = newTag("Output")
	p.target = p.free(m.Output().Target)
	field, model, err := p.predictor(m)
	if err != nil {
		return err
	}
	model.inside = append([]*tag{
		schema.add(newTag("MiningField", "name", p.target, "usageType", "target")), p.output, p.targets, newTag("LocalTransformations").add(p.fields...),
	}, model.inside...)
	model.inside = slices.DeleteFunc(model.inside, func(t *tag) bool { return t == nil || t == p.output && len(t.inside) == 0 })
	return writeXML(w, newTag("PMML", "xmlns", "http://www.dmg.org/PMML-4_4", "version", "4.4").add(
		newTag("Header", "description", "A model that dptrain trained for "+m.Output().Target).add(newTag("Application", "name", "dptrain")),
		dictionary.add(field), model))
}

// What a field holds.
const (
	pmmlNumber = "continuous"
	pmmlText   = "categorical"
)

// A pmmlModel is a document under construction.
type pmmlModel struct {
	used            map[string]bool   // names of fields
	treated         map[string]string // fields of treated cells, by their properties
	fields          []*tag            // derived fields
	output, targets *tag
	target          string
}

// A pmmlSum is a linear sum of fields.
type pmmlSum struct {
	intercept float64
	terms     []pmmlTerm
}

type pmmlTerm struct {
	coefficient float64
	field       string
}

// free returns a name that no field has yet.
func (p *pmmlModel) free(name string) string {
	for p.used[name] || name == "" {
		name += "_"
	}
	p.used[name] = true
	return name
}

// derive adds a field and returns its name, with a number if there is one of that name.
func (p *pmmlModel) derive(name, optype string, expression *tag) string {
	for base, n := name, 2; p.used[name]; n++ {
		name = fmt.Sprint(base, " ", n)
	}
	p.used[name] = true
	kind := "double"
	if optype == pmmlText {
		kind = "string"
	}
	p.fields = append(p.fields, newTag("DerivedField", "name", name, "optype", optype, "dataType", kind).add(expression))
	return name
}

// number is a field of numbers.
func (p *pmmlModel) number(name string, expression *tag) string {
	return p.derive(name, pmmlNumber, expression)
}

func ref(field string) *tag { return newTag("FieldRef", "field", field) }

func constant(x float64) *tag {
	t := newTag("Constant", "dataType", "double")
	t.text = digits(x)
	return t
}

func digits(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func apply(function string, arguments ...*tag) *tag {
	return newTag("Apply", "function", function).add(arguments...)
}

func between(x *tag, lower, upper float64) *tag {
	return apply("min", apply("max", x, constant(lower)), constant(upper))
}

func (s *pmmlSum) add(coefficient float64, field string) {
	s.terms = append(s.terms, pmmlTerm{coefficient, field})
}

// expression is the value of a sum.
func (s *pmmlSum) expression() *tag {
	sum := apply("sum", constant(s.intercept))
	for _, t := range s.terms {
		sum.add(apply("*", constant(t.coefficient), ref(t.field)))
	}
	return sum
}

// table is a sum as the table of a regression.
func (s *pmmlSum) table() *tag {
	out := newTag("RegressionTable", "intercept", digits(s.intercept))
	for _, t := range s.terms {
		out.add(newTag("NumericPredictor", "name", t.field, "coefficient", digits(t.coefficient)))
	}
	return out
}

// predictor returns the field of the target, and the model but for what all models have.
func (p *pmmlModel) predictor(m regression.Model) (field, model *tag, err error) {
	var sums []pmmlSum
	for _, s := range scoresOf(m) {
		sum, err := p.score(s)
		if err != nil {
			return nil, nil, err
		}
		sums = append(sums, sum)
	}
	c, ok := m.(*regression.Classifier)
	if ok {
		field, model = p.classifier(c, sums)
		return field, model, nil
	}
	linear := regression.LinearPart(m)
	lower := linear.Lower
	upper := linear.Upper
	if linear.Back != nil {
		lower, upper, sums[0] = linear.Back.Lower, linear.Back.Upper, p.back(linear, sums[0])
	}
	p.targets = newTag("Targets").add(newTag("Target", "field", p.target, "min", digits(lower), "max", digits(upper)))
	p.output.add(newTag("OutputField", "name", p.free("prediction"), "optype", pmmlNumber, "dataType", "double", "feature", "predictedValue"))
	field = newTag("DataField", "name", p.target, "optype", pmmlNumber, "dataType", "double")
	return field, newTag("RegressionModel", "functionName", "regression").add(sums[0].table()), nil
}

// back is the mean of a transformed target, not yet clamped.
func (p *pmmlModel) back(m *regression.Linear, score pmmlSum) pmmlSum {
	z := p.number("transformed", between(score.expression(), m.Lower, m.Upper))
	line := pmmlSum{m.Back.Intercept, []pmmlTerm{{m.Back.Slope, z}}}
	z = p.number("transformed line", between(line.expression(), m.Lower, m.Upper))
	if m.Back.Transform == rescale.Log {
		up := pmmlSum{m.Back.Variance / 2, []pmmlTerm{{1, z}}}
		return pmmlSum{0, []pmmlTerm{{1, p.number("mean", apply("exp", between(up.expression(), -700, rescale.MostLog)))}}}
	}
	root := p.number("root", between(ref(z), 0, rescale.MostRoot))
	return pmmlSum{m.Back.Variance, []pmmlTerm{{1, p.number("square", apply("*", ref(root), ref(root)))}}}
}

// classifier is a tree of one split per class: for the class that has the largest score, of equal ones the first.
func (p *pmmlModel) classifier(m *regression.Classifier, sums []pmmlSum) (field, tree *tag) {
	var scores []string
	for i := range sums {
		limits := regression.LinearPart(m.Scores[i])
		of := m.Classes[i+len(m.Classes)-len(sums)]
		scores = append(scores, p.number("score of "+of, between(sums[i].expression(), limits.Lower, limits.Upper)))
	}
	last := len(m.Classes) - 1
	choice := constant(float64(last))
	if len(scores) == 1 {
		choice = apply("if", apply("greaterThan", ref(scores[0]), constant(m.Cutoff)), choice, constant(0))
	} else {
		for i := last - 1; i >= 0; i-- {
			rest := apply("max")
			for _, s := range scores[i+1:] {
				rest.add(ref(s))
			}
			choice = apply("if", apply("greaterOrEqual", ref(scores[i]), rest), constant(float64(i)), choice)
		}
	}
	class := p.number("choice", choice)
	field = newTag("DataField", "name", p.target, "optype", pmmlText, "dataType", "string")
	root := newTag("Node").add(newTag("True"))
	for i, c := range m.Classes {
		field.add(newTag("Value", "value", c))
		root.add(newTag("Node", "score", c).add(newTag("SimplePredicate", "field", class, "operator", "equal", "value", strconv.Itoa(i))))
	}
	p.output.add(newTag("OutputField", "name", p.free("class"), "optype", pmmlText, "dataType", "string", "feature", "predictedValue"))
	p.probabilities(m, scores)
	return field, newTag("TreeModel", "functionName", "classification", "splitCharacteristic", "multiSplit").add(root)
}

// probabilities adds outputs for the probabilities of the classes, if the model has them.
func (p *pmmlModel) probabilities(m *regression.Classifier, scores []string) {
	var parts []string // numbers in proportion to which the probabilities are
	switch {
	case m.Probability != nil && len(m.Probability.Scores) > 0:
		curve := pmmlSum{intercept: m.Probability.Values[0]}
		for k, to := range m.Probability.Scores[1:] {
			from := m.Probability.Scores[k]
			share := apply("/", apply("-", ref(scores[0]), constant(from)), constant(to-from))
			curve.add(m.Probability.Values[k+1]-m.Probability.Values[k], p.number("step of the probability", between(share, 0, 1)))
		}
		second := p.number("second", curve.expression())
		parts = []string{p.number("first", apply("-", constant(1), ref(second))), second}
	case m.Probability != nil:
		z := pmmlSum{m.Probability.Intercept, []pmmlTerm{{m.Probability.Slope, scores[0]}}}
		// Beyond 700 either way e^x leaves a double, and the probability is 0 or 1 to 300 digits.
		odds := p.number("odds", apply("exp", between(z.expression(), -700, 700)))
		parts = []string{p.number("even", constant(1)), odds}
	case logarithmic(m):
		largest := p.number("largest score", combined("max", scores))
		for i, s := range scores {
			parts = append(parts, p.number("odds of "+m.Classes[i], apply("exp", apply("-", ref(s), ref(largest)))))
		}
	default:
		return
	}
	all := p.number("all odds", combined("sum", parts))
	for i, part := range parts {
		name := p.free("probability(" + m.Classes[i] + ")")
		p.output.add(newTag("OutputField", "name", name, "optype", pmmlNumber, "dataType", "double", "feature", "transformedValue").add(
			apply("/", ref(part), ref(all))))
	}
}

// combined applies a function to fields.
func combined(function string, fields []string) *tag {
	out := apply(function)
	for _, f := range fields {
		out.add(ref(f))
	}
	return out
}

// missing is a field that is 1 where the cell of a numeric column is missing, else 0.
func (p *pmmlModel) missing(c *regression.Column) string {
	name, ok := p.treated[c.Name]
	if !ok {
		finite := apply("lessOrEqual", apply("abs", ref(c.Name)), constant(math.MaxFloat64))
		name = p.number(c.Name+" is missing", apply("if", apply("isMissing", ref(c.Name)), constant(1), apply("if", finite, constant(0), constant(1))))
		p.treated[c.Name] = name
	}
	return name
}

// cell is the treated cell of a numeric column.
func (p *pmmlModel) cell(c *regression.Column) string {
	key := fmt.Sprintf("%+v", *c)
	name, ok := p.treated[key]
	if !ok {
		name = p.number(c.Name+" treated", apply("if", apply("equal", ref(p.missing(c)), constant(1)),
			constant(min(max(c.Missing, c.Lower), c.Upper)), between(ref(c.Name), c.Lower, c.Upper)))
		p.treated[key] = name
	}
	return name
}

// linear is an intercept with terms.
func (p *pmmlModel) linear(m *regression.Linear, intercept float64, terms []regression.Term) pmmlSum {
	sum := pmmlSum{intercept: intercept}
	weights := map[int]map[string]float64{} // by column and category
	others := map[int]float64{}
	for _, t := range terms {
		c := &m.Columns[t.Column]
		switch {
		case t.Missing:
			sum.add(t.Coefficient, p.missing(c))
		case c.Type == regression.Numeric:
			sum.add(t.Coefficient, p.cell(c))
		default:
			if weights[t.Column] == nil {
				weights[t.Column] = map[string]float64{}
			}
			if t.Other {
				others[t.Column] = t.Coefficient
			} else {
				weights[t.Column][trimmed(t.Category)] = t.Coefficient
			}
		}
	}
	for i := range m.Columns {
		switch c := &m.Columns[i]; {
		case weights[i] == nil:
		case len(c.Categories) == 0: // every cell is other
			sum.intercept += others[i]
		default:
			sum.add(1, p.number("weight of "+c.Name, p.lookup(c, weights[i], others[i])))
		}
	}
	return sum
}

// lookup is a number for the category of a cell: that of the weights, 0 for listed categories without one, or other.
func (p *pmmlModel) lookup(c *regression.Column, weights map[string]float64, other float64) *tag {
	label, ok := p.treated[c.Name]
	if !ok {
		label = p.derive(c.Name+" trimmed", pmmlText, apply("if", apply("isNotMissing", ref(c.Name)), apply("trimBlanks", ref(c.Name))))
		p.treated[c.Name] = label
	}
	empty := other
	table := newTag("InlineTable")
	texts := namesOf(c).Texts()
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		in := newTag("in")
		out := newTag("out")
		weight := weights[trimmed(c.Categories[texts[text]])]
		in.text, out.text = text, digits(weight)
		if text == "" {
			empty = weight
		}
		table.add(newTag("row").add(in, out))
	}
	return newTag("MapValues", "outputColumn", "out", "dataType", "double", "defaultValue", digits(other), "mapMissingTo", digits(empty)).add(
		newTag("FieldColumnPair", "field", label, "column", "in"), table)
}
