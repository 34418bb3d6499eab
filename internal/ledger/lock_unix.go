//go:build !windows && !plan9 && !solaris && !aix && !android

package ledger

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the lock of the operating system that the store takes too, on the
// same open file, so that what is checked is what is opened. errLocked if
// somebody else has it.
func lock(f *os.File, exclusive bool) error {
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
