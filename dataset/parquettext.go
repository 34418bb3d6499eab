package dataset

import (
	"context"

	"github.com/parquet-go/parquet-go"
)

// ParquetText hands every cell of a public Parquet file to add, column after column
// and from the first row to the last: the column's place among those of [Header],
// and the text that a CSV file would hold, valid during the call; a null is empty.
// Columns of a type that [Read] does not take are left out. add must not panic.
//
// It is for public files only, as package bench reads them. What it finds in a
// private file would be no declaration, and must not become one.
//
// Errors are a [*FileError] or the context's error.
func ParquetText(ctx context.Context, path string, add func(column int, cell []byte)) error {
	fm, err := formatOf(path)
	if err != nil {
		return err
	}
	if !fm.parquet {
		return &FileError{Path: path, Msg: "is not a Parquet file by its name", Hint: "name it .parquet", Err: ErrFormat}
	}
	rd, err := newReader(path, fm, Schema{}, ReadOptions{})
	if err != nil {
		return err
	}
	f, size, _, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	pf, err := openParquet(path, f, size)
	if err != nil {
		return err
	}
	names, err := parquetNames(path, pf)
	if err != nil {
		return err
	}
	t := &parquetTable{rd: rd, file: pf, bytes: f, size: size}
	if t.rows, err = t.countRows(); err != nil {
		return err
	}
	for j := range names {
		if err := t.texts(ctx, j, add); err != nil {
			return err
		}
	}
	return nil
}

// texts hands on the cells of the field at position f of the file's schema.
func (t *parquetTable) texts(ctx context.Context, f int, add func(column int, cell []byte)) (err error) {
	defer guard(t.rd.path, &err)
	source := t.file.Root().Columns()[f]
	conv, ok := converterOf(source)
	if !ok {
		return nil
	}
	if err := t.checkColumn(ctx, source, source.Name(), nil); err != nil {
		return err
	}
	_, err = fillColumn(ctx, t, source, func(v parquet.Value) struct{} { // takes no memory
		add(f, conv.textOf(v))
		return struct{}{}
	})
	return err
}
