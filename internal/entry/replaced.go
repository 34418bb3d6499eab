package entry

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/report"
)

// CheckReplaced refuses to replace the release in the output folder out if it names an entry that the ledger
// does not have. Such a release shows that the ledger was put back to an earlier state or is another one, and
// nothing else does. l is nil for a run without a ledger, which may replace no release that names one. A
// release that names the entry own is that of the run itself. Errors are a [*ledger.FileError] or a
// [*report.DirError].
func CheckReplaced(ctx context.Context, l *ledger.Ledger, out string, own ledger.Head) error {
	head, err := report.EntryOf(out)
	if err != nil || head == nil || *head == own {
		return err
	}
	if l == nil {
		return &report.DirError{
			Path: out, Err: report.ErrExists,
			Msg:  fmt.Sprintf("holds a release that was entered in a ledger (entry %d), and this run has no ledger to find it in", head.Sequence),
			Hint: "name the ledger and its data set, choose another --out, or move the old release away",
		}
	}
	held, err := l.Holds(ctx, *head)
	if err != nil {
		return Hint(ctx, err, l.Path(), Run{})
	}
	if !held {
		return ledger.InFile(l.Path(), fmt.Errorf("%w: the release in %s is entry %d of a ledger, and this one does not have it: "+
			"it was put back to an earlier state, or is another ledger; "+
			"choose another --out, and find the ledger that has the entry", ledger.ErrHead, out, head.Sequence))
	}
	return nil
}
