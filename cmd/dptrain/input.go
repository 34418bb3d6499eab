package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/stage"
)

// keep reads the whole file into memory, because it is needed twice. A Parquet
// file is not kept: its cells have no text to point at or to copy.
func (in *input) keep(ctx context.Context) error {
	if in.stdin == nil && in.extension() != ".csv" && in.extension() != ".tsv" {
		return nil
	}
	src := in.stdin
	if src == nil {
		f, err := os.Open(in.path)
		if err != nil {
			return nil // dataset.Read says what is wrong
		}
		defer f.Close()
		src = f
	}
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() { // a terminal or a pipe may block for ever
		data, err := io.ReadAll(src)
		done <- result{data, err}
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case r := <-done:
		if r.err != nil && in.stdin == nil {
			return nil // dataset.Read says what is wrong
		}
		in.kept = r.data
		return r.err
	}
}

// extension is the suffix of the file name, in lower case and without .gz.
func (in *input) extension() string {
	return filepath.Ext(strings.TrimSuffix(strings.ToLower(in.path), ".gz"))
}

func (in *input) isParquet() bool { return in.stdin == nil && in.extension() == ".parquet" }

// cellError is the error about a cell that --strict refuses. It does not repeat
// the cell.
func cellError(place, column string) error {
	return &sorted{&placeError{place, fmt.Sprintf("a cell of column %q is not a finite number; "+
		"correct it, or predict without --strict to replace it by the model's missing value", column)}, errCell}
}

// refuse returns the error about the first cell of a numeric column that is
// neither a finite number nor missing.
func (in *input) refuse(schema dataset.Schema, stats *dataset.Stats) error {
	bad := map[string]bool{}
	for _, c := range stats.Columns {
		if c.Unparseable+c.Nonfinite > 0 {
			bad[c.Name] = true
		}
	}
	if len(bad) == 0 {
		return nil
	}
	if in.kept == nil {
		for _, name := range schema.Names() {
			if bad[name] {
				return cellError(in.path, name)
			}
		}
	}
	recs, err := in.records()
	if err != nil {
		return err
	}
	header, err := recs.Next()
	header = slices.Clone(header)
	for err == nil {
		var fields []string
		if fields, err = recs.Next(); err != nil {
			break
		}
		for f, cell := range fields[:min(len(fields), len(header))] {
			if name := blankTrim(header[f]); bad[name] && !isNumber(cell) {
				return cellError(fmt.Sprintf("%s:%d:%d", in.path, recs.Line(), f+1), name)
			}
		}
	}
	if err != io.EOF {
		return err
	}
	return errors.New("the table and its counts do not agree")
}

// isNumber tells cells that are a finite number or missing, by the rules of
// package dataset.
func isNumber(cell string) bool {
	cell = blankTrim(cell)
	if slices.Contains([]string{"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"}, cell) {
		return true
	}
	x, err := strconv.ParseFloat(cell, 64)
	return err == nil && !math.IsInf(x, 0) && !strings.ContainsAny(cell, "xX_")
}

func blankTrim(s string) string { return strings.Trim(s, " \t") }

// writeAppended copies the table and adds the predictions as its last column.
// Rows get as many fields as the header has.
func (in *input) writeAppended(ctx context.Context, w io.Writer, added column) error {
	recs, err := in.records()
	if err != nil {
		return err
	}
	header, err := recs.Next()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(header, func(s string) bool { return blankTrim(s) == added.name }) {
		return usagef("%s has a column named %s already; rename it, or predict without --append", in.path, added.name)
	}
	width := len(header)
	out := csv.NewWriter(w)
	out.Comma = recs.Comma()
	if err := out.Write(append(slices.Clone(header), added.name)); err != nil {
		return err
	}
	row := make([]string, width+1)
	for i := range added.values {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		fields, err := recs.Next()
		if err != nil {
			return fmt.Errorf("the table and its copy do not agree: %w", err)
		}
		clear(row)
		copy(row[:width], fields)
		row[width] = added.cell(i)
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// records reads the kept file again as text.
func (in *input) records() (*dataset.Text, error) {
	return dataset.NewText(bytes.NewReader(in.kept), in.path, dataset.ReadOptions{MultilineQuotes: in.multiline})
}

// draftPrefix begins the names of the temporary folders of output files.
const draftPrefix = ".dptrain-out-"

// writeOutput writes a file under a temporary name and renames it. Drafts of the same
// file that killed processes left are removed.
func writeOutput(path string, write func(io.Writer) error) error {
	fail := func(err error) error {
		var pe *fs.PathError
		var le *os.LinkError
		switch {
		case errors.As(err, &pe):
			err = pe.Err
		case errors.As(err, &le):
			err = le.Err
		default:
			return err
		}
		return usagef("%s cannot be written: %w", path, err)
	}
	stage.Sweep(filepath.Dir(path), draftPrefix, func(_, dead *os.Root, _ string) { _ = dead.Remove(filepath.Base(path)) })
	dir, err := stage.Make(filepath.Dir(path), draftPrefix)
	if err != nil {
		return fail(err)
	}
	defer dir.Close()
	draft := filepath.Join(dir.Path, filepath.Base(path))
	f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fail(err)
	}
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return fail(err)
	}
	if err := os.Rename(draft, path); err != nil {
		return fail(err)
	}
	return nil
}
