package cluster

import (
	"context"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/noise/secret"
)

// A Runner has tasks carried out by workers: each line goes to [Work] somewhere, with the order as a line before the
// first task there, and what that writes comes back, line by line in any order.
type Runner interface {
	Run(ctx context.Context, order []byte, tasks [][]byte) (answers [][]byte, err error)
}

// Engine is a [mechanism.Engine] whose records are where the workers of a cluster read them. It keeps nothing between
// passes: a state is computed anew in every one. It brings few records to one place, limits those of units, and counts
// words; see [Engine.Capabilities].
type Engine struct {
	// Passing, if not nil, is called when a pass for sums begins. The number of passes is that which the plan and released
	// values lead to, however many splits and queries there are.
	Passing func()

	runner   Runner
	schema   dataset.Schema
	asRead   dataset.Schema   // before words were found
	resolved []dataset.Column // those of the schema, once words were found
	options  dataset.ReadOptions
	splits   []split
	keeper   Keeper               // nil unless the splits are blocks that the cluster keeps
	blocks   [secret.KeySize]byte // of those blocks
	words    int64                // bytes that the words to be found take at most
	units    bool                 // whether the records of units are limited
	most     int64                // bytes of cells that may come to one place
}

// Of returns an engine without records, by which a plan can be checked before any is read.
func Of(schema dataset.Schema) *Engine { return &Engine{schema: schema, most: mechanism.FewBytes} }

// taskBytes is how many bytes of tasks are handed over at a time, and answerBytes how many of sums are asked for: below
// the limit that Spark has for what comes of one query, spark.driver.maxResultSize.
const (
	taskBytes   = 1 << 26
	answerBytes = 1 << 28
)

// counted is what a first pass finds out about a split.
type counted struct {
	Stats dataset.Stats
	Words int64 // bytes of the different words of batches
}

// Open cuts the table at path into splits and has the workers count its records. The table is a file or a pattern, and
// the workers see it under the same absolute path. Also returned is what they counted, which is private.
func Open(ctx context.Context, r Runner, path string, schema dataset.Schema, o dataset.ReadOptions) (*Engine, *dataset.Stats, error) {
	splits, err := cut(path, leastRows)
	if err != nil {
		return nil, nil, err
	}
	e := newEngine(r, schema, o)
	e.splits = splits
	stats, err := e.count(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	return e, stats, nil
}

// count has the records counted, and gives splits their places in the table, which messages call by its name.
func (e *Engine) count(ctx context.Context, name string) (*dataset.Stats, error) {
	contents, err := e.ask(ctx, order{Asks: asksCount}, nil)
	if err != nil {
		return nil, err
	}
	all := noStats(e.schema)
	for i, content := range contents {
		c := &counted{}
		if unpackAnswer(content, c) != nil || c.Stats.Rows < 0 || c.Words < 0 || len(c.Stats.Columns) != len(e.schema.Columns) {
			return nil, failed(errAnswer)
		}
		e.splits[i].First, e.splits[i].Rows = uint64(all.Rows), c.Stats.Rows
		e.words += c.Words
		all.Merge(&c.Stats)
		if int64(all.Rows) > mechanism.MostRecords { // by the plan there may be a lower limit
			return nil, mechanism.TooMany(name, mechanism.MostRecords)
		}
	}
	return &all, nil
}

// Schema implements [mechanism.Engine].
func (e *Engine) Schema() dataset.Schema { return e.schema }

// Capabilities implements [mechanism.CapableEngine].
func (e *Engine) Capabilities() mechanism.Capabilities {
	return mechanism.Capabilities{Gather: e.Gather, GatherLimit: e.most, LimitUnits: e.LimitUnits, Lexicon: e.Lexicon, Resolve: e.Resolve}
}

// Forget implements [mechanism.Engine].
func (e *Engine) Forget(mechanism.State) {}

// Sum implements [mechanism.Engine].
func (e *Engine) Sum(ctx context.Context, p mechanism.Pass) ([]int64, error) {
	if e.Passing != nil {
		e.Passing()
	}
	sums := p.Merge()
	err := e.each(ctx, order{Asks: asksSums, Pass: p}, nil, 8*len(sums), func(_ int, content []byte) error {
		some, err := readSums(content, len(sums))
		if err == nil {
			sums = p.Merge(sums, some)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return sums, nil
}

// rows returns the number of all records.
func (e *Engine) rows() int {
	n := 0
	for _, s := range e.splits {
		n += s.Rows
	}
	return n
}

// ask has an order carried out over all splits and returns the content of the answer of each; see each.
func (e *Engine) ask(ctx context.Context, o order, of func(split int) []uint64) ([][]byte, error) {
	contents := make([][]byte, len(e.splits))
	err := e.each(ctx, o, of, 0, func(i int, content []byte) error {
		contents[i] = content
		return nil
	})
	if err != nil {
		return nil, err
	}
	return contents, nil
}

// each has an order carried out over all splits, and do called with the content of the answer of each, in order. of, if
// not nil, names the units that a task asks for. Answers of so many bytes are asked for at a time that they take
// answerBytes. An error of do says that an answer is not whole.
func (e *Engine) each(ctx context.Context, o order, of func(split int) []uint64, bytes int, do func(split int, content []byte) error) error {
	var err error
	if o.Key, err = secret.FreshKey(); err != nil {
		return err
	}
	line, err := e.finish(&o).line()
	if err != nil {
		return err
	}
	for from := 0; from < len(e.splits); {
		tasks, err := e.tasks(from, from+max(answerBytes/max(bytes, 1), 1), of)
		if err != nil {
			return err
		}
		answers, err := e.run(ctx, line, tasks, e.splits[from:from+len(tasks)])
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		contents, err := sorted(o.Key, answers, from, from+len(tasks))
		if err != nil {
			return err
		}
		for k, content := range contents {
			if err := do(from+k, content); err != nil {
				return failed(err)
			}
		}
		from += len(tasks)
	}
	return nil
}

// tasks returns those for splits from up to to, or as many of them as are handed over at a time, and at least one.
func (e *Engine) tasks(from, to int, of func(split int) []uint64) ([][]byte, error) {
	var out [][]byte
	size := 0
	for i := from; i < min(to, len(e.splits)) && (i == from || size+len(out[0]) < taskBytes); i++ {
		t := task{Format: format, Index: i, Count: len(e.splits), Split: e.splits[i]}
		if of != nil {
			t.Units = of(i)
		}
		line, err := t.line()
		if err != nil {
			return nil, err
		}
		if name := e.splits[i].Block; name != "" {
			line = append([]byte(name[:nameText]+" "), line...)
		}
		out = append(out, line)
		size += len(line)
	}
	return out, nil
}
