package report

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps two folders atomically, so that results exist at any time. It returns errNoExchange on file systems
// that do not support this.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return errNoExchange
	}
	return err
}
