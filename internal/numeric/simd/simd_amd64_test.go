//go:build !purego

package simd

import "testing"

// eachWidth runs a test with registers of 256 bits and, where this processor has them, of 512.
func eachWidth(t *testing.T, test func(*testing.T)) {
	t.Helper()
	before := wide
	defer func() { wide = before }()
	wide = false
	t.Run("256", test)
	if wide = before; wide {
		t.Run("512", test)
	}
}
