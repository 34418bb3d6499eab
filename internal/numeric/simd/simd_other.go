//go:build !amd64 || purego

package simd

func pickMasked([]float64, []float64, []byte) int {
	return 0
}

func binMagnitudes([]uint16, []float64) int {
	return 0
}

func equalBins([]uint16, []float64, float64, float64, float64) int {
	return 0
}

func (Grid) roundToGrid([]int16, []float64) int {
	return 0
}

func scaleRows([]int16, []int32) int {
	return 0
}

func decodeDoubles([]float64, []byte) int {
	return 0
}

func (Decimals) packDecimals([]byte, []byte, []float64) int {
	return 0
}

func (Decimals) unpackDecimals([]float64, []byte) int {
	return 0
}
