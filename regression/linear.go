package regression

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// Linear is the model
//
//	prediction = clamp(Intercept + sum over Terms of Coefficient * x, Lower, Upper)
//
// where x is the treated cell of a numeric column, or the 0/1 indicator of the term's category or of a missing
// cell. Coefficients are in original units: units of the target per unit of the column. The zero value predicts
// 0.
//
// A Linear must not be changed while it is in use.
type Linear struct {
	Target  string
	Columns []Column
	Terms   []Term

	Intercept         float64
	InterceptStdError float64

	Lower, Upper float64 // clamp of the prediction, finite

	// Back is set if the model was fitted to a transform of the target. Coefficients, Lower and Upper are then
	// in units of the transformed target, and Back converts the clamped prediction to the mean of the target.
	Back *BackTransform

	Intervals []Interval // prediction intervals by level, optional

	Guarantee *Guarantee // nil: trained without privacy
}

// Term is one coefficient of a [Linear] model.
type Term struct {
	Column   int    // index into Columns
	Category string // for a category column: the category whose indicator this is
	Other    bool   // for a category column: the indicator of every other value
	Missing  bool   // for a numeric column: the indicator of a cell that is missing, unparseable, NaN or infinite

	Coefficient float64
	// StdError is the standard deviation of the privacy noise in Coefficient;
	// 0 when it was fitted without noise, or when the deviation is not known.
	// It does not include the sampling error of the rows. In an [Additive] or
	// a [Kernel] model it can be much too small, because lines, curves and
	// categories trade their effects (docs/proofs/boosted-additive.md,
	// "Noise in the curves").
	StdError float64
}

var _ Model = (*Linear)(nil)

// Kind returns "linear".
func (m *Linear) Kind() string {
	return kindLinear
}

// Output describes the target.
func (m *Linear) Output() Output {
	return Output{Task: TaskRegression, Target: m.Target}
}

// Sums returns a single sum, the model itself.
func (m *Linear) Sums() []*Additive {
	return []*Additive{{Linear: *m}}
}

// linearPart returns m. Kinds that embed a Linear inherit it.
func (m *Linear) linearPart() *Linear {
	return m
}

// Inputs returns m.Columns.
func (m *Linear) Inputs() []Column {
	return m.Columns
}

// Validate reports the first inconsistency in the model as a [*ModelError]: a number that is not finite, a
// lower bound above the upper, a repeated column, category or term, a term that refers to no column or
// category, a name that is not UTF-8, intervals out of order, and a guarantee out of range.
func (m *Linear) Validate() error {
	if !utf8.ValidString(m.Target) {
		return &ModelError{"target", "is not valid UTF-8"}
	}
	if err := m.validateColumns(); err != nil {
		return err
	}
	if err := m.validateTerms(); err != nil {
		return err
	}
	if err := validCoefficient("intercept", m.Intercept, m.InterceptStdError); err != nil {
		return err
	}
	if err := validRange("prediction", m.Lower, m.Upper); err != nil {
		return err
	}
	if key, problem := m.Back.problem(); problem != "" {
		return &ModelError{"target_transform." + key, problem}
	}
	if err := validIntervals(m.Intervals); err != nil {
		return err
	}
	if m.Guarantee != nil {
		return m.Guarantee.validate()
	}
	return nil
}

func (m *Linear) validateColumns() error {
	seen := make(map[string]bool, len(m.Columns))
	for i := range m.Columns {
		c := &m.Columns[i]
		path := fmt.Sprintf("columns[%d]", i)
		switch {
		case !utf8.ValidString(c.Name):
			return &ModelError{path + ".name", "is not valid UTF-8"}
		case seen[c.Name]:
			return &ModelError{path + ".name", "another column has this name"}
		case c.Name == m.Target:
			return &ModelError{path + ".name", "the target cannot be an input"}
		}
		seen[c.Name] = true
		if err := c.validate(path); err != nil {
			return err
		}
		if err := c.Reading.validate(path, c); err != nil {
			return err
		}
		if !c.Reading.sameNumbers(&m.Columns[0].Reading) {
			return &ModelError{path, "another column has numbers that are written in another way"}
		}
	}
	return nil
}

func (c *Column) validate(path string) error {
	switch c.Type {
	case Numeric:
		if err := c.validateValues(path); err != nil {
			return err
		}
		if !isFinite(c.Missing) {
			return &ModelError{path + ".missing", "is not finite"}
		}
		return validRange(path, c.Lower, c.Upper)
	case Category:
		if c.Lower != 0 || c.Upper != 0 || c.Missing != 0 || c.Values != nil {
			return &ModelError{path, "a category column has no lower, upper, missing and values"}
		}
		return c.validateTexts(path)
	}
	return &ModelError{path + ".type", "is neither numeric nor category"}
}

