//go:build !windows && !plan9 && !solaris && !aix && !android

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Lock takes the lock of an open file or folder, until it is closed or the process
// ends. got is false where somebody else has it, another process or this one
// through another open file, and then busy is true; and on file systems that have no
// locks.
func Lock(f *os.File) (got, busy bool) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	return err == nil, errors.Is(err, syscall.EWOULDBLOCK)
}
