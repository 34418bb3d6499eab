package report

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// AuditFile is the file of an audit of the owner's table, in CuratorDir.
const AuditFile = "audit.json"

// LookFile is the file of a look at the owner's table, in CuratorDir.
const LookFile = "look.txt"

// A CuratorFile is a file of the curator's folder that is written on its own, in addition to the notes of a run or
// before there are any. It must be closed, and is not safe for concurrent use.
type CuratorFile struct {
	folder Folder
	name   string
}

// PrepareAudit reserves the file AuditFile of the output folder dir. It creates dir if it does not exist. It fails
// with [ErrExists] if the file exists, unless force is set, with [ErrForeign] if curator/ is a link or not a folder,
// and with [ErrUnwritable] if curator/ cannot be written to or made private. All errors are a [*DirError]. Close
// undoes PrepareAudit.
func PrepareAudit(dir string, force bool) (*CuratorFile, error) {
	return prepare(dir, AuditFile, force)
}

// PrepareLook is PrepareAudit for LookFile.
func PrepareLook(dir string, force bool) (*CuratorFile, error) {
	return prepare(dir, LookFile, force)
}

func prepare(dir, name string, force bool) (*CuratorFile, error) {
	c := &CuratorFile{Folder{
		given: filepath.Clean(dir),
		force: force,
	}, name}
	if err := c.folder.open(c.checkReplaceable); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close removes temporary files, and a folder that was created but not used.
func (c *CuratorFile) Close() error {
	return c.folder.Close()
}

// checkReplaceable checks that the file may be put in place. An existing folder is made private, like the file in it.
func (c *CuratorFile) checkReplaceable() error {
	f := &c.folder
	dir := filepath.Join(f.dir, CuratorDir)
	shown := filepath.Join(f.given, CuratorDir)
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return unwritable(shown, err)
	case !info.IsDir():
		return &DirError{shown, "is not a folder", "choose another --out", ErrForeign}
	}
	info, err = os.Lstat(filepath.Join(dir, c.name))
	switch {
	case err == nil && info.IsDir():
		return &DirError{filepath.Join(shown, c.name), "is a folder", "choose another --out",
			ErrForeign}
	case err == nil && !f.force:
		return &DirError{filepath.Join(shown, c.name), "already exists",
			"choose another --out, or overwrite it with --force", ErrExists}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return unwritable(shown, err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return unwritable(shown, err)
	}
	return nil
}

// Commit writes the file and puts it in place, with mode 0600 in a folder with mode 0700. It may be called once.
// Until the last moment it ends with the context's error when ctx does. After an error there is no new file, and an
// old one is unchanged.
func (c *CuratorFile) Commit(
	ctx context.Context,
	content func(io.Writer) error,
) error {
	f := &c.folder
	if f.stage == "" {
		return &DirError{
			Path: f.given,
			Msg:  "was closed or written before",
			Err:  ErrUnwritable,
		}
	}
	fresh := filepath.Join(f.stage, CuratorDir)
	final := filepath.Join(f.dir, CuratorDir)
	name := filepath.Join(CuratorDir, c.name)
	for _, s := range []step{
		{CuratorDir, func() error {
			return os.Mkdir(fresh, 0o700)
		}},
		{name, func() error {
			return writeFile(filepath.Join(fresh, c.name), 0o600, content)
		}},
		{"sync", func() error {
			syncDir(fresh)
			return nil
		}},
	} {
		if err := f.checkCancelled(ctx, s.name); err != nil {
			return err
		}
		if err := s.do(); err != nil {
			return f.explain(name, err)
		}
	}
	place := func() error {
		// If there is no folder yet, it is moved into place together with the file.
		if _, err := os.Lstat(final); err == nil {
			fresh, final = filepath.Join(fresh, c.name), filepath.Join(final, c.name)
		}
		return f.move("rename to "+name, func() error {
			return os.Rename(fresh, final)
		})
	}
	return f.withLock(ctx, c.checkReplaceable, name, place, func() {
		syncDir(filepath.Dir(final))
	})
}