// validateTexts validates the categories of a column and the rule that cleans its texts.
func (c *Column) validateTexts(path string) error {
	seen := make(map[string]bool, len(c.Categories))
	for j, name := range c.Categories {
		if !utf8.ValidString(name) {
			return &ModelError{fmt.Sprintf("%s.categories[%d]", path, j), "is not valid UTF-8"}
		}
		if seen[name] {
			return &ModelError{fmt.Sprintf("%s.categories[%d]", path, j),
				"the category is listed twice"}
		}
		seen[name] = true
	}
	if !cell.Text(c.TextRule).Known() {
		return &ModelError{path, "has a fold, prefix or hash that is not known"}
	}
	return nil
}

// validateValues validates the texts and numbers of a numeric column that has Values.
func (c *Column) validateValues(path string) error {
	switch {
	case c.Other:
		return &ModelError{path, "a numeric column has no other"}
	case c.Values == nil && len(c.Categories) > 0:
		return &ModelError{path, "a numeric column without values has no categories"}
	case c.Values == nil:
		return nil
	case len(c.Values) != len(c.Categories)+1:
		return &ModelError{path + ".values",
			"is not one number a category and one for every other cell"}
	}
	for j, x := range c.Values {
		if !(x >= c.Lower && x <= c.Upper) {
			return &ModelError{fmt.Sprintf("%s.values[%d]", path, j),
				"is not within lower and upper"}
		}
	}
	return c.validateTexts(path)
}

func (m *Linear) validateTerms() error {
	type key struct {
		column   int
		category string
		other    bool
		missing  bool
	}
	categories := make([]map[string]bool, len(m.Columns))
	for i := range m.Columns {
		categories[i] = make(map[string]bool, len(m.Columns[i].Categories))
		for _, name := range m.Columns[i].Categories {
			categories[i][name] = true
		}
	}
	seen := make(map[key]bool, len(m.Terms))
	for i, t := range m.Terms {
		path := fmt.Sprintf("terms[%d]", i)
		if t.Column < 0 || t.Column >= len(m.Columns) {
			return &ModelError{path + ".column", "no column has this name"}
		}
		c := &m.Columns[t.Column]
		switch {
		case c.Type == Numeric && (t.Category != "" || t.Other):
			return &ModelError{path, "the term of a numeric column has no category"}
		case c.Type == Category && t.Missing:
			return &ModelError{path + ".missing", "is for terms of numeric columns"}
		case t.Other && t.Category != "":
			return &ModelError{path, "the term has both a category and other"}
		case t.Other && !c.Other:
			return &ModelError{path + ".other", "the column does not keep other values"}
		case c.Type == Category && !t.Other && !categories[t.Column][t.Category]:
			return &ModelError{path + ".category", "the column does not list this category"}
		case seen[key{t.Column, t.Category, t.Other, t.Missing}]:
			return &ModelError{path, "another term has the same column and category"}
		}
		seen[key{t.Column, t.Category, t.Other, t.Missing}] = true
		if err := validCoefficient(path, t.Coefficient, t.StdError); err != nil {
			return err
		}
	}
	return nil
}

func (g *Guarantee) validate() error {
	switch {
	case !isFinite(g.Epsilon) || g.Epsilon < 0:
		return &ModelError{"guarantee.epsilon", "must be finite and at least 0"}
	case !(g.Delta >= 0 && g.Delta < 1):
		return &ModelError{"guarantee.delta", "must be in [0, 1)"}
	case !isFinite(g.Mu) || g.Mu < 0:
		return &ModelError{"guarantee.mu", "must be finite and at least 0"}
	case g.Relation == "" || !utf8.ValidString(g.Relation):
		return &ModelError{"guarantee.relation", "must name the neighbouring relation"}
	case g.Unit == nil:
	case g.Unit.Column == "" || !utf8.ValidString(g.Unit.Column):
		return &ModelError{"guarantee.unit.column", "must name a column"}
	case g.Unit.MaxRows < 1 || g.Unit.MaxRows > math.MaxInt32:
		return &ModelError{"guarantee.unit.max_rows",
			"must be a whole number of at least 1, and below 2^31"}
	}
	return nil
}

func validCoefficient(path string, coefficient, stdError float64) error {
	if !isFinite(coefficient) {
		return &ModelError{path + ".coefficient", "is not finite"}
	}
	if !isFinite(stdError) || stdError < 0 {
		return &ModelError{path + ".std_error", "must be finite and at least 0"}
	}
	return nil
}

func validRange(path string, lower, upper float64) error {
	switch {
	case !isFinite(lower):
		return &ModelError{path + ".lower", "is not finite"}
	case !isFinite(upper):
		return &ModelError{path + ".upper", "is not finite"}
	case lower > upper:
		return &ModelError{path + ".lower", "is above upper"}
	}
	return nil
}
