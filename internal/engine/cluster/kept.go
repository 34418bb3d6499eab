package cluster

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/noise/secret"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// QueryName is what messages call the table that a query gives.
const QueryName = "data.spark"

// A Query is one SELECT of a cluster, and the columns that it had before.
type Query struct {
	Text    string
	Columns []string
}

// A Keeper is a [Runner] whose cluster keeps blocks between passes.
type Keeper interface {
	Runner
	// Keep has workers make blocks of the rows of a query. Each gets the task, which has its order before it, a blank and the
	// number of a part of the rows, and then the rows of that part as lines of CSV. It returns the beginnings of all blocks.
	Keep(ctx context.Context, q Query, task []byte, begin int) (beginnings [][]byte, err error)
	// RunKept is Run for tasks with blocks: what stands before the first blank of a task is how its block
	// begins, and [Work] gets the rest of it, a blank, and the block. So many workers are enough for all of them.
	RunKept(ctx context.Context, order []byte, tasks [][]byte, workers int) (answers [][]byte, err error)
}

// OpenQuery has the rows of a query made to blocks that the cluster keeps, and counts their records. The rows follow each other in the
// order in which the cluster gives them to workers. Also returned is what was counted, which is private.
func OpenQuery(ctx context.Context, k Keeper, q Query, schema dataset.Schema, o dataset.ReadOptions) (*Engine, *dataset.Stats, error) {
	e := newEngine(k, schema, o)
	e.keeper = k
	var err error
	if e.blocks, err = secret.FreshKey(); err != nil {
		return nil, nil, err
	}
	first, err := e.finish(&order{Asks: asksRows, Names: q.Columns}).line()
	if err != nil {
		return nil, nil, err
	}
	second, err := (&task{Format: format, Count: 1}).line()
	if err != nil {
		return nil, nil, err
	}
	heads, err := k.Keep(ctx, q, slices.Concat(first, []byte{'\n'}, second), headText)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil {
		return nil, nil, err
	}
	if e.splits, err = splitsOf(heads); err != nil {
		return nil, nil, failed(err)
	}
	stats, err := e.count(ctx, QueryName)
	if err != nil {
		return nil, nil, err
	}
	return e, stats, nil
}

// splitsOf returns the blocks that have these heads, in order. Of each part there must be all blocks up to the last.
func splitsOf(texts [][]byte) ([]split, error) {
	heads := make([]head, len(texts))
	for i, text := range texts {
		var err error
		if heads[i], err = readHead(string(text)); err != nil {
			return nil, errAnswer
		}
	}
	slices.SortFunc(heads, func(a, b head) int {
		return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.index, b.index))
	})
	var out []split
	for i, h := range heads {
		first := i == 0 || heads[i-1].part != h.part
		follows := !first && h.index == heads[i-1].index+1 && !heads[i-1].last
		ends := i == len(heads)-1 || heads[i+1].part != h.part
		if first && h.index != 0 || !first && !follows || ends != h.last || h.rows > math.MaxInt32 {
			return nil, errAnswer
		}
		out = append(out, split{Block: h.String(), Rows: int(h.rows)})
	}
	return out, nil
}

// makeBlocks writes the blocks of a part of a query, whose number and rows follow the task.
func makeBlocks(ctx context.Context, o *order, number []byte, rows *bufio.Reader, out io.Writer) error {
	part, err := strconv.ParseUint(string(number), 10, 32)
	if err != nil {
		return errTask
	}
	var header bytes.Buffer
	w := csv.NewWriter(&header)
	if err := w.Write(o.Names); err != nil {
		return errTask
	}
	w.Flush()
	p := newPacker(o, uint32(part), out)
	options := o.Options
	options.Workers = 1
	err = options.Batches(ctx, QueryName, io.MultiReader(&header, rows), o.Schema,
		func(b *dataset.Batch) (any, error) { return nil, p.add(b) }, func(any) error { return nil })
	if err != nil {
		return err
	}
	return p.flush(true)
}

// kept calls do for the records of a block.
func (s *split) kept(o *order, schema dataset.Schema, do func(*dataset.Batch) error) error {
	b, err := openBlock(s.text, s.Block, o.Blocks)
	if err != nil {
		return err
	}
	batch, err := b.batch(o.Schema, schema)
	if err != nil {
		return err
	}
	return do(batch)
}

// answerOf returns the answer that tells of an error with a block, if it is one.
func answerOf(err error) (content []byte, ok bool) {
	switch {
	case errors.Is(err, errOtherBlock):
		return []byte{answerOther}, true
	case errors.Is(err, errSpoiltBlock):
		return []byte{answerSpoilt}, true
	}
	return nil, false
}

// finish completes an order by what all orders of the engine share.
func (e *Engine) finish(o *order) *order {
	o.Schema, o.As, o.Options, o.Limited, o.Blocks = e.asRead, e.resolved, e.options, e.units, e.blocks
	if e.schema.Unit != "" {
		o.Options.NameKey = secret.NameKey()
	}
	return o
}

// run hands an order over, and the tasks for some splits. Blocks may be many and small, as those of a query that sorts
// are, and a worker is a process that has to be started.
func (e *Engine) run(ctx context.Context, order []byte, tasks [][]byte, of []split) ([][]byte, error) {
	if e.keeper == nil {
		return e.runner.Run(ctx, order, tasks)
	}
	rows := 0
	for _, s := range of {
		rows += max(s.Rows, 0)
	}
	return e.keeper.RunKept(ctx, order, tasks, min(len(tasks), rows/leastRows+1))
}

// newEngine returns an engine whose splits are not known yet.
func newEngine(r Runner, schema dataset.Schema, o dataset.ReadOptions) *Engine {
	pipeline.RegisterStatistics()
	return &Engine{runner: r, schema: schema, asRead: schema, options: o, most: mechanism.FewBytes}
}
