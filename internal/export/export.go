// Package export writes models in forms that run without dptrain: programs in Python, JavaScript and Go, SQL queries,
// ONNX graphs, and PMML documents. Their predictions agree with [regression.Model] to 1e-9.
package export

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/regression"
)

// ErrKind is wrapped by the error for a model of a kind that a form cannot express.
var ErrKind = errors.New("cannot be exported")

// ErrDialect is wrapped by the error about an unknown dialect.
var ErrDialect = errors.New("is no dialect of this version")

// Python writes a module of Python 3.8 and later. Its errors are [ErrKind] and those of
// [regression.EncodeModel] and w.
func Python(w io.Writer, m regression.Model) error {
	return programOf(w, pythonCode, m)
}

// JavaScript writes a module of ECMAScript 2022. Errors are as of [Python].
func JavaScript(w io.Writer, m regression.Model) error {
	return programOf(w, jsCode, m)
}

// Go writes a file of a package named model, for Go 1.21 and later. Errors are as of [Python].
func Go(w io.Writer, m regression.Model) error {
	return programOf(w, goCode, m)
}

func programOf(w io.Writer, code string, m regression.Model) error {
	for _, s := range scoresOf(m) {
		if !slices.Contains(
			[]string{"linear", "clipped-linear", "additive", "kernel", "votes", "tree",
				"prototypes"}, s.Kind()) {
			return fmt.Errorf("a model of the kind %q %w", s.Kind(), ErrKind)
		}
	}
	return writeProgram(w, code, m)
}

// findColumn returns the name of a column for which rule returns true, or "".
func findColumn(m regression.Model, rule func(regression.Column) bool) string {
	columns := m.Inputs()
	if i := slices.IndexFunc(columns, rule); i >= 0 {
		return columns[i].Name
	}
	return ""
}

// exactTexts rejects models that fold, cut or hash texts, or convert them to numbers, if a form cannot express
// that.
func exactTexts(m regression.Model, form string) error {
	if c := findColumn(m, func(c regression.Column) bool {
		return c.Values != nil
	}); c != "" {
		return fmt.Errorf(
			"a model that makes numbers of the texts of the column %q %w to %s; a program (--python, --js, --go) or a query (--sql) holds it",
			c, ErrKind, form)
	}
	c := findColumn(m, func(c regression.Column) bool {
		return c.TextRule != regression.TextRule{}
	})
	if c == "" {
		return nil
	}
	return fmt.Errorf(
		"a model that folds, cuts or hashes the texts of the column %q %w to %s; a program (--python, --js, --go) holds it",
		c, ErrKind, form)
}

// scoresOf returns the scores of a classifier, or the model itself.
func scoresOf(m regression.Model) []regression.Model {
	if c, ok := m.(*regression.Classifier); ok {
		return c.Scores
	}
	return []regression.Model{m}
}

// scoresAreLogarithms reports whether the scores of a classifier of several classes are logarithms of probabilities.
func scoresAreLogarithms(c *regression.Classifier) bool {
	return len(c.Scores) > 2 && !slices.ContainsFunc(c.Scores, func(s regression.Model) bool {
		return s.Kind() != "prototypes"
	})
}

// Dialects lists the names of the dialects of [SQL].
func Dialects() []string {
	var out []string
	for _, d := range dialects {
		out = append(out, d.name)
	}
	return out
}

// SQL writes a query that selects all columns of a table and the prediction, named prediction, or for a
// classifier the class, named class, and, if the model has probabilities of two classes, that of the second,
// named probability. Numeric columns must have a numeric type. The error wraps [ErrKind] for kernels, whose
// query would be too large, and columns that the database would take for one, or reports an unknown dialect.
func SQL(w io.Writer, m regression.Model, dialect, table string) error {
	i := slices.IndexFunc(dialects, func(d sqlDialect) bool {
		return d.name == dialect
	})
	if i < 0 {
		return fmt.Errorf(
			"%q %w; choose %s",
			dialect,
			ErrDialect,
			strings.Join(Dialects(), ", "),
		)
	}
	if c := findColumn(m, func(c regression.Column) bool {
		return c.TextRule.Hash > 0
	}); c != "" {
		return fmt.Errorf(
			"a model with buckets of the column %q %w to SQL, which has no hash of its own; a program (--python, --js, --go) holds it",
			c, ErrKind)
	}
	q := &query{
		dialect: &dialects[i],
		names:   map[string]string{},
	}
	if err := m.Validate(); err != nil {
		return err
	}
	if err := q.dialect.checkNames(m.Inputs()); err != nil {
		return err
	}
	outputs, err := q.modelOutputs(m)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, q.writeQuery(outputs, table))
	return err
}
