package export

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/regression"
)

// undoTransform is the mean of the target at a score of a model; the score itself if the target is not transformed.
func (q *query) undoTransform(m *regression.Linear, score string) string {
	if m == nil || m.Back == nil {
		return score
	}
	score = q.clamp(
		q.formatNumber(m.Back.Intercept)+" + "+q.formatNumber(m.Back.Slope)+" * "+score,
		m.Lower,
		m.Upper,
	)
	if m.Back.Transform == string(rescale.Log) {
		// Some databases reject an exponential outside the range of a double.
		return q.clamp(
			"exp("+
				q.clamp(score+" + "+q.formatNumber(m.Back.Variance/2), -700, rescale.MostLog)+")",
			m.Back.Lower,
			m.Back.Upper,
		)
	}
	root := q.clamp(score, 0, rescale.MostRoot)
	return q.clamp(
		root+" * "+root+" + "+q.formatNumber(m.Back.Variance),
		m.Back.Lower,
		m.Back.Upper,
	)
}

// predictedClass selects the class with the largest score, and of equal scores the first.
func (q *query) predictedClass(
	c *regression.Classifier,
	scores []string,
) string {
	if len(scores) == 1 {
		return fmt.Sprintf("CASE WHEN %s > %s THEN %s ELSE %s END", scores[0],
			q.formatNumber(c.Cutoff), quoteLiteral(c.Classes[1]), quoteLiteral(c.Classes[0]))
	}
	var out strings.Builder
	out.WriteString("CASE")
	last := len(scores) - 1
	for i := range last {
		largest := q.callFunction(q.dialect.largest, scores[i+1:])
		fmt.Fprintf(
			&out,
			" WHEN %s >= %s THEN %s",
			scores[i],
			largest,
			quoteLiteral(c.Classes[i]),
		)
	}
	fmt.Fprintf(&out, " ELSE %s END", quoteLiteral(c.Classes[last]))
	return out.String()
}

// modelScore returns the expression of a model with a number for its prediction.
func (q *query) modelScore(m regression.Model) (string, error) {
	switch m := m.(type) {
	case *regression.Linear:
		return q.clamp(q.linearSum(m, m.Intercept, m.Terms), m.Lower, m.Upper), nil
	case *regression.ClippedLinear:
		return q.clippedScore(m), nil
	case *regression.Additive:
		return q.additiveScore(m), nil
	case *regression.Votes:
		sum := []string{q.linearSum(&m.Linear, m.Intercept, m.Terms)}
		for _, x := range m.Members {
			s := q.nameIn(sumLayer, q.linearSum(&m.Linear, x.Intercept, x.Terms))
			sum = append(sum,
				fmt.Sprintf("CASE WHEN %s >= %s THEN %s ELSE %s END", s, q.formatNumber(0),
					q.formatNumber(x.Weight), q.formatNumber(-x.Weight)))
		}
		return q.clamp(balancedSum(sum), m.Lower, m.Upper), nil
	case *regression.Tree:
		return q.clamp(
			balancedSum([]string{q.linearSum(&m.Linear, m.Intercept, m.Terms), q.treeNode(m, 0)}),
			m.Lower, m.Upper), nil
	case *regression.Prototypes:
		return q.prototypesScore(m), nil
	}
	return "",
		fmt.Errorf(
			"a model of the kind %q %w to SQL, a query would be too large; a program (--python, --js, --go) holds it",
			m.Kind(), ErrKind)
}

func (q *query) clippedScore(m *regression.ClippedLinear) string {
	sum := q.nameIn(sumLayer, q.linearSum(&m.Linear, m.Intercept, m.Terms))
	norm := []string{q.formatNumber(m.Constant * m.Constant)}
	for i := range m.Columns {
		c := &m.Columns[i]
		if c.Type == regression.Category {
			if c.Other {
				norm = append(norm, q.formatNumber(1))
			} else if len(c.Categories) > 0 {
				norm = append(norm,
					fmt.Sprintf("CASE WHEN %s IN (%s) THEN %s ELSE %s END", q.cellText(c),
						quoteLiterals(c.Categories), q.formatNumber(1), q.formatNumber(0)))
			}
			continue
		}
		z := q.clamp(
			fmt.Sprintf("(%s - %s) / %s", q.treatedCell(c), q.formatNumber(c.Lower/2+c.Upper/2),
				q.formatNumber(c.Upper/2-c.Lower/2)), -1, 1)
		z = q.nameIn(sumLayer, z)
		norm = append(norm, z+" * "+z)
	}
	for _, t := range m.Terms {
		if t.Missing {
			norm = append(norm, q.missingFlag(&m.Columns[t.Column], regression.MissingSquare))
		}
	}
	center := m.Lower/2 + m.Upper/2
	if m.Center != nil {
		center = *m.Center
	}
	n := q.nameIn(largeLayer, balancedSum(norm))
	shorter := fmt.Sprintf("%[1]s + %[2]s / sqrt(%[3]s) * (%[4]s - %[1]s)", q.formatNumber(center),
		q.formatNumber(m.Norm), n, sum)
	return q.clamp(
		fmt.Sprintf("CASE WHEN %s > %s THEN %s ELSE %s END", n, q.formatNumber(m.Norm*m.Norm),
			shorter, sum), m.Lower, m.Upper)
}

