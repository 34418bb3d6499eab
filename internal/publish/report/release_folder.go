package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/sys/filesys"
	"github.com/dptrain/dptrain/regression"
)

// The names of the two folders.
const (
	ReleaseDir = "release"
	CuratorDir = "curator"
)

// Errors about the output folder, wrapped in a [*DirError].
var (
	// ErrExists is returned if there are results already that may not be replaced.
	ErrExists = fault.New(fault.Usage, "results already exist")
	// ErrForeign is returned if something not written by dptrain is in the place of the results.
	ErrForeign = fault.New(fault.Usage, "the folder contains other files")
	// ErrUnwritable is returned if the folder cannot be created or written to.
	ErrUnwritable = fault.New(fault.Usage, "cannot write")
)

// DirError describes an unusable output folder and how to fix it.
type DirError struct {
	Path string
	Msg  string
	Hint string // may be empty
	Err  error  // one of the sentinels above
}

// Error returns "path: message; hint".
func (e *DirError) Error() string {
	s := e.Path + ": " + e.Msg
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Unwrap returns the sentinel.
func (e *DirError) Unwrap() error {
	return e.Err
}

// unwritable converts an error of the operating system into a DirError.
func unwritable(path string, err error) error {
	return &DirError{
		Path: path,
		Msg:  fmt.Sprintf("cannot be written: %v", fault.Cause(err)),
		Hint: "check it, or choose another --out",
		Err:  ErrUnwritable,
	}
}

// Files are the contents of the two folders.
type Files struct {
	Model  regression.Model // nil where none was trained: no model.json is written
	Report *Report
	Recipe []byte // as recipe.Recipe.Public returns it; nil for a pipeline built in code and for a description
	Run    *Run
}

// Write writes files into the folder dir, which is created if needed. It combines [Prepare] and [Folder.Commit].
func Write(ctx context.Context, dir string, files Files, force bool) error {
	f, err := Prepare(dir, force)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Commit(ctx, files)
}

// A Folder is an output folder that has been checked and can be written to. It must be closed, and is not safe for
// concurrent use.
type Folder struct {
	dir   string // symbolic links resolved
	given string // as the caller named it
	stage string // temporary folder in dir
	temp  *filesys.TempDir
	made  []string
	force bool

	checksum string // of the release that was staged

	step       func(name string) error // tests: called before every step of Commit
	noExchange bool                    // tests: the system cannot exchange folders
}

// Prepare reserves the folder dir for the results of a run. It creates dir if it does not exist. It fails with
// [ErrExists] if dir has results, unless force is set, or the results of a run still to be committed to its ledger
// ([Folder.Keep]), with [ErrForeign] if release/ or curator/ is not dptrain's, and with [ErrUnwritable] if dir cannot
// be written to. All errors are a [*DirError]. Before these checks, Prepare removes the remains of killed runs. Close
// undoes Prepare.
func Prepare(dir string, force bool) (*Folder, error) {
	f := &Folder{given: filepath.Clean(dir), force: force}
	if err := f.noneKept(); err != nil {
		return nil, err
	}
	if err := f.open(f.checkReplaceable); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// open creates the folder and a temporary one in it; free checks the existing files.
func (f *Folder) open(free func() error) (err error) {
	if f.made, err = makeAll(f.given, syncDir); err != nil {
		return err
	}
	if f.dir, err = filepath.EvalSymlinks(f.given); err != nil {
		return unwritable(f.given, err)
	}
	sweep(f.dir)
	if err := free(); err != nil {
		return err
	}
	if f.temp, err = filesys.MakeTempDir(f.dir, stagePrefix); err != nil {
		return unwritable(f.given, err)
	}
	f.stage = f.temp.Path
	return nil
}

// Close removes temporary files, and folders that were created for results that were not written.
func (f *Folder) Close() error {
	var errs []error
	if f.stage != "" {
		errs = append(errs, f.temp.Close())
		f.stage = ""
	}
	for _, dir := range slices.Backward(f.made) {
		os.Remove(dir) // fails for a folder that is in use by now
	}
	f.made = nil
	return errors.Join(errs...)
}

// contents lists the files that each folder may hold. Only folders without other files are ever replaced.
func contents(name string) []string {
	if name != ReleaseDir {
		return []string{"run.json", AuditFile}
	}
	var out []string
	for _, k := range kinds() {
		out = append(out, k.file, k.file+SignatureSuffix)
		out = append(out, k.others...)
	}
	return out
}

// checkReplaceable checks that the two folders may be put in place.
func (f *Folder) checkReplaceable() error {
	for _, name := range []string{ReleaseDir, CuratorDir} {
		path := filepath.Join(f.dir, name)
		shown := filepath.Join(f.given, name)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return unwritable(shown, err)
		case !f.force:
			return &DirError{shown, "already exists",
				"choose another --out, or overwrite it with --force", ErrExists}
		case info.Mode()&fs.ModeSymlink != 0: // the link is replaced, not its target
			continue
		case !info.IsDir():
			return &DirError{shown, "is not a folder", "choose another --out", ErrForeign}
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return unwritable(shown, err)
		}
		for _, e := range entries {
			if !slices.Contains(contents(name), e.Name()) {
				return &DirError{shown, "contains files that dptrain did not write",
					"choose another --out", ErrForeign}
			}
		}
	}
	return nil
}

// makeAll creates dir and its missing parents and returns the folders it created, outermost first. sync writes the
// entries of a folder to disk: it is called for the parent of each new folder, so that results on disk can be found
// after a power failure.
func makeAll(dir string, sync func(folder string)) ([]string, error) {
	var missing, made []string
	for path := dir; ; path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if err == nil && !info.IsDir() {
			return nil, &DirError{path, "is not a folder", "choose another --out", ErrUnwritable}
		}
		if err == nil || path == filepath.Dir(path) {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, unwritable(path, err)
		}
		missing = append(missing, path)
	}
	for _, path := range slices.Backward(missing) {
		switch err := os.Mkdir(path, 0o755); {
		case err == nil:
			made = append(made, path)
			sync(filepath.Dir(path))
		case !errors.Is(err, fs.ErrExist): // created by another run, or a broken link
			return made, unwritable(path, err)
		}
	}
	return made, nil
}

// writeFile creates a file; all of it is on disk when the function returns.
func writeFile(
	path string,
	mode fs.FileMode,
	content func(io.Writer) error,
) (err error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, out.Close())
	}()
	if err := content(out); err != nil {
		return err
	}
	return out.Sync()
}

// syncDir writes the entries of a folder to disk. Some file systems do not support this; the files themselves are
// synced in any case.
func syncDir(path string) {
	if d, err := os.Open(path); err == nil {
		_ = d.Sync()
		d.Close()
	}
}
