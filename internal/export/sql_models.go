package export

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/regression"
)

// back is the mean of the target at a score of a model; the score itself if the target is not transformed.
func (q *query) back(m *regression.Linear, score string) string {
	if m == nil || m.Back == nil {
		return score
	}
	score = q.clamp(q.number(m.Back.Intercept)+" + "+q.number(m.Back.Slope)+" * "+score, m.Lower, m.Upper)
	if m.Back.Transform == rescale.Log {
		// Some databases refuse to raise e to what leaves a double.
		return q.clamp("exp("+q.clamp(score+" + "+q.number(m.Back.Variance/2), -700, rescale.MostLog)+")", m.Back.Lower, m.Back.Upper)
	}
	root := q.clamp(score, 0, rescale.MostRoot)
	return q.clamp(root+" * "+root+" + "+q.number(m.Back.Variance), m.Back.Lower, m.Back.Upper)
}

// class picks the class with the largest score, of equal ones the first.
func (q *query) class(c *regression.Classifier, scores []string) string {
	if len(scores) == 1 {
		return fmt.Sprintf("CASE WHEN %s > %s THEN %s ELSE %s END", scores[0], q.number(c.Cutoff), literal(c.Classes[1]), literal(c.Classes[0]))
	}
	var out strings.Builder
	out.WriteString("CASE")
	last := len(scores) - 1
	for i := range last {
		largest := q.call(q.dialect.largest, scores[i+1:])
		fmt.Fprintf(&out, " WHEN %s >= %s THEN %s", scores[i], largest, literal(c.Classes[i]))
	}
	fmt.Fprintf(&out, " ELSE %s END", literal(c.Classes[last]))
	return out.String()
}

// score returns the expression of a model with a number for its prediction.
func (q *query) score(m regression.Model) (string, error) {
	switch m := m.(type) {
	case *regression.Linear:
		return q.clamp(q.linear(m, m.Intercept, m.Terms), m.Lower, m.Upper), nil
	case *regression.ClippedLinear:
		return q.clipped(m), nil
	case *regression.Additive:
		return q.additive(m), nil
	case *regression.Votes:
		sum := []string{q.linear(&m.Linear, m.Intercept, m.Terms)}
		for _, x := range m.Members {
			s := q.name(sumLayer, q.linear(&m.Linear, x.Intercept, x.Terms))
			sum = append(sum, fmt.Sprintf("CASE WHEN %s >= %s THEN %s ELSE %s END", s, q.number(0), q.number(x.Weight), q.number(-x.Weight)))
		}
		return q.clamp(total(sum), m.Lower, m.Upper), nil
	case *regression.Tree:
		return q.clamp(total([]string{q.linear(&m.Linear, m.Intercept, m.Terms), q.leaf(m, 0)}), m.Lower, m.Upper), nil
	case *regression.Prototypes:
		return q.prototypes(m), nil
	}
	return "", fmt.Errorf("a model of the kind %q %w to SQL, a query would be too large; a program (--python, --js, --go) holds it", m.Kind(), ErrKind)
}

func (q *query) clipped(m *regression.ClippedLinear) string {
	sum := q.name(sumLayer, q.linear(&m.Linear, m.Intercept, m.Terms))
	norm := []string{q.number(m.Constant * m.Constant)}
	for i := range m.Columns {
		c := &m.Columns[i]
		if c.Type == regression.Category {
			if c.Other {
				norm = append(norm, q.number(1))
			} else if len(c.Categories) > 0 {
				norm = append(norm, fmt.Sprintf("CASE WHEN %s IN (%s) THEN %s ELSE %s END", q.label(c), literals(c.Categories), q.number(1), q.number(0)))
			}
			continue
		}
		z := q.clamp(fmt.Sprintf("(%s - %s) / %s", q.cell(c), q.number(c.Lower/2+c.Upper/2), q.number(c.Upper/2-c.Lower/2)), -1, 1)
		z = q.name(sumLayer, z)
		norm = append(norm, z+" * "+z)
	}
	for _, t := range m.Terms {
		if t.Missing {
			norm = append(norm, q.flag(&m.Columns[t.Column], regression.MissingSquare))
		}
	}
	center := m.Lower/2 + m.Upper/2
	if m.Center != nil {
		center = *m.Center
	}
	n := q.name(largeLayer, total(norm))
	shorter := fmt.Sprintf("%[1]s + %[2]s / sqrt(%[3]s) * (%[4]s - %[1]s)", q.number(center), q.number(m.Norm), n, sum)
	return q.clamp(fmt.Sprintf("CASE WHEN %s > %s THEN %s ELSE %s END", n, q.number(m.Norm*m.Norm), shorter, sum), m.Lower, m.Upper)
}

