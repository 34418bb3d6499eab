//go:build !amd64 || purego

package gram

// addGroups processes no group: this build has no assembly.
func addGroups([]float64, [][]int16, []float64) bool {
	return false
}

// normGroups processes no group: this build has no assembly.
func normGroups([]uint64, [][]int16) (done, within bool) {
	return false, false
}
