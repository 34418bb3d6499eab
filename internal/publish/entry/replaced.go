package entry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/publish/report"
)

// CheckReplaced refuses to replace the release in the output folder out if it names an entry that the ledger does not
// have. Only such a release shows that the ledger was reset to an earlier state or is a different one. l is nil for a
// run without a ledger, which may not replace a release that names an entry. A release that names the entry own is
// that of the run itself. CheckReplaced also rejects a ledger that is one of the files to be replaced. Errors are a
// [*ledger.FileError] or a [*report.DirError].
func CheckReplaced(
	ctx context.Context,
	l *ledger.Ledger,
	out string,
	own ledger.Head,
) error {
	if l != nil {
		if inside := fileWithin(out, l.Path()); inside != "" {
			return ledger.InFile(l.Path(),
				fmt.Errorf("%w: it is %s, which this run would replace; keep the ledger elsewhere",
					ledger.ErrInvalid, inside))
		}
	}
	head, err := report.EntryOf(out)
	if err != nil || head == nil || *head == own {
		return err
	}
	if l == nil {
		return &report.DirError{
			Path: out,
			Err:  report.ErrExists,
			Msg: fmt.Sprintf(
				"contains a release that was recorded in a ledger (entry %d), but this run has no ledger to check it against",
				head.Sequence),
			Hint: "name the ledger and its data set, choose another --out, or move the old release away",
		}
	}
	held, err := l.Holds(ctx, *head)
	if err != nil {
		return Hint(ctx, err, l.Path(), Run{})
	}
	if !held {
		return ledger.InFile(l.Path(),
			fmt.Errorf(
				"%w: the release in %s is entry %d of a ledger, but this ledger does not contain it: "+
					"it was restored to an earlier state, or is a different ledger; "+
					"choose another --out, or use the ledger that contains the entry", ledger.ErrHead,
				out, head.Sequence))
	}
	return nil
}

// fileWithin returns the file in the result folders of out that is the same as the file at path, under any name, or
// "" if there is no such file.
func fileWithin(out, path string) string {
	file, err := os.Stat(path)
	if err != nil {
		return ""
	}
	for _, folder := range []string{report.ReleaseDir, report.CuratorDir} {
		entries, err := os.ReadDir(filepath.Join(out, folder))
		if err != nil {
			continue
		}
		for _, e := range entries {
			name := filepath.Join(out, folder, e.Name())
			if info, err := os.Stat(name); err == nil && os.SameFile(info, file) {
				return name
			}
		}
	}
	return ""
}
