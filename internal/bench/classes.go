package bench

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/tablefile"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/regression"
)

// MetricAccuracy is the name of the metric of a classification: the exact share
// of the held-out rows in a class that are predicted to be in it.
const MetricAccuracy = "accuracy"

// maxLevels is the largest number of different values that a text column may
// have to become a category column; the values of a wider one are missing
// numbers.
const maxLevels = 1000

var (
	// ErrTask is returned for a task that is neither regression nor
	// classification, and for classes without a classification.
	ErrTask = errors.New(
		"the task must be regression or classification, and classes and balance are only for classification")
	// ErrNoClasses is returned for a table whose target has fewer than two
	// different values, or more than a classifier takes.
	ErrNoClasses = errors.New("the values of the target are not a list of classes")
	// ErrRowCount is returned for predictions of more or fewer rows than the truth has.
	ErrRowCount = errors.New("the truth and the predictions have different numbers of rows")
	// ErrColumn is returned for a column that a table does not have.
	ErrColumn = errors.New("the table has no column")
)

// errPlain is returned where the values of columns would be read of a table that is written in another way.
var errPlain = errors.New(
	"column values are only read from plain tables: declare data.classes and categories in the recipe, and omit --categories")

// tableFacts holds the facts that an experiment reads from a public table before planning its methods. On
// private data they would have to be declared.
type tableFacts struct {
	classes []string                 // of the target, for classification
	columns map[string]recipe.Column // declarations of text columns
}

// readFacts reads these facts from a table: the classes of the target unless they are given, and the values of text
// columns if they are to be categories.
func (c Config) readFacts(
	ctx context.Context,
	s source,
	header []string,
	target string,
	reading dataset.ReadOptions,
) (tableFacts, error) {
	f := tableFacts{classes: c.Classes}
	if !c.Categories && (c.Task != regression.TaskClassification || len(f.classes) > 0) {
		return f, nil
	}
	if rest, _ := cutQuotes(reading); !reflect.DeepEqual(rest,
		dataset.ReadOptions{Known: reading.Known}) {
		return f, fault.WithKind(fault.Recipe, fmt.Errorf("%s: %w", s.path, errPlain))
	}
	levels, err := readLevels(ctx, s.path, header)
	if err != nil {
		return f, err
	}
	f.columns = map[string]recipe.Column{}
	for j, name := range header {
		switch {
		case name != target && c.Categories && levels[j].text && len(levels[j].names) <= maxLevels:
			f.columns[name] = recipe.Column{Categories: recipe.Names{List: levels[j].sortedValues()}}
		case name == target && c.Task == regression.TaskClassification && len(f.classes) == 0:
			if n := len(levels[j].names); n < 2 || n > evaluate.MaxClasses {
				return f,
					fmt.Errorf("%w: column %q of %s has %d values", ErrNoClasses, name, s.path, n)
			}
			f.classes = levels[j].sortedValues()
		}
	}
	return f, nil
}

// spellings collects the different values of a column.
type spellings struct {
	names map[string]bool
	text  bool // one is not a number
}

