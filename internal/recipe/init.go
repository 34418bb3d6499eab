package recipe

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// ErrTargetAbsent is returned by [Init] when the target is not a column.
var ErrTargetAbsent = fault.New(fault.Data, "the target is not in the header of the table")

// ErrHeader is returned by [Init] if the header cannot be written as names: it is empty, or a name is empty, repeated
// or not UTF-8.
var ErrHeader = fault.New(fault.Data, "the header of the table cannot be used")

// ProposedMaxRows is the proposed number of records to keep per unit. It is the same for every table, because the
// number of records of a person is private. Noise grows in proportion to it: 1 would drop all but one record of
// everyone, and more than 2 help only if most people have many records that differ.
const ProposedMaxRows = 2

// Init writes a commented starter recipe for the table at path (as the recipe should name it), whose columns are
// header. An empty target means the last column. With classes the recipe is for classification. The result is valid
// and names every column; columns without declarations are in comments. Errors never quote a name from header.
func Init(header []string, path, target string, classes Names) ([]byte, error) {
	return Data{Path: path}.Init(header, target, classes)
}

// Init is [Init] for a table at d.Path with the reading settings of d.
func (d Data) Init(
	header []string,
	target string,
	classes Names,
) ([]byte, error) {
	return d.InitUnit(header, target, Unit{}, false, classes)
}

// InitUnit is Init with a privacy unit if its column is not empty. The unit is part of the recipe, or only proposed
// in a comment if propose is set.
func (d Data) InitUnit(
	header []string, target string, unit Unit, propose bool, classes Names,
) ([]byte, error) {
	if err := usableHeader(header); err != nil {
		return nil, err
	}
	if target == "" {
		target = header[len(header)-1]
	}
	if !slices.Contains(header, target) {
		return nil, fmt.Errorf("%w: %s", ErrTargetAbsent, quoted(target))
	}
	var b strings.Builder
	defaults := Default()
	task := defaults.Task
	list := ""
	number := len(classes.List)
	if classes.Declared() {
		task, list = "classification", "\n  classes: "+inline(reflect.ValueOf(classes))
	}
	if classes.Found {
		number = 2 // methods for two classes are among those that may run
	}
	path := yamlWord(d.Path)
	if d.Format != nil {
		path += "\n  format: " + inline(reflect.ValueOf(*d.Format))
	}
	if d.Fold != "" {
		path += "\n  fold: " + yamlWord(d.Fold)
	}
	if d.Numbers != "" {
		path += "\n  numbers: " + yamlWord(d.Numbers)
	}
	fmt.Fprintf(&b, initHead, task, path, yamlWord(target), list)
	for _, name := range header {
		if c := d.Columns[name]; name != target && c.Date == "" && !c.Categories.Declared() {
			fmt.Fprintf(&b, "  #   %s: {lower: LOW, upper: HIGH}\n", yamlWord(name))
		}
	}
	if !classes.Declared() {
		fmt.Fprintf(&b, "  #   %s: {lower: LOW, upper: HIGH}        # the target\n",
			yamlWord(target))
	}
	d.initColumns(&b, header)
	selectors, trainers := describedFor(number)
	who := fmt.Sprintf("# unit: {column: PERSON, max_rows: %d}", ProposedMaxRows)
	if unit.Column != "" {
		who = fmt.Sprintf(
			"unit: {column: %s, max_rows: %d}",
			yamlWord(unit.Column),
			unit.MaxRows,
		)
		if propose {
			who = "# " + who
		}
	}
	fmt.Fprintf(&b, initTail, show(defaults.Privacy.Delta), who, show(defaults.Holdout), selectors,
		trainers, defaults.Output.Dir)
	return []byte(b.String()), nil
}

// initColumns writes the columns that are declared as dates or as text to be found.
func (d Data) initColumns(b *strings.Builder, header []string) {
	begun := false
	for _, name := range header {
		c := d.Columns[name]
		if c.Date == "" && !c.Categories.Declared() {
			continue
		}
		if !begun {
			b.WriteString("  columns:\n")
			begun = true
		}
		declared := "date: " + yamlWord(c.Date)
		if c.Date == "" {
			declared = "categories: " + inline(reflect.ValueOf(c.Categories))
		}
		fmt.Fprintf(b, "    %s: {%s}\n", yamlWord(name), declared)
	}
}

// describedFor lists the selectors and the trainers for that many classes, 0 for numbers, as comments of one
// line each.
func describedFor(classes int) (selectors, trainers string) {
	line := func(name, summary string) string {
		return fmt.Sprintf("#   %-18s%s\n", name, summary)
	}
	for _, m := range pipeline.Selectors() {
		if !(m.NeedsClasses && classes == 0) && !(m.TwoClasses && classes > 2) {
			selectors += line(m.Name, m.Summary)
		}
	}
	for _, m := range pipeline.Trainers() {
		if !(m.ClassesOnly() && classes == 0) && !(m.TwoClasses() && classes > 2) {
			trainers += line(m.Name, m.Summary)
		}
	}
	return selectors, trainers
}

func usableHeader(header []string) error {
	if len(header) == 0 {
		return fmt.Errorf("%w: it has no columns", ErrHeader)
	}
	first := map[string]int{}
	for i, name := range header {
		if name == "" {
			return fmt.Errorf("%w: the name of column %d is empty", ErrHeader, i+1)
		}
		if !utf8.ValidString(name) {
			return fmt.Errorf(
				"%w: the name of column %d is not UTF-8 text",
				ErrHeader,
				i+1,
			)
		}
		if j, again := first[name]; again {
			return fmt.Errorf(
				"%w: columns %d and %d have the same name",
				ErrHeader,
				j+1,
				i+1,
			)
		}
		first[name] = i
	}
	return nil
}

const initHead = `# yaml-language-server: $schema=recipe.schema.json
# For completion and checks in an editor: dptrain schema > recipe.schema.json
#
# A dptrain recipe. Omitted keys have defaults; docs/reference/recipe.md
# explains every key. Next: dptrain check, dptrain plan, dptrain fit.
version: 1
task: %s
data:
  path: %s
  target: %s%s
  # Columns that must not become features, such as identifiers:
  # exclude: []
  #
  # Declare only public knowledge, never what you saw in the data: declarations
  # are not protected. Undeclared ranges of numeric columns are found privately.
  # A category column needs a list of its values, or private to find them:
  #   near: {categories: [inland, bay, ocean]}
  # columns:
`

const initTail = `privacy:
  epsilon: 1.0                  # the budget of the whole run; or ln(3)
  delta: %s                  # a public constant, never a function of the number of records
  # relation: add-remove        # or substitute, when the number of records is public
  # If one person may have several records, protect the person:
  %s
# holdout: %s                  # share of records for the private held-out metric
# Feature selection: auto, or one of
%s# selection: {method: auto}     # fixed also needs features: [a, b]
# Training method: auto, or one of
%s# model: {method: auto}
# output: {dir: %s}
`
