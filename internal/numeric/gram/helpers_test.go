package gram

import "math/rand/v2"

type namedTile struct {
	name string
	tile tileFunc
}

// kernels returns the portable tile and those in assembly.
func kernels() []namedTile {
	return append([]namedTile{{"portable", tileGo}}, assembled()...)
}

// naive implements the definition without blocking or packing.
func naive(dst []int64, x [][]int16) {
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

func fill(n, p int, value func(r, c int) int16) [][]int16 {
	x := make([][]int16, p)
	for c := range x {
		x[c] = make([]int16, n)
		for r := range x[c] {
			x[c][r] = value(r, c)
		}
	}
	return x
}

func uniform(rng *rand.Rand, n, p int) [][]int16 {
	return fill(n, p, func(_, _ int) int16 { return int16(rng.IntN(2*MaxAbs+1) - MaxAbs) })
}

// extremes draws only from the corners of the range, where sums of pairs overflow first.
func extremes(rng *rand.Rand, n, p int) [][]int16 {
	return fill(n, p, func(_, _ int) int16 { return int16((2*rng.IntN(2) - 1) * MaxAbs) })
}

// rowsOf returns rows [from, to) of x without copying them.
func rowsOf(x [][]int16, from, to int) [][]int16 {
	y := make([][]int16, len(x))
	for c := range x {
		y[c] = x[c][from:to]
	}
	return y
}
