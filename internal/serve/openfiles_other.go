//go:build !unix

package serve

import "math"

// openFiles returns how many files the process may have open: here there is no limit of its own.
func openFiles() int { return math.MaxInt32 }
