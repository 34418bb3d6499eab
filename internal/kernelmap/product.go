package kernelmap

// A tile is the products of tileRows rows with tileCols columns.
const (
	tileRows = 4
	tileCols = 16
)

// A packed matrix holds pairs of rows of a matrix side by side: panels of tileCols columns, in
// each the columns' numbers of rows 0 and 1, then of 2 and 3, and so on.
type packed struct {
	steps, cols int // pairs of rows, columns with those of padding
	data        []int16
}

func pack(rows, cols int, at func(i, j int) int16) packed {
	p := packed{steps: (rows + 1) / 2, cols: (cols + tileCols - 1) / tileCols * tileCols}
	p.data = make([]int16, 2*p.steps*p.cols)
	for j := range cols {
		panel := p.data[j/tileCols*tileCols*2*p.steps:]
		for i := range rows {
			panel[(i/2*tileCols+j%tileCols)*2+i%2] = at(i, j)
		}
	}
	return p
}

// A tileFunc sets dst[r*stride+j], for tileRows rows r and tileCols columns j, to the sum over k
// of a[r*lda+k] b[k][j] modulo 2^32; lda is even, 2*steps numbers of a row are read, and b is a
// panel of a packed matrix.
type tileFunc func(dst []int32, stride int, a []int16, lda int, b []int16, steps int)

// A kernelFunc sets dst[i] to the kernel at the squared distance norm + norms[i] - 2 dots[i].
type kernelFunc func(dst []int16, dots []int32, norms []uint32, norm uint32)

// multiply sets dst, rows of b.cols numbers, to the product of a, whose rows begin lda numbers
// apart and have 2 b.steps of them, with b, modulo 2^32. rows is a multiple of tileRows.
func (c *compiled) multiply(dst []int32, a []int16, lda, rows int, b packed) {
	if b.steps == 0 {
		clear(dst)
		return
	}
	size := 2 * b.steps * tileCols
	for j := 0; j < b.cols; j += tileCols {
		panel := b.data[j/tileCols*size:][:size]
		for r := 0; r < rows; r += tileRows {
			c.tile(dst[r*b.cols+j:], b.cols, a[r*lda:], lda, panel, b.steps)
		}
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
func kernelGo(dst []int16, dots []int32, norms []uint32, norm uint32) {
	dots, norms = dots[:len(dst)], norms[:len(dst)]
	for i := range dst {
		dst[i] = kernelAt(norm + norms[i] - 2*uint32(dots[i]))
	}
}
