//go:build !unix

package serve

import "math"

// openFiles returns the limit on open files of the process. On this platform there is no separate limit.
func openFiles() int {
	return math.MaxInt32
}