// sortedValues returns the values, numbers by size and text by its letters.
func (l spellings) sortedValues() []string {
	names := make([]string, 0, len(l.names))
	for name := range l.names {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		x, errX := strconv.ParseFloat(a, 64)
		y, errY := strconv.ParseFloat(b, 64)
		if errX == nil && errY == nil && x != y {
			if x < y {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return names
}

// countCell counts a cell unless it is missing.
func (l *spellings) countCell(text string) {
	text = cell.Trim(text)
	if l.names[text] || cell.MissingWord(text) {
		return
	}
	if len(l.names) <= maxLevels {
		l.names[text] = true
	}
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		l.text = true
	}
}

// readLevels reads the values of every column of a public table with this header.
func readLevels(
	ctx context.Context,
	path string,
	header []string,
) ([]spellings, error) {
	out := make([]spellings, len(header))
	for j := range out {
		out[j].names = map[string]bool{}
	}
	if kind, _, _ := tablefile.ParsePath(path); kind.Parquet {
		return out, dataset.ParquetText(ctx, path, 0, func(j int, text []byte) {
			out[j].countCell(string(text))
		})
	}
	return out,
		dataset.Stream(ctx, path, dataset.Schema{}, dataset.ReadOptions{
			Workers: 1,
			Known:   header,
		},
			dataset.Consumer[struct{}]{
				Begin: func(dataset.Head) error {
					return nil
				},
				Work: func(b *dataset.Batch) (struct{}, error) {
					return struct{}{}, b.Text(func(_ int, cells []string) error {
						for j, text := range cells[:min(len(cells), len(out))] {
							out[j].countCell(strings.Clone(text))
						}
						return nil
					})
				},
				Emit: func(struct{}) error {
					return nil
				},
			})
}

// PublicColumns declares the columns of a public table with its different
// values: text columns become categories, those named in categories too, and the
// target, which is put last, has its values as classes. It is the last column unless
// it is named. Everything else is a number. On private data all of this has to be
// declared. Errors: a [*dataset.FileError], [ErrNoClasses], [ErrColumn], or that of ctx.
func PublicColumns(
	ctx context.Context,
	path, target string,
	categories []string,
) ([]dataset.Column, error) {
	var reading dataset.ReadOptions
	if target != "" {
		reading.Known = []string{target}
	}
	header, err := dataset.Header(path, reading)
	if err != nil {
		return nil, err
	}
	last := len(header) - 1
	named := slices.Clone(categories)
	if target != "" {
		last = slices.Index(header, target)
		named = append(named, target)
	}
	for _, name := range named {
		if !slices.Contains(header, name) {
			return nil, fmt.Errorf("%w %q: %s", ErrColumn, name, path)
		}
	}
	levels, err := readLevels(ctx, path, header)
	if err != nil {
		return nil, err
	}
	columns := make([]dataset.Column, len(header))
	for j, name := range header {
		columns[j] = dataset.Column{Name: name}
		if j == last || slices.Contains(categories, name) ||
			levels[j].text && len(levels[j].names) <= maxLevels {
			columns[j].Kind, columns[j].Categories = dataset.Category, levels[j].sortedValues()
		}
	}
	if n := len(columns[last].Categories); n < 2 || n > evaluate.MaxClasses {
		return nil,
			fmt.Errorf("%w: column %q of %s has %d values", ErrNoClasses, header[last], path, n)
	}
	return slices.Concat(columns[:last], columns[last+1:], columns[last:last+1]), nil
}

// A ClassScore is how well a classifier does on public rows.
type ClassScore struct {
	Accuracy float64 // share of the rows that are predicted to be in their class
	Balanced float64 // mean of these shares over the classes that have rows
}

// ScoreClasses evaluates predictions, each the index of a class, over the rows that are in a class, that is,
// whose truth is in the list. Its errors are [ErrNoTestRow] and [ErrRowCount].
func ScoreClasses(
	classes []string,
	truth, predicted []int32,
) (ClassScore, error) {
	if len(truth) != len(predicted) {
		return ClassScore{}, ErrRowCount
	}
	rows := make([]int, len(classes))
	hits := make([]int, len(classes))
	for i, k := range truth {
		if k < 0 || int(k) >= len(classes) {
			continue
		}
		rows[k]++
		if predicted[i] == k {
			hits[k]++
		}
	}
	var all, right, present int
	var recalls float64
	for k, n := range rows {
		all += n
		right += hits[k]
		if n > 0 {
			present++
			recalls += float64(hits[k]) / float64(n)
		}
	}
	if all == 0 {
		return ClassScore{}, ErrNoTestRow
	}
	return ClassScore{float64(right) / float64(all), recalls / float64(present)}, nil
}

// codesOf returns the predictions of a classifier as indices.
func codesOf(prediction []float64) []int32 {
	codes := make([]int32, len(prediction))
	for i, x := range prediction {
		codes[i] = int32(x)
	}
	return codes
}
