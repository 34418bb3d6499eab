package regression

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/sys/strictjson"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// Reading describes how the cells of a column were written in the training table, so that texts of new records
// are parsed in the same way. The zero Reading is lenient parsing with decimal points; see
// docs/guide/tables.md. Number settings are the same for all columns of a model.
type Reading struct {
	Decimal   byte      // ',' or '.'; 0: '.'
	Thousands byte      // separator of groups of three digits: one of , . ' _ or a space; 0: none
	Strict    bool      // accept plain numbers only
	Missing   []float64 // numbers that mean a missing cell

	// Source is the date column from which a numeric column derives, as the part Part of its dates; Date is
	// their layout, of package time, or "auto". All three are empty for other columns.
	Source, Part, Date string
}

// IsZero reports whether r is the zero Reading.
func (r Reading) IsZero() bool {
	return r.Decimal == 0 && r.Thousands == 0 && !r.Strict && len(r.Missing) == 0 &&
		r.Source == "" && r.Part == "" && r.Date == ""
}

// sameNumbers reports whether two columns share the number settings.
func (r *Reading) sameNumbers(o *Reading) bool {
	return r.Decimal == o.Decimal && r.Thousands == o.Thousands && r.Strict == o.Strict &&
		slices.Equal(r.Missing, o.Missing)
}

// cellRule returns the corresponding rule of package cell.
func (r *Reading) cellRule() cell.Rule {
	return cell.Rule{
		Decimal:   r.Decimal,
		Thousands: r.Thousands,
		Lenient:   !r.Strict,
		Missing:   r.Missing,
	}
}

// SetReading updates the readings of the columns of a model. It calls change for each column, for a classifier
// once per score and column.
func SetReading(m Model, change func(column string, r *Reading)) {
	for _, c := range columnsOf(m) {
		change(c.Name, &c.Reading)
	}
}

// hasReading reports whether a column of a model has a nonzero Reading.
func hasReading(m Model) bool {
	return slices.ContainsFunc(columnsOf(m), func(c *Column) bool {
		return !c.Reading.IsZero()
	})
}

// columnsOf returns the columns of a model, for a classifier those of all its scores.
func columnsOf(m Model) []*Column {
	var list []Column
	switch m := m.(type) {
	case *Classifier:
		var out []*Column
		for _, score := range m.Scores {
			out = append(out, columnsOf(score)...)
		}
		return out
	case *Neighbours:
		list = m.Columns
	case linearBased:
		list = m.linearPart().Columns
	}
	out := make([]*Column, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// nameFinder returns the lookup of the categories of a column.
func (c *Column) nameFinder() *cell.Names {
	return cell.NewNames(c.Categories, cell.Text(c.TextRule), c.Reading.Decimal)
}

// readingFile is the file layout of the readings of a model. Default values are omitted.
type readingFile struct {
	Decimal   string     `json:"decimal,omitempty"`
	Thousands string     `json:"thousands,omitempty"`
	Numbers   string     `json:"numbers,omitempty"`
	Missing   []float64  `json:"missing,omitempty"`
	Dates     []dateFile `json:"dates,omitempty"`
}

// dateFile is a column that derives from dates.
type dateFile struct {
	Column string `json:"column"`
	Source string `json:"source"`
	Part   string `json:"part"`
	Layout string `json:"layout"`
}

// strictNumbers is the value of the key "numbers" for tables in which only plain numbers are accepted.
const strictNumbers = "strict"

// readingOf returns the file layout of the readings of a model, or nil if all are default.
func readingOf(m Model) *readingFile {
	if !hasReading(m) {
		return nil
	}
	n := m.Inputs()[0].Reading
	f := &readingFile{}
	if n.Decimal != 0 {
		f.Decimal = string(rune(n.Decimal))
	}
	if n.Thousands != 0 {
		f.Thousands = string(rune(n.Thousands))
	}
	if n.Strict {
		f.Numbers = strictNumbers
	}
	f.Missing = n.Missing
	for _, c := range m.Inputs() {
		if r := c.Reading; r.Source != "" {
			f.Dates = append(f.Dates, dateFile{c.Name, r.Source, r.Part, r.Date})
		}
	}
	return f
}

// applyTo sets the readings of the columns of a model.
func (f *readingFile) applyTo(m Model) error {
	if f == nil {
		return nil
	}
	n := Reading{
		Strict:  f.Numbers == strictNumbers,
		Missing: f.Missing,
	}
	switch {
	case f.Numbers != "" && !n.Strict:
		return &ModelError{"reading.numbers",
			fmt.Sprintf("is %s, must be strict or absent", strictjson.Quote(f.Numbers))}
	case len(f.Decimal) > 1:
		return &ModelError{"reading.decimal", "is more than one character"}
	case len(f.Thousands) > 1:
		return &ModelError{"reading.thousands", "is more than one character"}
	}
	if f.Decimal != "" {
		n.Decimal = f.Decimal[0]
	}
	if f.Thousands != "" {
		n.Thousands = f.Thousands[0]
	}
	columns := columnsOf(m)
	for _, c := range columns {
		c.Reading = n
	}
	for i, d := range f.Dates {
		found := false
		for _, c := range columns {
			if c.Name == d.Column {
				found = true
				c.Reading.Source = d.Source
				c.Reading.Part = d.Part
				c.Reading.Date = d.Layout
			}
		}
		if !found {
			return &ModelError{fmt.Sprintf("reading.dates[%d].column", i),
				"no column has this name"}
		}
	}
	return nil
}

// validate validates the reading of column c.
func (r *Reading) validate(path string, c *Column) error {
	decimal := byte('.')
	if r.Decimal != 0 {
		decimal = r.Decimal
	}
	switch {
	case decimal != '.' && decimal != ',':
		return &ModelError{"reading.decimal", "is neither a point nor a comma"}
	case r.Thousands != 0 && !slices.Contains([]byte(",.'_ "), r.Thousands):
		return &ModelError{"reading.thousands", "is no mark between groups of digits"}
	case r.Thousands == decimal:
		return &ModelError{"reading.thousands", "is the decimal mark too"}
	case slices.ContainsFunc(r.Missing, func(x float64) bool {
		return !isFinite(x)
	}):
		return &ModelError{"reading.missing", "is not finite"}
	case r.Source == "" && r.Part == "" && r.Date == "":
		return nil
	case c.Text() || c.Type != Numeric:
		return &ModelError{path, "a column that is made of dates holds numbers"}
	case !utf8.ValidString(r.Source) || r.Source == "":
		return &ModelError{"reading.dates",
			"a date of " + strictjson.Quote(c.Name) + " has no source"}
	case !slices.Contains(cell.Parts(), r.Part):
		return &ModelError{"reading.dates",
			"a date of " + strictjson.Quote(c.Name) + " has no known part"}
	case !cell.ReadsDates(r.Date):
		return &ModelError{"reading.dates",
			"a date of " + strictjson.Quote(c.Name) + " has a layout without year, month and day"}
	}
	return nil
}
