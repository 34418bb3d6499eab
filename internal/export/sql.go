package export

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/cell"
	"github.com/dptrain/dptrain/internal/rescale"
	"github.com/dptrain/dptrain/regression"
)

// An sqlDialect is what databases write differently. In its patterns %s is an expression.
type sqlDialect struct {
	name    string
	double  string // a number literal as a double
	cell    string // a cell as a double; NULL or not finite: missing
	finite  string // whether a double is finite
	text    string // a cell as a trimmed text, '' for NULL
	largest string // function of several numbers
	least   string
}

var dialects = []sqlDialect{
	{
		"duckdb", "%s", "TRY_CAST(%s AS DOUBLE)", "isfinite(%s)",
		`coalesce(trim(CAST(%s AS VARCHAR), ' ' || chr(9)), '')`, "greatest", "least",
	},
	{
		"postgres", "(%s)::float8", "(%s)::float8", "%[1]s > '-Infinity'::float8 AND %[1]s < 'Infinity'::float8",
		`coalesce(btrim((%s)::text, ' ' || chr(9)), '')`, "greatest", "least",
	},
	{
		"sqlite", "%s", "(CASE WHEN typeof(%[1]s) IN ('integer', 'real') THEN CAST(%[1]s AS REAL) END)", "abs(%s) < 9e999",
		`coalesce(trim(CAST(%s AS TEXT), ' ' || char(9)), '')`, "max", "min",
	},
}

// A query is a nest of selects: every layer names expressions of the names of the layers below it, and the lowest
// ones of the columns of the table, t.
type query struct {
	dialect *sqlDialect
	layers  []layer
	names   map[string]string // by layer and expression
}

type layer []namedExpression

type namedExpression struct{ name, expression string }

// The layers.
const (
	cellLayer  = iota // treated cells
	sumLayer          // linear sums, clamped where they are scores of prototypes
	largeLayer        // the largest scores of prototypes
	scoreLayer        // the scores of the model
)

// name returns the name of an expression in a layer.
func (q *query) name(at int, expression string) string {
	key := fmt.Sprint(at, " ", expression)
	if name, ok := q.names[key]; ok {
		return name
	}
	for len(q.layers) <= at {
		q.layers = append(q.layers, nil)
	}
	name := fmt.Sprintf("dp%d_%d", at, len(q.layers[at]))
	q.layers[at] = append(q.layers[at], namedExpression{name, expression})
	q.names[key] = name
	return name
}

// An output is a column of the result: an expression of the names.
type output struct{ name, expression string }

// outputs returns what is selected for a model.
func (q *query) outputs(m regression.Model) ([]output, error) {
	var scores []string
	for _, s := range scoresOf(m) {
		score, err := q.score(s)
		if err != nil {
			return nil, err
		}
		scores = append(scores, q.name(scoreLayer, score))
	}
	c, ok := m.(*regression.Classifier)
	if !ok {
		return []output{{"prediction", q.back(regression.LinearPart(m), scores[0])}}, nil
	}
	out := []output{{"class", q.class(c, scores)}}
	if p := c.Probability; p != nil {
		x := q.number(p.Intercept) + " + " + q.number(p.Slope) + " * " + scores[0]
		// Beyond 700 either way e^x leaves a double, and the probability is 0 or 1 to 300 digits.
		x = q.clamp(x, -700, 700)
		out = append(out, output{"probability", q.number(1) + " / (" + q.number(1) + " + exp(-(" + x + ")))"})
	}
	return out, nil
}

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
	sum, norm := q.name(sumLayer, q.linear(&m.Linear, m.Intercept, m.Terms)), []string{q.number(m.Constant * m.Constant)}
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
	other, has := 0., map[string]bool{}
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

// raw is a cell of a numeric column as a double, maybe NULL or not finite.
func (q *query) raw(c *regression.Column) string {
	return fmt.Sprintf(q.dialect.cell, "t."+identifier(c.Name))
}

// cell is the treated cell of a numeric column.
func (q *query) cell(c *regression.Column) string {
	if c.Values != nil {
		return q.name(cellLayer, q.value(c))
	}
	x := q.raw(c)
	return q.name(cellLayer, fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END",
		fmt.Sprintf(q.dialect.finite, x), q.clamp(x, c.Lower, c.Upper), q.number(min(max(c.Missing, c.Lower), c.Upper))))
}

// value is the number that stands for a text.
func (q *query) value(c *regression.Column) string {
	last := q.number(c.Values[len(c.Categories)])
	if len(c.Categories) == 0 {
		return last
	}
	var out strings.Builder
	fmt.Fprintf(&out, "CASE %s", q.textOf(c))
	for i, name := range c.Categories {
		fmt.Fprintf(&out, " WHEN %s THEN %s", literal(trimmed(name)), q.number(c.Values[i]))
	}
	fmt.Fprintf(&out, " ELSE %s END", last)
	return out.String()
}

