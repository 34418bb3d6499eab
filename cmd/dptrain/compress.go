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

const compressLong = `Compress a public table into a small nearest-neighbour classifier, which
predicts from a few reference vectors instead of all records.

The result is not private. Reference vectors are records, or start as records
and may stay close to them, so the model reveals what is in the table. There is
no guarantee, ledger or report, and the model file states this. The command
requires --public, which confirms that the data are public or that the model
stays with the data, and refuses tables that are registered in a ledger. For
private data, use ` + "`dptrain fit`" + `.

Numbers are standardised, missing numbers are replaced by the mean, and text
columns become categories with their values in the table. Records without a
class are skipped. Predict with ` + "`dptrain predict`" + `.`

const compressExample = `  dptrain compress --public letters.csv -o letters.json
  dptrain compress --public letters.csv --share 0.08 --test new.csv -o some.json
  dptrain compress --public digits.csv --components 50 -o digits.json`

// compressFlags holds the flags of compress as given on the command line.
type compressFlags struct {
	compress.Options
	public     bool
	target     string
	categories []string
	test       string
	out        string
	force      bool
	json       bool
	ledger     string
}

func compressCommand(a *app) *cobra.Command {
	var f compressFlags
	cmd := &cobra.Command{
		Use:     "compress --public TABLE -o MODEL",
		Short:   "Compress a public table into a small classifier (no privacy)",
		Long:    compressLong + "\n\n" + compressMethods(),
		Example: compressExample,
		Args:    exactly(1, "one table"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.validateFlags(cmd.Flags().Changed); err != nil {
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
		"confirm that the data are public, or that the model stays with the data (required)")
	flags.StringVarP(&f.out, "output", "o", "", "write the model to `FILE` (required)")
	flags.BoolVar(&f.force, "force", false, "overwrite the output file if it exists")
	flags.StringVar(
		&f.target,
		"target",
		"",
		"`COLUMN` with the classes (default the last)",
	)
	completeFlags(cmd, map[string]cobra.CompletionFunc{"target": ofHeader("")})
	flags.StringSliceVar(&f.categories, "categories", nil,
		"treat these numeric `COLUMNS` as categories")
	flags.StringVar(&f.Method, "method", compress.SNC, "choose the vectors by `METHOD`")
	numberVar(flags, &f.Share, "share", compress.DefaultShare,
		"for snc and subsample: number of vectors as a `SHARE` of the records")
	flags.IntVar(&f.Vectors, "vectors", 0, "`NUMBER` of vectors, instead of a share")
	flags.IntVar(&f.Neighbours, "neighbours", 0,
		"`NUMBER` of nearest vectors that vote (default 1; for snc 10, weighted by distance)")
	flags.IntVar(&f.Components, "components", 0,
		"`NUMBER` of principal components from which to compute distances, instead of standardised columns")
	flags.BoolVar(&f.Metric, "metric", false, "for snc: also learn the distance metric")
	flags.IntVar(&f.Passes, "passes", compress.DefaultPasses,
		"for snc: `NUMBER` of passes over the records")
	flags.StringVar(&f.Optimizer, "optimizer", neighbour.Adam,
		"for snc: `OPTIMIZER` of the vectors: "+strings.Join(neighbour.Optimizers(), " or "))
	numberVar(flags, &f.Gamma2, "gamma2", 0,
		"for snc: kernel parameter, a `NUMBER`: gamma squared in exp(-gamma^2 d^2) (default: the best of a grid)")
	flags.Uint64Var(&f.Seed, "seed", 0,
		"public seed of the initial vectors and of snc, a `NUMBER`")
	flags.StringVar(&f.test, "test", "",
		"measure the errors on this `TABLE`, also with all records as neighbours")
	jsonFlag(cmd, &f.json, oneObject)
	flags.StringVar(&f.ledger, "ledger", "",
		"refuse tables that are registered in this ledger `FILE`, in addition to any dptrain.ledger next to them or in the working directory")
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

// validateFlags validates the flags.
func (f *compressFlags) validateFlags(changed func(string) bool) error {
	starts := f.Method == compress.SNC || f.Method == compress.Subsample
	switch {
	case !f.public:
		return usagef(
			"a compressed model contains records and has no privacy guarantee: add --public if the data are public or the model stays with them; for private data, use `dptrain fit`")
	case f.out == "":
		return usagef("name the output file with -o")
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
func (a *app) compress(
	ctx context.Context,
	path string,
	f *compressFlags,
) error {
	columns, err := bench.PublicColumns(ctx, path, f.target, f.categories)
	if err != nil {
		return compressError(err)
	}
	t, _, err := dataset.Read(
		ctx,
		path,
		dataset.Schema{Columns: columns},
		dataset.ReadOptions{},
	)
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
		return usagef("%v; use fewer vectors or fewer --components", err)
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
	r *compress.Result,
	f *compressFlags,
	classes int,
	test *dataset.Table,
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
		out.Passes = f.Passes
		out.Loss = new(c.Loss / float64(r.Records))
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
		"privacy      none: vectors are records, or started as records\n")
	if c.Scores != nil {
		fmt.Fprintf(&b, "\n%-24s%10s%26s%10s\n", fmt.Sprintf("tested on %d records", c.Tested),
			"vectors", "distances per prediction", "error")
		for _, s := range c.Scores {
			fmt.Fprintf(
				&b,
				"%-24s%10d%26.1f%10.4f\n",
				s.Name,
				s.Vectors,
				s.Distances,
				s.Error,
			)
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
		return usagef("%v; use more vectors or fewer --neighbours", err)
	case errors.Is(err, compress.ErrRecords), errors.Is(err, compress.ErrColumns):
		return fault.WithKind(fault.Data, err)
	}
	return err
}
