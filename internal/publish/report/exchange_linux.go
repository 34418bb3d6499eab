package report

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange exchanges two folders in one step, so that there are results at every moment. It returns errNoExchange on
// file systems without this operation.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return errNoExchange
	}
	return err
}
