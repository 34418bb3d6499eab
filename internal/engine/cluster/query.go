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

// QueryName is the name of the result of a query in messages.
const QueryName = "data.spark"

// A Query is a SELECT of a cluster with the names of its columns, as they were when the plan was made.
type Query struct {
	Text    string
	Columns []string
}

// A Keeper is a [Runner] whose cluster keeps blocks between passes.
type Keeper interface {
	Runner
	// Keep stores the rows of a query as blocks on the workers. The input of a worker is the task, which follows its order, a
	// blank and the number of a part of the rows, and then the rows of that part as lines of CSV. Keep returns the first begin
	// bytes of every block.
	Keep(ctx context.Context, q Query, task []byte, begin int) (beginnings [][]byte, err error)
	// RunKept is Run for tasks with blocks. The text before the first blank of a task is the start of its block. The input of
	// [Work] is the rest of the task, a blank, and the block. At most the given number of workers are started.
	RunKept(
		ctx context.Context, order []byte, tasks [][]byte, workers int,
	) (answers [][]byte, err error)
}

// OpenQuery stores the rows of a query as blocks on the cluster and counts the records. The order of the records is that in
// which the cluster gives the rows to workers. The returned counts are private.
func OpenQuery(
	ctx context.Context,
	k Keeper,
	q Query,
	schema dataset.Schema,
	o dataset.ReadOptions,
) (*Engine, *dataset.Stats, error) {
	e := newEngine(k, schema, o)
	e.keeper = k
	var err error
	if e.blocks, err = secret.FreshKey(); err != nil {
		return nil, nil, err
	}
	first, err := e.completeOrder(&order{
		Asks:  asksRows,
		Names: q.Columns,
	}).encodeLine()
	if err != nil {
		return nil, nil, err
	}
	second, err := (&task{
		Format: format,
		Count:  1,
	}).encodeLine()
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
		return nil, nil, passError(err)
	}
	stats, err := e.countRecords(ctx, QueryName)
	if err != nil {
		return nil, nil, err
	}
	return e, stats, nil
}

// splitsOf returns the blocks with the given heads, in order. It returns an error unless every part has all of its blocks.
func splitsOf(texts [][]byte) ([]split, error) {
	heads := make([]blockHead, len(texts))
	for i, text := range texts {
		var err error
		if heads[i], err = readHead(string(text)); err != nil {
			return nil, errAnswer
		}
	}
	slices.SortFunc(heads, func(a, b blockHead) int {
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
		out = append(out, split{
			Block: h.String(),
			Rows:  int(h.rows),
		})
	}
	return out, nil
}

// makeBlocks writes the blocks of a part of a query, whose number and rows follow the task.
func makeBlocks(
	ctx context.Context,
	o *order,
	number []byte,
	rows *bufio.Reader,
	out io.Writer,
) error {
	part, err := strconv.ParseUint(string(number), 10, 32)
	if err != nil {
		return ErrVersion
	}
	var header bytes.Buffer
	w := csv.NewWriter(&header)
	if err := w.Write(o.Names); err != nil {
		return ErrVersion
	}
	w.Flush()
	p := newPacker(o, uint32(part), out)
	options := o.Options
	options.Workers = 1
	err = options.Batches(ctx, QueryName, io.MultiReader(&header, rows), o.Schema,
		func(b *dataset.Batch) (any, error) {
			return nil, p.addBatch(b)
		}, func(any) error {
			return nil
		})
	if err != nil {
		return err
	}
	return p.writeBlock(true)
}

// readBlock calls do with the records of a block.
func (s *split) readBlock(
	o *order,
	schema dataset.Schema,
	do func(*dataset.Batch) error,
) error {
	b, err := openBlock(s.text, s.Block, o.Blocks)
	if err != nil {
		return err
	}
	batch, err := b.readBatch(o.Schema, schema)
	if err != nil {
		return err
	}
	return do(batch)
}

// answerOf returns the answer for an error of a block, and whether err is one.
func answerOf(err error) (content []byte, ok bool) {
	switch {
	case errors.Is(err, errOtherBlock):
		return []byte{answerOther}, true
	case errors.Is(err, errSpoiltBlock):
		return []byte{answerSpoilt}, true
	}
	return nil, false
}

// completeOrder sets the fields that all orders of the engine share.
func (e *Engine) completeOrder(o *order) *order {
	o.Schema = e.asRead
	o.As = e.resolved
	o.Options = e.options
	o.Limited = e.units
	o.Blocks = e.blocks
	if e.schema.Unit != "" {
		o.Options.NameKey = secret.NameKey()
	}
	return o
}

// runTasks runs the tasks for some splits. A query that sorts may have many small blocks, and each worker is a process
// that has to be started, so the number of workers depends on the number of rows.
func (e *Engine) runTasks(
	ctx context.Context,
	order []byte,
	tasks [][]byte,
	of []split,
) ([][]byte, error) {
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
	return &Engine{
		runner:  r,
		schema:  schema,
		asRead:  schema,
		options: o,
		most:    mechanism.FewBytes,
	}
}
