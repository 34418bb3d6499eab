//go:build !linux

package ram

// Physical returns 0: this system does not report its memory.
func Physical() uint64 {
	return 0
}