func (q *query) additiveScore(m *regression.Additive) string {
	sum := []string{q.linearSum(&m.Linear, m.Intercept, m.Terms)}
	for _, s := range m.Shapes {
		sum = append(sum, q.stepLookup(s.Step, q.treatedCell(&m.Columns[s.Column])))
	}
	if s := m.Score; s != nil {
		terms := append([]regression.Term(nil), m.Terms...)
		for i := range terms {
			terms[i].Coefficient = s.Coefficients[i]
		}
		sum = append(sum,
			q.stepLookup(s.Step, q.nameIn(sumLayer, q.linearSum(&m.Linear, s.Intercept, terms))))
	}
	return q.clamp(balancedSum(sum), m.Lower, m.Upper)
}

// stepLookup looks up x in a step function.
func (q *query) stepLookup(s regression.Step, x string) string {
	if len(s.Edges) == 0 {
		return q.formatNumber(s.Values[0])
	}
	var out strings.Builder
	out.WriteString("CASE")
	for i, edge := range s.Edges {
		if s.Values[i] != s.Values[i+1] || i == len(s.Edges)-1 { // equal neighbours are one step
			fmt.Fprintf(&out, " WHEN %s < %s THEN %s", x, q.formatNumber(edge),
				q.formatNumber(s.Values[i]))
		}
	}
	fmt.Fprintf(&out, " ELSE %s END", q.formatNumber(s.Values[len(s.Edges)]))
	return out.String()
}

func (q *query) treeNode(m *regression.Tree, at int) string {
	n := &m.Nodes[at]
	score := q.nameIn(sumLayer, q.linearSum(&m.Linear, n.Intercept, n.Terms))
	if n.Low == 0 && n.High == 0 {
		return score
	}
	return fmt.Sprintf("CASE WHEN %s <= %s THEN %s ELSE %s END", score, q.formatNumber(n.Threshold),
		q.treeNode(m, n.Low), q.treeNode(m, n.High))
}

func (q *query) prototypesScore(m *regression.Prototypes) string {
	var sides [2][]string
	for _, p := range m.Prototypes {
		side := 0
		if p.Against {
			side = 1
		}
		sides[side] = append(sides[side],
			q.nameIn(sumLayer,
				q.clamp(q.linearSum(&m.Linear, p.Intercept, p.Terms), m.Lower, m.Upper)))
	}
	sum := []string{q.linearSum(&m.Linear, m.Intercept, m.Terms)}
	for side, sign := range []string{"", "-"} {
		if len(sides[side]) == 0 {
			continue
		}
		largest := q.nameIn(largeLayer, q.callFunction(q.dialect.largest, sides[side]))
		var exps []string
		for _, s := range sides[side] {
			exps = append(exps, fmt.Sprintf("exp(%s - %s)", s, largest))
		}
		sum = append(sum, fmt.Sprintf("%s(%s + ln(%s))", sign, largest, balancedSum(exps)))
	}
	return q.clamp(balancedSum(sum), m.Lower, m.Upper)
}

// linearSum is an intercept with terms.
func (q *query) linearSum(
	m *regression.Linear,
	intercept float64,
	terms []regression.Term,
) string {
	sum := []string{q.formatNumber(intercept)}
	weights := map[int][]regression.Term{}
	for _, t := range terms {
		c := &m.Columns[t.Column]
		switch {
		case t.Coefficient == 0:
		case t.Missing:
			sum = append(sum, q.missingFlag(c, t.Coefficient))
		case c.Type == regression.Numeric:
			sum = append(sum, q.formatNumber(t.Coefficient)+" * "+q.treatedCell(c))
		default:
			weights[t.Column] = append(weights[t.Column], t)
		}
	}
	for i := range m.Columns {
		if len(weights[i]) > 0 {
			sum = append(sum, q.categoryWeight(&m.Columns[i], weights[i]))
		}
	}
	return balancedSum(sum)
}

// categoryWeight is the coefficient of the category of a cell. A listed category without a term is not other.
func (q *query) categoryWeight(
	c *regression.Column,
	terms []regression.Term,
) string {
	var out strings.Builder
	fmt.Fprintf(&out, "CASE %s", q.cellText(c))
	other := 0.
	has := map[string]bool{}
	for _, t := range terms {
		if t.Other {
			other = t.Coefficient
			continue
		}
		has[t.Category] = true
		fmt.Fprintf(&out, " WHEN %s THEN %s", quoteLiteral(normalName(t.Category)),
			q.formatNumber(t.Coefficient))
	}
	for _, name := range c.Categories {
		if other != 0 && !has[name] {
			fmt.Fprintf(
				&out,
				" WHEN %s THEN %s",
				quoteLiteral(normalName(name)),
				q.formatNumber(0),
			)
		}
	}
	if len(has) == 0 && len(c.Categories) == 0 {
		return q.formatNumber(other) // all cells are other
	}
	fmt.Fprintf(&out, " ELSE %s END", q.formatNumber(other))
	return out.String()
}
