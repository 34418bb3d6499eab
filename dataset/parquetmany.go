package dataset

import (
	"encoding/binary"
	"math"

	"github.com/dptrain/dptrain/internal/numeric/simd"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
	"github.com/dptrain/dptrain/internal/tablefile/parquetfile"
)

// numbersOf returns a function that converts consecutive numbers of a page to cells, as the number function of
// a converter does for each. A cell without a value is missing.
type numbersOf func(
	missing float64,
) func(dst []float64, data []byte, tally *[parquetfile.Classes]int)

// someDoubles is the number of values that are checked individually after a non-finite value.
const someDoubles = 8

func manyDoubles(missing float64) func([]float64, []byte, *[parquetfile.Classes]int) {
	return func(dst []float64, data []byte, tally *[parquetfile.Classes]int) {
		for len(dst) > 0 {
			done := simd.Doubles(dst, data)
			tally[good] += done
			dst = dst[done:]
			data = data[8*done:]
			n := min(len(dst), someDoubles)
			for k := range dst[:n] {
				x := math.Float64frombits(binary.LittleEndian.Uint64(data))
				data = data[8:]
				what := classOf(x)
				if tally[what]++; what != good {
					x = missing
				}
				dst[k] = x
			}
			dst = dst[n:]
		}
	}
}

func manyFloats(missing float64) func([]float64, []byte, *[parquetfile.Classes]int) {
	return func(dst []float64, data []byte, tally *[parquetfile.Classes]int) {
		for k := range dst {
			x := float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))
			data = data[4:]
			what := classOf(x)
			if tally[what]++; what != good {
				x = missing
			}
			dst[k] = x
		}
	}
}

// classOf returns the class of a number stored as a number.
func classOf(x float64) class {
	_, what := cell.Classify(x)
	return what
}

func manyIntegers(float64) func([]float64, []byte, *[parquetfile.Classes]int) {
	return func(dst []float64, data []byte, tally *[parquetfile.Classes]int) {
		for k := range dst {
			dst[k] = float64(int32(binary.LittleEndian.Uint32(data)))
			data = data[4:]
		}
		tally[good] += len(dst)
	}
}

func manyLongs(float64) func([]float64, []byte, *[parquetfile.Classes]int) {
	return func(dst []float64, data []byte, tally *[parquetfile.Classes]int) {
		for k := range dst {
			dst[k] = float64(int64(binary.LittleEndian.Uint64(data)))
			data = data[8:]
		}
		tally[good] += len(dst)
	}
}
