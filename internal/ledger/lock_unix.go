//go:build !windows && !plan9 && !solaris && !aix && !android

package ledger

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes the same operating-system lock as the store, on the same open file, so that the file that is checked
// is the file that is opened. It returns errLocked if another process holds the lock.
func lockFile(f *os.File, exclusive bool) error {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
