//go:build !purego

package simd

import "testing"

// eachWidth runs a test with 256-bit registers and, if the processor has them, with 512-bit registers.
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
