package export

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/cell"
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
		out = append(out, output{"probability", q.probability(p, scores[0])})
	}
	return out, nil
}

// probability returns the expression of the probability of the second class at a score.
func (q *query) probability(p *regression.Probability, score string) string {
	if len(p.Scores) == 0 {
		x := q.number(p.Intercept) + " + " + q.number(p.Slope) + " * " + score
		// Beyond 700 either way e^x leaves a double, and the probability is 0 or 1 to 300 digits.
		x = q.clamp(x, -700, 700)
		return q.number(1) + " / (" + q.number(1) + " + exp(-(" + x + ")))"
	}
	var b strings.Builder
	b.WriteString("CASE")
	for k, to := range p.Scores {
		value := q.number(p.Values[k])
		if k > 0 {
			from := p.Scores[k-1]
			low := p.Values[k-1]
			share := "(" + score + " - " + q.number(from) + ") / " + q.number(to-from)
			value = q.number(low) + " + " + q.number(p.Values[k]-low) + " * (" + share + ")"
		}
		fmt.Fprintf(&b, " WHEN %s <= %s THEN %s", score, q.number(to), value)
	}
	fmt.Fprintf(&b, " ELSE %s END", q.number(p.Values[len(p.Values)-1]))
	return b.String()
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
