package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/ledger"
	"github.com/dptrain/dptrain/recipe"
	"github.com/dptrain/dptrain/report"
)

const ledgerLong = `A ledger adds up what all runs on a data set spend, against a total that is fixed
when the data set is registered. A run of fit reserves its price there before it
reads a row; what was reserved stays spent, also when the run dies. A run that
would cross the total is refused.`

// ledgerCommand is `dptrain ledger`.
func ledgerCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ledger", Short: "Keep what runs spend within a total", Long: ledgerLong,
		Example: `  dptrain ledger init dptrain.ledger --dataset houses-2026 --epsilon 3
  dptrain fit recipe.yaml --dataset houses-2026
  dptrain ledger show dptrain.ledger
  dptrain ledger verify dptrain.ledger --report out/release/report.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("say what to do: init, show, verify or export; see `%s --help`", cmd.CommandPath())
			}
			return usagef("there is no command \"ledger %s\"; see `%s --help`", args[0], cmd.CommandPath())
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(ledgerInit(a), ledgerShow(a), ledgerVerify(a), ledgerExport(a))
	return cmd
}

// totalFlags are the flags of `ledger init` as they are typed.
type totalFlags struct {
	dataset, epsilon, relation, unit, currency string
	delta, blackBox                            float64
	private                                    []string
}

const ledgerInitLong = `Register a data set with its total. The total is turned into the currency of a
privacy filter once and stays as it is. The file is made if it is not there.

The currency zcdp prices every kind of step well; gdp is exact for Gaussian steps
and admits more of them, but charges more for every other kind. A part of delta
is kept for black boxes, steps of which only epsilon and delta are known (as in
the method tukey), and the rest is for everything else.`

func ledgerInit(a *app) *cobra.Command {
	f := &totalFlags{}
	cmd := &cobra.Command{
		Use: "init FILE --dataset NAME --epsilon TOTAL", Short: "Register a data set with its total", Long: ledgerInitLong,
		Example: `  dptrain ledger init dptrain.ledger --dataset houses-2026 --epsilon 3 --delta 1e-5`,
		Args:    exactly(1, "one ledger"),
		RunE: func(cmd *cobra.Command, args []string) error {
			total, err := f.total(cmd.Flags().Changed)
			if err != nil {
				return err
			}
			return a.ledgerInit(cmd.Context(), args[0], f.dataset, total, f.private)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.dataset, "dataset", "", "the `NAME` under which all runs on this data set are added up (required)")
	flags.StringVar(&f.epsilon, "epsilon", "", "the total: a `NUMBER` above 0, or 'ln(3)' (required)")
	flags.Float64Var(&f.delta, "delta", 1e-6, "the total: a public `NUMBER`, at least 1e-10")
	flags.StringVar(&f.relation, "relation", budget.AddRemove.String(), "what is hidden, by `NAME`; every run must have the same")
	flags.StringSliceVar(&f.private, "private", nil, "the `COLUMNS` that are hidden, with relation substitute-private-columns")
	flags.StringVar(&f.unit, "unit", "", "the `COLUMN` that says whose record it is, where every run protects a person's records together")
	flags.StringVar(&f.currency, "currency", budget.ZCDP.String(), "what is added up, by `NAME`: zcdp or gdp")
	flags.Float64Var(&f.blackBox, "black-box-delta", 0, "the `NUMBER` of delta that is kept for black boxes (default half of delta)")
	return cmd
}

// total reads the flags.
func (f *totalFlags) total(changed func(string) bool) (budget.Total, error) {
	t := budget.Total{Delta: f.delta, BlackBox: f.delta / 2, Unit: f.unit}
	if changed("black-box-delta") {
		t.BlackBox = f.blackBox
	}
	var err error
	switch {
	case f.dataset == "":
		return t, usagef("--dataset is required: the name under which all runs on this data set are added up")
	case f.epsilon == "":
		return t, usagef("--epsilon is required: the total of all runs")
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
		return t, usagef("--private is required with --relation %s: the columns that are hidden; every run must protect them, or not read them", t.Relation)
	case !partly && len(f.private) > 0:
		return t, usagef("--private needs --relation %s; under %s every column is hidden", budget.SubstitutePrivateColumns, t.Relation)
	case t.Unit != "" && t.Relation != budget.AddRemove:
		return t, usagef("--unit needs the relation add-remove: under the others the number of records is public")
	}
	var bad *budget.TargetError
	if err := t.Validate(); errors.As(err, &bad) {
		return t, usagef("--%s %v: %s", strings.ReplaceAll(bad.Field, " ", "-"), bad.Value, bad.Problem)
	}
	return t, nil
}

func (a *app) ledgerInit(ctx context.Context, path, dataset string, total budget.Total, private []string) error {
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
	cost, delta := limit.Value()
	_, err = fmt.Fprint(a.stdout,
		report.Paragraph("Registered", fmt.Sprintf("data set %s in %s: all runs together may spend epsilon %v, delta %v (relation %s%s)", dataset, path, total.Epsilon, total.Delta, hidden(total.Relation.String(), private), ofUnit(total.Unit))),
		report.Paragraph("Total", fmt.Sprintf("%s %s, and delta %s for black boxes", total.Currency.Symbol(), digits(cost), digits(delta))),
		report.Paragraph("Head", head.String()))
	return err
}

// ofUnit adds the privacy unit to a relation.
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
		Use: "show FILE", Short: "Show what is spent and what is left",
		Long: `Show the total of every data set, what was spent of it and by which runs. A run
