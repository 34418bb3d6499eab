package report

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/regression"
)

// Commit writes the files and puts the two folders in place, once. Until the
// last moment it ends with the context's error when ctx does; after an error
// there is no new release/ or curator/, and old ones are as they were.
func (f *Folder) Commit(ctx context.Context, files Files) error {
	if f.stage == "" {
		return &DirError{Path: f.given, Msg: "was closed or written before", Err: ErrUnwritable}
	}
	for _, s := range f.steps(files) {
		if err := f.before(ctx, s.name); err != nil {
			return err
		}
		if err := s.do(); err != nil {
			return f.explain(s.name, err)
		}
	}
	if err := f.before(ctx, "rename"); err != nil {
		return err
	}
	if err := f.free(); err != nil { // since Prepare
		return err
	}
	if err := f.place(); err != nil {
		return f.explain("", err)
	}
	f.made = nil
	syncDir(f.dir)
	return f.Close()
}

// before ends a commit that was cancelled.
func (f *Folder) before(ctx context.Context, name string) error {
	if f.step != nil {
		if err := f.step(name); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// explain names the place of a failure by its final name.
func (f *Folder) explain(name string, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	if errors.As(err, &pe) || errors.As(err, &le) {
		return unwritable(filepath.Join(f.given, name), err)
	}
	return err
}

type step struct {
	name string // below the output folder
	do   func() error
}

// steps lists what Commit writes below the temporary folder.
func (f *Folder) steps(files Files) []step {
	dir := func(name string, mode fs.FileMode) step {
		return step{name, func() error { return os.Mkdir(filepath.Join(f.stage, name), mode) }}
	}
	file := func(name string, mode fs.FileMode, content func(io.Writer) error) step {
		return step{name, func() error { return writeFile(filepath.Join(f.stage, name), mode, content) }}
	}
	sync := func(name string) step {
		return step{name, func() error { syncDir(filepath.Join(f.stage, name)); return nil }}
	}
	list := []step{
		dir(ReleaseDir, 0o755),
		file(ReleaseDir+"/report.json", 0o644, func(w io.Writer) error { return Encode(w, files.Report) }),
	}
	if files.Model != nil {
		list = append(list, file(ReleaseDir+"/model.json", 0o644, func(w io.Writer) error { return regression.EncodeModel(w, files.Model) }))
	}
	if files.Recipe != nil {
		list = append(list, file(ReleaseDir+"/recipe.yaml", 0o644, func(w io.Writer) error {
			_, err := w.Write(files.Recipe)
			return err
		}))
	}
	return append(list,
		sync(ReleaseDir),
		dir(CuratorDir, 0o700),
		file(CuratorDir+"/run.json", 0o600, files.Run.encode),
		sync(CuratorDir))
}

// place renames the new folders into place, the old ones aside first. The
// release comes last: where it stands, everything does. What went before a
// failure is taken back.
func (f *Folder) place() error {
	type move struct{ from, to string }
	var done []move
	for _, name := range []string{CuratorDir, ReleaseDir} {
		fresh, final := filepath.Join(f.stage, name), filepath.Join(f.dir, name)
		moves := []move{{fresh, final}}
		if _, err := os.Lstat(final); err == nil {
			moves = []move{{final, filepath.Join(f.stage, "old-"+name)}, {fresh, final}}
		}
		for _, m := range moves {
			if err := f.rename(m.from, m.to); err != nil {
				for len(done) > 0 {
					last := done[len(done)-1]
					err = errors.Join(err, os.Rename(last.to, last.from))
					done = done[:len(done)-1]
				}
				return err
			}
			done = append(done, m)
		}
	}
	return nil
}

func (f *Folder) rename(from, to string) error {
	if f.step != nil {
		if err := f.step("rename to " + filepath.Base(to)); err != nil {
			return err
		}
	}
	return os.Rename(from, to)
}
