//go:build !linux

package memlimit

// Physical returns how many bytes of memory the machine has; 0 if the system does not tell.
func Physical() uint64 { return 0 }
