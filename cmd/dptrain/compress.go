package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench"
	"github.com/dptrain/dptrain/internal/bench/compress"
	"github.com/dptrain/dptrain/internal/numeric/neighbour"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/regression"
)

const compressLong = `Compress makes a small classifier by nearest neighbours from a public table. In
place of all records it keeps a few reference vectors, by which it predicts.

Nothing is private here. Reference vectors are records, or begin as records and
may stay near them, so that the model tells what is in the table. There is no
guarantee, no ledger and no report, and the model file says so. Compress runs
only with --public, for data that are public or that never leave with the model,
and on no table that a ledger knows. Private data are for ` + "`dptrain fit`" + `.

Numbers are standardised, a number that is missing is the mean, and text columns
become categories: their values in the table. Records without a class are left
out. Predict with ` + "`dptrain predict`" + `.`

const compressExample = `  dptrain compress --public letters.csv -o letters.json
  dptrain compress --public letters.csv --share 0.08 --test new.csv -o some.json
  dptrain compress --public digits.csv --components 50 -o digits.json`

// compressFlags holds the flags of compress as given on the command line.
type compressFlags struct {
	compress.Options
	public     bool
	target     string
	categories []string
	test, out  string
	force      bool
	json       bool
	ledger     string
}

func compressCommand(a *app) *cobra.Command {
	var f compressFlags
	cmd := &cobra.Command{
		Use:   "compress --public TABLE -o MODEL",
		Short: "Compress a public table into a small classifier (no privacy)",
		Long:  compressLong + "\n\n" + compressMethods(), Example: compressExample,
		Args: exactly(1, "one table"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.settle(cmd.Flags().Changed); err != nil {
				return err
			}
			known := bench.Config{Public: true, Data: args}
			if f.test != "" {
				known.Data = append(slices.Clone(args), f.test)
			}
			if err := known.RefuseKnown(cmd.Context(), f.ledger, a.openLedger); err != nil {
				return err
			}
			return a.compress(cmd.Context(), args[0], &f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.public, "public", false,
		"state that the data are public, or never leave with the model (required)")
	flags.StringVarP(&f.out, "output", "o", "", "write the model to `FILE` (required)")
	flags.BoolVar(&f.force, "force", false, "replace the file of -o if it is there already")
	flags.StringVar(&f.target, "target", "", "the `COLUMN` of the classes (default the last one)")
	completeFlags(cmd, map[string]cobra.CompletionFunc{"target": ofHeader("")})
	flags.StringSliceVar(&f.categories, "categories", nil,
		"`COLUMNS` of numbers that are names of categories")
	flags.StringVar(&f.Method, "method", compress.SNC, "how vectors are made, by `NAME`")
	flags.Float64Var(&f.Share, "share", compress.DefaultShare,
		"vectors, as a `SHARE` of the records, of snc and subsample")
	flags.IntVar(&f.Vectors, "vectors", 0, "their `NUMBER`, in place of a share")
	flags.IntVar(&f.Neighbours, "neighbours", 0,
		"how many of the nearest vectors vote, a `NUMBER` (default 1; of snc 10, weighed by nearness)")
	flags.IntVar(&f.Components, "components", 0,
		"measure distances by the first principal components, a `NUMBER`, in place of standardised columns")
	flags.BoolVar(&f.Metric, "metric", false, "let snc learn how distances are measured too")
	flags.IntVar(&f.Passes, "passes", compress.DefaultPasses,
		"passes of snc over the records, a `NUMBER`")
	flags.StringVar(&f.Optimizer, "optimizer", neighbour.Adam,
		"how snc moves its vectors, by `NAME`: "+strings.Join(neighbour.Optimizers(), " or "))
	flags.Float64Var(&f.Gamma2, "gamma2", 0,
		"the kernel of snc, a `NUMBER`: gamma squared in exp(-gamma^2 d^2) (default the best of a grid)")
	flags.Uint64Var(&f.Seed, "seed", 0,
		"public seed of the records to begin with and of the course of snc, a `NUMBER`")
	flags.StringVar(&f.test, "test", "",
		"count errors on the records of this `TABLE`, and those of all records as neighbours")
	jsonFlag(cmd, &f.json, oneObject)
	flags.StringVar(&f.ledger, "ledger", "",
		"refuse the tables that this `FILE` knows, besides those of every dptrain.ledger that is beside them or here")
	return cmd
}

// compressMethods returns a list of the methods with a one-line description of each.
func compressMethods() string {
	var b strings.Builder
	b.WriteString("Methods:\n")
	for _, m := range compress.Methods() {
		fmt.Fprintf(&b, "  %-12s%s\n", m[0], m[1])
	}
	return strings.TrimRight(b.String(), "\n")
}

// settle validates the flags.
func (f *compressFlags) settle(changed func(string) bool) error {
	starts := f.Method == compress.SNC || f.Method == compress.Subsample
	switch {
	case !f.public:
		return usagef(
			"the model of compress holds records and has no guarantee: add --public if the data are public, or never leave with it, and train on private data with `dptrain fit`")
	case f.out == "":
		return usagef("name the model's file with -o")
	case !slices.ContainsFunc(compress.Methods(), func(m [2]string) bool {
		return m[0] == f.Method
	}):
		return usagef("--method must be one of %s", strings.Join(methodNames(), ", "))
	case !starts && (changed("share") || changed("vectors")):
		return usagef("--share and --vectors have no effect with --method %s", f.Method)
	case f.Method != compress.SNC &&
		(f.Metric || changed("passes") || changed("optimizer") || changed("gamma2")):
		return usagef(
			"--metric, --passes, --optimizer and --gamma2 have no effect with --method %s",
			f.Method)
	case !slices.Contains(neighbour.Optimizers(), f.Optimizer):
		return usagef("--optimizer must be one of %s", strings.Join(neighbour.Optimizers(), ", "))
	case changed("gamma2") && !(f.Gamma2 > 0 && f.Gamma2 <= 1e6):
		return usagef("--gamma2 must be above 0 and at most 1e+06")
	case changed("share") && changed("vectors"):
		return usagef("give --share or --vectors, not both")
	case !(f.Share > 0 && f.Share <= 1):
		return usagef("--share must be above 0 and at most 1")
	case changed("vectors") && f.Vectors < 1:
		return usagef("--vectors must be at least 1")
	case changed("neighbours") && f.Neighbours < 1 || f.Neighbours > 1000:
		return usagef("--neighbours must be between 1 and 1000")
	case changed("components") && f.Components < 1:
		return usagef("--components must be at least 1")
	case f.Passes < 1:
		return usagef("--passes must be at least 1")
	}
	return nil
}

func methodNames() []string {
	var names []string
	for _, m := range compress.Methods() {
		names = append(names, m[0])
	}
	return names
}

// compress makes a model from a table and prints its description.
func (a *app) compress(ctx context.Context, path string, f *compressFlags) error {
	columns, err := bench.PublicColumns(ctx, path, f.target, f.categories)
	if err != nil {
		return compressError(err)
	}
	t, _, err := dataset.Read(ctx, path, dataset.Schema{Columns: columns}, dataset.ReadOptions{})
	if err != nil {
		return err
	}
	r, err := compress.Fit(ctx, t, f.Options)
	if err != nil {
		return compressError(err)
	}
	var test *dataset.Table
	if f.test != "" {
		if test, _, err = dataset.Read(ctx, f.test, dataset.Schema{Columns: columns},
			dataset.ReadOptions{}); err != nil {
			return err
		}
	}
	made, err := newCompressed(r, f, len(columns[len(columns)-1].Categories), test)
	if err != nil {
		return err
	}
	if !f.json {
		if _, err := io.WriteString(a.stdout, made.text()); err != nil {
			return err
		}
	}
	err = writeOutput(ctx, f.out, f.force, func(w io.Writer) error {
		return regression.EncodeModel(w, r.Model)
	})
	if errors.Is(err, regression.ErrModelSize) {
		return usagef("%v: keep fewer vectors, or fewer --components", err)
	}
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(a.stdout, made)
	}
	_, err = fmt.Fprintln(a.stdout, f.out)
	return err
}

// compressFormat is the value of the key "format" of `compress --json`.
const compressFormat = "dptrain.compress/1"

// compressed is the description of a model and its errors on a table, as printed by `compress --json`.
type compressed struct {
	Format      string            `json:"format"`
	Model       string            `json:"model"` // path of the file
	Method      string            `json:"method"`
	Privacy     string            `json:"privacy"` // always "none"
	Records     int               `json:"records"`
	Classes     int               `json:"classes"`
	Coordinates int               `json:"coordinates"`
	Vectors     int               `json:"vectors"`
	Passes      int               `json:"passes,omitempty"`
	Loss        *float64          `json:"mean_loss,omitempty"`
	Tested      int               `json:"tested,omitempty"` // number of test records
	Scores      []compressedScore `json:"scores,omitempty"`
}

type compressedScore struct {
	Name      string  `json:"name"`
	Vectors   int     `json:"vectors"`
	Distances float64 `json:"distances"` // number of distances computed per prediction
	Error     float64 `json:"error"`
}

func newCompressed(
	r *compress.Result, f *compressFlags, classes int, test *dataset.Table,
) (*compressed, error) {
	out := &compressed{
		Format:      compressFormat,
		Model:       f.out,
		Method:      f.Method,
		Privacy:     "none",
		Records:     r.Records,
		Classes:     classes,
		Coordinates: r.Coordinates,
		Vectors:     len(r.Model.Vectors),
	}
	if c := r.Compressed; c != nil {
		out.Passes, out.Loss = f.Passes, new(c.Loss/float64(r.Records))
	}
	if test == nil {
		return out, nil
	}
	n, scores, err := r.Judge(test)
	if err != nil {
		return nil, compressError(err)
	}
	out.Tested = n
	for _, s := range scores {
		out.Scores = append(out.Scores, compressedScore{s.Name, s.Vectors, s.Distances, s.Error})
	}
	return out, nil
}

func (c *compressed) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "records      %d in %d classes, %d coordinates each\n", c.Records, c.Classes,
		c.Coordinates)
	fmt.Fprintf(&b, "vectors      %d, %.3g%% of the records, by %s\n", c.Vectors,
		100*float64(c.Vectors)/float64(c.Records), c.Method)
	if c.Loss != nil {
		fmt.Fprintf(&b, "passes       %d, mean loss %.3g\n", c.Passes, *c.Loss)
	}
	b.WriteString(
		"privacy      none: vectors are records or began as such; there is no guarantee\n")
	if c.Scores != nil {
		fmt.Fprintf(&b, "\n%-24s%10s%24s%10s\n", fmt.Sprintf("tested on %d records", c.Tested),
			"vectors", "distances a prediction", "error")
		for _, s := range c.Scores {
			fmt.Fprintf(&b, "%-24s%10d%24.1f%10.4f\n", s.Name, s.Vectors, s.Distances, s.Error)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// compressError converts mistakes about a table into errors with their messages and exit codes.
func compressError(err error) error {
	switch {
	case errors.Is(err, bench.ErrNoClasses):
		return usagef("%v; name the column of the classes with --target", err)
	case errors.Is(err, bench.ErrColumn):
		return usagef("%v; --target and --categories name columns of the header", err)
	case errors.Is(err, compress.ErrVectors):
		return usagef("%v; keep more vectors, or let fewer --neighbours vote", err)
	case errors.Is(err, compress.ErrRecords), errors.Is(err, compress.ErrColumns):
		return fault.WithKind(fault.Data, err)
	}
	return err
}
