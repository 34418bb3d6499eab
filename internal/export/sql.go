package export

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
	"github.com/dptrain/dptrain/regression"
)

// An sqlDialect holds the syntax that differs between databases. In its patterns %s is an expression.
type sqlDialect struct {
	name       string
	double     string                   // a number literal as a double
	asText     string                   // a cell as a text, NULL for NULL
	trim       string                   // a text without the characters of a second expression around it
	characters func(text string) string // an expression for characters that do not print
	number     string                   // a cell as a double, from the cell, its trimmed text and lists of the texts for 1 and 0; NULL or not finite: missing
	finite     string                   // whether a double is finite
	largest    string                   // function of several numbers
	least      string
	foldsNames bool   // columns whose names differ only in the case of ASCII letters are one column, even in quotes
	fence      string // after a layer of a query: keeps the planner from repeating the expressions of the layer at every use of their names
}

// plainNumber matches the texts that databases with regular expressions read as numbers.
const plainNumber = `^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?$`

var dialects = []sqlDialect{
	{
		name:       "duckdb",
		foldsNames: true,
		double:     "%s",
		asText:     "CAST(%s AS VARCHAR)",
		trim:       "trim(%s, %s)",
		characters: func(text string) string {
			return eachCharacter(text, "chr(%d)", " || ")
		},
		number: "CASE WHEN typeof(%[1]s) <> 'VARCHAR' THEN TRY_CAST(%[1]s AS DOUBLE) WHEN lower(%[2]s) IN (%[3]s) THEN 1.0::DOUBLE WHEN lower(%[2]s) IN (%[4]s) THEN 0.0::DOUBLE " +
			"WHEN regexp_matches(%[2]s, '" + plainNumber + "') THEN TRY_CAST(%[2]s AS DOUBLE) END",
		finite:  "isfinite(%s)",
		largest: "greatest",
		least:   "least",
	},
	{
		name: "postgres", double: "(%s)::float8", asText: "(%s)::text", trim: "btrim(%s, %s)",
		characters: func(text string) string {
			return eachCharacter(text, "chr(%d)", " || ")
		},
		// Casting a text beyond the range of a double is an error for float8, but not for numeric.
		number: "CASE WHEN lower(%[2]s) IN (%[3]s) THEN 1::float8 WHEN lower(%[2]s) IN (%[4]s) THEN 0::float8 WHEN length(%[2]s) > 1000 OR NOT %[2]s ~ '" +
			plainNumber + "' THEN NULL " +
			"WHEN abs((%[2]s)::numeric) > 1.797693134862315807e308 THEN NULL WHEN abs((%[2]s)::numeric) < 2.4703282292062328e-324 THEN 0::float8 ELSE (%[2]s)::float8 END",
		finite: "%[1]s > '-Infinity'::float8 AND %[1]s < 'Infinity'::float8", largest: "greatest",
		least: "least",
		// Without this fence the planner of Postgres takes time and memory that grow exponentially in the number of
		// layers.
		fence: " OFFSET 0",
	},
	{
		name: "sqlite", foldsNames: true, double: "%s", asText: "CAST(%s AS TEXT)", trim: "trim(%s, %s)",
		characters: func(text string) string {
			return "char(" + eachCharacter(text, "%d", ", ") + ")"
		},
		// A text is equal to a number only if the whole text is that number.
		number: "CASE WHEN typeof(%[1]s) IN ('integer', 'real') THEN CAST(%[1]s AS REAL) WHEN lower(%[2]s) IN (%[3]s) THEN 1.0 WHEN lower(%[2]s) IN (%[4]s) THEN 0.0 " +
			"WHEN %[2]s = CAST(%[2]s AS REAL) THEN CAST(%[2]s AS REAL) END",
		finite: "abs(%s) < 9e999", largest: "max", least: "min",
	},
}