func (q *query) additive(m *regression.Additive) string {
	sum := []string{q.linear(&m.Linear, m.Intercept, m.Terms)}
	for _, s := range m.Shapes {
		sum = append(sum, q.step(s.Step, q.cell(&m.Columns[s.Column])))
	}
	if s := m.Score; s != nil {
		terms := append([]regression.Term(nil), m.Terms...)
		for i := range terms {
			terms[i].Coefficient = s.Coefficients[i]
		}
		sum = append(sum, q.step(s.Step, q.name(sumLayer, q.linear(&m.Linear, s.Intercept, terms))))
	}
	return q.clamp(total(sum), m.Lower, m.Upper)
}

// step looks x up.
func (q *query) step(s regression.Step, x string) string {
	if len(s.Edges) == 0 {
		return q.number(s.Values[0])
	}
	var out strings.Builder
	out.WriteString("CASE")
	for i, edge := range s.Edges {
		if s.Values[i] != s.Values[i+1] || i == len(s.Edges)-1 { // equal neighbours are one step
			fmt.Fprintf(&out, " WHEN %s < %s THEN %s", x, q.number(edge), q.number(s.Values[i]))
		}
	}
	fmt.Fprintf(&out, " ELSE %s END", q.number(s.Values[len(s.Edges)]))
	return out.String()
}

func (q *query) leaf(m *regression.Tree, at int) string {
	n := &m.Nodes[at]
	score := q.name(sumLayer, q.linear(&m.Linear, n.Intercept, n.Terms))
	if n.Low == 0 && n.High == 0 {
		return score
	}
	return fmt.Sprintf("CASE WHEN %s <= %s THEN %s ELSE %s END", score, q.number(n.Threshold), q.leaf(m, n.Low), q.leaf(m, n.High))
}

func (q *query) prototypes(m *regression.Prototypes) string {
	var sides [2][]string
	for _, p := range m.Prototypes {
		side := 0
		if p.Against {
			side = 1
		}
		sides[side] = append(sides[side], q.name(sumLayer, q.clamp(q.linear(&m.Linear, p.Intercept, p.Terms), m.Lower, m.Upper)))
	}
	sum := []string{q.linear(&m.Linear, m.Intercept, m.Terms)}
	for side, sign := range []string{"", "-"} {
		if len(sides[side]) == 0 {
			continue
		}
		largest := q.name(largeLayer, q.call(q.dialect.largest, sides[side]))
		var exps []string
		for _, s := range sides[side] {
			exps = append(exps, fmt.Sprintf("exp(%s - %s)", s, largest))
		}
		sum = append(sum, fmt.Sprintf("%s(%s + ln(%s))", sign, largest, total(exps)))
	}
	return q.clamp(total(sum), m.Lower, m.Upper)
}

// linear is an intercept with terms.
func (q *query) linear(m *regression.Linear, intercept float64, terms []regression.Term) string {
	sum := []string{q.number(intercept)}
	weights := map[int][]regression.Term{}
	for _, t := range terms {
		c := &m.Columns[t.Column]
		switch {
		case t.Coefficient == 0:
		case t.Missing:
			sum = append(sum, q.flag(c, t.Coefficient))
		case c.Type == regression.Numeric:
			sum = append(sum, q.number(t.Coefficient)+" * "+q.cell(c))
		default:
			weights[t.Column] = append(weights[t.Column], t)
		}
	}
	for i := range m.Columns {
		if len(weights[i]) > 0 {
			sum = append(sum, q.weight(&m.Columns[i], weights[i]))
		}
	}
	return total(sum)
}

// weight is the coefficient of the category of a cell. A listed category without a term is not other.
func (q *query) weight(c *regression.Column, terms []regression.Term) string {
	var out strings.Builder
	fmt.Fprintf(&out, "CASE %s", q.label(c))
	other := 0.
	has := map[string]bool{}
	for _, t := range terms {
		if t.Other {
			other = t.Coefficient
			continue
		}
		has[t.Category] = true
		fmt.Fprintf(&out, " WHEN %s THEN %s", literal(trimmed(t.Category)), q.number(t.Coefficient))
	}
	for _, name := range c.Categories {
		if other != 0 && !has[name] {
			fmt.Fprintf(&out, " WHEN %s THEN %s", literal(trimmed(name)), q.number(0))
		}
	}
	if len(has) == 0 && len(c.Categories) == 0 {
		return q.number(other) // every cell is other
	}
	fmt.Fprintf(&out, " ELSE %s END", q.number(other))
	return out.String()
}
