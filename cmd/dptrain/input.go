package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/tablefile"
)

// input is the table that predict reads.
type input struct {
	path    string
	stdin   io.Reader // used if the path is "-"
	reading dataset.ReadOptions
}

// stream reads the columns of schema and passes the batches to the consumer.
func (in *input) stream(
	ctx context.Context,
	schema dataset.Schema,
	to dataset.Consumer[*scored],
) error {
	if in.stdin != nil {
		return dataset.StreamFrom(ctx, in.stdin, in.path, schema, in.reading, to)
	}
	return dataset.Stream(ctx, in.path, schema, in.reading, to)
}

func (in *input) isParquet() bool {
	kind, _, _ := tablefile.ParsePath(in.path)
	return kind.Parquet
}

// isJSON reports whether the table is in JSON Lines.
func (in *input) isJSON() bool {
	kind, _, _ := tablefile.ParsePath(in.path)
	return kind.JSON
}

// explainHeader adds to an error about the header of a text table that the recipe published with the model, which
// describes how such tables are written, could not be used because of unpublished. It returns other errors unchanged.
func (in *input) explainHeader(err error, model string, unpublished error) error {
	var file *dataset.FileError
	if unpublished == nil || !errors.As(err, &file) || in.isJSON() || in.isParquet() || in.isPacked() {
		return err
	}
	header := file.Line > 0 && errors.Is(err, dataset.ErrFormat)
	for _, kind := range []error{dataset.ErrNoHeader, dataset.ErrNoColumn} {
		header = header || errors.Is(err, kind)
	}
	if !header {
		return err
	}
	return &unknownDialect{err, model, unpublished}
}

// unknownDialect is an error about a header that was read without the recipe published with the model.
type unknownDialect struct {
	error
	model       string
	unpublished error
}

func (e *unknownDialect) Error() string {
	why := "there is no recipe.yaml of its run next to it"
	if !errors.Is(e.unpublished, fs.ErrNotExist) {
		first, _, _ := strings.Cut(e.unpublished.Error(), "\n")
		why = fmt.Sprintf("the recipe.yaml next to it cannot be used (%s)", first)
	}
	return fmt.Sprintf("%v\n%s: %s, so the separator, quotes, character set and header line of its tables are unknown; "+
		"if those of this table are unusual, set --separator, --quote, --encoding, --skip or --header", e.error, e.model, why)
}

func (e *unknownDialect) Unwrap() error {
	return e.error
}

// isPacked reports whether the table is a workbook or in Arrow, which have no quotes.
func (in *input) isPacked() bool {
	kind, _, _ := tablefile.ParsePath(in.path)
	return kind.Packed != tablefile.NotPacked
}

// cellError returns the error for a cell that --strict rejects. It does not quote the cell.
func cellError(place, column string) error {
	return fault.WithKind(fault.Data,
		&placeError{place, fmt.Sprintf("a cell of column %q is not a finite number; "+
			"correct it, or predict without --strict to replace it with the model's missing value",
			column)})
}

// refuse returns an error for the first line of the batch with more or fewer values than names, the column names of the
// file, or else for the first cell of a numeric column that is neither a finite number nor missing.
func (in *input) refuse(batch *dataset.Batch, names []string) error {
	u := unevenLines(batch, len(names))
	if u.line > 0 && in.isJSON() {
		return fault.WithKind(fault.Data, &placeError{
			in.path,
			fmt.Sprintf("record %d is not a JSON object; correct it, or predict without --strict", u.line),
		})
	}
	if u.line > 0 {
		remedy := "correct it, or predict without --strict"
		if !in.reading.Format.MultilineQuotes && !in.isPacked() {
			remedy = "correct it, use --multiline-quotes if quoted values contain line breaks, or predict without --strict"
		}
		return fault.WithKind(fault.Data, &placeError{
			fmt.Sprintf("%s:%d", in.path, u.line),
			fmt.Sprintf("the line does not have %s, as the header has; %s", plural(len(names), "value", "values"), remedy),
		})
	}
	bad := map[string]bool{}
	first := ""
	for _, c := range batch.Stats.Columns {
		if c.Unparseable+c.Nonfinite > 0 {
			bad[c.Name] = true
			first = cmp.Or(first, c.Name)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	err := batch.Text(func(line int, fields []string) error {
		for f, text := range fields[:min(len(fields), len(names))] {
			if bad[names[f]] && !in.reading.Format.Reads(text) {
				return cellError(fmt.Sprintf("%s:%d:%d", in.path, line, f+1), names[f])
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return cellError(in.path, first) // Parquet has no line numbers
}
