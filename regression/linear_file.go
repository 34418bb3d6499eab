package regression

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/sys/strictjson"
)

func linearKind() scoreKind {
	return numberKind[*Linear, linearFile]{
		kindLinear,
		func(m *Linear) linearFile {
			return linearFile{m.baseFile(), m.outputLimits()}
		},
		func(f linearFile) (*Linear, error) {
			m, err := f.toLinear(f.Prediction)
			return &m, err
		},
	}
}

type linearFile struct {
	base
	Prediction limits `json:"prediction"`
}

// base holds the members that start the file of every model that predicts numbers; limits holds the members
// that end it.
type base struct {
	Columns   []columnFile `json:"columns"`
	Terms     []termFile   `json:"terms"`
	Intercept estimate     `json:"intercept"`
}

type limits struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

type estimate struct {
	Coefficient float64 `json:"coefficient"`
	StdError    float64 `json:"std_error"`
}

// columnFile has pointers for members that only numeric or only category columns have.
type columnFile struct {
	Name       string     `json:"name"`
	Type       string     `json:"type"`
	Lower      *float64   `json:"lower,omitempty"`
	Upper      *float64   `json:"upper,omitempty"`
	Missing    *float64   `json:"missing,omitempty"`
	Values     *[]float64 `json:"values,omitempty" format:"2?,3?"`
	Categories *[]string  `json:"categories,omitempty"`
	Other      *bool      `json:"other,omitempty"`
	Fold       string     `json:"fold,omitempty" format:"2?,3?"`
	Prefix     int        `json:"prefix,omitempty" format:"2?,3?"`
	Hash       int        `json:"hash,omitempty" format:"2?,3?"`
}

type termFile struct {
	Column      string  `json:"column"`
	Category    *string `json:"category,omitempty"`
	Other       bool    `json:"other,omitempty"`
	Missing     bool    `json:"missing,omitempty" format:"2?,3?"`
	Coefficient float64 `json:"coefficient"`
	StdError    float64 `json:"std_error"`
}

func (m *Linear) baseFile() base {
	columns := make([]columnFile, len(m.Columns))
	for i := range m.Columns {
		columns[i] = m.Columns[i].toFile()
	}
	return base{columns, m.termFiles(m.Terms), estimate{m.Intercept, m.InterceptStdError}}
}

func (m *Linear) outputLimits() limits {
	return limits{m.Lower, m.Upper}
}

func (c *Column) toFile() columnFile {
	f := columnFile{Name: c.Name, Type: c.Type.String()}
	if c.Type == Numeric {
		f.Lower = &c.Lower
		f.Upper = &c.Upper
		f.Missing = &c.Missing
	} else {
		f.Categories = &c.Categories
		f.Other = &c.Other
	}
	if c.Values != nil {
		f.Values = &c.Values
		f.Categories = &c.Categories
	}
	if c.Text() {
		f.setRule(c.TextRule)
	}
	return f
}

// termFiles returns the file layout of terms over the columns of m.
func (m *Linear) termFiles(terms []Term) []termFile {
	out := make([]termFile, len(terms))
	for i, t := range terms {
		c := &m.Columns[t.Column]
		out[i] = termFile{
			Column:      c.Name,
			Other:       t.Other,
			Missing:     t.Missing,
			Coefficient: t.Coefficient,
			StdError:    t.StdError,
		}
		if c.Type == Category && !t.Other {
			out[i].Category = &t.Category
		}
	}
	return out
}

// toLinear returns the linear part of a model.
func (f *base) toLinear(prediction limits) (Linear, error) {
	m := Linear{
		Intercept:         f.Intercept.Coefficient,
		InterceptStdError: f.Intercept.StdError,
		Lower:             prediction.Lower,
		Upper:             prediction.Upper,
	}
	for i := range f.Columns {
		c, err := f.Columns[i].toColumn()
		if err != nil {
			return m, prefixPath(fmt.Sprintf("columns[%d]", i), err)
		}
		m.Columns = append(m.Columns, c)
	}
	m.Terms = termsOf(f.Terms, m.columnIndex())
	return m, nil
}

// rule returns the rule that transforms texts.
func (f *columnFile) rule() TextRule {
	return TextRule{
		Fold:   f.Fold,
		Prefix: f.Prefix,
		Hash:   f.Hash,
	}
}

// setRule sets the rule that transforms texts.
func (f *columnFile) setRule(t TextRule) {
	f.Fold = t.Fold
	f.Prefix = t.Prefix
	f.Hash = t.Hash
}

func (f *columnFile) toColumn() (Column, error) {
	c := Column{Name: f.Name}
	switch f.Type {
	case Numeric.String():
		plain := f.Values == nil && f.Categories == nil && f.rule() == (TextRule{})
		switch {
		case f.Lower == nil || f.Upper == nil || f.Missing == nil || f.Other != nil:
			return c,
				&ModelError{"", "a numeric column has the keys name, type, lower, upper, missing"}
		case !plain && (f.Values == nil || f.Categories == nil):
			return c,
				&ModelError{"", "a numeric column has the keys values and categories, or neither"}
		}
		c.Lower = *f.Lower
		c.Upper = *f.Upper
		c.Missing = *f.Missing
		if !plain {
			c.Values, c.Categories = append([]float64{}, *f.Values...), nilIfEmpty(*f.Categories)
			c.TextRule = f.rule()
		}
	case Category.String():
		if f.Categories == nil || f.Other == nil || f.Values != nil || f.Lower != nil ||
			f.Upper != nil || f.Missing != nil {
			return c,
				&ModelError{"", "a category column has the keys name, type, categories, other"}
		}
		c.Type, c.Categories, c.Other = Category, nilIfEmpty(*f.Categories), *f.Other
		c.TextRule = f.rule()
	default:
		return c,
			&ModelError{"type",
				fmt.Sprintf("is %s, must be numeric or category", strictjson.Quote(f.Type))}
	}
	return c, nil
}

// nilIfEmpty returns nil for an empty list.
func nilIfEmpty[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// termsOf converts terms from the file layout. A term of an unknown column gets the index -1, which Validate
// rejects.
func termsOf(files []termFile, index func(name string) int) []Term {
	var out []Term
	for _, f := range files {
		t := Term{
			Column:      index(f.Column),
			Other:       f.Other,
			Missing:     f.Missing,
			Coefficient: f.Coefficient,
			StdError:    f.StdError,
		}
		if f.Category != nil {
			t.Category = *f.Category
		}
		out = append(out, t)
	}
	return out
}

// columnIndex returns a function from the name of a column to its index, or -1 if there is no such column.
func (m *Linear) columnIndex() func(name string) int {
	index := make(map[string]int, len(m.Columns))
	for i := range m.Columns {
		index[m.Columns[i].Name] = i
	}
	return func(name string) int {
		if i, ok := index[name]; ok {
			return i
		}
		return -1
	}
}
