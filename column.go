package dptrain

import "github.com/dptrain/dptrain/internal/recipe"

// A Column declares public facts about a column of the table, which the guarantee does not protect: never take them
// from the table. Most columns need [Range] or [Categories] only.
type Column struct {
	// Lower and Upper bound a numeric column, in its own units; both or neither, and Lower < Upper. Numbers
	// outside are clamped.
	Lower, Upper *float64
	// Missing is the treatment of cells that are missing or not a finite number. Nil means the median of the
	// values, found privately.
	Missing *Missing
	// Categories makes the column a category column and lists its values, as written in the table.
	Categories []string
	// FindCategories makes the column a category column whose values are found privately: those of enough
	// records. Categories is then ignored.
	FindCategories bool
	// Other reports whether values outside Categories form a category of their own; nil means true.
	Other *bool
	// Prefix is the number of leading characters of a value to keep, from 1 to 64; 0 keeps all.
	Prefix int
	// Hash makes the column a category column with this number of categories, from 2 to 1024, to which a public
	// hash assigns the values; 0 without hashing. It costs no budget.
	Hash int
	// Encode is "target" to replace each value of a category column by the mean of the target over its records,
	// released with noise; empty keeps the categories.
	Encode string
	// Date makes numbers of a column of dates: a layout of package time, such as "2006-01-02", or "auto". Parts
	// lists the numbers: "days", "month", "weekday", "hour"; nil means all that the layout has. Between holds the
	// first and the last day, written 2006-01-02; nil means that the range is found privately.
	Date    string
	Parts   []string
	Between []string
	// Transform of the target is "log" or "sqrt"; empty without a transform. The model is fitted to the
	// transformed target and predicts in units of the target.
	Transform string
	// Private marks a protected column. It may be set only under budget.SubstitutePrivateColumns, where all
	// other columns are public.
	Private bool
}

// Missing is the treatment of missing cells of a numeric [Column].
type Missing struct {
	Number float64 // replaces a missing cell
	// Indicator gives missing cells a term of their own in the model; Number is then 0 and found privately.
	Indicator bool
}

// Range declares a numeric column with values from lower to upper, in its own units; others are clamped.
func Range(lower, upper float64) Column {
	return Column{Lower: &lower, Upper: &upper}
}

// Categories declares a category column with these values, as written in the table; all others form one more
// category.
func Categories(names ...string) Column {
	return Column{Categories: names}
}

// inRecipe returns the declaration as a recipe has it.
func (c Column) inRecipe() recipe.Column {
	out := recipe.Column{
		Lower:     c.Lower,
		Upper:     c.Upper,
		Other:     c.Other,
		Prefix:    c.Prefix,
		Hash:      c.Hash,
		Encode:    c.Encode,
		Date:      c.Date,
		Parts:     c.Parts,
		Between:   c.Between,
		Transform: c.Transform,
		Private:   c.Private,
	}
	switch {
	case c.FindCategories:
		out.Categories = recipe.Private()
	case c.Categories != nil:
		out.Categories = recipe.Names{List: c.Categories}
	}
	if out.Categories.Declared() && out.Other == nil {
		out.Other = new(true)
	}
	if c.Missing != nil {
		out.Missing = &recipe.Missing{
			Number:    c.Missing.Number,
			Indicator: c.Missing.Indicator,
		}
	}
	return out
}

// columnsInRecipe returns the declarations as a recipe has them; nil remains nil.
func columnsInRecipe(columns map[string]Column) map[string]recipe.Column {
	if columns == nil {
		return nil
	}
	out := make(map[string]recipe.Column, len(columns))
	for name, c := range columns {
		out[name] = c.inRecipe()
	}
	return out
}

// columnOfRecipe returns the declaration of a recipe.
func columnOfRecipe(c recipe.Column) Column {
	out := Column{
		Lower:          c.Lower,
		Upper:          c.Upper,
		Categories:     c.Categories.List,
		FindCategories: c.Categories.Found,
		Other:          c.Other,
		Prefix:         c.Prefix,
		Hash:           c.Hash,
		Encode:         c.Encode,
		Date:           c.Date,
		Parts:          c.Parts,
		Between:        c.Between,
		Transform:      c.Transform,
		Private:        c.Private,
	}
	if c.Missing != nil {
		out.Missing = &Missing{
			Number:    c.Missing.Number,
			Indicator: c.Missing.Indicator,
		}
	}
	return out
}
