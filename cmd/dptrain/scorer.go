package main

import (
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/regression"
)

// A scorer makes the columns that predict adds. To add one, name it in newScorer and
// compute its values there; the rest follows.
type scorer struct {
	columns []column
	// values returns the cells of each column for a batch of rows. It may be called
	// from several goroutines at once.
	values func(regression.Rows) ([][]float64, error)
}

// column is what predict adds to a table.
type column struct {
	name    string
	classes []string // a value is the position of one of them; nil: values are numbers
}

// newScorer predicts with a model: numbers are headed "prediction", classes with the
// name of the target.
func newScorer(m regression.Model) *scorer {
	c := column{name: "prediction"}
	if o := m.Output(); len(o.Classes) > 0 {
		c = column{o.Target, o.Classes}
	}
	return &scorer{columns: []column{c}, values: func(rows regression.Rows) ([][]float64, error) {
		p, err := m.Predict(nil, rows)
		return [][]float64{p}, err
	}}
}

// appendCell appends a value as text, not quoted.
func (c *column) appendCell(dst []byte, v float64) []byte {
	if c.classes == nil {
		return strconv.AppendFloat(dst, v, 'g', -1, 64)
	}
	return append(dst, c.classes[int(v)]...)
}

// quoted returns the column with its name and classes as cells of a CSV line that
// holds nothing else.
func (c *column) quoted() column {
	q := column{name: csvCell(c.name)}
	for _, class := range c.classes {
		q.classes = append(q.classes, csvCell(class))
	}
	return q
}

// quotedJSON returns the column with its name and classes as texts of JSON. Numbers are finite.
func (c *column) quotedJSON() column {
	quote := func(text string) string {
		out, _ := json.Marshal(text) // a text always has one
		return string(out)
	}
	q := column{name: quote(c.name)}
	for _, class := range c.classes {
		q.classes = append(q.classes, quote(class))
	}
	return q
}

// csvCell returns text as the only cell of a CSV line. An empty one is quoted: an
// empty line would be no record.
func csvCell(text string) string {
	if text == "" {
		return `""`
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{text}) // a Builder takes everything
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
