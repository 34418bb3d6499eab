package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

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
	return in.stdin == nil && kind.Parquet
}

// isJSON reports whether the table is in JSON Lines.
func (in *input) isJSON() bool {
	kind, _, _ := tablefile.ParsePath(in.path)
	return kind.JSON
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
