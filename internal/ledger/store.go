package ledger

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/sys/filesys"
)

// errLocked: another process holds the lock.
var errLocked = errors.New("locked")

// retryInterval is the time between two attempts to lock the file.
const retryInterval = 10 * time.Millisecond

// The names in the store: a bucket of entries by sequence, and one with a single key, the hash of the last entry.
func entriesBucket() []byte {
	return []byte("entries")
}
func headBucket() []byte {
	return []byte("head")
}
func headKey() []byte {
	return []byte("head")
}

func entryKey(sequence int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(sequence))
}

// unreadableError keeps the cause of a system error and drops the path, which FileError adds.
func unreadableError(err error) error {
	return fmt.Errorf("%w: %w", ErrUnreadable, fault.Cause(err))
}
func unwritableError(err error) error {
	return fmt.Errorf("%w: %w", ErrUnwritable, fault.Cause(err))
}

// store is an open and locked file.
type store struct {
	db   *bolt.DB
	file *os.File // the same, open as long as db is
	info fs.FileInfo
}

// openStore opens the file and takes its lock, waiting at most for the given time; a negative wait lasts until the
// context ends. Under the lock it checks the pages on the given paths, or all pages if paths is nil.
func (l *Ledger) openStore(
	ctx context.Context,
	write bool,
	paths keyPaths,
	wait time.Duration,
) (*store, error) {
	deadline := time.Now().Add(wait)
	for waited := false; ; waited = true {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, err := l.tryOpen(write, paths)
		if err == nil || !errors.Is(err, errLocked) {
			return s, err
		}
		if wait >= 0 && !time.Now().Before(deadline) {
			return nil, fmt.Errorf("still %w after %v; try again later", ErrBusy, wait)
		}
		if !waited && l.options.Waiting != nil {
			l.options.Waiting()
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryInterval):
		}
	}
}

// tryOpen opens the file if its lock is free. It follows no symbolic link at the end of the path, creates no file, and
// modifies no damaged file.
func (l *Ledger) tryOpen(write bool, paths keyPaths) (*store, error) {
	info, err := os.Lstat(l.path)
	switch {
	case err != nil:
		return nil, unreadableError(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%w: it is a symbolic link; name its target", ErrFormat)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: it is not a regular file", ErrFormat)
	}
	var refused error
	var f *os.File
	openFile := func(path string, flag int, _ os.FileMode) (*os.File, error) {
		if f, refused = openLocked(path, flag, info, write, paths); refused != nil {
			return nil, refused
		}
		return f, nil
	}
	db, err := bolt.Open(
		l.path,
		0o600,
		&bolt.Options{
			ReadOnly: !write,
			Timeout:  1,
			PageSize: pageSize,
			OpenFile: openFile,
		},
	)
	switch {
	case refused != nil:
		return nil, refused
	case errors.Is(err, berrors.ErrTimeout):
		return nil, errLocked
	case err != nil:
		return nil, unreadableError(err)
	}
	return &store{db, f, info}, l.runHook("opened")
}

// IsLedger reports whether the file at path starts like a ledger's store, whatever its content. It returns false for a
// file that cannot be read.
func IsLedger(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [20]byte // the head of the first page, and the magic number
	_, err = io.ReadFull(f, head[:])
	return err == nil &&
		(binary.LittleEndian.Uint32(head[16:]) == boltMagic ||
			binary.BigEndian.Uint32(head[16:]) == boltMagic)
}

func openLocked(
	path string,
	flag int,
	info fs.FileInfo,
	write bool,
	paths keyPaths,
) (*os.File, error) {
	f, err := os.OpenFile(path, flag&^os.O_CREATE, 0)
	if err != nil && write {
		return nil, unwritableError(err)
	}
	if err != nil {
		return nil, unreadableError(err)
	}
	refuse := func(err error) (*os.File, error) {
		f.Close()
		return nil, err
	}
	if opened, err := f.Stat(); err != nil || !os.SameFile(opened, info) {
		return refuse(fmt.Errorf("%w: it was replaced while it was being opened", ErrFormat))
	}
	if err := lockFile(f, write); err != nil {
		return refuse(err)
	}
	check := checkPages
	if paths != nil {
		check = func(f *os.File) error {
			return checkPaths(f, paths)
		}
	}
	if err := check(f); err != nil {
		return refuse(err)
	}
	return f, nil
}

