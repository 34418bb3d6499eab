package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
)

const ledgerSpendLong = `Record a release by another tool about a registered data set, so that one total
covers everything. State its guarantee: --rho for zero-concentrated differential
privacy, --mu for Gaussian differential privacy, or --epsilon with --delta. It
must hold for the neighbouring relation and the privacy unit of the data set,
which 'ledger show' prints.

Record it before the other tool releases anything: a release that would exceed
the total is refused with exit code 5. It cannot be undone.`

// spendFlags are the flags of `ledger spend`.
type spendFlags struct {
	epsilon string
	spend   ledger.Spend
	json    bool
}

func ledgerSpend(a *app) *cobra.Command {
	f := &spendFlags{}
	cmd := &cobra.Command{
		Use:   "spend [FILE] --dataset NAME",
		Short: "Record a release by another tool",
		Long:  ledgerSpendLong,
		Example: `  dptrain ledger spend --dataset houses-2026 --rho 0.01 --note 'yearly counts'
  dptrain ledger spend my.ledger --dataset houses --epsilon 0.5 --delta 1e-8`,
		Args: between(0, 1, "at most one ledger"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.read(cmd.Flags().Changed); err != nil {
				return err
			}
			return a.ledgerSpend(cmd.Context(), ledgerOf(args), f.spend, f.json)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(
		&f.spend.Dataset,
		"dataset",
		"",
		"`NAME` of the data set (required)",
	)
	numberVar(
		flags,
		&f.spend.Rho,
		"rho",
		0,
		"the release is rho-zCDP: a `NUMBER` above 0",
	)
	numberVar(flags, &f.spend.Mu, "mu", 0, "the release is mu-GDP: a `NUMBER` above 0")
	flags.StringVar(&f.epsilon, "epsilon", "",
		"the release is (epsilon, delta)-private: a `NUMBER` above 0, or 'ln(3)'")
	numberVar(
		flags,
		&f.spend.Delta,
		"delta",
		0,
		"with --epsilon: a `NUMBER` from 0 to 1",
	)
	flags.StringVar(
		&f.spend.Note,
		"note",
		"",
		"store this `TEXT` about the release in the ledger",
	)
	jsonFlag(cmd, &f.json, oneObject)
	return cmd
}

// read validates and parses the flags.
func (f *spendFlags) read(changed func(string) bool) error {
	given := 0
	for _, name := range []string{"rho", "mu", "epsilon"} {
		if changed(name) {
			given++
		}
	}
	switch {
	case f.spend.Dataset == "":
		return usagef(
			"--dataset is required: the name under which all releases about the data set are added up")
	case given != 1:
		return usagef("state the guarantee with exactly one of --rho, --mu and --epsilon")
	case changed("delta") && !changed("epsilon"):
		return usagef("--delta needs --epsilon")
	}
	if changed("epsilon") {
		var err error
		if f.spend.Epsilon, err = recipe.ParseEpsilon(f.epsilon); err != nil {
			return usagef("--epsilon: %v", err)
		}
	}
	for name, value := range map[string]float64{
		"rho":     f.spend.Rho,
		"mu":      f.spend.Mu,
		"epsilon": f.spend.Epsilon,
	} {
		if changed(name) && value == 0 {
			return usagef("--%s must be above 0", name)
		}
	}
	return nil
}

func (a *app) ledgerSpend(
	ctx context.Context,
	path string,
	x ledger.Spend,
	asJSON bool,
) error {
	l := a.openLedger(path)
	head, charge, err := l.Spend(ctx, x)
	switch {
	case errors.Is(err, ledger.ErrRho):
		return usagef(
			"the ledger adds up mu² for data set %s, which cannot be derived from rho: give --mu, or --epsilon and --delta",
			printable(x.Dataset))
	case errors.Is(err, ledger.ErrInvalid):
		return usagef("%w", err)
	case errors.Is(err, ledger.ErrUnknown), errors.Is(err, ledger.ErrUnreadable):
		return fmt.Errorf(
			"%w; register it with `dptrain ledger init %s --dataset NAME --epsilon TOTAL`", err,
			path)
	case err != nil:
		return err
	}
	acc, err := l.Account(ctx, x.Dataset)
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSON(a.stdout,
			entered{
				Format:  enteredFormat,
				Ledger:  path,
				Dataset: acc.Name,
				Head:    head.String(),
				Cost:    new(amountOf(charge)),
				Left:    new(amountOf(acc.Left())),
			})
	}
	price := func(cost, delta float64) string {
		s := acc.Promise.Currency.Symbol() + " " + digits(cost)
		if charge.Delta > 0 {
			s += " and delta " + digits(delta)
		}
		return s
	}
	_, err = fmt.Fprint(a.stdout,
		report.Paragraph("Recorded",
			fmt.Sprintf(
				"%s for data set %s; %s is left. The guarantee is taken to hold for the relation %s%s",
				price(charge.Value()), printable(acc.Name),
				price(acc.Left().Value()), hidden(acc.Relation, acc.Private), ofUnit(acc.Unit))),
		report.Paragraph("Head", head.String()))
	return err
}
