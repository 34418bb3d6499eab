package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/fault"
)

const ledgerLong = `A ledger tracks the privacy budget of all runs on a data set against a total
that is fixed when the data set is registered. Each run reserves its price
before it reads a row, and what it reserved stays spent even if the run crashes.
A run that would exceed the total is refused.`

// ledgerCommand returns the command `dptrain ledger`.
func ledgerCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Track the privacy budget of all runs on a data set",
		Long:  ledgerLong,
		Example: `  dptrain ledger init dptrain.ledger --dataset houses-2026 --epsilon 3
  dptrain fit recipe.yaml --dataset houses-2026
  dptrain ledger show dptrain.ledger
  dptrain ledger verify dptrain.ledger --report out/release/report.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef(
					"name a subcommand: init, show, spend, commit, verify or export; see `%s --help`",
					cmd.CommandPath())
			}
			return usagef("unknown command \"ledger %s\"; see `%s --help`", args[0],
				cmd.CommandPath())
		},
		RunE: func(*cobra.Command, []string) error {
			return nil
		},
	}
	cmd.AddCommand(
		ledgerInit(a),
		ledgerShow(a),
		ledgerSpend(a),
		ledgerCommit(a),
		ledgerVerify(a),
		ledgerExport(a),
	)
	return cmd
}

// totalFlags holds the flags of `ledger init` as given on the command line.
type totalFlags struct {
	json     bool
	dataset  string
	epsilon  string
	relation string
	unit     string
	currency string
	delta    float64
	blackBox float64
	private  []string
}

const ledgerInitLong = `Register a data set with its total budget. The total is converted once to the
currency of a privacy filter and cannot be changed. The file is created if it
does not exist.

