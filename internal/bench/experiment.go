package bench

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// experiment is everything that runs on one table.
type experiment struct {
	source
	header  []string
	methods []*contender
	read    dataset.ReadOptions
	skip    func(data, method string, trial int) bool // optional
	rows    int                                       // known once the table is read
	limit   int                                       // Config.Rows
	balance bool                                      // Config.Balance
	kept    []int32                                   // rows kept by balancing, of which rows counts; nil: all
}

// contender is a method made ready for a table.
type contender struct {
	*method
	private  bool
	schema   dataset.Schema
	target   int      // the target's column
	classes  []string // of the target; nil for a number
	features int
	trainer  trainer
	err      error          // why it cannot run on this table
	table    *dataset.Table // the rows under the method's schema
}

// newExperiment plans the methods for a table; it reads only the header.
func newExperiment(
	ctx context.Context,
	s source,
	methods []*method,
	c Config,
) (*experiment, error) {
	target := c.Target
	reading, err := readingOf(s, methods)
	if err != nil {
		return nil, err
	}
	if target != "" {
		reading.Known = []string{target}
	}
	header, err := dataset.Header(s.path, reading)
	if err != nil {
		return nil, err
	}
	if target == "" {
		target = header[len(header)-1]
	} else if !slices.Contains(header, target) {
		return nil,
			&dataset.FileError{
				Path: s.path,
				Line: 1,
				Msg:  "the table has no column with the name of the target",
				Hint: "names must match exactly, including upper and lower case",
				Err:  dataset.ErrNoColumn,
			}
	}
	facts, err := c.readFacts(ctx, s, header, target, reading)
	if err != nil {
		return nil, err
	}
	x := &experiment{
		source: s,
		header: header,
		read:   reading,
	}
	for _, m := range methods {
		if !m.appliesTo(s.path) {
			continue
		}
		k := newContender(m, header, target, facts, c.Seed)
		if isUnattainable(k.err) {
			return nil, k.err
		}
		x.methods = append(x.methods, k)
	}
	return x, nil
}

// errReading is returned for recipes that read one table in different ways.
var errReading = errors.New(
	"the recipes read the table differently: use the same data.format, data.numbers and data.fold, or compare them one by one")

// readingOf returns the reading options of a table, from the recipes that run on it.
func readingOf(s source, methods []*method) (dataset.ReadOptions, error) {
	var out dataset.ReadOptions
	multiline := false
	said := false
	for _, m := range methods {
		if !m.file || !m.appliesTo(s.path) {
			continue
		}
		next, quotes := cutQuotes(m.recipe.Data.Reading())
		multiline = multiline || quotes
		if said && !reflect.DeepEqual(out, next) {
			return out, fault.WithKind(fault.Recipe, fmt.Errorf("%s: %w", s.path, errReading))
		}
		out = next
		said = true
	}
	out.Format.MultilineQuotes = multiline
	return out, nil
}

// cutQuotes returns o with every line a record, and whether quoted cells could hold line breaks before. Recipes that differ
// in this alone can share a table.
func cutQuotes(o dataset.ReadOptions) (rest dataset.ReadOptions, multiline bool) {
	multiline = o.Format.MultilineQuotes
	o.Format.MultilineQuotes = false
	return o, multiline
}

// metricName returns the name of the metric.
func (k *contender) metricName() string {
	if k.recipe.Task == regression.TaskClassification {
		return MetricAccuracy
	}
	return MetricR2
}

// skipsTrial reports whether a method's trial t (from 0) is left out.
func (x *experiment) skipsTrial(m *contender, t int) bool {
	return x.skip != nil && x.skip(x.name, m.name, t+1)
}

// remainingRows is the number of rows that the first n trials give.
func (x *experiment) remainingRows(n int) int {
	rows := 0
	for t := range n {
		for _, m := range x.methods {
			if !x.skipsTrial(m, t) {
				rows++
			}
		}
	}
	return rows
}

// isUnattainable reports whether an error means that the budget is unattainable for any table, as opposed to a method
// that does not fit one.
func isUnattainable(err error) bool {
	return slices.ContainsFunc(
		[]error{budget.ErrTarget, budget.ErrLaw, budget.ErrNotPure, budget.ErrOverspent,
			pipeline.ErrRelation},
		func(e error) bool { return errors.Is(err, e) })
}

// loadTables reads the table: once for all methods with numeric columns only, and once more for each different set of
// declared categories.
func (x *experiment) loadTables(ctx context.Context) error {
	var numbers *dataset.Table
	var loaded []*dataset.Table
	for _, m := range x.methods {
		if m.err != nil {
			continue
		}
		if i := slices.IndexFunc(loaded, func(t *dataset.Table) bool {
			return reflect.DeepEqual(t.Schema(), m.schema)
		}); i >= 0 {
			m.table = loaded[i]
			continue
		}
		var err error
		if isNumeric(m.schema) {
			if numbers == nil {
				if numbers, _, err = dataset.Read(ctx, x.path, x.allNumeric(), x.read); err != nil {
					return err
				}
			}
			m.table, err = applySchema(numbers, m.schema)
		} else {
			m.table, _, err = dataset.Read(ctx, x.path, m.schema, x.read)
		}
		if err != nil {
			return err
		}
		loaded = append(loaded, m.table)
		x.rows = m.table.Len()
	}
	return nil
}

// releaseTables gives the rows back to the collector.
func (x *experiment) releaseTables() {
	for _, m := range x.methods {
		m.table = nil
	}
}

// allNumeric returns the schema of a table without declarations.
func (x *experiment) allNumeric() dataset.Schema {
	var s dataset.Schema
	for _, name := range x.header {
		s.Columns = append(s.Columns, dataset.Column{Name: name})
	}
	return s
}

func isNumeric(s dataset.Schema) bool {
	return !slices.ContainsFunc(s.Columns, func(c dataset.Column) bool {
		return c.Kind != dataset.Numeric
	})
}

// applySchema returns the columns of a numeric table that a schema names, treated as it declares. It shares the
// memory of unchanged columns.
func applySchema(t *dataset.Table, s dataset.Schema) (*dataset.Table, error) {
	columns := make([]dataset.ColumnData, len(s.Columns))
	for j, c := range s.Columns {
		columns[j].Floats = t.Float(t.Schema().Index(c.Name))
	}
	return dataset.NewTable(s.Clone(), columns, nil)
}
