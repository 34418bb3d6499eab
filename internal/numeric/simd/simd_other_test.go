//go:build !amd64 || purego

package simd

import "testing"

func wholeGroups(int) int {
	return 0
}

func eachWidth(t *testing.T, test func(*testing.T)) {
	test(t)
}
