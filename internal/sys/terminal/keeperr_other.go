//go:build !unix && !windows

package terminal

import "os"

// KeepStderr returns standard error as it is: this system has no way to keep the Go
// runtime from it.
func KeepStderr() (*os.File, error) { return os.Stderr, nil }
