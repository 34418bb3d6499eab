package entry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/recipe"
)

// A data set of the relation substitute-private-columns lists the columns that it
// protects by name, before there is a table to compare the names with. A name that
// is misspelt there protects nothing, and the column that was meant is used as
// public. The names of the header are public, so a run can look: a protected name that
// the table has not is said aloud, and where the run uses a column as public whose
// name is nearly the same, the run is refused.

// absentColumns is [Absent] for the account of a request.
func absentColumns(ctx context.Context, r Request) ([]string, error) {
	if r.Run.Budget.Relation != budget.SubstitutePrivateColumns {
		return nil, nil
	}
	acc, err := r.Ledger.Account(ctx, r.Dataset)
	if err != nil {
		return nil, Hint(ctx, err, r.Ledger.Path(), r.Run)
	}
	return Absent(acc, r.Ledger.Path(), r.Header, r.Run.Public)
}

// Absent returns the protected columns of an account that a table with this header does
// not have. It refuses a run that uses as public what may be one of them; path is that of
// the ledger.
func Absent(acc *ledger.Account, path string, header, public []string) (absent []string, err error) {
	for _, name := range acc.Private {
		has := func(column string) bool { return strings.ToValidUTF8(column, "\uFFFD") == name }
		if slices.ContainsFunc(header, has) {
			continue
		}
		absent = append(absent, name)
		if near, ok := recipe.Nearest(name, public); ok {
			err := fmt.Errorf("%w: data set %q protects a column %q, which the table does not have, and the run uses %q as public",
				ledger.ErrPublic, acc.Name, name, near)
			return nil, fmt.Errorf("%w; if the registration misspells it, register the data set under another name, "+
				"otherwise mark %q with private: true in data.columns, or list it in data.exclude", ledger.InFile(path, err), near)
		}
	}
	return absent, nil
}

// AbsentText is the warning about protected columns that the table does not have.
func AbsentText(dataset string, absent []string) string {
	return fmt.Sprintf("Data set %q protects %s, which the table does not have. "+
		"If a column was meant that has another name, the ledger does not protect that column.", dataset, quoted(absent))
}