The currency zcdp prices all kinds of steps well; gdp is exact for Gaussian
steps and allows more of them, but charges more for all other kinds. Part of
delta is reserved for black boxes: steps of which only epsilon and delta are
known, as in the method tukey and in a search or a list of sizes.`

func ledgerInit(a *app) *cobra.Command {
	f := &totalFlags{}
	cmd := &cobra.Command{
		Use:     "init FILE --dataset NAME --epsilon TOTAL",
		Short:   "Register a data set with its total budget",
		Long:    ledgerInitLong,
		Example: `  dptrain ledger init my.ledger --dataset houses-2026 --epsilon 3 --delta 1e-5`,
		Args:    exactly(1, "one ledger"),
		RunE: func(cmd *cobra.Command, args []string) error {
			total, err := f.total(cmd.Flags().Changed)
			if err != nil {
				return err
			}
			return a.ledgerInit(cmd.Context(), args[0], f, total)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.dataset, "dataset", "",
		"`NAME` of the data set, under which all its runs are added up (required)")
	flags.StringVar(&f.epsilon, "epsilon", "",
		"total epsilon: a `NUMBER` above 0, or 'ln(3)' (required)")
	numberVar(
		flags,
		&f.delta,
		"delta",
		1e-6,
		"total delta: a public `NUMBER`, at least 1e-10",
	)
	flags.StringVar(
		&f.relation,
		"relation",
		budget.AddRemove.String(),
		"neighbouring `RELATION` of all runs",
	)
	flags.StringSliceVar(&f.private, "private", nil,
		"with --relation substitute-private-columns: the private `COLUMNS`")
	flags.StringVar(&f.unit, "unit", "",
		"`COLUMN` that identifies the person, if all runs protect people instead of records")
	flags.StringVar(&f.currency, "currency", budget.ZCDP.String(),
		"add up budgets in `CURRENCY`: zcdp or gdp")
	numberVar(flags, &f.blackBox, "black-box-delta", 0,
		"delta to reserve for black boxes: a `NUMBER` (default half of delta)")
	jsonFlag(cmd, &f.json, oneObject)
	return cmd
}

// total converts the flags into the total budget.
func (f *totalFlags) total(changed func(string) bool) (budget.Total, error) {
	t := budget.Total{
		Delta:    f.delta,
		BlackBox: f.delta / 2,
		Unit:     f.unit,
	}
	if changed("black-box-delta") {
		t.BlackBox = f.blackBox
	}
	var err error
	switch {
	case f.dataset == "":
		return t,
			usagef("--dataset is required: the name under which all runs on the data set are added up")
	case f.epsilon == "":
		return t, usagef("--epsilon is required: the total budget of all runs")
	}
	if t.Epsilon, err = recipe.ParseEpsilon(f.epsilon); err != nil {
		return t, usagef("--epsilon: %v", err)
	}
	if t.Relation, err = budget.ParseRelation(f.relation); err != nil {
		return t, usagef("--relation must be add-remove, substitute or substitute-private-columns")
	}
	if t.Currency, err = budget.ParseCurrency(f.currency); err != nil {
		return t, usagef("--currency must be zcdp or gdp")
	}
	switch partly := t.Relation == budget.SubstitutePrivateColumns; {
	case partly && len(f.private) == 0:
		return t,
			usagef("--private is required with --relation %s: list the private columns, which every run must protect or leave out",
				t.Relation)
	case !partly && len(f.private) > 0:
		return t,
			usagef("--private needs --relation %s; under %s every column is private",
				budget.SubstitutePrivateColumns, t.Relation)
	case t.Unit != "" && t.Relation != budget.AddRemove:
		return t,
			usagef("--unit needs --relation add-remove; under other relations the number of records is public")
	}
	var bad *budget.TargetError
	if err := t.Validate(); errors.As(err, &bad) {
		return t,
			usagef("--%s %v: %s", strings.ReplaceAll(bad.Field, " ", "-"), bad.Value, bad.Problem)
	}
	return t, nil
}

func (a *app) ledgerInit(
	ctx context.Context,
	path string,
	f *totalFlags,
	total budget.Total,
) error {
	dataset := f.dataset
	private := f.private
	head, err := a.openLedger(path).Register(ctx, dataset, total, private...)
	if errors.Is(err, ledger.ErrInvalid) || errors.Is(err, budget.ErrTarget) {
		return usagef("%w", err)
	}
	if err != nil {
		return err
	}
	limit, err := total.Limit()
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(a.stdout,
			entered{
				Format:  enteredFormat,
				Ledger:  path,
				Dataset: dataset,
				Head:    head.String(),
				Limit:   new(amountOf(limit)),
			})
	}
	cost, delta := limit.Value()
	_, err = fmt.Fprint(a.stdout,
		report.Paragraph("Registered",
			fmt.Sprintf(
				"data set %s in %s: all runs together may spend epsilon %v, delta %s (relation %s%s)",
				dataset, path, total.Epsilon, fault.Readable(total.Delta), hidden(total.Relation.String(), private),
				ofUnit(total.Unit))),
		report.Paragraph("Total",
			fmt.Sprintf("%s %s, and delta %s for black boxes", total.Currency.Symbol(),
				digits(cost), digits(delta))),
		report.Paragraph("Head", head.String()))
	return err
}

// enteredFormat is the value of the key "format" in the --json output of commands that write to a ledger.
const enteredFormat = "dptrain.ledger-entry/1"

// entered is the --json output of commands that write to a ledger.
type entered struct {
	Format  string  `json:"format"`
	Ledger  string  `json:"ledger"`
	Dataset string  `json:"dataset,omitempty"`
	Entry   int64   `json:"entry,omitempty"` // number of the completed run
	Head    string  `json:"head"`
	Limit   *amount `json:"limit,omitempty"` // total of a registered data set
	Cost    *amount `json:"cost,omitempty"`  // of a release by another tool
	Left    *amount `json:"left,omitempty"`  // after the release
	Release string  `json:"release,omitempty"`
}

// ofUnit returns the suffix of a relation that names the unit column.
func ofUnit(column string) string {
	if column == "" {
		return ""
	}
	return ", unit " + printable(column)
}

func ledgerShow(a *app) *cobra.Command {
	var dataset string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show [FILE]",
		Short: "Show the spent and the remaining budget",
		Long: `Show the total of every data set, the spent part and the runs that spent it. A
