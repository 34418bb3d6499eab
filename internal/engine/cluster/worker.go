package cluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// Work carries out the tasks that stand on the lines of in, each by the last order before it, and writes an answer to
// each as lines. Its errors say nothing of a record, a file or a task.
func Work(ctx context.Context, in io.Reader, out io.Writer) error {
	pipeline.RegisterStatistics()
	lines, answers := bufio.NewReaderSize(in, 1<<16), bufio.NewWriter(out)
	var o *order
	for {
		line, err := lines.ReadBytes('\n')
		line = bytes.TrimRight(line, "\r\n")
		if text, ok := bytes.CutPrefix(line, []byte(orderMark)); ok {
			var wrong error
			if o, wrong = readOrder(text); wrong != nil {
				return wrong
			}
		} else if len(line) > 0 {
			if err := carryOut(ctx, o, line, lines, answers); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return answers.Flush()
		}
		if err != nil {
			return err
		}
	}
}

// carryOut writes the answer to the task of a line. What follows are the rows of a query, for orders that make blocks of
// them.
func carryOut(ctx context.Context, o *order, line []byte, rows *bufio.Reader, out io.Writer) error {
	t, err := readTask(line)
	if err != nil || o == nil {
		return errTask
	}
	if o.Asks == asksRows {
		return makeBlocks(ctx, o, t.Split.text, rows, out)
	}
	content, err := t.content(ctx, o)
	if err != nil {
		return err
	}
	_, err = out.Write(t.answer(o.Key, content))
	return err
}

// content carries an order out on the records of a split. A file that is not as it should be is an answer too.
func (t *task) content(ctx context.Context, o *order) ([]byte, error) {
	s := &t.Split
	if s.Block == "" {
		info, err := os.Stat(s.Path)
		if err != nil {
			return []byte{answerNoFile}, nil
		}
		if info.Size() != s.Size {
			return []byte{answerChanged}, nil
		}
	}
	content, rows, err := t.carry(ctx, o)
	if answer, ok := answerOf(err); ok {
		return answer, nil
	}
	var file *dataset.FileError
	switch {
	case errors.As(err, &file):
		return []byte{answerDamaged}, nil
	case err != nil:
		return nil, err
	case s.Rows >= 0 && rows != s.Rows:
		return []byte{answerChanged}, nil
	}
	return content, nil
}

// carry returns what an order asks of the split, and how many records this has.
func (t *task) carry(ctx context.Context, o *order) (content []byte, rows int, err error) {
	switch o.Asks {
	case asksCount:
		return t.Split.count(ctx, o)
	case asksSums:
		return t.Split.sums(ctx, o)
	case asksRecords:
		return t.Split.records(ctx, o)
	case asksUnits:
		return t.Split.units(ctx, o)
	case asksLarge:
		return t.Split.large(ctx, o, t.Units)
	case asksWords:
		return t.Split.words(ctx, o)
	}
	return nil, 0, errTask
}

// count reads the records of all columns.
func (s *split) count(ctx context.Context, o *order) (content []byte, rows int, err error) {
	out := &counted{Stats: noStats(o.Schema)}
	err = s.batches(ctx, o, o.Schema, func(b *dataset.Batch) error {
		out.Stats.Merge(b.Stats)
		out.Words += wordBytes(b.Table)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	content, err = packAnswer(out)
	return content, out.Stats.Rows, err
}

// sums adds the pass of an order up.
func (s *split) sums(ctx context.Context, o *order) (content []byte, rows int, err error) {
	total := o.Pass.Total()
	rows, err = s.views(ctx, o, o.Pass.Part.ReadColumns(), func(v dataset.View, _ func(int) []string) error {
		v, err := o.Pass.Part.Select(ctx, v)
		if err != nil {
			return err
		}
		return total.Add(ctx, v)
	})
	return sumsOf(total.Values()), rows, err
}

// views calls do for the records of each batch, those that units keep, with the columns of the schema of the run. Only
// some of them are read, and others must not be looked at. words returns the list that codes of words to be found are
// places in. It returns the number of all records.
func (s *split) views(ctx context.Context, o *order, of []int, do func(v dataset.View, words func(j int) []string) error) (rows int, err error) {
	if len(of) == 0 {
		of = []int{0}
	}
	read, schema := o.Schema.Clone(), o.Schema
	read.Columns = nil
	if o.As != nil {
		schema.Columns = o.As
	}
	var as []dataset.Column
	place := make([]int, len(o.Schema.Columns)) // of a column among those that are read, from 1
	for k, j := range of {
		read.Columns, as = append(read.Columns, o.Schema.Columns[j]), append(as, schema.Columns[j])
		place[j] = k + 1
	}
	kept := keeper{left: s.Left}
	err = s.batches(ctx, o, read, func(b *dataset.Batch) error {
		var ids []uint64
		for k := range b.Table.Len() {
			if schema.Unit != "" {
				ids = append(ids, b.Table.ID(k))
			}
		}
		t := b.Table
		if o.As != nil {
			t = t.All().Resolve(as).Table()
		}
		v := schema.Piece(b.Table.Len(), s.First+uint64(rows), ids, func(j int) dataset.ColumnData {
			k := place[j] - 1
			return dataset.ColumnData{Floats: t.Float(k), Codes: t.Labels(k)}
		}).All()
		rows += b.Table.Len()
		if o.Limited {
			v = v.Select(kept.rows(ids))
		}
		return do(v, func(j int) []string { return b.Table.Words(place[j] - 1) })
	})
	return rows, err
}

// batches calls do for all batches of the records, in order.
func (s *split) batches(ctx context.Context, o *order, schema dataset.Schema, do func(*dataset.Batch) error) error {
	if s.Block != "" {
		return s.kept(o, schema, do)
	}
	options := o.Options
	options.Workers, options.Groups = 1, s.Groups // one worker takes the batches in order
	return options.Batches(ctx, s.Path, nil, schema, func(b *dataset.Batch) (any, error) { return nil, do(b) }, func(any) error { return nil })
}