// checkNames returns an error if the database reads two names of columns as one.
func (d *sqlDialect) checkNames(columns []regression.Column) error {
	if !d.foldsNames {
		return nil
	}
	seen := map[string]string{}
	for _, c := range columns {
		folded := strings.Map(func(r rune) rune {
			if 'A' <= r && r <= 'Z' {
				return r - 'A' + 'a'
			}
			return r
		}, c.Name)
		if other, ok := seen[folded]; ok {
			return fmt.Errorf(
				"a model with the columns %q and %q %w to SQL for %s, which ignores case in names; rename one of them and train again, or use --sql postgres or a program (--python, --js, --go)",
				other, c.Name, ErrKind, d.name)
		}
		seen[folded] = c.Name
	}
	return nil
}

// eachCharacter writes the characters of a text as numbers.
func eachCharacter(text, pattern, between string) string {
	var out []string
	for _, r := range text {
		out = append(out, fmt.Sprintf(pattern, r))
	}
	return strings.Join(out, between)
}

// A query is a nest of selects: every layer names expressions in terms of the names of the layer below, and the
// lowest layer in terms of the columns of the table, t.
type query struct {
	dialect *sqlDialect
	layers  []layer
	names   map[string]string // by layer and expression
}

type layer []namedExpression

type namedExpression struct{ name, expression string }

// The layers.
const (
	textLayer     = iota // texts without blanks around them
	normalLayer          // texts in their normal form
	numberLayer          // numbers, and texts that are folded or cut
	spellingLayer        // texts in the form used to compare the spellings of a category
	cellLayer            // treated cells
	sumLayer             // linear sums, clamped if they are scores of prototypes
	largeLayer           // the largest scores of prototypes
	scoreLayer           // the scores of the model
)

// nameIn returns the name of an expression in a layer.
func (q *query) nameIn(at int, expression string) string {
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

// modelOutputs returns the selected expressions of a model.
func (q *query) modelOutputs(m regression.Model) ([]output, error) {
	var scores []string
	for _, s := range scoresOf(m) {
		score, err := q.modelScore(s)
		if err != nil {
			return nil, err
		}
		scores = append(scores, q.nameIn(scoreLayer, score))
	}
	c, ok := m.(*regression.Classifier)
	if !ok {
		return []output{{"prediction", q.undoTransform(regression.LinearPart(m), scores[0])}}, nil
	}
	out := []output{{"class", q.predictedClass(c, scores)}}
	if p := c.Probability; p != nil {
		out = append(out, output{"probability", q.probabilityOf(p, scores[0])})
	}
	return out, nil
}

// probabilityOf returns the expression of the probability of the second class at a score.
func (q *query) probabilityOf(p *regression.Probability, score string) string {
	if len(p.Scores) == 0 {
		x := q.formatNumber(p.Intercept) + " + " + q.formatNumber(p.Slope) + " * " + score
		// Beyond ±700, e^x exceeds the range of a double, and the probability is 0 or 1 to 300 digits.
		x = q.clamp(x, -700, 700)
		return q.formatNumber(1) + " / (" + q.formatNumber(1) + " + exp(-(" + x + ")))"
	}
	var b strings.Builder
	b.WriteString("CASE")
	for k, to := range p.Scores {
		value := q.formatNumber(p.Values[k])
		if k > 0 {
			from := p.Scores[k-1]
			low := p.Values[k-1]
			share := "(" + score + " - " + q.formatNumber(from) + ") / " + q.formatNumber(to-from)
			value = q.formatNumber(low) + " + " + q.formatNumber(p.Values[k]-low) + " * (" + share +
				")"
		}
		fmt.Fprintf(&b, " WHEN %s <= %s THEN %s", score, q.formatNumber(to), value)
	}
	fmt.Fprintf(&b, " ELSE %s END", q.formatNumber(p.Values[len(p.Values)-1]))
	return b.String()
}

// rawNumber is a cell of a numeric column as a double, maybe NULL or not finite.
func (q *query) rawNumber(c *regression.Column) string {
	yes := "'true', 't'"
	no := "'false', 'f'"
	if c.Reading.Strict {
		yes = "'true'"
		no = "'false'"
	}
	x := fmt.Sprintf(
		q.dialect.number,
		"t."+quoteIdentifier(c.Name),
		q.trimmedCell(c),
		yes,
		no,
	)
	for _, missing := range c.Reading.Missing {
		x = fmt.Sprintf("nullif(%s, %s)", x, q.formatNumber(missing))
	}
	return q.nameIn(numberLayer, x)
}

// trimmedCell is the text of a cell without blanks around it, with line ends treated as blanks.
func (q *query) trimmedCell(c *regression.Column) string {
	text := fmt.Sprintf(q.dialect.asText, "t."+quoteIdentifier(c.Name))
	for _, end := range []string{"\r\n", "\n"} {
		text = fmt.Sprintf("replace(%s, %s, ' ')", text, q.dialect.characters(end))
	}
	return q.nameIn(textLayer, q.trimBlanks(text))
}

// trimBlanks removes blanks around a text.
func (q *query) trimBlanks(text string) string {
	return fmt.Sprintf(
		q.dialect.trim,
		text,
		q.dialect.characters(cell.Blanks+cell.Invisible),
	)
}

// treatedCell is the treated cell of a numeric column.
func (q *query) treatedCell(c *regression.Column) string {
	if c.Values != nil {
		return q.nameIn(cellLayer, q.textValue(c))
	}
	x := q.rawNumber(c)
	return q.nameIn(cellLayer, fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END",
		fmt.Sprintf(q.dialect.finite, x), q.clamp(x, c.Lower, c.Upper),
		q.formatNumber(min(max(c.Missing, c.Lower), c.Upper))))
}

