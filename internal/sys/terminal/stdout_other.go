//go:build !linux

package terminal

// StdoutClosed returns false: this system cannot report whether standard output was closed before the process started.
func StdoutClosed() bool {
	return false
}
