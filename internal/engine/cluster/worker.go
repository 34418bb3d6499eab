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

// Work runs the tasks on the lines of in, each by the last order before it, and writes the lines of their answers to out.
// Its errors, such as [ErrVersion], do not depend on a record or a file.
func Work(ctx context.Context, in io.Reader, out io.Writer) error {
	pipeline.RegisterStatistics()
	lines := bufio.NewReaderSize(in, 1<<16)
	answers := bufio.NewWriter(out)
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
			if err := answerTask(ctx, o, line, lines, answers); err != nil {
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

// answerTask writes the answer to the task of a line. rows has the rows of a query, for orders that store them as blocks.
func answerTask(
	ctx context.Context,
	o *order,
	line []byte,
	rows *bufio.Reader,
	out io.Writer,
) error {
	t, err := readTask(line)
	if err != nil || o == nil {
		return ErrVersion
	}
	if o.Asks == asksRows {
		return makeBlocks(ctx, o, t.Split.text, rows, out)
	}
	content, err := t.answerContent(ctx, o)
	if err != nil {
		return err
	}
	_, err = out.Write(t.encodeAnswer(o.Key, content))
	return err
}

// answerContent runs an order on the records of a split. For a missing, changed or damaged file it returns the content of
// an answer with that fact.
func (t *task) answerContent(ctx context.Context, o *order) ([]byte, error) {
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
	content, rows, err := t.runOrder(ctx, o)
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

// runOrder returns the result of an order on the split, and the number of its records.
func (t *task) runOrder(
	ctx context.Context,
	o *order,
) (content []byte, rows int, err error) {
	switch o.Asks {
	case asksCount:
		return t.Split.countRecords(ctx, o)
	case asksSums:
		return t.Split.sumPass(ctx, o)
	case asksRecords:
		return t.Split.readRecords(ctx, o)
	case asksUnits:
		return t.Split.countUnits(ctx, o)
	case asksLarge:
		return t.Split.readUnits(ctx, o, t.Units)
	case asksWords:
		return t.Split.countWordShare(ctx, o)
	}
	return nil, 0, ErrVersion
}

// countRecords reads all columns of the records and counts them.
func (s *split) countRecords(
	ctx context.Context,
	o *order,
) (content []byte, rows int, err error) {
	out := &splitCounts{Stats: noStats(o.Schema)}
	err = s.forEachBatch(ctx, o, o.Schema, func(b *dataset.Batch) error {
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

// sumPass computes the sums of the pass of an order.
func (s *split) sumPass(
	ctx context.Context,
	o *order,
) (content []byte, rows int, err error) {
	total := o.Pass.Total()
	rows, err = s.forEachView(ctx, o, o.Pass.Part.ReadColumns(),
		func(v dataset.View, _ func(int) []string) error {
			v, err := o.Pass.Part.Select(ctx, v)
			if err != nil {
				return err
			}
			return total.Add(ctx, v)
		})
	return sumsOf(total.Values()), rows, err
}

// forEachView calls do with the records of each batch that units keep, with the columns of the schema of the run. Only the
// columns of are read, and do must not use others. words returns the list of words to which the codes of a column refer.
// forEachView returns the number of all records.
func (s *split) forEachView(
	ctx context.Context,
	o *order,
	of []int,
	do func(v dataset.View, words func(j int) []string) error,
) (rows int, err error) {
	if len(of) == 0 {
		of = []int{0}
	}
	read := o.Schema.Clone()
	schema := o.Schema
	read.Columns = nil
	if o.As != nil {
		schema.Columns = o.As
	}
	var as []dataset.Column
	place := make([]int, len(o.Schema.Columns)) // position of each column among the read ones, from 1
	for k, j := range of {
		read.Columns, as = append(read.Columns, o.Schema.Columns[j]), append(as, schema.Columns[j])
		place[j] = k + 1
	}
	kept := rowFilter{left: s.Left}
	err = s.forEachBatch(ctx, o, read, func(b *dataset.Batch) error {
		var ids []uint64
		for k := range b.Table.Len() {
			if schema.Unit != "" {
				ids = append(ids, b.Table.ID(k))
			}
		}
		t := b.Table
		if o.As != nil {
			t = t.View().Resolve(as).Table()
		}
		v := schema.Piece(b.Table.Len(), s.First+uint64(rows), ids, func(j int) dataset.ColumnData {
			k := place[j] - 1
			return dataset.ColumnData{
				Floats: t.Float(k),
				Codes:  t.Labels(k),
			}
		}).View()
		rows += b.Table.Len()
		if o.Limited {
			v = v.Select(kept.keptRows(ids))
		}
		return do(v, func(j int) []string {
			return b.Table.Words(place[j] - 1)
		})
	})
	return rows, err
}

// forEachBatch calls do with all batches of the records, in order.
func (s *split) forEachBatch(
	ctx context.Context,
	o *order,
	schema dataset.Schema,
	do func(*dataset.Batch) error,
) error {
	if s.Block != "" {
		return s.readBlock(o, schema, do)
	}
	options := o.Options
	options.Workers = 1 // so that the batches are in order
	options.Groups = s.Groups
	return options.Batches(ctx, s.Path, nil, schema, func(b *dataset.Batch) (any, error) {
		return nil, do(b)
	}, func(any) error {
		return nil
	})
}
