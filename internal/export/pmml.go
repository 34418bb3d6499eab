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

// PMML writes a PMML 4.4 document in double precision: a regression table or a tree of classes, over derived fields
// that treat cells and add up terms as [regression.Model] does. Its inputs are the columns: doubles, which are
// absent, NaN or infinite if a number is missing, or texts. Its outputs are prediction, or for a classifier class
// and, if the model has them, a probability for each class. An output with the name of an input gets a trailing
// underscore. The error wraps [ErrKind] for kernels, whose document would be too large, for a column without a name,
// and for a text that XML cannot represent.
func PMML(w io.Writer, m regression.Model) error {
	if err := m.Validate(); err != nil {
		return err
	}
	if err := exactTexts(m, "PMML"); err != nil {
		return err
	}
	p := pmmlModel{
		used:    map[string]bool{},
		treated: map[string]string{},
	}
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
		dictionary.addInside(
			newTag("DataField", "name", c.Name, "optype", optype, "dataType", kind))
		schema.addInside(
			newTag("MiningField", "name", c.Name, "invalidValueTreatment", "asMissing"))
	}
	p.output = newTag("Output")
	p.target = p.unusedName(m.Output().Target)
	field, model, err := p.targetAndModel(m)
	if err != nil {
		return err
	}
	model.inside = append([]*tag{
		schema.addInside(newTag("MiningField", "name", p.target, "usageType", "target")), p.output,
		p.targets, newTag("LocalTransformations").addInside(p.fields...),
	}, model.inside...)
	model.inside = slices.DeleteFunc(model.inside, func(t *tag) bool {
		return t == nil || t == p.output && len(t.inside) == 0
	})
	return writeXML(w,
		newTag("PMML", "xmlns", "http://www.dmg.org/PMML-4_4", "version", "4.4").addInside(
			newTag("Header", "description",
				"A model that dptrain trained for "+
					m.Output().Target).addInside(newTag("Application", "name", "dptrain")),
			dictionary.addInside(field), model))
}

// The content types of a field.
const (
	pmmlNumber = "continuous"
	pmmlText   = "categorical"
)

