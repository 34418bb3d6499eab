package report

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange lets two folders change places in one step, so that there is no moment
// without results. errNoExchange on file systems that cannot.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return errNoExchange
	}
	return err
}
