//go:build !unix && !windows

package main

import "os"

// keepStderr returns standard error as it is: this system has no way to keep the Go
// runtime from it.
func keepStderr() (*os.File, error) { return os.Stderr, nil }
