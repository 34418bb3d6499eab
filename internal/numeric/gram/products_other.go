//go:build !amd64 || purego

package gram

// addGroups does nothing: there is no assembly for this build.
func addGroups([]float64, [][]int16, []float64) bool { return false }

// normGroups does nothing: there is no assembly for this build.
func normGroups([]uint64, [][]int16) (done, within bool) { return false, false }
