package kendall

import "math"

// floatKey maps a float64 to a uint64 such that keys are ordered as values
// are: -0 and +0 have one key, and every NaN has key 0, below that of -Inf.
func floatKey(v float64) uint64 {
	if math.IsNaN(v) {
		return 0
	}
	b := math.Float64bits(v + 0) // -0 + 0 is +0
	return b ^ (uint64(int64(b)>>63) | 1<<63)
}

// codeKey maps an int32 to a uint64 of the same order.
func codeKey(c int32) uint64 {
	return uint64(int64(c) - math.MinInt32)
}
