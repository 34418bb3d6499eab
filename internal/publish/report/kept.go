package report

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/sys/strictjson"
)

// KeptDir is the folder with the results of a run that ended but could not be committed to its ledger. Until it is
// committed, the folder is for the data owner only (mode 0700).
const KeptDir = "pending"

// ErrKept is returned if there are no such results, or if they cannot be read.
var ErrKept = fault.New(fault.Usage, "no results are waiting for a ledger")

// KeptFormat is the value of the key "format" of a kept run's pending.json.
const KeptFormat = "dptrain.pending/1"

const keptFile = "pending.json"

// A Kept locates the ledger entry of a kept run.
type Kept struct {
	Format string `json:"format"`
	Path   string `json:"path"`  // path of the ledger file
	Entry  int64  `json:"entry"` // number of the reservation
	Head   string `json:"head"`  // its SHA-256, in hex
}

// noneKept rejects a folder with kept results.
func (f *Folder) noneKept() error {
	path := filepath.Join(f.given, KeptDir)
	if _, err := os.Lstat(path); err != nil {
		return nil // a missing or inaccessible folder is reported by open
	}
	return &DirError{path, "contains the results of a run that is not yet committed to its ledger",
		"commit it with `dptrain ledger commit " + f.given + "`, or choose another --out", ErrExists}
}

// Keep moves the staged results to [KeptDir], where they stay until [PlaceKept], and returns that folder. Nothing is
// published.
func (f *Folder) Keep(k Kept) (string, error) {
	if f.stage == "" {
		return "", &DirError{
			Path: f.given,
			Msg:  "was closed or written before",
			Err:  ErrUnwritable,
		}
	}
	k.Format = KeptFormat
	err := writeFile(filepath.Join(f.stage, keptFile), 0o600, func(w io.Writer) error {
		data, err := json.MarshalIndent(k, "", "  ")
		if err == nil {
			_, err = w.Write(append(data, '\n'))
		}
		return err
	})
	shown := filepath.Join(f.given, KeptDir)
	if err == nil {
		syncDir(f.stage)
		err = os.Rename(f.stage, filepath.Join(f.dir, KeptDir))
	}
	if err != nil {
		return "", unwritable(shown, err)
	}
	f.made = nil
	syncDir(f.dir)
	return shown, f.Close() // its folder was moved
}

// OpenKept returns the location of the ledger entry of the run kept in dir. The error is a [*DirError] that wraps
// ErrKept.
func OpenKept(dir string) (Kept, error) {
	path := filepath.Join(dir, KeptDir)
	refuse := func(msg string) (Kept, error) {
		return Kept{}, &DirError{
			Path: path,
			Msg:  msg,
			Err:  ErrKept,
		}
	}
	data, err := os.ReadFile(filepath.Join(path, keptFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse("no results are waiting for a ledger")
	case err != nil:
		return Kept{}, unwritable(path, err)
	}
	var k Kept
	doc, err := strictjson.Parse(data)
	if err == nil {
		err = doc.Decode(&k, version(KeptFormat))
	}
	if err != nil || k.Format != KeptFormat || k.Path == "" {
		return refuse(keptFile + " was not written by dptrain")
	}
	for _, name := range []string{ReleaseDir, CuratorDir} {
		if info, err := os.Lstat(filepath.Join(path, name)); err != nil || !info.IsDir() {
			return refuse(name + " is missing")
		}
	}
	return k, nil
}

// KeptStopped reports whether the run kept in dir stopped before any training, so that its unspent budget goes back
// to the ledger.
func KeptStopped(dir string) (bool, error) {
	folder := filepath.Join(dir, KeptDir, ReleaseDir)
	name := reportIn(folder)
	path := filepath.Join(folder, name)
	data, err := readLimited(path, MaxBytes)
	if err != nil {
		return false, &DirError{
			Path: path,
			Msg:  "cannot be read: " + reasonOf(err),
			Err:  ErrKept,
		}
	}
	r, err := decode(data, kindOfFile(name))
	if err != nil {
		return false, &DirError{
			Path: path,
			Msg:  err.Error(),
			Err:  ErrKept,
		}
	}
	return r.HasStopped(), nil
}

// PlaceKept puts the results kept in dir in place, as [Folder.Place] does. The run must have been committed to its
// ledger.
func PlaceKept(ctx context.Context, dir string, force bool) error {
	f := &Folder{given: filepath.Clean(dir), force: force}
	var err error
	if f.dir, err = filepath.EvalSymlinks(f.given); err != nil {
		return unwritable(f.given, err)
	}
	f.stage = filepath.Join(f.dir, KeptDir)
	if err := ctx.Err(); err != nil {
		return err
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := f.checkReplaceable(); err != nil {
		return err
	}
	if err := f.place(); err != nil {
		return f.explain("", err)
	}
	syncDir(f.dir)
	return os.RemoveAll(f.stage)
}
