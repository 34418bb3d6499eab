package main

import (
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/regression"
)

// A scorer computes the columns that predict adds. To add a column, name it in newScorer and compute its values
// there.
type scorer struct {
	columns []column
	// values returns the values of each column for a batch of rows. It is safe for concurrent use.
	values func(regression.Rows) ([][]float64, error)
}

// A column is an output column of predict.
type column struct {
	name    string
	classes []string // if not nil, values are indexes of classes; otherwise values are numbers
}

// newScorer returns a scorer for a model. Its column is named "prediction" for numbers, and like the target for
// classes.
func newScorer(m regression.Model) *scorer {
	c := column{name: "prediction"}
	if o := m.Output(); len(o.Classes) > 0 {
		c = column{o.Target, o.Classes}
	}
	return &scorer{
		columns: []column{c},
		values: func(rows regression.Rows) ([][]float64, error) {
			p, err := m.Predict(nil, rows)
			return [][]float64{p}, err
		},
	}
}

// appendCell appends a value as text, without quotes.
func (c *column) appendCell(dst []byte, v float64) []byte {
	if c.classes == nil {
		return strconv.AppendFloat(dst, v, 'g', -1, 64)
	}
	return append(dst, c.classes[int(v)]...)
}

// quoted returns the column with its name and classes quoted as the only cell of a CSV line.
func (c *column) quoted() column {
	q := column{name: csvCell(c.name)}
	for _, class := range c.classes {
		q.classes = append(q.classes, csvCell(class))
	}
	return q
}

// quotedJSON returns the column with its name and classes as JSON strings. Numbers are finite.
func (c *column) quotedJSON() column {
	quote := func(text string) string {
		out, _ := json.Marshal(text) // cannot fail for a string
		return string(out)
	}
	q := column{name: quote(c.name)}
	for _, class := range c.classes {
		q.classes = append(q.classes, quote(class))
	}
	return q
}

// csvCell returns text as the only cell of a CSV line. Empty text is quoted, because an empty line is not a record.
func csvCell(text string) string {
	if text == "" {
		return `""`
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{text}) // a Builder never fails
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
