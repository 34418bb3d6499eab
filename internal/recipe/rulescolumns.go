package recipe

import (
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/train/pipeline"
)

func (c *checker) columns() {
	excluded := nameSet(c.r.Data.Exclude)
	for name, col := range c.r.Data.Columns {
		path := child("data.columns", name)
		if name == "" {
			c.add(path, "data.columns: an empty column name", "")
		}
		if c.given(path) && !c.declaresAnything(path) {
			c.add(path, shortPath(path)+" is empty",
				"give lower and upper, categories or date, or remove it")
		}
		if name == c.r.Data.Target {
			c.targetColumn(path, col)
		}
		if excluded[name] && name != c.r.Data.Target &&
			name != c.r.GroupColumn() {
			c.add(path, "the column "+quoted(name)+" is excluded and cannot be declared",
				"remove it here, or from data.exclude (--exclude)")
		}
		c.transforms(name, path, col)
		if col.Date != "" || c.given(child(path, "date")) {
			c.date(name, path, col)
			continue
		}
		for key, used := range map[string]bool{
			"parts":   col.Parts != nil,
			"between": col.Between != nil,
		} {
			if used {
				c.add(child(path, key), shortPath(path)+": "+key+" needs date", "")
			}
		}
		if col.Missing.asIndicator() {
			c.indicator(path, name == c.r.Data.Target, col)
		}
		if col.Categories.Declared() || col.Hash != 0 {
			c.categories(path, col)
		} else {
			c.bounds(path, col)
		}
		if col.Private && c.r.Privacy.Relation != privateColumns {
			c.add(child(path, "private"), "private columns need the relation "+privateColumns,
				"under other relations every column is protected; remove private")
		}
	}
	if t := c.r.Data.Target; c.r.Scaling.Method == "declared" && c.r.Task == "regression" &&
		t != "" {
		c.needsBounds(t)
	}
}

// indicator checks a column with an indicator of missing cells.
func (c *checker) indicator(path string, target bool, col Column) {
	at := child(path, "missing")
	switch {
	case target:
		c.add(at, shortPath(path)+": missing: indicator is for features",
			"records without a target are not used for training; remove missing: indicator")
	case col.Categories.Declared() || col.Hash != 0:
		c.add(at, shortPath(path)+": missing cannot be combined with categories",
			"in a category column, a missing value counts as a value outside the list")
	default:
		for _, x := range c.r.choices() {
			for _, name := range []string{x.model.Method, x.model.Fallback} {
				if m, _ := pipeline.TrainerNamed(name); m.NoIndicator != "" {
					c.add(at,
						shortPath(path)+": missing: indicator cannot be used with method "+name+", "+
							m.NoIndicator, "declare a number, or use another method")
					return
				}
			}
		}
	}
}

// declaresAnything reports whether the text has a key below path.
func (c *checker) declaresAnything(path string) bool {
	return slices.ContainsFunc(keysOfColumn, func(key string) bool {
		return c.given(child(path, key))
	})
}

var keysOfColumn = keysAt([]string{"data", "columns", "any"})

// needsBounds requires the range of a numeric column under declared scaling.
func (c *checker) needsBounds(name string) {
	col := c.r.Data.Columns[name]
	if !col.Categories.Declared() && col.Hash == 0 && col.Lower == nil && col.Upper == nil {
		path := child("data.columns", name)
		c.add(path, "with scaling declared, column "+quoted(name)+" needs lower and upper",
			"declare them in data.columns, or use scaling private")
	}
}

func (c *checker) targetColumn(path string, col Column) {
	switch {
	case !col.Categories.Declared() && c.r.Task == "classification":
		for _, bound := range []struct {
			key   string
			value *float64
		}{{"lower", col.Lower}, {"upper", col.Upper}, {"missing", col.Missing.number()}} {
			if bound.value != nil {
				c.add(
					child(path, bound.key),
					"the target has classes, but "+bound.key+" needs a numeric target",
					"remove it",
				)
			}
		}
	case !col.Categories.Declared():
	case c.r.Task == "classification":
		c.add(child(path, "categories"), "for the target, use classes instead of categories",
			"list them in data.classes")
	default:
		c.add(child(path, "categories"),
			"the target of a regression must be numeric and cannot have categories",
			"remove them, or set task: classification with data.classes")
	}
}

func (c *checker) categories(path string, col Column) {
	for _, bound := range []struct {
		key   string
		value *float64
	}{{"lower", col.Lower}, {"upper", col.Upper}, {"missing", col.Missing.number()}} {
		if bound.value == nil {
			continue
		}
		hint := "a column has either categories or a range"
		if bound.key == "missing" {
			hint = "in a category column, a missing value counts as a value outside the list"
		}
		c.add(
			child(path, bound.key),
			shortPath(path)+": "+bound.key+" cannot be combined with categories",
			hint,
		)
	}
	list := child(path, "categories")
	if !col.Categories.Found && len(col.Categories.List) == 0 && col.Hash == 0 {
		c.add(list, shortPath(list)+" is empty",
			"list every category, or remove it for a numeric column")
	}
	if col.Categories.Found && col.Other != nil && !*col.Other {
		c.add(child(path, "other"),
			shortPath(path)+": other must be true with categories: "+privateWord,
			"rare values count as other; remove other: false")
	}
	c.nameList(list, col.Categories.List, "category")
}

func (c *checker) bounds(path string, col Column) {
	if col.Other != nil {
		c.add(child(path, "other"), shortPath(path)+": other needs categories", "")
	}
	switch lower, upper, missing := col.Lower, col.Upper, col.Missing.number(); {
	case lower != nil && upper == nil:
		c.add(
			child(path, "lower"),
			shortPath(path)+": lower needs upper",
			"declare both or neither",
		)
	case lower == nil && upper != nil:
		c.add(
			child(path, "upper"),
			shortPath(path)+": upper needs lower",
			"declare both or neither",
		)
	case lower != nil && !(*lower < *upper):
		c.add(child(path, "lower"),
			fmt.Sprintf("%s: lower (%s) must be below upper (%s)", shortPath(path), show(*lower),
				show(*upper)), "")
	case lower != nil && finiteNumber(*lower) && finiteNumber(*upper) &&
		!finiteNumber(*upper-*lower):
		c.add(child(path, "upper"), shortPath(path)+": the range is too wide", "")
	case lower != nil && missing != nil && !(*lower <= *missing && *missing <= *upper):
		c.add(child(path, "missing"),
			fmt.Sprintf("%s: missing (%s) must be between lower (%s) and upper (%s)", shortPath(path),
				show(*missing), show(*lower), show(*upper)), "")
	}
	for _, b := range []struct {
		key   string
		value *float64
	}{{"lower", col.Lower}, {"upper", col.Upper}, {"missing", col.Missing.number()}} {
		if b.value != nil && !finiteNumber(*b.value) {
			c.add(
				child(path, b.key),
				shortPath(path)+": "+b.key+" must be a finite number",
				"",
			)
		}
	}
}

func finiteNumber(x float64) bool {
	return !math.IsNaN(x) && !math.IsInf(x, 0)
}
