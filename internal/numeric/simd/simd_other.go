//go:build !amd64 || purego

package simd

func pick([]float64, []float64, []byte) int { return 0 }

func magnitudes([]uint16, []float64) int { return 0 }

func equalBins([]uint16, []float64, float64, float64, float64) int { return 0 }

func (Grid) fixed([]int16, []float64) int { return 0 }

func shorten([]int16, []int32) int { return 0 }

func doubles([]float64, []byte) int { return 0 }

func (Decimals) pack([]byte, []byte, []float64) int { return 0 }

func (Decimals) unpack([]float64, []byte) int { return 0 }