run that is reserved but not committed is still running or has crashed; its
budget is spent either way. FILE defaults to dptrain.ledger in the working
directory.`,
		Example: "  dptrain ledger show",
		Args:    between(0, 1, "at most one ledger"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := ledgerOf(args)
			book, err := a.openLedger(path).Read(cmd.Context())
			if err != nil {
				return err
			}
			shown := book.Datasets
			if cmd.Flags().Changed("dataset") {
				acc, err := book.Account(dataset)
				if err != nil {
					return ledger.InFile(path, err)
				}
				shown = []*ledger.Account{acc}
			}
			if asJSON {
				return a.showJSON(book, shown)
			}
			return a.showText(book, shown)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&dataset, "dataset", "", "show only the data set `NAME`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// ledgerFormat is the value of the key "format" of `ledger show --json`.
const ledgerFormat = "dptrain.ledger-show/1"

func ledgerVerify(a *app) *cobra.Command {
	var heads, reports []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Check every entry, and the heads in reports",
		Long:  ledgerVerifyLong,
		Example: `  dptrain ledger verify dptrain.ledger
  dptrain ledger verify dptrain.ledger --report out/release/report.json`,
		Args: between(0, 1, "at most one ledger"),
		RunE: func(cmd *cobra.Command, args []string) error {
			want, err := headsOf(heads)
			if err != nil {
				return err
			}
			claims, err := claimsOf(reports)
			if err != nil {
				return err
			}
			path := ledgerOf(args)
			l := a.openLedger(path)
			if _, err := l.VerifyClaims(cmd.Context(), claims...); err != nil {
				return err
			}
			for _, c := range claims {
				want = append(want, c.Head)
			}
			book, err := l.Verify(cmd.Context(), want...)
			if err != nil {
				return err
			}
			runs := 0
			for _, acc := range book.Datasets {
				runs += len(acc.Runs)
			}
			if asJSON {
				return writeJSON(a.stdout,
					ledgerVerified{ledgerVerifyFormat, path, true, len(book.Entries), runs,
						len(want), book.Head().String()})
			}
			line := fmt.Sprintf("%s: ok, %s, %s%s", path,
				plural(len(book.Entries), "entry", "entries"), plural(runs, "run", "runs"),
				headsFoundText(len(want)))
			_, err = fmt.Fprintf(a.stdout, "%s\n%s",
				strings.ReplaceAll(text.WrapSoft(line, 78), " \n", "\n"),
				report.Paragraph("Head", book.Head().String()))
			return err
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringArrayVar(&heads, "head", nil,
		"check that the ledger contains `HEAD`, from a report; may be repeated")
	cmd.Flags().StringArrayVar(&reports, "report", nil,
		"check that the ledger contains the run of this release or report.json `FILE`; may be repeated")
	jsonFlag(cmd, &asJSON, oneObject)
	return cmd
}

// ledgerVerifyFormat is the value of the key "format" of `ledger verify --json`.
const ledgerVerifyFormat = "dptrain.ledger-verify/1"

// ledgerVerified is the result for a consistent ledger.
type ledgerVerified struct {
	Format  string `json:"format"`
	Ledger  string `json:"ledger"`
	OK      bool   `json:"ok"`
	Entries int    `json:"entries"`
	Runs    int    `json:"runs"`
	Heads   int    `json:"heads_found"` // number of given heads, all of which were found
	Head    string `json:"head"`
}

// headsOf parses the heads given on the command line.
func headsOf(heads []string) ([]ledger.Head, error) {
	var out []ledger.Head
	for _, s := range heads {
		h, err := ledger.ParseHead(s)
		if err != nil {
			return nil,
				usagef("--head: %.100q is not a head, which is an entry number, a colon and 64 hex digits",
					s)
		}
		out = append(out, h)
	}
	return out, nil
}

// claimsOf reads the ledger entries that the reports claim.
func claimsOf(reports []string) ([]ledger.Claim, error) {
	var out []ledger.Claim
	for _, path := range reports {
		path = accountAt(released(path).report)
		claim, entered, err := report.ReadClaim(path)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return nil, usagef("--report %w", unreadable(path, "report", err))
		case err != nil:
			return nil, usagef("--report %s: %w", path, err)
		case entered == nil:
			return nil, usagef("--report %s: the run was not recorded in a ledger", path)
		}
		if _, err := ledger.ParseHead(claim.Head.String()); err != nil {
			return nil, usagef("--report %s: the head is damaged", path)
		}
		out = append(out, claim)
	}
	return out, nil
}

func ledgerExport(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "export [FILE]",
		Short: "Print every entry, one JSON object per line",
		Long: `Print every entry exactly as it is hashed. The SHA-256 of a line, without its
line break, is the value of the key "previous" in the next line.`,
		Example: "  dptrain ledger export dptrain.ledger > entries.jsonl",
		Args:    between(0, 1, "at most one ledger"),
		RunE: func(cmd *cobra.Command, args []string) error {
			book, err := a.openLedger(ledgerOf(args)).Read(cmd.Context())
			if err != nil {
				return err
			}
			for _, e := range book.Entries {
				data, err := e.Encode()
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintf(a.stdout, "%s\n", data); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// ledgerOf returns the path of the ledger named in args, or the default path.
func ledgerOf(args []string) string {
	if len(args) == 0 {
		return recipe.DefaultLedger
	}
	return args[0]
}

// headsFoundText returns the sentence that the requested heads are in the ledger.
func headsFoundText(heads int) string {
	switch heads {
	case 0:
		return "; no head was compared: give one with --report or --head"
	case 1:
		return "; the given head was found"
	}
	return fmt.Sprintf("; all %d given heads were found", heads)
}

// plural formats n with the singular or the plural noun.
func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
