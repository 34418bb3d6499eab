package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/engine/colblock"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// Kind is the type of a column.
type Kind uint8

const (
	// Numeric cells are float64 values.
	Numeric Kind = iota
	// Category cells are codes into a declared list.
	Category
)

// String returns "numeric" or "category".
func (k Kind) String() string {
	switch k {
	case Numeric:
		return "numeric"
	case Category:
		return "category"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Column declares one column. Every field is public knowledge: it is declared in a recipe and never computed
// from rows.
type Column struct {
	// Name is the column's name in the file's header.
	Name string
	// Kind is the type of the column.
	Kind Kind
	// Ranged reports whether Lower and Upper, in the column's own units, are declared.
	// The readers do not clamp values; the scaling stage does.
	Ranged       bool
	Lower, Upper float64
	// HasMissing reports whether a missing cell takes the value Missing. Otherwise it is NaN. Numeric columns
	// only.
	HasMissing bool
	Missing    float64
	// TellsText asks readers to distinguish cells that contain text but no number from missing cells; both are
	// NaN, see [IsText]. Numeric columns without a missing value only.
	TellsText bool
	// Indicator asks trainers for an additional entry that marks missing cells. Numeric columns without a
	// missing value only.
	Indicator bool
	// Categories lists the values of a category column. Blanks around a cell do not matter, nor whether its
	// characters are composed. Other spellings of a whole number or of a boolean match too if they are
	// unambiguous in the list.
	Categories []string
	// Levels optionally maps each code of the table to one of the Categories, or to len(Categories) for other
	// values: a trainer may use fewer categories than the table has. Readers ignore it.
	Levels []int32
	// Other asks trainers to give cells outside Categories a level of their own.
	// The readers code such cells as len(Categories) either way.
	Other bool
	// Labels marks a column of class labels. A missing cell then has the code len(Categories)+1, which differs
	// from the code of a label outside Categories; see [Block.Labels]. If the categories are found privately,
	// only an empty cell is missing, because a class may be called None. Category columns without Other only.
	Labels bool
	// Part makes the column a part, one of [DateParts], of the dates in column Source of the file. Date is
	// their layout, of package time, or [AutoDate]. Numeric columns only.
	Part, Source, Date string
	// TextRule transforms the text of a category cell. Categories lists transformed values.
	TextRule TextRule
	// TargetEncoded replaces each category by a number: the mean of the target over its records, which the run
	// releases with noise. Category columns only. Readers ignore it.
	TargetEncoded bool
	// Private marks the columns protected under the private-columns relation.
	Private bool
	// Found marks a column whose content the run finds privately: the categories of a category column that
	// lists no Categories, or whether a numeric column contains text instead. Readers keep the text of its
	// cells, see [View.CountWords] and [View.Resolve].
	Found bool
}

// A TextRule transforms the text of a cell before it is compared with the categories of its column. The zero value
// only removes surrounding blanks. The folding, the prefix and the hash apply in this order.
type TextRule struct {
	Fold   string // "" or "exact": none; "blanks": runs of blanks count as one; "case": upper and lower case are equal too
	Prefix int    // number of leading characters to keep, at most 64; 0 for all
	Hash   int    // number of buckets to hash to, at most 1,024; 0 for no hashing
}

// missingValue returns the value of a missing cell of a numeric column.
func (c *Column) missingValue() float64 {
	if c.HasMissing {
		return c.Missing
	}
	return math.NaN()
}

// unreadableValue returns the value of a numeric cell that contains text but no number.
func (c *Column) unreadableValue() float64 {
	if c.TellsText && !c.HasMissing {
		return colblock.TextNumber(noWord)
	}
	return c.missingValue()
}

// Schema declares the columns of a table in the order of the table.
type Schema struct {
	Columns []Column
	// Unit names the column that identifies the privacy unit (a person with
	// several rows). It must not be one of Columns. Empty means that every row
	// is its own unit.
	Unit string
	// Numbers describes how numbers are written if the [Format] of the table does not: for a table of new
	// records, as in the training table.
	Numbers Numbers
}

// ErrSchema is wrapped by every error about a schema that contradicts itself, or
// about in-memory columns that do not fit their schema.
var ErrSchema = errors.New("invalid schema")

// Index returns the position of the named column, or -1.
func (s Schema) Index(name string) int {
	for j := range s.Columns {
		if s.Columns[j].Name == name {
			return j
		}
	}
	return -1
}

// Names returns the column names in order.
func (s Schema) Names() []string {
	names := make([]string, len(s.Columns))
	for j := range s.Columns {
		names[j] = s.Columns[j].Name
	}
	return names
}

// Clone returns a copy that shares no memory with s.
func (s Schema) Clone() Schema {
	s.Columns = append([]Column(nil), s.Columns...)
	for j := range s.Columns {
		s.Columns[j].Categories = append([]string(nil), s.Columns[j].Categories...)
	}
	return s
}

// Validate reports all problems of s, joined, each wrapping [ErrSchema]: a name that is empty or declared
// twice, a unit column that is also a feature, an unknown kind, bounds that are not finite or not in order, a
// missing value that is not finite, a category declared twice.
func (s Schema) Validate() error {
	var errs []error
	first := make(map[string]int, len(s.Columns)) // the first column with each name
	for j, c := range s.Columns {
		if _, twice := first[c.Name]; !twice {
			first[c.Name] = j
		}
	}
	for j := range s.Columns {
		c := &s.Columns[j]
		switch {
		case c.Name == "":
			errs = append(errs, fmt.Errorf("%w: column %d has no name", ErrSchema, j+1))
		case first[c.Name] < j:
			errs = append(errs, c.errorf("is declared twice"))
		case c.dateSource() == s.Unit && s.Unit != "":
			errs = append(errs, c.errorf("is the privacy unit and cannot also be a column"))
		}
		if k, ok := first[c.dateSource()]; ok && c.isDate() && !s.Columns[k].isDate() {
			errs = append(errs, c.errorf("is a part of a column that is read as another one"))
		}
		if err := c.validate(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// validate reports the first problem of one column apart from its name.
func (c *Column) validate() error {
	switch {
	case c.Kind != Numeric && c.Kind != Category:
		return c.errorf("has an unknown kind")
	case c.Ranged && (!isFinite(c.Lower) || !isFinite(c.Upper)):
		return c.errorf("has a bound that is not finite")
	case c.Ranged && !(c.Lower < c.Upper):
		return c.errorf("has a lower bound that is not below its upper bound")
	case c.HasMissing && !isFinite(c.Missing):
		return c.errorf("has a missing value that is not finite")
	case c.Kind == Category && (c.Ranged || c.HasMissing || c.Indicator):
		return c.errorf("is a category and takes neither bounds nor a missing value or indicator")
	case c.HasMissing && c.Indicator:
		return c.errorf("has both a missing value and an indicator of missing cells")
	case c.Labels && (c.Kind != Category || c.Other):
		return c.errorf("holds labels and is numeric or has a level for other values")
	case c.Kind == Numeric && c.TargetEncoded:
		return c.errorf("is numeric and has no values to encode")
	case c.Kind == Numeric && len(c.Categories) > 0:
		return c.errorf("is numeric and takes no categories")
	case c.Found && c.Kind == Numeric && (c.Ranged || c.HasMissing || c.Indicator):
		return c.errorf(
			"is to be found out and takes neither bounds nor a missing value or indicator")
	}
	if err := c.validateDate(); err != nil {
		return err
	}
	if err := c.validateText(); err != nil {
		return err
	}
	seen := make(map[string]bool, len(c.Categories))
	for _, name := range c.Categories {
		name = cell.Normal(name)
		if seen[name] {
			return c.errorf("declares category %q twice", name)
		}
		seen[name] = true
	}
	return nil
}

// errorf returns an error about the declaration of c.
func (c *Column) errorf(format string, args ...any) error {
	return fmt.Errorf(
		"%w: column %q %s",
		ErrSchema,
		c.Name,
		fmt.Sprintf(format, args...),
	)
}

// validateText validates the rule that transforms texts.
func (c *Column) validateText() error {
	t := cell.Text(c.TextRule)
	switch {
	case t.Exact():
		return nil
	case c.Kind == Numeric && !c.Found:
		return c.errorf("is numeric and has no values to fold")
	case !t.Known():
		return c.errorf("has an unknown rule for its values")
	case t.Hash > 0 && (c.Found || !slices.Equal(c.Categories, t.Buckets())):
		return c.errorf("is hashed and has other categories than its buckets")
	case t.Hash > 0:
		return nil
	}
	for _, name := range c.Categories {
		if name = cell.Normal(name); t.Value(name) != name {
			return c.errorf("declares category %q, which no cell has by its rule for values", name)
		}
	}
	return nil
}

// MissingCode returns the code of a missing cell of a category column: len(Categories), or one more
// if the column has Labels.
func (c *Column) MissingCode() int32 {
	if c.Labels {
		return int32(len(c.Categories)) + 1
	}
	return int32(len(c.Categories))
}

func isFinite(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0)
}
