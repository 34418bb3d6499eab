//go:build !linux

package terminal

// StdoutClosed reports whether standard output was closed before the process began. It cannot be told on this system.
func StdoutClosed() bool { return false }
