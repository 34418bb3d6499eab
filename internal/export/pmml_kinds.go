package export

import (
	"fmt"

	"github.com/dptrain/dptrain/regression"
)

// score returns the sum that a model with a number for its prediction clamps.
func (p *pmmlModel) score(m regression.Model) (pmmlSum, error) {
	linear := regression.LinearPart(m)
	if linear == nil || m.Kind() == "kernel" {
		return pmmlSum{}, fmt.Errorf("a model of the kind %q %w to PMML, a document would be too large; a program (--python, --js, --go) or a graph (--onnx) holds it",
			m.Kind(), ErrKind)
	}
	sum := p.linear(linear, linear.Intercept, linear.Terms)
	switch m := m.(type) {
	case *regression.Linear:
	case *regression.ClippedLinear:
		sum = pmmlSum{terms: []pmmlTerm{{1, p.clipped(m, &sum)}}}
	case *regression.Additive:
		p.curves(m, &sum)
	case *regression.Votes:
		for _, v := range m.Members {
			of := p.line(&m.Linear, "member", line{v.Intercept, v.Terms})
			sum.add(v.Weight, p.number("vote", apply("if", apply("greaterOrEqual", ref(of), constant(0)), constant(1), constant(-1))))
		}
	case *regression.Tree:
		sum.add(1, p.number("leaf", p.leaf(m, 0)))
	case *regression.Prototypes:
		p.prototypes(m, &sum)
	default:
		return pmmlSum{}, fmt.Errorf("a model of the kind %q %w to PMML", m.Kind(), ErrKind)
	}
	return sum, nil
}

// line is a linear sum as a field.
func (p *pmmlModel) line(m *regression.Linear, name string, l line) string {
	sum := p.linear(m, l.intercept, l.terms)
	return p.number(name, sum.expression())
}

// clipped is the sum, nearer to the center if the record is longer than the norm.
func (p *pmmlModel) clipped(m *regression.ClippedLinear, sum *pmmlSum) string {
	squares := pmmlSum{intercept: m.Constant * m.Constant}
	for i := range m.Columns {
		c := &m.Columns[i]
		if c.Type == regression.Category {
			listed := map[string]float64{}
			other := 0.
			for _, name := range c.Categories {
				listed[trimmed(name)] = 1
			}
			if c.Other {
				other = 1
			}
			squares.add(1, p.number(c.Name+" is known", p.lookup(c, listed, other)))
			continue
		}
		z := apply("/", apply("-", ref(p.cell(c)), constant(c.Lower/2+c.Upper/2)), constant(c.Upper/2-c.Lower/2))
		scaled := p.number(c.Name+" scaled", between(z, -1, 1))
		squares.add(1, p.number(c.Name+" squared", apply("*", ref(scaled), ref(scaled))))
	}
	for _, t := range m.Terms {
		if t.Missing {
			squares.add(regression.MissingSquare, p.missing(&m.Columns[t.Column]))
		}
	}
	center := m.Lower/2 + m.Upper/2
	if m.Center != nil {
		center = *m.Center
	}
	whole := p.number("sum", sum.expression())
	square := p.number("square of the length", squares.expression())
	shorter := apply("*", apply("/", constant(m.Norm), apply("sqrt", ref(square))), apply("-", ref(whole), constant(center)))
	return p.number("clipped sum", apply("if", apply("greaterThan", ref(square), constant(m.Norm*m.Norm)), apply("+", constant(center), shorter), ref(whole)))
}

func (p *pmmlModel) curves(m *regression.Additive, sum *pmmlSum) {
	for _, s := range m.Shapes {
		c := &m.Columns[s.Column]
		sum.add(1, p.number("curve of "+c.Name, step(s.Step, p.cell(c))))
	}
	if s := m.Score; s != nil {
		terms := append([]regression.Term(nil), m.Terms...)
		for i := range terms {
			terms[i].Coefficient = s.Coefficients[i]
		}
		sum.add(1, p.number("curve of the line", step(s.Step, p.line(&m.Linear, "line", line{s.Intercept, terms}))))
	}
}

// step looks a field up in the bins of a step function.
func step(s regression.Step, field string) *tag {
	if len(s.Edges) == 0 {
		return constant(s.Values[0])
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
			left = digits(s.Edges[i])
			interval = append(interval, "rightMargin", left)
		}
		out.add(newTag("DiscretizeBin", "binValue", digits(v)).add(newTag("Interval", interval...)))
	}
	return out
}

func (p *pmmlModel) leaf(m *regression.Tree, at int) *tag {
	n := &m.Nodes[at]
	if n.Low == 0 && n.High == 0 {
		return ref(p.line(&m.Linear, "leaf sum", line{n.Intercept, n.Terms}))
	}
	split := p.line(&m.Linear, "split", line{n.Intercept, n.Terms})
	return apply("if", apply("lessOrEqual", ref(split), constant(n.Threshold)), p.leaf(m, n.Low), p.leaf(m, n.High))
}

// prototypes adds the logarithms of the sums of e^score for the class and for the others.
func (p *pmmlModel) prototypes(m *regression.Prototypes, sum *pmmlSum) {
	var sides [2][]string
	for _, x := range m.Prototypes {
		side := 0
		if x.Against {
			side = 1
		}
		of := p.linear(&m.Linear, x.Intercept, x.Terms)
		sides[side] = append(sides[side], p.number("nearness", between(of.expression(), m.Lower, m.Upper)))
	}
	for side, sign := range []float64{1, -1} {
		if len(sides[side]) == 0 {
			continue
		}
		largest := p.number("nearest", combined("max", sides[side]))
		rest := apply("sum")
		for _, s := range sides[side] {
			rest.add(apply("exp", apply("-", ref(s), ref(largest))))
		}
		sum.add(sign, p.number("all near", apply("+", ref(largest), apply("ln", rest))))
	}
}
