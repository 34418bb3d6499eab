package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/tablefile"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

const predictLong = `Print one prediction per record, in the order of the table, under the header
"prediction", or for a classifier one class per record, under the name of the
target. Inputs are processed as in training: a missing or unreadable number is
replaced by the model's default for missing values, numbers are clamped to their
range, and an unknown category counts as "other". DATA is a .csv, .tsv or .jsonl
(also .gz), .parquet, .xlsx, .arrow or .feather file, or - for CSV on standard
input. The format of the file is taken from the recipe.yaml next to the model;
--separator and the flags listed after it override it.

Classifiers with two classes may offer probabilities: --probability adds a
column, and --threshold replaces the model's own cutoff, which maximises
accuracy. With more classes, only prototypes offers probabilities, and
--probability adds a column per class.

A cost-tree model reads only some of the features of each record: --cost adds
what the record pays for them.

Predictions are printed while DATA is read, in constant memory. If DATA ends
early or --strict rejects a line or a cell, the output stops before that record;
a file written with -o is created only when complete. A note counts the lines
that have more or fewer values than the header.`

// predictFlags are the flags of predict.
type predictFlags struct {
	out      string
	append   bool
	strict   bool
	force    bool
	cost     bool
	json     bool
	safe     bool   // safe for spreadsheets
	interval string // a level, highestLevel, or empty
	classes  classFlags
	format   keyValues
}

