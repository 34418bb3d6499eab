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

// A data set of the relation substitute-private-columns lists its protected columns by name, before there is a table
// to compare the names with. A misspelt name there protects no column, and the intended column is used as public. The
// names in the header are public, so a run can check: a protected name that is not in the table gives a warning, and
// if the run uses a column with a similar name as public, the run is refused.

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

// Absent returns the protected columns of an account that are missing from a table with this header. It refuses a run
// that uses as public a column that may be a protected one; path is the path of the ledger.
func Absent(
	acc *ledger.Account,
	path string,
	header, public []string,
) (absent []string, err error) {
	for _, name := range acc.Private {
		has := func(column string) bool {
			return strings.ToValidUTF8(column, "\uFFFD") == name
		}
		if slices.ContainsFunc(header, has) {
			continue
		}
		absent = append(absent, name)
		if near, ok := recipe.Nearest(name, public); ok {
			err := fmt.Errorf(
				"%w: data set %q protects column %q, which the table does not have, but the run uses %q as public",
				ledger.ErrPublic, acc.Name, name, near)
			return nil,
				fmt.Errorf(
					"%w; if the name was misspelt in the ledger, register the data set again under another name; "+
						"otherwise mark %q with private: true in data.columns, or list it in data.exclude",
					ledger.InFile(path, err), near)
		}
	}
	return absent, nil
}

// AbsentText is the warning about protected columns that the table does not have.
func AbsentText(dataset string, absent []string) string {
	return fmt.Sprintf("Data set %q protects %s, which the table does not have. "+
		"If the column has another name in the table, it is not protected.",
		dataset, quoted(absent))
}
