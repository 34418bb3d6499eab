package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/fault"
)

// A KnownError rejects an experiment on data that a ledger lists.
type KnownError struct {
	Path    string // of the ledger, or of a recipe that keeps one
	Problem string
}

// Error returns "path: problem; why it matters".
func (e *KnownError) Error() string {
	return e.Path + ": " + e.Problem + "; bench prints exact metrics without a privacy guarantee"
}

// FaultKind returns [fault.Ledger].
func (e *KnownError) FaultKind() fault.Kind {
	return fault.Ledger
}

// RefuseKnown returns a [*KnownError] if a recipe uses a ledger, or if a run in a ledger has read one of the
// tables. It checks the named ledger, unless the name is empty, and every dptrain.ledger in the folder of a
// table or a recipe and in the working directory. Other errors are those of [ledger.Ledger.Read].
func (c Config) RefuseKnown(
	ctx context.Context,
	named string,
	open func(path string) *ledger.Ledger,
) error {
	if !c.Public {
		return nil // rejected by Run
	}
	data := slices.Clone(c.Data)
	places := []string{"."}
	for _, path := range c.Recipes {
		r, err := recipe.Options{Bench: true}.Load(path)
		if err != nil {
			continue // Run reports the problem
		}
		if r.Ledger != nil {
			return &KnownError{path,
				fmt.Sprintf("the recipe keeps a ledger for data set %q", r.Ledger.Dataset)}
		}
		places = append(places, filepath.Dir(path))
		if file := r.DataFile(); file != "" && len(c.Data) == 0 {
			data = append(data, file)
		}
	}
	for _, path := range data {
		places = append(places, path, filepath.Dir(path))
	}
	var ledgers []string
	if named != "" {
		ledgers = append(ledgers, named)
	}
	for _, dir := range places {
		path := filepath.Join(dir, recipe.DefaultLedger)
		if _, err := os.Lstat(path); err == nil && !slices.Contains(ledgers, path) {
			ledgers = append(ledgers, path)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) && !isFile(dir) {
			return &ledger.FileError{
				Path: path,
				Msg:  "cannot be read",
				Err:  ledger.ErrUnreadable,
			}
		}
	}
	for _, path := range ledgers {
		book, err := open(path).Read(ctx)
		if err != nil {
			return err
		}
		if err := knownTable(path, book, data); err != nil {
			return err
		}
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// knownTable rejects a table, or a folder with one, that a run or an audit in the ledger has read.
func knownTable(path string, book *ledger.Book, data []string) error {
	read := map[string]string{} // data set by table and by its folder
	for _, acc := range book.Datasets {
		for _, r := range acc.Runs {
			if r.Table != "" {
				read[r.Table] = acc.Name
				read[filepath.Dir(r.Table)] = acc.Name
			}
		}
		for _, n := range acc.Notes {
			if n.Table != "" {
				read[n.Table] = acc.Name
				read[filepath.Dir(n.Table)] = acc.Name
			}
		}
	}
	for _, given := range data {
		full, err := filepath.Abs(given)
		if err != nil {
			full = given
		}
		if resolved, err := filepath.EvalSymlinks(full); err == nil {
			full = resolved
		}
		if name, ok := read[full]; ok {
			return &KnownError{path, fmt.Sprintf("it contains %s as data set %q", given, name)}
		}
		if name, ok := knownFile(full, read); ok {
			return &KnownError{path,
				fmt.Sprintf(
					"it contains a table of %s as data set %q, under another name of the same file",
					given, name)}
		}
	}
	return nil
}

// knownFile looks for a table under another name, such as a hard link or a bind mount: it compares the file at full, or
// the files in that folder, with the tables that were read by device and inode.
func knownFile(
	full string,
	read map[string]string,
) (dataset string, known bool) {
	files := []string{full}
	if entries, err := os.ReadDir(full); err == nil {
		files = nil
		for _, e := range entries {
			files = append(files, filepath.Join(full, e.Name()))
		}
	}
	tables := map[string]os.FileInfo{}
	for path := range read {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			tables[path] = info
		}
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		for path, table := range tables {
			if os.SameFile(info, table) {
				return read[path], true
			}
		}
	}
	return "", false
}
