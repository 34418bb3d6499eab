package regression

import (
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// Rows is a batch of rows to predict, by named column. A column a model does
// not need is ignored; the slices are read only, never kept.
//
// A numeric input is looked up in Numeric. A category input is looked up in
// Labels, then in Codes: a caller fills whichever it has. Labels, and names of Codes, are read as the readers of tables
// read texts. An input with [Column.Values] is looked up as a category is, and then in Numeric, by its number. One that
// is made of dates is looked up in Numeric, by its number, and then in Labels, by the name of the column of dates.
type Rows struct {
	N       int                  // number of rows, the length of every column
	Numeric map[string][]float64 // NaN for a missing or unparseable cell
	Labels  map[string][]string  // categories as text
	Codes   map[string]Codes     // categories as positions in a list
}

// Codes is a category column stored as positions in a list of names. Any value
// outside [0, len(Categories)) means other; by convention len(Categories).
type Codes struct {
	Values     []int32
	Categories []string
}

// Reasons a [ColumnError] wraps.
var (
	ErrColumnAbsent = errors.New("the model needs this column and the rows do not have it")
	ErrColumnType   = errors.New("the rows hold this column with the other type (numeric or category)")
	ErrColumnLength = errors.New("the column's length differs from the number of rows")
)

// ColumnError reports an input column that rows do not provide as the model
// needs it. It wraps [ErrColumnAbsent], [ErrColumnType] or [ErrColumnLength].
type ColumnError struct {
	Column string
	Err    error
}

func (e *ColumnError) Error() string { return fmt.Sprintf("column %q: %v", e.Column, e.Err) }

// Unwrap returns the reason.
func (e *ColumnError) Unwrap() error { return e.Err }

// check reports every column of inputs that rows cannot provide.
func (rows Rows) check(inputs []Column) error {
	var problems []error
	for _, c := range inputs {
		if reason := rows.checkColumn(c); reason != nil {
			problems = append(problems, &ColumnError{Column: c.Name, Err: reason})
		}
	}
	return errors.Join(problems...)
}

func (rows Rows) checkColumn(c Column) error {
	numeric, isNumeric := rows.Numeric[c.Name]
	labels, isLabels := rows.Labels[c.Name]
	codes, isCodes := rows.Codes[c.Name]
	if source := c.Reading.Source; source != "" && !isNumeric {
		dates, found := rows.Labels[source]
		switch {
		case !found:
			return ErrColumnAbsent
		case len(dates) != rows.N:
			return ErrColumnLength
		}
		return nil
	}
	var length int
	switch {
	case !isNumeric && !isLabels && !isCodes:
		return ErrColumnAbsent
	case c.Type == Numeric && !isNumeric && c.Values == nil, c.Type == Category && !isLabels && !isCodes:
		return ErrColumnType
	case c.Type == Numeric && isNumeric && (c.Values == nil || !isLabels && !isCodes):
		length = len(numeric)
	case isLabels:
		length = len(labels)
	default:
		length = len(codes.Values)
	}
	if length != rows.N {
		return ErrColumnLength
	}
	return nil
}

// numbered returns the rows with numbers in the place of the texts of columns with [Column.Values] and of dates; check
// has passed them.
func (rows Rows) numbered(inputs []Column) Rows {
	var own map[string][]float64
	set := func(name string, numbers []float64) {
		if own == nil {
			own = maps.Clone(rows.Numeric)
		}
		if own == nil {
			own = map[string][]float64{}
		}
		own[name] = numbers
	}
	for i := range inputs {
		c := &inputs[i]
		_, isLabels := rows.Labels[c.Name]
		_, isCodes := rows.Codes[c.Name]
		_, isNumeric := rows.Numeric[c.Name]
		switch {
		case c.Values != nil && (isLabels || isCodes):
			set(c.Name, rows.numbersOf(c))
		case c.Reading.Source != "" && !isNumeric:
			set(c.Name, rows.partsOf(c))
		}
	}
	if own != nil {
		rows.Numeric = own
	}
	return rows
}

// partsOf returns the numbers of a column that is made of dates.
func (rows Rows) partsOf(c *Column) []float64 {
	dates := cell.NewDates(c.Reading.Date)
	out := make([]float64, rows.N)
	for i, text := range rows.Labels[c.Reading.Source] {
		out[i] = math.NaN()
		if m, class := dates.Read(text); class == cell.Good {
			out[i] = m.Part(c.Reading.Part)
		}
	}
	return out
}

// numbersOf returns the numbers of a column with [Column.Values].
func (rows Rows) numbersOf(c *Column) []float64 {
	names := c.names()
	number := func(name string) float64 {
		k, _ := names.Find(name)
		return c.Values[k]
	}
	out := make([]float64, rows.N)
	if labels, ok := rows.Labels[c.Name]; ok {
		for i, label := range labels {
			out[i] = number(label)
		}
		return out
	}
	codes := rows.Codes[c.Name]
	other := uint32(len(codes.Categories))
	table := make([]float64, other+1) // by the rows' own codes
	for i, name := range codes.Categories {
		table[i] = number(name)
	}
	table[other] = c.Values[len(c.Categories)]
	for i, code := range codes.Values {
		out[i] = table[min(uint32(code), other)] // negative codes wrap above other
	}
	return out
}
