package report

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dptrain/dptrain/internal/sys/filesys"
	"github.com/dptrain/dptrain/regression"
)

// Commit writes the files and puts the two folders in place. It combines [Folder.Stage] and [Folder.Place], and may
// be called once.
func (f *Folder) Commit(ctx context.Context, files Files) error {
	if err := f.Stage(ctx, files); err != nil {
		return err
	}
	return f.Place(ctx)
}

// Stage writes the files to a temporary folder next to their place, for Place or Keep. It may be called once, and
// ends with the context's error when ctx does.
func (f *Folder) Stage(ctx context.Context, files Files) error {
	if f.stage == "" {
		return &DirError{
			Path: f.given,
			Msg:  "was closed or written before",
			Err:  ErrUnwritable,
		}
	}
	for _, s := range f.steps(files) {
		if err := f.checkCancelled(ctx, s.name); err != nil {
			return err
		}
		if err := s.do(); err != nil {
			return f.explain(s.name, err)
		}
	}
	return nil
}

// Place puts the staged files in place. Until the last moment it ends with the context's error when ctx does. After
// an error there is no new release/ or curator/, and old ones are unchanged.
func (f *Folder) Place(ctx context.Context) error {
	return f.withLock(ctx, f.checkReplaceable, "", f.place, func() {
		syncDir(f.dir)
	})
}

