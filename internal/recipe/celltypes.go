package recipe

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/internal/tablefile/celltypes"
	"github.com/dptrain/dptrain/regression"
)

// CheckTypes returns contradictions between the recipe and the types in the schema of the table: a regression
// on text or booleans, and classes that a column of its type cannot contain. The schema is public, like the
// header, and no row is read.
func (r *Recipe) CheckTypes(types map[string]celltypes.Type) Problems {
	const path = "data.target"
	name := r.Data.Target
	stored := types[name]
	refuse := func(hint, format string, args ...any) Problems {
		return Problems{r.src.problem(path, fmt.Sprintf(format, args...), hint)}
	}
	switch r.Task {
	case regression.TaskRegression:
		d := r.Data.Columns[name]
		switch {
		case stored == celltypes.Booleans:
			return refuse("add task: classification (--task classification)",
				"the table stores the target %s as true or false, but regression needs numbers",
				quoted(name))
		case stored == celltypes.Dates:
			return refuse("export the days since a date as a number",
				"the table stores the target %s as dates, but regression needs numbers",
				quoted(name))
		case stored == celltypes.Text && d.Lower == nil && d.Upper == nil &&
			d.Missing.number() == nil:
			return refuse(
				fmt.Sprintf(
					"for class names add task: classification (--task classification); if its text holds numbers, declare their range (--range %s=LOWER:UPPER)",
					name),
				"the table stores the target %s as text, but regression needs numbers",
				quoted(name))
		}
	case regression.TaskClassification:
		classes := r.Data.Classes.List
		if len(classes) > 0 && !holdsAny(stored, classes) {
			return refuse(
				"correct data.classes (--classes), or omit them to find the classes privately",
				"the table stores the target %s as %s, which none of the declared classes matches",
				quoted(name), stored)
		}
	}
	return nil
}

// UndeclaredDates returns the features that the schema of the table stores as dates and the recipe does not declare as dates
// or categories. Such cells are texts, as in a CSV file.
func (r *Recipe) UndeclaredDates(
	header []string,
	types map[string]celltypes.Type,
) []string {
	var out []string
	excluded := nameSet(r.Data.Exclude)
	for _, name := range header {
		d := r.Data.Columns[name]
		if types[name] == celltypes.Dates && name != r.Data.Target && name != r.unitColumn() &&
			!excluded[name] &&
			d.Date == "" && !d.Categories.Declared() && d.Hash == 0 {
			out = append(out, name)
		}
	}
	return out
}

// holdsAny reports whether a column of a type can hold one of the classes.
func holdsAny(stored celltypes.Type, classes []string) bool {
	for _, class := range classes {
		class = strings.TrimSpace(class)
		switch stored {
		case celltypes.Booleans:
			if strings.EqualFold(class, "true") || strings.EqualFold(class, "false") ||
				class == "0" || class == "1" {
				return true
			}
		case celltypes.Numbers:
			if IsPlainNumber(class) || strings.Trim(class, "0123456789") == "" {
				return true
			}
		default:
			return true
		}
	}
	return false
}
