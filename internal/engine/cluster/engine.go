package cluster

import (
	"context"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/noise/secret"
)

// A Runner runs tasks on workers. Each task is a line of the input of [Work] on one of the machines, after a line with the
// order. Run returns the lines that the workers write, in any order.
type Runner interface {
	Run(ctx context.Context, order []byte, tasks [][]byte) (answers [][]byte, err error)
}

// Engine is a [mechanism.Engine] whose records are read by the workers of a cluster. It has no data between passes: a state
// is computed again in every pass. It gathers small parts, limits the records of units and counts words; see
// [Engine.Capabilities].
type Engine struct {
	// Passing, if not nil, is called when a pass for sums starts. The number of passes depends on the plan and on released
	// values only, not on the number of splits or queries.
	Passing func()

	runner   Runner
	schema   dataset.Schema
	asRead   dataset.Schema   // the schema before words were found
	resolved []dataset.Column // the columns of the schema after words were found
	options  dataset.ReadOptions
	splits   []split
	keeper   Keeper               // nil unless the splits are blocks that the cluster keeps
	blocks   [secret.KeySize]byte // of those blocks
	words    int64                // upper bound on the bytes of the words to be found
	units    bool                 // whether the records of units are limited
	most     int64                // largest number of bytes of cells that Gather returns
}

// NewPlanEngine returns an engine without records, for checking a plan before records are read.
func NewPlanEngine(schema dataset.Schema) *Engine {
	return &Engine{
		schema: schema,
		most:   mechanism.FewBytes,
	}
}

// taskBytes is the largest number of bytes of tasks in one request, and answerBytes that of the sums in its answer. It is
// below the limit of Spark for the results of one query, spark.driver.maxResultSize.
const (
	taskBytes   = 1 << 26
	answerBytes = 1 << 28
)

// splitCounts are the results of the first pass over a split.
type splitCounts struct {
	Stats dataset.Stats
	Words int64 // bytes of the different words of batches
}

// Open divides the table at path into splits and counts the records on the workers. The table is a file or a pattern, and
// the workers must see it under the same absolute path. The returned counts are private.
func Open(
	ctx context.Context,
	r Runner,
	path string,
	schema dataset.Schema,
	o dataset.ReadOptions,
) (*Engine, *dataset.Stats, error) {
	splits, err := splitTable(path, leastRows)
	if err != nil {
		return nil, nil, err
	}
	e := newEngine(r, schema, o)
	e.splits = splits
	stats, err := e.countRecords(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	return e, stats, nil
}

// countRecords counts the records and sets the positions of the splits in the table. name is the table in messages.
func (e *Engine) countRecords(
	ctx context.Context,
	name string,
) (*dataset.Stats, error) {
	contents, err := e.askAll(ctx, order{Asks: asksCount}, nil)
	if err != nil {
		return nil, err
	}
	all := noStats(e.schema)
	for i, content := range contents {
		c := &splitCounts{}
		if unpackAnswer(content, c) != nil ||
			c.Stats.Rows < 0 ||
			c.Words < 0 ||
			len(c.Stats.Columns) != len(e.schema.Columns) {
			return nil, passError(errAnswer)
		}
		e.splits[i].First = uint64(all.Rows)
		e.splits[i].Rows = c.Stats.Rows
		e.words += c.Words
		all.Merge(&c.Stats)
		if int64(all.Rows) > mechanism.MostRecords { // the plan may have a lower limit
			return nil, mechanism.TooMany(name, mechanism.MostRecords)
		}
	}
	return &all, nil
}

// Schema implements [mechanism.Engine].
func (e *Engine) Schema() dataset.Schema {
	return e.schema
}

// Capabilities implements [mechanism.CapableEngine].
func (e *Engine) Capabilities() mechanism.Capabilities {
	return mechanism.Capabilities{
		Gather:      e.Gather,
		GatherLimit: e.most,
		LimitUnits:  e.LimitUnits,
		Lexicon:     e.Lexicon,
		Resolve:     e.Resolve,
	}
}

// Forget implements [mechanism.Engine].
func (e *Engine) Forget(mechanism.State) {}

// Sum implements [mechanism.Engine].
func (e *Engine) Sum(ctx context.Context, p mechanism.Pass) ([]int64, error) {
	if e.Passing != nil {
		e.Passing()
	}
	sums := p.Merge()
	err := e.forEachAnswer(ctx, order{
		Asks: asksSums,
		Pass: p,
	}, nil, 8*len(sums), func(_ int, content []byte) error {
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

// numRows returns the number of all records.
func (e *Engine) numRows() int {
	n := 0
	for _, s := range e.splits {
		n += s.Rows
	}
	return n
}

// askAll runs an order on all splits and returns the content of each answer; see [Engine.forEachAnswer].
func (e *Engine) askAll(
	ctx context.Context,
	o order,
	of func(split int) []uint64,
) ([][]byte, error) {
	contents := make([][]byte, len(e.splits))
	err := e.forEachAnswer(ctx, o, of, 0, func(i int, content []byte) error {
		contents[i] = content
		return nil
	})
	if err != nil {
		return nil, err
	}
	return contents, nil
}

// forEachAnswer runs an order on all splits and calls do with the content of each answer, in order. of, if not nil, returns
// the units of a task. bytes is the size of an answer; one request asks for at most answerBytes of answers. do returns an
// error for an incomplete answer.
func (e *Engine) forEachAnswer(
	ctx context.Context,
	o order,
	of func(split int) []uint64,
	bytes int,
	do func(split int, content []byte) error,
) error {
	var err error
	if o.Key, err = secret.FreshKey(); err != nil {
		return err
	}
	line, err := e.completeOrder(&o).encodeLine()
	if err != nil {
		return err
	}
	for from := 0; from < len(e.splits); {
		tasks, err := e.encodeTasks(from, from+max(answerBytes/max(bytes, 1), 1), of)
		if err != nil {
			return err
		}
		answers, err := e.runTasks(ctx, line, tasks, e.splits[from:from+len(tasks)])
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		contents, err := sortAnswers(o.Key, answers, from, from+len(tasks))
		if err != nil {
			return err
		}
		for k, content := range contents {
			if err := do(from+k, content); err != nil {
				return passError(err)
			}
		}
		from += len(tasks)
	}
	return nil
}

// encodeTasks returns the tasks for the splits from to to-1, or the first ones if all together are too large for one
// request. It returns at least one task.
func (e *Engine) encodeTasks(
	from, to int,
	of func(split int) []uint64,
) ([][]byte, error) {
	var out [][]byte
	size := 0
	for i := from; i < min(to, len(e.splits)) && (i == from || size+len(out[0]) < taskBytes); i++ {
		t := task{
			Format: format,
			Index:  i,
			Count:  len(e.splits),
			Split:  e.splits[i],
		}
		if of != nil {
			t.Units = of(i)
		}
		line, err := t.encodeLine()
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