// withLock calls place, provided that the place is still free, while holding the lock that excludes other processes.
// Then it syncs and closes the folder.
func (f *Folder) withLock(
	ctx context.Context,
	free func() error,
	name string,
	place func() error,
	sync func(),
) error {
	if err := f.checkCancelled(ctx, "rename"); err != nil {
		return err
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := free(); err != nil { // may have changed since it was prepared
		return err
	}
	if err := place(); err != nil {
		return f.explain(name, err)
	}
	f.made = nil
	sync()
	return f.Close()
}

// patience is the time that another process may take to put its results in place.
const patience = 10 * time.Second

// lock prevents other runs from putting their results into the folder at the same time, so that release/ and curator/
// are of one run, and the run that ends second sees the results of the one that ends first.
func (f *Folder) lock(ctx context.Context) (unlock func(), err error) {
	dir, err := os.Open(f.dir)
	if err != nil {
		return nil, unwritable(f.given, err)
	}
	for wait := time.Millisecond; !filesys.TryLock(dir); wait *= 2 {
		if wait > patience/2 {
			dir.Close()
			return nil,
				&DirError{
					Path: f.given,
					Msg:  "another run is still writing there",
					Hint: "choose another --out",
					Err:  ErrUnwritable,
				}
		}
		select {
		case <-ctx.Done():
			dir.Close()
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
	return func() { dir.Close() }, nil
}

// checkCancelled returns the error of a cancelled commit.
func (f *Folder) checkCancelled(ctx context.Context, name string) error {
	if f.step != nil {
		if err := f.step(name); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// explain replaces the temporary path in a failure by its final name.
func (f *Folder) explain(name string, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	if errors.As(err, &pe) || errors.As(err, &le) {
		return unwritable(filepath.Join(f.given, name), err)
	}
	return err
}

type step struct {
	name string // relative to the output folder
	do   func() error
}

// steps lists what Commit writes below the temporary folder.
func (f *Folder) steps(files Files) []step {
	dir := func(name string, mode fs.FileMode) step {
		return step{name, func() error {
			return os.Mkdir(filepath.Join(f.stage, name), mode)
		}}
	}
	file := func(name string, mode fs.FileMode, content func(io.Writer) error) step {
		return step{name, func() error {
			return writeFile(filepath.Join(f.stage, name), mode, content)
		}}
	}
	sync := func(name string) step {
		return step{name, func() error {
			syncDir(filepath.Join(f.stage, name))
			return nil
		}}
	}
	list := []step{dir(ReleaseDir, 0o755)}
	for _, x := range files.published(&f.checksum) {
		list = append(list, file(ReleaseDir+"/"+x.name, 0o644, x.content))
	}
	return append(list,
		sync(ReleaseDir),
		dir(CuratorDir, 0o700),
		file(CuratorDir+"/run.json", 0o600, files.Run.encode),
		sync(CuratorDir))
}

// A publishedFile is a file of a release.
type publishedFile struct {
	name    string
	content func(io.Writer) error
}

// published lists the files of the release in the order in which they must be written: the last one holds the hashes
// of the others. Writing it sets checksum to that of the release.
func (files Files) published(checksum *string) []publishedFile {
	var hashes Hashes
	var list []publishedFile
	if files.Model != nil {
		list = append(list, publishedFile{modelFile, hashed(&hashes.Model, func(w io.Writer) error {
			return regression.EncodeModel(w, files.Model)
		})})
	}
	if files.Recipe != nil {
		list = append(list,
			publishedFile{recipeFile, hashed(&hashes.Recipe, func(w io.Writer) error {
				_, err := w.Write(files.Recipe)
				return err
			})})
	}
	section := files.Report.section()
	list = append(list, section.drawnFiles(files, &hashes)...)
	return append(list, publishedFile{files.Report.FileName(), func(w io.Writer) error {
		final := *files.Report
		final.Files = hashes
		sealed, err := final.sealed()
		if err != nil {
			return err
		}
		*checksum = sealed.Checksum
		return Encode(w, sealed)
	}})
}

// drawnFiles returns the page.
func (t *Training) drawnFiles(f Files, hashes *Hashes) []publishedFile {
	return f.drawnPage(hashes)
}

// drawnFiles returns the page.
func (d *Description) drawnFiles(f Files, hashes *Hashes) []publishedFile {
	return f.drawnPage(hashes)
}

// drawnFiles returns the picture, of a study that released histograms.
func (c *Causal) drawnFiles(_ Files, hashes *Hashes) []publishedFile {
	if c.Method == anmMethod {
		return nil
	}
	return []publishedFile{{pictureFile, hashed(&hashes.Picture, c.Picture)}}
}

// drawnPage returns the page of a release.
func (files Files) drawnPage(hashes *Hashes) []publishedFile {
	return []publishedFile{{pageFile, hashed(&hashes.Page, func(w io.Writer) error {
		return HTML(w, Source{files.Report, files.Model, files.Recipe})
	})}}
}

// Published returns the contents of the files in release/ by name, as Commit writes them.
func (files Files) Published() (map[string]string, error) {
	var checksum string
	contents := map[string]string{}
	for _, x := range files.published(&checksum) {
		var content strings.Builder
		if err := x.content(&content); err != nil {
			return nil, err
		}
		contents[x.name] = content.String()
	}
	return contents, nil
}

// Checksum returns the checksum that the release of these files will have. It depends only on the published files.
func (files Files) Checksum() (string, error) {
	var checksum string
	for _, x := range files.published(&checksum) {
		if err := x.content(io.Discard); err != nil {
			return "", err
		}
	}
	return checksum, nil
}

// Checksum returns the checksum of the staged release.
func (f *Folder) Checksum() string {
	return f.checksum
}

// hashed returns a writer function that passes content through and stores its hash.
func hashed(hash *string, content func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		sum := sha256.New()
		err := content(io.MultiWriter(w, sum))
		*hash = hex.EncodeToString(sum.Sum(nil))
		return err
	}
}

// oldPrefix starts the name of a folder that was moved aside.
const oldPrefix = "old-"

// errNoExchange is returned on systems that cannot exchange two folders in one step.
var errNoExchange = errors.New("no exchange")

// place puts the new folders in place, and moves the old ones into the temporary folder, which Close removes. The
// release comes last, so that a release in place implies that everything is. If the system supports it, old and new
// are exchanged in one step, and there is a release at every moment. Otherwise the old one is moved aside first. On
// failure, the earlier steps are undone.
func (f *Folder) place() error {
	var undo []func() error
	for _, name := range []string{CuratorDir, ReleaseDir} {
		fresh := filepath.Join(f.stage, name)
		final := filepath.Join(f.dir, name)
		back, err := f.moveIn(fresh, final)
		if err != nil {
			for _, u := range slices.Backward(undo) {
				err = errors.Join(err, u())
			}
			return err
		}
		undo = append(undo, back)
	}
	return nil
}

// moveIn moves fresh to final and returns a function that undoes the move.
func (f *Folder) moveIn(fresh, final string) (undo func() error, err error) {
	name := filepath.Base(final)
	_, err = os.Lstat(final)
	if err != nil || !f.force {
		return func() error {
				return os.Rename(final, fresh)
			},
			f.move("rename to "+name, func() error {
				return os.Rename(fresh, final)
			})
	}
	err = f.move("exchange with "+name, func() error {
		return f.exchange(fresh, final)
	})
	if err == nil || !errors.Is(err, errNoExchange) {
		return func() error {
			return f.exchange(final, fresh)
		}, err
	}
	old := filepath.Join(f.stage, oldPrefix+name)
	if err := f.move("rename to "+oldPrefix+name, func() error {
		return os.Rename(final, old)
	}); err != nil {
		return nil, err
	}
	err = f.move("rename to "+name, func() error {
		return os.Rename(fresh, final)
	})
	if err != nil {
		return nil, errors.Join(err, os.Rename(old, final))
	}
	return func() error {
		return errors.Join(os.Rename(final, fresh), os.Rename(old, final))
	}, nil
}

// exchange calls the function exchange, except in tests that simulate systems without it.
func (f *Folder) exchange(a, b string) error {
	if f.noExchange {
		return errNoExchange
	}
	return exchange(a, b)
}

// move carries out one step of place.
func (f *Folder) move(name string, do func() error) error {
	if f.step != nil {
		if err := f.step(name); err != nil {
			return err
		}
	}
	return do()
}
