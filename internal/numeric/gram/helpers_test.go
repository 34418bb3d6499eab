package gram

import "math/rand/v2"

type namedTile struct {
	name string
	tile tileFunc
}

// allTiles returns the portable tile and those in assembly.
func allTiles() []namedTile {
	return append([]namedTile{{"portable", tileGo}}, assemblyTiles()...)
}

// naiveGram implements the definition without blocking or packing.
func naiveGram(dst []int64, x [][]int16) {
	k := 0
	for i := range x {
		for j := i; j < len(x); j++ {
			for r := range x[i] {
				dst[k] += int64(x[i][r]) * int64(x[j][r])
			}
			k++
		}
	}
}

func fillColumns(n, p int, value func(r, c int) int16) [][]int16 {
	x := make([][]int16, p)
	for c := range x {
		x[c] = make([]int16, n)
		for r := range x[c] {
			x[c][r] = value(r, c)
		}
	}
	return x
}

func uniformColumns(rng *rand.Rand, n, p int) [][]int16 {
	return fillColumns(n, p, func(_, _ int) int16 {
		return int16(rng.IntN(2*MaxAbs+1) - MaxAbs)
	})
}

// extremeColumns draws only from the corners of the range, where sums of pairs overflow first.
func extremeColumns(rng *rand.Rand, n, p int) [][]int16 {
	return fillColumns(n, p, func(_, _ int) int16 {
		return int16((2*rng.IntN(2) - 1) * MaxAbs)
	})
}

// rowsOf returns rows [from, to) of x without copying them.
func rowsOf(x [][]int16, from, to int) [][]int16 {
	y := make([][]int16, len(x))
	for c := range x {
		y[c] = x[c][from:to]
	}
	return y
}
