//go:build !windows && !plan9 && !solaris && !aix && !android

package report

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the lock of an open folder. It is false if another process has
// it. The lock ends with the process, however that ends. A file system without
// locks has none to wait for.
func tryLock(dir *os.File) bool {
	return !errors.Is(syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
