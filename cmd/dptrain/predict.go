package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/pipeline"
	"github.com/dptrain/dptrain/regression"
)

const predictLong = `Print one prediction a record, in the order of the table, under the header line
"prediction", or for a classifier one class a record, under the name of the
target. Inputs are treated as in training: a number that is missing or
unreadable takes the model's missing value, every number is clamped to its
range, and an unknown category counts as other. DATA is a .csv or .tsv (also
.gz) or .parquet file, or - for CSV on standard input.`

// predictFlags are the flags of predict.
type predictFlags struct {
	out                       string
	append, strict, multiline bool
}

func predictCommand(a *app) *cobra.Command {
	var flags predictFlags
	cmd := &cobra.Command{
		Use:   "predict MODEL DATA|-",
		Short: "Predict the target for new records",
		Long:  predictLong,
		Example: `  dptrain predict out/release/model.json new.csv > predictions.csv
  dptrain predict out/release/model.json new.csv --append -o scored.csv`,
		Args: exactly(2, "a model and a table (- for standard input)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.predict(cmd.Context(), args[0], args[1], flags)
		},
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVarP(&flags.out, "output", "o", "", "write to `FILE`, which appears when it is complete")
	set.BoolVar(&flags.append, "append", false, "copy the columns of the table and add the prediction as the last one")
	set.BoolVar(&flags.strict, "strict", false, "refuse a numeric cell that is no number, instead of replacing it")
	set.BoolVar(&flags.multiline, "multiline-quotes", false, "let quoted CSV cells contain line breaks")
	return cmd
}

func (a *app) predict(ctx context.Context, modelPath, dataPath string, flags predictFlags) error {
	model, err := readModel(modelPath, "; the model comes first: dptrain predict MODEL DATA")
	if err != nil {
		return err
	}
	in := &input{path: dataPath, multiline: flags.multiline}
	if dataPath == "-" {
		in.path, in.stdin = "stdin", a.stdin
	}
	if flags.append && in.isParquet() {
		return usagef("--append copies CSV and TSV tables only; predict without it gives one prediction a row")
	}
	if flags.append || flags.strict {
		if err := in.keep(ctx); err != nil {
			return err
		}
	}
	schema := schemaOf(model)
	table, stats, err := in.read(ctx, schema)
	if err != nil {
		return err
	}
	if flags.strict {
		if err := in.refuse(schema, stats); err != nil {
			return err
		}
	}
	predictions, err := model.Predict(nil, pipeline.RowsOf(table.All()))
	if err != nil {
		return err
	}
	column := newColumn(model.Output(), predictions)
	write := func(w io.Writer) error {
		if flags.append {
			return in.writeAppended(ctx, w, column)
		}
		return column.write(ctx, w)
	}
	if flags.out == "" {
		return write(a.stdout)
	}
	return writeOutput(flags.out, write)
}

// readModel opens a model file. order is what to say to someone who gave a table.
func readModel(path, order string) (regression.Model, error) {
	if in := (&input{path: path}); slices.Contains([]string{".csv", ".tsv", ".parquet"}, in.extension()) {
		return nil, &sorted{&placeError{path, "this is a table, not a model" + order}, errModel}
	}
	f, err := os.Open(path)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		if r, unread := readReport(released(path).report); errors.Is(err, fs.ErrNotExist) && unread == nil && r.Model.Kind == "" {
			return nil, &sorted{&placeError{path, "this run has no model: " + r.Model.Method + " abstained"}, errModel}
		}
		return nil, &sorted{&pathError{path, fmt.Errorf("the model cannot be read: %w", err)}, errModel}
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, &sorted{&placeError{path, "this is a folder, not a model; the model of a run is " + released(path).model}, errModel}
	}
	model, err := regression.DecodeModel(f)
	if kind := documentKind(path); err != nil && kind != "" && kind != "a model" {
		return nil, &sorted{&placeError{path, "this is " + kind + ", not a model; the model of a run is model.json in its folder release"}, errModel}
	}
	var refused *regression.DecodeError
	if errors.As(err, &refused) {
		what := strings.TrimPrefix(refused.Path+": "+refused.Problem, ": ")
		return nil, &sorted{&placeError{fmt.Sprintf("%s:%d:%d", path, refused.Line, refused.Column), what}, errModel}
	}
	if err != nil {
		return nil, &sorted{&pathError{path, err}, errModel}
	}
	return model, nil
}

// schemaOf declares the columns that a model needs. Missing cells stay missing:
// the model knows what they stand for.
func schemaOf(m regression.Model) dataset.Schema {
	var s dataset.Schema
	for _, in := range m.Inputs() {
		c := dataset.Column{Name: in.Name}
		if in.Type == regression.Category {
			c.Kind, c.Categories, c.Other = dataset.Category, in.Categories, in.Other
		}
		s.Columns = append(s.Columns, c)
	}
	return s
}

// column is what predict adds to a table.
type column struct {
	name    string
	classes []string // nil: numbers
	values  []float64
}

// newColumn names predictions: numbers are headed "prediction", classes with the
// name of the target.
func newColumn(o regression.Output, predictions []float64) column {
	if len(o.Classes) > 0 {
		return column{o.Target, o.Classes, predictions}
	}
	return column{name: "prediction", values: predictions}
}

// cell returns a prediction as text.
func (c column) cell(i int) string {
	if c.classes == nil {
		return strconv.FormatFloat(c.values[i], 'g', -1, 64)
	}
	return c.classes[int(c.values[i])]
}

// checkEvery is how many rows are written between two looks at the context.
const checkEvery = 1 << 14

// write writes a CSV of one column.
func (c column) write(ctx context.Context, w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	quoted := make([]string, len(c.classes))
	for k, name := range c.classes {
		quoted[k] = csvCell(name)
	}
	out.WriteString(csvCell(c.name) + "\n")
	var buf []byte
	for i, p := range c.values {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if c.classes != nil {
			buf = append(buf[:0], quoted[int(p)]...)
		} else {
			buf = strconv.AppendFloat(buf[:0], p, 'g', -1, 64)
		}
		if _, err := out.Write(append(buf, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

// csvCell returns text as the only cell of a CSV line. An empty one is quoted: an
// empty line would be no record.
func csvCell(text string) string {
	if text == "" {
		return `""`
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{text}) // a Builder takes everything
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

// input is the table of predict.
type input struct {
	path      string
	stdin     io.Reader // set for standard input
	multiline bool
	kept      []byte // the whole file, if keep was called
}

// read reads the columns of schema.
func (in *input) read(ctx context.Context, schema dataset.Schema) (*dataset.Table, *dataset.Stats, error) {
	opts := dataset.ReadOptions{MultilineQuotes: in.multiline}
	switch {
	case in.kept != nil:
		return dataset.ReadFrom(ctx, bytes.NewReader(in.kept), in.path, schema, opts)
	case in.stdin != nil:
		return dataset.ReadFrom(ctx, in.stdin, in.path, schema, opts)
	}
	return dataset.Read(ctx, in.path, schema, opts)
}
