//go:build !windows && !plan9 && !solaris && !aix && !android

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Try takes the lock of an open file or folder. It is false if another process
// has it, or this one has it through another open file.
func Try(f *os.File) bool {
	return !errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