// textValue returns the number assigned to a text.
func (q *query) textValue(c *regression.Column) string {
	last := q.formatNumber(c.Values[len(c.Categories)])
	if len(c.Categories) == 0 {
		return last
	}
	var out strings.Builder
	fmt.Fprintf(&out, "CASE %s", q.textOf(c))
	for i, name := range c.Categories {
		fmt.Fprintf(&out, " WHEN %s THEN %s", quoteLiteral(normalName(name)),
			q.formatNumber(c.Values[i]))
	}
	fmt.Fprintf(&out, " ELSE %s END", last)
	return out.String()
}

// missingFlag is an expression that is x if the cell of a numeric column is missing, and 0 otherwise.
func (q *query) missingFlag(c *regression.Column, x float64) string {
	missing := q.nameIn(cellLayer,
		fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END",
			fmt.Sprintf(q.dialect.finite, q.rawNumber(c)), q.formatNumber(0), q.formatNumber(1)))
	return q.formatNumber(x) + " * " + missing
}

// cellText is the text of a cell of a category column.
func (q *query) cellText(c *regression.Column) string {
	return q.nameIn(cellLayer, q.textOf(c))
}

// textOf is the category of a cell of a text column in its listed spelling, or the text itself.
func (q *query) textOf(c *regression.Column) string {
	text := q.nameIn(normalLayer, "coalesce("+q.normalForm(c, q.trimmedCell(c))+", '')")
	label := text
	if folded := q.foldedValue(c, text); folded != text {
		label = fmt.Sprintf("CASE WHEN %[1]s IN (%[2]s) THEN %[1]s ELSE %[3]s END", text,
			quoteLiterals(cell.MissingWords()), folded)
		label = q.nameIn(numberLayer, label)
	}
	return q.canonicalSpelling(c, label)
}