// loadBook returns the running sums of the store. If they are not those of the last entry, it checks and sums up the
// whole store.
func (s *store) loadBook(tx *bolt.Tx) (*Book, error) {
	if b := storedSums(tx); b != nil {
		return b, nil
	}
	if err := checkPages(s.file); err != nil {
		return nil, err
	}
	return readAll(tx)
}

// readAll reads all entries. The caller must have checked the pages.
func readAll(tx *bolt.Tx) (*Book, error) {
	raw, head, err := readEntries(tx)
	if err != nil {
		return nil, err
	}
	return readBook(raw, head)
}

// readEntries returns copies of the entries and the head.
func readEntries(tx *bolt.Tx) (raw [][]byte, head string, err error) {
	list := tx.Bucket(entriesBucket())
	top := tx.Bucket(headBucket())
	if list == nil || top == nil {
		return nil, "", fmt.Errorf("%w: it contains other data", ErrFormat)
	}
	err = list.ForEach(func(key, value []byte) error {
		if value == nil || !bytes.Equal(key, entryKey(int64(len(raw)+1))) {
			return damagedError(len(raw)+1, "it is not there, or under another number")
		}
		raw = append(raw, bytes.Clone(value))
		return nil
	})
	return raw, string(top.Get(headKey())), err
}

// putEntry appends an entry to the store.
func putEntry(tx *bolt.Tx, sequence int64, data []byte) error {
	list, err := tx.CreateBucketIfNotExists(entriesBucket())
	if err != nil {
		return err
	}
	top, err := tx.CreateBucketIfNotExists(headBucket())
	if err != nil {
		return err
	}
	list.FillPercent = 1 // keys only grow
	if err := list.Put(entryKey(sequence), data); err != nil {
		return err
	}
	return top.Put(headKey(), []byte(hashOf(data)))
}

// The draft of a new ledger is a file called draftName in a separate folder.
const (
	draftPrefix = ".dptrain-ledger-"
	draftName   = "ledger"
)

// removeDrafts removes the drafts of killed processes.
func (l *Ledger) removeDrafts() {
	filesys.RemoveStale(filepath.Dir(l.path), draftPrefix, func(_, dead *os.Root, _ string) {
		_ = dead.Remove(draftName)
	})
}

// createFile makes a new ledger with the given entries. It appears under its name complete or not at all. If the name
// exists, the error wraps fs.ErrExist.
func (l *Ledger) createFile(list []*Entry) (head Head, err error) {
	dir := filepath.Dir(l.path)
	temp, err := filesys.MakeTempDir(dir, draftPrefix)
	if err != nil {
		return Head{}, unwritableError(err)
	}
	defer temp.Close()
	temporary := filepath.Join(temp.Path, draftName)
	db, err := bolt.Open(temporary, 0o600, &bolt.Options{PageSize: pageSize})
	if err != nil {
		return Head{}, unwritableError(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, e := range list {
			data, err := e.Encode()
			if err != nil {
				return err
			}
			if err := putEntry(tx, e.Sequence, data); err != nil {
				return err
			}
			head = Head{e.Sequence, hashOf(data)}
		}
		return nil
	})
	if err = errors.Join(err, db.Close()); err != nil {
		return Head{}, unwritableError(err)
	}
	if err := l.runHook("written"); err != nil {
		return Head{}, err
	}
	if err := os.Link(temporary, l.path); err != nil {
		return Head{}, unwritableError(err)
	}
	syncDir(dir)
	return head, l.runHook("linked")
}

// syncDir flushes a folder to disk, where the system supports it.
func syncDir(path string) {
	if d, err := os.Open(path); err == nil {
		_ = d.Sync()
		d.Close()
	}
}
