package bench

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/regression"
)

// A Method names the selection and model that an experiment trains.
type Method struct {
	Name      string  // as it was written
	Selection string  // selection.method of a recipe; "none" keeps every column
	K         int     // selection.k of a recipe; 0 leaves it to the selection
	Model     string  // model.method of a recipe
	Number    float64 // the key [recipe.NumberKey] of the model; 0 leaves it out
}

// A MethodError reports a method that an experiment cannot run.
type MethodError struct {
	Name    string
	Problem string
}

func (e *MethodError) Error() string {
	return fmt.Sprintf("method %q: %s", e.Name, e.Problem)
}

const (
	keepAll = "none"
	chosen  = "auto"
)

// Selections lists the names that a method may have before the plus sign. The
// selection "fixed" needs a list of columns, and so a recipe.
func Selections() []string {
	names, _ := recipe.Available()
	return slices.DeleteFunc(names, func(name string) bool {
		return name == "fixed"
	})
}

// Models lists the names of models: those that give privacy and then those that
// do not.
func Models() []string {
	_, models := recipe.Available()
	return append(models, recipe.AvailableInBench()...)
}

// ParseMethod parses "model", "selection+model" or "selection:k+model", where k is the number of columns to
// select. A model by itself is trained on every column, but "auto" also chooses the selection. A model may have
// a number after a colon: its number of rounds, or, if features have a cost, its budget or the price of a unit
// of cost. The error is a [*MethodError] that lists the available methods.
func ParseMethod(name string) (Method, error) {
	name = strings.TrimSpace(name)
	m := Method{
		Name:      name,
		Selection: keepAll,
		Model:     name,
	}
	before, after, pair := strings.Cut(name, "+")
	switch {
	case name == "":
		return Method{}, &MethodError{name, "the name is empty; the methods are " + joinNames(Models())}
	case pair:
		m.Selection = before
		m.Model = after
		if selection, k, counted := strings.Cut(before, ":"); counted {
			var err error
			m.Selection = selection
			if m.K, err = strconv.Atoi(k); err != nil || m.K < 1 {
				return Method{},
					&MethodError{name,
						fmt.Sprintf(
							"%q is not a number of columns; write SELECTION:K+MODEL with K at least 1",
							k)}
			}
		}
	case name == chosen:
		m.Selection = chosen
	}
	if model, number, priced := strings.Cut(m.Model, ":"); priced &&
		slices.Contains(Models(), model) {
		var err error
		m.Model = model
		m.Number, err = strconv.ParseFloat(number, 64)
		_, whole, has := recipe.NumberKey(model)
		valid := err == nil && m.Number > 0 && m.Number <= maxNumber &&
			(!whole || m.Number == math.Trunc(m.Number))
		if !has || !valid {
			return Method{}, &MethodError{name, numberHint(model, has, whole)}
		}
	}
	if !slices.Contains(Selections(), m.Selection) {
		return Method{}, &MethodError{name, fmt.Sprintf(
			"unknown selection %q; a method is MODEL, SELECTION+MODEL or SELECTION:K+MODEL, and the selections are %s",
			m.Selection, joinNames(Selections()))}
	}
	if !slices.Contains(Models(), m.Model) {
		return Method{}, &MethodError{name, fmt.Sprintf(
			"unknown model %q; the models are %s", m.Model, joinNames(Models()))}
	}
	return m, nil
}

// maxNumber bounds the number of a model, as recipes do.
const maxNumber = 1e9

// numberHint describes the problem of the number of a model.
func numberHint(model string, has, whole bool) string {
	switch {
	case has && whole:
		return "the colon must be followed by a whole number above 0 and up to 1e9; write " + model +
			":NUMBER"
	case has:
		return "the colon must be followed by a number above 0 and up to 1e9; write " + model +
			":NUMBER"
	}
	return model +
		" does not support a number, which is only for models with rounds or feature costs"
}

func joinNames(names []string) string {
	return strings.Join(names, ", ")
}

// method is a method with its recipe.
type method struct {
	name   string
	recipe recipe.Recipe
	file   bool // the recipe is a file, which may name its own table
	own    bool // and runs on that one only
}

// appliesTo reports whether the method runs on a table.
func (m *method) appliesTo(path string) bool {
	return !m.own || filepath.Clean(m.recipe.DataFile()) == path
}

// allMethods returns the methods of the experiment: named ones and then recipes.
func (c Config) allMethods() ([]*method, error) {
	names := c.Methods
	if len(names) == 0 && len(c.Recipes) == 0 {
		names = []string{DefaultMethod}
	}
	var methods []*method
	for _, name := range names {
		parsed, err := ParseMethod(name)
		if err != nil {
			return nil, err
		}
		if err := c.fitsTask(parsed); err != nil {
			return nil, err
		}
		methods = append(methods, c.namedMethod(parsed))
	}
	for _, path := range c.Recipes {
		r, err := recipe.Options{Bench: true}.Load(path)
		if err != nil {
			return nil, err
		}
		base := filepath.Base(path)
		methods = append(methods, &method{
			name:   strings.TrimSuffix(base, filepath.Ext(base)),
			recipe: *r,
			file:   true,
			own:    len(c.Data) == 0,
		})
	}
	seen := map[string]bool{}
	for _, m := range methods {
		if seen[m.name] {
			return nil,
				&MethodError{m.name,
					"two methods or recipes have this name; leave one out or rename the recipe file"}
		}
		seen[m.name] = true
	}
	return methods, nil
}

// fitsTask rejects a method that needs classes in a task without classes.
func (c Config) fitsTask(m Method) error {
	if c.Task == regression.TaskClassification {
		return nil
	}
	for _, part := range []string{m.Selection, m.Model} {
		if recipe.NeedsClasses(part) {
			return &MethodError{m.Name,
				part + " needs classes, but the task is regression; use --task classification or another method"}
		}
	}
	return nil
}

// namedMethod returns the recipe of a method name.
func (c Config) namedMethod(parsed Method) *method {
	r := recipe.Default()
	b := c.budgetTarget()
	r.Privacy = recipe.Privacy{
		Epsilon:     b.Epsilon,
		Delta:       b.Delta,
		Relation:    b.Relation.String(),
		Composition: b.Composition.String(),
	}
	if c.Task != "" {
		r.Task = c.Task
	}
	r.Data.Undeclared = "numbers" // text columns are declared, with the values that they have
	r.Selection.Method = parsed.Selection
	r.Model.Method = parsed.Model
	r.Selection.Set("k", parsed.K)
	switch key, whole, ok := recipe.NumberKey(parsed.Model); {
	case !ok || parsed.Number == 0:
	case whole:
		r.Model.Set(key, int(parsed.Number))
	default:
		r.Model.Set(key, parsed.Number)
	}
	return &method{name: parsed.Name, recipe: r}
}
