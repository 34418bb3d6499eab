package regression

import (
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// Rows is a batch of rows to predict, by named column. Columns that the model does not use are ignored. The
// slices are read only and not retained.
//
// A numeric input is looked up in Numeric. A category input is looked up in Labels, then in Codes, so the
// caller may fill either. Labels and the names of Codes are cleaned as the table readers clean texts; a name of
// Codes that is a category of the model is that one, as tables read by the rule of the column hold them. An input
// with [Column.Values] is looked up as a category, then as a number in Numeric. An input that derives from
// dates is looked up as a number in Numeric, then in Labels under the name of the date column.
type Rows struct {
	N       int                  // number of rows, the length of every column
	Numeric map[string][]float64 // NaN for a missing or unparseable cell
	Labels  map[string][]string  // categories as text
	Codes   map[string]Codes     // categories as positions in a list
}

// Codes is a category column stored as indices into a list of names. A value outside [0, len(Categories)) means
// other; by convention it is len(Categories).
type Codes struct {
	Values     []int32
	Categories []string
}

// Causes that a [ColumnError] wraps.
var (
	ErrColumnAbsent = errors.New("the model needs this column, but the rows do not contain it")
	ErrColumnType   = errors.New(
		"the column has the wrong type in the rows (numeric instead of category, or the reverse)")
	ErrColumnLength = errors.New("the column's length differs from the number of rows")
)

// ColumnError reports an input column that rows do not provide as the model
// needs it. It wraps [ErrColumnAbsent], [ErrColumnType] or [ErrColumnLength].
type ColumnError struct {
	Column string
	Err    error
}

func (e *ColumnError) Error() string {
	return fmt.Sprintf("column %q: %v", e.Column, e.Err)
}

// Unwrap returns the reason.
func (e *ColumnError) Unwrap() error {
	return e.Err
}

// checkInputs returns an error for every column of inputs that rows cannot provide.
func (rows Rows) checkInputs(inputs []Column) error {
	var problems []error
	for _, c := range inputs {
		if reason := rows.checkColumn(c); reason != nil {
			problems = append(problems, &ColumnError{
				Column: c.Name,
				Err:    reason,
			})
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
	case c.Type == Numeric && !isNumeric && c.Values == nil,
		c.Type == Category && !isLabels && !isCodes:
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

// resolveNumbers returns rows with numbers in place of the texts of columns with [Column.Values] and of dates.
// The rows must have passed checkInputs.
func (rows Rows) resolveNumbers(inputs []Column) Rows {
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
			set(c.Name, rows.textNumbers(c))
		case c.Reading.Source != "" && !isNumeric:
			set(c.Name, rows.dateParts(c))
		}
	}
	if own != nil {
		rows.Numeric = own
	}
	return rows
}

// dateParts returns the numbers of a column that derives from dates.
func (rows Rows) dateParts(c *Column) []float64 {
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

// textNumbers returns the numbers of a column with [Column.Values].
func (rows Rows) textNumbers(c *Column) []float64 {
	names := c.nameFinder()
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
		table[i] = c.Values[names.FindValue(name)]
	}
	table[other] = c.Values[len(c.Categories)]
	for i, code := range codes.Values {
		out[i] = table[min(uint32(code), other)] // negative codes wrap above other
	}
	return out
}
