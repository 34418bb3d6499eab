package ram

import "golang.org/x/sys/unix"

// Physical returns the bytes of memory of the machine, or 0 if the system does not report them.
func Physical() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return uint64(info.Totalram) * uint64(info.Unit) //nolint:unconvert // narrower on some processors
}
