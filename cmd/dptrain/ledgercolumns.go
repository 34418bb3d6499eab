package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/ledger"
	"github.com/dptrain/dptrain/pipeline"
	"github.com/dptrain/dptrain/recipe"
)

// A data set of the relation substitute-private-columns lists the columns that it
// protects by name, before there is a table to compare the names with. A name that
// is misspelt there protects nothing, and the column that was meant is used as
// public. The names of the header are public, so a run can look: a protected name that
// the table has not is said aloud, and where the run uses a column as public whose
// name is nearly the same, the run is refused.

// absentColumns returns the protected columns that the table does not have. It
// refuses a run that uses as public what may be one of them.
func (a *app) absentColumns(ctx context.Context, j *job, p *pipeline.Pipeline) ([]string, error) {
	if p.Budget.Relation != budget.SubstitutePrivateColumns {
		return nil, nil
	}
	acc, err := a.accountOf(ctx, j, p)
	if err != nil {
		return nil, err
	}
	return a.absentFrom(acc, j, p)
}

// absentFrom is absentColumns for an account that was read.
func (a *app) absentFrom(acc *ledger.Account, j *job, p *pipeline.Pipeline) (absent []string, err error) {
	for _, name := range acc.Private {
		has := func(column string) bool { return strings.ToValidUTF8(column, "\uFFFD") == name }
		if slices.ContainsFunc(j.header, has) {
			continue
		}
		absent = append(absent, name)
		if near, ok := recipe.Nearest(name, p.PublicColumns()); ok {
			err := fmt.Errorf("%w: data set %q protects a column %q, which the table does not have, and the run uses %q as public", ledger.ErrPublic, acc.Name, name, near)
			return nil, fmt.Errorf("%w; if the registration misspells it, register the data set under another name, otherwise mark %q with private: true in data.columns, or list it in data.exclude",
				ledger.InFile(j.ledger, err), near)
		}
	}
	return absent, nil
}

// absentText is the warning about protected columns that the table does not have.
func absentText(dataset string, absent []string) string {
	names := make([]string, len(absent))
	for i, name := range absent {
		names[i] = fmt.Sprintf("%q", name)
	}
	return fmt.Sprintf("Data set %q protects %s, which the table does not have. If a column was meant that has another name, the ledger does not protect that column.", dataset, strings.Join(names, ", "))
}
