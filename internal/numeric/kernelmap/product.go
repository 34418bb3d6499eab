package kernelmap

import "math"

// A tile is the products of tileRows rows with tileCols columns.
const (
	tileRows = 4
	tileCols = 16
)

// Numbers of some records are held in panels of tileCols records: the first two numbers of each record side by
// side, then the next two, and so on.

// inPanel is where number k of record r is in a panel.
func inPanel(k, r int) int {
	return (k/2*tileCols+r)*2 + k%2
}

// factors holds the rows of the matrix by which panels are multiplied.
type factors struct {
	rows  int // including padding; a multiple of tileRows
	steps int // pairs of numbers in a row
	data  []int16
}

func newFactors(rows, numbers int, at func(i, k int) int16) factors {
	f := factors{
		rows:  (rows + tileRows - 1) / tileRows * tileRows,
		steps: (numbers + 1) / 2,
	}
	f.data = make([]int16, f.rows*2*f.steps)
	for i := range rows {
		for k := range numbers {
			f.data[i*2*f.steps+k] = at(i, k)
		}
	}
	return f
}

// panelSize is the length of a panel that can be multiplied.
func (f factors) panelSize() int {
	return 2 * f.steps * tileCols
}

// A tileFunc sets dst[r*stride+j], for tileRows rows r and tileCols columns j, to the sum over k
// of a[r*lda+k] b[k][j] modulo 2^32; lda is even, 2*steps numbers of a row are read, and b is a
// panel whose record j has the numbers b[k][j].
type tileFunc func(dst []int32, stride int, a []int16, lda int, b []int16, steps int)

// A kernelFunc sets dst, a panel, to the kernel of its records and some landmarks, of an even number: at
// the squared distance marks[i] + norms[j] - 2 dots[i*tileCols+j], modulo 2^32, of landmark i and record j.
type kernelFunc func(dst []int16, dots []int32, marks []uint32, norms *[tileCols]uint32)

// A stretchFunc sets dst[i][from+j], for tileCols records j, to the features of q, on the grid: q, where q_i is
// sums[i*tileCols+j] times scales[i], times what stretches it to length 1. All operations are those of IEEE 754
// in the order of the features, without fusing: the same on every machine.
type stretchFunc func(dst [][]int16, from int, sums []int32, scales []float64)

// full is the length of a feature vector of length 1, less what floats may be off by.
const full = (1 << FeatureBits) * (1 - 0x1p-30)

// multiplyTiles sets dst, a row of tileCols numbers for each row of a, to the products of a with the records of a panel,
// modulo 2^32.
func (c *compiledMap) multiplyTiles(dst []int32, a factors, panel []int16) {
	if a.steps == 0 {
		clear(dst)
		return
	}
	lda := 2 * a.steps
	for i := 0; i < a.rows; i += tileRows {
		c.tile(dst[i*tileCols:], tileCols, a.data[i*lda:], lda, panel, a.steps)
	}
}

// tileGo is the portable tileFunc.
func tileGo(dst []int32, stride int, a []int16, lda int, b []int16, steps int) {
	for r := range tileRows {
		var sums [tileCols]int32
		row := a[r*lda:][:2*steps]
		for k := 0; k < len(row); k += 2 {
			x, y := int32(row[k]), int32(row[k+1])
			pairs := b[k*tileCols:][:2*tileCols]
			for j := range sums {
				sums[j] += x*int32(pairs[2*j]) + y*int32(pairs[2*j+1])
			}
		}
		copy(dst[r*stride:][:tileCols], sums[:])
	}
}

// The kernel is 2^-(d/2^16) for a squared distance d, in units of 2^-14 and a little less than
// that: for d = 2^16 n + f it is 2^-n (1 - c1 f + c2 f^2 - c3 f^3), cut to the grid. The
// polynomial is off by less than 2^-13, and so is the kernel by less than 2^-12.
const kernelC1, kernelC2, kernelC3 = 45340, 15200, 2632

// kernelAt returns the kernel at a squared distance.
func kernelAt(d uint32) int16 {
	f := d & 0xffff
	p := 0xffff - f*(kernelC1-f*(kernelC2-f*kernelC3>>16)>>16)>>16
	return int16(p >> (d >> 16) >> 2)
}

// kernelGo is the portable kernelFunc.
func kernelGo(
	dst []int16,
	dots []int32,
	marks []uint32,
	norms *[tileCols]uint32,
) {
	for i, mark := range marks {
		to := dst[inPanel(i, 0):]
		for j, dot := range dots[i*tileCols:][:tileCols] {
			to[2*j] = kernelAt(mark + norms[j] - 2*uint32(dot))
		}
	}
}

// stretchGo is the portable stretchFunc. Some records are taken together because each is a chain of additions.
func stretchGo(dst [][]int16, from int, sums []int32, scales []float64) {
	const some = 4
	for j := 0; j < tileCols; j += some {
		var square, by [some]float64
		for i, scale := range scales {
			q := (*[some]int32)(sums[i*tileCols+j:])
			a, b := float64(q[0])*scale, float64(q[1])*scale // exact: the scale is a power of two
			x := float64(q[2]) * scale
			y := float64(q[3]) * scale
			square[0] += float64(a * a) // the conversion forbids fusing
			square[1] += float64(b * b)
			square[2] += float64(x * x)
			square[3] += float64(y * y)
		}
		for k, sum := range square {
			by[k] = full / max(math.Sqrt(sum), Shortest)
		}
		for i, scale := range scales {
			q := (*[some]int32)(sums[i*tileCols+j:])
			to := (*[some]int16)(dst[i][from+j:])
			for k, factor := range by {
				to[k] = int16(float64(q[k]) * scale * factor)
			}
		}
	}
}