func predictCommand(a *app) *cobra.Command {
	var flags predictFlags
	cmd := &cobra.Command{
		Use:   "predict MODEL DATA|-",
		Short: "Predict the target for new records",
		Long:  predictLong,
		Example: `  dptrain predict out/release/model.json new.csv > predictions.csv
  dptrain predict out/release/model.json new.csv --append -o scored.csv
  dptrain predict out/release/model.json new.csv --interval 0.9
  dptrain predict out/release/model.json new.csv --probability --threshold 0.2
  dptrain predict out/release/model.json new.csv --cost`,
		Args: func(cmd *cobra.Command, args []string) error {
			return exactly(2, "a model and a table (- for standard input)")(cmd,
				flags.levelOf(args))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			args = flags.levelOf(args)
			flags.classes.given = cmd.Flags().Changed("threshold")
			return a.predict(cmd.Context(), args[0], args[1], flags)
		},
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVarP(&flags.out, "output", "o", "",
		"write to `FILE`, which is created only when complete")
	set.BoolVar(&flags.force, "force", false, "overwrite the output file if it exists")
	set.BoolVar(&flags.append, "append", false,
		"copy the table and add the prediction as its last column")
	set.StringVar(&flags.interval, "interval", "",
		"add columns lower and upper with the prediction interval at `LEVEL`; without a value, the highest level of the model")
	set.Lookup("interval").NoOptDefVal = highestLevel
	set.BoolVar(&flags.classes.probability, "probability", false,
		"add the probability of the second class or, with more than two classes, of each class")
	numberVar(set, &flags.classes.threshold, "threshold", 0,
		"predict the second class if its probability is at least `T`")
	set.BoolVar(&flags.cost, "cost", false,
		"add what each record pays for its features (cost-tree models)")
	jsonFlag(cmd, &flags.json, "one JSON object per line instead of CSV")
	set.BoolVar(&flags.safe, "spreadsheet-safe", false,
		"put an apostrophe before text that a spreadsheet would read as a formula, such as a class named =1+1")
	set.BoolVar(&flags.strict, "strict", false,
		"stop at an uneven line, or at a numeric cell that is not a number, instead of replacing it")
	flags.format.add(cmd)
	return cmd
}

func (a *app) predict(ctx context.Context, modelPath, dataPath string, flags predictFlags) error {
	model, err := readModel(modelPath, "; give the model first: dptrain predict MODEL DATA")
	if err != nil {
		return err
	}
	schema := pipeline.SchemaOf(model)
	published, unpublished := recipe.PublishedData(modelPath)
	reading, err := flags.reading(schema.Numbers, published, dataPath)
	if err != nil {
		return err
	}
	in := &input{path: dataPath, reading: reading}
	if stdin, piped := tablefile.Stdin(dataPath); piped {
		in.path, in.stdin = stdin, a.stdin
	}
	if err := flags.checkOutput(in); err != nil {
		return err
	}
	score := newScorer(model)
	if flags.interval != "" {
		if err := score.addInterval(modelPath, model, flags.interval); err != nil {
			return err
		}
	}
	if err := score.setProbabilities(modelPath, model, flags.classes); err != nil {
		return err
	}
	if flags.cost {
		if err := score.addCost(modelPath, model); err != nil {
			return err
		}
	}
	if flags.safe {
		score.makeSafe()
	}
	out, shown := a.data, isTerminal(a.data)
	if shown { // class names are arbitrary texts from the model file
		out = a.stdout
	}
	watch := a.progressDisplay(flags.out != "" || !shown)
	defer watch.Clear()
	s := &scoring{
		in:     in,
		scorer: score,
		append: flags.append,
		safe:   flags.safe,
		json:   flags.json,
		strict: flags.strict,
		watch:  watch,
		notes:  a.stderr,
	}
	schema.Numbers = dataset.Numbers{} // the reading options, which flags can override, contain them
	if flags.out == "" {
		err = s.broken(s.run(ctx, schema, out))
	} else {
		err = writeOutput(ctx, flags.out, flags.force, func(w io.Writer) error {
			return s.run(ctx, schema, w)
		})
	}
	return in.explainHeader(err, modelPath, unpublished)
}

// checkOutput returns an error for options of the output that contradict each other or do not suit the table.
func (f *predictFlags) checkOutput(in *input) error {
	switch {
	case f.append && in.isParquet():
		return usagef(
			"--append supports only CSV and TSV tables; without it, predict prints one prediction per row")
	case f.append && in.isJSON() && !f.format.set.Changed("header"):
		return usagef(
			"--append copies the columns of a table, and JSON Lines do not list theirs; name the columns to copy with --header a,b,c")
	case f.append && f.json:
		return usagef("--append writes CSV and cannot be combined with --json")
	case f.safe && f.json:
		return usagef("--spreadsheet-safe is for CSV and cannot be combined with --json")
	}
	return nil
}

// reading returns the options for reading the table: numbers as in training, and the rest from the published recipe,
// which may be zero. Flags override both.
func (f *predictFlags) reading(
	numbers dataset.Numbers,
	published recipe.Data,
	dataPath string,
) (dataset.ReadOptions, error) {
	base := published
	base.Path = dataPath
	base.SetNumbers(numbers)
	o, err := f.format.reading(base)
	o.EveryRow = true
	return o, err
}

// readModel opens a model file. A model of an earlier version reads cells according to the recipe next to it. order
// is the hint in the error for a user who passed a table instead.
func readModel(path, order string) (regression.Model, error) {
	if tablefile.Holds(path) {
		return nil,
			fault.WithKind(fault.Data, &placeError{path, "this is a table, not a model" + order})
	}
	f, err := os.Open(path)
	if err != nil {
		err = fault.Cause(err)
		if r, unread := readReport(released(path).report); errors.Is(err, fs.ErrNotExist) &&
			unread == nil && r.Model.Kind == "" {
			return nil,
				fault.WithKind(fault.Data,
					&placeError{path, "this run has no model: " + r.WhyNoModel()})
		}
		return nil,
			fault.WithKind(fault.Data,
				&pathError{path, fmt.Errorf("the model cannot be read: %w", err)})
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil,
			fault.WithKind(fault.Data,
				&placeError{path,
					"this is a folder, not a model; the model of a run is " + released(path).model})
	}
	model, err := regression.DecodeModel(f)
	if kind := documentKind(path); err != nil && kind != "" && kind != aModel &&
		kind != modelOfCompress {
		return nil,
			fault.WithKind(fault.Data,
				&placeError{path,
					"this is " + kind +
						", not a model; the model of a run is model.json in its release folder"})
	}
	var refused *regression.DecodeError
	if errors.As(err, &refused) {
		what := strings.TrimPrefix(refused.Path+": "+refused.Problem, ": ")
		return nil,
			fault.WithKind(fault.Data,
				&placeError{fmt.Sprintf("%s:%d:%d", path, refused.Line, refused.Column), what})
	}
	if err != nil {
		return nil, fault.WithKind(fault.Data, &pathError{path, err})
	}
	if d, err := recipe.PublishedData(path); err == nil {
		d.Describe(model)
	}
	return model, nil
}
