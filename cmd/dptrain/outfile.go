package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/sys/filesys"
)

// draftPrefix is the prefix of the names of temporary folders for output files.
const draftPrefix = ".dptrain-out-"

// writeOutput writes a file that appears only when it is complete. An existing file is replaced only with force, and
// keeps its mode. Devices and pipes are written directly; a symbolic link is followed only to these.
func writeOutput(
	ctx context.Context,
	path string,
	force bool,
	write func(io.Writer) error,
) error {
	mode := fs.FileMode(0o666)
	exists := true
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if info, err = os.Stat(path); err != nil || info.Mode().IsRegular() || info.IsDir() {
			return usagef("%s is a link; name its target instead", path)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		exists = false
	case err != nil:
		return unwritable(path, err)
	case info.IsDir():
		return usagef("%s is a folder; name a file", path)
	case !info.Mode().IsRegular():
		return writeDevice(ctx, path, write)
	case !force:
		return usagef("%s already exists; choose another name, or overwrite it with --force", path)
	case ledger.IsLedger(path):
		return usagef("%s is a ledger and must not be overwritten; choose another name", path)
	default:
		mode = info.Mode().Perm()
	}
	return replace(path, mode, exists, write)
}

// replace writes a draft and renames it to path, with the mode of an existing file. It removes drafts of the same
// file that killed processes left behind.
func replace(
	path string,
	mode fs.FileMode,
	exists bool,
	write func(io.Writer) error,
) error {
	filesys.RemoveStale(filepath.Dir(path), draftPrefix, func(_, dead *os.Root, _ string) {
		_ = dead.Remove(filepath.Base(path))
	})
	dir, err := filesys.MakeTempDir(filepath.Dir(path), draftPrefix)
	if err != nil {
		return unwritable(path, err)
	}
	defer dir.Close()
	draft := filepath.Join(dir.Path, filepath.Base(path))
	f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return unwritable(path, err)
	}
	if exists {
		err = f.Chmod(mode) // regardless of the umask
	}
	if err := errors.Join(err, write(f), f.Sync(), f.Close()); err != nil {
		return unwritable(path, err)
	}
	if _, err := os.Lstat(path); err == nil && !exists {
		return usagef("%s was created in the meantime; choose another name, or overwrite it with --force", path)
	}
	if err := os.Rename(draft, path); err != nil {
		return unwritable(path, err)
	}
	return nil
}

// writeDevice writes to a device or a pipe. It waits until a pipe has a reader or ctx ends.
func writeDevice(
	ctx context.Context,
	path string,
	write func(io.Writer) error,
) error {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		done <- opened{f, err}
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case o := <-done:
		if o.err != nil {
			return unwritable(path, o.err)
		}
		if err := errors.Join(write(o.f), o.f.Close()); err != nil {
			return unwritable(path, err)
		}
		return nil
	}
}

// unwritable classifies the error of writing a file: system errors are usage errors, other errors are returned
// unchanged.
func unwritable(path string, err error) error {
	if why := fault.Cause(err); why != err {
		return usagef("%s cannot be written: %w", path, why)
	}
	return err
}