that is reserved and not committed is running, or died; it is spent either way.`,
		Example: "  dptrain ledger show dptrain.ledger",
		Args:    exactly(1, "one ledger"),
		RunE: func(cmd *cobra.Command, args []string) error {
			book, err := a.openLedger(args[0]).Read(cmd.Context())
			if err != nil {
				return err
			}
			shown := book.Datasets
			if cmd.Flags().Changed("dataset") {
				acc, err := book.Account(dataset)
				if err != nil {
					return ledger.InFile(args[0], err)
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
	cmd.Flags().StringVar(&dataset, "dataset", "", "show only the data set of this `NAME`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// ledgerFormat is the value of the key "format" of `ledger show --json`.
const ledgerFormat = "dptrain.ledger-show/1"

// accountJSON is a data set in `ledger show --json`.
type accountJSON struct {
	Dataset   string     `json:"dataset"`
	Relation  string     `json:"relation"`
	Private   []string   `json:"private,omitempty"`
	Unit      string     `json:"unit,omitempty"`
	Epsilon   float64    `json:"epsilon"`
	Delta     float64    `json:"delta"`
	Currency  string     `json:"currency"`
	Limit     amount     `json:"limit"`
	Reserved  amount     `json:"reserved"`
	Committed amount     `json:"committed"`
	Left      amount     `json:"left"`
	Runs      []runJSON  `json:"runs"`
	Notes     []noteJSON `json:"notes,omitempty"`
}

// noteJSON is an entry of price 0: an audit of the table, of which the curator alone was
// told.
type noteJSON struct {
	Entry  int64  `json:"entry"`
	Date   string `json:"date"`
	What   string `json:"what"`
	Method string `json:"method"`
}

type runJSON struct {
	Entry        int64   `json:"entry"`
	Date         string  `json:"date"`
	Method       string  `json:"method"`
	Target       string  `json:"target"`
	Epsilon      float64 `json:"epsilon"`
	Delta        float64 `json:"delta"`
	Cost         amount  `json:"cost"`
	Committed    bool    `json:"committed"`
	CuratorNotes bool    `json:"curator_notes"`
}

func (a *app) showJSON(book *ledger.Book, accounts []*ledger.Account) error {
	out := struct {
		Format   string        `json:"format"`
		Head     string        `json:"head"`
		Datasets []accountJSON `json:"datasets"`
	}{ledgerFormat, book.Head().String(), []accountJSON{}}
	for _, acc := range accounts {
		x := accountJSON{
			acc.Name, acc.Relation, acc.Private, acc.Unit, acc.Epsilon, acc.Delta, acc.Currency, amountOf(acc.Limit), amountOf(acc.Reserved),
			amountOf(acc.Committed), amountOf(acc.Left()), []runJSON{}, nil,
		}
		for _, n := range acc.Notes {
			x.Notes = append(x.Notes, noteJSON{n.Sequence, n.Date, n.What, n.Method})
		}
		for _, r := range acc.Runs {
			x.Runs = append(x.Runs, runJSON{r.Sequence, r.Date, r.Method, r.Target, r.Epsilon, r.Delta, amountOf(r.Charge), r.Committed, r.CuratorNotes})
		}
		out.Datasets = append(out.Datasets, x)
	}
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func (a *app) showText(book *ledger.Book, accounts []*ledger.Account) error {
	var b strings.Builder
	for _, acc := range accounts {
		b.WriteString(accountText(acc) + "\n")
	}
	b.WriteString(report.Paragraph("Head", book.Head().String()))
	_, err := fmt.Fprint(a.stdout, b.String())
	return err
}

// auditsOf adds the audits of a table, of which the curator was told, to the runs.
func auditsOf(acc *ledger.Account) string {
	if len(acc.Notes) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s of the table, for the curator", plural(len(acc.Notes), "audit", "audits"))
}

func accountText(acc *ledger.Account) string {
	symbol := acc.Promise.Currency.Symbol()
	show := func(c budget.Charge) string {
		x := amountOf(c)
		s := symbol + " " + digits(x.Cost)
		if acc.Spent().Delta > 0 {
			s += ", delta " + digits(x.Delta)
		}
		return s
	}
	notes := 0
	for _, r := range acc.Runs {
		if r.CuratorNotes {
			notes++
		}
	}
	s := report.Paragraph("Data set", printable(acc.Name)) +
		report.Paragraph("Total", fmt.Sprintf("epsilon %v, delta %v (relation %s%s), which is %s", acc.Epsilon, acc.Delta, hidden(acc.Relation, acc.Private), ofUnit(acc.Unit), show(acc.Limit))) +
		report.Paragraph("Spent", fmt.Sprintf("%s: %s committed, %s reserved; epsilon %s if all runs had been fixed in advance",
			show(acc.Spent()), show(acc.Committed), show(acc.Reserved), digits(acc.Promise.EpsilonOf(acc.Spent())))) +
		report.Paragraph("Left", show(acc.Left())) +
		recordsText(acc.Records) +
		report.Paragraph("Runs", fmt.Sprintf("%d, of which %d wrote notes for the curator", len(acc.Runs), notes)+auditsOf(acc))
	if len(acc.Runs) == 0 {
		return s
	}
	t := table.NewWriter()
	t.SetStyle(plainTable())
	t.SuppressTrailingSpaces()
	t.AppendHeader(table.Row{"entry", "date", "method", "target", "epsilon", "delta", "cost", "state"})
	for _, r := range acc.Runs {
		state := "reserved"
		if r.Committed {
			state = "committed"
		}
		t.AppendRow(table.Row{r.Sequence, r.Date, printable(r.Method), printable(r.Target), digits(r.Epsilon), digits(r.Delta), show(r.Charge), state})
	}
	return s + "\n" + t.Render() + "\n"
}

// recordsText says how runs on a data set read records, where that is not line by line.
func recordsText(r ledger.Records) string {
	if r != ledger.RecordsQuoted {
		return ""
	}
	return report.Paragraph("Records", "a quoted field may hold newlines (data.multiline_quotes), in every run")
}

// hidden names a relation, and the columns that it hides where they are listed.
func hidden(relation string, private []string) string {
	if len(private) == 0 {
		return relation
	}
	shown := make([]string, len(private))
	for i, name := range private {
		shown[i] = printable(name)
	}
	return relation + " of " + strings.Join(shown, ", ")
}

// printable makes a text from a file safe for a terminal.
func printable(s string) string {
	if strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return strconv.Quote(s)
	}
	return s
}

const ledgerVerifyLong = `Check the whole ledger: the hash of every entry, every sum against its total, and
the price of every run from its plan. An entry that was edited, removed or added
is found.

