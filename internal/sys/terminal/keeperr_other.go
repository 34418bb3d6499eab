//go:build !unix && !windows

package terminal

import "os"

// KeepStderr returns standard error unchanged: this system offers no way to keep the Go runtime from writing to it.
func KeepStderr() (*os.File, error) {
	return os.Stderr, nil
}
