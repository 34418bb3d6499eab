// Package tempdir makes temporary folders beside results, and clears away those of
// processes that were killed.
//
// A folder is locked by the operating system as long as the process lives that made
// it, however it ends. So a later process can tell a folder that is in use from one
// that is left over: it takes the lock, or cannot. Where there are no locks, nothing is
// ever cleared away. The order is safe without a lock on the parent: who makes a folder
// takes its lock and then looks whether the folder is still there under its name; who
// clears one away takes its lock first.
//
// Only folders whose names are a prefix and a number, as [Make] writes them, and which
// nobody but their owner may enter are looked at. Symbolic links are not followed, and
// what the caller does not name as its own stays, and its folder with it.
package tempdir

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dptrain/dptrain/internal/sys/filelock"
)

// A Dir is a temporary folder of this process.
type Dir struct {
	Path string
	lock *os.File
}

// attempts is how often Make begins again after somebody cleared its folder away
// before it was locked.
const attempts = 100

// Make makes a folder in parent. Its name is prefix and a number.
func Make(parent, prefix string) (*Dir, error) {
	for range attempts {
		path, err := os.MkdirTemp(parent, prefix)
		if err != nil {
			return nil, err
		}
		lock, err := os.Open(path)
		if err != nil {
			if os.IsNotExist(err) {
				continue
			}
			os.Remove(path)
			return nil, err
		}
		got, busy := filelock.Lock(lock)
		there := same(lock, func() (fs.FileInfo, error) { return os.Lstat(path) })
		if got && there {
			return &Dir{path, lock}, nil
		}
		lock.Close()
		if !got && !busy { // there are no locks, so nobody clears it away
			return &Dir{Path: path}, nil
		}
	}
	return nil, &fs.PathError{Op: "mkdir", Path: filepath.Join(parent, prefix), Err: fs.ErrExist}
}

// Close removes the folder with all that is in it.
func (d *Dir) Close() error {
	err := os.RemoveAll(d.Path)
	if d.lock != nil {
		d.lock.Close()
	}
	return err
}

// same reports whether an open file is what a name stands for.
func same(f *os.File, named func() (fs.FileInfo, error)) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	info, err := named()
	return err == nil && os.SameFile(open, info)
}

// Sweep calls empty for each folder in parent that Make made with this prefix in a
// process that has ended, and then removes the folder if nothing is left. empty gets the
// parent, the folder, and its name in the parent; it reaches nothing outside of them.
// What cannot be looked at or removed stays.
func Sweep(parent, prefix string, empty func(home, dead *os.Root, name string)) {
	home, err := os.OpenRoot(parent)
	if err != nil {
		return
	}
	defer home.Close()
	entries, err := fs.ReadDir(home.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() && Made(e.Name(), prefix) {
			sweep(home, e.Name(), empty)
		}
	}
}

func sweep(home *os.Root, name string, empty func(home, dead *os.Root, name string)) {
	dead, err := home.OpenRoot(name)
	if err != nil {
		return
	}
	defer dead.Close()
	lock, err := dead.Open(".")
	if err != nil {
		return
	}
	defer lock.Close()
	info, err := home.Lstat(name)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !same(lock, func() (fs.FileInfo, error) { return info, nil }) {
		return
	}
	if got, _ := filelock.Lock(lock); got {
		empty(home, dead, name)
		_ = home.Remove(name) // fails where something is left
	}
}

// Made reports whether a name is a prefix and a number.
func Made(name, prefix string) bool {
	number, ok := strings.CutPrefix(name, prefix)
	return ok && number != "" && len(number) <= 20 && strings.Trim(number, "0123456789") == ""
}
