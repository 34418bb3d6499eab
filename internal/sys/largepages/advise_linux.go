package largepages

import "golang.org/x/sys/unix"

// advise asks for large pages. Where there are none, small ones do.
func advise(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
