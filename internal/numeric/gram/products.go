package gram

// AddProducts adds theta[k]/2^14 times column k to f, for every k one after the other: the columns of x are read on
// the grid 2^-14, as long as f. Every product and every sum is rounded by IEEE 754, without fusing, so the result is
// the same on every machine. It panics if theta or a column is too short.
func AddProducts(f []float64, x [][]int16, theta []float64) {
	whole := len(f) / groupRows * groupRows
	for k := range x {
		_ = x[k][:len(f)]
		_ = theta[k]
	}
	if !addGroups(f[:whole], x, theta) {
		whole = 0
	}
	addProductsGo(f, x, theta, whole)
}

// groupRows is the number of rows that assembly takes at a time.
const groupRows = 16

// addProductsGo adds to f from a row on.
func addProductsGo(f []float64, x [][]int16, theta []float64, from int) {
	f = f[from:]
	if len(f) == 0 {
		return
	}
	for k, column := range x {
		w := theta[k] / MaxAbs
		if w == 0 {
			continue
		}
		for r, v := range column[from:][:len(f)] {
			f[r] += float64(w * float64(v)) // the conversion forbids fusing
		}
	}
}

// SquaredNorms sets norms[r] to the sum of the squares of row r of the columns, which are all as long as norms, and
// reports whether all numbers are in [-MaxAbs, MaxAbs]. If they are not, norms are of no use.
func SquaredNorms(norms []uint64, columns [][]int16) bool {
	for _, column := range columns {
		_ = column[:len(norms)]
	}
	whole := len(norms) / groupRows * groupRows
	done, within := normGroups(norms[:whole], columns)
	if !done {
		whole = 0
	}
	norms = norms[whole:]
	clear(norms)
	for _, column := range columns {
		for r, v := range column[whole:][:len(norms)] {
			if v > MaxAbs || v < -MaxAbs {
				return false
			}
			norms[r] += uint64(int32(v) * int32(v))
		}
	}
	return within || !done
}
