package cluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/pipeline"
)

// Work carries out the tasks that stand on the lines of in, and writes an answer to each as a line. Its errors say
// nothing of a record, a file or a task.
func Work(ctx context.Context, in io.Reader, out io.Writer) error {
	pipeline.RegisterStatistics()
	lines, answers := bufio.NewReaderSize(in, 1<<16), bufio.NewWriter(out)
	for {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			answer, err := carryOut(ctx, line)
			if err != nil {
				return err
			}
			_, _ = answers.Write(answer)
			_ = answers.WriteByte('\n')
		}
		if errors.Is(err, io.EOF) {
			return answers.Flush()
		}
		if err != nil {
			return err
		}
	}
}

// carryOut returns the answer to the task of a line.
func carryOut(ctx context.Context, line []byte) ([]byte, error) {
	t, o, err := readTask(line)
	if err != nil {
		return nil, err
	}
	content, err := t.Split.content(ctx, o)
	if err != nil {
		return nil, err
	}
	return t.answer(o.Key, content), nil
}

// content adds an order up over the records of a split. A file that is not as it should be is an answer too.
func (s *split) content(ctx context.Context, o *order) ([]byte, error) {
	info, err := os.Stat(s.Path)
	if err != nil {
		return []byte{answerNoFile}, nil
	}
	if info.Size() != s.Size {
		return []byte{answerChanged}, nil
	}
	var content []byte
	var rows int
	if o.Pass == nil {
		rows, content, err = s.count(ctx, o)
	} else {
		rows, content, err = s.sums(ctx, o)
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

// count reads the records of all columns.
func (s *split) count(ctx context.Context, o *order) (rows int, content []byte, err error) {
	stats := &dataset.Stats{Columns: make([]dataset.ColumnStats, len(o.Schema.Columns))}
	for j, name := range o.Schema.Names() {
		stats.Columns[j].Name = name
	}
	err = s.batches(ctx, o, o.Schema, func(b *dataset.Batch) error {
		stats.Merge(b.Stats)
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	packed, err := pack(stats)
	return stats.Rows, append([]byte{answerStats}, packed...), err
}

// sums adds the pass of an order up. Only the columns that it looks at are read.
func (s *split) sums(ctx context.Context, o *order) (rows int, content []byte, err error) {
	read := o.Schema.Clone()
	of := columnsOf(o.Pass.Part)
	if len(of) == 0 {
		of = []int{0}
	}
	read.Columns = nil
	place := make([]int, len(o.Schema.Columns)) // of a column among those that are read, from 1
	for k, j := range of {
		read.Columns = append(read.Columns, o.Schema.Columns[j])
		place[j] = k + 1
	}
	total := o.Pass.Total()
	err = s.batches(ctx, o, read, func(b *dataset.Batch) error {
		piece := o.Schema.Piece(b.Table.Len(), s.First+uint64(rows), nil, func(j int) dataset.ColumnData {
			k := place[j] - 1
			return dataset.ColumnData{Floats: b.Table.Float(k), Codes: b.Table.Codes(k)}
		})
		rows += b.Table.Len()
		v, err := o.Pass.Part.Of(ctx, piece.All())
		if err != nil {
			return err
		}
		return total.Add(ctx, v)
	})
	if err != nil {
		return 0, nil, err
	}
	return rows, sumsOf(total.Values()), nil
}

// batches calls do for all batches of the records, in order.
func (s *split) batches(ctx context.Context, o *order, schema dataset.Schema, do func(*dataset.Batch) error) error {
	options := o.Options
	options.Workers, options.Groups = 1, s.Groups // one worker takes the batches in order
	return options.Batches(ctx, s.Path, nil, schema, func(b *dataset.Batch) (any, error) { return nil, do(b) }, func(any) error { return nil })
}

// columnsOf lists the columns that a part looks at.
func columnsOf(p mechanism.Part) []int {
	columns := slices.Clone(p.Columns)
	for _, c := range p.Cuts {
		if !c.None && c.Coin == nil {
			columns = append(columns, c.Known)
		}
	}
	for _, c := range p.Recoded {
		columns = append(columns, c.Column)
	}
	slices.Sort(columns)
	return slices.Compact(columns)
}
