package ram

import "golang.org/x/sys/unix"

// advise asks for large pages; failure is harmless.
func advise(b []byte) {
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
}