Who can write the file can also make every hash anew, or put an earlier copy of
the file in its place. Heads from outside find both: give those that reports
printed, or the reports themselves.`

func ledgerVerify(a *app) *cobra.Command {
	var heads, reports []string
	cmd := &cobra.Command{
		Use: "verify FILE", Short: "Check every entry, and heads from reports", Long: ledgerVerifyLong,
		Example: `  dptrain ledger verify dptrain.ledger
  dptrain ledger verify dptrain.ledger --report out/release/report.json`,
		Args: exactly(1, "one ledger"),
		RunE: func(cmd *cobra.Command, args []string) error {
			want, err := headsOf(heads, reports)
			if err != nil {
				return err
			}
			book, err := a.openLedger(args[0]).Verify(cmd.Context(), want...)
			if err != nil {
				return err
			}
			runs := 0
			for _, acc := range book.Datasets {
				runs += len(acc.Runs)
			}
			_, err = fmt.Fprintf(a.stdout, "%s: ok, %s, %s%s\n%s", args[0], plural(len(book.Entries), "entry", "entries"), plural(runs, "run", "runs"), found(len(want)),
				report.Paragraph("Head", book.Head().String()))
			return err
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringArrayVar(&heads, "head", nil, "a `HEAD` that a report printed; may be repeated")
	cmd.Flags().StringArrayVar(&reports, "report", nil, "a `FILE` report.json with a head; may be repeated")
	return cmd
}

// headsOf reads the heads of the command line and of reports.
func headsOf(heads, reports []string) ([]ledger.Head, error) {
	var out []ledger.Head
	for _, s := range heads {
		h, err := ledger.ParseHead(s)
		if err != nil {
			return nil, usagef("--head: %.100q is no head: want the number of an entry, a colon and 64 hex digits", s)
		}
		out = append(out, h)
	}
	for _, path := range reports {
		f, err := os.Open(path)
		if err != nil {
			return nil, usagef("--report: %w", err)
		}
		r, err := report.Decode(f)
		f.Close()
		switch {
		case err != nil:
			return nil, usagef("--report %s: %w", path, err)
		case r.Ledger == nil:
			return nil, usagef("--report %s: the run was not entered in a ledger", path)
		}
		h, err := ledger.ParseHead(ledger.Head{Sequence: r.Ledger.Entry, Hash: r.Ledger.Head}.String())
		if err != nil {
			return nil, usagef("--report %s: the head is damaged", path)
		}
		out = append(out, h)
	}
	return out, nil
}

func ledgerExport(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "export FILE", Short: "Print every entry, one JSON object a line",
		Long: `Print every entry in the form that its hash was taken of. The SHA-256 of a line,
without the end of the line, is the key "previous" of the next one.`,
		Example: "  dptrain ledger export dptrain.ledger > entries.jsonl",
		Args:    exactly(1, "one ledger"),
		RunE: func(cmd *cobra.Command, args []string) error {
			book, err := a.openLedger(args[0]).Read(cmd.Context())
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

// found says that the heads that were asked for are in the ledger.
func found(heads int) string {
	switch heads {
	case 0:
		return "; no head to compare with: give one with --report or --head"
	case 1:
		return "; the head is in it"
	}
	return fmt.Sprintf("; all %d heads are in it", heads)
}

// plural counts things.
func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
