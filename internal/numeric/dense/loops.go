package dense

// loops are the inner loops, for a processor.
type loops struct {
	tile    tileFunc
	combine combineFunc
	rotate  rotateFunc
}

// A tileFunc adds to dst[r*stride+j], for tileRows rows r and tileCols columns j, the products
// a[k*tileRows+r] b[k*tileCols+j], for k in [0, steps), one after the other.
type tileFunc func(dst []float64, stride int, a, b []float64, steps int)

// A combineFunc adds x[i] rows[i*stride+j] to dst[j], for every i one after the other. Rows and dst do not overlap.
type combineFunc func(dst, x, rows []float64, stride int)

// lanes is the number of columns that are rotated at a time.
const lanes = 16

// A rotateFunc rotates neighbouring rows i and i+1 of lanes numbers, rows being stride apart: with (c, s) the
// t-th pair of turns and i = last-1-t, row i+1 becomes s row_i + c row_{i+1} and row i becomes c row_i - s row_{i+1}.
type rotateFunc func(rows []float64, stride, last int, turns []float64)

func tileGo(dst []float64, stride int, a, b []float64, steps int) {
	for r := range tileRows {
		var sums [tileCols]float64
		row := dst[r*stride:][:tileCols]
		copy(sums[:], row)
		for k := range steps {
			x := a[k*tileRows+r]
			cols := b[k*tileCols:][:tileCols]
			for j, y := range cols {
				sums[j] += float64(x * y) // the conversion forbids fusing
			}
		}
		copy(row, sums[:])
	}
}

func combineGo(dst, x, rows []float64, stride int) {
	for i, f := range x {
		row := rows[i*stride:][:len(dst)]
		for j, v := range row {
			dst[j] += float64(f * v)
		}
	}
}

func rotateGo(rows []float64, stride, last int, turns []float64) {
	for t := 0; t < len(turns); t += 2 {
		c := turns[t]
		s := turns[t+1]
		i := last - 1 - t/2
		a := rows[i*stride:][:lanes]
		b := rows[(i+1)*stride:][:lanes]
		for j, x := range a {
			y := b[j]
			b[j] = float64(s*x) + float64(c*y)
			a[j] = float64(c*x) - float64(s*y)
		}
	}
}
