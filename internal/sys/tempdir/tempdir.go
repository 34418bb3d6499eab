// Package tempdir creates temporary folders next to results, and removes those of processes that were killed.
//
// The operating system keeps a folder locked as long as the process that made it lives, however the process ends. A
// later process can thus distinguish a folder in use from a stale one: it takes the lock, or cannot. Where there are
// no locks, folders are never removed. The order is safe without a lock on the parent: a process that makes a folder
// takes its lock and then checks that the folder still exists under its name; a process that removes one takes its
// lock first.
//
// Only folders whose names are a prefix and a number, as [Make] writes them, and which only their owner may enter are
// considered. Symbolic links are not followed. Files that the caller does not remove stay, and so does their folder.
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

// attempts limits the retries of Make after another process has removed the folder before it was locked.
const attempts = 100

// Make creates a folder in parent whose name is prefix and a number.
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
		there := isSameFile(lock, func() (fs.FileInfo, error) { return os.Lstat(path) })
		if got && there {
			return &Dir{path, lock}, nil
		}
		lock.Close()
		if !got && !busy { // without locks no other process removes it
			return &Dir{Path: path}, nil
		}
	}
	return nil, &fs.PathError{Op: "mkdir", Path: filepath.Join(parent, prefix), Err: fs.ErrExist}
}

// Close removes the folder and its contents.
func (d *Dir) Close() error {
	err := os.RemoveAll(d.Path)
	if d.lock != nil {
		d.lock.Close()
	}
	return err
}

// isSameFile reports whether f and the file that stat describes are the same file.
func isSameFile(f *os.File, stat func() (fs.FileInfo, error)) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	info, err := stat()
	return err == nil && os.SameFile(open, info)
}

// RemoveStale calls empty for each folder in parent that Make created with this prefix in a process that has ended,
// and then removes the folder if it is empty. empty gets the parent, the folder, and its name in the parent, and has
// no access outside of them. Folders that cannot be inspected or removed stay.
func RemoveStale(parent, prefix string, empty func(home, dead *os.Root, name string)) {
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
		if e.IsDir() && IsTempName(e.Name(), prefix) {
			removeStale(home, e.Name(), empty)
		}
	}
}

func removeStale(home *os.Root, name string, empty func(home, dead *os.Root, name string)) {
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
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 ||
		!isSameFile(lock, func() (fs.FileInfo, error) {
			return info, nil
		}) {
		return
	}
	if got, _ := filelock.Lock(lock); got {
		empty(home, dead, name)
		_ = home.Remove(name) // fails if the folder is not empty
	}
}

// IsTempName reports whether name is prefix followed by a number.
func IsTempName(name, prefix string) bool {
	number, ok := strings.CutPrefix(name, prefix)
	return ok && number != "" && len(number) <= 20 && strings.Trim(number, "0123456789") == ""
}
