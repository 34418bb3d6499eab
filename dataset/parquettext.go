package dataset

import (
	"context"
	"errors"
	"math"

	"github.com/dptrain/dptrain/internal/tablefile/parquetfile"
)

// ParquetText passes the cells of a public Parquet file to add, column by column and from the first row on: the
// column's index among those of [Header], and the text that a CSV file would have, valid during the call. It reads
// the first rows rows and little more of the file, or all rows if rows is 0. A null is empty. Columns of a type that
// [Read] does not support are skipped. add must not panic.
//
// It is for public files, as in package bench, and for output that only the owner of a private file sees. A
// finding from it must not become a declaration.
//
// Errors are a [*FileError] or the context's error.
func ParquetText(
	ctx context.Context,
	path string,
	rows int,
	add func(column int, cell []byte),
) error {
	if rows <= 0 {
		rows = math.MaxInt
	}
	fm, err := formatOf(path)
	if err != nil {
		return err
	}
	if !fm.parquet {
		return &FileError{
			Path: path,
			Msg:  "does not have the name of a Parquet file",
			Hint: "name it .parquet",
			Err:  ErrFormat,
		}
	}
	rd, err := newReader(path, fm, Schema{}, ReadOptions{})
	if err != nil {
		return err
	}
	f, size, _, err := openFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	footer, columns, err := openParquet(path, f, size)
	if err != nil {
		return err
	}
	names, err := parquetNames(path, columns)
	if err != nil {
		return err
	}
	t := &parquetTable{rd: rd, footer: footer, columns: columns, bytes: f, size: size}
	if t.rows, err = t.countRows(); err != nil {
		return err
	}
	rule := rd.opts.Format.numberRule()
	for j := range names {
		if _, ok := converterOf(&columns[j], &rule); !ok {
			continue
		}
		opened, err := t.openFields(ctx, []int{j}, func(f int) string { return names[f] })
		if err != nil {
			return err
		}
		if err := t.eachText(ctx, opened[0], rows, func(cell []byte) { add(j, cell) }); err != nil {
			return err
		}
	}
	return nil
}

// eachText passes the first cells of a column to add, at most rows cells.
func (t *parquetTable) eachText(
	ctx context.Context,
	column parquetColumn,
	rows int,
	add func(cell []byte),
) error {
	c := newCells(column, "", missing, func(v parquetfile.Value) (string, class) {
		return string(column.conv.textOf(v)), good
	})
	reading, stop := context.WithCancel(ctx)
	defer stop()
	left := rows
	err := eachBatch(reading, t, c, func(some []string) {
		some = some[:min(left, len(some))]
		left -= len(some)
		for _, text := range some {
			add([]byte(text))
		}
		if left == 0 {
			stop()
		}
	})
	if left == 0 && errors.Is(err, context.Canceled) {
		return ctx.Err()
	}
	return err
}
