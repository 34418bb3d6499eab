package filesys

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A TempDir is a temporary folder of this process.
type TempDir struct {
	Path string
	lock *os.File
}

// attempts limits the retries of MakeTempDir after another process has removed the folder before it was locked.
const attempts = 100

// MakeTempDir creates a folder in parent whose name is prefix and a number.
func MakeTempDir(parent, prefix string) (*TempDir, error) {
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
		got, busy := Lock(lock)
		there := isSameFile(lock, func() (fs.FileInfo, error) {
			return os.Lstat(path)
		})
		if got && there {
			return &TempDir{path, lock}, nil
		}
		lock.Close()
		if !got && !busy { // without locks no other process removes it
			return &TempDir{Path: path}, nil
		}
	}
	return nil, &fs.PathError{
		Op:   "mkdir",
		Path: filepath.Join(parent, prefix),
		Err:  fs.ErrExist,
	}
}

// Close removes the folder and its contents.
func (d *TempDir) Close() error {
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

// RemoveStale calls empty for each folder in parent that MakeTempDir created with this prefix in a process that has ended,
// and then removes the folder if it is empty. empty gets the parent, the folder, and its name in the parent, and has
// no access outside of them. Folders that cannot be inspected or removed stay.
func RemoveStale(
	parent, prefix string,
	empty func(home, dead *os.Root, name string),
) {
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

func removeStale(
	home *os.Root,
	name string,
	empty func(home, dead *os.Root, name string),
) {
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
	if got, _ := Lock(lock); got {
		empty(home, dead, name)
		_ = home.Remove(name) // fails if the folder is not empty
	}
}

// IsTempName reports whether name is prefix followed by a number.
func IsTempName(name, prefix string) bool {
	number, ok := strings.CutPrefix(name, prefix)
	return ok && number != "" && len(number) <= 20 && strings.Trim(number, "0123456789") == ""
}
