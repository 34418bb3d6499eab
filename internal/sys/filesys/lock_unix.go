//go:build !windows && !plan9 && !solaris && !aix && !android

package filesys

import (
	"errors"
	"os"
	"syscall"
)

// Lock locks an open file or folder until it is closed or the process ends. got is false, and busy is true, if another
// process, or this one through another open file, holds the lock. Both are false on file systems without locks.
func Lock(f *os.File) (got, busy bool) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	return err == nil, errors.Is(err, syscall.EWOULDBLOCK)
}