// canonicalSpelling is the category that [cell.Names] finds for a spelling, or the text itself.
func (q *query) canonicalSpelling(c *regression.Column, text string) string {
	name := func(code int32) string {
		return quoteLiteral(cell.Normal(c.Categories[code]))
	}
	names := namesOf(c)
	found := names.Spellings()
	var exact strings.Builder
	if missing, _ := names.Find(""); missing != names.Others() {
		fmt.Fprintf(&exact, " WHEN %s IN (%s) THEN %s", text, quoteLiterals(cell.MissingWords()),
			name(missing))
	}
	for k, category := range c.Categories {
		decomposed := norm.NFD.String(cell.Normal(category))
		if q.dialect.name == "sqlite" && decomposed != cell.Normal(category) { // sqlite has no function for the normal form
			fmt.Fprintf(&exact, " WHEN %s = %s THEN %s", text, quoteLiteral(decomposed),
				name(int32(k))) //nolint:gosec // lists are short
		}
	}
	if exact.Len() == 0 && len(found) == 0 {
		return text
	}
	other := text
	if len(found) > 0 {
		key := q.nameIn(spellingLayer, q.withoutZeros(c, text))
		var spellings strings.Builder
		for _, spelling := range slices.Sorted(maps.Keys(found)) {
			fmt.Fprintf(&spellings, " WHEN %s THEN %s", quoteLiteral(spelling),
				name(found[spelling]))
		}
		if zero, ok := found["0"]; ok {
			fmt.Fprintf(&spellings, " WHEN '-0' THEN %s", name(zero))
		}
		other = fmt.Sprintf("CASE %s%s ELSE %s END", key, spellings.String(), text)
	}
	return fmt.Sprintf("CASE WHEN %s IN (%s) THEN %s%s ELSE %s END", text,
		quoteLiterals(c.Categories), text, exact.String(), other)
}

// withoutZeros is a text in lower case, without decimals that are all zeros.
func (q *query) withoutZeros(c *regression.Column, text string) string {
	mark := "."
	if c.Reading.Decimal == ',' {
		mark = ","
	}
	rest := fmt.Sprintf("rtrim(%s, '0')", text)
	return fmt.Sprintf(
		"CASE WHEN %[1]s <> %[2]s AND substr(%[2]s, length(%[2]s), 1) = '%[3]s' THEN substr(%[2]s, 1, length(%[2]s) - 1) ELSE lower(%[1]s) END",
		text, rest, mark)
}

// normalForm returns the normal form of a trimmed text, as far as the categories of a column depend on it.
func (q *query) normalForm(c *regression.Column, text string) string {
	all := strings.Join(c.Categories, "")
	ascii := strings.IndexFunc(all, func(r rune) bool {
		return r > unicode.MaxASCII
	}) < 0 && c.TextRule.Prefix == 0
	blanks := strings.TrimLeft(cell.Blanks, "\t ")
	if q.dialect.name != "sqlite" {
		text = fmt.Sprintf("translate(%s, %s, '%s')", text,
			q.dialect.characters(blanks+cell.Removed),
			strings.Repeat(" ", utf8.RuneCountInString(blanks)))
		switch {
		case ascii:
			return text
		case q.dialect.name == "duckdb":
			return "nfc_normalize(" + text + ")"
		}
		return "normalize(" + text + ", NFC)"
	}
	replace := func(old, by string) {
		text = fmt.Sprintf("replace(%s, %s, %s)", text, old, by)
	}
	for _, r := range cell.Removed {
		replace(q.dialect.characters(string(r)), "''")
	}
	if strings.Contains(all, " ") || c.TextRule.Prefix > 0 {
		for _, r := range noBreakBlanks {
			replace(q.dialect.characters(string(r)), "' '")
		}
	}
	return text
}

// noBreakBlanks are the blanks within a text that a query for SQLite replaces. SQLite has no function that replaces
// several characters at once, and its parser limits the nesting of calls.
const noBreakBlanks = "\u00a0\u202f\u2009\u3000"

