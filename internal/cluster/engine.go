package cluster

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/fault"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/mechanism/secret"
	"github.com/dptrain/dptrain/internal/pipeline"
)

// A Runner has tasks carried out by workers: each line goes to [Work] somewhere, and what that writes comes
// back, line by line in any order.
type Runner interface {
	Run(ctx context.Context, tasks [][]byte) (answers [][]byte, err error)
}

// Engine is a [mechanism.Engine] whose records are where the workers of a cluster read them. It keeps nothing between
// passes: a state is computed anew in every one.
type Engine struct {
	runner  Runner
	schema  dataset.Schema
	options dataset.ReadOptions
	splits  []split
}

// Of returns an engine without records, by which a plan can be checked before any is read.
func Of(schema dataset.Schema) *Engine { return &Engine{schema: schema} }

// maxRows is the largest number of records, as of a table in memory: the widths of all sums are proved for as many.
const maxRows = math.MaxInt32

// taskBytes is how many bytes of tasks are handed over at a time.
const taskBytes = 1 << 26

// Open cuts the table at path into splits and has the workers count its records. The table is a file or a pattern, and
// the workers see it under the same absolute path. Also returned is what they counted, which is private.
func Open(ctx context.Context, r Runner, path string, schema dataset.Schema, o dataset.ReadOptions) (*Engine, *dataset.Stats, error) {
	pipeline.RegisterStatistics()
	splits, err := cut(path, leastRows)
	if err != nil {
		return nil, nil, err
	}
	e := &Engine{r, schema, o, splits}
	contents, err := e.ask(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	all := &dataset.Stats{Columns: make([]dataset.ColumnStats, len(schema.Columns))}
	for j, name := range schema.Names() {
		all.Columns[j].Name = name
	}
	for i, content := range contents {
		stats := &dataset.Stats{}
		if content[0] != answerStats || unpack(content[1:], stats) != nil || stats.Rows < 0 || len(stats.Columns) != len(schema.Columns) {
			return nil, nil, failed(errAnswer)
		}
		e.splits[i].First, e.splits[i].Rows = uint64(all.Rows), stats.Rows
		all.Merge(stats)
		if all.Rows > maxRows {
			return nil, nil, &dataset.FileError{Path: path, Msg: "holds more than 2147483647 rows", Hint: "split it", Err: dataset.ErrTooLarge}
		}
	}
	return e, all, nil
}

// Schema implements [mechanism.Engine].
func (e *Engine) Schema() dataset.Schema { return e.schema }

// Forget implements [mechanism.Engine].
func (e *Engine) Forget(mechanism.State) {}

// Sum implements [mechanism.Engine].
func (e *Engine) Sum(ctx context.Context, p mechanism.Pass) ([]int64, error) {
	n := len(p.Merge())
	contents, err := e.ask(ctx, &p)
	if err != nil {
		return nil, err
	}
	sums := make([][]int64, len(contents))
	for i, content := range contents {
		if sums[i], err = readSums(content, n); err != nil {
			return nil, failed(err)
		}
	}
	return p.Merge(sums...), nil
}

// ask has a pass carried out over all splits; nil counts the records. It returns the content of the answer of each.
func (e *Engine) ask(ctx context.Context, p *mechanism.Pass) ([][]byte, error) {
	key, err := secret.FreshKey()
	if err != nil {
		return nil, err
	}
	packed, err := pack(&order{key, e.schema, e.options, p})
	if err != nil {
		return nil, err
	}
	contents := make([][]byte, len(e.splits))
	for from := 0; from < len(e.splits); {
		var tasks [][]byte
		size := 0
		to := from
		for ; to < len(e.splits) && (to == from || size+len(tasks[0]) < taskBytes); to++ {
			t := task{format, to, len(e.splits), e.splits[to], packed}
			line, err := t.line()
			if err != nil {
				return nil, err
			}
			tasks = append(tasks, line)
			size += len(line)
		}
		answers, err := e.runner.Run(ctx, tasks)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if err := sorted(key, answers, contents, from, to); err != nil {
			return nil, err
		}
		from = to
	}
	return contents, nil
}

// sorted puts the contents of answers in the order of their tasks, which are those numbered from up to to. There must be
// exactly one for each.
func sorted(key [secret.KeySize]byte, answers, contents [][]byte, from, to int) error {
	for _, text := range answers {
		i, content, err := readAnswer(key, text)
		if err != nil || i < from || i >= to || contents[i] != nil || len(content) == 0 {
			return failed(errAnswer)
		}
		contents[i] = content
	}
	if slices.ContainsFunc(contents[from:to], func(c []byte) bool { return c == nil }) {
		return failed(errAnswer)
	}
	for _, content := range contents[from:to] {
		if content[0] >= answerNoFile {
			return failed(errFile[min(content[0], answerDamaged)])
		}
	}
	return nil
}

// What answers without sums say.
var errFile = map[byte]error{
	answerNoFile:  errors.New("a worker does not find the table: it needs the same path on every machine of the cluster"),
	answerChanged: errors.New("a file of the table is another one than before"),
	answerDamaged: errors.New("a file of the table cannot be read to its end"),
}

// failed is the error of a pass that is not whole.
func failed(err error) error {
	hint := "nothing was released; run again"
	if errors.Is(err, errAnswer) {
		err = errors.New("the cluster lost, repeated or changed a partial sum")
	}
	return &fault.Error{Kind: fault.Data, Err: err, Message: err.Error(), Hint: hint}
}