// flag is a number where the cell of a numeric column is missing, else 0.
func (q *query) flag(c *regression.Column, x float64) string {
	missing := q.name(cellLayer, fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", fmt.Sprintf(q.dialect.finite, q.raw(c)), q.number(0), q.number(1)))
	return q.number(x) + " * " + missing
}

// label is the text of a cell of a category column.
func (q *query) label(c *regression.Column) string { return q.name(cellLayer, q.textOf(c)) }

// textOf is that of a cell of a column of texts, without a name.
func (q *query) textOf(c *regression.Column) string {
	text := fmt.Sprintf(q.dialect.text, "t."+identifier(c.Name))
	if folded := q.folded(c, text); folded != text {
		text = fmt.Sprintf("CASE WHEN %[1]s IN (%[2]s) THEN %[1]s ELSE %[3]s END", text, literals([]string{"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"}), folded)
	}
	return text
}

// folded is the value that a trimmed text is in a column without buckets.
func (q *query) folded(c *regression.Column, text string) string {
	sqlite := q.dialect.name == "sqlite"
	if c.Fold == cell.FoldBlanks || c.Fold == cell.FoldCase {
		if sqlite { // a mark after each blank, and then no blank after a mark
			text = fmt.Sprintf("replace(replace(replace(replace(%s, char(9), ' '), ' ', ' ' || char(1)), char(1) || ' ', ''), char(1), '')", text)
		} else {
			text = fmt.Sprintf("regexp_replace(%s, '[ ' || chr(9) || ']+', ' ', 'g')", text)
		}
	}
	if c.Fold == cell.FoldCase {
		capital, small := cell.Capitals()
		if !sqlite {
			text = fmt.Sprintf("translate(%s, %s, %s)", text, literal(capital), literal(small))
		} else { // which knows the letters of ASCII: others matter where a category has them
			text = "lower(" + text + ")"
			a, b := []rune(capital), []rune(small)
			for i, r := range a {
				if r > 'Z' && strings.ContainsRune(strings.Join(c.Categories, ""), b[i]) {
					text = fmt.Sprintf("replace(%s, %s, %s)", text, literal(string(r)), literal(string(b[i])))
				}
			}
		}
	}
	if c.Prefix > 0 {
		text = fmt.Sprintf(q.dialect.text, fmt.Sprintf("substr(%s, 1, %d)", text, c.Prefix))
	}
	return text
}

func (q *query) clamp(x string, lower, upper float64) string {
	return q.call(q.dialect.least, []string{q.call(q.dialect.largest, []string{x, q.number(lower)}), q.number(upper)})
}

// call calls a function of one argument or more.
func (q *query) call(function string, arguments []string) string {
	if len(arguments) == 1 {
		return arguments[0]
	}
	return function + "(" + strings.Join(arguments, ", ") + ")"
}

func (q *query) number(x float64) string {
	if x == 0 {
		x = math.Abs(x)
	}
	text := strconv.FormatFloat(x, 'e', -1, 64)
	if x < 0 {
		text = "(" + text + ")"
	}
	return fmt.Sprintf(q.dialect.double, text)
}

// total adds up in a balanced way: some databases limit how deep an expression is.
func total(sum []string) string {
	if len(sum) == 1 {
		return sum[0]
	}
	half := len(sum) / 2
	return "(" + total(sum[:half]) + " + " + total(sum[half:]) + ")"
}

// text writes the query.
func (q *query) text(outputs []output, table string) string {
	var out strings.Builder
	out.WriteString("-- Predictions of a model that dptrain trained (" + q.dialect.name + ").\nSELECT t.*")
	for _, o := range outputs {
		fmt.Fprintf(&out, ",\n  (SELECT %s\n   FROM %s) AS %s", o.expression, q.from(len(q.layers)-1), identifier(o.name))
	}
	fmt.Fprintf(&out, "\nFROM %s AS t;\n", identifier(table))
	return out.String()
}

// from nests the layers up to one.
func (q *query) from(at int) string {
	var out strings.Builder
	out.WriteString("(SELECT ")
	below := ""
	if at > 0 {
		below = q.from(at - 1)
		out.WriteString("*")
	}
	for i, x := range q.layers[at] {
		if i > 0 || at > 0 {
			out.WriteString(", ")
		}
		fmt.Fprintf(&out, "%s AS %s", x.expression, x.name)
	}
	if at == 0 && len(q.layers[0]) == 0 {
		out.WriteString("1 AS dp")
	}
	if at > 0 {
		out.WriteString(" FROM " + below)
	}
	fmt.Fprintf(&out, ") AS dp%d", at)
	return out.String()
}

func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func literals(texts []string) string {
	out := make([]string, len(texts))
	for i, x := range texts {
		out[i] = literal(trimmed(x))
	}
	return strings.Join(out, ", ")
}

func trimmed(name string) string { return strings.Trim(name, " \t") }