// A pmmlModel is a document under construction.
type pmmlModel struct {
	used    map[string]bool   // names of fields
	treated map[string]string // fields of treated cells, by their properties
	fields  []*tag            // derived fields
	output  *tag
	targets *tag
	target  string
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

// unusedName returns a name that is not in use.
func (p *pmmlModel) unusedName(name string) string {
	for p.used[name] || name == "" {
		name += "_"
	}
	p.used[name] = true
	return name
}

// deriveField adds a field and returns its name, with a number appended if the name is in use.
func (p *pmmlModel) deriveField(name, optype string, expression *tag) string {
	for base, n := name, 2; p.used[name]; n++ {
		name = fmt.Sprint(base, " ", n)
	}
	p.used[name] = true
	kind := "double"
	if optype == pmmlText {
		kind = "string"
	}
	p.fields = append(p.fields,
		newTag("DerivedField", "name", name, "optype", optype, "dataType",
			kind).addInside(expression))
	return name
}

// numberField is a field of numbers.
func (p *pmmlModel) numberField(name string, expression *tag) string {
	return p.deriveField(name, pmmlNumber, expression)
}

func fieldRef(field string) *tag {
	return newTag("FieldRef", "field", field)
}

func constantTag(x float64) *tag {
	t := newTag("Constant", "dataType", "double")
	t.text = formatNumber(x)
	return t
}

func formatNumber(x float64) string {
	return strconv.FormatFloat(x, 'g', -1, 64)
}

func applyFunction(function string, arguments ...*tag) *tag {
	return newTag("Apply", "function", function).addInside(arguments...)
}

func clampTag(x *tag, lower, upper float64) *tag {
	return applyFunction(
		"min",
		applyFunction("max", x, constantTag(lower)),
		constantTag(upper),
	)
}

func (s *pmmlSum) addTerm(coefficient float64, field string) {
	s.terms = append(s.terms, pmmlTerm{coefficient, field})
}

// asExpression is the value of a sum.
func (s *pmmlSum) asExpression() *tag {
	sum := applyFunction("sum", constantTag(s.intercept))
	for _, t := range s.terms {
		sum.addInside(applyFunction("*", constantTag(t.coefficient), fieldRef(t.field)))
	}
	return sum
}

// asRegressionTable is a sum as the table of a regression.
func (s *pmmlSum) asRegressionTable() *tag {
	out := newTag("RegressionTable", "intercept", formatNumber(s.intercept))
	for _, t := range s.terms {
		out.addInside(
			newTag("NumericPredictor", "name", t.field, "coefficient", formatNumber(t.coefficient)))
	}
	return out
}

// targetAndModel returns the field of the target, and the model without the elements common to all models.
func (p *pmmlModel) targetAndModel(m regression.Model) (field, model *tag, err error) {
	var sums []pmmlSum
	for _, s := range scoresOf(m) {
		sum, err := p.modelScore(s)
		if err != nil {
			return nil, nil, err
		}
		sums = append(sums, sum)
	}
	c, ok := m.(*regression.Classifier)
	if ok {
		field, model = p.classifierTree(c, sums)
		return field, model, nil
	}
	linear := regression.LinearPart(m)
	lower := linear.Lower
	upper := linear.Upper
	if linear.Back != nil {
		lower, upper, sums[0] = linear.Back.Lower, linear.Back.Upper,
			p.undoTransform(linear, sums[0])
	}
	p.targets = newTag("Targets").addInside(
		newTag("Target", "field", p.target, "min", formatNumber(lower), "max", formatNumber(upper)))
	p.output.addInside(
		newTag("OutputField", "name", p.unusedName("prediction"), "optype", pmmlNumber, "dataType",
			"double", "feature", "predictedValue"))
	field = newTag(
		"DataField",
		"name",
		p.target,
		"optype",
		pmmlNumber,
		"dataType",
		"double",
	)
	return field,
		newTag("RegressionModel", "functionName",
			"regression").addInside(sums[0].asRegressionTable()), nil
}

// undoTransform is the mean of a transformed target, not yet clamped.
func (p *pmmlModel) undoTransform(m *regression.Linear, score pmmlSum) pmmlSum {
	z := p.numberField("transformed", clampTag(score.asExpression(), m.Lower, m.Upper))
	line := pmmlSum{m.Back.Intercept, []pmmlTerm{{m.Back.Slope, z}}}
	z = p.numberField("transformed line", clampTag(line.asExpression(), m.Lower, m.Upper))
	if m.Back.Transform == string(rescale.Log) {
		const leastLog = -700 // so that the exponential is a normal number
		up := pmmlSum{m.Back.Variance / 2, []pmmlTerm{{1, z}}}
		log := clampTag(up.asExpression(), leastLog, rescale.MostLog)
		mean := p.numberField("mean", applyFunction("exp", log))
		return pmmlSum{0, []pmmlTerm{{1, mean}}}
	}
	root := p.numberField("root", clampTag(fieldRef(z), 0, rescale.MostRoot))
	square := p.numberField("square", applyFunction("*", fieldRef(root), fieldRef(root)))
	return pmmlSum{m.Back.Variance, []pmmlTerm{{1, square}}}
}

// classifierTree is a tree with one split per class: it predicts the class with the largest score, and of equal
// scores the first.
func (p *pmmlModel) classifierTree(
	m *regression.Classifier,
	sums []pmmlSum,
) (field, tree *tag) {
	var scores []string
	for i := range sums {
		limits := regression.LinearPart(m.Scores[i])
		of := m.Classes[i+len(m.Classes)-len(sums)]
		scores = append(scores,
			p.numberField("score of "+of,
				clampTag(sums[i].asExpression(), limits.Lower, limits.Upper)))
	}
	last := len(m.Classes) - 1
	choice := constantTag(float64(last))
	if len(scores) == 1 {
		choice = applyFunction(
			"if",
			applyFunction("greaterThan", fieldRef(scores[0]), constantTag(m.Cutoff)),
			choice,
			constantTag(0),
		)
	} else {
		for i := last - 1; i >= 0; i-- {
			rest := applyFunction("max")
			for _, s := range scores[i+1:] {
				rest.addInside(fieldRef(s))
			}
			choice = applyFunction(
				"if",
				applyFunction("greaterOrEqual", fieldRef(scores[i]), rest),
				constantTag(float64(i)),
				choice,
			)
		}
	}
	class := p.numberField("choice", choice)
	field = newTag(
		"DataField",
		"name",
		p.target,
		"optype",
		pmmlText,
		"dataType",
		"string",
	)
	root := newTag("Node").addInside(newTag("True"))
	for i, c := range m.Classes {
		field.addInside(newTag("Value", "value", c))
		root.addInside(
			newTag("Node", "score",
				c).addInside(
				newTag("SimplePredicate", "field", class, "operator", "equal", "value",
					strconv.Itoa(i))))
	}
	p.output.addInside(
		newTag("OutputField", "name", p.unusedName("class"), "optype", pmmlText, "dataType",
			"string", "feature", "predictedValue"))
	p.addProbabilities(m, scores)
	return field,
		newTag("TreeModel", "functionName", "classification", "splitCharacteristic",
			"multiSplit").addInside(root)
}

// addProbabilities adds outputs for the probabilities of the classes, if the model has them.
func (p *pmmlModel) addProbabilities(
	m *regression.Classifier,
	scores []string,
) {
	var parts []string // proportional to the probabilities
	switch {
	case m.Probability != nil && len(m.Probability.Scores) > 0:
		curve := pmmlSum{intercept: m.Probability.Values[0]}
		for k, to := range m.Probability.Scores[1:] {
			from := m.Probability.Scores[k]
			share := applyFunction(
				"/",
				applyFunction("-", fieldRef(scores[0]), constantTag(from)),
				constantTag(to-from),
			)
			curve.addTerm(m.Probability.Values[k+1]-m.Probability.Values[k],
				p.numberField("step of the probability", clampTag(share, 0, 1)))
		}
		second := p.numberField("second", curve.asExpression())
		parts = []string{p.numberField("first",
			applyFunction("-", constantTag(1), fieldRef(second))), second}
	case m.Probability != nil:
		z := pmmlSum{m.Probability.Intercept, []pmmlTerm{{m.Probability.Slope, scores[0]}}}
		// Beyond ±700, e^x exceeds the range of a double, and the probability is 0 or 1 to 300 digits.
		odds := p.numberField("odds", applyFunction("exp", clampTag(z.asExpression(), -700, 700)))
		parts = []string{p.numberField("even", constantTag(1)), odds}
	case scoresAreLogarithms(m):
		largest := p.numberField("largest score", applyToFields("max", scores))
		for i, s := range scores {
			parts = append(parts,
				p.numberField("odds of "+m.Classes[i],
					applyFunction("exp", applyFunction("-", fieldRef(s), fieldRef(largest)))))
		}
	default:
		return
	}
	all := p.numberField("all odds", applyToFields("sum", parts))
	for i, part := range parts {
		name := p.unusedName("probability(" + m.Classes[i] + ")")
		p.output.addInside(
			newTag("OutputField", "name", name, "optype", pmmlNumber, "dataType", "double",
				"feature", "transformedValue").addInside(
				applyFunction("/", fieldRef(part), fieldRef(all))))
	}
}

// applyToFields applies a function to fields.
func applyToFields(function string, fields []string) *tag {
	out := applyFunction(function)
	for _, f := range fields {
		out.addInside(fieldRef(f))
	}
	return out
}

// missingIndicator is a field that is 1 if the cell of a numeric column is missing, and 0 otherwise.
func (p *pmmlModel) missingIndicator(c *regression.Column) string {
	name, ok := p.treated[c.Name]
	if !ok {
		finite := applyFunction(
			"lessOrEqual",
			applyFunction("abs", fieldRef(c.Name)),
			constantTag(math.MaxFloat64),
		)
		name = p.numberField(c.Name+" is missing",
			applyFunction("if", applyFunction("isMissing", fieldRef(c.Name)), constantTag(1),
				applyFunction("if", finite, constantTag(0), constantTag(1))))
		p.treated[c.Name] = name
	}
	return name
}

// treatCell is the treated cell of a numeric column.
func (p *pmmlModel) treatCell(c *regression.Column) string {
	key := fmt.Sprintf("%+v", *c)
	name, ok := p.treated[key]
	if !ok {
		name = p.numberField(c.Name+" treated",
			applyFunction("if",
				applyFunction("equal", fieldRef(p.missingIndicator(c)), constantTag(1)),
				constantTag(min(max(c.Missing, c.Lower), c.Upper)),
				clampTag(fieldRef(c.Name), c.Lower, c.Upper)))
		p.treated[key] = name
	}
	return name
}

// linearSum is an intercept with terms.
func (p *pmmlModel) linearSum(
	m *regression.Linear,
	intercept float64,
	terms []regression.Term,
) pmmlSum {
	sum := pmmlSum{intercept: intercept}
	weights := map[int]map[string]float64{} // by column and category
	others := map[int]float64{}
	for _, t := range terms {
		c := &m.Columns[t.Column]
		switch {
		case t.Missing:
			sum.addTerm(t.Coefficient, p.missingIndicator(c))
		case c.Type == regression.Numeric:
			sum.addTerm(t.Coefficient, p.treatCell(c))
		default:
			if weights[t.Column] == nil {
				weights[t.Column] = map[string]float64{}
			}
			if t.Other {
				others[t.Column] = t.Coefficient
			} else {
				weights[t.Column][normalName(t.Category)] = t.Coefficient
			}
		}
	}
	for i := range m.Columns {
		switch c := &m.Columns[i]; {
		case weights[i] == nil:
		case len(c.Categories) == 0: // all cells are other
			sum.intercept += others[i]
		default:
			sum.addTerm(1,
				p.numberField("weight of "+c.Name, p.categoryLookup(c, weights[i], others[i])))
		}
	}
	return sum
}

// categoryLookup returns a number for the category of a cell: from weights, 0 for listed categories without a weight,
// or other.
func (p *pmmlModel) categoryLookup(
	c *regression.Column,
	weights map[string]float64,
	other float64,
) *tag {
	label, ok := p.treated[c.Name]
	if !ok {
		label = p.deriveField(
			c.Name+" trimmed",
			pmmlText,
			applyFunction("if", applyFunction("isNotMissing", fieldRef(c.Name)),
				applyFunction("trimBlanks", fieldRef(c.Name))),
		)
		p.treated[c.Name] = label
	}
	empty := other
	table := newTag("InlineTable")
	texts := namesOf(c).Texts()
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		in := newTag("in")
		out := newTag("out")
		weight := weights[normalName(c.Categories[texts[text]])]
		in.text, out.text = text, formatNumber(weight)
		if text == "" {
			empty = weight
		}
		table.addInside(newTag("row").addInside(in, out))
	}
	return newTag("MapValues", "outputColumn", "out", "dataType", "double", "defaultValue",
		formatNumber(other), "mapMissingTo", formatNumber(empty)).addInside(
		newTag("FieldColumnPair", "field", label, "column", "in"), table)
}
