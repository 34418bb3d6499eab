package export

import (
	"fmt"

	"github.com/dptrain/dptrain/regression"
)

// modelScore returns the unclamped sum of a model that predicts a number.
func (p *pmmlModel) modelScore(m regression.Model) (pmmlSum, error) {
	linear := regression.LinearPart(m)
	if linear == nil || m.Kind() == "kernel" {
		return pmmlSum{},
			fmt.Errorf(
				"a model of the kind %q %w to PMML, a document would be too large; a program (--python, --js, --go) or a graph (--onnx) holds it",
				m.Kind(), ErrKind)
	}
	sum := p.linearSum(linear, linear.Intercept, linear.Terms)
	switch m := m.(type) {
	case *regression.Linear:
	case *regression.ClippedLinear:
		sum = pmmlSum{terms: []pmmlTerm{{1, p.clippedField(m, &sum)}}}
	case *regression.Additive:
		p.addCurves(m, &sum)
	case *regression.Votes:
		for _, v := range m.Members {
			of := p.lineField(&m.Linear, "member", line{v.Intercept, v.Terms})
			sum.addTerm(v.Weight,
				p.numberField("vote",
					applyFunction("if",
						applyFunction("greaterOrEqual", fieldRef(of), constantTag(0)),
						constantTag(1), constantTag(-1))))
		}
	case *regression.Tree:
		sum.addTerm(1, p.numberField("leaf", p.treeNode(m, 0)))
	case *regression.Prototypes:
		p.addPrototypes(m, &sum)
	default:
		return pmmlSum{}, fmt.Errorf("a model of the kind %q %w to PMML", m.Kind(), ErrKind)
	}
	return sum, nil
}

// lineField is a linear sum as a field.
func (p *pmmlModel) lineField(
	m *regression.Linear,
	name string,
	l line,
) string {
	sum := p.linearSum(m, l.intercept, l.terms)
	return p.numberField(name, sum.asExpression())
}

// clippedField returns the sum, moved towards the center if the record is longer than the norm.
func (p *pmmlModel) clippedField(
	m *regression.ClippedLinear,
	sum *pmmlSum,
) string {
	squares := pmmlSum{intercept: m.Constant * m.Constant}
	for i := range m.Columns {
		c := &m.Columns[i]
		if c.Type == regression.Category {
			listed := map[string]float64{}
			other := 0.
			for _, name := range c.Categories {
				listed[normalName(name)] = 1
			}
			if c.Other {
				other = 1
			}
			squares.addTerm(1,
				p.numberField(c.Name+" is known", p.categoryLookup(c, listed, other)))
			continue
		}
		z := applyFunction("/",
			applyFunction("-", fieldRef(p.treatCell(c)), constantTag(c.Lower/2+c.Upper/2)),
			constantTag(c.Upper/2-c.Lower/2))
		scaled := p.numberField(c.Name+" scaled", clampTag(z, -1, 1))
		squares.addTerm(1,
			p.numberField(c.Name+" squared",
				applyFunction("*", fieldRef(scaled), fieldRef(scaled))))
	}
	for _, t := range m.Terms {
		if t.Missing {
			squares.addTerm(regression.MissingSquare, p.missingIndicator(&m.Columns[t.Column]))
		}
	}
	center := m.Lower/2 + m.Upper/2
	if m.Center != nil {
		center = *m.Center
	}
	whole := p.numberField("sum", sum.asExpression())
	square := p.numberField("square of the length", squares.asExpression())
	shorter := applyFunction("*",
		applyFunction("/", constantTag(m.Norm), applyFunction("sqrt", fieldRef(square))),
		applyFunction("-", fieldRef(whole), constantTag(center)))
	return p.numberField("clipped sum",
		applyFunction("if",
			applyFunction("greaterThan", fieldRef(square), constantTag(m.Norm*m.Norm)),
			applyFunction("+", constantTag(center), shorter), fieldRef(whole)))
}

func (p *pmmlModel) addCurves(m *regression.Additive, sum *pmmlSum) {
	for _, s := range m.Shapes {
		c := &m.Columns[s.Column]
		sum.addTerm(1, p.numberField("curve of "+c.Name, stepLookup(s.Step, p.treatCell(c))))
	}
	if s := m.Score; s != nil {
		terms := append([]regression.Term(nil), m.Terms...)
		for i := range terms {
			terms[i].Coefficient = s.Coefficients[i]
		}
		sum.addTerm(1,
			p.numberField("curve of the line",
				stepLookup(s.Step, p.lineField(&m.Linear, "line", line{s.Intercept, terms}))))
	}
}

// stepLookup looks up a field in the bins of a step function.
func stepLookup(s regression.Step, field string) *tag {
	if len(s.Edges) == 0 {
		return constantTag(s.Values[0])
	}
	out := newTag("Discretize", "field", field, "dataType", "double")
	left := "" // margin of the next bin
	for i, v := range s.Values {
		if i+1 < len(s.Edges) && v == s.Values[i+1] {
			continue // equal neighbours are one step
		}
		interval := []string{"closure", "closedOpen"}
		if left != "" {
			interval = append(interval, "leftMargin", left)
		}
		if i < len(s.Edges) {
			left = formatNumber(s.Edges[i])
			interval = append(interval, "rightMargin", left)
		}
		out.addInside(
			newTag("DiscretizeBin", "binValue",
				formatNumber(v)).addInside(newTag("Interval", interval...)))
	}
	return out
}

func (p *pmmlModel) treeNode(m *regression.Tree, at int) *tag {
	n := &m.Nodes[at]
	if n.Low == 0 && n.High == 0 {
		return fieldRef(p.lineField(&m.Linear, "leaf sum", line{n.Intercept, n.Terms}))
	}
	split := p.lineField(&m.Linear, "split", line{n.Intercept, n.Terms})
	return applyFunction(
		"if",
		applyFunction("lessOrEqual", fieldRef(split), constantTag(n.Threshold)),
		p.treeNode(m, n.Low),
		p.treeNode(m, n.High),
	)
}

// addPrototypes adds the logarithms of the sums of e^score for the class and for the other classes.
func (p *pmmlModel) addPrototypes(m *regression.Prototypes, sum *pmmlSum) {
	var sides [2][]string
	for _, x := range m.Prototypes {
		side := 0
		if x.Against {
			side = 1
		}
		of := p.linearSum(&m.Linear, x.Intercept, x.Terms)
		sides[side] = append(sides[side],
			p.numberField("nearness", clampTag(of.asExpression(), m.Lower, m.Upper)))
	}
	for side, sign := range []float64{1, -1} {
		if len(sides[side]) == 0 {
			continue
		}
		largest := p.numberField("nearest", applyToFields("max", sides[side]))
		rest := applyFunction("sum")
		for _, s := range sides[side] {
			rest.addInside(applyFunction("exp", applyFunction("-", fieldRef(s), fieldRef(largest))))
		}
		sum.addTerm(sign,
			p.numberField("all near",
				applyFunction("+", fieldRef(largest), applyFunction("ln", rest))))
	}
}