// foldedValue is the value of a trimmed text in a column without buckets.
func (q *query) foldedValue(c *regression.Column, text string) string {
	sqlite := q.dialect.name == "sqlite"
	if c.TextRule.Fold == cell.FoldBlanks || c.TextRule.Fold == cell.FoldCase {
		if sqlite { // a mark after each blank, and then no blank after a mark
			text = fmt.Sprintf(
				"replace(replace(replace(replace(%s, char(9), ' '), ' ', ' ' || char(1)), char(1) || ' ', ''), char(1), '')",
				text)
		} else {
			text = fmt.Sprintf("regexp_replace(%s, '[ ' || chr(9) || ']+', ' ', 'g')", text)
		}
	}
	if c.TextRule.Fold == cell.FoldCase {
		capital, small := cell.Capitals()
		if !sqlite {
			text = fmt.Sprintf("translate(%s, %s, %s)", text, quoteLiteral(capital),
				quoteLiteral(small))
		} else { // which handles only ASCII letters: others matter if they occur in a category
			text = "lower(" + text + ")"
			a, b := []rune(capital), []rune(small)
			for i, r := range a {
				if r > 'Z' && strings.ContainsRune(strings.Join(c.Categories, ""), b[i]) {
					text = fmt.Sprintf("replace(%s, %s, %s)", text, quoteLiteral(string(r)),
						quoteLiteral(string(b[i])))
				}
			}
		}
	}
	if c.TextRule.Prefix > 0 {
		text = q.trimBlanks(fmt.Sprintf("substr(%s, 1, %d)", text, c.TextRule.Prefix))
	}
	return text
}

func (q *query) clamp(x string, lower, upper float64) string {
	return q.callFunction(q.dialect.least,
		[]string{q.callFunction(q.dialect.largest, []string{x, q.formatNumber(lower)}),
			q.formatNumber(upper)})
}

// callFunction calls a function of one argument or more.
func (q *query) callFunction(function string, arguments []string) string {
	if len(arguments) == 1 {
		return arguments[0]
	}
	return function + "(" + strings.Join(arguments, ", ") + ")"
}

func (q *query) formatNumber(x float64) string {
	if x == 0 {
		x = math.Abs(x)
	}
	text := strconv.FormatFloat(x, 'e', -1, 64)
	if x < 0 {
		text = "(" + text + ")"
	}
	return fmt.Sprintf(q.dialect.double, text)
}

// balancedSum adds up terms in a balanced tree, because some databases limit the depth of an expression.
func balancedSum(sum []string) string {
	if len(sum) == 1 {
		return sum[0]
	}
	half := len(sum) / 2
	return "(" + balancedSum(sum[:half]) + " + " + balancedSum(sum[half:]) + ")"
}

// writeQuery writes the query.
func (q *query) writeQuery(outputs []output, table string) string {
	var out strings.Builder
	out.WriteString("-- Predictions of a model that dptrain trained (" + q.dialect.name +
		").\nSELECT t.*")
	for _, o := range outputs {
		fmt.Fprintf(&out, ",\n  (SELECT %s\n   FROM %s) AS %s", o.expression,
			q.fromClause(len(q.layers)-1), quoteIdentifier(o.name))
	}
	fmt.Fprintf(&out, "\nFROM %s AS t;\n", quoteIdentifier(table))
	return out.String()
}

// fromClause nests the layers up to one.
func (q *query) fromClause(at int) string {
	var out strings.Builder
	out.WriteString("(SELECT ")
	below := ""
	if at > 0 {
		below = q.fromClause(at - 1)
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
	fmt.Fprintf(&out, "%s) AS dp%d", q.dialect.fence, at)
	return out.String()
}

func quoteIdentifier(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func quoteLiteral(text string) string {
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

func quoteLiterals(texts []string) string {
	out := make([]string, len(texts))
	for i, x := range texts {
		out[i] = quoteLiteral(normalName(x))
	}
	return strings.Join(out, ", ")
}

func normalName(name string) string {
	return cell.Normal(name)
}
